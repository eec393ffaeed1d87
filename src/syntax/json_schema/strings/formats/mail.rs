//! `email` (the `Mailbox` of RFC 5321, section 4.1.2) and `idn-email` (with RFC 6531's extensions).
//!
//! The standard refers to the grammar only, which does not bound the lengths of the parts.

use super::{Pieces, address, idn};
use crate::error::Result;
use crate::grammar::ExprId;

/// Characters of an unquoted word, for use in a class.
const ATEXT: &str = "!#$%&'*+/-9=?A-Z^_`a-z{|}~-";
/// All characters that are not ASCII, for use in a class.
const NON_ASCII: &str = r"\u{80}-\u{10FFFF}";

pub(super) fn email(p: &mut Pieces<'_, '_, '_>, international: bool) -> Result<ExprId> {
    let more = if international { NON_ASCII } else { "" };
    let local = p.regex(&format!(
        "[{more}{ATEXT}]+(?:\\.[{more}{ATEXT}]+)*|\"(?:[ !#-\\[\\]-~{more}]|\\\\[ -~])*\""
    ))?;
    let at = p.text("@");
    let domain = if international { idn::mail_domain(p)? } else { p.regex(&domain())? };
    let literal = literal(p)?;
    let host = p.choice([domain, literal]);
    Ok(p.sequence([local, at, host]))
}

fn domain() -> String {
    let label = "[0-9A-Za-z]+(?:-+[0-9A-Za-z]+)*";
    format!(r"{label}(?:\.{label})*")
}

/// Returns an address literal: `[127.0.0.1]`, `[IPv6:::1]`.
fn literal(p: &mut Pieces<'_, '_, '_>) -> Result<ExprId> {
    let v4 = address::ipv4(p)?;
    let tag = p.regex("(?i-u:IPv6):")?;
    // here `::` means two groups or more
    let v6 = address::ipv6(p, if p.is_around() { 1 } else { 2 })?;
    let v6 = p.sequence([tag, v6]);
    let mut kinds = vec![v4, v6];
    if p.is_around() {
        kinds.push(p.regex(r"[0-9A-Za-z-]*[0-9A-Za-z]:[!-Z^-~]+")?);
    }
    let (open, kind, close) = (p.text("["), p.choice(kinds), p.text("]"));
    Ok(p.sequence([open, kind, close]))
}
