//! `regex`: patterns of ECMA-262 with the flag `u`. Groups nest, so this is a context-free language.
//!
//! Missing, though valid: named groups (their names must differ), backreferences (the group must exist), `\0`; ranges
//! in classes, unless their ends are two ASCII characters, or two of `\xHH` or of `\uHHHH` that differ in the first
//! digit; counts `{n,m}` in which `n` has more than two digits, or has two digits and the same first digit as a
//! two-digit `m`.

use super::Pieces;
use crate::error::Result;
use crate::grammar::ExprId;

const CATEGORIES: &str = "C[cfnos]?|L[lmotu]?|M[cen]?|N[dlo]?|P[cdefios]?|S[ckmo]?|Z[lps]?";

pub(super) fn expression(p: &mut Pieces<'_, '_, '_>) -> Result<ExprId> {
    let rule = p.g.declare("format: regex");
    let inside = p.g.rule(rule);
    let close = p.text(")");
    let look_around = p.regex(r"\(\?<?[=!]")?;
    let look_around = p.sequence([look_around, inside, close]);
    let assertion = p.regex(r"[$^]|\\[Bb]")?;
    let open = p.regex(r"\((?:\?:)?")?;
    let group = p.sequence([open, inside, close]);
    let simple = p.regex(&format!(r"[^$(-+?\[-^{{-}}.]|\.|\\{}|{}", escape(""), class()))?;
    let atom = p.choice([group, simple]);
    let quantifier = p.regex(&quantifier())?;
    let repeated = p.sequence([atom, quantifier]);
    let bar = p.text("|");
    let one = p.choice([look_around, assertion, repeated, bar]);
    let body = p.g.star(one);
    p.g.define(rule, body);
    Ok(inside)
}

/// Returns the text that may follow a backslash. `more` has further characters that may be escaped.
fn escape(more: &str) -> String {
    let simple = format!(r"[{more}DSWdsfnrtvw$(-+?\[-^{{-}}./]");
    let code = r"u\{0*(?:10[0-9A-Fa-f]{4}|[0-9A-Fa-f]{1,5})\}";
    let property = format!(r"[Pp]\{{(?:{CATEGORIES})\}}");
    format!("(?:{simple}|c[A-Za-z]|x[0-9A-Fa-f]{{2}}|u[0-9A-Fa-f]{{4}}|{code}|{property})")
}

fn class() -> String {
    let mut items = vec![r"[^\]\\-]".to_owned(), format!(r"\\{}", escape(r"b\-"))];
    let hex = |c: char| format!("\\x{:02X}", u32::from(c));
    for low in ('!'..='~').filter(|c| !"]\\-".contains(*c)) {
        items.push(format!(r"{0}-[{0}-~&&[^\]\\]]", hex(low)));
    }
    for low in 0..15 {
        for (letter, rest) in [('x', 1), ('u', 3)] {
            let above: String = (low + 1..16).map(|digit| format!("{digit:x}{digit:X}")).collect();
            let any = format!("[0-9A-Fa-f]{{{rest}}}");
            items.push(format!(r"\\{letter}[{low:x}{low:X}]{any}-\\{letter}[{above}]{any}"));
        }
    }
    format!(r"\[\^?-?(?:{})*-?\]", items.join("|"))
}

/// Returns nothing or a quantifier.
fn quantifier() -> String {
    let mut counts = vec!["[0-9]+,?".to_owned(), "[1-9][0-9],[1-9][0-9]{2,}".to_owned()];
    for low in 0..10 {
        counts.push(format!("{low},(?:[{low}-9]|[1-9][0-9]+)"));
        if (1..9).contains(&low) {
            counts.push(format!("{low}[0-9],[{}-9][0-9]", low + 1));
        }
    }
    format!(r"(?:(?:[*+?]|\{{(?:{})\}})\??)?", counts.join("|"))
}
