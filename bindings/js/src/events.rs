//! Events of a matcher.

use crate::border::fields;
use grammata::matcher::{Event, Part};
use serde_json::Value;

/// The fields of the TypeScript interface `MatcherEvent`.
pub(crate) fn event(event: Event<'_>) -> Value {
    let bytes = event.bytes();
    let rule = match event.part() {
        Part::Rule(name) => Value::from(name),
        Part::Json(_) => Value::Null,
    };
    fields([
        ("type", if event.is_end() { "end" } else { "begin" }.into()),
        ("kind", event.part().kind().into()),
        ("rule", rule),
        ("pointer", event.pointer().into()),
        ("start", bytes.start.into()),
        ("end", bytes.end.into()),
        ("step", event.step().into()),
    ])
}
