//! Classes in ECMA-262 patterns.

use super::ecma::{Escape, Translator};
use crate::error::Result;

/// The class of no characters. regex-syntax has no shorter form for it, and none for the class of all characters.
const NONE: &str = r"[^\x00-\x{10FFFF}]";
const ALL: &str = r"[\x00-\x{10FFFF}]";

/// A member of a class, or an end of a range.
enum Atom {
    Char(char),
    Surrogate(u16),
    /// A class, which has been written already. It cannot be an end of a range.
    Set,
}

/// Translates the class at the current position, up to and including `]`.
pub(super) fn translate(t: &mut Translator<'_>) -> Result<()> {
    let start = t.offset;
    t.advance(1);
    let negated = t.peek() == Some('^');
    if negated {
        t.advance(1);
    }
    let opening = t.out.len();
    t.out.push_str(if negated { "[^" } else { "[" });
    let empty = t.out.len();
    let mut surrogates = None;
    loop {
        let from = t.offset;
        match t.peek() {
            None => {
                t.offset = start + 1;
                let help = "close the class with `]`, or write `\\[` for the character";
                return Err(t.error(start, "regex/unclosed-class", "unclosed character class", help));
            }
            Some(']') => {
                t.advance(1);
                break;
            }
            Some(_) => {}
        }
        t.mark();
        let low = atom(t)?;
        let is_range = t.rest().starts_with('-') && !t.rest().starts_with("-]");
        if !is_range || matches!(low, Atom::Set) {
            match low {
                Atom::Char(c) => t.literal(c),
                Atom::Surrogate(_) => surrogates = surrogates.or(Some((from, t.offset))),
                Atom::Set => {}
            }
            continue;
        }
        t.advance(1);
        // a class in place of the upper end is written immediately; the order within a class does not matter
        let high = atom(t)?;
        match (low, high) {
            (Atom::Char(c), Atom::Set) => {
                t.literal(c);
                t.literal('-');
            }
            (Atom::Surrogate(_), Atom::Set) => {
                surrogates = surrogates.or(Some((from, t.offset)));
                t.literal('-');
            }
            (low, high) => range(t, from, &low, &high, &mut surrogates)?,
        }
    }
    if t.out.len() == empty {
        // a text contains only characters, so a class of surrogates alone must be a mistake
        if let Some((from, to)) = surrogates
            && !negated
        {
            t.offset = to;
            return Err(t.lone_surrogate(from));
        }
        t.out.truncate(opening);
        t.out.push_str(if negated { ALL } else { NONE });
    } else {
        t.out.push(']');
    }
    Ok(())
}

/// Reads one member of a class. A member that is itself a class is written; a character is not.
fn atom(t: &mut Translator<'_>) -> Result<Atom> {
    let start = t.offset;
    match t.peek() {
        Some('\\') => Ok(match t.escape()? {
            Escape::Char(c) => Atom::Char(c),
            Escape::Surrogate(code) => Atom::Surrogate(code),
            Escape::Boundary('b') => Atom::Char('\u{8}'),
            Escape::Boundary(_) => {
                let help = "write `\\\\B` for a backslash and a letter";
                return Err(t.error(start, "regex/bad-escape", "`\\B` means nothing in a class", help));
            }
            Escape::Class(inside, false) => {
                t.out.push_str(inside);
                Atom::Set
            }
            Escape::Class(inside, true) => {
                t.out.push_str("[^");
                t.out.push_str(inside);
                t.out.push(']');
                Atom::Set
            }
            Escape::Property => {
                let text = &t.pattern[start..t.offset];
                t.out.push_str(text);
                Atom::Set
            }
        }),
        Some(c) => {
            t.advance(c.len_utf8());
            Ok(Atom::Char(c))
        }
        None => {
            let help = "close the class with `]`";
            Err(t.error(start, "regex/unclosed-class", "unclosed character class", help))
        }
    }
}

/// Writes a range without its surrogates, which are not characters. A range of surrogates alone is not written; its
/// place is stored in `surrogates`, if that is empty.
fn range(
    t: &mut Translator<'_>,
    from: usize,
    low: &Atom,
    high: &Atom,
    surrogates: &mut Option<(usize, usize)>,
) -> Result<()> {
    let number = |atom: &Atom| match atom {
        Atom::Char(c) => u32::from(*c),
        Atom::Surrogate(code) => u32::from(*code),
        Atom::Set => 0,
    };
    if number(low) > number(high) {
        let help = "swap the ends of the range";
        return Err(t.error(from, "regex/crossed-range", "the ends of a range are crossed", help));
    }
    let low = match low {
        Atom::Char(c) => *c,
        _ => '\u{E000}',
    };
    let high = match high {
        Atom::Char(c) => *c,
        _ => '\u{D7FF}',
    };
    if low > high {
        *surrogates = surrogates.or(Some((from, t.offset)));
        return Ok(());
    }
    t.hex(low);
    t.out.push('-');
    t.hex(high);
    Ok(())
}
