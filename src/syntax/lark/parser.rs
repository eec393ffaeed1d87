//! The parser of Lark: reads words into definitions.

use super::errors;
use super::scanner::{Placed, Word, scan};
use super::tree::{Body, Definition, Import, Item, Parsed, Part};
use crate::error::Result;

/// Maximum number of groups and nested grammars that contain a place.
const MAX_DEPTH: usize = 128;

/// The state of the parser. `at` is the index of the next word.
pub(super) struct Parser<'s> {
    pub(super) source: &'s str,
    words: Vec<Placed<'s>>,
    at: usize,
    /// The number of open groups in the current grammar, the nested or the whole one.
    depth: usize,
    /// For a nested grammar, the number of groups and braces that are open around it; 0 for the whole grammar.
    outside: usize,
    /// The places of the priorities so far.
    priorities: Vec<usize>,
}

/// Parses the text of a grammar.
///
/// # Errors
/// `lark/…` with line and column: the first error.
pub(super) fn parse(source: &str) -> Result<Parsed<'_>> {
    let mut parser =
        Parser { source, words: scan(source)?, at: 0, depth: 0, outside: 0, priorities: Vec::new() };
    let parsed = parser.grammar()?;
    Ok(Parsed { priorities: parser.priorities, ..parsed })
}

impl<'s> Parser<'s> {
    /// Parses a grammar: the whole one up to the end of the source, a nested one up to its `}`, which is not consumed.
    fn grammar(&mut self) -> Result<Parsed<'s>> {
        let mut parsed = Parsed::default();
        while let Some(word) = self.peek().cloned() {
            match word {
                Word::LineEnd => self.at += 1,
                Word::Mark("}") if self.outside > 0 => break,
                Word::Directive("%ignore") => {
                    self.at += 1;
                    parsed.ignored.push(self.body()?);
                    self.line_end()?;
                }
                Word::Directive("%import") => {
                    self.at += 1;
                    self.import(&mut parsed.imports)?;
                    self.line_end()?;
                }
                Word::Directive("%llguidance" | "%grammar_options") => {
                    self.at += 1;
                    self.options(&mut parsed)?;
                    self.line_end()?;
                }
                Word::Directive(name) => {
                    return Err(errors::unknown_directive(self.source, self.offset(), name));
                }
                _ => {
                    let definition = self.definition()?;
                    parsed.definitions.push(definition);
                }
            }
        }
        Ok(parsed)
    }

    /// Parses a nested grammar with its braces.
    fn nested(&mut self) -> Result<Parsed<'s>> {
        let open = self.offset();
        self.expect("{")?;
        let around = (self.depth, self.outside);
        (self.depth, self.outside) = (0, self.depth + self.outside + 1);
        if self.outside > MAX_DEPTH {
            return Err(errors::too_deep(self.source, open, MAX_DEPTH));
        }
        let parsed = self.grammar()?;
        (self.depth, self.outside) = around;
        match self.takes("}") {
            true => Ok(parsed),
            false => Err(errors::unclosed(self.source, open, "{", "}")),
        }
    }

    pub(super) fn peek(&self) -> Option<&Word<'s>> {
        self.words.get(self.at).map(|(_, word)| word)
    }

    /// The offset of the next word; the length of the source if there is none.
    pub(super) fn offset(&self) -> usize {
        self.words.get(self.at).map_or(self.source.len(), |(at, _)| *at)
    }

    /// Skips `mark` if it is the next word, and returns whether it is.
    pub(super) fn takes(&mut self, mark: &str) -> bool {
        let is = matches!(self.peek(), Some(Word::Mark(found)) if *found == mark);
        self.at += usize::from(is);
        is
    }

    /// Skips one word.
    pub(super) fn step(&mut self) {
        self.at += 1;
    }

    /// Skips all words that begin before `offset`.
    pub(super) fn skip_to(&mut self, offset: usize) {
        while self.at < self.words.len() && self.offset() < offset {
            self.at += 1;
        }
    }

    pub(super) fn expect(&mut self, mark: &'static str) -> Result<()> {
        match self.takes(mark) {
            true => Ok(()),
            false => Err(errors::unexpected(self.source, self.offset(), &format!("`{mark}`"))),
        }
    }

    pub(super) fn name(&mut self) -> Result<&'s str> {
        match self.peek() {
            Some(&Word::Name(name)) => {
                self.at += 1;
                Ok(name)
            }
            _ => Err(errors::unexpected(self.source, self.offset(), "a name")),
        }
    }

    pub(super) fn number(&mut self) -> Result<u32> {
        match self.peek() {
            Some(&Word::Number(number)) => {
                self.at += 1;
                Ok(number)
            }
            _ => Err(errors::unexpected(self.source, self.offset(), "a number")),
        }
    }

    /// Skips a line end, which must come next unless the grammar ends.
    fn line_end(&mut self) -> Result<()> {
        match self.peek() {
            None => Ok(()),
            Some(Word::Mark("}")) if self.outside > 0 => Ok(()),
            Some(Word::LineEnd) => {
                self.at += 1;
                Ok(())
            }
            _ => Err(errors::unexpected(self.source, self.offset(), "the end of the line")),
        }
    }

    /// Parses an import after `%import`: `common.NAME`, `common.NAME -> ALIAS` or `common (A, B)`.
    fn import(&mut self, imports: &mut Vec<Import<'s>>) -> Result<()> {
        let at = self.offset();
        self.takes(".");
        let module = self.name()?;
        if module != "common" {
            return Err(errors::unknown_import(self.source, at, module));
        }
        if self.takes("(") {
            loop {
                let at = self.offset();
                let name = self.name()?;
                imports.push(Import { at, name, alias: name });
                if !self.takes(",") {
                    return self.expect(")");
                }
            }
        }
        self.expect(".")?;
        let at = self.offset();
        let name = self.name()?;
        let alias = if self.takes("->") { self.name()? } else { name };
        imports.push(Import { at, name, alias });
        Ok(())
    }

    /// Reads the options of llguidance from a JSON object. `no_forcing` concerns forced tokens only, so it is ignored.
    fn options(&mut self, parsed: &mut Parsed<'s>) -> Result<()> {
        let at = self.offset();
        let Some(Word::Json(text)) = self.peek().cloned() else {
            return Err(errors::unexpected(self.source, at, "a JSON object"));
        };
        self.at += 1;
        let read = serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(text);
        for (name, value) in read.map_err(|_| errors::unexpected(self.source, at, "a JSON object"))? {
            match (name.as_str(), value.as_bool()) {
                ("no_forcing", Some(_)) => {}
                ("allow_initial_skip", Some(is_allowed)) => parsed.skips_first = is_allowed,
                _ => return Err(errors::unknown_option(self.source, at, &name)),
            }
        }
        Ok(())
    }

    fn definition(&mut self) -> Result<Definition<'s>> {
        // these marks affect the syntax tree that the package Lark builds, not the language
        while self.takes("?") || self.takes("!") {}
        let at = self.offset();
        let name = self.name()?;
        self.priority();
        let attributes = self.attributes()?;
        self.priority();
        if matches!(self.peek(), Some(Word::Mark("." | "{"))) {
            return Err(errors::unsupported(self.source, self.offset()));
        }
        self.expect(":")?;
        let body = self.body()?;
        self.line_end()?;
        Ok(Definition { at, name, attributes, body })
    }

    /// Skips a priority, and records its place.
    fn priority(&mut self) {
        if matches!(self.peek(), Some(Word::Priority(_))) {
            self.priorities.push(self.offset());
            self.at += 1;
        }
    }

    /// Parses alternatives. A line that begins with `|` continues them. Within parentheses or brackets, line ends are
    /// ignored.
    fn body(&mut self) -> Result<Body<'s>> {
        let mut body = vec![self.sequence()?];
        loop {
            let here = self.at;
            while self.peek() == Some(&Word::LineEnd) {
                self.at += 1;
            }
            if !self.takes("|") {
                if self.depth == 0 {
                    self.at = here;
                }
                return Ok(body);
            }
            body.push(self.sequence()?);
        }
    }

    fn sequence(&mut self) -> Result<Vec<Part<'s>>> {
        let mut parts = Vec::new();
        loop {
            while self.depth > 0 && self.peek() == Some(&Word::LineEnd) {
                self.at += 1;
            }
            if self.takes("->") {
                self.name()?;
                return Ok(parts);
            }
            let at = self.offset();
            let Some(item) = self.item()? else { return Ok(parts) };
            let (item, min, max) = item;
            let (min, max) = match (min, max) {
                (1, Some(1)) => self.times()?,
                bounds => bounds,
            };
            parts.push(Part { at, item, min, max });
        }
    }

    /// Parses an item without its repetition, and returns it with the number of its occurrences: 0 or 1 in brackets,
    /// otherwise 1. `None` if the next word cannot begin an item.
    fn item(&mut self) -> Result<Option<(Item<'s>, u32, Option<u32>)>> {
        let once = |item| Ok(Some((item, 1, Some(1))));
        let Some(word) = self.peek().cloned() else { return Ok(None) };
        match word {
            Word::Mark(open @ ("(" | "[")) => {
                self.at += 1;
                self.depth += 1;
                if self.depth + self.outside > MAX_DEPTH {
                    return Err(errors::too_deep(self.source, self.offset(), MAX_DEPTH));
                }
                let body = self.body()?;
                self.expect(if open == "(" { ")" } else { "]" })?;
                self.depth -= 1;
                if open == "(" { once(Item::Group(body)) } else { Ok(Some((Item::Group(body), 0, Some(1)))) }
            }
            Word::Name(name) => {
                self.at += 1;
                let is_template =
                    !matches!(self.words.get(self.at + 1), Some((_, Word::Number(_) | Word::Mark(","))));
                if let Some(Word::Mark("{")) = self.peek()
                    && is_template
                {
                    return Err(errors::unsupported(self.source, self.offset()));
                }
                once(Item::Name(name))
            }
            Word::Text(text, ignores_case) => {
                let at = self.offset();
                self.at += 1;
                if !self.takes("..") {
                    return once(Item::Text { text, ignores_case });
                }
                let Some(Word::Text(last, _)) = self.peek().cloned() else {
                    return Err(errors::unexpected(
                        self.source,
                        self.offset(),
                        "the last character of the range",
                    ));
                };
                self.at += 1;
                let one = |text: &str| text.chars().next().filter(|_| text.chars().count() == 1);
                match (one(&text), one(&last)) {
                    (Some(low), Some(high)) if low <= high => once(Item::Range(low, high)),
                    _ => Err(errors::range(self.source, at)),
                }
            }
            Word::Pattern(pattern, flags) => {
                self.at += 1;
                once(Item::Pattern { pattern, flags })
            }
            Word::Special(name) => {
                self.at += 1;
                once(Item::Special(name))
            }
            Word::Ids(ids) => {
                self.at += 1;
                once(Item::Ids(ids))
            }
            Word::Directive("%json") => {
                self.at += 1;
                let Some(Word::Json(text)) = self.peek().cloned() else {
                    return Err(errors::unexpected(self.source, self.offset(), "a JSON Schema in braces"));
                };
                self.at += 1;
                once(Item::Json(text))
            }
            Word::Directive("%lark") => {
                self.at += 1;
                once(Item::Lark(Box::new(self.nested()?)))
            }
            Word::Directive("%regex") => {
                self.at += 1;
                once(Item::Chunks(self.chunks()?))
            }
            Word::Directive(name) => Err(errors::unknown_directive(self.source, self.offset(), name)),
            _ => Ok(None),
        }
    }

    /// Parses the value of `%regex`: returns the chunks, or the characters of `substring_chars`.
    fn chunks(&mut self) -> Result<Vec<String>> {
        let at = self.offset();
        let Some(Word::Json(text)) = self.peek().cloned() else {
            return Err(errors::unexpected(self.source, at, "a JSON object"));
        };
        self.at += 1;
        #[derive(serde::Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Value {
            substring_chunks: Option<Vec<String>>,
            substring_chars: Option<String>,
        }
        match serde_json::from_str::<Value>(text) {
            Ok(Value { substring_chunks: Some(chunks), substring_chars: None }) => Ok(chunks),
            Ok(Value { substring_chunks: None, substring_chars: Some(text) }) => {
                Ok(text.chars().map(String::from).collect())
            }
            _ => Err(errors::substring(self.source, at)),
        }
    }

    fn optional_number(&mut self) -> Result<Option<u32>> {
        match self.peek() {
            Some(Word::Number(_)) => self.number().map(Some),
            _ => Ok(None),
        }
    }

    /// Parses a repetition: `?`, `*`, `+`, `~3`, `~2..4`, `{3}`, `{2,}`, `{,4}` or `{2,4}`. Without one, the result is
    /// once. Returns the minimum, and the maximum or `None` for no bound.
    fn times(&mut self) -> Result<(u32, Option<u32>)> {
        let at = self.offset();
        let (min, max) = if self.takes("?") {
            (0, Some(1))
        } else if self.takes("*") {
            (0, None)
        } else if self.takes("+") {
            (1, None)
        } else if self.takes("~") {
            let min = self.number()?;
            (min, Some(if self.takes("..") { self.number()? } else { min }))
        } else if self.takes("{") {
            let min = self.optional_number()?;
            if min.is_none() {
                self.expect(",")?;
            }
            let max = if min.is_none() || self.takes(",") { self.optional_number()? } else { min };
            self.expect("}")?;
            (min.unwrap_or(0), max)
        } else {
            (1, Some(1))
        };
        match max {
            Some(max) if max < min => Err(errors::crossed(self.source, at, min, max)),
            _ => Ok((min, max)),
        }
    }
}
