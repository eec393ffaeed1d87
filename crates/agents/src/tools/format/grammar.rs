//! The grammar of turns that call tools.

use super::{CallFormat, Piece, TextPlace};
use crate::tools::errors;
use crate::tools::set::{Tool, ToolSet, is_fatal};
use grammata::diagnostic::Diagnostic;
use grammata::error::Result;
use grammata::grammar::{CharClass, ExprId, FreeText, Grammar, GrammarBuilder, TokenTerminal};
use grammata::limits::Limits;
use grammata::syntax::json_schema::{self, Numbers, PropertyOrder, Whitespace};
use grammata::syntax::lark;
use serde_json::Value;

/// Whether a turn calls tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Choice {
    /// The turn may call tools.
    #[default]
    Auto,
    /// The turn calls at least one tool.
    Required,
    /// The turn calls no tools.
    None,
}

/// How the special tokens of a format are matched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Markers {
    /// By their token ids, as a model generates them.
    #[default]
    Tokens,
    /// As the bytes of their names, to parse and enumerate turns without a vocabulary.
    Text,
}

grammata_base::options! {
    /// The options that define the language of turns.
    #[derive(Clone, Debug, PartialEq, Eq)]
    #[non_exhaustive]
    pub struct GrammarOptions {
        /// Whether turns call tools.
        pub choice: Choice = Choice::Auto,
        /// The names of the tools that may be called; if empty, all.
        pub tools: Vec<String>,
        /// The minimum number of calls of a turn that has any. Default: one; 0 is an error.
        pub min_calls: u32 = 1,
        /// The maximum number of calls of a turn; `None` for any number. Default: one. In formats with at most one call
        /// in a turn it is always one.
        pub max_calls: Option<u32> = Some(1),
        /// How special tokens are matched.
        pub markers: Markers = Markers::Tokens,
        /// How arguments are spelled. Default: [`arguments`](GrammarOptions::arguments).
        pub schema: json_schema::Options = GrammarOptions::arguments(Limits::default()),
    }
}

impl GrammarOptions {
    /// Returns the default spelling of arguments: at most one space between two JSON tokens, members in any order,
    /// plain numbers.
    pub fn arguments(limits: Limits) -> json_schema::Options {
        json_schema::Options::default()
            .whitespace(Whitespace::Pattern(" ?".to_owned()))
            .property_order(PropertyOrder::Any)
            .numbers(Numbers::Plain)
            .grammars(Some(lark::IN_STRINGS))
            .limits(limits)
    }
}

/// The grammar of turns that call the tools of a set in a format.
#[derive(Clone, Debug)]
pub struct CallGrammar {
    /// The grammar of the turns.
    pub grammar: Grammar,
    /// The names of the tools that the turns can call, in the order of the set.
    pub tools: Vec<String>,
    /// The tools that the format cannot write or whose arguments have no grammar, with the reason. Tools that the set
    /// itself refuses are not listed.
    pub refused: Vec<(String, Diagnostic)>,
}

impl CallFormat {
    /// Builds the grammar of turns that call tools of a set.
    ///
    /// # Errors
    /// - `tools/unknown-tool` if the options name a tool that the set does not have.
    /// - `tools/call-count` if the minimum number of calls is 0 or exceeds the maximum.
    /// - `tools/no-tools` if a call is required, by the options or the format, but no tool may or can be called.
    /// - Limits.
    pub fn grammar(&self, set: &ToolSet, options: &GrammarOptions) -> Result<CallGrammar> {
        if let Some(name) = options.tools.iter().find(|name| set.tool(name).is_none()) {
            return Err(errors::unknown_tool(name, set.tools().iter().map(|tool| tool.name.as_str())));
        }
        let most = if self.several { options.max_calls } else { Some(1) };
        if options.min_calls == 0 || most.is_some_and(|most| most < options.min_calls) {
            return Err(errors::call_count(options.min_calls, most));
        }
        let mut writer = Writer::new(self, options);
        let calls = if options.choice == Choice::None { Vec::new() } else { writer.calls(set)? };
        if calls.is_empty() && writer.must_call() {
            let refused = writer.refused.iter().map(|(name, reason)| (name.as_str(), reason));
            return Err(errors::no_tools(set.refusals().chain(refused)));
        }
        let turn = writer.turn(&calls, most)?;
        let (tools, refused) = (std::mem::take(&mut writer.tools), std::mem::take(&mut writer.refused));
        Ok(CallGrammar { grammar: writer.build(turn)?, tools, refused })
    }

    /// Rejects a tool whose name the format cannot write, with `tools/not-callable`.
    pub(super) fn check_name(&self, tool: &Tool) -> Result<()> {
        if !self.call.iter().any(|piece| matches!(piece, Piece::Name(_))) {
            return Ok(());
        }
        let after = self.after_name().unwrap_or("\n");
        // if names are searched in text, a name ends at the first character of the text that follows names
        let first = after.chars().next().filter(|_| self.text == TextPlace::Named);
        let holds_first = first.is_some_and(|first| tool.name.contains(first));
        // otherwise a name ends at the first occurrence of the text that follows names
        let ends_itself = format!("{}{after}", tool.name).find(after) == Some(tool.name.len());
        if !ends_itself || tool.name.contains('\n') || holds_first {
            return Err(errors::unwritable_name(tool.place.clone(), &tool.name, after));
        }
        Ok(())
    }
}

pub(super) struct Writer<'f> {
    pub(super) format: &'f CallFormat,
    pub(super) options: &'f GrammarOptions,
    pub(super) builder: GrammarBuilder,
    tools: Vec<String>,
    refused: Vec<(String, Diagnostic)>,
}

impl<'f> Writer<'f> {
    pub(super) fn new(format: &'f CallFormat, options: &'f GrammarOptions) -> Writer<'f> {
        Writer {
            format,
            options,
            builder: GrammarBuilder::with_limits(options.schema.limits.clone()),
            tools: Vec::new(),
            refused: Vec::new(),
        }
    }

    pub(super) fn build(mut self, body: ExprId) -> Result<Grammar> {
        let root = self.builder.declare("turn");
        self.builder.define(root, body);
        self.builder.build(root)
    }

    /// Returns, for each tool that may and can be called, the part of a call that depends on the tool. Adds the names
    /// to `tools`. Adds tools that the format cannot write, or whose arguments have no grammar, to `refused`.
    fn calls(&mut self, set: &ToolSet) -> Result<Vec<ExprId>> {
        let pieces: Vec<Piece> = self.varying().to_vec();
        let mut calls = Vec::new();
        let chosen = &self.options.tools;
        let chosen: rustc_hash::FxHashSet<&str> = chosen.iter().map(String::as_str).collect();
        for tool in set.callable().filter(|tool| chosen.is_empty() || chosen.contains(tool.name.as_str())) {
            let call = match self.format.text {
                TextPlace::Named => self.format.check_name(tool).and_then(|()| self.call(tool, &pieces)),
                _ => self.call(tool, &pieces),
            };
            match call {
                Ok(call) => {
                    calls.push(call);
                    self.tools.push(tool.name.clone());
                }
                Err(error) if is_fatal(&error) => return Err(error.or_at(&tool.place)),
                Err(error) => self.refused.push((tool.name.clone(), error.diagnostic().clone())),
            }
        }
        Ok(calls)
    }

    /// Returns the pieces of a call from the first to the last one that depends on the tool. If names are searched in
    /// text, returns the pieces after the name and the piece that ends the name.
    fn varying(&self) -> &[Piece] {
        let call = &self.format.call;
        if self.format.text == TextPlace::Named {
            return &call[self.format.marker_len()..];
        }
        let first = call.iter().position(|piece| !piece.is_fixed()).unwrap_or(0);
        let last = call.iter().rposition(|piece| !piece.is_fixed()).map_or(0, |last| last + 1);
        &call[first..last]
    }

    fn call(&mut self, tool: &Tool, pieces: &[Piece]) -> Result<ExprId> {
        let mut parts = Vec::new();
        for piece in pieces {
            let part = match piece {
                Piece::Text(_) | Piece::Token(_) | Piece::Gap(_) => self.fixed(piece),
                Piece::Name(_) => {
                    self.format.check_name(tool)?;
                    self.builder.text(&tool.name)
                }
                Piece::Arguments(_) => self.arguments(tool)?,
                Piece::Object([name, arguments]) => {
                    let quoted = |text: &str| Value::from(text).to_string();
                    let value = self.arguments(tool)?;
                    let tokens = ["{", &quoted(name), ":", &quoted(&tool.name), ",", &quoted(arguments), ":"];
                    let gap = self.fixed(&Piece::Gap(true));
                    let mut inside = Vec::new();
                    for token in tokens {
                        inside.extend([self.builder.text(token), gap]);
                    }
                    inside.extend([value, gap, self.builder.text("}")]);
                    self.builder.sequence(inside)
                }
                Piece::Endpoint(_) => self.endpoint(tool)?,
                Piece::Keywords(_) => self.keywords(tool)?,
                Piece::Positional(values) => self.positional(tool, *values)?,
                Piece::Tuple(_) => self.tuple(tool)?,
                Piece::Element(parts) => self.elements(tool, parts)?,
                Piece::Request(form) => self.request(tool, *form)?,
            };
            parts.push(part);
        }
        Ok(self.builder.sequence(parts))
    }

    fn arguments(&mut self, tool: &Tool) -> Result<ExprId> {
        let compiled = tool.grammar(&self.options.schema).map_err(|error| match is_fatal(&error) {
            true => error,
            false => errors::fatal(tool.refused(error.diagnostic())),
        })?;
        Ok(self.builder.import(&compiled.grammar))
    }

    pub(super) fn fixed(&mut self, piece: &Piece) -> ExprId {
        match piece {
            Piece::Token(name) if self.options.markers == Markers::Tokens => {
                self.builder.token(TokenTerminal::named(name.as_str()))
            }
            Piece::Gap(_) => {
                let space = self.builder.text(" ");
                self.builder.optional(space)
            }
            piece => self.builder.text(piece.fixed_text().unwrap_or_default()),
        }
    }

    pub(super) fn all_fixed(&mut self, pieces: &[Piece]) -> ExprId {
        let parts: Vec<ExprId> = pieces.iter().map(|piece| self.fixed(piece)).collect();
        self.builder.sequence(parts)
    }

    /// Returns whether every turn must have a call.
    fn must_call(&self) -> bool {
        self.options.choice == Choice::Required || self.format.always
    }

    /// Builds the grammar of the turns: those with at most `most` of these calls, and those without calls if the
    /// options and the format allow them.
    pub(super) fn turn(&mut self, calls: &[ExprId], most: Option<u32>) -> Result<ExprId> {
        if calls.is_empty() && self.must_call() {
            return Err(errors::no_tools(std::iter::empty()));
        }
        let with_calls = !calls.is_empty();
        let without = self.options.choice != Choice::Required && !self.format.always;
        let body = match self.format.text {
            TextPlace::Before => self.before(calls, most, without),
            TextPlace::Named => self.named(calls, without),
            TextPlace::Opening | TextPlace::None => {
                let mut turns = Vec::new();
                if with_calls {
                    turns.push(self.sequence_of_calls(calls, most, false));
                }
                if without {
                    turns.push(self.without_calls());
                }
                self.builder.choice(turns)
            }
        };
        let lead = self.builder.text(&self.format.lead);
        Ok(self.builder.sequence([lead, body]))
    }

    /// Builds a turn without calls, in formats where calls do not follow text.
    fn without_calls(&mut self) -> ExprId {
        if let Some(nothing) = &self.format.nothing {
            return self.builder.text(nothing);
        }
        if self.format.text == TextPlace::None {
            return self.builder.empty();
        }
        // any text that does not begin like calls
        let empty = self.builder.empty();
        let text = self.builder.free_text(&FreeText { end: Some(empty), ..FreeText::default() });
        let openings = self.format.openings();
        let prefixes = openings.iter().flat_map(|text| text.char_indices().map(|(at, _)| &text[..at]));
        let mut prefixes: Vec<&str> = prefixes.collect();
        // longer prefixes first, because shorter ones refer to them
        prefixes.sort_unstable_by_key(|prefix| (std::cmp::Reverse(prefix.len()), *prefix));
        prefixes.dedup();
        let mut made: rustc_hash::FxHashMap<&str, ExprId> = rustc_hash::FxHashMap::default();
        let mut body = self.builder.never();
        for prefix in prefixes {
            let mut next: Vec<(char, &str)> = openings
                .iter()
                .filter_map(|text| {
                    let c = text.strip_prefix(prefix)?.chars().next()?;
                    Some((c, &text[..prefix.len() + c.len_utf8()]))
                })
                .collect();
            next.sort_unstable();
            next.dedup();
            let others = CharClass::new(next.iter().map(|(c, _)| (*c, *c))).complement();
            let other = self.builder.char_class(others);
            let mut ways = vec![empty, self.builder.sequence([other, text])];
            for (c, longer) in next {
                if let Some(rest) = made.get(longer) {
                    let c = self.builder.text(c.to_string());
                    ways.push(self.builder.sequence([c, *rest]));
                }
            }
            body = self.builder.choice(ways);
            made.insert(prefix, body);
        }
        body
    }

    /// Builds text with at most one call, which begins where the text of a call up to the end of its name occurs. If
    /// `without`, the turn may also have no call; if the format has `endings`, one of them then ends it.
    fn named(&mut self, calls: &[ExprId], without: bool) -> ExprId {
        let empty = self.builder.empty();
        let markers: Vec<Box<str>> = self.tools.iter().map(|name| self.format.marker(name).into()).collect();
        let mut triggers: Vec<(Box<str>, ExprId)> = Vec::new();
        for (marker, rest) in markers.iter().zip(calls) {
            let rest = self.with_text_after(*rest, &markers);
            triggers.push((marker.clone(), rest));
        }
        if without {
            for ending in &self.format.endings {
                let rest = if ending.number { self.number() } else { empty };
                triggers.push((ending.text.as_str().into(), rest));
            }
        }
        let may_end = without && self.format.endings.is_empty();
        self.builder.free_text(&FreeText { triggers, end: may_end.then_some(empty), ..FreeText::default() })
    }

    /// Appends what may follow the calls: nothing, or text that does not contain the opening of a call.
    fn with_text_after(&mut self, calls: ExprId, markers: &[Box<str>]) -> ExprId {
        if !self.format.after {
            return calls;
        }
        let end = Some(self.builder.empty());
        let forbidden = markers.to_vec();
        let text = self.builder.free_text(&FreeText { end, forbidden, ..FreeText::default() });
        self.builder.sequence([calls, text])
    }

    /// Builds a number in plain notation, optionally preceded by a space.
    fn number(&mut self) -> ExprId {
        let digit = self.builder.class([('0', '9')]);
        let digits = self.builder.plus(digit);
        let fraction = [self.builder.text("."), digits];
        let fraction = self.builder.sequence(fraction);
        let (minus, space) = (self.builder.text("-"), self.space());
        let parts = [space, self.builder.optional(minus), digits, self.builder.optional(fraction)];
        self.builder.sequence(parts)
    }

    /// Builds turns of text, and of text followed by calls. If `without`, a turn may have no calls.
    fn before(&mut self, calls: &[ExprId], most: Option<u32>, without: bool) -> ExprId {
        let empty = self.builder.empty();
        let marker = self.format.openings().swap_remove(0);
        let is_token =
            matches!(self.format.begin.iter().chain(&self.format.call).next(), Some(Piece::Token(_)))
                && self.options.markers == Markers::Tokens;
        let mut text = FreeText { end: without.then_some(empty), ..FreeText::default() };
        if calls.is_empty() {
            if !is_token {
                text.forbidden = vec![marker.into()];
            }
            return self.builder.free_text(&text);
        }
        let rest = self.sequence_of_calls(calls, most, true);
        let forbidden = if is_token { Vec::new() } else { vec![marker.as_str().into()] };
        let rest = self.with_text_after(rest, &forbidden);
        if is_token {
            let token = self.builder.token(TokenTerminal::named(marker));
            let marked = self.builder.sequence([token, rest]);
            let ends = if without { vec![empty, marked] } else { vec![marked] };
            text.end = Some(self.builder.choice(ends));
        } else {
            text.triggers = vec![(marker.into(), rest)];
        }
        self.builder.free_text(&text)
    }

    /// Returns the pieces of a call before and after the part that depends on its tool.
    fn fixed_ends(&self) -> (&'f [Piece], &'f [Piece]) {
        let call = &self.format.call;
        let first = call.iter().position(|piece| !piece.is_fixed()).unwrap_or(0);
        (&call[..first], &call[first + self.varying().len()..])
    }

    /// Returns the pieces around the part of a call that depends on its tool, as grammars.
    pub(super) fn around_call(&mut self) -> (ExprId, ExprId) {
        let (head, tail) = self.fixed_ends();
        (self.all_fixed(head), self.all_fixed(tail))
    }

    /// Builds all calls of a turn. With `skip_marker`, their opening marker is left out: the first piece of `begin`,
    /// or, if `begin` is empty, the first piece of the first call.
    fn sequence_of_calls(&mut self, calls: &[ExprId], most: Option<u32>, skip_marker: bool) -> ExprId {
        let format = self.format;
        let (head, tail) = self.fixed_ends();
        let any = self.builder.choice(calls.iter().copied());
        let after = self.all_fixed(tail);
        let begin =
            if skip_marker && !format.begin.is_empty() { &format.begin[1..] } else { &format.begin[..] };
        let first_head = if skip_marker && format.begin.is_empty() { &head[1..] } else { head };
        let start = self.all_fixed(begin);
        let first_head = self.all_fixed(first_head);
        let head = self.all_fixed(head);
        let further = match head_text(format) {
            Some((marker, head)) => {
                let head = self.all_fixed(head);
                let call = self.builder.sequence([head, any, after]);
                let triggers = vec![(marker.into(), call)];
                self.builder.free_text(&FreeText { triggers, ..FreeText::default() })
            }
            None => {
                let separator = self.all_fixed(&format.separator);
                self.builder.sequence([separator, head, any, after])
            }
        };
        let further = self.builder.repeat(further, self.options.min_calls - 1, most.map(|most| most - 1));
        let end = self.all_fixed(&format.end);
        self.builder.sequence([start, first_head, any, after, further, end])
    }
}

/// Returns the opening of a call, and the fixed pieces that follow it; `None` if no text may occur between calls.
fn head_text(format: &CallFormat) -> Option<(&str, &[Piece])> {
    let (first, rest) = format.call.split_first().filter(|_| format.between)?;
    let fixed = rest.iter().take_while(|piece| piece.is_fixed()).count();
    Some((first.fixed_text()?, &rest[..fixed]))
}
