//! Recognises, by their form, parts that match every text, and lazy rules that are any text up to a string.

use super::tree::{Body, Definition, Item, Name, Parsed, Part};
use rustc_hash::FxHashMap;

/// Patterns that match every text, with or without the flags `s` and `u`.
const ANY: [&str; 9] = [
    "(\\n|.)*",
    "(.|\\n)*",
    "(?:\\n|.)*",
    "(?:.|\\n)*",
    "[\\s\\S]*",
    "[\\S\\s]*",
    "(?s:.)*",
    "(?s:.*)",
    "(?s).*",
];

/// Maximum number of names and groups to follow, each the only part of the previous one, to find out whether an item is
/// any text.
const MAX_NAMES: usize = 64;

/// The rest of a pattern after a prefix that matches every text. `None` if the pattern has no such prefix, or a flag
/// other than `s` and `u`.
fn after_any<'p>(pattern: &'p str, flags: &str) -> Option<&'p str> {
    if !flags.chars().all(|flag| matches!(flag, 's' | 'u')) {
        return None;
    }
    let dots = flags.contains('s').then_some(".*");
    ANY.into_iter().chain(dots).find_map(|any| pattern.strip_prefix(any))
}

/// The string that a pattern without operators matches. `None` for a pattern with an operator, or with an escape other
/// than `\n`, `\r`, `\t` and those of ASCII punctuation.
fn literal(pattern: &str) -> Option<String> {
    let mut text = String::new();
    let mut chars = pattern.chars();
    while let Some(c) = chars.next() {
        text.push(match c {
            '\\' => match chars.next()? {
                'n' => '\n',
                'r' => '\r',
                't' => '\t',
                c if c.is_ascii_punctuation() => c,
                _ => return None,
            },
            '.' | '^' | '$' | '*' | '+' | '?' | '(' | ')' | '[' | ']' | '{' | '}' | '|' => return None,
            c => c,
        });
    }
    Some(text)
}

/// The definitions of a grammar by name.
pub(super) struct Names<'s, 'p> {
    definitions: FxHashMap<Name<'s>, &'p Definition<'s>>,
}

impl<'s, 'p> Names<'s, 'p> {
    pub(super) fn new(parsed: &'p Parsed<'s>) -> Names<'s, 'p> {
        Names { definitions: parsed.definitions.iter().map(|it| (it.name, it)).collect() }
    }

    pub(super) fn definition(&self, name: Name<'s>) -> Option<&'p Definition<'s>> {
        self.definitions.get(&name).copied()
    }

    /// Whether the form of an item shows that the item matches every text.
    pub(super) fn is_any_text(&self, item: &Item<'s>) -> bool {
        let mut item = item;
        for _ in 0..MAX_NAMES {
            let body = match item {
                Item::Pattern { pattern, flags } => {
                    return matches!(after_any(pattern, flags), Some("" | "?"));
                }
                Item::Group(body) => body,
                Item::Name(name) => match self.definition(*name) {
                    Some(definition) if definition.attributes.is_none() => &definition.body,
                    _ => return false,
                },
                _ => return false,
            };
            match only(body) {
                Some(part) if part.max == Some(1) && part.min == 1 || part_repeats(part) => item = &part.item,
                _ => return false,
            }
        }
        false
    }

    /// The string up to which a lazy rule is any text, if the form of the rule shows it; never empty. The attribute
    /// `max_chars` is ignored.
    pub(super) fn trigger(&self, definition: &Definition<'s>) -> Option<String> {
        let [parts] = &definition.body[..] else { return None };
        let (first, rest) = parts.split_first()?;
        let is_once = first.min == 1 && first.max == Some(1);
        let mut trigger = match &first.item {
            Item::Pattern { pattern, flags } if is_once => {
                let rest = after_any(pattern, flags)?;
                literal(rest.strip_prefix('?').unwrap_or(rest))?
            }
            item if (is_once || part_repeats(first)) && self.is_any_text(item) => String::new(),
            _ => return None,
        };
        let parts = rest.iter().map(|part| (part.min == 1 && part.max == Some(1)).then_some(&part.item));
        for item in parts.chain(definition.attributes.end.iter().map(|(_, item)| Some(item))) {
            match item? {
                Item::Text { text, ignores_case: false } => trigger.push_str(text),
                _ => return None,
            }
        }
        Some(trigger).filter(|trigger| !trigger.is_empty())
    }
}

/// The only part of a body; `None` if the body has several alternatives or parts, or no part.
fn only<'b, 's>(body: &'b Body<'s>) -> Option<&'b Part<'s>> {
    match &body[..] {
        [parts] if parts.len() == 1 => parts.first(),
        _ => None,
    }
}

/// Whether a part has no upper bound and must occur at most once.
fn part_repeats(part: &Part<'_>) -> bool {
    part.max.is_none() && part.min <= 1
}
