//! Free text that runs until a trigger.
//!
//! Strings are found with the automaton of Aho and Corasick (1975) over bytes, in product with the automaton of valid
//! UTF-8. The start state becomes a rule, and so does each state that several states lead to. There is one exception: a
//! state inside a character at which no string has begun is a node of a word graph, copied into each graph that leads
//! to it. Of the remaining states, a state between two characters becomes an expression, and a state inside a character
//! becomes a node of a word graph. So text is right-linear: it adds no frames to a stack, and a configuration in text
//! returns to itself.

use super::builder::GrammarBuilder;
use super::errors;
use super::expression::FreeText;
use super::ids::{ExprId, RuleId};
use super::strings::{Finder, Kind, START, StateId};
use super::word_graph::{WordEdge, WordGraph, WordTarget};
use crate::error::Result;
use crate::limits::{LimitKind, Limits};
use crate::work::Budget;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::VecDeque;

/// Steps of work for an edge of the automaton, and for what is built of it.
const EDGE: usize = 4;

/// A position within a character of UTF-8 (RFC 3629, section 4): between two characters, or before the continuation
/// bytes that the name of the variant states.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Utf8 {
    AfterF0,
    AfterF4,
    Three,
    AfterE0,
    AfterEd,
    Two,
    One,
    Boundary,
}

impl Utf8 {
    /// The ranges of allowed bytes, each with the position after it.
    fn steps(self) -> &'static [(u8, u8, Utf8)] {
        use Utf8::*;
        match self {
            Boundary => &[
                (0x00, 0x7F, Boundary),
                (0xC2, 0xDF, One),
                (0xE0, 0xE0, AfterE0),
                (0xE1, 0xEC, Two),
                (0xED, 0xED, AfterEd),
                (0xEE, 0xEF, Two),
                (0xF0, 0xF0, AfterF0),
                (0xF1, 0xF3, Three),
                (0xF4, 0xF4, AfterF4),
            ],
            One => &[(0x80, 0xBF, Boundary)],
            Two => &[(0x80, 0xBF, One)],
            AfterE0 => &[(0xA0, 0xBF, One)],
            AfterEd => &[(0x80, 0x9F, One)],
            Three => &[(0x80, 0xBF, Two)],
            AfterF0 => &[(0x90, 0xBF, Two)],
            AfterF4 => &[(0x80, 0x8F, Two)],
        }
    }
}

/// A state of the product of the string automaton and the automaton of UTF-8.
type State = (StateId, Utf8);

/// The target of a range of bytes in a [`Row`].
#[derive(Clone, Copy, PartialEq, Eq)]
enum Step {
    State(usize),
    /// The trigger at this index in [`FreeText::triggers`] is complete.
    Trigger(usize),
}

/// Ranges of bytes with their targets, sorted and disjoint.
type Row = Vec<(u8, u8, Step)>;

/// The reachable states of the product of the string automaton and the automaton of UTF-8, in order of discovery; the
/// first one is the start.
struct Product {
    states: Vec<State>,
    rows: Vec<Row>,
}

impl Product {
    /// # Errors
    /// `limit/exceeded` if there are more than `most` edges, or if the work exceeds the budget.
    fn new(text: &FreeText, finder: &Finder, most: usize, work: &Budget) -> Result<Product> {
        let mut is_read = [false; 256];
        text.strings().flat_map(str::bytes).for_each(|byte| is_read[usize::from(byte)] = true);
        let mut product = Product { states: vec![(START, Utf8::Boundary)], rows: Vec::new() };
        let mut known = FxHashMap::from_iter([(product.states[0], 0)]);
        let mut edges = 0;
        while let Some(&(found, utf8)) = product.states.get(product.rows.len()) {
            let mut row: Row = Vec::new();
            for &(low, high, next) in utf8.steps() {
                let mut low = low;
                while low <= high {
                    // a byte that occurs in no string leads to the start state of the string automaton
                    let unread = (low..=high).take_while(|&byte| !is_read[usize::from(byte)]).count();
                    let last = if unread == 0 { low } else { low + (unread - 1) as u8 };
                    let to = if unread == 0 { finder.next(found, low) } else { START };
                    let step = match matched(finder, to) {
                        Some(Matched::Forbidden(_)) => None,
                        Some(Matched::Trigger(trigger)) => Some(Step::Trigger(trigger)),
                        None => {
                            let state = (to, next);
                            let place = *known.entry(state).or_insert_with(|| {
                                product.states.push(state);
                                product.states.len() - 1
                            });
                            Some(Step::State(place))
                        }
                    };
                    if let Some(step) = step {
                        match row.last_mut() {
                            Some((_, end, same)) if *same == step && *end + 1 == low => *end = last,
                            _ => row.push((low, last, step)),
                        }
                    }
                    low = last + 1;
                }
            }
            edges += row.len();
            work.spend(EDGE * row.len())?;
            if edges > most {
                let found = format!("text with {} triggers and forbidden strings", text.strings().count());
                return Err(Limits::exceeded(LimitKind::GrammarNodes, most, found));
            }
            product.rows.push(row);
        }
        product.trim(text.end.is_some());
        Ok(product)
    }

    /// Removes edges to states without a word: each text that could be read from such a state is forbidden.
    ///
    /// The loop ends soon: a state between characters loses all its edges only if each of the 1,112,064 characters
    /// would end a forbidden string.
    fn trim(&mut self, may_end: bool) {
        loop {
            let is_dead: Vec<bool> = (0..self.rows.len())
                .map(|state| self.rows[state].is_empty() && !(may_end && self.is_boundary(state)))
                .collect();
            let mut changed = false;
            for row in &mut self.rows {
                let before = row.len();
                row.retain(|&(.., step)| !matches!(step, Step::State(to) if is_dead[to]));
                changed |= row.len() < before;
            }
            if !changed {
                return;
            }
        }
    }

    fn is_boundary(&self, state: usize) -> bool {
        self.states[state].1 == Utf8::Boundary
    }

    /// Whether a state is inside a character, and the text before it does not end with a non-empty prefix of a string.
    /// Such states are copied into each graph.
    fn is_tail(&self, state: usize) -> bool {
        self.states[state].0 == self.states[0].0 && !self.is_boundary(state)
    }

    /// Marks the states that become rules: the start, and each state that is not a [tail](Product::is_tail) and that
    /// several states other than tails lead to.
    fn shared(&self) -> Vec<bool> {
        let mut ways = vec![0_u8; self.states.len()];
        for (state, row) in self.rows.iter().enumerate() {
            if self.is_tail(state) {
                continue;
            }
            let targets: FxHashSet<usize> = row
                .iter()
                .filter_map(|&(.., step)| if let Step::State(to) = step { Some(to) } else { None })
                .collect();
            targets.into_iter().for_each(|to| ways[to] = ways[to].saturating_add(1));
        }
        (0..self.states.len()).map(|state| state == 0 || ways[state] > 1 && !self.is_tail(state)).collect()
    }
}

enum Matched {
    Trigger(usize),
    /// The index of the string in [`FreeText::forbidden`].
    Forbidden(usize),
}

/// The string that ends in a state; a forbidden string takes precedence over triggers, and a longer trigger over
/// shorter ones. `None` if no string ends there.
fn matched(finder: &Finder, state: StateId) -> Option<Matched> {
    let forbidden = finder.found(state, Kind::Second).map(Matched::Forbidden);
    forbidden.or_else(|| finder.found(state, Kind::First).map(Matched::Trigger))
}

impl FreeText {
    /// The automaton of the triggers, which are the first kind, and of the forbidden strings.
    fn finder(&self) -> Finder {
        let triggers = self.triggers.iter().map(|(trigger, _)| &**trigger);
        Finder::new(triggers, self.forbidden.iter().map(|text| &**text))
    }

    fn strings(&self) -> impl Iterator<Item = &str> {
        self.triggers.iter().map(|(trigger, _)| &**trigger).chain(self.forbidden.iter().map(|text| &**text))
    }

    /// Checks that strings are not empty, that triggers differ, and that no other string ends inside a trigger, or with
    /// it unless that string is a shorter trigger.
    fn check(&self, finder: &Finder) -> Result<()> {
        if self.strings().any(str::is_empty) {
            return Err(errors::empty_trigger());
        }
        let mut seen = FxHashSet::default();
        if let Some((twice, _)) = self.triggers.iter().find(|(trigger, _)| !seen.insert(trigger)) {
            return Err(errors::trigger_twice(twice));
        }
        for (own, (trigger, _)) in self.triggers.iter().enumerate() {
            let mut state = START;
            for (at, byte) in trigger.bytes().enumerate() {
                state = finder.next(state, byte);
                let is_end = at + 1 == trigger.len();
                let earlier = match matched(finder, state) {
                    None => None,
                    Some(Matched::Trigger(other)) => {
                        (!is_end || other != own).then(|| (&*self.triggers[other].0, "trigger"))
                    }
                    Some(Matched::Forbidden(other)) => Some((&*self.forbidden[other], "forbidden string")),
                };
                if let Some((other, kind)) = earlier {
                    return Err(errors::trigger_never_comes(trigger, kind, other));
                }
            }
        }
        Ok(())
    }
}

impl GrammarBuilder {
    /// Text with triggers; see [`FreeText`]. Equal texts are one expression. For text that continues after a trigger's
    /// continuation, end that continuation with a [rule](GrammarBuilder::rule) whose body is this expression.
    ///
    /// An empty string, a trigger given twice, and a trigger that cannot occur because another string ends inside it,
    /// or a forbidden string ends with it, are errors of the grammar, and so is an exceeded limit `grammar_nodes`.
    pub fn free_text(&mut self, text: &FreeText) -> ExprId {
        if let Some(&known) = self.texts.get(text) {
            return known;
        }
        let most = self.limits().grammar_nodes;
        let finder = text.finder();
        let product = text.check(&finder).and_then(|()| Product::new(text, &finder, most, self.work()));
        match product {
            Ok(product) => {
                let made = Builder::new(self, text, &product).build();
                self.texts.insert(text.clone(), made);
                made
            }
            Err(error) => {
                self.fail(error);
                self.never()
            }
        }
    }
}

/// Builds expressions from a product.
struct Builder<'b> {
    grammar: &'b mut GrammarBuilder,
    text: &'b FreeText,
    product: &'b Product,
    rules: FxHashMap<usize, RuleId>,
    /// The expressions built so far for states between characters that are not rules.
    built: FxHashMap<usize, ExprId>,
}

impl<'b> Builder<'b> {
    fn new(grammar: &'b mut GrammarBuilder, text: &'b FreeText, product: &'b Product) -> Builder<'b> {
        let shared = product.shared();
        let rules =
            (0..shared.len()).filter(|&state| shared[state]).map(|state| (state, grammar.declare("text")));
        let rules = rules.collect();
        Builder { grammar, text, product, rules, built: FxHashMap::default() }
    }

    /// Builds all states and returns the expression of the start.
    fn build(mut self) -> ExprId {
        // reverse order: a state that is not a rule was discovered after the only state that leads to it
        for state in (0..self.product.states.len()).rev() {
            let rule = self.rules.get(&state).copied();
            if rule.is_none() && !self.product.is_boundary(state) {
                continue;
            }
            let graph = self.graph(state);
            let body = match self.text.end {
                Some(end) if self.product.is_boundary(state) => self.grammar.choice([end, graph]),
                _ => graph,
            };
            match rule {
                Some(rule) => self.grammar.define(rule, body),
                None => _ = self.built.insert(state, body),
            }
        }
        match self.rules.get(&0) {
            Some(&start) => self.grammar.rule(start),
            None => self.grammar.never(),
        }
    }

    /// Builds the word graph of the text read from a state.
    fn graph(&mut self, start: usize) -> ExprId {
        if self.product.rows[start].is_empty() {
            return self.grammar.never();
        }
        // the nodes: `start`, and all states that paths without an exit reach from it
        let mut found = FxHashSet::from_iter([start]);
        let mut nodes = vec![start];
        let mut open = VecDeque::from([start]);
        while let Some(state) = open.pop_front() {
            for &(.., step) in &self.product.rows[state] {
                if let Step::State(to) = step
                    && !self.is_exit(to)
                    && found.insert(to)
                {
                    nodes.push(to);
                    open.push_back(to);
                }
            }
        }
        // edges lead to later nodes: within a character, to states with fewer bytes left
        nodes[1..].sort_by_key(|&state| (self.product.states[state].1, state));
        let places: FxHashMap<usize, u32> =
            nodes.iter().zip(0..).map(|(&state, place)| (state, place)).collect();
        let (mut exits, mut exit_places) = (Vec::new(), FxHashMap::default());
        let mut rows = Vec::with_capacity(nodes.len());
        for &state in &nodes {
            let mut row = Vec::new();
            for &(low, high, step) in &self.product.rows[state] {
                let inside = match step {
                    Step::State(to) if to != start => places.get(&to).copied(),
                    _ => None,
                };
                let to = match inside {
                    Some(place) => WordTarget::Node(place),
                    None => {
                        let exit = self.exit(step);
                        WordTarget::Exit(*exit_places.entry(exit).or_insert_with(|| {
                            exits.push(exit);
                            exits.len() as u32 - 1
                        }))
                    }
                };
                row.push(WordEdge { low, high, to });
            }
            rows.push(row);
        }
        let mut graph = WordGraph::new(exits);
        rows.into_iter().for_each(|row| graph.push(row, None));
        self.grammar.word_graph(graph)
    }

    /// Whether an edge to a state leaves a word graph: the state is between two characters, or it is a rule.
    fn is_exit(&self, state: usize) -> bool {
        self.product.is_boundary(state) || self.rules.contains_key(&state)
    }

    fn exit(&mut self, step: Step) -> ExprId {
        match step {
            Step::Trigger(trigger) => self.text.triggers[trigger].1,
            Step::State(state) => match (self.rules.get(&state), self.built.get(&state)) {
                (Some(&rule), _) => self.grammar.rule(rule),
                (None, Some(&built)) => built,
                // unreachable: the exits of a graph are built before it
                (None, None) => self.grammar.never(),
            },
        }
    }
}
