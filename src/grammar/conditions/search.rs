//! The search for members that satisfy conditions: the procedure of Davis, Putnam, Logemann and Loveland over the
//! clauses, split into connected components, with an explicit stack.
//!
//! After unit propagation the formula splits into components that share no variable; each is searched on its own. If
//! only satisfiability matters, a component of Horn clauses (at most one positive literal each) or of a single clause
//! needs no decision: it has no unit clause left, so the all-false assignment, or any literal, satisfies it. If members
//! are counted, the search finds the numbers of members of all solutions; the numbers of different components add up.
//!
//! Variables are decided in a fixed order, and the component of the earliest variable is searched first: a
//! contradiction in it ends the search before the other components. So the search under assumptions (which entries are
//! present or no longer possible) never takes more decisions than the exhaustive search without any: a decision on an
//! assumed variable is replaced by one of its branches, and assumptions only make components smaller.
//! [`Search::exhaust`] counts the decisions of the exhaustive search once, before a list is used.

use super::clauses::{Clauses, Literal};
use super::sums::Sums;
use fixedbitset::FixedBitSet;
use std::cmp::Reverse;

/// How much a member adds to a sum.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Weights {
    pub(super) keyed: usize,
    pub(super) keyless: usize,
}

#[derive(Clone, Copy, Default)]
struct ClauseState {
    /// The number of unassigned literals, and of positive unassigned literals.
    open: u32,
    open_positive: u32,
    /// The number of literals that hold.
    holding: u32,
}

/// Groups of variables that are connected by clauses without a literal that holds.
#[derive(Clone, Copy)]
struct Component {
    /// The range of the component's groups in [`Search::groups`].
    groups: (usize, usize),
    /// The variable to decide next.
    variable: usize,
}

enum Frame {
    /// The components from index `components` on must all be satisfied; their groups begin at `groups`.
    All { product: Sums, components: usize, groups: usize },
    /// A variable is tried as true and as false.
    Either { component: Component, trail: usize, branches: u8, sums: Sums },
}

pub(super) struct Search<'c> {
    clauses: &'c Clauses,
    weights: Option<Weights>,
    values: Vec<Option<bool>>,
    states: Vec<ClauseState>,
    trail: Vec<Literal>,
    /// How many literals of the trail have been propagated to the clauses.
    propagated: usize,
    units: Vec<u32>,
    groups: Vec<u32>,
    components: Vec<Component>,
    /// Per clause and per group, the decomposition in which the clause or group was last visited.
    clause_rounds: Vec<u32>,
    group_rounds: Vec<u32>,
    round: u32,
    /// How many decisions the search has taken so far.
    pub(super) decisions: usize,
}

impl<'c> Search<'c> {
    /// A search for satisfiability or, given weights, for the sums of the weights of the members.
    pub(super) fn new(clauses: &'c Clauses, weights: Option<Weights>) -> Search<'c> {
        let state = |clause| {
            let literals = clauses.clauses.get(clause);
            let open_positive = literals.iter().filter(|literal| literal.holds()).count() as u32;
            ClauseState { open: literals.len() as u32, open_positive, holding: 0 }
        };
        Search {
            clauses,
            weights,
            values: vec![None; clauses.group_of.len()],
            states: (0..clauses.clauses.len()).map(state).collect(),
            trail: Vec::new(),
            propagated: 0,
            units: Vec::new(),
            groups: Vec::new(),
            components: Vec::new(),
            clause_rounds: vec![0; clauses.clauses.len()],
            group_rounds: vec![0; clauses.groups.len()],
            round: 0,
            decisions: 0,
        }
    }

    /// Assigns the known entries and the literals of one-literal clauses, and propagates them. Returns false on a
    /// contradiction.
    pub(super) fn assume(&mut self, mut known: impl Iterator<Item = (u32, bool)>) -> bool {
        let clauses = &self.clauses.clauses;
        let mut units =
            (0..clauses.len()).map(|clause| clauses.get(clause)).filter(|clause| clause.len() == 1);
        !self.clauses.is_never
            && known.all(|(entry, is_there)| self.assign(Literal::new(entry, is_there)))
            && units.all(|clause| self.assign(clause[0]))
            && self.propagate()
    }

    /// Whether the clauses can be satisfied, given the present entries `came` and the assumptions.
    pub(super) fn is_satisfiable(&mut self, came: &FixedBitSet) -> bool {
        !self.sums(came).is_empty()
    }

    /// The sums of the weights of the members that each solution adds to the present entries `came`; empty if there is
    /// no solution. Without weights, the only sum is 0.
    pub(super) fn sums(&mut self, came: &FixedBitSet) -> Sums {
        let clauses = self.clauses;
        let has_come = |&group: &u32| {
            let mut entries = clauses.groups.get(group as usize).iter().map(|&entry| entry as usize);
            entries.any(|entry| entry < clauses.entries && came.contains(entry))
        };
        self.run((0..clauses.groups.len() as u32).filter(|group| !has_come(group)), None).unwrap_or_default()
    }

    /// Takes all possible decisions, and stops after `limit` of them. Returns whether none was left.
    pub(super) fn exhaust(&mut self, limit: usize) -> bool {
        self.run(0..self.clauses.groups.len() as u32, Some(limit)).is_some()
    }

    /// The sums of the weights of the members over all solutions; without weights, the only sum is 0. Counts only
    /// members of the given groups. Returns `None` if the search takes more than `limit` decisions.
    fn run(&mut self, groups: impl Iterator<Item = u32>, limit: Option<usize>) -> Option<Sums> {
        self.groups.extend(groups);
        let mut stack = vec![self.decompose((0, self.groups.len()))];
        let mut found: Option<Sums> = None;
        while let Some(frame) = stack.pop() {
            match frame {
                Frame::All { mut product, components, groups } => {
                    if let Some(found) = found.take() {
                        product = product.plus(&found);
                    }
                    let fails = product.is_empty() && limit.is_none();
                    let is_done = self.components.len() == components || fails;
                    if let Some(component) = if is_done { None } else { self.components.pop() } {
                        if limit.is_some_and(|limit| self.decisions >= limit) {
                            return None;
                        }
                        self.decisions += 1;
                        let (trail, sums) = (self.trail.len(), Sums::default());
                        stack.push(Frame::All { product, components, groups });
                        stack.push(Frame::Either { component, trail, branches: 0, sums });
                    } else {
                        self.components.truncate(components);
                        self.groups.truncate(groups);
                        found = Some(product);
                    }
                }
                Frame::Either { component, trail, mut branches, mut sums } => {
                    if let Some(found) = found.take() {
                        sums.unite(&found);
                        branches += 1;
                        self.undo(trail);
                    }
                    let is_enough = self.weights.is_none() && !sums.is_empty() && limit.is_none();
                    if branches == 2 || is_enough {
                        found = Some(sums);
                        continue;
                    }
                    stack.push(Frame::Either { component, trail, branches, sums });
                    let holds = (branches == 0) == self.clauses.is_positive[component.variable];
                    let literal = Literal::new(component.variable as u32, holds);
                    if self.assign(literal) && self.propagate() {
                        stack.push(self.decompose(component.groups));
                    } else {
                        found = Some(Sums::default());
                    }
                }
            }
        }
        found
    }

    /// Assigns a variable. Returns false if it has the opposite value.
    fn assign(&mut self, literal: Literal) -> bool {
        let value = &mut self.values[literal.variable()];
        if value.is_none() {
            *value = Some(literal.holds());
            self.trail.push(literal);
        }
        *value == Some(literal.holds())
    }

    /// Unit propagation. Returns false if a clause or a group is violated.
    fn propagate(&mut self) -> bool {
        let clauses = self.clauses;
        while let Some(&literal) = self.trail.get(self.propagated) {
            self.propagated += 1;
            let variable = literal.variable();
            let mut agrees = true;
            for &(clause, positive) in clauses.occurrences.get(variable) {
                let state = &mut self.states[clause as usize];
                state.open -= 1;
                state.open_positive -= u32::from(positive);
                state.holding += u32::from(positive == literal.holds());
                if state.holding == 0 && state.open == 1 {
                    self.units.push(clause);
                }
                agrees &= state.holding + state.open > 0;
            }
            if literal.holds() {
                let group = clauses.groups.get(clauses.group_of[variable] as usize);
                let mut others = group.iter().filter(|&&other| other as usize != variable);
                agrees = agrees && others.all(|&other| self.assign(Literal::new(other, false)));
            }
            while let Some(clause) = self.units.pop().filter(|_| agrees) {
                let literals = clauses.clauses.get(clause as usize);
                let open = literals.iter().find(|literal| self.values[literal.variable()].is_none());
                // a literal that is assigned but not yet propagated may already satisfy the clause
                if let Some(&open) = open.filter(|_| self.states[clause as usize].holding == 0) {
                    self.assign(open);
                }
            }
            if !agrees {
                self.units.clear();
                return false;
            }
        }
        true
    }

    /// Undoes all but the first `trail` assignments.
    fn undo(&mut self, trail: usize) {
        for place in (trail..self.trail.len()).rev() {
            let literal = self.trail[place];
            self.values[literal.variable()] = None;
            if place >= self.propagated {
                continue;
            }
            for &(clause, positive) in self.clauses.occurrences.get(literal.variable()) {
                let state = &mut self.states[clause as usize];
                state.open += 1;
                state.open_positive += u32::from(positive);
                state.holding -= u32::from(positive == literal.holds());
            }
        }
        self.trail.truncate(trail);
        self.propagated = self.propagated.min(trail);
    }

    /// Splits some groups into connected components. Groups that need no decision are added to the sums directly.
    fn decompose(&mut self, (first, end): (usize, usize)) -> Frame {
        let mut product = Sums::of(0);
        let (components, groups) = (self.components.len(), self.groups.len());
        self.drop_auxiliary(first, end);
        self.round += 1;
        for place in first..end {
            let group = self.groups[place];
            if std::mem::replace(&mut self.group_rounds[group as usize], self.round) == self.round {
                continue;
            }
            let start = self.groups.len();
            let values =
                || self.clauses.groups.get(group as usize).iter().map(|&one| self.values[one as usize]);
            let (is_there, is_open) =
                (values().any(|one| one == Some(true)), values().any(|one| one.is_none()));
            if is_there {
                product = product.plus(&Sums::of(self.weight(group)));
            } else if is_open && !self.connect(group) {
                self.groups.truncate(start);
                let weight = self.weight(group);
                if weight > 0 {
                    let mut either = Sums::of(0);
                    either.unite(&Sums::of(weight));
                    product = product.plus(&either);
                }
            }
        }
        // the search takes components from the end
        self.components[components..]
            .sort_unstable_by_key(|component| Reverse(self.clauses.rank[component.variable]));
        Frame::All { product, components, groups }
    }

    /// Sets auxiliary variables to false if every clause with their positive literal holds already: they are pure
    /// literals.
    fn drop_auxiliary(&mut self, first: usize, end: usize) {
        let clauses = self.clauses;
        for place in first..end {
            let variable = clauses.groups.get(self.groups[place] as usize)[0] as usize;
            if variable < clauses.entries || self.values[variable].is_some() {
                continue;
            }
            let mut occurrences = clauses.occurrences.get(variable).iter();
            if !occurrences.any(|&(clause, positive)| positive && self.states[clause as usize].holding == 0) {
                self.assign(Literal::new(variable as u32, false));
                self.propagate();
            }
        }
    }

    /// Collects the component of a group. Returns false if it has no clause, or needs no decision because members are
    /// not counted.
    fn connect(&mut self, group: u32) -> bool {
        let clauses = self.clauses;
        let start = self.groups.len();
        self.groups.push(group);
        let (mut at, mut count, mut is_horn) = (start, 0, true);
        let mut variable: Option<usize> = None;
        while at < self.groups.len() {
            let group = self.groups[at];
            at += 1;
            for &member in clauses.groups.get(group as usize) {
                if self.values[member as usize].is_some() {
                    continue;
                }
                for &(clause, _) in clauses.occurrences.get(member as usize) {
                    let state = &self.states[clause as usize];
                    let seen = &mut self.clause_rounds[clause as usize];
                    if state.holding > 0 || std::mem::replace(seen, self.round) == self.round {
                        continue;
                    }
                    count += 1;
                    is_horn &= state.open_positive <= 1;
                    let literals = clauses.clauses.get(clause as usize).iter().map(|one| one.variable());
                    for other in literals.filter(|&other| self.values[other].is_none()) {
                        if variable.is_none_or(|best| clauses.rank[other] < clauses.rank[best]) {
                            variable = Some(other);
                        }
                        let group = clauses.group_of[other];
                        let seen = &mut self.group_rounds[group as usize];
                        if std::mem::replace(seen, self.round) != self.round {
                            self.groups.push(group);
                        }
                    }
                }
            }
        }
        match variable {
            Some(variable) if self.weights.is_some() || !is_horn && count > 1 => {
                self.components.push(Component { groups: (start, self.groups.len()), variable });
                true
            }
            _ => {
                self.groups.truncate(start);
                false
            }
        }
    }

    fn weight(&self, group: u32) -> usize {
        let first = self.clauses.groups.get(group as usize)[0] as usize;
        match &self.weights {
            Some(weights) if first < self.clauses.keyed => weights.keyed,
            Some(weights) if first < self.clauses.entries => weights.keyless,
            _ => 0,
        }
    }
}
