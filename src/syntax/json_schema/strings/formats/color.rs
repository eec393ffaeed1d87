//! `color` of draft 3: a colour of CSS 2.1 (section 4.3.6).

use super::Pieces;
use crate::error::Result;
use crate::grammar::ExprId;

const NAMES: &str =
    "aqua|black|blue|fuchsia|gr[ae]y|green|lime|maroon|navy|olive|orange|purple|red|silver|teal|white|yellow";

/// Returns a name, `#rgb`, `#rrggbb`, or `rgb(…)` with integers or percentages.
pub(super) fn color(p: &mut Pieces<'_, '_, '_>) -> Result<ExprId> {
    let space = r"[ \t\r\n\f]*";
    let triple = |number: &str| format!("{space}{number}{space}(?:,{space}{number}{space}){{2}}");
    let (integers, shares) = (triple("[+-]?[0-9]+"), triple(r"[+-]?(?:[0-9]*\.)?[0-9]+%"));
    p.regex(&format!(
        r"(?i-u:{NAMES})|#[0-9A-Fa-f]{{3}}(?:[0-9A-Fa-f]{{3}})?|(?i-u:rgb)\((?:{integers}|{shares})\)"
    ))
}
