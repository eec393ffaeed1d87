//! Passing over splits that lead to one state only: fewer steps in closures, equal configurations more
//! often, and more calls that are seen to be the last thing their rule does.

use super::lower::Lowering;
use super::state::{State, StateId};

impl Lowering<'_> {
    pub(super) fn pass_over_splits(&mut self) {
        let count = self.automaton.states.len();
        let mut target: Vec<Option<StateId>> = vec![None; count];
        for index in 0..count {
            if !matches!(self.automaton.states[index], State::Split { len: 1, .. }) {
                continue;
            }
            let mut path = Vec::new();
            let mut at = index;
            let end = loop {
                if let Some(known) = target[at] {
                    break known;
                }
                match self.automaton.states[at] {
                    State::Split { first, len: 1 } if path.len() <= count => {
                        path.push(at);
                        at = self.automaton.splits[first as usize].index();
                    }
                    _ => break StateId(at as u32),
                }
            };
            path.into_iter().for_each(|passed| target[passed] = Some(end));
            target[index].get_or_insert(end);
        }
        let to = |state: &mut StateId| *state = target[state.index()].unwrap_or(*state);
        let automaton = &mut self.automaton;
        for state in &mut automaton.states {
            match state {
                State::Byte { next, .. } | State::ByteOr { next, .. } | State::Named { next } => to(next),
                State::Call { start, to_return } => {
                    to(start);
                    to(to_return);
                }
                _ => {}
            }
        }
        automaton.edges.iter_mut().for_each(|edge| to(&mut edge.next));
        automaton.splits.iter_mut().for_each(&to);
        for counted in &mut automaton.loops {
            to(&mut counted.body);
            to(&mut counted.exit);
            to(&mut counted.after_first);
        }
        for list in &mut automaton.members {
            let starts = list.values.iter_mut().chain(&mut list.rest).chain(&mut list.one);
            starts.chain(&mut list.names).for_each(&to);
            to(&mut list.separator);
            to(&mut list.exit);
        }
        for list in &mut automaton.distincts {
            list.items.iter_mut().for_each(&to);
            to(&mut list.separator);
            to(&mut list.exit);
        }
        for lockstep in &mut automaton.locksteps {
            to(&mut lockstep.exit);
            lockstep.operands.iter_mut().filter_map(|operand| operand.start.as_mut()).for_each(&to);
        }
        automaton.name_starts.iter_mut().for_each(&to);
        to(&mut automaton.start);
        let mut ranks = rustc_hash::FxHashMap::default();
        for (mut start, rank) in automaton.ranks.drain() {
            to(&mut start);
            let known = ranks.entry(start).or_insert(rank);
            *known = rank.max(*known);
        }
        automaton.ranks = ranks;
    }
}
