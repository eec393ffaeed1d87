//! What is lowered later: parts of the grammar that are entered after a byte at the earliest, when a configuration first
//! enters them.
//!
//! A part stands in the automaton as a [`State::Deferred`]. Who first reaches it lowers it to a [`Block`] of its own, while
//! others wait; blocks are only added, so all that there is can be read without a lock. Nothing is found out here that an
//! author of a grammar must know: which expressions have words is known, products have been searched, the number of
//! states has been bounded.

use super::{Lowering, LoweringState, Pending};
use crate::automaton::Automaton;
use crate::automaton::errors;
use crate::automaton::program::block::Block;
use crate::automaton::program::ids::StateId;
use crate::automaton::tuning::NEAR_PAGES;
use crate::collections::append_vec::AppendVec;
use crate::error::{Error, Result};
use crate::grammar::{ExprId, Grammar, Unit, least_lengths};
use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// A block begins at an id that is a multiple of this.
const PAGE: usize = 64;

/// The blocks that are made later, and what it takes to make them.
pub(in crate::automaton) struct Deferred {
    /// The first id of the blocks made later.
    first: u32,
    /// Per page of ids the block that lies there.
    near: Box<[OnceLock<Arc<Block>>]>,
    /// The pages after those.
    far: AppendVec<OnceLock<Arc<Block>>>,
    /// Per part: where it begins, once it is lowered.
    starts: AppendVec<OnceLock<StateId>>,
    work: Mutex<Work>,
    states: AtomicUsize,
    bytes: AtomicUsize,
}

struct Work {
    grammar: Grammar,
    /// What lowering goes on with; nothing if it has failed.
    kept: Option<Box<LoweringState>>,
    failed: Option<Error>,
    /// The first id of the next block.
    next: usize,
}

impl fmt::Debug for Deferred {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Later").field("states", &self.states).finish_non_exhaustive()
    }
}

impl Deferred {
    /// Nothing made yet, beside the block of ids from 0 on that is made ahead.
    pub(in crate::automaton) fn new(ahead: &Block, grammar: &Grammar, kept: Box<LoweringState>) -> Deferred {
        let next = ahead.span().next_multiple_of(PAGE);
        let first = next as u32;
        let pages = kept.costs.all() as usize / (PAGE / 2) + 8;
        let work = Work { grammar: grammar.clone(), kept: Some(kept), failed: None, next };
        Deferred {
            first,
            near: (0..pages.min(NEAR_PAGES)).map(|_| OnceLock::new()).collect(),
            far: AppendVec::default(),
            starts: AppendVec::default(),
            work: Mutex::new(work),
            states: AtomicUsize::new(0),
            bytes: AtomicUsize::new(0),
        }
    }

    pub(in crate::automaton) fn first(&self) -> u32 {
        self.first
    }

    /// The block of an id beyond those of the block made ahead.
    #[inline]
    pub(in crate::automaton) fn block(&self, id: u32) -> &Block {
        let page = (id - self.first) as usize / PAGE;
        let entry = match self.near.get(page) {
            Some(entry) => Some(entry),
            None => self.far.get(page - self.near.len()),
        };
        match entry.and_then(OnceLock::get) {
            Some(block) => block,
            None => unreachable!("ids come from blocks that are there"),
        }
    }

    /// How many states have been made.
    pub(in crate::automaton) fn states(&self) -> usize {
        self.states.load(Ordering::Relaxed)
    }

    /// Bytes on the heap of what has been made.
    pub(in crate::automaton) fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }

    fn publish(&self, block: Block) -> usize {
        let (first, span) = (block.first as usize, block.span());
        self.states.fetch_add(block.states.len(), Ordering::Relaxed);
        self.bytes.fetch_add(block.memory_usage() + size_of::<Block>(), Ordering::Relaxed);
        let block = Arc::new(block);
        let from = (first - self.first as usize) / PAGE;
        for page in from..from + span.div_ceil(PAGE) {
            let entry = match self.near.get(page) {
                Some(entry) => entry,
                None => self.far.entry(page - self.near.len()),
            };
            entry.get_or_init(|| Arc::clone(&block));
        }
        (first + span).next_multiple_of(PAGE)
    }
}

impl Automaton {
    /// Where a part begins, if it is lowered.
    pub(in crate::automaton) fn lowered(&self, part: u32) -> Option<StateId> {
        self.deferred.as_ref()?.starts.get(part as usize)?.get().copied()
    }

    /// The expression that a part stands for, and whether its empty word counts; unless lowering has failed.
    pub(in crate::automaton) fn expression_of_part(&self, part: u32) -> Option<(ExprId, bool)> {
        let work = self.deferred.as_ref()?.work.lock().unwrap_or_else(PoisonError::into_inner);
        match work.kept.as_ref()?.parts.get(part as usize)?.0 {
            Pending::Rule(rule) => Some((work.grammar.rule(rule).body, false)),
            Pending::Shared(id) => Some((id, false)),
            Pending::Value(id) => Some((id, true)),
        }
    }

    /// The least lengths of the words of all expressions, if some of them are lowered later.
    pub(in crate::automaton) fn least_lengths_of_parts(&self, unit: Unit) -> Vec<u32> {
        let Some(deferred) = &self.deferred else { return Vec::new() };
        let work = deferred.work.lock().unwrap_or_else(PoisonError::into_inner);
        let grammar = work.grammar.clone();
        drop(work);
        least_lengths(&grammar, unit)
    }

    /// Where a part begins, and how many states this call has made: it lowers the part if nobody has. What that takes is
    /// bounded ahead and counted by the caller afterwards, so that it cannot fail for a lack of work, of which there is more
    /// the next time: an error here is one of the grammar, and stays.
    pub(in crate::automaton) fn part(&self, part: u32) -> Result<(StateId, usize)> {
        if let Some(start) = self.lowered(part) {
            return Ok((start, 0));
        }
        let Some(deferred) = &self.deferred else { return Err(errors::not_lowered()) };
        let mut work = deferred.work.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(start) = self.lowered(part) {
            return Ok((start, 0));
        }
        let Work { grammar, kept, failed, next } = &mut *work;
        let Some(taken) = kept.take() else {
            return Err(failed.clone().unwrap_or_else(errors::not_lowered));
        };
        let mut lowering = Lowering::resume(grammar, self, taken, *next as u32);
        let start = match lowering.part(part) {
            Ok(start) => start,
            Err(error) => return Err(failed.insert(error).clone()),
        };
        let (block, parts, back) = lowering.into_parts();
        let states = block.states.len();
        *next = deferred.publish(block);
        for (part, start) in parts {
            deferred.starts.entry(part as usize).get_or_init(|| start);
        }
        *kept = Some(back);
        Ok((start, states))
    }
}
