//! `ipv4` (RFC 2673, section 3.2) and `ipv6` (RFC 4291, section 2.2).

use super::Pieces;
use crate::error::Result;
use crate::grammar::ExprId;

/// A number from 0 to 255 without leading zeros.
const OCTET: &str = "(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])";
/// A number from 0 to 255 with at most three digits.
const ANY_OCTET: &str = "(?:25[0-5]|2[0-4][0-9]|[01]?[0-9]{1,2})";

/// Number of groups of 16 bits in an IPv6 address.
const GROUPS: usize = 8;

pub(super) fn ipv4(p: &mut Pieces<'_, '_, '_>) -> Result<ExprId> {
    let octet = if p.is_around() { ANY_OCTET } else { OCTET };
    p.regex(&format!(r"{octet}(?:\.{octet}){{3}}"))
}

/// Returns an IPv6 address. `::`, if present, means at least `omitted` groups of zeros.
pub(super) fn ipv6(p: &mut Pieces<'_, '_, '_>, omitted: usize) -> Result<ExprId> {
    let group = p.regex("[0-9A-Fa-f]{1,4}")?;
    let dotted = p.regex(&format!(r"{OCTET}(?:\.{OCTET}){{3}}"))?;
    let (empty, colon) = (p.g.empty(), p.text(":"));
    // at least one and at most `count` groups
    let mut up_to = vec![p.g.never()];
    for count in 1..GROUPS {
        let more = p.sequence([colon, up_to[count - 1]]);
        let more = if count > 1 { p.g.optional(more) } else { empty };
        let one = p.sequence([group, more]);
        up_to.push(if count > 1 { p.choice([one, dotted]) } else { one });
    }
    // what follows each number of groups, from the last to the first
    let mut after = empty;
    for count in (1..GROUPS).rev() {
        let next = p.sequence([group, after]);
        let mut ways = vec![next];
        if count + 2 == GROUPS {
            ways.push(dotted);
        }
        if let Some(&rest) = (GROUPS - omitted).checked_sub(count).and_then(|most| up_to.get(most)) {
            let rest = p.g.optional(rest);
            ways.push(p.sequence([colon, rest]));
        }
        let way = p.choice(ways);
        after = p.sequence([colon, way]);
    }
    let full = p.sequence([group, after]);
    let rest = p.g.optional(up_to[GROUPS - omitted]);
    let colons = p.text("::");
    let short = p.sequence([colons, rest]);
    Ok(p.choice([full, short]))
}
