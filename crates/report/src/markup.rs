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
/// other control characters U+FFFD. Characters that begin markup only at the start of a line, such as `-`, are not
/// escaped: see [`paragraph`].
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

/// Escapes text like [`markdown`] for the start of a line in Markdown. Also removes leading spaces, tabs and newlines,
/// and escapes the characters that would begin a list (`-`, `+`, `1.`, `1)`), a rule (`---`) or the underline of a
/// heading (`===`).
pub(super) fn paragraph(text: &str) -> String {
    let escaped = markdown(text.trim_start_matches([' ', '\t', '\n']));
    let rest = escaped.trim_start_matches(|c: char| c.is_ascii_digit());
    let (digits, rest) = escaped.split_at(escaped.len() - rest.len());
    let markers: &[char] = if digits.is_empty() { &['-', '+', '='] } else { &['.', ')'] };
    if rest.starts_with(markers) { format!("{digits}\\{rest}") } else { escaped }
}
