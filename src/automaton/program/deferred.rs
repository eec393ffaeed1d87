//! Blocks of states that are created when a text first reaches them. Blocks are only added, so existing blocks can be
//! read without a lock.

use super::block::Block;
use super::ids::StateId;
use crate::automaton::tuning::NEAR_PAGES;
use crate::collections::append_vec::AppendVec;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

/// The number of ids of a page. The first id of each block is a multiple of it.
pub(in crate::automaton) const PAGE: usize = 64;

/// The blocks lowered after the automaton was created.
#[derive(Debug)]
pub(in crate::automaton) struct DeferredBlocks {
    /// The first id of the deferred blocks.
    first: u32,
    /// Per page of ids, the block that contains it.
    near: Box<[OnceLock<Arc<Block>>]>,
    /// The pages after the pages of `near`.
    far: AppendVec<OnceLock<Arc<Block>>>,
    /// Per part, its start, once it is lowered.
    starts: AppendVec<OnceLock<StateId>>,
    states: AtomicUsize,
    bytes: AtomicUsize,
}

impl DeferredBlocks {
    /// An empty table of blocks, whose ids will follow the ids of the block `ahead`, which starts at 0. `states`
    /// estimates the number of states, for the first allocation.
    pub(in crate::automaton) fn new(ahead: &Block, states: usize) -> DeferredBlocks {
        let pages = states / (PAGE / 2) + 8;
        DeferredBlocks {
            first: ahead.span().next_multiple_of(PAGE) as u32,
            near: (0..pages.min(NEAR_PAGES)).map(|_| OnceLock::new()).collect(),
            far: AppendVec::default(),
            starts: AppendVec::default(),
            states: AtomicUsize::new(0),
            bytes: AtomicUsize::new(0),
        }
    }

    /// The first id of the deferred blocks.
    pub(in crate::automaton) fn first(&self) -> u32 {
        self.first
    }

    /// The block that contains an id of at least `first`. Panics if there is no such block.
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

    /// The number of states of all deferred blocks.
    pub(in crate::automaton) fn states(&self) -> usize {
        self.states.load(Ordering::Relaxed)
    }

    /// Bytes on the heap of all deferred blocks.
    pub(in crate::automaton) fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }

    /// The start of a part, if it is lowered.
    #[inline]
    pub(in crate::automaton) fn start(&self, part: u32) -> Option<StateId> {
        self.starts.get(part as usize)?.get().copied()
    }

    /// Stores the start of a part, unless it has one already.
    pub(in crate::automaton) fn set_start(&self, part: u32, start: StateId) {
        self.starts.entry(part as usize).get_or_init(|| start);
    }

    /// Adds a block, and returns the first id that the next block may use. Only one thread may call this at a time.
    pub(in crate::automaton) fn publish(&self, block: Block) -> usize {
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
