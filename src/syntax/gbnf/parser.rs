//! The parser of GBNF. It builds expressions in one pass over the source, with open groups on a stack. After a syntax
//! error it continues at the next line that begins a rule; an error of the builder or a limit ends parsing.

use super::errors;
use super::names::Names;
use super::scanner::Scanner;
use crate::diagnostic::Place;
use crate::error::{ErrorKind, Errors, Result};
use crate::grammar::{CharClass, ExprId, FreeText, GrammarBuilder};
use crate::limits::{LimitKind, Limits};

/// The result of parsing. Each rule whose name occurs in the source is defined.
pub(super) struct Parsed<'s> {
    pub(super) builder: GrammarBuilder,
    pub(super) names: Names<'s>,
}

/// Parses all rules of a source.
///
/// # Errors
/// `gbnf/…`, up to 20 errors of the source; or the first error of the builder or of a limit, alone.
pub(super) fn parse(source: &str, builder: GrammarBuilder) -> Result<Parsed<'_>> {
    let scanner = Scanner::new(source);
    let (names, errors) = (Names::default(), Errors::default());
    let mut parser = Parser { scanner, builder, names, errors, failed_at: None };
    parser.scanner.space(true);
    while parser.scanner.byte().is_some() && !parser.errors.is_full() {
        let start = parser.scanner.offset;
        if let Err(error) = parser.rule() {
            if error.kind() == ErrorKind::Limit {
                return Err(error);
            }
            parser.errors.push(error);
            parser.scanner.offset = start;
            parser.scanner.next_rule();
        }
        if let Some(error) = parser.builder.error() {
            let place = Place::in_text(source, parser.failed_at.unwrap_or(start));
            return Err(error.clone().or_at(&place));
        }
    }
    parser.names.check(source, &mut parser.errors);
    parser.errors.finish()?;
    Ok(Parsed { builder: parser.builder, names: parser.names })
}

/// The state of the parser.
pub(super) struct Parser<'s> {
    pub(super) scanner: Scanner<'s>,
    pub(super) builder: GrammarBuilder,
    names: Names<'s>,
    errors: Errors,
    /// The offset of the `@text` that caused the builder's error. `None` if something else caused it; the error is then
    /// placed at the rule.
    failed_at: Option<usize>,
}

/// A group, or the body of a rule, whose end has not been reached.
struct Open {
    /// The offset of the opening parenthesis, of the `@` of a function, or of the rule.
    offset: usize,
    /// The finished alternatives.
    alternatives: Vec<ExprId>,
    /// The elements so far of the current alternative or of the current clause's body.
    sequence: Vec<ExprId>,
    /// The free text that contains the current clause, if this is a call of `@text`.
    text: Option<OpenText>,
    /// The bound on the length of the group's words, if this is a call of `@max_chars`, `@max_bytes` or `@max_tokens`.
    most: Option<(Length, u32)>,
}

/// The unit of a bound on the length of a part.
#[derive(Clone, Copy)]
enum Length {
    Chars,
    Bytes,
    Tokens,
}

/// A call of `@text` whose end has not been reached.
struct OpenText {
    text: FreeText,
    /// The continuations of a text that no trigger ended: those after `$`, and those that begin with a token terminal.
    ends: Vec<ExprId>,
    /// The head of the current clause.
    clause: Clause,
}

/// The head of a clause of `@text`. The body follows it.
enum Clause {
    Trigger(String),
    End,
    /// No head: the body begins with a token terminal.
    Token,
    /// A forbidden string. The body must be empty.
    Forbidden(String),
}

impl Open {
    fn new(offset: usize) -> Open {
        Open { offset, alternatives: Vec::new(), sequence: Vec::new(), text: None, most: None }
    }

    fn end_alternative(&mut self, builder: &mut GrammarBuilder) {
        let alternative = builder.sequence(self.sequence.drain(..));
        self.alternatives.push(alternative);
    }

    fn finish(mut self, builder: &mut GrammarBuilder) -> ExprId {
        self.end_alternative(builder);
        let part = builder.choice(self.alternatives);
        match self.most {
            None => part,
            Some((Length::Chars, most)) => builder.max_chars(part, most),
            Some((Length::Bytes, most)) => builder.max_bytes(part, most),
            Some((Length::Tokens, most)) => builder.max_tokens(part, most),
        }
    }
}

impl Parser<'_> {
    /// Parses a rule, with the space and the line ends after it.
    fn rule(&mut self) -> Result<()> {
        let start = self.scanner.offset;
        let name = self.scanner.name();
        if name.is_empty() {
            return Err(errors::expected_rule(self.scanner.source, start));
        }
        let attributes = self.attributes()?;
        self.scanner.space(false);
        // a name with a definition sign of another notation still counts as defined, so that its uses are not errors
        let defined = self.scanner.eat("::=");
        if !defined {
            let at = self.scanner.offset;
            let error = errors::expected_definition(self.scanner.source, at, name);
            if !self.scanner.other_definition() {
                return Err(error);
            }
            self.errors.push(error);
        }
        self.scanner.space(true);
        let rule = self.names.defined(self.scanner.source, name, start, &mut self.builder);
        let rule = self.errors.take(rule);
        let body = self.alternatives(start)?;
        let body = attributes.apply(&mut self.builder, body);
        if let Some(rule) = rule {
            self.builder.define(rule, body);
        }
        match self.scanner.byte() {
            None | Some(b'\r' | b'\n') => {
                self.scanner.space(true);
                Ok(())
            }
            Some(_) => Err(errors::unexpected(self.scanner.source, self.scanner.offset)),
        }
    }

    /// Parses the body of a rule: alternatives up to a character that cannot continue them, such as a line end outside
    /// groups. `start` is the offset of the rule.
    fn alternatives(&mut self, start: usize) -> Result<ExprId> {
        let mut outer: Vec<Open> = Vec::new();
        let mut open = Open::new(start);
        loop {
            let nested = !outer.is_empty();
            let Some(byte) = self.scanner.byte() else {
                if nested {
                    return Err(errors::unclosed_group(self.scanner.source, open.offset));
                }
                return Ok(open.finish(&mut self.builder));
            };
            let offset = self.scanner.offset;
            match byte {
                b'(' => {
                    self.check_depth(outer.len(), offset)?;
                    self.scanner.offset += 1;
                    outer.push(std::mem::replace(&mut open, Open::new(offset)));
                    self.scanner.space(true);
                }
                b'@' => {
                    self.check_depth(outer.len(), offset)?;
                    if let Some(leaf) = self.leaf(nested)? {
                        open.sequence.push(leaf);
                        self.scanner.space(nested);
                        continue;
                    }
                    let function = self.function(offset, nested)?;
                    outer.push(std::mem::replace(&mut open, function));
                }
                b',' | b')' if open.text.is_some() => {
                    let Some(mut text) = open.text.take() else { continue };
                    self.end_clause(&mut open.sequence, &mut text)?;
                    self.scanner.offset += 1;
                    if byte == b',' {
                        text.clause = self.clause()?;
                        open.text = Some(text);
                    } else if let Some(parent) = outer.pop() {
                        let OpenText { mut text, ends, .. } = text;
                        text.end = (!ends.is_empty()).then(|| self.builder.choice(ends));
                        let text = self.builder.free_text(&text);
                        if self.builder.error().is_some() {
                            self.failed_at.get_or_insert(open.offset);
                        }
                        open = parent;
                        open.sequence.push(text);
                        self.scanner.space(!outer.is_empty());
                    }
                }
                b'|' if open.text.is_some() => {
                    return Err(errors::choice_in_clause(self.scanner.source, offset));
                }
                b')' => {
                    let Some(parent) = outer.pop() else {
                        return Err(errors::unopened_group(self.scanner.source, offset));
                    };
                    self.scanner.offset += 1;
                    let group = std::mem::replace(&mut open, parent).finish(&mut self.builder);
                    open.sequence.push(group);
                    self.scanner.space(!outer.is_empty());
                }
                b'|' => {
                    self.scanner.offset += 1;
                    open.end_alternative(&mut self.builder);
                    self.scanner.space(true);
                }
                b'*' | b'+' | b'?' | b'{' => {
                    let Some(body) = open.sequence.pop() else {
                        return Err(errors::nothing_to_repeat(self.scanner.source, offset));
                    };
                    self.scanner.offset += 1;
                    let (min, max) = match byte {
                        b'*' => (0, None),
                        b'+' => (1, None),
                        b'?' => (0, Some(1)),
                        _ => self.scanner.bounds(nested)?,
                    };
                    open.sequence.push(self.builder.repeat(body, min, max));
                    self.scanner.space(nested);
                }
                _ => match self.element(byte)? {
                    Some(element) => {
                        open.sequence.push(element);
                        self.scanner.space(nested);
                    }
                    // the name of the next rule was read as an element of the unclosed group
                    None if nested && self.scanner.rest().starts_with("::=") => {
                        return Err(errors::unclosed_group(self.scanner.source, open.offset));
                    }
                    None if nested => return Err(errors::unexpected(self.scanner.source, offset)),
                    None => return Ok(open.finish(&mut self.builder)),
                },
            }
        }
    }

    /// Checks that another group may be opened inside `depth` open groups: `depth` must be below `source_depth`.
    ///
    /// # Errors
    /// `limit/exceeded` at `offset`.
    fn check_depth(&self, depth: usize, offset: usize) -> Result<()> {
        let limit = self.builder.limits().source_depth;
        if depth < limit {
            return Ok(());
        }
        let place = Place::in_text(self.scanner.source, offset);
        Err(Limits::exceeded(LimitKind::SourceDepth, limit, "groups nested deeper").or_at(&place))
    }

    /// Parses the beginning of a call of `@text`, `@max_chars`, `@max_bytes` or `@max_tokens`: up to the body of its
    /// first clause, or up to its part. `lines` says whether line ends are allowed before `(`.
    fn function(&mut self, offset: usize, lines: bool) -> Result<Open> {
        let unknown = |parser: &Self| errors::unknown_function(parser.scanner.source, offset);
        self.scanner.offset += 1;
        let name = self.scanner.name();
        self.scanner.space(lines);
        if !self.scanner.eat("(") {
            return Err(unknown(self));
        }
        let mut open = Open::new(offset);
        match name {
            "text" => {
                let clause = self.clause()?;
                open.text = Some(OpenText { text: FreeText::default(), ends: Vec::new(), clause });
            }
            "max_chars" => open.most = Some((Length::Chars, self.scanner.most()?)),
            "max_bytes" => open.most = Some((Length::Bytes, self.scanner.most()?)),
            "max_tokens" => open.most = Some((Length::Tokens, self.scanner.most()?)),
            _ => return Err(unknown(self)),
        }
        Ok(open)
    }

    /// Parses the head of a clause of `@text`: a trigger, `$`, or `!` and a string. A token terminal is left to be
    /// parsed as the first element of the body.
    fn clause(&mut self) -> Result<Clause> {
        self.scanner.space(true);
        let start = self.scanner.offset;
        if self.scanner.eat("$") {
            self.scanner.space(true);
            return Ok(Clause::End);
        }
        if self.scanner.rest().starts_with(['<']) || self.scanner.rest().starts_with("!<") {
            return Ok(Clause::Token);
        }
        let forbidden = self.scanner.eat("!");
        self.scanner.space(true);
        if !self.scanner.eat("\"") {
            return Err(errors::expected_clause(self.scanner.source, start));
        }
        let text = self.scanner.literal()?;
        self.scanner.space(true);
        Ok(if forbidden { Clause::Forbidden(text) } else { Clause::Trigger(text) })
    }

    /// Adds a clause whose body is finished to a free text.
    ///
    /// # Errors
    /// `gbnf/after-forbidden` if a forbidden string has a body.
    fn end_clause(&mut self, body: &mut Vec<ExprId>, open: &mut OpenText) -> Result<()> {
        let is_empty = body.is_empty();
        let body = self.builder.sequence(body.drain(..));
        match std::mem::replace(&mut open.clause, Clause::Token) {
            Clause::Trigger(trigger) => open.text.triggers.push((trigger.into(), body)),
            Clause::Forbidden(string) if is_empty => open.text.forbidden.push(string.into()),
            Clause::Forbidden(_) => {
                return Err(errors::after_forbidden(self.scanner.source, self.scanner.offset));
            }
            Clause::End | Clause::Token => open.ends.push(body),
        }
        Ok(())
    }

    /// Parses a literal, class, `.`, token terminal or rule name. `None` if something else follows.
    fn element(&mut self, byte: u8) -> Result<Option<ExprId>> {
        let offset = self.scanner.offset;
        Ok(Some(match byte {
            b'"' => {
                self.scanner.offset += 1;
                let text = self.scanner.literal()?;
                self.builder.text(text)
            }
            b'[' => {
                self.scanner.offset += 1;
                let class = self.scanner.class()?;
                self.builder.char_class(class)
            }
            b'.' => {
                self.scanner.offset += 1;
                self.builder.char_class(CharClass::any())
            }
            b'<' | b'!' => {
                let terminal = self.scanner.token()?;
                self.builder.token(terminal)
            }
            _ => match self.scanner.name() {
                "" => return Ok(None),
                name => {
                    let rule = self.names.used(name, offset, &mut self.builder);
                    self.builder.rule(rule)
                }
            },
        }))
    }
}
