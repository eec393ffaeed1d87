//! Upper bounds on the length of completions that can be derived from a grammar alone.
//!
//! A length counts letters: a byte that is also a token counts one, and so does a token terminal. So a bound in letters
//! is also a bound in tokens. The bound is [`UNBOUNDED`] where a needed byte or terminal is not a letter, where the
//! lengths of rules are not found within [`PASSES`] passes, and where the shortest completion depends on the text read
//! so far: within intersections and complements, in parts bounded in tokens, in members with conditions or with a `min`
//! above 1 and above the number of required keys, where several names of members may have to differ, and in lists of
//! different items (words of lists with a `min` of 0 or 1 have a bound).

use super::components::components;
use super::endless_names::{EndlessNames, endless_names};
use super::letters::{Letters, UNBOUNDED, of_graph, times};
use super::{ExprId, Expression, Grammar, Members};
use rustc_hash::FxHashMap;

/// How often the lengths of rules are improved, at most. Lengths start at [`UNBOUNDED`], only fall, and are upper
/// bounds after each pass.
const PASSES: usize = 32;

/// The bounds of the expressions of a grammar.
#[derive(Clone, Debug)]
pub(crate) struct CompletionBounds {
    /// Per expression, by id, an upper bound on the letters of its shortest word without a name that must differ from
    /// others.
    pub(crate) words: Vec<u32>,
    /// For a text that stops, after any token, within a word of the grammar: an upper bound on the letters that
    /// complete the innermost expression that was open before that token.
    pub(crate) inside: u32,
    /// The letters that make any prefix of a name a new name, for the names that the grammar declares to be endless.
    pub(crate) names: EndlessNames,
}

impl CompletionBounds {
    /// `products` has the lengths in bytes of some words of intersections and complements.
    ///
    /// Takes at most [`PASSES`] passes over the grammar for `words`. For `inside`, visits each expression once, or
    /// three times if it is in a cycle of rules.
    pub(crate) fn new(
        grammar: &Grammar,
        letters: &Letters,
        products: &FxHashMap<ExprId, u32>,
    ) -> CompletionBounds {
        let words = |unnamed: Option<&[u32]>| words((grammar, products), letters, unnamed);
        let unnamed = words(None);
        let words = words(Some(&unnamed));
        let root = grammar.rule(grammar.root()).body;
        let groups = components(grammar, root);
        let reached: Vec<ExprId> = groups.iter().flatten().copied().collect();
        let named = named(grammar, &groups);
        let known = vec![0; words.len()];
        let known = Inside { grammar, letters, words: &words, unnamed: &unnamed, named, known }.of(groups);
        let names = endless_names(grammar, &reached, letters, (&words, &known));
        let inside = known[root.index()].max(words[root.index()]);
        CompletionBounds { words: unnamed, inside, names }
    }
}

/// The bounds of the shortest words of all expressions: without names that must differ, or if these bounds are given as
/// `unnamed`, with at most one such name.
fn words(
    (grammar, products): (&Grammar, &FxHashMap<ExprId, u32>),
    letters: &Letters,
    unnamed: Option<&[u32]>,
) -> Vec<u32> {
    let mut rules = vec![UNBOUNDED; grammar.rules().len()];
    let mut words = Vec::new();
    for _ in 0..PASSES {
        words = pass((grammar, products), &rules, letters, unnamed);
        let after: Vec<u32> = grammar.rules().iter().map(|rule| words[rule.body.index()]).collect();
        if after == rules {
            break;
        }
        rules = after;
    }
    words
}

/// Computes the lengths of all expressions, given the lengths of the rules. One loop suffices, since operands have
/// smaller ids than the expressions that contain them.
fn pass(
    (grammar, products): (&Grammar, &FxHashMap<ExprId, u32>),
    rules: &[u32],
    letters: &Letters,
    unnamed: Option<&[u32]>,
) -> Vec<u32> {
    let needs_name = |id: &ExprId| unnamed.is_some_and(|unnamed| unnamed[id.index()] == UNBOUNDED);
    let mut words: Vec<u32> = Vec::with_capacity(grammar.expressions().len());
    for (place, expression) in grammar.expressions().iter().enumerate() {
        let of = |id: &ExprId| words[id.index()];
        words.push(match expression {
            Expression::Empty => 0,
            Expression::Never | Expression::MaxTokens { .. } => UNBOUNDED,
            Expression::Complement(_) | Expression::Intersection(_) => {
                let id = ExprId::new(place);
                id.and_then(|id| products.get(&id)).copied().unwrap_or(UNBOUNDED)
            }
            Expression::Token(_) => ExprId::new(place).map_or(UNBOUNDED, |id| letters.of_terminal(id)),
            Expression::Bytes(bytes) => letters.of_bytes(bytes),
            Expression::ByteSet(set) => {
                set.ranges().map(|(low, high)| letters.of_range(low, high)).min().unwrap_or(UNBOUNDED)
            }
            Expression::Class(class) => letters.of_class(class).0,
            // two names may have to differ
            Expression::Sequence(list) if list.iter().filter(|part| needs_name(part)).count() > 1 => {
                UNBOUNDED
            }
            Expression::Repeat { body, min: 2.., .. } if needs_name(body) => UNBOUNDED,
            Expression::Name(..) if unnamed.is_none() => UNBOUNDED,
            Expression::Sequence(list) => list.iter().map(of).fold(0, u32::saturating_add),
            Expression::Choice(list) => list.iter().map(of).min().unwrap_or(UNBOUNDED),
            Expression::Repeat { body, min, .. } => times(*min, of(body)),
            Expression::Rule(rule) => rules[rule.index()],
            Expression::Label(_, body) | Expression::Name(body, _) => of(body),
            Expression::Distinct(list) => match (list.min, list.items.first()) {
                (0, _) => 0,
                (1, Some(item)) => of(item),
                _ => UNBOUNDED,
            },
            Expression::WordGraph(graph) => of_graph(graph, of, letters)[0],
            Expression::Members(list) => MemberLengths::new(list, of, letters).list(),
        });
    }
    words
}

/// Bounds in letters on the members of a list.
struct MemberLengths<'a> {
    list: &'a Members,
    /// The sum of the shortest member of each required key, each plus a separator.
    required: u32,
    separator: u32,
    /// The length of the shortest member, `rest` and `ones` included.
    any: u32,
    longest: u32,
}

impl<'a> MemberLengths<'a> {
    fn new(list: &'a Members, of: impl Fn(&ExprId) -> u32, letters: &Letters) -> MemberLengths<'a> {
        let separator = of(&list.separator);
        let others = || list.rest.iter().chain(&list.ones).map(&of);
        let (mut required, mut any) = (0u32, others().min().unwrap_or(UNBOUNDED));
        let mut longest = others().max().unwrap_or(0);
        for group in list.members.chunk_by(|one, other| one.key == other.key) {
            let length =
                |member: &super::Member| of(&member.value).saturating_add(letters.of_bytes(&member.key));
            let least = group.iter().map(length).min().unwrap_or(UNBOUNDED);
            any = any.min(least);
            longest = longest.max(group.iter().map(length).max().unwrap_or(0));
            if group.iter().any(|member| member.required) {
                required = required.saturating_add(least).saturating_add(separator);
            }
        }
        MemberLengths { list, required, separator, any, longest }
    }

    /// Whether the list needs only its required members, or one member if `min` is 1 and none is required: it has no
    /// conditions, and `min` is at most 1 or at most the number of required keys.
    fn is_plain(&self) -> bool {
        let count = self.list.members.chunk_by(|one, other| one.key == other.key);
        let count = count.filter(|group| group.iter().any(|member| member.required)).count();
        self.list.conditions.is_empty() && self.list.min as usize <= count.max(1)
    }

    fn list(&self) -> u32 {
        match (self.is_plain(), self.list.min, self.required) {
            (false, ..) => UNBOUNDED,
            (true, 0, 0) => 0,
            (true, _, 0) => self.any,
            (true, _, required) => required,
        }
    }
}

/// Computes an upper bound on the letters that complete a text which stops within a word of the grammar.
struct Inside<'a> {
    grammar: &'a Grammar,
    letters: &'a Letters,
    /// The bounds of words with at most one name, and without names that must differ.
    words: &'a [u32],
    unnamed: &'a [u32],
    /// Per expression, whether it contains names that must differ.
    named: Vec<bool>,
    /// Per expression, the bound from within it; 0 until it is computed.
    known: Vec<u32>,
}

impl Inside<'_> {
    /// Visits groups of mutually recursive expressions as [`components`] returns them, and returns the bounds.
    fn of(mut self, groups: Vec<Vec<ExprId>>) -> Vec<u32> {
        for group in groups {
            match &group[..] {
                &[only] if !self.uses(only, only) => self.known[only.index()] = self.within(only),
                group => self.settle(group),
            }
        }
        self.known
    }

    fn uses(&self, id: ExprId, other: ExprId) -> bool {
        matches!(self.grammar.expression(id), Expression::Rule(rule) if self.grammar.rule(*rule).body == other)
    }

    /// Bounds a group of mutually recursive expressions. Each level of recursion adds the letters that a rule requires
    /// after an inner rule, and each byte of a token opens each of the rules at most once.
    fn settle(&mut self, group: &[ExprId]) {
        const FAR: u32 = 1 << 30;
        let rules: Vec<ExprId> = group
            .iter()
            .copied()
            .filter(|&id| match self.grammar.expression(id) {
                Expression::Rule(rule) => group.binary_search(&self.grammar.rule(*rule).body).is_ok(),
                _ => false,
            })
            .collect();
        let body = |id: ExprId| match self.grammar.expression(id) {
            Expression::Rule(rule) => self.grammar.rule(*rule).body,
            _ => id,
        };
        let mut bodies: Vec<ExprId> = rules.iter().map(|&id| body(id)).collect();
        bodies.sort_unstable();
        bodies.dedup();
        self.with_rules(group, &rules, 0);
        let base = bodies.iter().map(|id| self.known[id.index()]).max().unwrap_or(0);
        self.with_rules(group, &rules, FAR);
        let more = |id: &ExprId| self.known[id.index()].saturating_sub(FAR);
        let level = bodies.iter().map(more).fold(0, u32::saturating_add);
        let depth = self.letters.longest.saturating_add(1);
        let inside = if base >= FAR { UNBOUNDED } else { base.saturating_add(level.saturating_mul(depth)) };
        self.with_rules(group, &rules, inside);
    }

    /// Computes `known` for the expressions of a group. `rules` are its references to rules of the group; they get the
    /// bound `inside`.
    fn with_rules(&mut self, group: &[ExprId], rules: &[ExprId], inside: u32) {
        for &id in group {
            self.known[id.index()] = if rules.binary_search(&id).is_ok() { inside } else { self.within(id) };
        }
    }

    fn within(&self, id: ExprId) -> u32 {
        let inside = |id: &ExprId| self.known[id.index()];
        let word = |id: &ExprId| self.words[id.index()];
        match self.grammar.expression(id) {
            Expression::Empty | Expression::Never | Expression::ByteSet(_) | Expression::Token(_) => 0,
            Expression::Complement(_) | Expression::Intersection(_) | Expression::MaxTokens { .. } => {
                UNBOUNDED
            }
            Expression::Bytes(bytes) => {
                self.letters.of_bytes(bytes).saturating_sub(u32::from(self.words[id.index()] != UNBOUNDED))
            }
            Expression::Class(class) => self.letters.of_class(class).1,
            Expression::Sequence(list) => {
                let (mut most, mut after, mut unnamed) = (0u32, 0u32, 0u32);
                for part in list.iter().rev() {
                    // a name after a part with names may have to differ from them
                    let is_alike = self.named[part.index()] && unnamed == UNBOUNDED;
                    let inside = if is_alike { UNBOUNDED } else { inside(part) };
                    most = most.max(after).max(inside.saturating_add(after));
                    after = after.saturating_add(word(part));
                    unnamed = unnamed.saturating_add(self.unnamed[part.index()]);
                }
                most
            }
            Expression::Choice(list) => list.iter().map(inside).max().unwrap_or(0),
            Expression::Repeat { max: Some(0), .. } => 0,
            Expression::Repeat { body, min: 2.., .. } if self.unnamed[body.index()] == UNBOUNDED => UNBOUNDED,
            Expression::Repeat { body, min, .. } => {
                inside(body).saturating_add(times(min.saturating_sub(1), word(body)))
            }
            Expression::Rule(rule) => self.known[self.grammar.rule(*rule).body.index()],
            Expression::Label(_, body) | Expression::Name(body, _) => inside(body),
            Expression::Distinct(list) => match (list.min, list.max, &list.items[..]) {
                (0 | 1, Some(0 | 1), [item, ..]) => inside(item),
                _ => UNBOUNDED,
            },
            Expression::WordGraph(graph) => {
                let nodes = of_graph(graph, word, self.letters).into_iter().max().unwrap_or(0);
                let exits = graph.exits().iter().map(|exit| inside(exit).max(word(exit))).max().unwrap_or(0);
                nodes.max(exits)
            }
            Expression::Members(list) => self.of_members(list),
        }
    }

    fn of_members(&self, list: &Members) -> u32 {
        let (inside, word) = (|id: &ExprId| self.known[id.index()], |id: &ExprId| self.words[id.index()]);
        let lengths = MemberLengths::new(list, word, self.letters);
        if !lengths.is_plain() {
            return UNBOUNDED;
        }
        let values = list.members.iter().map(|member| inside(&member.value));
        let others = list.rest.iter().chain(&list.ones).map(inside);
        // a member must follow a separator; it may be the longest one
        let open = values.chain(others).max().unwrap_or(0).max(lengths.longest);
        let separator = inside(&list.separator).max(lengths.separator);
        open.saturating_add(separator).saturating_add(lengths.required)
    }
}

/// Per expression, whether it contains names that must differ. `groups` has mutually recursive expressions, each group
/// after the groups that it uses.
fn named(grammar: &Grammar, groups: &[Vec<ExprId>]) -> Vec<bool> {
    let mut named = vec![false; grammar.expressions().len()];
    for group in groups {
        let holds = group.iter().any(|&id| match grammar.expression(id) {
            Expression::Name(..) => true,
            Expression::Rule(rule) => named[grammar.rule(*rule).body.index()],
            expression => expression.children().any(|child| named[child.index()]),
        });
        group.iter().for_each(|id| named[id.index()] = holds);
    }
    named
}
