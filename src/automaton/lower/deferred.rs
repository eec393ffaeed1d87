//! Deferred lowering: parts of the grammar that are entered only after a byte are lowered when a configuration first
//! enters them.
//!
//! In the automaton a part is a [`State::Deferred`](crate::automaton::program::state::State::Deferred). The thread that
//! first reaches the part lowers it to a block of its own, while other threads wait. Nothing that the author of a
//! grammar must know is discovered here: productive expressions are known, products were searched, and the number of
//! states was bounded.

use super::{Lowering, LoweringState, Pending, Provenance};
use crate::automaton::errors;
use crate::automaton::program::automaton::{Automaton, LowersParts};
use crate::automaton::program::block::Block;
use crate::automaton::program::deferred::PAGE;
use crate::automaton::program::ids::StateId;
use crate::error::Result;
use crate::grammar::{ExprId, Grammar};
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The data for lowering the remaining parts.
pub(in crate::automaton) struct Deferred(Mutex<Work>);

struct Work {
    grammar: Grammar,
    /// The state of lowering; `None` only while a part is lowered, and if that has panicked.
    kept: Option<Box<LoweringState>>,
    /// The first id of the next block.
    next: usize,
}

impl fmt::Debug for Deferred {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Deferred").finish_non_exhaustive()
    }
}

impl Deferred {
    /// The data for blocks whose ids will follow the ids of the block `ahead`, which starts at 0.
    pub(in crate::automaton) fn new(ahead: &Block, grammar: &Grammar, kept: Box<LoweringState>) -> Deferred {
        let next = ahead.span().next_multiple_of(PAGE);
        Deferred(Mutex::new(Work { grammar: grammar.clone(), kept: Some(kept), next }))
    }

    fn lock(&self) -> MutexGuard<'_, Work> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The sizes of the state of lowering before a block, to undo what a block that fails has added.
struct Before {
    /// The first id of the block.
    first: u32,
    parts: usize,
    rank: u32,
    states: usize,
    members: usize,
    items: usize,
    ones: usize,
}

impl Before {
    fn new(kept: &LoweringState, first: u32) -> Before {
        let Provenance { members, items, ones, names: _ } = &kept.provenance;
        let (members, items, ones) = (members.len(), items.len(), ones.len());
        Before { first, parts: kept.parts.len(), rank: kept.rank, states: kept.states, members, items, ones }
    }

    /// Removes the parts and states of the block. A part that was begun in it is deferred again.
    fn restore(&self, kept: &mut LoweringState) {
        // beyond the limit of states the accepting state replaces every state
        let is_older = |state: &StateId| state.0 < self.first && *state != StateId::ACCEPT;
        kept.class_tails.retain(|_, state| is_older(state));
        kept.shared_starts.retain(|_, state| is_older(state));
        kept.rule_starts.iter_mut().for_each(|start| *start = start.filter(is_older));
        kept.starts.iter_mut().for_each(|start| *start = start.filter(is_older));
        kept.starts.truncate(self.parts);
        kept.parts.truncate(self.parts);
        (kept.rank, kept.states) = (self.rank, self.states);
        let Provenance { members, items, ones, names } = &mut kept.provenance;
        members.truncate(self.members);
        items.truncate(self.items);
        ones.truncate(self.ones);
        names.retain(|_, state| is_older(state));
    }
}

impl LowersParts for Deferred {
    fn lower(&self, automaton: &Automaton, part: u32) -> Result<(StateId, usize)> {
        let Some(blocks) = &automaton.deferred else { return Err(errors::not_lowered()) };
        let mut work = self.lock();
        // another thread may have lowered the part in the meantime
        if let Some(start) = blocks.start(part) {
            return Ok((start, 0));
        }
        let Work { grammar, kept, next } = &mut *work;
        let Some(taken) = kept.take() else { return Err(errors::not_lowered()) };
        let before = Before::new(&taken, *next as u32);
        let mut lowering = Lowering::resume(grammar, automaton, taken, *next as u32);
        let start = match lowering.part(part) {
            Ok(start) => start,
            Err(error) => {
                // other parts can still be lowered
                let mut taken = lowering.kept;
                before.restore(&mut taken);
                *kept = Some(taken);
                return Err(error);
            }
        };
        let (block, parts, back) = lowering.into_parts();
        let states = block.states.len();
        *next = blocks.publish(block);
        parts.into_iter().for_each(|(part, start)| blocks.set_start(part, start));
        *kept = Some(back);
        Ok((start, states))
    }

    fn expression(&self, part: u32) -> Option<(ExprId, bool)> {
        let work = self.lock();
        match work.kept.as_ref()?.parts.get(part as usize)?.0 {
            Pending::Rule(rule) => Some((work.grammar.rule(rule).body, false)),
            Pending::Shared(id) => Some((id, false)),
            Pending::Value(id) => Some((id, true)),
        }
    }

    fn grammar(&self) -> Grammar {
        self.lock().grammar.clone()
    }
}

#[cfg(test)]
mod tests {
    use crate::automaton::program::automaton::Automaton;
    use crate::automaton::run::cache::Cache;
    use crate::automaton::run::lazy::Lazy;
    use crate::grammar::{Grammar, GrammarBuilder};
    use crate::limits::Limits;

    /// `root ::= "a" x`, `x ::= "b" y+ z?`, `y ::= "(" x ")" | "c"`, `z ::= "d" x`.
    fn grammar() -> Grammar {
        let mut g = GrammarBuilder::new();
        let [root, x, y, z] = ["root", "x", "y", "z"].map(|name| g.declare(name));
        let [a, b, c, d, open, close] = ["a", "b", "c", "d", "(", ")"].map(|text| g.text(text));
        let [to_x, to_y, to_z] = [x, y, z].map(|rule| g.rule(rule));
        let body = g.sequence([a, to_x]);
        g.define(root, body);
        let (many, last) = (g.plus(to_y), g.optional(to_z));
        let body = g.sequence([b, many, last]);
        g.define(x, body);
        let nested = g.sequence([open, to_x, close]);
        let body = g.choice([nested, c]);
        g.define(y, body);
        let body = g.sequence([d, to_x]);
        g.define(z, body);
        g.build(root).unwrap()
    }

    fn accepts(automaton: &Automaton, text: &str) -> bool {
        let mut cache = Cache::new();
        let mut lazy = Lazy::new(automaton, &mut cache);
        let mut at = lazy.start().unwrap();
        for byte in text.bytes() {
            at = lazy.step(at, byte).unwrap();
        }
        lazy.is_accepting(at)
    }

    #[test]
    fn a_part_that_fails_leaves_the_other_parts_as_they_were() {
        let mut automaton = Automaton::new(&grammar(), &Limits::default()).unwrap();
        let enough = automaton.limits.clone();
        let count = |automaton: &Automaton| {
            let later = automaton.later.as_ref().unwrap();
            (0..).take_while(|&part| later.expression(part).is_some()).count() as u32
        };
        let parts = count(&automaton);
        assert!(parts > 0);
        let states = automaton.state_count();
        for most in [0, states, states + 1, states + 2] {
            automaton.limits = enough.clone().automaton_states(most);
            for part in 0..parts {
                let error = automaton.later.as_ref().unwrap().lower(&automaton, part).unwrap_err();
                assert_eq!(error.code(), "limit/exceeded");
            }
            assert_eq!((count(&automaton), automaton.state_count()), (parts, states));
        }
        automaton.limits = enough;
        let whole = Automaton::new(&grammar(), &Limits::default()).unwrap();
        for text in ["abc", "ab(bc)c", "ab(b(bccdbc)c)dbc", "ab", "abcd", "ab(bc", "abcdb(bc)"] {
            assert_eq!(accepts(&automaton, text), accepts(&whole, text), "{text}");
        }
        assert!(accepts(&automaton, "ab(b(bccdbc)c)dbc") && !accepts(&automaton, "abcd"));
    }
}
