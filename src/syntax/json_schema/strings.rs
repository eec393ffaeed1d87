//! JSON strings.
//!
//! Two spellings are in use. *Any* spelling: every character may be escaped in every way RFC 8259 has, and a
//! pair of surrogate escapes is one character (lone surrogates are no characters). *Canonical* spelling: only
//! `"`, `\` and control characters are escaped, by their short escapes where they have one and as `\u00XX`
//! in lower case otherwise. Strings whose content is looked at (patterns, enumerated values, names of
//! members) are canonical, so that each has one spelling.

use super::assertion::Counts;
use crate::grammar::{ByteSet, CharClass, ExprId, GrammarBuilder};
use rustc_hash::FxHashMap;

/// The canonical escape of a character; `None` if it stands for itself.
fn escape(c: char) -> Option<String> {
    Some(match c {
        '"' => "\\\"".into(),
        '\\' => "\\\\".into(),
        '\u{8}' => "\\b".into(),
        '\u{C}' => "\\f".into(),
        '\n' => "\\n".into(),
        '\r' => "\\r".into(),
        '\t' => "\\t".into(),
        '\0'..='\x1F' => format!("\\u{:04x}", u32::from(c)),
        _ => return None,
    })
}

/// The characters that must be escaped.
fn escaped() -> CharClass {
    CharClass::new([('\0', '\x1F'), ('"', '"'), ('\\', '\\')])
}

/// The text as a JSON string in canonical spelling, with its quotes.
pub(super) fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match escape(c) {
            Some(escape) => out.push_str(&escape),
            None => out.push(c),
        }
    }
    out.push('"');
    out
}

/// One character of a class in canonical spelling.
pub(super) fn canonical(g: &mut GrammarBuilder, class: &CharClass) -> ExprId {
    if let &[(low, high)] = class.ranges()
        && low == high
    {
        return g.text(escape(low).unwrap_or_else(|| low.into()));
    }
    let plain = g.char_class(class.intersection(&escaped().complement()));
    let escapes = escapes(g, class);
    g.choice([plain, escapes])
}

/// The canonical escapes of the characters of a class that have one, grouped by how they begin.
fn escapes(g: &mut GrammarBuilder, class: &CharClass) -> ExprId {
    let (mut letters, mut low, mut high) = (ByteSet::EMPTY, ByteSet::EMPTY, ByteSet::EMPTY);
    for c in ('\0'..='\x1F').chain(['"', '\\']).filter(|&c| class.contains(c)) {
        match escape(c).unwrap_or_default().as_bytes() {
            [_, letter] => letters.insert(*letter),
            [.., b'0', digit] => low.insert(*digit),
            [.., digit] => high.insert(*digit),
            [] => {}
        }
    }
    let mut of = |prefix: &str, last: ByteSet| {
        let (prefix, last) = (g.text(prefix), g.byte_set(last));
        g.sequence([prefix, last])
    };
    let all = [of("\\", letters), of("\\u000", low), of("\\u001", high)];
    g.choice(all)
}

/// One character in any spelling.
fn character(g: &mut GrammarBuilder) -> ExprId {
    let plain = g.char_class(escaped().complement());
    let backslash = g.text("\\");
    let short = g.byte_set(ByteSet::from_iter(*b"\"\\/bfnrt"));
    let u = g.text("u");
    let hex = |g: &mut GrammarBuilder, bytes: &[u8]| g.byte_set(bytes.iter().copied().collect());
    let any = hex(g, b"0123456789abcdefABCDEF");
    let two = g.repeat(any, 2, Some(2));
    let three = g.repeat(any, 3, Some(3));
    // D800 to DBFF, then DC00 to DFFF, is one character; everything else of four digits is one by itself
    let below_d = hex(g, b"0123456789abcefABCEF");
    let d = hex(g, b"dD");
    let (no_surrogate, high, low) = (hex(g, b"01234567"), hex(g, b"89abAB"), hex(g, b"cdefCDEF"));
    let one = g.sequence([below_d, three]);
    let in_d = g.sequence([d, no_surrogate, two]);
    let pair = g.sequence([d, high, two, backslash, u, d, low, two]);
    let code = g.choice([one, in_d, pair]);
    let code = g.sequence([u, code]);
    let escape = g.choice([short, code]);
    let escape = g.sequence([backslash, escape]);
    g.choice([plain, escape])
}

/// A string of so many characters in any spelling, with its quotes.
pub(super) fn of_length(g: &mut GrammarBuilder, length: &Counts) -> ExprId {
    let (quote, character) = (g.text("\""), character(g));
    let content = g.repeat(character, length.min, length.max);
    g.sequence([quote, content, quote])
}

/// A string whose content is in all of `contents` and has so many characters. `bounded` says that these hold
/// canonical spelling alone; where they do not (complements), it is demanded beside them.
pub(super) fn constrained(
    g: &mut GrammarBuilder,
    contents: &[ExprId],
    length: &Counts,
    bounded: bool,
) -> ExprId {
    let mut all = contents.to_vec();
    if !length.is_free() || !bounded {
        let character = canonical(g, &CharClass::any());
        all.push(g.repeat(character, length.min, length.max));
    }
    let quote = g.text("\"");
    let content = g.intersection(all);
    g.sequence([quote, content, quote])
}

/// A node of the trie of names.
#[derive(Default)]
struct Node {
    children: Vec<(char, usize)>,
    is_name: bool,
}

/// A string that is none of `names`, with its quotes: canonical up to the character in which it leaves the
/// names, in any spelling after that. Linear in the length of the names.
pub(super) fn other_than<'n>(g: &mut GrammarBuilder, names: impl IntoIterator<Item = &'n str>) -> ExprId {
    let mut nodes = vec![Node::default()];
    let mut index: FxHashMap<(usize, char), usize> = FxHashMap::default();
    for name in names {
        let mut at = 0;
        for c in name.chars() {
            at = *index.entry((at, c)).or_insert_with(|| {
                nodes.push(Node::default());
                let new = nodes.len() - 1;
                nodes[at].children.push((c, new));
                new
            });
        }
        nodes[at].is_name = true;
    }
    let quote = g.text("\"");
    if index.is_empty() && !nodes[0].is_name {
        return of_length(g, &Counts::default());
    }
    let character = character(g);
    let any = g.star(character);
    let rest = g.sequence([any, quote]);
    let (escaped, all_escapes) = (escaped(), escapes(g, &CharClass::any()));
    // children stand after their parents in the list: from its end, every child is made before its parent
    let mut made: Vec<ExprId> = vec![rest; nodes.len()];
    for (at, node) in nodes.iter().enumerate().rev() {
        let mut alternatives = Vec::with_capacity(node.children.len() + 2);
        if !node.is_name {
            alternatives.push(quote);
        }
        for &(c, child) in &node.children {
            let c = canonical(g, &CharClass::new([(c, c)]));
            alternatives.push(g.sequence([c, made[child]]));
        }
        let here: CharClass = node.children.iter().map(|(c, _)| *c).collect();
        let plain = g.char_class(here.union(&escaped).complement());
        let here_escaped = node.children.iter().any(|(c, _)| escaped.contains(*c));
        let escapes = if here_escaped { escapes(g, &here.complement()) } else { all_escapes };
        let leaving = g.choice([plain, escapes]);
        alternatives.push(g.sequence([leaving, rest]));
        made[at] = g.choice(alternatives);
    }
    g.sequence([quote, made[0]])
}
