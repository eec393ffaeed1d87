//! The parser of Lark: reads words into definitions. After an error it continues at the next line that begins a
//! definition or a directive.

use super::errors;
use super::scanner::{Placed, Word, scan};
use super::tree::{Body, Definition, Item, Kind, Name, Parsed, Part};
use crate::error::{Error, Errors, Result};

/// Maximum number of groups, negations, uses of templates and nested grammars that contain a place.
const MAX_DEPTH: usize = 128;

/// Maximum number of parameters of a template.
const MAX_PARAMETERS: usize = 64;

/// The state of the parser. `at` is the index of the next word.
pub(super) struct Parser<'s, 'e> {
    pub(super) source: &'s str,
    words: Vec<Placed<'s>>,
    at: usize,
    /// The number of open groups in the current grammar, the nested or the whole one.
    depth: usize,
    /// For a nested grammar, the number of groups and braces that are open around it; 0 for the whole grammar.
    outside: usize,
    /// The places of the priorities so far.
    priorities: Vec<usize>,
    /// The parameters of the current definition.
    parameters: Vec<&'s str>,
    errors: &'e mut Errors,
    /// The number of errors in definitions so far.
    failures: usize,
}

/// Parses the text of a grammar: `source` from the offset `start` on. Errors (`lark/…`) are added to `errors`. A
/// definition with an error has no alternatives in the result.
pub(super) fn parse<'s>(source: &'s str, start: usize, errors: &mut Errors) -> Parsed<'s> {
    let mut parser = Parser {
        source,
        words: scan(source, start),
        at: 0,
        depth: 0,
        outside: 0,
        priorities: Vec::new(),
        parameters: Vec::new(),
        errors,
        failures: 0,
    };
    let parsed = parser.grammar();
    Parsed { priorities: parser.priorities, ..parsed }
}

impl<'s> Parser<'s, '_> {
    /// Parses a grammar: the whole one up to the end of the source, a nested one up to its `}`, which is not consumed.
    fn grammar(&mut self) -> Parsed<'s> {
        let mut parsed = Parsed::default();
        let around = (self.depth, std::mem::take(&mut self.parameters));
        self.depth = 0;
        while !self.errors.is_full() && !self.is_at_end() {
            if self.peek() == Some(&Word::LineEnd) {
                self.at += 1;
                continue;
            }
            let first = self.at;
            let read = match self.peek() {
                Some(&Word::Directive(name)) => self.directive(name, &mut parsed),
                _ => self.definition(Kind::Define, &mut parsed),
            };
            if let Err(error) = read {
                self.errors.push(error);
                self.at = self.at.max(first + 1);
                self.recover();
            }
        }
        (self.depth, self.parameters) = around;
        parsed
    }

    /// Whether the grammar ends here.
    fn is_at_end(&self) -> bool {
        match self.peek() {
            None => true,
            Some(Word::Mark("}")) => self.outside > 0,
            _ => false,
        }
    }

    /// Skips words up to the next line that begins a definition or a directive, or that ends a nested grammar.
    fn recover(&mut self) {
        self.depth = 0;
        self.parameters.clear();
        self.failures += 1;
        while self.at < self.words.len() {
            let is_line_start = matches!(self.words.get(self.at - 1), Some((_, Word::LineEnd)));
            if is_line_start && (self.is_at_end() || self.begins_definition()) {
                return;
            }
            self.at += 1;
        }
    }

    /// Whether the next words are the beginning of a definition or a directive.
    fn begins_definition(&self) -> bool {
        let marks = |word: &&Placed<'_>| matches!(word.1, Word::Mark("?" | "!"));
        let mut words = self.words[self.at..].iter().skip_while(marks).map(|(_, word)| word);
        match words.next() {
            Some(Word::Directive(name)) => !matches!(*name, "%json" | "%lark" | "%regex"),
            Some(Word::Name(_)) => {
                matches!(words.next(), Some(Word::Mark(":" | "[" | "{" | ".") | Word::Priority(_)))
            }
            _ => false,
        }
    }

    /// Parses a nested grammar with its braces.
    fn nested(&mut self) -> Result<Parsed<'s>> {
        let open = self.offset();
        self.expect("{")?;
        let around = self.outside;
        self.outside += self.depth + 1;
        if self.outside > MAX_DEPTH {
            self.outside = around;
            return Err(errors::too_deep(self.source, open, MAX_DEPTH));
        }
        let failures = self.failures;
        let parsed = self.grammar();
        self.outside = around;
        // after an error, the rest of its line is skipped, which may contain the brace
        match self.takes("}") || self.failures > failures {
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

    /// The error that something else is expected here, or that of a text that is no word.
    pub(super) fn unexpected(&self, allowed: &str) -> Error {
        match self.peek() {
            Some(Word::Wrong(error)) => error.clone(),
            _ => errors::unexpected(self.source, self.offset(), allowed),
        }
    }

    pub(super) fn expect(&mut self, mark: &'static str) -> Result<()> {
        match self.takes(mark) {
            true => Ok(()),
            false => Err(self.unexpected(&format!("`{mark}`"))),
        }
    }

    pub(super) fn name(&mut self) -> Result<&'s str> {
        match self.peek() {
            Some(&Word::Name(name)) => {
                self.at += 1;
                Ok(name)
            }
            _ => Err(self.unexpected("a name")),
        }
    }

    pub(super) fn number(&mut self) -> Result<u32> {
        match self.peek() {
            Some(&Word::Number(number)) => {
                self.at += 1;
                Ok(number)
            }
            _ => Err(self.unexpected("a number")),
        }
    }

    /// Whether the line or the grammar ends here.
    pub(super) fn ends_line(&self) -> bool {
        self.is_at_end() || self.peek() == Some(&Word::LineEnd)
    }

    /// Skips a line end, which must come next unless the grammar ends.
    pub(super) fn line_end(&mut self) -> Result<()> {
        if !self.ends_line() {
            return Err(self.unexpected("the end of the line"));
        }
        self.at += usize::from(!self.is_at_end());
        Ok(())
    }

    /// Parses a definition and adds it to `parsed`. After an error its name is defined, without alternatives.
    pub(super) fn definition(&mut self, kind: Kind, parsed: &mut Parsed<'s>) -> Result<()> {
        // these marks affect the syntax tree that the package Lark builds, not the language
        while self.takes("?") || self.takes("!") {}
        let at = self.offset();
        let name = Name::new(self.name()?);
        parsed.definitions.push(Definition { kind, ..Definition::without_words(at, name) });
        self.priority();
        self.parameters = self.read_parameters(name)?;
        let attributes = self.attributes()?;
        self.priority();
        if kind == Kind::Extend && !attributes.is_none() {
            return Err(errors::extend_attributes(self.source, at, name.text));
        }
        self.expect(":")?;
        let body = self.body()?;
        self.line_end()?;
        let parameters = std::mem::take(&mut self.parameters);
        if let Some(definition) = parsed.definitions.last_mut() {
            *definition = Definition { at, name, kind, parameters, attributes, body };
        }
        Ok(())
    }

    /// Parses the parameters of a template in braces. Without `{` there are none.
    fn read_parameters(&mut self, name: Name<'s>) -> Result<Vec<&'s str>> {
        let mut parameters = Vec::new();
        let open = self.offset();
        if !self.takes("{") {
            return Ok(parameters);
        }
        if name.is_terminal() {
            return Err(errors::template_terminal(self.source, open, name.text));
        }
        loop {
            let at = self.offset();
            let parameter = self.name()?;
            if parameters.contains(&parameter) {
                return Err(errors::parameter_twice(self.source, at, parameter));
            }
            if parameters.len() == MAX_PARAMETERS {
                return Err(errors::too_many_parameters(self.source, at, MAX_PARAMETERS));
            }
            parameters.push(parameter);
            if !self.takes(",") {
                self.expect("}")?;
                return Ok(parameters);
            }
        }
    }

    /// Skips a priority, and records its place.
    fn priority(&mut self) {
        if matches!(self.peek(), Some(Word::Priority(_))) {
            self.priorities.push(self.offset());
            self.at += 1;
        }
    }

    /// Counts a level of nesting, which the caller ends by decrementing `depth`.
    fn enter(&mut self) -> Result<()> {
        self.depth += 1;
        match self.depth + self.outside > MAX_DEPTH {
            true => Err(errors::too_deep(self.source, self.offset(), MAX_DEPTH)),
            false => Ok(()),
        }
    }

    /// Parses alternatives. A line that begins with `|` continues them. Within parentheses or brackets, line ends are
    /// ignored.
    pub(super) fn body(&mut self) -> Result<Body<'s>> {
        let mut body = vec![self.conjunction()?];
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
            body.push(self.conjunction()?);
        }
    }

    /// Parses an alternative: one sequence, or several with `&` between them.
    fn conjunction(&mut self) -> Result<Vec<Part<'s>>> {
        let at = self.offset();
        let first = self.sequence()?;
        if !matches!(self.peek(), Some(Word::Mark("&"))) {
            return Ok(first);
        }
        let mut operands = vec![first];
        while self.takes("&") {
            operands.push(self.sequence()?);
        }
        Ok(vec![Part { at, item: Item::And(operands), min: 1, max: Some(1) }])
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
            let Some((item, least, most)) = self.item()? else { return Ok(parts) };
            let one = Part { at, item, min: least, max: most };
            parts.push(match (self.times()?, (least, most)) {
                ((1, Some(1)), _) => one,
                ((min, max), (1, Some(1))) => Part { min, max, ..one },
                // what is in brackets is optional in each repetition
                ((min, max), _) => Part { at, item: Item::Group(vec![vec![one]]), min, max },
            });
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
                self.enter()?;
                let body = self.body()?;
                self.expect(if open == "(" { ")" } else { "]" })?;
                self.depth -= 1;
                if open == "(" { once(Item::Group(body)) } else { Ok(Some((Item::Group(body), 0, Some(1)))) }
            }
            Word::Name(name) => {
                self.at += 1;
                if let Some(parameter) = self.parameters.iter().position(|known| *known == name) {
                    return once(Item::Parameter(parameter));
                }
                if self.begins_arguments() {
                    return once(Item::Template(Name::new(name), self.arguments()?));
                }
                once(Item::Name(Name::new(name)))
            }
            Word::Mark("~") => {
                self.at += 1;
                self.enter()?;
                let at = self.offset();
                let item = match self.item()? {
                    Some((item, 1, Some(1))) => item,
                    // brackets make an item optional
                    Some((item, min, max)) => Item::Group(vec![vec![Part { at, item, min, max }]]),
                    None => {
                        return Err(self.unexpected("what `~` negates: a literal, a pattern or a terminal"));
                    }
                };
                self.depth -= 1;
                once(Item::Not(Box::new(item)))
            }
            Word::Text(text, ignores_case) => {
                let at = self.offset();
                self.at += 1;
                if !self.takes("..") {
                    return once(Item::Text { text, ignores_case });
                }
                let Some(Word::Text(last, _)) = self.peek().cloned() else {
                    return Err(self.unexpected("the last character of the range"));
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
                    return Err(self.unexpected("a JSON Schema in braces"));
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

    /// Whether the braces that come next are the arguments of a template, not a repetition.
    fn begins_arguments(&self) -> bool {
        let next = self.words.get(self.at + 1).map(|(_, word)| word);
        self.peek() == Some(&Word::Mark("{")) && !matches!(next, Some(Word::Number(_) | Word::Mark(",")))
    }

    /// Parses the arguments of a template with their braces.
    fn arguments(&mut self) -> Result<Vec<Item<'s>>> {
        self.expect("{")?;
        self.enter()?;
        let mut arguments = Vec::new();
        loop {
            let at = self.offset();
            match self.item()? {
                Some((item, 1, Some(1))) if item.is_value() => arguments.push(item),
                Some(_) => return Err(errors::template_argument(self.source, at)),
                None => return Err(self.unexpected("a name, a literal, a pattern or a token")),
            }
            if arguments.len() > MAX_PARAMETERS {
                return Err(errors::too_many_parameters(self.source, self.offset(), MAX_PARAMETERS));
            }
            if !self.takes(",") {
                break;
            }
        }
        self.expect("}")?;
        self.depth -= 1;
        Ok(arguments)
    }

    /// Parses the value of `%regex`: returns the chunks, or the characters of `substring_chars`.
    fn chunks(&mut self) -> Result<Vec<String>> {
        let at = self.offset();
        let Some(Word::Json(text)) = self.peek().cloned() else {
            return Err(self.unexpected("a JSON object"));
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
