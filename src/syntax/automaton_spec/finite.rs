//! Converts finite automata to productions `state ::= symbol next-state`, and reads the states of all kinds of
//! automata.

use super::document::{Document, Transition};
use super::errors;
use super::kind::Kind;
use super::productions::{Item, Productions};
use crate::diagnostic::Diagnostic;
use crate::error::{Errors, Result};
use crate::limits::Limits;
use rustc_hash::FxHashMap;

/// The states of an automaton. A state is an index into `names`, which are in the order of the spec.
pub(super) struct States<'d> {
    pub names: Vec<&'d str>,
    pub accepting: Vec<bool>,
    pub start: usize,
    numbers: FxHashMap<&'d str, usize>,
}

/// A transition whose names are resolved.
pub(super) struct Step<'d> {
    pub from: usize,
    /// The symbols that it may read; `None` if it reads nothing.
    pub inputs: Option<Vec<usize>>,
    pub to: usize,
    pub written: &'d Transition,
}

impl<'d> States<'d> {
    /// Reads the states of a document, and its transitions with names resolved.
    ///
    /// # Errors
    /// `automaton-spec/missing` without a start; `automaton-spec/twice`, `automaton-spec/undefined` and
    /// `automaton-spec/no-input` for states and transitions, up to 20 errors.
    pub(super) fn read(document: &'d Document) -> Result<(States<'d>, Vec<Step<'d>>)> {
        let transitions = document.transitions.as_deref().unwrap_or_default();
        let start = document.start()?;
        let mut errors = Errors::default();
        let mut states =
            States { names: Vec::new(), accepting: Vec::new(), start: 0, numbers: FxHashMap::default() };
        match &document.states {
            Some(listed) => {
                for (i, name) in listed.iter().enumerate() {
                    if states.numbers.contains_key(name.as_str()) {
                        errors.push(errors::state_twice(name, i));
                    }
                    states.add(name);
                }
            }
            None => {
                let accepting = document.accepting.iter().flatten().map(String::as_str);
                let from = transitions.iter().map(|t| t.from.as_str());
                // `start` is not added: a start state that does not accept and that no transition leaves is probably
                // misspelt
                for name in from.chain(accepting) {
                    states.add(name);
                }
            }
        }
        if let Some(start) = errors.take(states.number(start, || "/start".to_owned())) {
            states.start = start;
        }
        for (i, name) in document.accepting.iter().flatten().enumerate() {
            if errors.is_full() {
                break;
            }
            if let Some(number) = errors.take(states.number(name, || format!("/accepting/{i}"))) {
                states.accepting[number] = true;
            }
        }
        let symbols = document.symbol_numbers();
        let mut steps = Vec::with_capacity(transitions.len());
        for (i, written) in transitions.iter().enumerate() {
            if errors.is_full() {
                break;
            }
            let from = errors.take(states.number(&written.from, || format!("/transitions/{i}/from")));
            let inputs = written.input.as_ref().map(|names| {
                if names.0.is_empty() {
                    errors.push(errors::no_input(i));
                }
                let mut numbers = Vec::with_capacity(names.0.len());
                for name in &names.0 {
                    match symbols.get(name.as_str()) {
                        Some(&number) => numbers.push(number),
                        None if errors.is_full() => break,
                        None => {
                            let place = format!("/transitions/{i}/input");
                            errors.push(errors::undefined("symbol", name, place, symbol_names(document)));
                        }
                    }
                }
                numbers
            });
            let to = errors.take(states.number(&written.to, || format!("/transitions/{i}/to")));
            if let (Some(from), Some(to)) = (from, to) {
                steps.push(Step { from, inputs, to, written });
            }
        }
        errors.finish()?;
        Ok((states, steps))
    }

    /// Adds a state, unless it has been added.
    fn add(&mut self, name: &'d str) {
        let next = self.names.len();
        if *self.numbers.entry(name).or_insert(next) == next {
            self.names.push(name);
            self.accepting.push(false);
        }
    }

    /// The number of a state.
    ///
    /// # Errors
    /// `automaton-spec/undefined` at `place` if there is no such state.
    fn number(&self, name: &str, place: impl Fn() -> String) -> Result<usize> {
        let number = self.numbers.get(name).copied();
        number.ok_or_else(|| errors::undefined("state", name, place(), self.names.iter().copied()))
    }

    /// Adds a warning that lists the states that cannot be reached from the start, if there are any. Stacks are
    /// ignored.
    pub(super) fn warn_unreachable(&self, steps: &[Step<'_>], warnings: &mut Vec<Diagnostic>) {
        let mut next: Vec<Vec<usize>> = vec![Vec::new(); self.names.len()];
        for step in steps {
            next[step.from].push(step.to);
        }
        let mut reached = vec![false; self.names.len()];
        let mut open = vec![self.start];
        while let Some(state) = open.pop() {
            if !std::mem::replace(&mut reached[state], true) {
                open.extend(&next[state]);
            }
        }
        let unreached = self.names.iter().zip(&reached).filter(|(_, reached)| !**reached);
        let mut unreached = unreached.map(|(name, _)| *name).peekable();
        if unreached.peek().is_some() {
            warnings.push(errors::unreachable_states(unreached));
        }
    }
}

/// The names of a document's symbols, in the spec's order.
pub(super) fn symbol_names(document: &Document) -> impl Iterator<Item = &str> {
    document.symbols.0.iter().map(|symbol| symbol.id.as_str())
}

/// Converts a `dfa` or `nfa` to productions.
///
/// # Errors
/// Those of [`States::read`]; `automaton-spec/no-accepting-state`; `automaton-spec/misplaced` for a transition with a
/// stack; `automaton-spec/nondeterministic`, only for a `dfa`; `limit/exceeded`.
pub(super) fn productions(
    document: &Document,
    limits: &Limits,
    warnings: &mut Vec<Diagnostic>,
) -> Result<Productions> {
    let (states, steps) = States::read(document)?;
    if !states.accepting.contains(&true) {
        return Err(errors::nothing_accepts(document.kind));
    }
    for (i, step) in steps.iter().enumerate() {
        let stack = [("pop", step.written.pop.is_some()), ("push", step.written.push.is_some())];
        if let Some((field, _)) = stack.iter().find(|(_, given)| *given) {
            return Err(errors::stack_without_stack(field, document.kind, i));
        }
    }
    if document.kind == Kind::Dfa {
        check_deterministic(document, &steps)?;
    }
    states.warn_unreachable(&steps, warnings);
    let mut out = Productions::new(limits);
    for (name, accepting) in states.names.iter().zip(&states.accepting) {
        let state = out.nonterminal((*name).to_owned())?;
        if *accepting {
            out.production(state, Vec::new())?;
        }
    }
    for step in &steps {
        for input in inputs(step) {
            out.production(step.from, input.into_iter().chain([Item::Nonterminal(step.to)]).collect())?;
        }
    }
    out.start = states.start;
    Ok(out)
}

/// The inputs of a step: an item for each symbol that it may read, or one `None` if it reads nothing.
pub(super) fn inputs<'s>(step: &'s Step<'_>) -> impl Iterator<Item = Option<Item>> + 's {
    let nothing = step.inputs.is_none().then_some(None);
    let symbols = step.inputs.iter().flatten().map(|&symbol| Some(Item::symbol(symbol)));
    nothing.into_iter().chain(symbols)
}

/// Checks that each transition reads something, and that no two transitions leave one state with the same symbol.
///
/// # Errors
/// `automaton-spec/nondeterministic`.
fn check_deterministic(document: &Document, steps: &[Step<'_>]) -> Result<()> {
    let mut taken: FxHashMap<(usize, usize), usize> = FxHashMap::default();
    for (i, step) in steps.iter().enumerate() {
        let Some(inputs) = &step.inputs else { return Err(errors::reads_nothing(i, &step.written.from)) };
        for &symbol in inputs {
            if let Some(&first) = taken.get(&(step.from, symbol)) {
                let name = document.symbols.0.get(symbol).map_or("", |symbol| symbol.id.as_str());
                let to = [first, i].map(|n| steps.get(n).map_or("", |step| step.written.to.as_str()));
                return Err(errors::nondeterministic(&step.written.from, name, [first, i], to));
            }
            taken.insert((step.from, symbol), i);
        }
    }
    Ok(())
}
