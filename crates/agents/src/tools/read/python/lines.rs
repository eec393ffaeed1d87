//! Logical lines of Python (The Python Language Reference, section 2.1) and their tokens.

use crate::tools::errors;
use grammata::diagnostic::Place;
use grammata::error::Result;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Name,
    Number,
    /// A string, including its prefix and quotes.
    String,
    /// A single character, or `**` or `->`.
    Sign,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Token<'t> {
    pub(super) kind: Kind,
    pub(super) text: &'t str,
}

impl Token<'_> {
    pub(super) fn is(&self, sign: &str) -> bool {
        self.kind == Kind::Sign && self.text == sign
    }

    /// Returns the value of a string; `None` for f-strings, bytes and other tokens.
    pub(super) fn string(&self) -> Option<String> {
        let quote = self.text.find(['"', '\''])?;
        let prefix = self.text[..quote].to_lowercase();
        if self.kind != Kind::String || prefix.contains(['f', 'b']) {
            return None;
        }
        let body = &self.text[quote..];
        let width =
            if body.len() >= 6 && (body.starts_with("\"\"\"") || body.starts_with("'''")) { 3 } else { 1 };
        let body = body.get(width..body.len().checked_sub(width)?)?;
        Some(if prefix.contains('r') { body.to_owned() } else { unescaped(body) })
    }
}

fn unescaped(text: &str) -> String {
    let mut made = String::with_capacity(text.len());
    let mut characters = text.chars();
    while let Some(c) = characters.next() {
        if c != '\\' {
            made.push(c);
            continue;
        }
        match characters.next() {
            Some('n') => made.push('\n'),
            Some('t') => made.push('\t'),
            Some('r') => made.push('\r'),
            Some('\n') | None => {}
            Some(quoted @ ('\\' | '\'' | '"')) => made.push(quoted),
            Some(letter @ ('x' | 'u' | 'U')) => {
                let width = match letter {
                    'x' => 2,
                    'u' => 4,
                    _ => 8,
                };
                let digits: String = characters.clone().take(width).collect();
                // `from_str_radix` would also read a sign
                let number = digits.chars().try_fold(0_u32, |number, c| Some(number * 16 + c.to_digit(16)?));
                match number.filter(|_| digits.len() == width).and_then(char::from_u32) {
                    Some(c) => {
                        made.push(c);
                        characters.by_ref().take(width).for_each(drop);
                    }
                    None => made.extend(['\\', letter]),
                }
            }
            Some(other) => made.extend(['\\', other]),
        }
    }
    made
}

#[derive(Debug)]
pub(super) struct Line<'t> {
    /// The number of white-space characters before the line.
    pub(super) indent: usize,
    /// The number of the text line with its first token, from 1.
    pub(super) number: usize,
    pub(super) tokens: Vec<Token<'t>>,
}

impl<'t> Line<'t> {
    /// Returns the text of the token at index `at`, or an empty text if the token is missing or not a name.
    pub(super) fn word(&self, at: usize) -> &'t str {
        self.tokens.get(at).filter(|token| token.kind == Kind::Name).map_or("", |token| token.text)
    }

    /// Returns the value of a line that consists of one string; `None` for other lines.
    pub(super) fn only_string(&self) -> Option<String> {
        match self.tokens.as_slice() {
            [token] => token.string(),
            _ => None,
        }
    }
}

/// Splits a text into logical lines. Empty lines and comments are left out.
///
/// # Errors
/// `tools/syntax` at a string without an end.
pub(super) fn of(text: &str) -> Result<Vec<Line<'_>>> {
    let mut lines: Vec<Line<'_>> = Vec::new();
    let (mut at, mut number, mut depth) = (0, 1, 0_usize);
    let mut current = Line { indent: 0, number: 1, tokens: Vec::new() };
    let bytes = text.as_bytes();
    let mut is_start = true;
    while let Some(&byte) = bytes.get(at) {
        let start = at;
        match byte {
            b'\n' => {
                at += 1;
                number += 1;
                if depth == 0 {
                    let next = Line { indent: 0, number, tokens: Vec::new() };
                    let done = std::mem::replace(&mut current, next);
                    if !done.tokens.is_empty() {
                        lines.push(done);
                    }
                    is_start = true;
                }
                continue;
            }
            b' ' | b'\t' | b'\r' | 0x0C => {
                at += 1;
                current.indent += usize::from(is_start);
                continue;
            }
            b'#' => {
                at += bytes[at..].iter().position(|&byte| byte == b'\n').unwrap_or(bytes.len() - at);
                continue;
            }
            b'\\' if bytes.get(at + 1) == Some(&b'\n') => {
                at += 2;
                number += 1;
                continue;
            }
            _ => {}
        }
        is_start = false;
        if current.tokens.is_empty() {
            current.number = number;
        }
        let rest = &text[at..];
        let word = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
        let prefix = if word <= 2 { word } else { 0 };
        let is_string = rest[prefix..].starts_with(['"', '\''])
            && rest[..prefix].chars().all(|c| "rRbBuUfFtT".contains(c));
        let kind = if is_string {
            let length = string(&rest[prefix..]).ok_or_else(|| {
                errors::syntax(Place::in_text(text, start), "a string that does not end", "Python")
            })?;
            number += rest[..prefix + length].matches('\n').count();
            at += prefix + length;
            Kind::String
        } else if byte.is_ascii_digit() || (byte == b'.' && bytes.get(at + 1).is_some_and(u8::is_ascii_digit))
        {
            let end =
                rest.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '.')).unwrap_or(rest.len());
            at += end;
            Kind::Number
        } else if word > 0 {
            at += word;
            Kind::Name
        } else {
            match byte {
                b'(' | b'[' | b'{' => depth += 1,
                b')' | b']' | b'}' => depth = depth.saturating_sub(1),
                _ => {}
            }
            let length = rest.chars().next().map_or(1, char::len_utf8);
            at += if rest.starts_with("**") || rest.starts_with("->") { 2 } else { length };
            Kind::Sign
        };
        current.tokens.push(Token { kind, text: &text[start..at] });
    }
    if !current.tokens.is_empty() {
        lines.push(current);
    }
    Ok(lines)
}

/// Returns the length in bytes of the string at the start of a text, with its quotes; `None` if it does not end.
fn string(text: &str) -> Option<usize> {
    let quote = &text[..1];
    let triple = quote.repeat(3);
    let end = if text.starts_with(&triple) { triple.as_str() } else { quote };
    let mut at = end.len();
    loop {
        let rest = text.get(at..)?;
        if rest.starts_with(end) {
            return Some(at + end.len());
        }
        let c = rest.chars().next()?;
        if c == '\n' && end.len() == 1 {
            return None;
        }
        at += c.len_utf8();
        if c == '\\' {
            at += text.get(at..)?.chars().next()?.len_utf8();
        }
    }
}

/// Returns the index of the token that closes the bracket at `open`; `None` if it is not closed.
pub(super) fn closing(tokens: &[Token<'_>], open: usize) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, token) in tokens.iter().enumerate().skip(open) {
        if ["(", "[", "{"].iter().any(|sign| token.is(sign)) {
            depth += 1;
        } else if [")", "]", "}"].iter().any(|sign| token.is(sign)) {
            depth = depth.checked_sub(1)?;
            if depth == 0 {
                return Some(at);
            }
        }
    }
    None
}

/// Splits tokens at `sign` outside of brackets; a trailing sign adds no empty part.
pub(super) fn split<'s, 't>(tokens: &'s [Token<'t>], sign: &str) -> Vec<&'s [Token<'t>]> {
    let (mut parts, mut start, mut depth) = (Vec::new(), 0, 0_usize);
    for (at, token) in tokens.iter().enumerate() {
        if token.kind != Kind::Sign {
            continue;
        }
        match token.text {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth = depth.saturating_sub(1),
            text if text == sign && depth == 0 => {
                parts.push(&tokens[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    if start < tokens.len() {
        parts.push(&tokens[start..]);
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_have_hexadecimal_digits() {
        for (text, expected) in [
            (r"\x41\u00e9\U0001F600", "A\u{e9}\u{1f600}"),
            (r"\x+f", r"\x+f"),
            (r"\u+0e9", r"\u+0e9"),
            (r"\x4", r"\x4"),
            (r"\ud800", r"\ud800"),
        ] {
            assert_eq!(unescaped(text), expected, "{text}");
        }
    }
}
