//! Translates ECMA-262 patterns to the syntax of regex-syntax.
//!
//! The translation is one pass over the characters. Every construct is written in a form that has the same meaning in
//! regex-syntax, together with its place, so that errors point into the original pattern. Group names are dropped,
//! since backreferences are not supported. Look-arounds become named groups.

use super::ecma_class;
use super::errors;
use super::source::Source;
use crate::error::{Error, Result};
use std::fmt::Write;

/// The content of the class `\s` of ECMA-262: white space and line terminators.
pub(super) const SPACE: &str =
    r"\t\n\x0B\x0C\r \xA0\u{1680}\u{2000}-\u{200A}\u{2028}\u{2029}\u{202F}\u{205F}\u{3000}\u{FEFF}";
/// The content of the class `\w` of ECMA-262.
pub(super) const WORD: &str = "0-9A-Za-z_";
/// The content of the class `\d` of ECMA-262.
pub(super) const DIGIT: &str = "0-9";

/// Translates a pattern. `dot_all` is the flag `s`: `.` also matches line breaks.
pub(super) fn translate(pattern: &str, dot_all: bool) -> Result<Source<'_>> {
    let mut translator = Translator {
        pattern,
        offset: 0,
        out: String::with_capacity(pattern.len() + 16),
        map: Vec::new(),
        dot_all: vec![(dot_all, false)],
        looks: 0,
        repeatable: Repeatable::Nothing,
    };
    while let Some(c) = translator.peek() {
        translator.construct(c)?;
    }
    let (end, original_end) = (translator.out.len(), pattern.len());
    translator.map.push((end, original_end));
    Ok(Source::rewritten(pattern, translator.out, translator.map))
}

/// The beginnings of look-arounds, with the names of the groups that replace them. A number after the name makes it
/// unique. No other group of a translated pattern has a name.
pub(super) const LOOK_AROUND: &[(&str, &str)] =
    &[("(?=", AHEAD), ("(?!", NOT_AHEAD), ("(?<=", BEHIND), ("(?<!", NOT_BEHIND)];
pub(super) const AHEAD: &str = "ahead";
pub(super) const NOT_AHEAD: &str = "not_ahead";
pub(super) const BEHIND: &str = "behind";
pub(super) const NOT_BEHIND: &str = "not_behind";

/// The length of the beginning of a group with a name, `(?P<name>` or `(?<name>`, up to the `>`; `None` if the text does
/// not begin with one.
pub(super) fn starts_name(rest: &str) -> Option<usize> {
    let name = rest.strip_prefix("(?P<").or_else(|| rest.strip_prefix("(?<"))?;
    let end = name.find('>')?;
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '[' | ']');
    (end > 0 && name[..end].chars().all(is_name)).then_some(rest.len() - name.len() + end + 1)
}

/// What the last construct is to a quantifier after it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Repeatable {
    /// Not an operand: the beginning of a branch, flags, an anchor or a look-around.
    Nothing,
    /// An operand.
    Atom,
    /// A repetition, which cannot be repeated again without a group.
    Repeat,
}

/// The meaning of an escape outside or inside a class.
pub(super) enum Escape {
    Char(char),
    /// The code of an unpaired surrogate, half of a surrogate pair.
    Surrogate(u16),
    /// The content of a class (without brackets), and whether it is negated.
    Class(&'static str, bool),
    /// `\p{…}` or `\P{…}`, which is copied unchanged.
    Property,
    /// `\b` or `\B`, by its letter.
    Boundary(char),
}

/// The state of the translation. `offset` is the position in `pattern`; `out` is the output so far.
pub(super) struct Translator<'p> {
    pub(super) pattern: &'p str,
    pub(super) offset: usize,
    pub(super) out: String,
    /// Pairs of byte offsets (output, pattern): one for the beginning of each construct, and a last one for the end of
    /// the pattern.
    map: Vec<(usize, usize)>,
    /// For the whole pattern and for each open group: the flag `s`, and whether the group is a look-around.
    dot_all: Vec<(bool, bool)>,
    /// The number of look-arounds so far.
    looks: usize,
    /// What precedes the current position, as the operand of a quantifier there.
    repeatable: Repeatable,
}

impl<'p> Translator<'p> {
    pub(super) fn rest(&self) -> &'p str {
        self.pattern.get(self.offset..).unwrap_or("")
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    pub(super) fn advance(&mut self, bytes: usize) {
        self.offset += bytes;
    }

    /// An error about the pattern from offset `from` up to the current position.
    pub(super) fn error(&self, from: usize, code: &'static str, message: &str, help: &str) -> Error {
        let length = self.offset.saturating_sub(from).max(1);
        errors::at_offset(self.pattern, from, length, code, message, help)
    }

    /// Records that the output after its current end translates the pattern after the current position.
    pub(super) fn mark(&mut self) {
        self.map.push((self.out.len(), self.offset));
    }

    /// Writes a literal character: a letter or digit as it is, any other character as `\x{…}`.
    pub(super) fn literal(&mut self, c: char) {
        if c.is_alphanumeric() {
            self.out.push(c);
        } else {
            self.hex(c);
        }
    }

    pub(super) fn hex(&mut self, c: char) {
        // writing to a string does not fail
        let _ = write!(self.out, "\\x{{{:X}}}", u32::from(c));
    }

    fn construct(&mut self, c: char) -> Result<()> {
        self.mark();
        let start = self.offset;
        match c {
            '\\' => {
                self.repeatable = Repeatable::Atom;
                return self.escape_outside(start);
            }
            '[' => {
                self.repeatable = Repeatable::Atom;
                return ecma_class::translate(self);
            }
            '(' => return self.open(start),
            ')' => {
                if self.dot_all.len() == 1 {
                    self.advance(1);
                    let help = "open a group with `(`, or write `\\)` for the character";
                    return Err(self.error(start, "regex/unopened-group", "unopened group", help));
                }
                let look = self.dot_all.pop().is_some_and(|(_, look)| look);
                self.out.push(')');
                self.repeatable = if look { Repeatable::Nothing } else { Repeatable::Atom };
            }
            '|' | '^' | '$' => {
                self.out.push(c);
                self.repeatable = Repeatable::Nothing;
            }
            '.' => {
                let all = self.dot_all.last().is_some_and(|(dot_all, _)| *dot_all);
                self.out.push_str(if all { r"[\x00-\x{10FFFF}]" } else { r"[^\n\r\x{2028}\x{2029}]" });
                self.repeatable = Repeatable::Atom;
            }
            '*' | '+' | '?' => return self.quantifier(start, 1),
            '{' => match bounds(self.rest()) {
                Some(length) => return self.quantifier(start, length),
                None => {
                    self.literal(c);
                    self.repeatable = Repeatable::Atom;
                }
            },
            c => {
                self.literal(c);
                self.repeatable = Repeatable::Atom;
            }
        }
        self.advance(c.len_utf8());
        Ok(())
    }

    fn quantifier(&mut self, start: usize, length: usize) -> Result<()> {
        self.advance(length);
        if self.repeatable != Repeatable::Atom {
            let message = "repetition operator missing expression";
            let help = if self.repeatable == Repeatable::Repeat {
                "put the repeat before it in a group, or drop one of them"
            } else {
                "put something before it, or write a backslash before it for the character"
            };
            return Err(self.error(start, "regex/nothing-to-repeat", message, help));
        }
        self.out.push_str(&self.pattern[start..self.offset]);
        if self.peek() == Some('?') {
            self.out.push('?');
            self.advance(1);
        }
        self.repeatable = Repeatable::Repeat;
        Ok(())
    }

    fn open(&mut self, start: usize) -> Result<()> {
        self.repeatable = Repeatable::Nothing;
        let rest = self.rest();
        let mut dot_all = self.dot_all.last().is_some_and(|(dot_all, _)| *dot_all);
        if let Some((prefix, name)) = LOOK_AROUND.iter().find(|(prefix, _)| rest.starts_with(prefix)) {
            self.advance(prefix.len());
            // writing to a string does not fail
            let _ = write!(self.out, "(?P<{name}{}>", self.looks);
            self.looks += 1;
            self.dot_all.push((dot_all, true));
            return Ok(());
        }
        if let Some(named) = rest.strip_prefix("(?<").or_else(|| rest.strip_prefix("(?P<")) {
            let name = named.split_once('>').map_or("", |(name, _)| name);
            let good = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$' | '\u{200C}' | '\u{200D}');
            if name.is_empty() || name.starts_with(char::is_numeric) || !name.chars().all(good) {
                self.advance(3);
                let help = "write `(?<name>…)` with a name of letters, digits, `$` and `_`";
                return Err(self.error(start, "regex/bad-group-name", "a group has no proper name", help));
            }
            self.advance(rest.len() - named.len() + name.len() + 1);
            self.out.push('(');
        } else if let Some(flags) = rest.strip_prefix("(?") {
            let length = flags.find([':', ')']).unwrap_or(flags.len());
            let (flags, after) = flags.split_at(length);
            if after.is_empty() || !flags.bytes().all(|b| b"ims-".contains(&b)) {
                self.advance(2);
                let help =
                    "groups are `(…)`, `(?:…)`, `(?<name>…)` and `(?flags:…)` with the flags i, m and s";
                return Err(self.error(start, "regex/bad-flag", "this kind of group is not known", help));
            }
            let off = flags.find('-').unwrap_or(flags.len());
            if let Some(at) = flags.find('s') {
                dot_all = at < off;
            }
            self.advance(2 + length + 1);
            self.out.push_str(&self.pattern[start..self.offset]);
            if after.starts_with(')') {
                // the flags hold until the enclosing group ends
                if let Some(last) = self.dot_all.last_mut() {
                    last.0 = dot_all;
                }
                return Ok(());
            }
        } else {
            self.advance(1);
            self.out.push('(');
        }
        self.dot_all.push((dot_all, false));
        Ok(())
    }

    fn escape_outside(&mut self, start: usize) -> Result<()> {
        match self.rest().as_bytes().get(1) {
            Some(b'1'..=b'9') => {
                let digits = self.rest()[1..].bytes().take_while(u8::is_ascii_digit).count();
                return Err(errors::backreference(self.pattern, start, 1 + digits));
            }
            Some(b'k') => return Err(errors::backreference(self.pattern, start, 2)),
            _ => {}
        }
        match self.escape()? {
            Escape::Char(c) => self.literal(c),
            Escape::Surrogate(_) => return Err(self.lone_surrogate(start)),
            Escape::Class(inside, negated) => {
                self.out.push_str(if negated { "[^" } else { "[" });
                self.out.push_str(inside);
                self.out.push(']');
            }
            Escape::Property => self.out.push_str(&self.pattern[start..self.offset]),
            Escape::Boundary(c) => {
                self.out.push('\\');
                self.out.push(c);
                self.repeatable = Repeatable::Nothing;
            }
        }
        Ok(())
    }

    /// The error for an unpaired surrogate that was just read, from offset `start` on.
    pub(super) fn lone_surrogate(&self, start: usize) -> Error {
        let help = "half of a surrogate pair is not a character; write `\\u{…}` with the character's number";
        self.error(start, "regex/lone-surrogate", "an unpaired surrogate", help)
    }

    /// Reads one escape at the current position, except backreferences.
    pub(super) fn escape(&mut self) -> Result<Escape> {
        let start = self.offset;
        self.advance(1);
        let Some(c) = self.peek() else {
            let help = "write `\\\\` for a backslash";
            return Err(self.error(start, "regex/bad-escape", "the pattern ends in a backslash", help));
        };
        self.advance(c.len_utf8());
        Ok(match c {
            'd' => Escape::Class(DIGIT, false),
            'D' => Escape::Class(DIGIT, true),
            'w' => Escape::Class(WORD, false),
            'W' => Escape::Class(WORD, true),
            's' => Escape::Class(SPACE, false),
            'S' => Escape::Class(SPACE, true),
            'b' | 'B' => Escape::Boundary(c),
            't' => Escape::Char('\t'),
            'n' => Escape::Char('\n'),
            'v' => Escape::Char('\u{B}'),
            'f' => Escape::Char('\u{C}'),
            'r' => Escape::Char('\r'),
            '0' if !self.peek().is_some_and(|c| c.is_ascii_digit()) => Escape::Char('\0'),
            'c' => match self.peek() {
                Some(letter) if letter.is_ascii_alphabetic() => {
                    self.advance(1);
                    Escape::Char(char::from(letter as u8 % 32))
                }
                _ => return Err(self.bad_escape(start)),
            },
            'x' => match self.hex_digits(2) {
                Some(code) => Escape::Char(char::from(code as u8)),
                None => return Err(self.bad_escape(start)),
            },
            'u' => self.unicode_escape(start)?,
            'p' | 'P' => match self.rest().strip_prefix('{').and_then(|rest| rest.find('}')) {
                Some(length) => {
                    self.advance(length + 2);
                    Escape::Property
                }
                None => {
                    let name = self.peek().filter(char::is_ascii_alphabetic);
                    let help = format!(
                        "write the name of the property in braces: `\\{c}{{{}}}`",
                        name.unwrap_or('L')
                    );
                    self.advance(usize::from(name.is_some()));
                    return Err(self.error(start, "regex/bad-escape", "a property without braces", &help));
                }
            },
            // anchors in other dialects, letters in old browsers
            'A' | 'z' | 'Z' => {
                let help = "write `^` and `$` for the start and the end of the text";
                return Err(self.error(start, "regex/bad-escape", "ECMA-262 has no such escape", help));
            }
            c if c.is_ascii_alphanumeric() => return Err(self.bad_escape(start)),
            c => Escape::Char(c),
        })
    }

    fn unicode_escape(&mut self, start: usize) -> Result<Escape> {
        if let Some(rest) = self.rest().strip_prefix('{') {
            let digits = rest.find('}').unwrap_or(0);
            let hex = rest.get(..digits).filter(|d| d.bytes().all(|b| b.is_ascii_hexdigit()));
            let code = hex.and_then(|hex| {
                u32::from_str_radix(hex.trim_start_matches('0'), 16).ok().or(
                    // zero has no digits left without its leading zeros
                    (!hex.is_empty() && hex.bytes().all(|b| b == b'0')).then_some(0),
                )
            });
            self.advance(digits + 2);
            return match code.map(|code| (code, char::from_u32(code))) {
                Some((_, Some(c))) => Ok(Escape::Char(c)),
                Some((code @ 0xD800..=0xDFFF, None)) => Ok(Escape::Surrogate(code as u16)),
                _ => Err(self.bad_escape(start)),
            };
        }
        let Some(code) = self.hex_digits(4) else { return Err(self.bad_escape(start)) };
        if let Some(c) = char::from_u32(code) {
            return Ok(Escape::Char(c));
        }
        let after = self.offset;
        if (0xD800..0xDC00).contains(&code) && self.rest().starts_with("\\u") {
            self.advance(2);
            if let Some(low @ 0xDC00..=0xDFFF) = self.hex_digits(4) {
                let pair = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
                return char::from_u32(pair).map(Escape::Char).ok_or_else(|| self.bad_escape(start));
            }
            self.offset = after;
        }
        Ok(Escape::Surrogate(code as u16))
    }

    /// Reads `count` hexadecimal digits; `None`, with nothing consumed, if fewer come next.
    fn hex_digits(&mut self, count: usize) -> Option<u32> {
        let digits = self.rest().get(..count)?;
        if !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
            return None;
        }
        self.advance(count);
        u32::from_str_radix(digits, 16).ok()
    }

    fn bad_escape(&self, start: usize) -> Error {
        let help =
            "write `\\\\` for a backslash, `\\xHH`, `\\uHHHH` or `\\u{…}` for a character by its number";
        self.error(start, "regex/bad-escape", "ECMA-262 has no such escape", help)
    }
}

/// The length in bytes of `{n}`, `{n,}` or `{n,m}` at the start of `text`, which must begin with a brace; `None` for
/// any other use of a brace.
fn bounds(text: &str) -> Option<usize> {
    let digits = |from: usize| text.as_bytes()[from..].iter().take_while(|b| b.is_ascii_digit()).count();
    let mut end = 1 + digits(1);
    if end == 1 {
        return None;
    }
    if text.as_bytes().get(end) == Some(&b',') {
        end += 1;
        end += digits(end);
    }
    (text.as_bytes().get(end) == Some(&b'}')).then_some(end + 1)
}
