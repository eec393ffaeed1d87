//! `idn-hostname` (RFC 5890 to 5893).

use super::{Pieces, host};
use crate::error::Result;
use crate::grammar::ExprId;

pub(super) fn hostname(p: &mut Pieces<'_, '_, '_>) -> Result<ExprId> {
    if p.is_around() {
        return p.regex(
            r"[^.\u{3002}\u{FF0E}\u{FF61}]+(?:[.\u{3002}\u{FF0E}\u{FF61}][^.\u{3002}\u{FF0E}\u{FF61}]+)*",
        );
    }
    host::hostname(p)
}

/// Labels of an international mail address.
pub(super) fn mail_domain(p: &mut Pieces<'_, '_, '_>) -> Result<ExprId> {
    if p.is_around() {
        return p.regex(r"[0-9A-Za-z.\u{80}-\u{10FFFF}-]+");
    }
    let letter = r"[0-9A-Za-z[\p{L}\p{Nd}--\p{ASCII}]]";
    let mark = r"[0-9A-Za-z[\p{L}\p{Nd}\p{M}--\p{ASCII}]]";
    let label = format!("{letter}{mark}*(?:-+{mark}+)*");
    p.regex(&format!(r"{label}(?:\.{label})*"))
}
