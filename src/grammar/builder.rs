//! The builder: the only way to make a [`Grammar`].

use super::class::{ByteSet, CharClass};
use super::conditions;
use super::errors;
use super::expression::{Distinct, Expression, FreeText, Member, Members, Names, Operands, Order, Text};
use super::groups::Groups;
use super::ids::{ExprId, LabelId, RuleId};
use super::token_terminal::TokenTerminal;
use super::word_graph::WordGraph;
use super::{Grammar, Labels, Rule, Tables, verify};
use crate::error::Result;
use crate::limits::{LimitKind, Limits};
use crate::work::Budget;
use fixedbitset::FixedBitSet;
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};
use smallvec::SmallVec;
use std::hash::BuildHasher;
use std::sync::Arc;

/// Builds a [`Grammar`] bottom-up. Equal expressions get equal ids. Only [`build`](GrammarBuilder::build) returns an
/// error: the first one of all calls, such as an exceeded limit. So front ends read like the grammars that they build.
///
/// ```
/// use grammata::grammar::GrammarBuilder;
///
/// let mut g = GrammarBuilder::new();
/// let digit = g.class([('0', '9')]);
/// let year = g.repeat(digit, 4, Some(4));
/// let root = g.declare("root");
/// g.define(root, year);
/// assert_eq!(g.build(root)?.to_string(), "root ::= [0-9]{4}\n");
/// # Ok::<(), grammata::Error>(())
/// ```
pub struct GrammarBuilder {
    expressions: Vec<Expression>,
    /// Expression ids with the 32-bit hashes of their expressions.
    ids: HashTable<(u32, ExprId)>,
    rules: Vec<(Box<str>, Option<ExprId>)>,
    labels: Labels,
    limits: Limits,
    /// The budget for the work of compiling this grammar.
    work: Budget,
    error: Option<crate::Error>,
    /// The texts built so far.
    pub(super) texts: FxHashMap<FreeText, ExprId>,
    groups: Groups,
}

impl Default for GrammarBuilder {
    fn default() -> GrammarBuilder {
        GrammarBuilder::new()
    }
}

impl GrammarBuilder {
    /// A builder with the default [`Limits`].
    pub fn new() -> GrammarBuilder {
        GrammarBuilder::with_limits(Limits::default())
    }

    /// A builder with the given limits: `grammar_nodes` bounds the number of expressions, rules and labels together,
    /// the length of each list of members or tokens, and the number of nodes of each word graph. `condition_search`
    /// bounds the check of conditions on members.
    pub fn with_limits(limits: Limits) -> GrammarBuilder {
        let mut builder = GrammarBuilder {
            expressions: Vec::with_capacity(128),
            ids: HashTable::with_capacity(128),
            rules: Vec::new(),
            labels: Labels::default(),
            work: Budget::of_compilation(&limits, 0),
            limits,
            error: None,
            texts: FxHashMap::default(),
            groups: Groups::default(),
        };
        builder.intern(Expression::Empty);
        builder.intern(Expression::Never);
        builder
    }

    /// The limits that this builder enforces.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// The budget for the work of front ends on this grammar.
    pub(crate) fn work(&self) -> &Budget {
        &self.work
    }

    /// The first error so far, if any. Front ends that loop over large inputs can stop early.
    pub fn error(&self) -> Option<&crate::Error> {
        self.error.as_ref()
    }

    /// The number of expressions so far, including the empty and the impossible one with which every builder starts.
    pub fn len(&self) -> usize {
        self.expressions.len()
    }

    /// Whether no expression and no rule was added since the builder was created.
    pub fn is_empty(&self) -> bool {
        self.expressions.len() <= 2 && self.rules.is_empty()
    }

    /// The expression of an id of this builder. Panics if no expression has this id.
    pub fn expression(&self, id: ExprId) -> &Expression {
        &self.expressions[id.index()]
    }

    /// The ids of an expression and of all its operands, operands first, without the bodies of rules.
    pub(crate) fn within(&self, root: ExprId) -> Vec<ExprId> {
        let mut reached = FxHashSet::default();
        let mut open = vec![root];
        while let Some(id) = open.pop() {
            if reached.insert(id) {
                open.extend(self.expression(id).children());
            }
        }
        let mut order: Vec<ExprId> = reached.into_iter().collect();
        order.sort_unstable();
        order
    }

    pub(super) fn fail(&mut self, error: crate::Error) {
        self.error.get_or_insert(error);
    }

    pub(super) fn intern(&mut self, expression: Expression) -> ExprId {
        let full = FxBuildHasher.hash_one(&expression);
        let hash = (full >> 32) as u32 ^ full as u32;
        // the hash table uses the high and the low bits of a hash
        let spread = |hash: u32| u64::from(hash) << 32 | u64::from(hash);
        let expressions = &self.expressions;
        let same = |&(known, id): &(u32, ExprId)| known == hash && expressions[id.index()] == expression;
        let vacant = match self.ids.entry(spread(hash), same, |&(hash, _)| spread(hash)) {
            Entry::Occupied(known) => return known.get().1,
            Entry::Vacant(vacant) => vacant,
        };
        let used = expressions.len() + self.rules.len() + self.labels.len();
        // these two exist under any limit, because `never` replaces the expressions above a limit
        let allowed = used < self.limits.grammar_nodes || expressions.len() < 2;
        match ExprId::new(expressions.len()) {
            Some(id) if allowed => {
                vacant.insert((hash, id));
                self.expressions.push(expression);
                id
            }
            _ => {
                let limit = self.limits.grammar_nodes;
                self.fail(Limits::exceeded(LimitKind::GrammarNodes, limit, "more expressions"));
                self.never()
            }
        }
    }

    /// The language of the empty string alone.
    pub fn empty(&mut self) -> ExprId {
        ExprId::EMPTY
    }

    /// The empty language: no string at all.
    pub fn never(&mut self) -> ExprId {
        ExprId::NEVER
    }

    /// The language of one byte string, which may be empty.
    pub fn bytes(&mut self, bytes: impl AsRef<[u8]>) -> ExprId {
        match bytes.as_ref() {
            [] => self.empty(),
            bytes => self.intern(Expression::Bytes(Text::from_slice(bytes))),
        }
    }

    /// The language of one text in UTF-8, which may be empty.
    pub fn text(&mut self, text: impl AsRef<str>) -> ExprId {
        self.bytes(text.as_ref().as_bytes())
    }

    /// One byte of a set; the empty language if the set is empty.
    pub fn byte_set(&mut self, set: ByteSet) -> ExprId {
        if set.is_empty() { self.never() } else { self.intern(Expression::ByteSet(set)) }
    }

    /// One character, in UTF-8, in any of the ranges (both ends included); the empty language if there is none.
    pub fn class(&mut self, ranges: impl IntoIterator<Item = (char, char)>) -> ExprId {
        self.char_class(CharClass::new(ranges))
    }

    /// One character of a set, in UTF-8; the empty language if the set is empty.
    pub fn char_class(&mut self, class: CharClass) -> ExprId {
        match class.ranges() {
            [] => self.never(),
            &[(low, high)] if low == high => self.text(low.encode_utf8(&mut [0; 4])),
            _ => self.intern(Expression::Class(class)),
        }
    }

    /// One token of a set, by its id. An empty set, and more than `grammar_nodes` names and ranges, are an error.
    pub fn token(&mut self, terminal: TokenTerminal) -> ExprId {
        if terminal.is_empty() {
            self.fail(errors::empty_token_terminal());
            return self.never();
        }
        if terminal.listed().len() > self.limits.grammar_nodes {
            let found = format!("{} tokens in a list", terminal.listed().len());
            self.fail(Limits::exceeded(LimitKind::GrammarNodes, self.limits.grammar_nodes, found));
            return self.never();
        }
        self.intern(Expression::Token(Box::new(terminal)))
    }

    /// The concatenation of `parts`; the empty string if there are none. Adjacent byte strings are joined.
    pub fn sequence(&mut self, parts: impl IntoIterator<Item = ExprId>) -> ExprId {
        let mut list: SmallVec<[ExprId; 16]> = SmallVec::new();
        // a run of byte strings, joined once at its end: joining pair by pair would be quadratic
        let mut run: SmallVec<[u8; 32]> = SmallVec::new();
        for part in parts {
            match &self.expressions[part.index()] {
                Expression::Never => return part,
                Expression::Empty => {}
                Expression::Bytes(bytes) => run.extend_from_slice(bytes),
                _ => {
                    if !run.is_empty() {
                        list.push(self.bytes(&run));
                        run.clear();
                    }
                    list.push(part);
                }
            }
        }
        if !run.is_empty() {
            list.push(self.bytes(&run));
        }
        match list[..] {
            [] => self.empty(),
            [one] => one,
            _ => self.intern(Expression::Sequence(Operands::from_slice(&list))),
        }
    }

    /// The union of `alternatives`; the empty language if there are none.
    pub fn choice(&mut self, alternatives: impl IntoIterator<Item = ExprId>) -> ExprId {
        let never = self.never();
        let mut list: SmallVec<[ExprId; 16]> = SmallVec::new();
        // the elements of a list too long for inline storage, to find duplicates
        let mut seen = rustc_hash::FxHashSet::default();
        for id in alternatives.into_iter().filter(|&id| id != never) {
            if list.spilled() && seen.is_empty() {
                seen.extend(list.iter().copied());
            }
            let is_new = if list.spilled() { seen.insert(id) } else { !list.contains(&id) };
            if is_new {
                list.push(id);
            }
        }
        match list[..] {
            [] => never,
            [one] => one,
            _ => self.intern(Expression::Choice(Operands::from_slice(&list))),
        }
    }

    /// `body` at least `min` and at most `max` times; `None` means unbounded. Crossed bounds are an error.
    pub fn repeat(&mut self, body: ExprId, min: u32, max: Option<u32>) -> ExprId {
        if max.is_some_and(|max| max < min) {
            self.fail(errors::crossed_bounds(min, max.unwrap_or(0)));
            return self.never();
        }
        match (&self.expressions[body.index()], min, max) {
            (Expression::Empty, _, _) | (_, _, Some(0)) | (Expression::Never, 0, _) => self.empty(),
            (_, 1, Some(1)) | (Expression::Never, _, _) => body,
            _ => self.intern(Expression::Repeat { body, min, max }),
        }
    }

    /// `body` or the empty string.
    pub fn optional(&mut self, body: ExprId) -> ExprId {
        self.repeat(body, 0, Some(1))
    }

    /// `body` any number of times, zero included.
    pub fn star(&mut self, body: ExprId) -> ExprId {
        self.repeat(body, 0, None)
    }

    /// `body` once or more.
    pub fn plus(&mut self, body: ExprId) -> ExprId {
        self.repeat(body, 1, None)
    }

    /// `body` `min` to `max` times (`None`: unbounded), with `separator` between two. Crossed bounds are an error.
    pub fn separated(&mut self, body: ExprId, separator: ExprId, min: u32, max: Option<u32>) -> ExprId {
        if max.is_some_and(|max| max < min) {
            self.fail(errors::crossed_bounds(min, max.unwrap_or(0)));
            return self.never();
        }
        if max == Some(0) {
            return self.empty();
        }
        let next = self.sequence([separator, body]);
        let more = self.repeat(next, min.saturating_sub(1), max.map(|max| max - 1));
        let list = self.sequence([body, more]);
        if min == 0 { self.optional(list) } else { list }
    }

    /// Keyed members, each at most once, and further ones by `rest`, without conditions or bounds; see [`Members`].
    pub fn members(
        &mut self,
        order: Order,
        members: impl IntoIterator<Item = Member>,
        rest: Option<ExprId>,
        separator: ExprId,
    ) -> ExprId {
        let members = members.into_iter().collect();
        let (ones, conditions) = Default::default();
        self.member_list(Members { order, members, rest, ones, conditions, separator, min: 0, max: None })
    }

    /// Keyed members with all fields of [`Members`]; [`never`](Self::never) if no list has `min` to `max` members, or
    /// only the empty list and it violates the conditions. Errors: more than `grammar_nodes` members; conditions that
    /// `condition_search` does not suffice to check.
    pub fn member_list(&mut self, list: Members) -> ExprId {
        let Members { order, members, rest, ones, conditions, separator, min, max } = list;
        if members.len() > self.limits.grammar_nodes {
            let limit = self.limits.grammar_nodes;
            self.fail(Limits::exceeded(LimitKind::GrammarNodes, limit, format!("{} members", members.len())));
            return self.never();
        }
        let never = self.never();
        let rest = rest.filter(|&rest| rest != never);
        let keys = || members.iter().enumerate().filter(|&(at, m)| at == 0 || members[at - 1].key != m.key);
        let required = keys().filter(|(_, member)| member.required).count();
        let listed = keys().count() + ones.len();
        let most = if rest.is_some() { usize::MAX } else { listed };
        let too_few =
            most < min as usize || max.is_some_and(|max| (max as usize) < required.max(min as usize));
        if too_few {
            return never;
        }
        let none = FixedBitSet::new();
        if max == Some(0) || most == 0 {
            return if conditions::hold(&conditions, &none) { self.empty() } else { never };
        }
        // drop bounds that follow from the numbers of required and of listed members
        let min = if min as usize <= required { 0 } else { min };
        let max = max.filter(|&max| (max as usize) < most);
        let list = Members { order, members, rest, ones, conditions, separator, min, max };
        if let Err(error) = list.check_conditions(&self.limits) {
            self.fail(error);
        }
        self.intern(Expression::Members(Box::new(list)))
    }

    /// A list of pairwise different items; see [`Distinct`]. If `items` is empty, or the first item is the empty
    /// language and `min` is above 0, the result is [`never`](Self::never). Crossed bounds are an error.
    pub fn distinct(&mut self, list: Distinct) -> ExprId {
        let Distinct { ref items, separator, min, max, .. } = list;
        let Some(&item) = items.first() else { return self.never() };
        if max.is_some_and(|max| max < min) {
            self.fail(errors::crossed_bounds(min, max.unwrap_or(0)));
            return self.never();
        }
        if max.is_none_or(|max| max > 1) {
            return match self.expressions[item.index()] {
                Expression::Never if min == 0 => self.empty(),
                Expression::Never => item,
                _ => self.intern(Expression::Distinct(Box::new(list))),
            };
        }
        // a list of at most one item has no two equal items
        self.separated(item, separator, min, max)
    }

    /// The words along the paths of a graph of bytes; see [`WordGraph`]. A graph that is not
    /// [sound](WordGraph::is_sound), or has more nodes than the limit `grammar_nodes`, is an error.
    pub fn word_graph(&mut self, graph: WordGraph) -> ExprId {
        if !graph.is_sound() {
            self.fail(errors::unsound_word_graph());
            return self.never();
        }
        self.sound_word_graph(graph)
    }

    /// The words of a graph that the caller knows to be sound; only debug builds check it. Too many nodes are an error.
    pub(crate) fn sound_word_graph(&mut self, graph: WordGraph) -> ExprId {
        debug_assert!(graph.is_sound(), "{graph:?}");
        if graph.len() > self.limits.grammar_nodes {
            let limit = self.limits.grammar_nodes;
            let found = format!("a graph of {} nodes", graph.len());
            self.fail(Limits::exceeded(LimitKind::GrammarNodes, limit, found));
            return self.never();
        }
        self.intern(Expression::WordGraph(Box::new(graph)))
    }

    /// The strings in all operands; all byte strings if there are none.
    pub fn intersection(&mut self, operands: impl IntoIterator<Item = ExprId>) -> ExprId {
        let mut list: Vec<ExprId> = operands.into_iter().collect();
        list.sort_unstable();
        list.dedup();
        match list[..] {
            [] => {
                let never = self.never();
                self.intern(Expression::Complement(never))
            }
            [one] => one,
            _ => self.intern(Expression::Intersection(list.into())),
        }
    }

    /// The words of `part` that are UTF-8 text of at most `most` characters. As in other intersections, `part` must not
    /// contain token terminals, names of objects, lists of different items, parts bounded in tokens, or itself.
    pub fn max_chars(&mut self, part: ExprId, most: u32) -> ExprId {
        let any = self.char_class(CharClass::any());
        let short = self.repeat(any, 0, Some(most));
        self.intersection([part, short])
    }

    /// The words of `part` of at most `most` bytes. `part` must not contain what
    /// [`max_chars`](GrammarBuilder::max_chars) excludes.
    pub fn max_bytes(&mut self, part: ExprId, most: u32) -> ExprId {
        let any = self.byte_set(ByteSet::range(0, u8::MAX));
        let short = self.repeat(any, 0, Some(most));
        self.intersection([part, short])
    }

    /// The words of `part` during which at most `most` tokens begin. The matcher enforces this bound, since it depends
    /// on where tokens begin. A token counts for the part in which it begins. A token that only ends in the part does
    /// not count; a token that begins in the part and ends after it counts. In an ambiguous grammar the bound applies
    /// to each reading: a text is allowed if one of its readings is.
    ///
    /// A part contains no other part, no names of objects and no lists of different items, and is contained in no name,
    /// in no list of different items, in no object whose names must differ, and in no intersection or complement.
    /// Compilation refuses other grammars, and a part not known to fit into its bound. A bound of 0 is an error.
    pub fn max_tokens(&mut self, part: ExprId, most: u32) -> ExprId {
        if most == 0 {
            self.fail(errors::no_tokens_for_part());
            return self.never();
        }
        let body = match self.expressions[part.index()] {
            Expression::Never => return part,
            Expression::Rule(_) => part,
            _ => {
                let rule = self.declare("part");
                self.define(rule, part);
                self.rule(rule)
            }
        };
        self.intern(Expression::MaxTokens { body, most })
    }

    /// All byte strings that are not in `operand`, including those that are not UTF-8. Intersect it with the strings
    /// that are allowed, for instance with UTF-8 text.
    pub fn complement(&mut self, operand: ExprId) -> ExprId {
        self.intern(Expression::Complement(operand))
    }

    /// The language of `body`. Errors in it are reported under `label`.
    pub fn label(&mut self, label: impl AsRef<str>, body: ExprId) -> ExprId {
        self.label_of(&[label.as_ref()], body)
    }

    /// The language of `body`. Errors in it are reported under a label, the concatenation of `parts`.
    pub(crate) fn label_of(&mut self, parts: &[&str], body: ExprId) -> ExprId {
        let Some(id) = LabelId::new(self.labels.len()) else { return body };
        self.labels.push(parts);
        self.intern(Expression::Label(id, body))
    }

    /// The name of a member of a JSON object, quotes included, that differs from all other names in that object; see
    /// [`Names`].
    pub fn name(&mut self, body: ExprId, names: Names) -> ExprId {
        if body == self.never() { body } else { self.intern(Expression::Name(body, names)) }
    }

    /// Declares a rule, which must be [defined](GrammarBuilder::define) before [`build`](GrammarBuilder::build).
    /// Several rules may have the same name. After an exceeded limit, returns the id of the first rule.
    pub fn declare(&mut self, name: impl Into<Box<str>>) -> RuleId {
        let used = self.expressions.len() + self.rules.len() + self.labels.len();
        match RuleId::new(self.rules.len()) {
            Some(id) if used < self.limits.grammar_nodes => {
                self.rules.push((name.into(), None));
                id
            }
            _ => {
                let limit = self.limits.grammar_nodes;
                self.fail(Limits::exceeded(LimitKind::GrammarNodes, limit, "more rules"));
                if self.rules.is_empty() {
                    self.rules.push((name.into(), None));
                }
                RuleId::new(0).unwrap_or_else(|| unreachable!("zero fits"))
            }
        }
    }

    /// Gives a rule its body. A second definition replaces the first. Panics if the builder has no rule with this id.
    pub fn define(&mut self, rule: RuleId, body: ExprId) {
        self.rules[rule.index()].1 = Some(body);
    }

    /// Whether the rule has a body: false until its definition. Panics if the builder has no rule with this id.
    pub fn is_defined(&self, rule: RuleId) -> bool {
        self.body(rule).is_some()
    }

    /// The body of a rule; `None` if the rule is not defined yet.
    pub(crate) fn body(&self, rule: RuleId) -> Option<ExprId> {
        self.rules[rule.index()].1
    }

    /// The name of a rule. Panics if the builder has no rule with this id.
    pub(crate) fn rule_name(&self, rule: RuleId) -> &str {
        &self.rules[rule.index()].0
    }

    /// The groups of rules that were imported.
    pub(super) fn groups(&mut self) -> &mut Groups {
        &mut self.groups
    }

    /// A reference to a rule, which may be defined later.
    pub fn rule(&mut self, rule: RuleId) -> ExprId {
        self.intern(Expression::Rule(rule))
    }

    /// Builds and verifies the grammar with the given root.
    ///
    /// # Errors
    /// The first error of the builder, such as `limit/exceeded`; `grammar/undefined-rule`; or `grammar/invariant`,
    /// which names the first invariant of [`verify`] that was found not to hold.
    pub fn build(self, root: RuleId) -> Result<Grammar> {
        if let Some(error) = self.error {
            return Err(error);
        }
        let rules = self.rules.into_iter().map(|(name, body)| match body {
            Some(body) => Ok(Rule { name, body }),
            None => Err(errors::undefined_rule(&name)),
        });
        let rules = rules.collect::<Result<Vec<Rule>>>()?;
        let (mut expressions, labels) = (self.expressions, self.labels);
        expressions.shrink_to_fit();
        let grammar = Grammar { tables: Arc::new(Tables { expressions, rules, labels }), root };
        verify::verify(&grammar, false)?;
        Ok(grammar)
    }
}
