//! The terms of a text for the lexical index.

use regex_syntax::hir::{Class, HirKind};
use std::sync::OnceLock;

/// Returns the terms of a text: maximal runs of letters and digits (the Unicode categories L and N) in lower case.
/// Camel case is first split before a capital (`aB`, `1B` and `ABc` into `a B`, `1 B` and `A Bc`). There is no
/// stemming, and there are no stop words.
pub(super) fn terms(text: &str) -> Vec<String> {
    let mut terms = Vec::new();
    let mut term = String::new();
    let mut before: Option<char> = None;
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        let is_part = is_letter_or_digit(character);
        let breaks = before.is_some_and(|before| begins_word(before, character, characters.peek().copied()));
        if (!is_part || breaks) && !term.is_empty() {
            terms.push(std::mem::take(&mut term));
        }
        if is_part {
            term.extend(character.to_lowercase());
        }
        before = Some(character);
    }
    if !term.is_empty() {
        terms.push(term);
    }
    terms
}

/// Returns whether `character` begins a word in camel case.
fn begins_word(before: char, character: char, after: Option<char>) -> bool {
    character.is_uppercase()
        && (before.is_lowercase()
            || before.is_numeric()
            || before.is_uppercase() && after.is_some_and(char::is_lowercase))
}

fn is_letter_or_digit(character: char) -> bool {
    if character.is_ascii() {
        return character.is_ascii_alphanumeric();
    }
    let ranges = letters_and_digits();
    let after = ranges.partition_point(|&(first, _)| first <= character);
    after.checked_sub(1).and_then(|index| ranges.get(index)).is_some_and(|&(_, last)| character <= last)
}

/// Returns the categories L and N as increasing ranges; `char::is_alphabetic` also includes marks and symbols.
fn letters_and_digits() -> &'static [(char, char)] {
    static RANGES: OnceLock<Vec<(char, char)>> = OnceLock::new();
    RANGES.get_or_init(|| match regex_syntax::parse(r"[\p{L}\p{N}]").map(|hir| hir.into_kind()) {
        Ok(HirKind::Class(Class::Unicode(class))) => {
            class.iter().map(|range| (range.start(), range.end())).collect()
        }
        _ => Vec::new(),
    })
}

#[cfg(test)]
mod tests {
    use super::terms;

    #[test]
    fn terms_are_those_of_the_table() {
        let table: [(&str, &[&str]); 14] = [
            ("Get the current weather for a city", &["get", "the", "current", "weather", "for", "a", "city"]),
            ("WEATHER", &["weather"]),
            ("searchVideosHD2", &["search", "videos", "hd2"]),
            ("PM2.5Level", &["pm2", "5", "level"]),
            ("getPM2.5Level", &["get", "pm2", "5", "level"]),
            ("Größe", &["größe"]),
            ("aB 1B ABc", &["a", "b", "1", "b", "a", "bc"]),
            ("HTTPServer2Go", &["http", "server2", "go"]),
            ("snake_case-name/path", &["snake", "case", "name", "path"]),
            ("天气 预报", &["天气", "预报"]),
            ("x²y Ⅷ ½", &["x²y", "ⅷ", "½"]),
            // a combining mark and a circled letter are neither letters nor digits
            ("e\u{301}te ⓐb", &["e", "te", "b"]),
            ("🎸 <b>!</b>", &["b", "b"]),
            ("", &[]),
        ];
        for (text, expected) in table {
            assert_eq!(terms(text), expected, "{text}");
        }
    }
}
