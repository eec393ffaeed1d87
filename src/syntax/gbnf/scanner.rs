//! Lexical analysis of GBNF: white space, names, numbers, characters with escapes, literals, classes, token terminals.

use super::errors;
use crate::error::Result;
use crate::grammar::{CharClass, TokenScope, TokenSelector, TokenTerminal};

pub(super) struct Scanner<'s> {
    pub(super) source: &'s str,
    /// The offset of the next byte; always a character boundary.
    pub(super) offset: usize,
}

fn is_name(b: u8) -> bool {
    b.is_ascii_alphanumeric() || b == b'-' || b == b'_'
}

impl<'s> Scanner<'s> {
    pub(super) fn new(source: &'s str) -> Scanner<'s> {
        Scanner { source, offset: 0 }
    }

    pub(super) fn rest(&self) -> &'s str {
        self.source.get(self.offset..).unwrap_or("")
    }

    /// The next byte; `None` at the end of the source.
    pub(super) fn byte(&self) -> Option<u8> {
        self.source.as_bytes().get(self.offset).copied()
    }

    /// Skips `text` if the rest of the source begins with it, and returns whether it does.
    pub(super) fn eat(&mut self, text: &str) -> bool {
        let found = self.rest().starts_with(text);
        if found {
            self.offset += text.len();
        }
        found
    }

    fn skip_while(&mut self, wanted: impl Fn(u8) -> bool) {
        self.offset += self.rest().bytes().take_while(|&b| wanted(b)).count();
    }

    /// Skips spaces, tabs and comments, and line ends if `lines` is true.
    pub(super) fn space(&mut self, lines: bool) {
        loop {
            self.skip_while(|b| matches!(b, b' ' | b'\t') || lines && matches!(b, b'\r' | b'\n'));
            if self.byte() != Some(b'#') {
                return;
            }
            self.skip_while(|b| !matches!(b, b'\r' | b'\n'));
        }
    }

    /// Reads a run of the characters of decimal numbers: digits, `-`, `+`, `.`, `e` and `E`; empty if there is none.
    pub(super) fn decimal(&mut self) -> &'s str {
        let start = self.offset;
        self.skip_while(|b| b.is_ascii_digit() || matches!(b, b'-' | b'+' | b'.' | b'e' | b'E'));
        self.source.get(start..self.offset).unwrap_or("")
    }

    /// Reads a rule name; empty if there is none.
    pub(super) fn name(&mut self) -> &'s str {
        let start = self.offset;
        self.skip_while(is_name);
        self.source.get(start..self.offset).unwrap_or("")
    }

    /// Skips a definition sign of other notations, such as `=` or `->`, and returns whether there was one.
    pub(super) fn other_definition(&mut self) -> bool {
        [":=", "=", "->", "→", ":"].into_iter().any(|sign| self.eat(sign))
    }

    /// Skips to the next line that begins with a name, optional attributes and a definition sign of GBNF or another
    /// notation; stops before the name. Without such a line, skips to the end of the source. The current line does not
    /// count.
    pub(super) fn next_rule(&mut self) {
        while let Some(line) = self.rest().find('\n') {
            self.offset += line + 1;
            let start = self.offset;
            self.skip_while(|b| matches!(b, b' ' | b'\t'));
            let begin = self.offset;
            if !self.name().is_empty() {
                if self.byte() == Some(b'[') {
                    self.skip_while(|b| !matches!(b, b']' | b'\r' | b'\n'));
                    self.eat("]");
                }
                self.skip_while(|b| matches!(b, b' ' | b'\t'));
                if self.eat("::=") || self.other_definition() {
                    self.offset = begin;
                    return;
                }
            }
            self.offset = start;
        }
        self.offset = self.source.len();
    }

    /// Reads a number in decimal digits; `None` if no digit comes next. A number above 4294967295 is an error.
    pub(super) fn number(&mut self) -> Result<Option<u32>> {
        let start = self.offset;
        self.skip_while(|b| b.is_ascii_digit());
        match self.source.get(start..self.offset).unwrap_or("") {
            "" => Ok(None),
            digits => match digits.parse() {
                Ok(number) => Ok(Some(number)),
                Err(_) => Err(errors::big_number(self.source, start, digits)),
            },
        }
    }

    /// Parses the bounds of a repeat after `{`, up to and including `}`: the minimum, and the maximum or `None` for no
    /// bound. `{n}` is exactly `n`.
    pub(super) fn bounds(&mut self, lines: bool) -> Result<(u32, Option<u32>)> {
        let start = self.offset.saturating_sub(1);
        self.space(lines);
        let min = self.number()?.ok_or_else(|| errors::bad_bounds(self.source, start, self.offset))?;
        self.space(lines);
        let mut max = Some(min);
        if self.eat(",") {
            self.space(lines);
            max = self.number()?;
            self.space(lines);
        }
        if !self.eat("}") {
            return Err(errors::bad_bounds(self.source, start, self.offset));
        }
        match max {
            Some(max) if max < min => Err(errors::crossed_bounds(self.source, start, self.offset)),
            max => Ok((min, max)),
        }
    }

    /// Parses the bound of `@max_chars`, `@max_bytes` or `@max_tokens`, with the comma and the white space after it.
    pub(super) fn most(&mut self) -> Result<u32> {
        self.space(true);
        let start = self.offset;
        let most = self.number()?.ok_or_else(|| errors::bad_most(self.source, start))?;
        self.space(true);
        if !self.eat(",") {
            return Err(errors::bad_most(self.source, self.offset));
        }
        self.space(true);
        Ok(most)
    }

    /// Parses a token terminal: `<name>`, `<[id]>` or a list such as `<[0-9,12],"name">`; or `!` and one of these, for
    /// all other tokens.
    pub(super) fn token(&mut self) -> Result<TokenTerminal> {
        let start = self.offset;
        let scope = if self.eat("!") { TokenScope::AllBut } else { TokenScope::Listed };
        if !self.eat("<") {
            return Err(errors::not_a_token(self.source, start));
        }
        let mut listed = Vec::new();
        if matches!(self.byte(), Some(b'[' | b'"')) {
            loop {
                let at = self.offset;
                if self.eat("[") {
                    self.token_ids(&mut listed, start)?;
                } else if self.eat("\"") {
                    listed.push(TokenSelector::Name(self.literal()?.into()));
                } else {
                    return Err(errors::bad_token(self.source, start, at));
                }
                if !self.eat(",") {
                    break;
                }
            }
            if !self.eat(">") {
                return Err(errors::bad_token(self.source, start, self.offset));
            }
        } else {
            let open = self.offset - 1;
            self.skip_while(|b| !matches!(b, b'>' | b'\r' | b'\n'));
            if !self.eat(">") {
                return Err(errors::unclosed_token(self.source, start));
            }
            let name = self.source.get(open..self.offset).unwrap_or("");
            if name.len() <= "<>".len() {
                return Err(errors::bad_token(self.source, start, self.offset));
            }
            listed.push(TokenSelector::Name(name.into()));
        }
        Ok(TokenTerminal::new(scope, listed))
    }

    /// Parses ids and ranges of ids after `[`, up to and including `]`, and adds them to `listed`. `start` is the
    /// offset of the token terminal, for errors.
    fn token_ids(&mut self, listed: &mut Vec<TokenSelector>, start: usize) -> Result<()> {
        loop {
            let from = self.offset;
            let id = |scanner: &mut Scanner<'s>| match scanner.number() {
                Ok(Some(id)) => Ok(id),
                _ => Err(errors::bad_token_id(scanner.source, start, from)),
            };
            let first = id(self)?;
            let last = if self.eat("-") { id(self)? } else { first };
            if last < first {
                return Err(errors::crossed_token_ids(self.source, from, self.offset));
            }
            listed.push(TokenSelector::Ids { first, last });
            if self.eat("]") {
                return Ok(());
            }
            if !self.eat(",") {
                return Err(errors::bad_token_id(self.source, start, self.offset));
            }
        }
    }

    /// Reads a literal after its opening quote, up to and including the closing quote. Returns its text, with escapes
    /// replaced.
    pub(super) fn literal(&mut self) -> Result<String> {
        let start = self.offset.saturating_sub(1);
        let mut text = String::new();
        while !self.eat("\"") {
            match self.character()? {
                Some(c) => text.push(c),
                None => return Err(errors::unclosed_literal(self.source, start)),
            }
        }
        Ok(text)
    }

    /// Parses a class after `[`, up to and including `]`. A class that has no characters is an error.
    pub(super) fn class(&mut self) -> Result<CharClass> {
        let start = self.offset.saturating_sub(1);
        let negated = self.eat("^");
        let mut ranges = Vec::new();
        while !self.eat("]") {
            let from = self.offset;
            let low = self.character()?.ok_or_else(|| errors::unclosed_class(self.source, start))?;
            let mut high = low;
            if self.rest().starts_with('-') && !self.rest().starts_with("-]") {
                self.offset += 1;
                high = self.character()?.ok_or_else(|| errors::unclosed_class(self.source, start))?;
            }
            if high < low {
                return Err(errors::crossed_range(self.source, from, self.offset));
            }
            ranges.push((low, high));
        }
        if ranges.is_empty() {
            return Err(errors::empty_class(self.source, start, self.offset));
        }
        let class = CharClass::new(ranges);
        let class = if negated { class.complement() } else { class };
        if class.is_empty() {
            return Err(errors::empty_class(self.source, start, self.offset));
        }
        Ok(class)
    }

    /// Reads one character or escape. `None` if the source ends before it or after its backslash.
    fn character(&mut self) -> Result<Option<char>> {
        let start = self.offset;
        let Some(c) = self.rest().chars().next() else { return Ok(None) };
        self.offset += c.len_utf8();
        if c != '\\' {
            return Ok(Some(c));
        }
        let Some(kind) = self.rest().chars().next() else { return Ok(None) };
        self.offset += kind.len_utf8();
        match kind {
            'n' => Ok(Some('\n')),
            'r' => Ok(Some('\r')),
            't' => Ok(Some('\t')),
            '\\' | '"' | '[' | ']' | '-' => Ok(Some(kind)),
            'x' => self.hex(start, 2),
            'u' => self.hex(start, 4),
            'U' => self.hex(start, 8),
            _ => Err(errors::bad_escape(self.source, start, self.offset)),
        }
    }

    /// Reads exactly `count` hexadecimal digits and returns the character with that code, or an error, but never
    /// `Ok(None)`. `start` is the offset of the escape, for errors.
    fn hex(&mut self, start: usize, count: usize) -> Result<Option<char>> {
        let length = self.rest().bytes().take(count).take_while(u8::is_ascii_hexdigit).count();
        let digits = self.rest().get(..length).unwrap_or("");
        self.offset += length;
        if length < count {
            return Err(errors::short_escape(self.source, start, self.offset, count));
        }
        match u32::from_str_radix(digits, 16).ok().and_then(char::from_u32) {
            Some(c) => Ok(Some(c)),
            None => Err(errors::no_character(self.source, start, self.offset)),
        }
    }
}
