//! Escaping text from models and files for HTML and Markdown.

/// Escapes text so that HTML shows it literally. Control characters other than newlines become U+FFFD.
pub(super) fn html(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\n' => escaped.push('\n'),
            _ if character.is_control() => escaped.push('\u{fffd}'),
            _ => escaped.push(character),
        }
    }
    escaped
}

/// Escapes text so that Markdown (CommonMark with tables) shows it literally on one line. Punctuation that could begin
/// a heading, a quotation, a cell, HTML or markup within a line gets a backslash. Newlines and tabs become spaces,
/// other control characters U+FFFD. List markers (`-`, `+`, `1.`) are not escaped.
pub(super) fn markdown(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '|' | '#' | '&' | '~' | '!' => {
                escaped.push('\\');
                escaped.push(character);
            }
            '\n' | '\t' => escaped.push(' '),
            _ if character.is_control() => escaped.push('\u{fffd}'),
            _ => escaped.push(character),
        }
    }
    escaped
}
