//! Elimination of splits with one target. Closures take fewer steps, equal configurations occur more often, and more
//! calls are recognised as the last step of their rule.

use super::Lowering;
use crate::automaton::program::ids::StateId;
use crate::automaton::program::state::State;

impl Lowering<'_> {
    pub(in crate::automaton) fn eliminate_unit_splits(&mut self) {
        let targets = self.targets();
        let mut block = std::mem::take(&mut self.block);
        let first = block.first;
        let to = |state: &mut StateId| {
            *state = match state.0.checked_sub(first) {
                Some(at) => targets[at as usize].unwrap_or(*state),
                // in older blocks, splits with one target are already eliminated
                None => self.older.map_or(*state, |older| older.single(*state)),
            };
        };
        for state in &mut block.states {
            match state {
                State::Byte { next, .. } | State::ByteOr { next, .. } | State::Token { next, .. } => to(next),
                State::Call { start, to_return } => {
                    to(start);
                    to(to_return);
                }
                _ => {}
            }
        }
        block.edges.iter_mut().for_each(|edge| to(&mut edge.next));
        block.splits.iter_mut().for_each(&to);
        block.records.each_target_mut(&mut |state| to(state));
        block.ranks.iter_mut().for_each(|(start, _)| to(start));
        // a start that replaces several starts gets the highest of their ranks
        block.ranks.sort_unstable_by_key(|&(start, rank)| (start, std::cmp::Reverse(rank)));
        block.ranks.dedup_by_key(|rank| rank.0);
        self.block = block;
    }

    /// Per state of the block that is a split with one target, the final target.
    fn targets(&self) -> Vec<Option<StateId>> {
        let count = self.block.states.len();
        let mut targets: Vec<Option<StateId>> = vec![None; count];
        let mut path = Vec::new();
        for index in 0..count {
            if !matches!(self.block.states[index], State::Split { len: 1, .. }) {
                continue;
            }
            let mut at = StateId(self.block.first + index as u32);
            let end = loop {
                if !self.block.is_here(at) {
                    break self.single(at);
                }
                let place = self.block.at(at.0);
                if let Some(known) = targets[place] {
                    break known;
                }
                match self.block.states[place] {
                    State::Split { first, len: 1 } if path.len() <= count => {
                        path.push(place);
                        at = self.block.splits(first, 1)[0];
                    }
                    _ => break at,
                }
            };
            path.drain(..).for_each(|passed| targets[passed] = Some(end));
        }
        targets
    }

    /// The target of a split with one target, after elimination; otherwise the state itself.
    pub(in crate::automaton) fn single(&self, state: StateId) -> StateId {
        match self.state(state) {
            State::Split { first, len: 1 } => self.splits(first, 1)[0],
            _ => state,
        }
    }
}
