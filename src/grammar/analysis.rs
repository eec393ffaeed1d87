//! Which expressions are productive and which are nullable: least fixed points, in time linear in the grammar for
//! grammars without conditions on members.
//!
//! A property holds for an expression once it holds for enough of its operands; a worklist propagates it to the
//! expressions that use the expression (the counting algorithm for Horn clauses, Dowling and Gallier 1984).

use super::Grammar;
use super::conditions;
use super::expression::Expression;
use super::ids::ExprId;
use fixedbitset::FixedBitSet;
use smallvec::SmallVec;

/// A property that an [`Analysis`] computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Property {
    /// The language of the expression is not empty.
    Productive,
    /// The empty string is in the language of the expression.
    Nullable,
}

/// A property of every expression of a grammar.
///
/// The property of an intersection or a complement does not follow from its operands. The property does not hold for
/// them until [`set`](Analysis::set); [`productive_if`](Analysis::productive_if) sets all of them.
#[derive(Clone, Debug)]
pub struct Analysis {
    property: Property,
    holds: Vec<bool>,
    /// Per expression, the weight of operands for which the property must still begin to hold; [`NEVER`] if no weight
    /// is enough, and only `set` or the search among `searched` can make the property hold. Empty if `in_few_passes`
    /// computed the result; `first` is then empty, too.
    missing: Vec<u64>,
    /// The users of expression `e`, each with the weight of `e` in it: `users[first[e]..first[e + 1]]`.
    first: Vec<u32>,
    users: Vec<(ExprId, u64)>,
    queue: Vec<ExprId>,
    /// Conditional lists of members; they are examined again whenever the property holds for more expressions.
    searched: Vec<ExprId>,
}

const NEVER: u64 = u64::MAX;

impl Analysis {
    /// Computes `property` for all expressions of a grammar.
    pub fn new(grammar: &Grammar, property: Property) -> Analysis {
        match in_few_passes(grammar, property) {
            Some(holds) => {
                let (missing, first, users, queue, searched) = Default::default();
                Analysis { property, holds, missing, first, users, queue, searched }
            }
            None => Analysis::with_leaves(grammar, property, |_| true, |_| false),
        }
    }

    /// Computes which expressions are productive if the `excluded` ones are not. Intersections and complements are not
    /// productive until [`set`](Analysis::set).
    pub fn productive_without(grammar: &Grammar, excluded: impl Fn(ExprId) -> bool) -> Analysis {
        Analysis::with_leaves(grammar, Property::Productive, |_| true, excluded)
    }

    /// Computes which expressions are productive if, among byte strings, byte sets, classes and token terminals, only
    /// those admitted by `leaf` are. Intersections and complements are assumed to be productive.
    pub fn productive_if(grammar: &Grammar, leaf: impl Fn(&Expression) -> bool) -> Analysis {
        let mut analysis = Analysis::with_leaves(grammar, Property::Productive, leaf, |_| false);
        analysis.assume_locksteps(grammar);
        analysis
    }

    fn with_leaves(
        grammar: &Grammar,
        property: Property,
        leaf: impl Fn(&Expression) -> bool,
        excluded: impl Fn(ExprId) -> bool,
    ) -> Analysis {
        let count = grammar.expressions().len();
        let mut missing = Vec::with_capacity(count);
        let mut depends: Vec<(ExprId, ExprId, u64)> = Vec::new();
        let mut searched = Vec::new();
        for (index, expression) in grammar.expressions().iter().enumerate() {
            let Some(user) = ExprId::new(index) else { break };
            let before = depends.len();
            let on = |on, weight| depends.push((on, user, weight));
            let needs = needs(grammar, expression, property, &leaf, on);
            missing.push(match needs {
                _ if excluded(user) => NEVER,
                Needs::All => depends[before..].iter().map(|(.., weight)| weight).sum(),
                Needs::Weight(weight) => weight,
                Needs::Search => {
                    searched.push(user);
                    NEVER
                }
                Needs::Never => NEVER,
            });
        }
        let mut first = vec![0u32; count + 1];
        for (on, ..) in &depends {
            first[on.index() + 1] += 1;
        }
        for i in 0..count {
            first[i + 1] += first[i];
        }
        let mut next = first.clone();
        let mut users = vec![(ExprId::new(0).unwrap_or_else(|| unreachable!()), 0); depends.len()];
        for (on, user, weight) in depends {
            let place = &mut next[on.index()];
            users[*place as usize] = (user, weight);
            *place += 1;
        }
        let (holds, queue) = (vec![false; count], Vec::new());
        let mut analysis = Analysis { property, holds, missing, first, users, queue, searched };
        for index in 0..count {
            if analysis.missing[index] == 0 {
                analysis.holds[index] = true;
                analysis.queue.extend(ExprId::new(index));
            }
        }
        analysis.propagate(grammar);
        analysis
    }

    /// Whether the property holds of an expression, in constant time.
    pub fn holds(&self, id: ExprId) -> bool {
        self.holds[id.index()]
    }

    /// Makes the property hold of an expression, and of all expressions for which that suffices.
    pub fn set(&mut self, grammar: &Grammar, id: ExprId) {
        if !self.holds[id.index()] {
            if self.first.is_empty() {
                // `in_few_passes` has built no table of users: build it now
                *self = Analysis::with_leaves(grammar, self.property, |_| true, |_| false);
            }
            self.holds[id.index()] = true;
            self.queue.push(id);
            self.propagate(grammar);
        }
    }

    fn assume_locksteps(&mut self, grammar: &Grammar) {
        for (index, expression) in grammar.expressions().iter().enumerate() {
            if let (Expression::Intersection(_) | Expression::Complement(_), Some(id)) =
                (expression, ExprId::new(index))
            {
                self.set(grammar, id);
            }
        }
    }

    fn propagate(&mut self, grammar: &Grammar) {
        loop {
            self.propagate_weights();
            let holds = |id: ExprId| self.holds[id.index()];
            let new = |&id: &ExprId| !holds(id) && has_lists(grammar.expression(id), holds);
            let new: Vec<ExprId> = self.searched.iter().copied().filter(new).collect();
            if new.is_empty() {
                return;
            }
            new.iter().for_each(|id| self.holds[id.index()] = true);
            self.queue.extend(new);
        }
    }

    fn propagate_weights(&mut self) {
        while let Some(id) = self.queue.pop() {
            for place in self.first[id.index()]..self.first[id.index() + 1] {
                let (user, weight) = self.users[place as usize];
                let missing = &mut self.missing[user.index()];
                if *missing != NEVER && *missing > 0 {
                    *missing = missing.saturating_sub(weight);
                    if *missing == 0 && !self.holds[user.index()] {
                        self.holds[user.index()] = true;
                        self.queue.push(user);
                    }
                }
            }
        }
    }
}

/// Whether a list of members is productive, given which expressions are; false for expressions of other kinds.
fn has_lists(expression: &Expression, holds: impl Fn(ExprId) -> bool) -> bool {
    let Expression::Members(members) = expression else { return false };
    let further = (members.rest.is_some_and(&holds), holds(members.separator));
    let has_words = |entry: usize| match members.members.get(entry) {
        Some(member) => holds(member.value),
        None => members.ones.get(entry - members.members.len()).is_some_and(|&one| holds(one)),
    };
    members.has_lists(further, has_words)
}

/// Computes the fixed point by passes over the expressions in table order. Operands come first, so only references to
/// rules can require another pass. Returns `None` if four passes are not enough.
fn in_few_passes(grammar: &Grammar, property: Property) -> Option<Vec<bool>> {
    let mut holds = vec![false; grammar.expressions().len()];
    for _ in 0..4 {
        // the bodies of rules for which the property did not hold when a reference to the rule was examined
        let mut references: SmallVec<[ExprId; 32]> = SmallVec::new();
        for (index, expression) in grammar.expressions().iter().enumerate() {
            if holds[index] {
                continue;
            }
            let (mut all, mut held) = (0, 0);
            let on = |id: ExprId, weight| {
                all += weight;
                held += if holds[id.index()] { weight } else { 0 };
            };
            holds[index] = match expression {
                // the most frequent kinds need no weights
                Expression::Sequence(list) => list.iter().all(|id| holds[id.index()]),
                Expression::Choice(list) => list.iter().any(|id| holds[id.index()]),
                _ => match needs(grammar, expression, property, |_| true, on) {
                    Needs::All => held == all,
                    Needs::Weight(weight) => held >= weight,
                    Needs::Search => has_lists(expression, |id| holds[id.index()]),
                    Needs::Never => false,
                },
            };
            if let (Expression::Rule(rule), false) = (expression, holds[index]) {
                references.push(grammar.rule(*rule).body);
            }
        }
        if !references.iter().any(|body| holds[body.index()]) {
            return Some(holds);
        }
    }
    None
}

enum Needs {
    All,
    /// The property holds once it holds for operands of at least this total weight.
    Weight(u64),
    /// A search decides whether some list of members satisfies the conditions.
    Search,
    Never,
}

fn needs(
    grammar: &Grammar,
    expression: &Expression,
    property: Property,
    leaf: impl Fn(&Expression) -> bool,
    mut on: impl FnMut(ExprId, u64),
) -> Needs {
    let productive = property == Property::Productive;
    match expression {
        Expression::Empty => Needs::All,
        Expression::Bytes(_) | Expression::ByteSet(_) | Expression::Class(_) | Expression::Token(_)
            if productive && leaf(expression) =>
        {
            Needs::All
        }
        Expression::Bytes(_)
        | Expression::ByteSet(_)
        | Expression::Class(_)
        | Expression::Token(_)
        | Expression::Never => Needs::Never,
        Expression::Intersection(_) | Expression::Complement(_) => Needs::Never,
        Expression::Repeat { min: 0, .. } => Needs::All,
        Expression::Rule(rule) => {
            on(grammar.rule(*rule).body, 1);
            Needs::All
        }
        Expression::Choice(list) => {
            list.iter().for_each(|&id| on(id, 1));
            Needs::Weight(1)
        }
        // every exit of a sound graph is reachable
        Expression::WordGraph(graph) if productive => {
            graph.exits().iter().for_each(|&id| on(id, 1));
            Needs::Weight(1)
        }
        Expression::WordGraph(_) => Needs::Never,
        Expression::Sequence(_)
        | Expression::Repeat { .. }
        | Expression::Label(..)
        | Expression::MaxTokens { .. }
        | Expression::Name(..) => {
            expression.for_each_child(|id| on(id, 1));
            Needs::All
        }
        // a later search decides whether there are `min` different items
        Expression::Distinct(list) if list.min == 0 => Needs::All,
        Expression::Distinct(list) if productive => {
            list.items.iter().take(list.min as usize).for_each(|&item| on(item, 1));
            if list.min > 1 {
                on(list.separator, 1);
            }
            Needs::All
        }
        Expression::Distinct(_) => Needs::Never,
        Expression::Members(members) if productive && members.is_conditional() => Needs::Search,
        Expression::Members(members) if productive => {
            let required = members.members.iter().filter(|m| m.required).count();
            let optional = (members.members.len() - required) as u64;
            let required = required as u64;
            let further = u64::from(members.min).saturating_sub(required);
            // a required member outweighs all optional members and the rest together
            let whole = optional + 1 + further;
            for member in &members.members {
                on(member.value, if member.required { whole } else { 1 });
            }
            let mut needed = whole * required + further;
            if required + further > 1 {
                on(members.separator, whole);
                needed += whole;
            }
            if let Some(rest) = members.rest {
                on(rest, further);
            }
            Needs::Weight(needed)
        }
        Expression::Members(members) => {
            let required = members.members.iter().any(|m| m.required) || members.min > 0;
            let holds = !required && conditions::hold(&members.conditions, &FixedBitSet::new());
            if holds { Needs::All } else { Needs::Never }
        }
    }
}

/// Computes which expressions are productive if all intersections and complements are. Exact for grammars without
/// intersections, complements, lists of different items, names of objects and parts bounded in tokens; otherwise some
/// of the expressions may have no word.
pub fn productive(grammar: &Grammar) -> Analysis {
    Analysis::productive_if(grammar, |_| true)
}

/// Marks, by rule id, the rules that the root reaches, the root included.
pub fn reachable(grammar: &Grammar) -> Vec<bool> {
    let mut rules = vec![false; grammar.rules().len()];
    let mut seen = vec![false; grammar.expressions().len()];
    rules[grammar.root().index()] = true;
    let mut stack = vec![grammar.rule(grammar.root()).body];
    while let Some(id) = stack.pop() {
        if std::mem::replace(&mut seen[id.index()], true) {
            continue;
        }
        stack.extend(grammar.expression(id).children());
        if let Expression::Rule(rule) = grammar.expression(id)
            && !std::mem::replace(&mut rules[rule.index()], true)
        {
            stack.push(grammar.rule(*rule).body);
        }
    }
    rules
}
