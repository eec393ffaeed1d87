//! `hostname` (RFC 1123, section 2.1, with the A-labels of RFC 5890).

use super::Pieces;
use crate::error::Result;
use crate::grammar::ExprId;

/// Returns labels of at most 63 letters, digits and inner hyphens, with at most 253 characters in total.
pub(super) fn hostname(p: &mut Pieces<'_, '_, '_>) -> Result<ExprId> {
    const LONGEST: u32 = 253;
    let label = if p.is_around() {
        "[0-9A-Za-z](?:[0-9A-Za-z-]{0,61}[0-9A-Za-z])?"
    } else {
        // by length: up to three, four, and longer labels without hyphens in both the third and fourth place
        "[0-9A-Za-z](?:[0-9A-Za-z-]?[0-9A-Za-z]|[0-9A-Za-z-]{2}[0-9A-Za-z]\
         |[0-9A-Za-z-](?:[0-9A-Za-z][0-9A-Za-z-]|-[0-9A-Za-z])[0-9A-Za-z-]{0,58}[0-9A-Za-z])?"
    };
    let labels = p.regex(&format!(r"{label}(?:\.{label})*"))?;
    let any = p.regex("[0-9A-Za-z.-]")?;
    let length = p.g.repeat(any, 1, Some(LONGEST));
    Ok(p.g.intersection([labels, length]))
}
