//! `uri`, `uri-reference` (RFC 3986), `iri`, `iri-reference` (RFC 3987) and `uri-template` (RFC 6570). Further rules of
//! a scheme for its addresses are not checked.

use super::{Pieces, address};
use crate::error::Result;
use crate::grammar::ExprId;

/// The characters that need no escape.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Characters {
    Ascii,
    International,
}

/// RFC 3987's `ucschar` and `iprivate`, for use in a class.
const UCSCHAR: &str = r"\u{A0}-\u{D7FF}\u{F900}-\u{FDCF}\u{FDF0}-\u{FFEF}\u{10000}-\u{1FFFD}\u{20000}-\u{2FFFD}\u{30000}-\u{3FFFD}\u{40000}-\u{4FFFD}\u{50000}-\u{5FFFD}\u{60000}-\u{6FFFD}\u{70000}-\u{7FFFD}\u{80000}-\u{8FFFD}\u{90000}-\u{9FFFD}\u{A0000}-\u{AFFFD}\u{B0000}-\u{BFFFD}\u{C0000}-\u{CFFFD}\u{D0000}-\u{DFFFD}\u{E1000}-\u{EFFFD}";
const IPRIVATE: &str = r"\u{E000}-\u{F8FF}\u{F0000}-\u{FFFFD}\u{100000}-\u{10FFFD}";

/// `unreserved` and `sub-delims` of RFC 3986, for use in a class.
const PLAIN: &str = "!$&-,.;=0-9A-Z_a-z~-";
const ESCAPE: &str = "%[0-9A-Fa-f]{2}";

const SCHEME: &str = "[A-Za-z][A-Za-z0-9+.-]*:";

impl Characters {
    /// Returns one of [`PLAIN`], one of `more`, or an escape; international identifiers also have [`UCSCHAR`].
    fn one(self, more: &str) -> String {
        let far = if self == Characters::International { UCSCHAR } else { "" };
        format!("(?:[{more}{far}{PLAIN}]|{ESCAPE})")
    }
}

/// Returns an absolute identifier, with a scheme.
pub(super) fn identifier(p: &mut Pieces<'_, '_, '_>, characters: Characters) -> Result<ExprId> {
    let scheme = p.regex(SCHEME)?;
    let rest = after_scheme(p, characters, ":@")?;
    Ok(p.sequence([scheme, rest]))
}

/// Returns an absolute identifier or a relative reference.
pub(super) fn reference(p: &mut Pieces<'_, '_, '_>, characters: Characters) -> Result<ExprId> {
    let absolute = identifier(p, characters)?;
    // a colon in the first segment would turn the text before it into a scheme
    let relative = after_scheme(p, characters, "@")?;
    Ok(p.choice([absolute, relative]))
}

/// Returns the part after the scheme. `first` has the characters, in addition to the plain ones, of a first segment
/// without a slash before it.
fn after_scheme(p: &mut Pieces<'_, '_, '_>, characters: Characters, first: &str) -> Result<ExprId> {
    let (first, segment, path) = (characters.one(first), characters.one(":@"), characters.one(":@/"));
    let slashes = p.text("//");
    let authority = authority(p, characters)?;
    let path_after = p.regex(&format!("(?:/{path}*)?"))?;
    let with_authority = p.sequence([slashes, authority, path_after]);
    let without = p.regex(&format!("/(?:{segment}{path}*)?|(?:{first}+(?:/{path}*)?)?"))?;
    let hierarchy = p.choice([with_authority, without]);
    let private = if characters == Characters::International { IPRIVATE } else { "" };
    let query = characters.one(&format!(":@/?{private}"));
    let end = p.regex(&format!(r"(?:\?{query}*)?(?:\#{}*)?", characters.one(":@/?")))?;
    Ok(p.sequence([hierarchy, end]))
}

fn authority(p: &mut Pieces<'_, '_, '_>, characters: Characters) -> Result<ExprId> {
    let user = p.regex(&format!("(?:{}*@)?", characters.one(":")))?;
    // dotted decimals are names as well
    let name = p.regex(&format!("{}*", characters.one("")))?;
    let (open, close) = (p.text("["), p.text("]"));
    let v6 = address::ipv6(p, 1)?;
    let future = p.regex("[Vv][0-9A-Fa-f]+\\.[!$&-,.:;=0-9A-Z_a-z~-]+")?;
    let literal = p.choice([v6, future]);
    let literal = p.sequence([open, literal, close]);
    let host = p.choice([literal, name]);
    let port = p.regex("(?::[0-9]*)?")?;
    Ok(p.sequence([user, host, port]))
}

/// Returns a template: literal text (including the apostrophe, which an erratum adds) and expressions.
pub(super) fn template(p: &mut Pieces<'_, '_, '_>) -> Result<ExprId> {
    let operator = if p.is_around() { "[+#./;?&=,!@|]?" } else { "[+#./;?&]?" };
    let letter = format!("(?:[0-9A-Z_a-z]|{ESCAPE})");
    let variable = format!(r"{letter}+(?:\.{letter}+)*(?::[1-9][0-9]{{0,3}}|\*)?");
    p.regex(&format!(
        r"(?:[!#$&-;=?-\[\]_a-z~{UCSCHAR}{IPRIVATE}]|{ESCAPE}|\{{{operator}{variable}(?:,{variable})*\}})*"
    ))
}
