//! Lexical analysis: splits a Lark grammar into words, each with the offset where it begins.

use super::errors;
use crate::error::{Error, Errors, Result};

/// A word of the notation.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Word<'s> {
    /// The name of a terminal, if its first letter is upper case; otherwise of a rule.
    Name(&'s str),
    /// A literal with its escapes resolved, and whether it has the flag `i`: letters match in either case.
    Text(String, bool),
    /// The text of a pattern between its slashes, with `\/` replaced by `/`, and its flags.
    Pattern(String, &'s str),
    /// A priority: `.` and a number, which may have a sign.
    Priority(&'s str),
    /// A number in decimal digits, at most 4294967295.
    Number(u32),
    /// A directive such as `%ignore`, `%import`, `%json` or `%llguidance`, with the percent sign.
    Directive(&'s str),
    /// The name of a special token, with its angle brackets.
    Special(&'s str),
    /// The raw list of token ids between `<[` and `]>`.
    Ids(&'s str),
    /// The text of a JSON array or object after `%json`, `%regex`, `%llguidance` or `%grammar_options`.
    Json(&'s str),
    /// One of `: | ( ) [ ] { } ? * + ~ .. -> , = . ! &`.
    Mark(&'static str),
    LineEnd,
    /// Text that is no word, up to the end of the line.
    Wrong(Error),
}

/// A word and the offset of its first byte.
pub(super) type Placed<'s> = (usize, Word<'s>);

/// The marks. Those of two characters are first, because the first mark that matches is taken.
const MARKS: [&str; 19] =
    ["..", "->", ":", "|", "(", ")", "[", "]", "{", "}", "?", "*", "+", "~", ",", "=", ".", "!", "&"];

/// Splits the text of a grammar from the offset `start` on into words. A line that cannot be read ends in
/// [`Word::Wrong`]; reading stops after as many of them as are reported.
pub(super) fn scan(source: &str, start: usize) -> Vec<Placed<'_>> {
    let mut words: Vec<Placed<'_>> = Vec::new();
    let mut at = start;
    let mut wrong = 0;
    while let Some(rest) = source.get(at..).filter(|rest| !rest.is_empty()) {
        let (length, word) = match next(source, at, rest, &words) {
            Ok(found) => found,
            Err(_) if wrong > Errors::MOST => break,
            Err(error) => {
                wrong += 1;
                (rest.find('\n').unwrap_or(rest.len()), Some(Word::Wrong(error)))
            }
        };
        words.extend(word.map(|word| (at, word)));
        at += length;
    }
    words
}

/// Reads the next word, or a character between words. Returns its length in bytes.
///
/// # Errors
/// `lark/…` with line and column, for text that is no word.
fn next<'s>(
    source: &'s str,
    at: usize,
    rest: &'s str,
    words: &[Placed<'s>],
) -> Result<(usize, Option<Word<'s>>)> {
    Ok(match rest.as_bytes() {
        [b' ' | b'\t' | b'\r', ..] => (1, None),
        // the JSON value of a directive may begin on a later line than the directive
        [b'\n', ..] if follows_json(words) => (1, None),
        [b'\n', ..] => (1, Some(Word::LineEnd)),
        [b'/', b'/', ..] | [b'#', ..] => (rest.find('\n').unwrap_or(rest.len()), None),
        [b'"', ..] => text(source, at)?,
        [b'/', ..] => pattern(source, at)?,
        [b'<', b'[', ..] => {
            let end = rest.find("]>").ok_or_else(|| errors::unclosed(source, at, "<[", "]>"))?;
            (end + 2, Some(Word::Ids(&rest[2..end])))
        }
        [b'<', ..] => {
            let end = rest.find('>').ok_or_else(|| errors::unclosed(source, at, "<", ">"))?;
            (end + 1, Some(Word::Special(&rest[..=end])))
        }
        [b'%', ..] => {
            let end = 1 + name_length(&rest[1..]);
            (end, Some(Word::Directive(&rest[..end])))
        }
        [b'{' | b'[', ..] if follows_json(words) => {
            let mut values = serde_json::Deserializer::from_str(rest).into_iter::<serde_json::Value>();
            match values.next() {
                Some(Ok(_)) => (values.byte_offset(), Some(Word::Json(&rest[..values.byte_offset()]))),
                Some(Err(cause)) => return Err(errors::not_json(source, at, &cause)),
                None => return Err(errors::unclosed(source, at, "{", "}")),
            }
        }
        [b'.', ..] if priority_length(rest) > 0 => {
            let length = priority_length(rest);
            (length, Some(Word::Priority(&rest[..length])))
        }
        [b'0'..=b'9', ..] => {
            let length = rest.bytes().take_while(u8::is_ascii_digit).count();
            let number = rest[..length].parse().map_err(|_| errors::number(source, at))?;
            (length, Some(Word::Number(number)))
        }
        _ if name_length(rest) > 0 => (name_length(rest), Some(Word::Name(&rest[..name_length(rest)]))),
        _ => match MARKS.iter().find(|mark| rest.starts_with(**mark)) {
            Some(mark) => (mark.len(), Some(Word::Mark(mark))),
            None => return Err(errors::unexpected(source, at, "a rule, a terminal or a literal")),
        },
    })
}

/// Whether the last word is a directive that a JSON value follows.
fn follows_json(words: &[Placed<'_>]) -> bool {
    matches!(
        words.last(),
        Some((_, Word::Directive("%json" | "%regex" | "%llguidance" | "%grammar_options")))
    )
}

/// The length in bytes of the priority at the start of a text; 0 if there is none.
fn priority_length(text: &str) -> usize {
    let sign = usize::from(matches!(text.as_bytes().get(1), Some(b'-' | b'+')));
    let digits = text.bytes().skip(1 + sign).take_while(u8::is_ascii_digit).count();
    if text.starts_with('.') && digits > 0 { 1 + sign + digits } else { 0 }
}

/// The length in bytes of the name at the start of a text; 0 if there is none. A name consists of ASCII letters, digits
/// and underscores. As in llguidance, it may also contain hyphens, if a letter, digit or underscore follows each.
fn name_length(text: &str) -> usize {
    let is_letter = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let bytes = text.as_bytes();
    let goes_on = |at: usize| bytes.get(at).is_some_and(is_letter);
    (0..bytes.len())
        .take_while(|&at| goes_on(at) || at > 0 && bytes.get(at) == Some(&b'-') && goes_on(at + 1))
        .count()
}

/// Scans the literal at offset `at`. Returns its length in bytes, with quotes and flag, and its word.
fn text(source: &str, at: usize) -> Result<(usize, Option<Word<'_>>)> {
    let rest = source.get(at..).unwrap_or_default();
    let mut out = String::new();
    let mut chars = rest.char_indices().skip(1);
    while let Some((place, c)) = chars.next() {
        match c {
            '"' => {
                let flag = rest.as_bytes().get(place + 1) == Some(&b'i');
                return Ok((place + 1 + usize::from(flag), Some(Word::Text(out, flag))));
            }
            '\n' => break,
            '\\' => {
                let Some((_, c)) = chars.next() else { break };
                let digits = match c {
                    'x' => 2,
                    'u' => 4,
                    'U' => 8,
                    _ => 0,
                };
                out.push(match c {
                    'n' => '\n',
                    'r' => '\r',
                    't' => '\t',
                    'b' => '\x08',
                    'f' => '\x0C',
                    'v' => '\x0B',
                    '"' | '\\' | '/' | '\'' => c,
                    _ if digits > 0 => {
                        let code: String = chars.by_ref().take(digits).map(|(_, c)| c).collect();
                        // `from_str_radix` would also read a sign
                        let number =
                            code.chars().try_fold(0_u32, |number, c| Some(number * 16 + c.to_digit(16)?));
                        let number = number.filter(|_| code.len() == digits);
                        number.and_then(char::from_u32).ok_or_else(|| errors::escape(source, at + place))?
                    }
                    _ => return Err(errors::escape(source, at + place)),
                });
            }
            c => out.push(c),
        }
    }
    Err(errors::unclosed(source, at, "\"", "\""))
}

/// Scans the pattern at offset `at`. Returns its length in bytes, with slashes and flags, and its word. A pattern with
/// the flag `x` may have several lines.
fn pattern(source: &str, at: usize) -> Result<(usize, Option<Word<'_>>)> {
    let rest = source.get(at..).unwrap_or_default();
    let mut out = String::new();
    let mut has_lines = false;
    let mut chars = rest.char_indices().skip(1).peekable();
    while let Some((place, c)) = chars.next() {
        match c {
            '/' => {
                let flags = &rest[place + 1..];
                let flags = &flags[..flags.bytes().take_while(u8::is_ascii_lowercase).count()];
                if has_lines && !flags.contains('x') {
                    break;
                }
                return Ok((place + 1 + flags.len(), Some(Word::Pattern(out, flags))));
            }
            '\n' => {
                has_lines = true;
                out.push('\n');
            }
            // `\/` is an escape of this notation, not of patterns
            '\\' if chars.next_if(|(_, c)| *c == '/').is_some() => out.push('/'),
            '\\' => {
                out.push('\\');
                out.extend(chars.next().map(|(_, c)| c));
            }
            c => out.push(c),
        }
    }
    Err(errors::unclosed_pattern(source, at))
}
