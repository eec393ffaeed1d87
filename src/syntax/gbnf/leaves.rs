//! Functions with texts in quotes as arguments: `@regex("pattern", "flags")` and `@substring("chunk", …)`.

use super::errors;
use super::parser::Parser;
use crate::error::Result;
use crate::grammar::{CharClass, ExprId, Expression, GrammarBuilder};
use crate::syntax::regex;

impl Parser<'_> {
    /// Parses a call of `@regex` or `@substring`. `lines` says whether line ends are allowed before `(`. `None`, with
    /// nothing consumed, if another function follows, or no `(` after the name.
    pub(super) fn leaf(&mut self, lines: bool) -> Result<Option<ExprId>> {
        let start = self.scanner.offset;
        self.scanner.offset += 1;
        let name = self.scanner.name();
        self.scanner.space(lines);
        if !matches!(name, "regex" | "substring") || !self.scanner.eat("(") {
            self.scanner.offset = start;
            return Ok(None);
        }
        let texts = self.texts(name)?;
        let made = match (name, &texts[..]) {
            ("substring", chunks) => self.builder.substrings(chunks.iter().map(|(_, chunk)| chunk)),
            (_, [(at, pattern)]) => self.pattern(*at, pattern, (*at, ""))?,
            (_, [(at, pattern), (flags_at, flags)]) => self.pattern(*at, pattern, (*flags_at, flags))?,
            _ => return Err(errors::expected_text(self.scanner.source, start, name)),
        };
        Ok(Some(made))
    }

    /// Parses the texts in quotes after an opening parenthesis, up to and including the closing one. Returns each text
    /// with the offset of its opening quote.
    fn texts(&mut self, function: &str) -> Result<Vec<(usize, String)>> {
        let mut texts = Vec::new();
        self.scanner.space(true);
        if self.scanner.eat(")") {
            return Ok(texts);
        }
        loop {
            self.scanner.space(true);
            let at = self.scanner.offset;
            if !self.scanner.eat("\"") {
                return Err(errors::expected_text(self.scanner.source, at, function));
            }
            texts.push((at, self.scanner.literal()?));
            self.scanner.space(true);
            if self.scanner.eat(")") {
                return Ok(texts);
            }
            if !self.scanner.eat(",") {
                return Err(errors::expected_text(self.scanner.source, self.scanner.offset, function));
            }
        }
    }

    /// Lowers a pattern of ECMA-262, which must match as a whole. Each character of `flags` is a flag.
    ///
    /// # Errors
    /// `gbnf/regex-flag` for an unknown flag, an error in the pattern at the offset `at`, and `gbnf/regex-without-text`
    /// if the pattern is found to match no text.
    fn pattern(&mut self, at: usize, pattern: &str, (flags_at, flags): (usize, &str)) -> Result<ExprId> {
        let mut options = regex::Options::default().dialect(regex::Dialect::Ecma262);
        let mut in_json = false;
        for flag in flags.chars() {
            match flag {
                'i' => options = options.case_insensitive(true),
                's' => options = options.dot_matches_newline(true),
                'j' => in_json = true,
                // patterns match whole characters even without the flag `u`
                'u' => {}
                _ => return Err(errors::regex_flag(self.scanner.source, flags_at, flag)),
            }
        }
        let plain = CharClass::new([(' ', '!'), ('#', '['), (']', char::MAX)]);
        let classes = &mut |g: &mut GrammarBuilder, class: &CharClass| {
            g.char_class(if in_json { class.intersection(&plain) } else { class.clone() })
        };
        let source = self.scanner.source;
        let made = regex::lower_into(&mut self.builder, pattern, &options, classes)
            .map_err(|error| errors::in_pattern(error, source, at))?;
        match self.builder.expression(made) {
            Expression::Never => Err(errors::no_match(source, at)),
            _ => Ok(made),
        }
    }
}
