//! Characters of Python's strings.

use crate::grammar::{CharClass, ExprId, GrammarBuilder, Member, Members, Text};

/// The escapes of single characters (Python reference, section 2.4.1).
const ESCAPES: [(char, &str); 10] = [
    ('\\', "\\\\"),
    ('\'', "\\'"),
    ('"', "\\\""),
    ('\n', "\\n"),
    ('\r', "\\r"),
    ('\t', "\\t"),
    ('\u{7}', "\\a"),
    ('\u{8}', "\\b"),
    ('\u{B}', "\\v"),
    ('\u{C}', "\\f"),
];

/// Returns the members with their names in single quotes instead of double ones.
pub(super) fn with_single_quotes(list: &Members) -> Members {
    let member = |member: &Member| Member { key: single_quoted(&member.key), ..member.clone() };
    Members { members: list.members.iter().map(member).collect(), ..list.clone() }
}

/// Returns a JSON string, which has canonical spelling, as Python's `repr` of a text with quotes would be.
fn single_quoted(json: &[u8]) -> Text {
    let name: String = serde_json::from_slice(json).unwrap_or_default();
    let mut text = String::with_capacity(json.len() + 2);
    text.push('\'');
    for c in name.chars() {
        match ESCAPES.iter().find(|(escaped, _)| *escaped == c && c != '"') {
            Some((_, escape)) => text.push_str(escape),
            None if c.is_ascii_control() => text.push_str(&format!("\\x{:02x}", u32::from(c))),
            None => text.push(c),
        }
    }
    text.push('\'');
    text.into_bytes().into()
}

/// Returns one character of a class. A character that may be any has all escapes of Python, except octal ones, names
/// and parts of surrogate pairs.
pub(super) fn character(g: &mut GrammarBuilder, class: &CharClass, quote: char) -> ExprId {
    let plain = plain_character(g, class, quote);
    if *class != CharClass::any() {
        return plain;
    }
    let escape = any_escape(g);
    g.choice([plain, escape])
}

/// Returns one character of a class: itself, unless it ends the string or the line, or an escape of `repr`.
pub(super) fn plain_character(g: &mut GrammarBuilder, class: &CharClass, quote: char) -> ExprId {
    let apart = CharClass::new(['\0', '\n', '\r', '\\', quote].map(|c| (c, c)));
    let mut ways = vec![g.char_class(class.intersection(&apart.complement()))];
    ways.extend(ESCAPES.into_iter().filter(|(c, _)| class.contains(*c)).map(|(_, escape)| g.text(escape)));
    for c in ('\0'..='\x1F').chain(['\x7F']).filter(|&c| class.contains(c)) {
        ways.push(g.text(format!("\\x{:02x}", u32::from(c))));
        ways.push(g.text(format!("\\u{:04x}", u32::from(c))));
    }
    g.choice(ways)
}

/// Returns the escapes of any character by its number, in hexadecimal digits.
fn any_escape(g: &mut GrammarBuilder) -> ExprId {
    let digit = g.class([('0', '9'), ('A', 'F'), ('a', 'f')]);
    let digits = [2, 3, 4].map(|count| g.repeat(digit, count, Some(count)));
    // four digits that are not half of a surrogate pair
    let first = g.class([('0', '9'), ('A', 'C'), ('E', 'F'), ('a', 'c'), ('e', 'f')]);
    let (d, low) = (g.class([('D', 'D'), ('d', 'd')]), g.class([('0', '7')]));
    let four = [g.sequence([first, digits[1]]), g.sequence([d, low, digits[0]])];
    let four = g.choice(four);
    let begins = ["\\x", "\\u", "\\U0000", "\\U000", "\\U0010"].map(|begin| g.text(begin));
    let plane = g.class([('1', '9'), ('A', 'F'), ('a', 'f')]);
    let ways = [
        g.sequence([begins[0], digits[0]]),
        g.sequence([begins[1], four]),
        g.sequence([begins[2], four]),
        g.sequence([begins[3], plane, digits[2]]),
        g.sequence([begins[4], digits[2]]),
    ];
    g.choice(ways)
}
