//! Lowers definitions to expressions.
//!
//! Recursion follows groups and nested grammars, whose depth the parser bounds. In this file, a lazy rule is given by
//! its number, an index into [`Lowering::lazies`].

use super::adjacent::{Crossed, Shape, Shapes, may_hold};
use super::any_text::Names;
use super::beside::{Firsts, Lazy, Lexeme, Set, union};
use super::bytes::{Bytes, Facts};
use super::runs;
use super::tree::{Body, Definition, Item, Name, Parsed, Part};
use super::{Compiled, Options, errors};
use crate::diagnostic::Diagnostic;
use crate::error::{ErrorKind, Errors, Result};
use crate::grammar::{ByteSet, CharClass, ExprId, FreeText, GrammarBuilder, IGNORED, RuleId, TokenTerminal};
use crate::syntax::regex;
use rustc_hash::FxHashMap;
use std::mem::take;

/// An expression, and the shape that says how lexemes may follow each other in it. Shapes have a meaning only if the
/// grammar has lazy rules with numbers.
pub(super) type Made = (ExprId, Shape);

/// The state of lowering one grammar, the whole or a nested one.
pub(super) struct Lowering<'s, 'p, 'o> {
    pub(super) source: &'s str,
    pub(super) options: &'o Options,
    pub(super) parsed: &'p Parsed<'s>,
    pub(super) builder: GrammarBuilder,
    /// The rules of definitions, by name.
    rules: FxHashMap<Name<'s>, RuleId>,
    /// By the name of a definition: its index in the parsed grammar, and the shape of the version with which no lazy
    /// rule competes.
    places: FxHashMap<Name<'s>, (usize, Shape)>,
    pub(super) names: Names<'s, 'p>,
    /// The declared versions of definitions, in the order in which they are defined. Each has the index of its
    /// definition, its rule, its shape, the lazy rules that may begin where it begins, and those that may begin where
    /// it ends.
    open: Vec<(usize, RuleId, Shape, Set, Set)>,
    /// The other versions of rules: by name, and by the lazy rules that may begin where the rule begins and where it
    /// ends.
    versions: FxHashMap<(Name<'s>, Set, Set), (RuleId, Shape)>,
    /// The lazy rules with a number, by number.
    pub(super) lazies: Vec<Lazy<'s>>,
    /// By the name of a lazy rule: its number, if it has one, and the expression of its body and end before laziness
    /// applies, which describes its words and longer texts.
    pub(super) lazy_of: FxHashMap<Name<'s>, (Option<u32>, ExprId)>,
    /// The words of a lazy rule that competes with others, by its number and the numbers of the others. `max_tokens` is
    /// not applied.
    pub(super) lazy_words: FxHashMap<(u32, Set), ExprId>,
    /// One occurrence of each part outside terminals, by the address of its item, and by the lazy rules that may begin
    /// where the part begins and where it ends. Empty without lazy rules that have numbers.
    elements: FxHashMap<(*const Item<'s>, Set, Set), Made>,
    /// The free texts built so far, each with its expression.
    pub(super) texts: Vec<(FreeText, ExprId)>,
    firsts: Firsts<'s, 'p>,
    shapes: Shapes,
    /// The text of `%ignore` that is allowed after a lexeme in a rule; `None` without `%ignore`.
    skipped: Option<Made>,
    pub(super) warnings: Vec<Diagnostic>,
    /// The errors of items, which have no words.
    errors: Errors,
}

/// Lowers a resolved grammar, in which `errors` were found.
///
/// # Errors
/// `errors`; `lark/…`; the errors of schemas and patterns; `grammar/…` if the grammar cannot be built;
/// `limit/exceeded`.
pub(super) fn lower(
    source: &str,
    parsed: &Parsed<'_>,
    options: &Options,
    errors: Errors,
) -> Result<Compiled> {
    let builder = GrammarBuilder::with_limits(options.json_schema.limits.clone());
    let mut warnings = Vec::new();
    if let Some(&first) = parsed.priorities.first() {
        let written = source.get(first..).and_then(|rest| rest.split([':', ' ', '\t', '[']).next());
        warnings.push(errors::priorities(source, first, written.unwrap_or("."), parsed.priorities.len()));
    }
    let mut state = (builder, warnings, errors);
    let start = grammar(source, parsed, options, &mut state);
    let (builder, warnings, errors) = state;
    // errors in items come before those of the grammar as a whole, which may follow from them
    match start {
        Err(error) if error.kind() == ErrorKind::Limit => Err(error),
        start => {
            errors.finish()?;
            Ok(Compiled { grammar: builder.build(start?)?, warnings })
        }
    }
}

/// Lowers all rules of one grammar, the whole or a nested one, into the builder of `state`, and returns its start rule.
/// Warnings and the errors of items are added to `state`.
fn grammar<'s>(
    source: &'s str,
    parsed: &Parsed<'s>,
    options: &Options,
    state: &mut (GrammarBuilder, Vec<Diagnostic>, Errors),
) -> Result<RuleId> {
    let rewritten = runs::joined(parsed);
    let parsed = rewritten.as_ref().unwrap_or(parsed);
    let mut lowering = Lowering {
        source,
        options,
        parsed,
        names: Names::new(parsed),
        builder: take(&mut state.0),
        rules: FxHashMap::default(),
        places: FxHashMap::default(),
        open: Vec::new(),
        versions: FxHashMap::default(),
        lazies: Vec::new(),
        lazy_of: FxHashMap::default(),
        lazy_words: FxHashMap::default(),
        texts: Vec::new(),
        elements: FxHashMap::default(),
        firsts: Firsts::default(),
        shapes: Shapes::default(),
        skipped: None,
        warnings: take(&mut state.1),
        errors: take(&mut state.2),
    };
    let made = lowering.grammar();
    *state = (lowering.builder, lowering.warnings, lowering.errors);
    made
}

impl<'s, 'p> Lowering<'s, 'p, '_> {
    fn grammar(&mut self) -> Result<RuleId> {
        let (source, parsed) = (self.source, self.parsed);
        for (place, &Definition { name, .. }) in parsed.definitions.iter().enumerate() {
            let rule = self.builder.declare(name.text);
            self.rules.insert(name, rule);
            let shape = self.shapes.rule();
            self.places.insert(name, (place, shape));
            self.open.push((place, rule, shape, Set::new(), Set::new()));
        }
        let ignored = parsed.ignored.iter().map(|body| Ok(self.body(body, true, &[], &[])?.0));
        let ignored = ignored.collect::<Result<Vec<_>>>()?;
        if !ignored.is_empty() {
            let ignored = self.builder.choice(ignored);
            let ignored = self.builder.star(ignored);
            self.skipped = Some((self.builder.label(IGNORED, ignored), Shape::EMPTY));
        }
        let is_lazy = parsed.definitions.iter().any(|it| it.attributes.is_lazy);
        let facts = if is_lazy {
            Facts::new(parsed, self.options.dialect, self.builder.work())?
        } else {
            Facts::default()
        };
        self.find_lazy(&facts)?;
        self.find_skipped(&facts)?;
        let numbers = self.lazy_of.iter().filter_map(|(&name, &(number, _))| Some((name, number?))).collect();
        self.firsts = Firsts::new(parsed, numbers, facts, self.builder.work())?;
        // defining a rule may append new versions of rules, so the length is not fixed
        let mut next = 0;
        while let Some((place, rule, shape, begins, ends)) = self.open.get_mut(next) {
            let (place, rule, shape, begins, ends) = (*place, *rule, *shape, take(begins), take(ends));
            self.define(&parsed.definitions[place], (rule, shape), &begins, &ends)?;
            next += 1;
        }
        if let Some(Crossed { at, lazy }) = self.shapes.crossed() {
            return Err(errors::lazy_crossed(source, at, self.lazy_name(lazy)));
        }
        // without a start rule, there is an error already
        let start = parsed.start.and_then(|start| self.rules.get(&start).copied());
        let start = start.unwrap_or_else(|| self.builder.declare_generated("start"));
        let Some(skipped) = self.skipped.filter(|_| parsed.skips_first) else { return Ok(start) };
        let body = self.builder.rule(start);
        let body = self.builder.sequence([skipped.0, body]);
        let first = self.builder.declare_generated("start");
        self.builder.define(first, body);
        Ok(first)
    }

    /// Sets the shape of the ignored text. Any lazy rule may begin where ignored text may occur.
    ///
    /// # Errors
    /// `lark/lazy-ignored` if ignored text may contain a word of a lazy rule.
    fn find_skipped(&mut self, facts: &Facts<'s, 'p>) -> Result<()> {
        let Some((skipped, _)) = self.skipped else { return Ok(()) };
        let ignored = self.parsed.ignored.iter().map(|body| facts.body(body));
        let ignored = ignored.fold(Bytes::default(), |all, bytes| all.or(&bytes));
        if let Some(lazy) = self.lazies.iter().find(|lazy| may_hold(&ignored, lazy)) {
            return Err(errors::lazy_ignored(self.source, lazy.at, lazy.name.text));
        }
        let all = 0..self.lazies.len() as u32;
        self.charge_beside(&Lexeme::Other, all.clone())?;
        let one = self.shapes.open(&ignored, &Lexeme::Other, &self.lazies, all);
        let first = self.parsed.ignored.iter().flatten().flatten().next();
        let shape = self.shapes.repeat(one, 0, None, first.map_or(0, |part| part.at));
        self.skipped = Some((skipped, shape));
        Ok(())
    }

    /// The name of a lazy rule.
    fn lazy_name(&self, lazy: u32) -> &'s str {
        self.lazies[lazy as usize].name.text
    }

    /// The definition of a name.
    pub(super) fn definition(&self, name: Name<'s>) -> Option<&'p Definition<'s>> {
        self.names.definition(name)
    }

    /// Defines one version of a definition, given the lazy rules that may begin where it begins and where it ends.
    fn define(
        &mut self,
        definition: &Definition<'s>,
        (rule, shape): (RuleId, Shape),
        begins: &[u32],
        ends: &[u32],
    ) -> Result<()> {
        let body = if definition.attributes.is_lazy {
            self.lazy(definition.name, &[])?
        } else {
            let (body, own) = self.body(&definition.body, definition.name.is_terminal(), begins, ends)?;
            self.shapes.define(shape, own);
            self.bounded(definition.name, body)
        };
        self.builder.define(rule, body);
        match self.builder.error() {
            Some(error) => Err(errors::at_place(error.clone(), self.source, definition.at)),
            None => Ok(()),
        }
    }

    /// Lowers alternatives, given the lazy rules that may begin where the alternatives begin and where they end.
    /// `in_terminal` says whether the body belongs to a terminal, a lazy rule or `%ignore`. In such a body nothing is
    /// ignored and no lazy rule competes.
    pub(super) fn body(
        &mut self,
        body: &Body<'s>,
        in_terminal: bool,
        begins: &[u32],
        ends: &[u32],
    ) -> Result<Made> {
        let mut alternatives = Vec::with_capacity(body.len());
        let mut shapes = Vec::new();
        if in_terminal || self.firsts.is_empty() {
            for parts in body {
                alternatives.push(self.plain(parts, in_terminal)?);
            }
        } else {
            let (first, is_empty) = self.firsts.body(body);
            let begins = union(&first, begins);
            let begins = if is_empty { union(&begins, ends) } else { begins };
            for parts in body {
                let (alternative, shape) = self.sequence(parts, &begins, ends)?;
                alternatives.push(alternative);
                shapes.push(shape);
            }
        }
        let shape = if self.firsts.is_empty() { Shape::EMPTY } else { self.shapes.choice(shapes) };
        Ok((self.builder.choice(alternatives), shape))
    }

    /// Lowers a sequence of parts with which no lazy rule competes.
    fn plain(&mut self, parts: &[Part<'s>], in_terminal: bool) -> Result<ExprId> {
        let parts = parts.iter().map(|part| Ok(self.part(part, part.min, in_terminal, &[], &[])?.0));
        let parts = parts.collect::<Result<Vec<_>>>()?;
        Ok(self.builder.sequence(parts))
    }

    /// Lowers parts in sequence. If the lazy rules that compete with the next part depend on whether an optional part
    /// is present, both cases become alternatives.
    fn sequence(&mut self, parts: &[Part<'s>], begins: &[u32], ends: &[u32]) -> Result<Made> {
        // sets of lazy rules are united and compared for each part
        self.builder.work().spend(parts.len().saturating_mul(1 + self.lazies.len() / 8))?;
        // by part, and for the end: the lazy rules that may begin where the part begins, in it or in what follows it
        let mut follows = vec![ends.to_vec()];
        for part in parts.iter().rev() {
            let (first, is_empty) = self.firsts.part(part);
            let last = follows.last().map_or(&[][..], |last| last);
            follows.push(if is_empty { union(&first, last) } else { first });
        }
        follows.reverse();
        // by part: the lazy rules that compete with it if the part before it is present
        let mut after = vec![begins.to_vec()];
        for (part, follows) in parts.iter().zip(&follows[1..]) {
            let ends = self.firsts.ends(part).unwrap_or_default();
            let beside = union(&ends.always, follows);
            if after.len() < parts.len()
                && let Some(&lazy) = ends.sometimes.iter().find(|lazy| !beside.contains(lazy))
            {
                return Err(errors::lazy_ambiguous(self.source, part.at, self.lazy_name(lazy)));
            }
            after.push(beside);
        }
        // by part: the lowered rest of the sequence from that part on, if the part before it is present
        let mut come = vec![(ExprId::EMPTY, Shape::EMPTY); parts.len() + 1];
        for first in (0..=parts.len()).rev() {
            let begins = &after[first];
            let (mut ways, mut shapes) = (Vec::new(), Vec::new());
            let mut at = first;
            while let Some(part) = parts.get(at) {
                let differs = begins != &after[at + 1];
                let is_empty = self.firsts.item(&part.item).1 && at + 1 < parts.len();
                let is_text = is_empty && self.names.is_any_text(&part.item);
                let may_miss = (part.min == 0 || is_text) && differs;
                let min = if may_miss { 1 } else { part.min };
                if is_empty
                    && !is_text
                    && let Some(&lazy) = begins.iter().find(|lazy| !after[at + 1].contains(lazy))
                {
                    return Err(errors::lazy_ambiguous(self.source, part.at, self.lazy_name(lazy)));
                }
                let (mut made, shape) = self.part(part, min, false, begins, &follows[at + 1])?;
                if is_text && may_miss {
                    // an empty word of this part is handled as an absent part, since the next part then competes with
                    // other lazy rules
                    let bytes = self.builder.byte_set(ByteSet::FULL);
                    let bytes = self.builder.plus(bytes);
                    made = self.builder.intersection([made, bytes]);
                }
                let (rest, shape_of_rest) = come[at + 1];
                ways.push(self.builder.sequence([made, rest]));
                shapes.push(self.shapes.sequence([shape, shape_of_rest], part.at));
                if !may_miss {
                    break;
                }
                at += 1;
            }
            if at == parts.len() {
                ways.push(ExprId::EMPTY);
                shapes.push(Shape::EMPTY);
            }
            come[first] = (self.builder.choice(ways), self.shapes.choice(shapes));
        }
        Ok(come[0])
    }

    /// Lowers a part with its repetition; `min` replaces the minimum of the part.
    fn part(
        &mut self,
        part: &Part<'s>,
        min: u32,
        in_terminal: bool,
        begins: &[u32],
        ends: &[u32],
    ) -> Result<Made> {
        let max = part.max;
        if max == Some(1) || in_terminal || self.firsts.is_empty() {
            let (one, shape) = self.element(part, in_terminal, begins, ends)?;
            return Ok((self.builder.repeat(one, min, max), self.shapes.repeat(shape, min, max, part.at)));
        }
        if max == Some(0) {
            return Ok((ExprId::EMPTY, Shape::EMPTY));
        }
        let own = self.firsts.ends(part).unwrap_or_default();
        let again = union(&union(&self.firsts.item(&part.item).0, ends), &own.always);
        if let Some(&lazy) = own.sometimes.iter().find(|lazy| !again.contains(lazy)) {
            return Err(errors::lazy_ambiguous(self.source, part.at, self.lazy_name(lazy)));
        }
        // an empty first repetition lets the second one begin where the first one does
        let differs = |lazy: &&u32| !again.contains(lazy) || !begins.contains(lazy);
        if self.firsts.item(&part.item).1
            && let Some(&lazy) = begins.iter().chain(&again).find(differs)
        {
            return Err(errors::lazy_ambiguous(self.source, part.at, self.lazy_name(lazy)));
        }
        let (more, shape) = self.element(part, in_terminal, &again, &again)?;
        let more_shape = self.shapes.repeat(shape, min, max, part.at);
        if again == begins {
            return Ok((self.builder.repeat(more, min, max), more_shape));
        }
        let (one, shape) = self.element(part, in_terminal, begins, &again)?;
        let shape = self.shapes.sequence([shape, more_shape], part.at);
        let more = self.builder.repeat(more, min.saturating_sub(1), max.map(|max| max - 1));
        let all = self.builder.sequence([one, more]);
        let shape = self.shapes.repeat(shape, min.min(1), Some(1), part.at);
        Ok((if min == 0 { self.builder.optional(all) } else { all }, shape))
    }

    /// Lowers one occurrence of a part. If it is a lexeme outside a terminal, ignored text may follow.
    fn element(&mut self, part: &Part<'s>, in_terminal: bool, begins: &[u32], ends: &[u32]) -> Result<Made> {
        let is_lexeme = match &part.item {
            Item::Group(_) | Item::Lark(_) | Item::Beside(_) => false,
            // any text includes the ignored text, so nothing needs to be skipped after it
            item if !self.firsts.is_empty() && self.names.is_any_text(item) => false,
            Item::Name(name) => name.is_terminal() || self.lazy_of.contains_key(name),
            _ => true,
        };
        // a repeated group is lowered twice, so the work for nested groups would grow exponentially without this map
        let key = (!self.firsts.is_empty() && !in_terminal)
            .then(|| (&raw const part.item, begins.to_vec(), ends.to_vec()));
        if let Some(known) = key.as_ref().and_then(|key| self.elements.get(key)) {
            return Ok(*known);
        }
        let mut made = self.item(&part.item, part.at, in_terminal, begins, ends)?;
        if let Some(skipped) = self.skipped.filter(|_| is_lexeme && !in_terminal) {
            let shape = self.shapes.sequence([made.1, skipped.1], part.at);
            made = (self.builder.sequence([made.0, skipped.0]), shape);
        }
        if let Some(key) = key {
            self.elements.insert(key, made);
        }
        Ok(made)
    }

    /// Lowers an item without its repetition and without ignored text after it. An item with an error has no words; the
    /// error is recorded.
    ///
    /// # Errors
    /// `limit/exceeded`; the last error, if there are too many.
    pub(super) fn item(
        &mut self,
        item: &Item<'s>,
        at: usize,
        in_terminal: bool,
        begins: &[u32],
        ends: &[u32],
    ) -> Result<Made> {
        match self.correct_item(item, at, in_terminal, begins, ends) {
            Err(error) if error.kind() != ErrorKind::Limit && !self.errors.is_full() => {
                self.errors.push(error);
                Ok((ExprId::NEVER, self.closed(item)))
            }
            made => made,
        }
    }

    fn correct_item(
        &mut self,
        item: &Item<'s>,
        at: usize,
        in_terminal: bool,
        begins: &[u32],
        ends: &[u32],
    ) -> Result<Made> {
        let made = match item {
            Item::Name(name) => return self.name(*name, at, in_terminal, begins, ends),
            Item::Text { text, ignores_case: false } => self.builder.text(text),
            Item::Text { text, ignores_case: true } => {
                self.pattern(&regex_syntax::escape(text), "i", at, regex::Dialect::Rust)?
            }
            Item::Pattern { pattern, flags } => self.pattern(pattern, flags, at, self.options.dialect)?,
            Item::Common(pattern) => self.pattern(pattern, "", at, regex::Dialect::Rust)?,
            Item::Range(low, high) => self.builder.class([(*low, *high)]),
            Item::Chunks(chunks) => self.builder.substrings(chunks),
            Item::Special(name) => {
                let token = self.builder.token(TokenTerminal::named(*name));
                return Ok((token, self.closed(item)));
            }
            Item::Ids(ids) => {
                let terminal = self.ids(ids, at)?;
                return Ok((self.builder.token(terminal), self.closed(item)));
            }
            Item::Group(body) => return self.body(body, in_terminal, begins, ends),
            Item::And(_) if !in_terminal => return Err(errors::operator_in_rule(self.source, at, "&")),
            Item::Not(_) if !in_terminal => return Err(errors::operator_in_rule(self.source, at, "~")),
            Item::And(operands) => {
                let operands =
                    operands.iter().map(|parts| self.plain(parts, true)).collect::<Result<Vec<_>>>()?;
                self.builder.intersection(operands)
            }
            Item::Not(inner) => {
                let inner = self.item(inner, at, true, &[], &[])?.0;
                let others = self.builder.complement(inner);
                let any = self.builder.char_class(CharClass::any());
                let any = self.builder.star(any);
                self.builder.intersection([others, any])
            }
            // a resolved grammar has no templates
            Item::Beside(_) | Item::Template(..) | Item::Parameter(_) => {
                return Ok((ExprId::NEVER, self.closed(item)));
            }
            Item::Json(text) => {
                self.check_alone(at, begins)?;
                return Ok((self.json(text, at)?, self.closed(item)));
            }
            Item::Lark(parsed) => {
                self.check_alone(at, begins)?;
                let (source, options) = (self.source, self.options);
                let mut state = (take(&mut self.builder), take(&mut self.warnings), take(&mut self.errors));
                let start = grammar(source, parsed, options, &mut state);
                (self.builder, self.warnings, self.errors) = state;
                let start = start?;
                return Ok((self.builder.rule(start), self.closed(item)));
            }
        };
        let lexeme = match item {
            Item::Text { text, ignores_case: false } => Lexeme::Text(text),
            _ if self.names.is_any_text(item) => Lexeme::AnyText,
            _ => Lexeme::Other,
        };
        self.lexeme(made, item, &lexeme, begins)
    }

    /// Restricts a lexeme to the words that neither are nor begin with a word of a lazy rule in `begins`, the lazy
    /// rules that may begin where the lexeme begins. Returns the restricted expression with its shape.
    fn lexeme(&mut self, made: ExprId, item: &Item<'s>, lexeme: &Lexeme<'_>, begins: &[u32]) -> Result<Made> {
        if begins.is_empty() {
            return Ok((made, self.closed(item)));
        }
        self.charge_beside(lexeme, begins.iter().copied())?;
        let made = self.beside(made, lexeme, begins);
        let bytes = self.firsts.facts.item(item);
        Ok((made, self.shapes.open(&bytes, lexeme, &self.lazies, begins.iter().copied())))
    }

    /// The shape of an item that is a lazy rule, or with which no lazy rule competes.
    fn closed(&mut self, item: &Item<'s>) -> Shape {
        if self.firsts.is_empty() {
            return Shape::EMPTY;
        }
        let bytes = self.firsts.facts.item(item);
        self.shapes.closed(&bytes)
    }

    /// Lowers a reference to a name. A rule is lowered to the version for the lazy rules that may begin where it begins
    /// and where it ends; the version is declared if it is new.
    ///
    /// # Errors
    /// `lark/rule-in-terminal` for a rule in a terminal.
    fn name(
        &mut self,
        name: Name<'s>,
        at: usize,
        in_terminal: bool,
        begins: &[u32],
        ends: &[u32],
    ) -> Result<Made> {
        // an undefined name is an error already
        let Some(&rule) = self.rules.get(&name) else { return Ok((ExprId::NEVER, Shape::EMPTY)) };
        if in_terminal && !name.is_terminal() {
            return Err(errors::rule_in_terminal(self.source, at, name.text));
        }
        if self.lazy_of.contains_key(&name) && !in_terminal {
            return Ok((self.lazy(name, begins)?, self.closed(&Item::Name(name))));
        }
        let place = self.places.get(&name).copied();
        let (Some((place, shape)), false) = (place, name.is_terminal()) else {
            let made = self.builder.rule(rule);
            if in_terminal {
                return Ok((made, Shape::EMPTY));
            }
            let item = Item::Name(name);
            let is_any = self.names.is_any_text(&item);
            let lexeme = if is_any { Lexeme::AnyText } else { Lexeme::Other };
            return self.lexeme(made, &item, &lexeme, begins);
        };
        if begins.is_empty() && ends.is_empty() {
            return Ok((self.builder.rule(rule), shape));
        }
        let key = (name, begins.to_vec(), ends.to_vec());
        let (version, shape) = match self.versions.get(&key) {
            Some(&version) => version,
            None => {
                let version = (self.builder.declare(name.text), self.shapes.rule());
                self.open.push((place, version.0, version.1, key.1.clone(), key.2.clone()));
                self.versions.insert(key, version);
                version
            }
        };
        Ok((self.builder.rule(version), shape))
    }

    /// Checks that no lazy rule may begin where a nested grammar or a schema begins.
    ///
    /// # Errors
    /// `lark/lazy-ambiguous` if `begins` is not empty.
    fn check_alone(&self, at: usize, begins: &[u32]) -> Result<()> {
        match begins.first() {
            Some(&lazy) => Err(errors::lazy_ambiguous(self.source, at, self.lazy_name(lazy))),
            None => Ok(()),
        }
    }
}
