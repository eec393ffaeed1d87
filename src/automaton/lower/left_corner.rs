//! The left-corner transform of a group of callables that left-call each other.
//!
//! To read a *goal* `A` of the group, read a beginning of some member `B`. After a member `C` was read, continue with
//! any `B -> C rest`, or stop if `C` is `A`. A goal has a state per member, so a group costs the product of its goals
//! and its members. Goals are only the members that are still called after the left calls inside the group are removed
//! (the *retained* nonterminals of Johnson and Roark, "Compact non-left-recursive grammars using the selective
//! left-corner transform", 2000): a chain of `n` left-recursive rules that is entered at one of them costs `n`, not its
//! square. The size of a group is known before any of it is built.

use super::Lowering;
use crate::automaton::errors;
use crate::automaton::program::ids::StateId;
use crate::automaton::program::state::State;
use crate::diagnostic::Place;
use crate::error::{Error, Result};
use crate::limits::{LimitKind, Limits};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

/// The continuation of a member of a group after it has left-called another member.
struct Continuation {
    /// The index of the callee in the group.
    read: usize,
    /// The index of the caller in the group.
    member: usize,
    to_return: StateId,
}

/// How the members of a group begin.
struct Group<'s> {
    starts: &'s [StateId],
    /// Per member, the states outside of the group that it begins with.
    outside: Vec<Vec<StateId>>,
    inside: Vec<Continuation>,
}

/// The index of the group of each start.
type GroupOf = FxHashMap<StateId, usize>;

impl Lowering<'_> {
    /// Transforms all groups. See [`order_callables`](Lowering::order_callables) for `root`.
    pub(in crate::automaton) fn remove_left_recursion(
        &mut self,
        groups: &[Vec<StateId>],
        root: Option<StateId>,
    ) -> Result<()> {
        let groups = groups.iter().map(|starts| self.group(starts)).collect::<Result<Vec<_>>>()?;
        let goals = root.and_then(|root| self.retained(&groups, root));
        for group in &groups {
            let is_goal = |start: &StateId| goals.as_ref().is_none_or(|goals| goals.contains(start));
            self.left_corner(group, is_goal)?;
        }
        Ok(())
    }

    fn group<'s>(&self, starts: &'s [StateId]) -> Result<Group<'s>> {
        let place_of: FxHashMap<StateId, usize> = starts.iter().enumerate().map(|(i, &s)| (s, i)).collect();
        let (mut outside, mut inside) = (vec![Vec::new(); starts.len()], Vec::new());
        for (member, &start) in starts.iter().enumerate() {
            for state in self.entries(start).0 {
                let callee = self.left_callees(state).iter().find_map(|start| place_of.get(start).copied());
                match (callee, self.state(state)) {
                    (None, _) => outside[member].push(state),
                    (Some(read), State::Call { to_return, .. }) => {
                        inside.push(Continuation { read, member, to_return });
                    }
                    (Some(_), _) => return Err(errors::left_recursive_rest()),
                }
            }
        }
        Ok(Group { starts, outside, inside })
    }

    /// The starts that are called from the root, or from names whose words are counted, other than by left calls inside
    /// their group; `None` if deferred parts remain, which may call any start.
    fn retained(&self, groups: &[Group<'_>], root: StateId) -> Option<FxHashSet<StateId>> {
        let mut group_of = GroupOf::default();
        for (place, group) in groups.iter().enumerate() {
            group_of.extend(group.starts.iter().map(|&start| (start, place)));
        }
        let mut goals = FxHashSet::default();
        let mut entered = vec![false; groups.len()];
        let mut seen: FxHashSet<StateId> = FxHashSet::default();
        let mut open: Vec<StateId> = vec![root];
        // the words from these starts are counted after lowering, whether or not the starts are called
        open.extend(self.kept.provenance.names.values().chain(&self.kept.provenance.ones));
        while let Some(state) = open.pop() {
            if let Some(&place) = group_of.get(&state) {
                goals.insert(state);
                if !std::mem::replace(&mut entered[place], true) {
                    let group = &groups[place];
                    open.extend(group.outside.iter().flatten());
                    open.extend(group.inside.iter().map(|next| next.to_return));
                }
            } else if seen.insert(state) {
                if matches!(self.state(state), State::Deferred(_)) {
                    return None;
                }
                self.add_next(state, &mut open);
            }
        }
        Some(goals)
    }

    /// Appends all states that a state leads to or calls.
    fn add_next(&self, state: StateId, next: &mut Vec<StateId>) {
        match self.state(state) {
            State::Accept | State::Deferred(_) => {}
            State::Byte { next: after, .. } | State::Token { next: after, .. } => next.push(after),
            State::ByteOr { next: after, otherwise, .. } => next.extend([after, otherwise]),
            State::Bytes { first, len } => next.extend(self.edges(first, len).iter().map(|edge| edge.next)),
            State::Split { first, len } => next.extend_from_slice(self.splits(first, len)),
            State::Call { start, to_return } => next.extend([start, to_return]),
            State::Register { kind, record, .. } => {
                let record = (kind, self.block.at(record));
                self.block.records.each_target_of(record, &mut |after| next.push(after));
            }
        }
    }

    /// Refuses a group whose transform would exceed the limit of states.
    fn check_size(&self, group: &Group<'_>, goals: usize) -> Result<()> {
        // per goal and member: the state after the member was read, and the calls of its beginnings and continuations
        let each = 2 * group.starts.len() + 2 * group.inside.len();
        let (limit, left) = self.states_left();
        if goals.saturating_mul(each) <= left {
            return Ok(());
        }
        let rule = |start: &StateId| self.rule_name(*start);
        let first = group.starts.iter().filter_map(rule).next().unwrap_or_default();
        let members = group.starts.len();
        let found = format!(
            "{members} rules that call each other before they read anything, {goals} of them from elsewhere"
        );
        let error = Limits::exceeded(LimitKind::AutomatonStates, limit, found);
        Err(Error::new(error.kind(), error.diagnostic().clone().at(Place::Rule(first.into()))))
    }

    fn left_corner(&mut self, group: &Group<'_>, is_goal: impl Fn(&StateId) -> bool) -> Result<()> {
        let count = group.starts.len();
        self.check_size(group, group.starts.iter().filter(|start| is_goal(start)).count())?;
        let beginnings: Vec<Option<StateId>> = group
            .outside
            .iter()
            .map(|outside| (!outside.is_empty()).then(|| self.callable_of(outside)))
            .collect();
        // per member: the members that continue it, each with its rest, if any, and whether the rest may be empty
        let mut continuations: Vec<Vec<(usize, Option<StateId>, bool)>> = vec![Vec::new(); count];
        for &Continuation { read, member, to_return } in &group.inside {
            let (rest, may_be_empty) = self.entries(to_return);
            let rest = (!rest.is_empty()).then(|| self.callable_of(&rest));
            continuations[read].push((member, rest, may_be_empty));
        }
        for (goal, start) in group.starts.iter().enumerate() {
            if is_goal(start) {
                self.read_goal(goal, *start, &beginnings, &continuations);
            } else {
                self.fill_split(*start, &[]);
            }
        }
        Ok(())
    }

    fn read_goal(
        &mut self,
        goal: usize,
        start: StateId,
        beginnings: &[Option<StateId>],
        continuations: &[Vec<(usize, Option<StateId>, bool)>],
    ) {
        let done: Vec<StateId> = beginnings.iter().map(|_| self.open_split()).collect();
        let mut targets: SmallVec<[StateId; 8]> = SmallVec::new();
        for (&beginning, &to_return) in beginnings.iter().zip(&done) {
            targets.extend(beginning.map(|start| self.add_state(State::Call { start, to_return })));
        }
        self.fill_split(start, &targets);
        for (read, continuations) in continuations.iter().enumerate() {
            targets.clear();
            targets.extend((read == goal).then_some(StateId::ACCEPT));
            for &(member, rest, may_be_empty) in continuations {
                let to_return = done[member];
                targets.extend(may_be_empty.then_some(to_return));
                targets.extend(rest.map(|start| self.add_state(State::Call { start, to_return })));
            }
            self.fill_split(done[read], &targets);
        }
    }

    fn callable_of(&mut self, entries: &[StateId]) -> StateId {
        let start = self.open_callable();
        self.fill_split(start, entries);
        start
    }
}
