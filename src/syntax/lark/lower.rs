//! Definitions -> expressions.
//!
//! Recurses along groups, whose depth the parser bounds.

use super::parser::{Body, Definition, Item, Parsed, Part};
use super::{Compiled, Options, common, errors};
use crate::diagnostic::Diagnostic;
use crate::error::Result;
use crate::grammar::{CharClass, ExprId, GrammarBuilder, RuleId, TokenScope, TokenSelector, TokenTerminal};
use crate::syntax::{json_schema, regex};
use rustc_hash::FxHashMap;

struct Lowering<'s, 'o> {
    source: &'s str,
    options: &'o Options,
    builder: GrammarBuilder,
    rules: FxHashMap<&'s str, RuleId>,
    /// What may stand after a terminal in a rule.
    skipped: Option<ExprId>,
    warnings: Vec<Diagnostic>,
}

/// The grammar of a text.
///
/// # Errors
/// `lark/…`, those of schemas and patterns, limits.
pub(super) fn lower(source: &str, parsed: &Parsed<'_>, options: &Options) -> Result<Compiled> {
    let builder = GrammarBuilder::with_limits(options.json_schema.limits.clone());
    let rules = FxHashMap::default();
    let mut lowering = Lowering { source, options, builder, rules, skipped: None, warnings: Vec::new() };
    for Definition { at, name, .. } in &parsed.definitions {
        lowering.declare(name, *at)?;
    }
    for import in &parsed.imports {
        let pattern = common::pattern(import.name)
            .ok_or_else(|| errors::unknown_terminal(source, import.at, import.name))?;
        let rule = lowering.declare(import.alias, import.at)?;
        let body = lowering.pattern(pattern, "", import.at)?;
        lowering.builder.define(rule, body);
    }
    let ignored = parsed.ignored.iter().map(|body| lowering.body(body, true)).collect::<Result<Vec<_>>>()?;
    if !ignored.is_empty() {
        let ignored = lowering.builder.choice(ignored);
        lowering.skipped = Some(lowering.builder.star(ignored));
    }
    for definition in &parsed.definitions {
        lowering.define(definition)?;
    }
    let start = *lowering
        .rules
        .get(options.start.as_str())
        .ok_or_else(|| errors::no_start(source, &options.start, lowering.rules.keys().copied()))?;
    let Lowering { mut builder, warnings, skipped, .. } = lowering;
    let start = match skipped.filter(|_| parsed.skips_first) {
        Some(skipped) => {
            let body = builder.rule(start);
            let body = builder.sequence([skipped, body]);
            let first = builder.declare("_start");
            builder.define(first, body);
            first
        }
        None => start,
    };
    Ok(Compiled { grammar: builder.build(start)?, warnings })
}

/// Whether a name is that of a terminal.
fn is_terminal(name: &str) -> bool {
    let letter = name.chars().find(|c| c.is_ascii_alphabetic());
    letter.is_some_and(|c| c.is_ascii_uppercase())
}

impl<'s> Lowering<'s, '_> {
    fn declare(&mut self, name: &'s str, at: usize) -> Result<RuleId> {
        if self.rules.contains_key(name) {
            return Err(errors::defined_twice(self.source, at, name));
        }
        let rule = self.builder.declare(name);
        self.rules.insert(name, rule);
        Ok(rule)
    }

    fn define(&mut self, definition: &Definition<'s>) -> Result<()> {
        let Some(&rule) = self.rules.get(definition.name) else { return Ok(()) };
        let mut body = self.body(&definition.body, is_terminal(definition.name))?;
        for (name, most, _) in &definition.attributes {
            body = match *name {
                "max_tokens" => self.builder.max_tokens(body, *most),
                _ => self.builder.max_chars(body, *most),
            };
        }
        self.builder.define(rule, body);
        match self.builder.error() {
            Some(error) => Err(errors::at_place(error.clone(), self.source, definition.at)),
            None => Ok(()),
        }
    }

    fn body(&mut self, body: &Body<'s>, in_terminal: bool) -> Result<ExprId> {
        let mut alternatives = Vec::with_capacity(body.len());
        for parts in body {
            let parts = parts.iter().map(|part| self.part(part, in_terminal)).collect::<Result<Vec<_>>>()?;
            alternatives.push(self.builder.sequence(parts));
        }
        Ok(self.builder.choice(alternatives))
    }

    fn part(&mut self, part: &Part<'s>, in_terminal: bool) -> Result<ExprId> {
        let &Part { at, ref item, min, max } = part;
        let is_lexeme = match item {
            Item::Group(_) => false,
            Item::Name(name) => is_terminal(name),
            _ => true,
        };
        let mut made = self.item(item, at, in_terminal)?;
        if let Some(skipped) = self.skipped.filter(|_| is_lexeme && !in_terminal) {
            made = self.builder.sequence([made, skipped]);
        }
        Ok(self.builder.repeat(made, min, max))
    }

    fn item(&mut self, item: &Item<'s>, at: usize, in_terminal: bool) -> Result<ExprId> {
        Ok(match item {
            Item::Name(name) => match self.rules.get(name) {
                Some(&rule) if !in_terminal || is_terminal(name) => self.builder.rule(rule),
                Some(_) => return Err(errors::rule_in_terminal(self.source, at, name)),
                None => {
                    let known =
                        self.rules.keys().copied().chain(common::names().map(|name| -> &'s str { name }));
                    return Err(errors::undefined(self.source, at, name, known));
                }
            },
            Item::Text { text, ignores_case: false } => self.builder.text(text),
            Item::Text { text, ignores_case: true } => self.pattern(&regex_syntax::escape(text), "i", at)?,
            Item::Pattern { pattern, flags } => self.pattern(pattern, flags, at)?,
            Item::Range(low, high) => self.builder.class([(*low, *high)]),
            Item::Json(text) => self.json(text, at)?,
            Item::Special(name) => self.builder.token(TokenTerminal::named(*name)),
            Item::Ids(ids) => {
                let selectors = self.ids(ids, at)?;
                self.builder.token(TokenTerminal::new(TokenScope::Listed, selectors))
            }
            Item::Group(body) => self.body(body, in_terminal)?,
        })
    }

    fn pattern(&mut self, pattern: &str, flags: &str, at: usize) -> Result<ExprId> {
        let mut options = regex::Options::default().limits(self.options.json_schema.limits.clone());
        let mut extended = false;
        for flag in flags.chars() {
            match flag {
                'i' => options = options.case_insensitive(true),
                's' => options = options.dot_matches_newline(true),
                'x' => extended = true,
                // patterns are over characters in any case
                'u' => {}
                _ => return Err(errors::flag(self.source, at, flag)),
            }
        }
        let pattern = if extended { format!("(?x){pattern}") } else { pattern.to_owned() };
        let classes = &mut |g: &mut GrammarBuilder, class: &CharClass| g.char_class(class.clone());
        regex::lower_into(&mut self.builder, &pattern, &options, classes)
            .map_err(|error| errors::inside(error, self.source, at, "this pattern"))
    }

    fn json(&mut self, text: &str, at: usize) -> Result<ExprId> {
        let schema = serde_json::from_str(text).map_err(|cause| errors::not_json(self.source, at, &cause))?;
        let compiled = json_schema::compile_value(&schema, &self.options.json_schema)
            .map_err(|error| errors::inside(error, self.source, at, "this schema"))?;
        self.warnings.extend(compiled.warnings);
        Ok(self.builder.import(&compiled.grammar))
    }

    /// `5,7-9`.
    fn ids(&self, ids: &str, at: usize) -> Result<Vec<TokenSelector>> {
        let one = |part: &str| {
            let (first, last) = part.trim().split_once('-').unwrap_or((part.trim(), part.trim()));
            let (first, last) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
            (first <= last).then_some(TokenSelector::Ids { first, last })
        };
        ids.split(',').map(|part| one(part).ok_or_else(|| errors::ids(self.source, at))).collect()
    }
}
