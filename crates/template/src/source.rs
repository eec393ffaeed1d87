//! The source of a template as the parser of the library must get it to read what Jinja reads.

use minijinja::machinery::{Token, tokenize};
use minijinja::syntax::SyntaxConfig;

use crate::text;

/// A rewritten source.
pub(crate) struct Prepared {
    pub(crate) text: String,
    /// The rewritings, the last one first.
    steps: [Offsets; 2],
}

/// Offsets in a rewritten text, ascending, each with the offset in the text before.
type Offsets = Vec<(usize, usize)>;

impl Prepared {
    /// Rewrites a source:
    /// - line ends become `\n`;
    /// - escapes in text literals that the library reads otherwise than Python are replaced by others;
    /// - a `+` before an operand is left out;
    /// - floats that the compiler would print otherwise than Python are read when the template is rendered;
    /// - with `trims`, a line break after a tag `raw` is repeated, because the library leaves one out.
    ///
    /// A source without tokens is returned with its line ends replaced; the parser reports its fault.
    pub(crate) fn new(source: &str, syntax: SyntaxConfig, trims: bool) -> Prepared {
        let (source, lines) = with_lines(source);
        let mut text = String::with_capacity(source.len());
        let mut offsets = Offsets::new();
        let mut done = 0;
        for (start, end, new) in edits(&source, syntax, trims) {
            text.push_str(&source[done..start]);
            offsets.push((text.len(), start));
            text.push_str(&new);
            offsets.push((text.len(), end));
            done = end;
        }
        text.push_str(&source[done..]);
        Prepared { text, steps: [offsets, lines] }
    }

    /// Returns the offset in the original source of an offset in the text.
    pub(crate) fn original(&self, offset: usize) -> usize {
        self.steps.iter().fold(offset, |offset, step| {
            let after = step.partition_point(|&(at, _)| at <= offset);
            match after.checked_sub(1).and_then(|before| step.get(before)) {
                Some((at, original)) => original + (offset - at),
                None => offset,
            }
        })
    }
}

/// Returns a source with `\n` as its line ends.
fn with_lines(source: &str) -> (String, Offsets) {
    let (mut text, mut offsets) = (String::with_capacity(source.len()), Offsets::new());
    let mut rest = source;
    while let Some(at) = rest.find('\r') {
        let (before, after) = rest.split_at(at);
        text.push_str(before);
        text.push('\n');
        rest = after.strip_prefix("\r\n").unwrap_or(&after[1..]);
        offsets.push((text.len(), source.len() - rest.len()));
    }
    text.push_str(rest);
    (text, offsets)
}

/// Returns the ranges to replace, in order, with their new texts.
fn edits(source: &str, syntax: SyntaxConfig, trims: bool) -> Vec<(usize, usize, String)> {
    let mut edits = Vec::new();
    // whether the token before ends an operand, so that a `+` adds
    let mut is_operand = false;
    for token in tokenize(source, false, syntax) {
        let Ok((token, span)) = token else { return Vec::new() };
        let (start, end) = (span.start_offset as usize, span.end_offset as usize);
        let written = source.get(start..end).unwrap_or_default();
        match &token {
            // Jinja keeps a line break after the tag, the library leaves it out
            Token::TemplateData(_) if trims && written.starts_with('\n') && is_raw(&source[..start]) => {
                edits.push((start, start, "\n".to_owned()));
            }
            Token::Plus if !is_operand => edits.push((start, end, String::new())),
            Token::Str(_) | Token::String(_) => {
                if let Some(new) = literal(written) {
                    edits.push((start, end, new));
                }
            }
            Token::Float(number) if !(1e-4..1e16).contains(number) && *number != 0.0 => {
                edits.push((start, end, format!("('{}'|float)", text::float(*number))));
            }
            _ => {}
        }
        is_operand = match token {
            Token::Ident(name) => {
                !matches!(name, "and" | "or" | "not" | "in" | "is" | "if" | "else" | "elif" | "print" | "set")
            }
            Token::Str(_) | Token::String(_) | Token::Int(_) | Token::Int128(_) | Token::Float(_) => true,
            Token::ParenClose | Token::BracketClose | Token::BraceClose => true,
            _ => false,
        };
    }
    edits
}

/// Returns whether a text ends with a tag `raw` after which white space is kept.
fn is_raw(before: &str) -> bool {
    let words = before.strip_suffix("%}").and_then(|tag| tag.rfind("{%").and_then(|at| tag.get(at + 2..)));
    words.is_some_and(|words| words.trim_start_matches(['-', '+']).trim() == "raw")
}

/// Returns a text literal with the same characters for the library as `written` has for Python; `None` if it already
/// is one. An escape that neither can have is kept.
fn literal(written: &str) -> Option<String> {
    let mut out = String::with_capacity(written.len());
    let mut is_changed = false;
    let mut rest = written;
    while let Some(at) = rest.find('\\') {
        let (before, escape) = rest.split_at(at);
        out.push_str(before);
        let (length, new) = escaped(escape);
        let (old, after) = escape.split_at(length);
        match new {
            Some(new) => {
                is_changed = true;
                out.push_str(&new);
            }
            None => out.push_str(old),
        }
        rest = after;
    }
    out.push_str(rest);
    is_changed.then_some(out)
}

/// Returns the length of the escape at the beginning of a text, and what is written instead; `None` if the library
/// reads the escape as Python does.
fn escaped(text: &str) -> (usize, Option<String>) {
    let Some(c) = text[1..].chars().next() else { return (1, None) };
    let length = 1 + c.len_utf8();
    let new = match c {
        '/' => r"\\/".to_owned(),
        'a' => r"\x07".to_owned(),
        'v' => r"\x0b".to_owned(),
        '\n' => String::new(),
        'U' => {
            let digits = text.get(2..10).unwrap_or_default();
            let character = u32::from_str_radix(digits, 16).ok().and_then(char::from_u32);
            match character.filter(|c| !matches!(c, '\\' | '"' | '\'')) {
                Some(c) => return (10, Some(c.to_string())),
                // as a bad escape
                None => r"\u".to_owned(),
            }
        }
        // names of characters are not known
        'N' => r"\u".to_owned(),
        _ => return (length, None),
    };
    (length, Some(new))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_those_of_the_source() {
        let source = "a\r\n{{ '\\/' }}\r\n{{ +1 + 1e-7 }}\r\n{{ '\\/' + nope }}z\r";
        let prepared = Prepared::new(source, SyntaxConfig::default(), false);
        assert_eq!(prepared.text, "a\n{{ '\\\\/' }}\n{{ 1 + ('1e-07'|float) }}\n{{ '\\\\/' + nope }}z\n");
        for word in ["a", "{{ '", " }}", "1 +", "nope", "z"] {
            let at = source.find(word).unwrap();
            let there = prepared.text.find(word).unwrap();
            assert_eq!(prepared.original(there), at, "{word}");
        }
    }
}
