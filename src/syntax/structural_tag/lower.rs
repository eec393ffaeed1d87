//! Lowers formats to expressions.
//!
//! Recursion follows the nesting of formats, which [`compile_value`](super::compile_value) limits to 127 levels of
//! JSON.

use super::Compiled;
use super::errors;
use super::format::{End, Format, Kind, Mark, Schema, Syntax, Tag, Times, Token};
use super::text::Text;
use crate::diagnostic::Diagnostic;
use crate::error::Result;
use crate::grammar::{ExprId, FreeText, GrammarBuilder, TokenScope, TokenSelector, TokenTerminal};
use crate::syntax::{gbnf, json_schema, lark, regex};
use std::collections::HashMap;

/// The ends of the innermost tag around a format. Both fields are empty unless the format may be the last part of that
/// tag's content. Text and tokens of the format must not contain the ends.
#[derive(Clone, Copy, Debug, Default)]
struct Around<'a, 'v> {
    texts: &'a [&'v str],
    token: Option<Token<'v>>,
}

/// State for lowering formats to expressions.
struct Lowering<'o> {
    builder: GrammarBuilder,
    options: &'o super::Options,
    warnings: Vec<Diagnostic>,
    /// The schemas compiled so far, as text with their options, with their warnings.
    schemas: HashMap<(String, json_schema::Options), (ExprId, Vec<Diagnostic>)>,
}

/// Lowers the format of a structural tag to a grammar.
///
/// # Errors
/// `structural-tag/…`; the errors of schemas, patterns and nested grammars, placed in the structural tag; `grammar/…`
/// if a grammar cannot be built; `limit/exceeded`.
pub(super) fn lower(format: &Format<'_>, options: &super::Options) -> Result<Compiled> {
    let builder = GrammarBuilder::with_limits(options.json_schema.limits.clone());
    let mut lowering = Lowering { builder, options, warnings: Vec::new(), schemas: HashMap::new() };
    let body = lowering.format(format, Around::default())?;
    let Lowering { mut builder, warnings, .. } = lowering;
    let root = builder.declare("root");
    builder.define(root, body);
    Ok(Compiled { grammar: builder.build(root)?, warnings })
}

impl Lowering<'_> {
    fn format(&mut self, format: &Format<'_>, around: Around<'_, '_>) -> Result<ExprId> {
        let at = format.at.as_str();
        let made = match &format.kind {
            Kind::ConstString(text) => self.builder.text(text),
            Kind::JsonSchema(schema) => self.schema(schema)?,
            Kind::Regex { pattern, excludes } => self.regex(pattern, excludes, at)?,
            Kind::Grammar { text, syntax } => self.grammar(text, *syntax, at)?,
            Kind::NamedGrammar(name) => match self.options.grammars.get(*name) {
                Some(grammar) => self.builder.import(grammar),
                None => {
                    let known = self.options.grammars.keys();
                    return Err(errors::unknown_grammar(&format!("{at}/name"), name, known));
                }
            },
            Kind::AnyText { excludes, max_tokens, max_chars } => {
                self.any_text(excludes, (*max_tokens, *max_chars), around)
            }
            Kind::Token(token) => self.token(*token),
            Kind::ExcludeToken(excludes) => self.other_token(excludes.iter().copied().chain(around.token)),
            Kind::AnyTokens { excludes, most } => {
                let one = self.other_token(excludes.iter().copied().chain(around.token));
                self.builder.repeat(one, 0, *most)
            }
            Kind::Sequence(parts) => self.sequence(parts, around)?,
            Kind::Or(parts) => {
                let parts = parts.iter().map(|part| self.format(part, around));
                let parts = parts.collect::<Result<Vec<_>>>()?;
                self.builder.choice(parts)
            }
            Kind::Repeat { content, min, max } => {
                let content = self.format(content, around)?;
                self.builder.repeat(content, *min, *max)
            }
            Kind::Tag(tag) => self.tag(tag)?,
            Kind::TriggeredTags { triggers, tags, excludes, times } => {
                self.triggered_tags((triggers, tags), excludes, *times, (at, around))?
            }
            Kind::TokenTriggeredTags { triggers, tags, excludes, times } => {
                self.token_triggered_tags((triggers, tags), excludes, *times, around)?
            }
            Kind::TagsWithSeparator { tags, separator, times } => {
                let tags = self.tags(tags)?;
                let separator = self.builder.text(separator);
                let max = times.stop_after_first.then_some(1);
                self.builder.separated(tags, separator, u32::from(times.at_least_one), max)
            }
            Kind::Dispatch { rules, excludes, is_loop } => {
                let mut text = Text::new(&mut self.builder, *is_loop);
                for (pattern, content) in rules {
                    let content = self.format(content, Around::default())?;
                    text.add(pattern, content);
                }
                text.finish(&mut self.builder, &forbidden(excludes, around))
            }
            Kind::TokenDispatch { rules, excludes, is_loop } => {
                let mut tags = Vec::with_capacity(rules.len());
                for (token, content) in rules {
                    let (token, content) = (self.token(*token), self.format(content, Around::default())?);
                    tags.push(self.builder.sequence([token, content]));
                }
                let tag = self.builder.choice(tags);
                let times = Times { at_least_one: false, stop_after_first: !is_loop };
                let triggers = rules.iter().map(|(token, _)| *token);
                self.tags_among_tokens(
                    tag,
                    triggers.chain(excludes.iter().copied()).chain(around.token),
                    times,
                )
            }
        };
        match self.builder.error() {
            Some(error) => Err(error.clone().or_at(&crate::diagnostic::Place::Pointer(at.to_owned()))),
            None => Ok(made),
        }
    }

    fn sequence(&mut self, parts: &[Format<'_>], around: Around<'_, '_>) -> Result<ExprId> {
        let mut made = Vec::with_capacity(parts.len());
        let mut is_last = true;
        for part in parts.iter().rev() {
            let part = self.format(part, if is_last { around } else { Around::default() })?;
            made.push(part);
            // the part before this one may be the last of the text if this one and all after it may be empty
            is_last = is_last && self.builder.is_nullable(part)?;
        }
        made.reverse();
        Ok(self.builder.sequence(made))
    }

    fn schema(&mut self, schema: &Schema<'_>) -> Result<ExprId> {
        let Schema { schema, at, style, any_order, excludes, max_whitespace } = schema;
        let mut options = self.options.json_schema.clone().grammars(Some(lark::IN_STRINGS));
        options.excludes.extend(excludes.iter().map(|&text| text.to_owned()));
        if let Some(style) = style {
            options = options.spelling(*style);
        }
        if *any_order {
            options = options.property_order(json_schema::PropertyOrder::Any);
        }
        match max_whitespace {
            Some(0) => options = options.whitespace(json_schema::Whitespace::Compact),
            Some(most) => options = options.whitespace(json_schema::Whitespace::AtMost(*most)),
            None => {}
        }
        // a text, since equal values may have their members in different orders
        let key = (schema.to_string(), options);
        let (made, warnings) = match self.schemas.get(&key) {
            Some(known) => known.clone(),
            None => {
                let compiled = json_schema::compile_value(schema, &key.1)
                    .map_err(|error| error.map(|diagnostic| errors::in_schema(at, diagnostic)))?;
                let made = (self.builder.import(&compiled.grammar), compiled.warnings);
                self.schemas.insert(key, made.clone());
                made
            }
        };
        self.warnings.extend(warnings.into_iter().map(|warning| errors::in_schema(at, warning)));
        Ok(made)
    }

    fn regex(&mut self, pattern: &str, excludes: &[&str], at: &str) -> Result<ExprId> {
        let limits = self.options.json_schema.limits.clone();
        let options = regex::Options::default().dialect(regex::Dialect::Ecma262).limits(limits);
        let grammar = regex::compile(pattern, &options)
            .map_err(|error| errors::inside(&format!("{at}/pattern"), error))?;
        let matches = self.builder.import(&grammar);
        if excludes.is_empty() {
            return Ok(matches);
        }
        let text = self.text_without(forbidden(excludes, Around::default()));
        Ok(self.builder.intersection([matches, text]))
    }

    fn grammar(&mut self, grammar: &str, syntax: Option<Syntax>, at: &str) -> Result<ExprId> {
        let limits = self.options.json_schema.limits.clone();
        let place = format!("{at}/grammar");
        let is_lark = syntax.map_or_else(|| lark::is_lark(grammar), |syntax| syntax == Syntax::Lark);
        let (grammar, warnings) = if is_lark {
            let options = lark::Options::default().limits(limits);
            lark::compile(grammar, &options).map(|compiled| (compiled.grammar, compiled.warnings))
        } else {
            let options = gbnf::Options::default().limits(limits);
            gbnf::compile(grammar, &options).map(|compiled| (compiled.grammar, compiled.warnings))
        }
        .map_err(|error| errors::inside(&place, error))?;
        self.warnings.extend(warnings.into_iter().map(|warning| {
            let cause = warning.place().to_string();
            warning
                .cause(format!("at {cause} of this grammar"))
                .at(crate::diagnostic::Place::Pointer(place.clone()))
        }));
        Ok(self.builder.import(&grammar))
    }

    fn any_text(
        &mut self,
        excludes: &[&str],
        (max_tokens, max_chars): (Option<u32>, Option<u32>),
        around: Around<'_, '_>,
    ) -> ExprId {
        if max_tokens == Some(0) {
            return self.builder.empty();
        }
        let text = self.text_without(forbidden(excludes, around));
        let text = max_chars.map_or(text, |most| self.builder.max_chars(text, most));
        max_tokens.map_or(text, |most| self.builder.max_tokens(text, most))
    }

    /// The texts in UTF-8 that contain none of the `forbidden` strings.
    fn text_without(&mut self, forbidden: Vec<Box<str>>) -> ExprId {
        let end = Some(self.builder.empty());
        self.builder.free_text(&FreeText { triggers: Vec::new(), forbidden, end })
    }

    fn token(&mut self, token: Token<'_>) -> ExprId {
        self.builder.token(TokenTerminal::new(TokenScope::Listed, [selector(token)]))
    }

    /// One token that is not in `excludes` and is not an end-of-sequence token.
    fn other_token<'v>(&mut self, excludes: impl IntoIterator<Item = Token<'v>>) -> ExprId {
        let excludes: Vec<TokenSelector> = excludes.into_iter().map(selector).collect();
        self.builder.token(TokenTerminal::new(TokenScope::AllBut, excludes))
    }

    /// The rest of a tag after the first `read` bytes of its beginning. A beginning that is a token is always included.
    fn tag_after(&mut self, tag: &Tag<'_>, read: usize) -> Result<ExprId> {
        let begin = match tag.begin {
            Mark::Text(text) => self.builder.text(text.get(read..).unwrap_or("")),
            Mark::Token(token) => self.token(token),
        };
        let (content, end) = match &tag.end {
            End::Texts(ends) => {
                let texts: Vec<&str> = ends.iter().copied().filter(|end| !end.is_empty()).collect();
                let content = self.format(&tag.content, Around { texts: &texts, token: None })?;
                let ends: Vec<ExprId> = ends.iter().map(|end| self.builder.text(end)).collect();
                (content, self.builder.choice(ends))
            }
            End::Token(token) => {
                let content = self.format(&tag.content, Around { texts: &[], token: Some(*token) })?;
                (content, self.token(*token))
            }
        };
        Ok(self.builder.sequence([begin, content, end]))
    }

    fn tag(&mut self, tag: &Tag<'_>) -> Result<ExprId> {
        self.tag_after(tag, 0)
    }

    fn tags(&mut self, tags: &[Tag<'_>]) -> Result<ExprId> {
        let tags = tags.iter().map(|tag| self.tag(tag)).collect::<Result<Vec<_>>>()?;
        Ok(self.builder.choice(tags))
    }

    fn triggered_tags(
        &mut self,
        (triggers, tags): (&[&str], &[Tag<'_>]),
        excludes: &[&str],
        times: Times,
        (at, around): (&str, Around<'_, '_>),
    ) -> Result<ExprId> {
        let mut text = Text::new(&mut self.builder, !times.stop_after_first);
        let mut has_tag = vec![false; triggers.len()];
        let mut whole = Vec::new();
        for tag in tags {
            let place = trigger_of(tag, triggers)?;
            has_tag[place] = true;
            let trigger = triggers[place];
            let rest = self.tag_after(tag, trigger.len())?;
            if times.at_least_one {
                let begin = self.builder.text(trigger);
                whole.push(self.builder.sequence([begin, rest]));
            }
            text.add(trigger, rest);
        }
        for (place, (trigger, _)) in triggers.iter().zip(has_tag).enumerate().filter(|(_, pair)| !pair.1) {
            self.warnings.push(errors::trigger_without_tag(&format!("{at}/triggers/{place}"), trigger));
            text.forbid(trigger);
        }
        let after = text.finish(&mut self.builder, &forbidden(excludes, around));
        Ok(match (times.at_least_one, times.stop_after_first) {
            (false, _) => after,
            (true, true) => self.builder.choice(whole),
            (true, false) => {
                let first = self.builder.choice(whole);
                self.builder.sequence([first, after])
            }
        })
    }

    fn token_triggered_tags(
        &mut self,
        (triggers, tags): (&[Token<'_>], &[Tag<'_>]),
        excludes: &[Token<'_>],
        times: Times,
        around: Around<'_, '_>,
    ) -> Result<ExprId> {
        for tag in tags {
            match tag.begin {
                Mark::Token(token) if triggers.contains(&token) => {}
                _ => return Err(errors::no_trigger_token(&format!("{}/begin", tag.at))),
            }
        }
        let tag = self.tags(tags)?;
        let excluded = triggers.iter().chain(excludes).copied().chain(around.token);
        Ok(self.tags_among_tokens(tag, excluded, times))
    }

    /// Any number of tags, with any number of tokens before, between and after them. `tag` describes one tag;
    /// `excluded` tokens and end-of-sequence tokens are not among the other tokens. With `at_least_one` the text begins
    /// with a tag; with `stop_after_first` there is at most one tag, and the text ends after it.
    fn tags_among_tokens<'v>(
        &mut self,
        tag: ExprId,
        excluded: impl IntoIterator<Item = Token<'v>>,
        times: Times,
    ) -> ExprId {
        let one = self.other_token(excluded);
        let tokens = self.builder.star(one);
        match (times.at_least_one, times.stop_after_first) {
            (true, true) => tag,
            (false, true) => {
                let tag = self.builder.optional(tag);
                self.builder.sequence([tokens, tag])
            }
            (at_least_one, false) => {
                let next = self.builder.sequence([tokens, tag]);
                let more = self.builder.star(next);
                let rest = self.builder.sequence([more, tokens]);
                if at_least_one { self.builder.sequence([tag, rest]) } else { rest }
            }
        }
    }
}

fn selector(token: Token<'_>) -> TokenSelector {
    match token {
        Token::Id(id) => TokenSelector::Ids { first: id, last: id },
        Token::Name(name) => TokenSelector::Name(name.into()),
    }
}

/// The strings that a format's text must not contain: those that the format excludes, and the ends of the tag around
/// it. Sorted and deduplicated.
fn forbidden(excludes: &[&str], around: Around<'_, '_>) -> Vec<Box<str>> {
    let mut all: Vec<Box<str>> = excludes.iter().chain(around.texts).map(|text| Box::from(*text)).collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// The index of the only trigger that is a prefix of the tag's beginning.
///
/// # Errors
/// `structural-tag/token-trigger` if the tag begins with a token; `structural-tag/no-trigger` and
/// `structural-tag/many-triggers` if no trigger, or more than one, is a prefix.
fn trigger_of(tag: &Tag<'_>, triggers: &[&str]) -> Result<usize> {
    let at = || format!("{}/begin", tag.at);
    let Mark::Text(begin) = tag.begin else { return Err(errors::token_in_text(&at())) };
    let mut found = (0..triggers.len()).filter(|&place| begin.starts_with(triggers[place]));
    match (found.next(), found.next()) {
        (Some(one), None) => Ok(one),
        (Some(one), Some(other)) => Err(errors::many_triggers(&at(), begin, triggers[one], triggers[other])),
        _ => Err(errors::no_trigger(&at(), begin, triggers)),
    }
}
