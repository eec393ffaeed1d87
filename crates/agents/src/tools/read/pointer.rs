//! JSON Pointers (RFC 6901) into documents, also as URI fragments.

use crate::tools::address::percent_decoded;
use serde_json::Value;

/// Appends a step to a pointer, with `~` and `/` escaped.
pub(super) fn join(pointer: &str, step: &str) -> String {
    format!("{pointer}/{}", step.replace('~', "~0").replace('/', "~1"))
}

/// Returns the target of a reference `#/…`, with its pointer; `None` if the reference has no target in the document.
pub(super) fn follow<'d>(root: &'d Value, reference: &str) -> Option<(&'d Value, String)> {
    let fragment = reference.strip_prefix('#')?;
    let pointer = percent_decoded(fragment)?;
    Some((root.pointer(&pointer)?, pointer))
}
