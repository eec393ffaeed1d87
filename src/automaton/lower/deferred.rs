//! Deferred lowering: parts of the grammar that are entered only after a byte are lowered when a configuration first
//! enters them.
//!
//! In the automaton a part is a [`State::Deferred`](crate::automaton::program::state::State::Deferred). The thread that
//! first reaches the part lowers it to a block of its own, while other threads wait. Nothing that the author of a
//! grammar must know is discovered here: productive expressions are known, products were searched, and the number of
//! states was bounded.

use super::{Lowering, LoweringState, Pending};
use crate::attribution::{self, Cause};
use crate::automaton::errors;
use crate::automaton::program::automaton::{Automaton, LowersParts};
use crate::automaton::program::block::Block;
use crate::automaton::program::deferred::PAGE;
use crate::automaton::program::ids::StateId;
use crate::error::{Error, Result};
use crate::grammar::{ExprId, Grammar};
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The data for lowering the remaining parts.
pub(in crate::automaton) struct Deferred(Mutex<Work>);

struct Work {
    grammar: Grammar,
    /// The state of lowering; `None` if lowering has failed.
    kept: Option<Box<LoweringState>>,
    failed: Option<Error>,
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
        Deferred(Mutex::new(Work { grammar: grammar.clone(), kept: Some(kept), failed: None, next }))
    }

    fn lock(&self) -> MutexGuard<'_, Work> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl LowersParts for Deferred {
    fn lower(&self, automaton: &Automaton, part: u32) -> Result<(StateId, usize)> {
        let Some(blocks) = &automaton.deferred else { return Err(errors::not_lowered()) };
        let _scope = attribution::enter(Cause::Lowering);
        let mut work = self.lock();
        // another thread may have lowered the part in the meantime
        if let Some(start) = blocks.start(part) {
            return Ok((start, 0));
        }
        let Work { grammar, kept, failed, next } = &mut *work;
        let Some(taken) = kept.take() else {
            return Err(failed.clone().unwrap_or_else(errors::not_lowered));
        };
        let mut lowering = Lowering::resume(grammar, automaton, taken, *next as u32);
        let start = match lowering.part(part) {
            Ok(start) => start,
            Err(error) => return Err(failed.insert(error).clone()),
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
