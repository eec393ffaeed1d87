//! The one writer of texts from input: shows characters that a terminal or a log would act on.

use serde::Serialize;
use std::borrow::Cow;
use std::io;

/// Returns whether a terminal or a log could act on a character instead of showing it: the control characters of ASCII
/// and Latin-1 (line ends and tabs among them), the separators of lines and paragraphs, the marks that change the
/// direction of writing, the byte order mark, and the invisible tag characters.
pub fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{061C}' | '\u{200E}' | '\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2066}'..='\u{206F}'
            | '\u{FEFF}' | '\u{FFF9}'..='\u{FFFB}' | '\u{E0000}'..='\u{E007F}')
}

/// Returns a text on one line, with each [hidden](is_hidden) character as an escape of Rust, such as `\n` or `\u{1b}`.
/// A second call changes nothing.
pub fn visible(text: &str) -> Cow<'_, str> {
    if !text.contains(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    push_visible(&mut out, text);
    Cow::Owned(out)
}

/// Like [`visible`], for a text of several lines: line ends stay, and a tab does.
pub fn visible_lines(text: &str) -> Cow<'_, str> {
    let is_hidden_in_line = |c: char| is_hidden(c) && c != '\n' && c != '\t';
    if !text.contains(is_hidden_in_line) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if is_hidden_in_line(c) { out.extend(c.escape_default()) } else { out.push(c) }
    }
    Cow::Owned(out)
}

fn push_visible(out: &mut String, text: &str) {
    for c in text.chars() {
        if is_hidden(c) { out.extend(c.escape_default()) } else { out.push(c) }
    }
}

/// Returns a value as JSON on one line. In its strings, [hidden](is_hidden) characters are `\uNNNN`: readers of JSON
/// get the same value, and terminals and logs get no control characters.
///
/// # Errors
/// The value cannot be serialized.
pub fn visible_json(value: &impl Serialize) -> serde_json::Result<String> {
    let mut out = Vec::new();
    write_visible_json(&mut out, value)?;
    // the formatter writes only whole pieces of text
    Ok(String::from_utf8_lossy(&out).into_owned())
}

/// Writes a value like [`visible_json`].
///
/// # Errors
/// The value cannot be serialized, or `out` cannot be written.
pub fn write_visible_json(out: impl io::Write, value: &impl Serialize) -> serde_json::Result<()> {
    value.serialize(&mut serde_json::Serializer::with_formatter(out, Visible))
}

/// A formatter of compact JSON that escapes hidden characters in strings.
struct Visible;

impl serde_json::ser::Formatter for Visible {
    fn write_string_fragment<W: ?Sized + io::Write>(
        &mut self,
        out: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        let mut rest = fragment;
        while let Some((at, c)) = rest.char_indices().find(|(_, c)| is_hidden(*c)) {
            let (before, after) = rest.split_at(at);
            out.write_all(before.as_bytes())?;
            for unit in c.encode_utf16(&mut [0; 2]) {
                write!(out, "\\u{unit:04x}")?;
            }
            rest = after.strip_prefix(c).unwrap_or_default();
        }
        out.write_all(rest.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_hidden_character_is_left_and_a_second_call_changes_nothing() {
        for c in (0..=0x10_FFFF).filter_map(char::from_u32) {
            let text = format!("a{c}b");
            let shown = visible(&text);
            assert!(!shown.contains(is_hidden), "{c:?}");
            assert_eq!(visible(&shown), shown, "{c:?}");
            assert_eq!(shown == text, !is_hidden(c), "{c:?}");
            let lines = visible_lines(&text);
            assert_eq!(lines == text, !is_hidden(c) || c == '\n' || c == '\t', "{c:?}");
            let json = visible_json(&text).unwrap();
            assert!(!json.contains(is_hidden), "{c:?}");
            assert_eq!(serde_json::from_str::<String>(&json).unwrap(), text);
        }
    }

    #[test]
    fn letters_and_emoji_stay() {
        for text in ["é", "漢字", "👩\u{200D}🔬", "a\\n", "ب"] {
            assert!(matches!(visible(text), Cow::Borrowed(_)), "{text}");
        }
    }
}
