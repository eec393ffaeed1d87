//! Converts pushdown automata to productions: the triple construction, restricted to useful triples.
//!
//! The nonterminal `p[X]q` derives what is read from state `p` with `X` on top of the stack until that `X` is popped,
//! leading to `q`. Every transition is first split into elementary moves (read and continue, pop, push, replace the
//! top), with new states between pushes. Replacing the top is equivalent to popping one symbol and pushing another. It
//! is a move of its own because it stays within one triple: no intermediate state must be enumerated, and the
//! automaton's stack does not grow.
//!
//! Triples are found by saturation. A demand is a pair `(p, X)` that the start or a move needs; saturation computes the
//! set of states `q` that each demand can lead to. So every triple that is written derives some word.
//!
//! A bottom symbol is below the whole stack. A word is accepted when the bottom symbol is popped.

use super::document::{AcceptBy, Document};
use super::errors;
use super::finite::{States, Step, inputs};
use super::productions::{Item, Productions};
use crate::diagnostic::Diagnostic;
use crate::error::{Errors, Result};
use crate::limits::{LimitKind, Limits};
use rustc_hash::{FxHashMap, FxHashSet};

/// The effect of a move on the stack.
#[derive(Clone, Copy, Debug)]
enum Action {
    /// Keeps the stack; possible with any top.
    Keep,
    /// Pops the symbol, which must be on top.
    Pop(usize),
    /// Pops the first symbol, which must be on top, and pushes the second.
    Replace(usize, usize),
    /// Pushes the symbol; possible with any top.
    Push(usize),
}

/// An elementary move. `input` is the symbol that it reads; `None` if it reads nothing.
#[derive(Debug)]
struct Move {
    input: Option<Item>,
    action: Action,
    to: usize,
}

/// The automaton as elementary moves: for each state, its moves and its name. Stack symbol 0 is the bottom.
struct Machine<'d> {
    moves: Vec<Vec<Move>>,
    names: Vec<String>,
    stack: Vec<&'d str>,
}

impl Machine<'_> {
    fn state(&mut self, name: String) -> usize {
        self.moves.push(Vec::new());
        self.names.push(name);
        self.moves.len() - 1
    }

    fn add(&mut self, from: usize, input: Option<Item>, action: Action, to: usize) {
        self.moves[from].push(Move { input, action, to });
    }
}

/// Converts a `pda` to productions.
///
/// # Errors
/// Those of [`States::read`]; `automaton-spec/misplaced` if there are accepting states that acceptance by empty stack
/// does not use; `automaton-spec/no-accepting-state` if other acceptance has none; `automaton-spec/undefined` for a
/// popped symbol that is never pushed; `automaton-spec/empty-language`; `limit/exceeded` if transitions, triples or
/// productions exceed `grammar_nodes`.
pub(super) fn productions(
    document: &Document,
    limits: &Limits,
    warnings: &mut Vec<Diagnostic>,
) -> Result<Productions> {
    let (states, steps) = States::read(document)?;
    let accept_by = document.accept_by.unwrap_or_default();
    let accepts = states.accepting.contains(&true);
    match accept_by {
        AcceptBy::EmptyStack if accepts => return Err(errors::accepting_of_no_use()),
        AcceptBy::FinalState | AcceptBy::Both | AcceptBy::Either if !accepts => {
            return Err(errors::nothing_accepts(document.kind));
        }
        _ => {}
    }
    states.warn_unreachable(&steps, warnings);
    let (machine, start, end) = machine(document, &states, &steps, accept_by, limits)?;
    let triples = saturate(&machine, start, limits)?;
    write(&machine, &triples, start, end, limits)
}

/// Builds the elementary moves. Returns them with the start state and the state after the bottom symbol is popped.
fn machine<'d>(
    document: &'d Document,
    states: &States<'_>,
    steps: &[Step<'d>],
    accept_by: AcceptBy,
    limits: &Limits,
) -> Result<(Machine<'d>, usize, usize)> {
    let mut stack = vec!["⊥"];
    let mut numbers: FxHashMap<&str, usize> = FxHashMap::default();
    let pushed = steps.iter().flat_map(|step| step.written.push.iter().flat_map(|names| &names.0));
    for name in document.stack_start.iter().chain(pushed) {
        numbers.entry(name).or_insert_with(|| {
            stack.push(name);
            stack.len() - 1
        });
    }
    let mut machine = Machine { moves: Vec::new(), names: Vec::new(), stack };
    for name in &states.names {
        machine.state((*name).to_owned());
    }
    let mut errors = Errors::default();
    let mut count = 0;
    for (i, step) in steps.iter().enumerate() {
        let pop = match &step.written.pop {
            None => None,
            Some(name) => errors.take(numbers.get(name.as_str()).copied().ok_or_else(|| {
                let place = format!("/transitions/{i}/pop");
                errors::undefined("stack symbol", name, place, machine.stack.iter().skip(1).copied())
            })),
        };
        if errors.is_full() {
            break;
        }
        let push: Vec<usize> = step
            .written
            .push
            .iter()
            .flat_map(|names| &names.0)
            .filter_map(|name| numbers.get(name.as_str()).copied())
            .collect();
        count += push.len() + inputs(step).count();
        if count > limits.grammar_nodes {
            return Err(Limits::exceeded(LimitKind::GrammarNodes, limits.grammar_nodes, "more transitions"));
        }
        // the first elementary move, and the symbols that later moves push
        let (first, rest) = match (pop, &push[..]) {
            (None, []) => (Action::Keep, &push[..]),
            (None, [x, rest @ ..]) => (Action::Push(*x), rest),
            (Some(pop), []) => (Action::Pop(pop), &push[..]),
            (Some(pop), [x, rest @ ..]) => (Action::Replace(pop, *x), rest),
        };
        let mut to = step.to;
        for (n, &x) in rest.iter().enumerate().rev() {
            let between = machine.state(format!("{}·{i}·{n}", step.written.from));
            machine.add(between, None, Action::Push(x), to);
            to = between;
        }
        for input in inputs(step) {
            machine.add(step.from, input, first, to);
        }
    }
    errors.finish()?;
    let end = machine.state("end".to_owned());
    let drain = machine.state("drain".to_owned());
    for symbol in 0..machine.stack.len() {
        machine.add(drain, None, Action::Pop(symbol), if symbol == 0 { end } else { drain });
    }
    for (state, &accepting) in states.accepting.iter().enumerate() {
        let by_state = accepting && matches!(accept_by, AcceptBy::FinalState | AcceptBy::Either);
        let by_stack = match accept_by {
            AcceptBy::FinalState => false,
            AcceptBy::EmptyStack | AcceptBy::Either => true,
            AcceptBy::Both => accepting,
        };
        if by_state {
            machine.add(state, None, Action::Keep, drain);
        } else if by_stack {
            machine.add(state, None, Action::Pop(0), end);
        }
    }
    let start = match &document.stack_start {
        None => states.start,
        Some(name) => {
            let start = machine.state("start".to_owned());
            let symbol = numbers.get(name.as_str()).copied().unwrap_or(0);
            machine.add(start, None, Action::Push(symbol), states.start);
            start
        }
    };
    Ok((machine, start, end))
}

/// The demands `(state, stack symbol)` in order of discovery, each with the states that it can lead to. `numbers` has
/// their indices; `known` has all pairs of a demand and a state that it leads to.
struct Triples {
    numbers: FxHashMap<(usize, usize), usize>,
    demands: Vec<(usize, usize)>,
    ends: Vec<Vec<usize>>,
    known: FxHashSet<(usize, usize)>,
}

/// What happens to an outer demand when the results of an inner one are found.
#[derive(Clone, Copy)]
enum Waiting {
    /// The outer demand gets the same results.
    Same(usize),
    /// The outer demand continues from each result, with its own stack symbol on top.
    Then(usize),
}

/// The state of the saturation.
struct Saturation<'m, 'd> {
    machine: &'m Machine<'d>,
    triples: Triples,
    /// For each demand, the outer demands that get the same results.
    waiting: Vec<FxHashSet<usize>>,
    /// For each demand, the outer demands that continue from each result.
    then: Vec<FxHashSet<usize>>,
    /// Results that were found but not yet passed on: demands with states that they lead to.
    facts: Vec<(usize, usize)>,
    /// Demands whose moves were not yet examined.
    open: Vec<usize>,
    work: usize,
    limit: usize,
}

/// Finds all triples that the start needs.
///
/// # Errors
/// `limit/exceeded` if the work exceeds `grammar_nodes`.
fn saturate(machine: &Machine<'_>, start: usize, limits: &Limits) -> Result<Triples> {
    let mut s = Saturation {
        machine,
        triples: Triples {
            numbers: FxHashMap::default(),
            demands: Vec::new(),
            ends: Vec::new(),
            known: FxHashSet::default(),
        },
        waiting: Vec::new(),
        then: Vec::new(),
        facts: Vec::new(),
        open: Vec::new(),
        work: 0,
        limit: limits.grammar_nodes,
    };
    s.demand(start, 0);
    loop {
        if let Some(demand) = s.open.pop() {
            s.expand(demand)?;
        } else if let Some((demand, end)) = s.facts.pop() {
            s.triples.ends[demand].push(end);
            let waiting: Vec<usize> = s.waiting[demand].iter().copied().collect();
            for outer in waiting {
                s.fact(outer, end)?;
            }
            let then: Vec<usize> = s.then[demand].iter().copied().collect();
            for outer in then {
                let symbol = s.triples.demands[outer].1;
                let rest = s.demand(end, symbol);
                s.wait(rest, Waiting::Same(outer))?;
            }
        } else {
            return Ok(s.triples);
        }
    }
}

impl Saturation<'_, '_> {
    /// Returns the number of a demand, which is added if it is new.
    fn demand(&mut self, state: usize, symbol: usize) -> usize {
        let next = self.triples.demands.len();
        let number = *self.triples.numbers.entry((state, symbol)).or_insert(next);
        if number == next {
            self.triples.demands.push((state, symbol));
            self.triples.ends.push(Vec::new());
            self.waiting.push(FxHashSet::default());
            self.then.push(FxHashSet::default());
            self.open.push(number);
        }
        number
    }

    fn expand(&mut self, demand: usize) -> Result<()> {
        let (state, symbol) = self.triples.demands[demand];
        let machine = self.machine;
        for m in &machine.moves[state] {
            match m.action {
                Action::Keep => {
                    let next = self.demand(m.to, symbol);
                    self.wait(next, Waiting::Same(demand))?;
                }
                Action::Pop(x) if x == symbol => self.fact(demand, m.to)?,
                Action::Replace(x, y) if x == symbol => {
                    let next = self.demand(m.to, y);
                    self.wait(next, Waiting::Same(demand))?;
                }
                Action::Push(y) => {
                    let next = self.demand(m.to, y);
                    self.wait(next, Waiting::Then(demand))?;
                }
                Action::Pop(_) | Action::Replace(..) => {}
            }
        }
        Ok(())
    }

    /// Registers a waiting demand, and passes on the results that are known already.
    fn wait(&mut self, inner: usize, waiting: Waiting) -> Result<()> {
        let (list, outer) = match waiting {
            Waiting::Same(outer) => (&mut self.waiting[inner], outer),
            Waiting::Then(outer) => (&mut self.then[inner], outer),
        };
        if !list.insert(outer) {
            return Ok(());
        }
        self.count()?;
        for end in self.triples.ends[inner].clone() {
            match waiting {
                Waiting::Same(_) => self.fact(outer, end)?,
                Waiting::Then(_) => {
                    let symbol = self.triples.demands[outer].1;
                    let rest = self.demand(end, symbol);
                    // this recurses at most one level: `Same` does not recurse
                    self.wait(rest, Waiting::Same(outer))?;
                }
            }
        }
        Ok(())
    }

    /// Records that a demand leads to a state.
    fn fact(&mut self, demand: usize, end: usize) -> Result<()> {
        if self.triples.known.insert((demand, end)) {
            self.facts.push((demand, end));
        }
        self.count()
    }

    /// Counts a unit of work. The number of units bounds both memory and time.
    fn count(&mut self) -> Result<()> {
        self.work += 1;
        if self.work > self.limit {
            return Err(Limits::exceeded(
                LimitKind::GrammarNodes,
                self.limit,
                "more triples of the pushdown automaton",
            ));
        }
        Ok(())
    }
}

/// Writes the productions of the triples that the start needs.
///
/// # Errors
/// `automaton-spec/empty-language` if the start cannot lead to acceptance; `limit/exceeded` for more productions than
/// `grammar_nodes`.
fn write(
    machine: &Machine<'_>,
    triples: &Triples,
    start: usize,
    end: usize,
    limits: &Limits,
) -> Result<Productions> {
    let mut writer = Writer {
        machine,
        triples,
        out: Productions::new(limits),
        of: FxHashMap::default(),
        open: Vec::new(),
    };
    let root = triples.numbers.get(&(start, 0)).copied();
    let Some(root) = root.filter(|&root| triples.known.contains(&(root, end))) else {
        return Err(errors::empty_language());
    };
    writer.out.start = writer.triple(root, end)?;
    while let Some((demand, end, head)) = writer.open.pop() {
        writer.expand(demand, end, head)?;
    }
    Ok(writer.out)
}

/// The state of writing productions. `of` has the nonterminals of triples, `open` the triples that have no productions
/// yet.
struct Writer<'m, 'd> {
    machine: &'m Machine<'d>,
    triples: &'m Triples,
    out: Productions,
    of: FxHashMap<(usize, usize), usize>,
    open: Vec<(usize, usize, usize)>,
}

impl Writer<'_, '_> {
    /// The nonterminal of a triple, which is added if it is new.
    fn triple(&mut self, demand: usize, end: usize) -> Result<usize> {
        if let Some(&number) = self.of.get(&(demand, end)) {
            return Ok(number);
        }
        let (state, symbol) = self.triples.demands[demand];
        let name = format!(
            "{}[{}]{}",
            self.machine.names[state], self.machine.stack[symbol], self.machine.names[end]
        );
        let number = self.out.nonterminal(name)?;
        self.of.insert((demand, end), number);
        self.open.push((demand, end, number));
        Ok(number)
    }

    /// The nonterminal of the triple from `(state, symbol)` to `end`; `None` if there is no such triple.
    fn item(&mut self, state: usize, symbol: usize, end: usize) -> Result<Option<Item>> {
        match self.triples.numbers.get(&(state, symbol)) {
            Some(&demand) if self.triples.known.contains(&(demand, end)) => {
                self.triple(demand, end).map(|number| Some(Item::Nonterminal(number)))
            }
            _ => Ok(None),
        }
    }

    fn expand(&mut self, demand: usize, end: usize, head: usize) -> Result<()> {
        let (machine, triples) = (self.machine, self.triples);
        let (state, symbol) = triples.demands[demand];
        for m in &machine.moves[state] {
            let input = m.input;
            match m.action {
                Action::Pop(x) if x == symbol && m.to == end => {
                    self.out.production(head, input.into_iter().collect())?;
                }
                Action::Keep => {
                    if let Some(next) = self.item(m.to, symbol, end)? {
                        self.out.production(head, input.into_iter().chain([next]).collect())?;
                    }
                }
                Action::Replace(x, y) if x == symbol => {
                    if let Some(next) = self.item(m.to, y, end)? {
                        self.out.production(head, input.into_iter().chain([next]).collect())?;
                    }
                }
                Action::Push(y) => {
                    let Some(&inner) = triples.numbers.get(&(m.to, y)) else { continue };
                    for &middle in &triples.ends[inner] {
                        let Some(rest) = self.item(middle, symbol, end)? else { continue };
                        let first = Item::Nonterminal(self.triple(inner, middle)?);
                        self.out.production(head, input.into_iter().chain([first, rest]).collect())?;
                    }
                }
                Action::Pop(_) | Action::Replace(..) => {}
            }
        }
        Ok(())
    }
}
