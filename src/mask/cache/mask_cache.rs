//! The lazily computed tables of one compiled grammar. Any thread reads computed data without a lock ([`Snapshot`]).
//! Missing data is computed once, under one lock and within one memory bound ([`MaskCache`]).
//!
//! When the bound is reached, all tables are dropped, and ids get a new meaning. Outside of the lock an id is therefore
//! always stored with its generation of tables, as a [`Located`]. A lookup in the tables of another generation returns
//! "unknown".

mod completions;

use super::reentry::{Ground, Reentry};
use super::shared::Shared;
use crate::automaton::{Automaton, Cache, ConfigurationId, Facts, Lazy, Transitions};
use crate::collections::append_vec::AppendVec;
use crate::error::Result;
use crate::mask::base::{Base, BaseState, NameEnds};
use crate::mask::completion::{Completions, KeptMasks};
use crate::mask::compute;
use crate::mask::compute::Resources;
use crate::mask::compute::records::ResidualMasks;
use crate::mask::parts::Parts;
use crate::mask::strategy::{StrategyCounts, StrategySet};
use crate::mask::terminals::Terminals;
use crate::mask::token_mask::TokenMask;
use crate::mask::token_set::ScratchBits;
use crate::token_index::TokenIndex;
use crate::vocabulary::TokenId;
use crate::work::Budget;
use arc_swap::ArcSwap;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

/// Maximum steps of work of one call of [`MaskCache::find_base_states`].
const REENTRY_WORK: u64 = 1 << 16;

/// A configuration: its id, and the generation of tables of the id. Code that does not hold the engine's lock sees no
/// id without its generation; [`Snapshot`] compares generations before it uses an id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Located {
    generation: u64,
    id: ConfigurationId,
    end: TextEnd,
}

/// Whether the text that led to a configuration is a word. This holds for every configuration of that text, in any
/// generation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TextEnd {
    /// The text is not a word.
    Open,
    /// The text is a word.
    Word,
    /// The text is a word, and is not a proper prefix of another word.
    LastWord,
}

impl Located {
    /// An unknown configuration, of no generation: finding it requires the text. `is_word` says whether the text is a
    /// word, and `is_last` whether no longer word begins with the text.
    pub(crate) fn unknown(is_word: bool, is_last: bool) -> Located {
        let end = match is_word {
            false => TextEnd::Open,
            true if is_last => TextEnd::LastWord,
            true => TextEnd::Word,
        };
        Located { generation: u64::MAX, id: ConfigurationId::UNKNOWN, end }
    }

    /// Whether the configuration is the dead one, which has no completion.
    #[inline]
    pub(crate) fn is_dead(self) -> bool {
        self.id == ConfigurationId::DEAD
    }

    /// Whether the text that led to the configuration is a word.
    pub(crate) fn is_accepting(self) -> bool {
        self.end != TextEnd::Open
    }

    /// Whether the text that led to the configuration is a word that is not a proper prefix of another word.
    pub(crate) fn is_final(self) -> bool {
        self.end == TextEnd::LastWord
    }
}

/// The published data of one generation of tables, readable by any thread. It grows; transitions and masks never change
/// once they are set.
#[derive(Debug)]
pub(crate) struct Snapshot {
    generation: u64,
    start: OnceLock<Located>,
    transitions: Arc<Transitions>,
    masks: AppendVec<OnceLock<Arc<TokenMask>>>,
    /// Per configuration: its place in a mask file plus one, or 0 if unknown.
    base_states: AppendVec<AtomicU32>,
    /// Per configuration: its masks within budgets.
    within: AppendVec<OnceLock<ArcSwap<KeptMasks>>>,
    /// Bytes of everything computed for the grammar, when this was last [published](MaskCache::publish_size).
    bytes: AtomicUsize,
    /// Whether the snapshot was read since the last [`take_read`](Snapshot::take_read).
    is_read: AtomicBool,
}

impl Snapshot {
    /// The start configuration, if it is known.
    pub(crate) fn start(&self) -> Option<Located> {
        self.start.get().copied()
    }

    #[inline]
    fn located(&self, id: ConfigurationId) -> Located {
        let end = match self.transitions.is_accepting(id) {
            false => TextEnd::Open,
            true if self.transitions.is_final(id) => TextEnd::LastWord,
            true => TextEnd::Word,
        };
        Located { generation: self.generation, id, end }
    }

    /// The id of a configuration, if it belongs to this generation.
    #[inline]
    fn id(&self, at: Located) -> Option<ConfigurationId> {
        (at.generation == self.generation).then_some(at.id)
    }

    /// The mask of a configuration, if it was computed.
    #[inline]
    pub(crate) fn mask(&self, at: Located) -> Option<&Arc<TokenMask>> {
        self.masks.get(self.id(at)?.index())?.get()
    }

    /// The configuration after some bytes (possibly the dead one), and the indices of the bytes that end names. `None`
    /// if `at` belongs to another generation, or if a step was not computed.
    pub(crate) fn run(
        &self,
        automaton: &Automaton,
        at: Located,
        bytes: &[u8],
    ) -> Option<(Located, NameEnds)> {
        let mut id = self.id(at)?;
        let mut ends = NameEnds::new();
        let names = automaton.has_names();
        for (place, &byte) in bytes.iter().enumerate() {
            id = self.transitions.step(automaton, id, byte)?;
            if id == ConfigurationId::DEAD {
                break;
            }
            if names && self.transitions.is_named(id) {
                ends.push(place);
            }
        }
        Some((self.located(id), ends))
    }

    /// The facts about a configuration; `None` if it belongs to another generation.
    #[inline]
    pub(crate) fn facts(&self, at: Located) -> Option<Facts> {
        self.id(at).map(|id| self.transitions.facts(id))
    }

    /// The place in the mask file of a configuration, or [`BaseState::NONE`] if none was found.
    #[inline]
    pub(crate) fn base_state(&self, at: Located) -> BaseState {
        let place = self.id(at).and_then(|id| self.base_states.get(id.index()));
        let place = place.and_then(|place| place.load(Ordering::Acquire).checked_sub(1));
        place.map_or(BaseState::NONE, BaseState::of)
    }

    /// The kept mask of a configuration within a budget: see [`KeptMasks::get`]. `None` also if the configuration
    /// belongs to another generation.
    #[inline]
    pub(crate) fn mask_within(
        &self,
        at: Located,
        budget: usize,
        letters: usize,
    ) -> Option<Option<Arc<TokenMask>>> {
        let kept = self.within.get(self.id(at)?.index())?.get()?.load();
        kept.get(budget, letters).map(Option::<&_>::cloned)
    }

    /// Bytes of tables and masks, when this was last [published](MaskCache::publish_size).
    pub(crate) fn memory_usage(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Marks the snapshot as read. Writes only if it is not marked yet, since threads that write the same memory wait
    /// for each other.
    #[inline]
    pub(in crate::mask) fn mark_read(&self) {
        if !self.is_read.load(Ordering::Relaxed) {
            self.is_read.store(true, Ordering::Relaxed);
        }
    }

    /// Returns and clears the mark that the snapshot was read.
    pub(in crate::mask) fn take_read(&self) -> bool {
        self.is_read.swap(false, Ordering::Relaxed)
    }
}

/// The tables of a dropped generation, to be freed where no lock is held.
#[must_use = "freeing it takes long: let it go where no lock is held"]
pub(crate) struct OldTables {
    _tables: Cache,
    _snapshot: Arc<Snapshot>,
    _records: ResidualMasks,
    _parts: Parts,
    _reentry: Reentry,
}

/// Computes tables and masks. When they are dropped to free memory, the generation is incremented: ids of older
/// generations become invalid, and matchers find their configurations again by running over their bytes.
///
/// Methods that compute fail with `limit/exceeded` if a limit such as `mask_work` or `cache_bytes` is exceeded.
#[derive(Debug)]
pub(crate) struct MaskCache {
    pub(crate) tables: Cache,
    snapshot: Arc<Snapshot>,
    /// Publishes the current snapshot to readers.
    current: Arc<ArcSwap<Snapshot>>,
    records: ResidualMasks,
    completions: Completions,
    pub(in crate::mask) parts: Parts,
    /// Records shared between grammars for the vocabulary.
    shared: Arc<Shared>,
    terminals: Arc<Terminals>,
    marks: ScratchBits,
    mask_bytes: usize,
    reentry: Reentry,
    pub(crate) masks_computed: u64,
    strategies: StrategySet,
    pub(crate) strategy_counts: StrategyCounts,
}

fn snapshot(generation: u64, tables: &Cache) -> Arc<Snapshot> {
    Arc::new(Snapshot {
        generation,
        start: OnceLock::new(),
        transitions: Arc::clone(tables.transitions()),
        masks: AppendVec::default(),
        base_states: AppendVec::default(),
        within: AppendVec::default(),
        bytes: AtomicUsize::new(0),
        is_read: AtomicBool::new(false),
    })
}

impl MaskCache {
    pub(in crate::mask) fn new(
        shared: Arc<Shared>,
        terminals: Arc<Terminals>,
        strategies: StrategySet,
    ) -> MaskCache {
        let tables = Cache::new();
        let snapshot = snapshot(0, &tables);
        MaskCache {
            tables,
            current: Arc::new(ArcSwap::new(Arc::clone(&snapshot))),
            snapshot,
            records: ResidualMasks::default(),
            completions: Completions::default(),
            parts: Parts::default(),
            shared,
            terminals,
            marks: ScratchBits::default(),
            mask_bytes: 0,
            reentry: Reentry::default(),
            masks_computed: 0,
            strategies,
            strategy_counts: StrategyCounts::default(),
        }
    }

    /// The place where readers find the current snapshot, also after a [`reset`](MaskCache::reset).
    pub(in crate::mask) fn current(&self) -> &Arc<ArcSwap<Snapshot>> {
        &self.current
    }

    /// The number of times that the tables were dropped.
    pub(crate) fn generation(&self) -> u64 {
        self.snapshot.generation
    }

    /// Whether a configuration belongs to the current tables.
    pub(crate) fn has(&self, at: Located) -> bool {
        self.snapshot.id(at).is_some()
    }

    /// The id of a configuration of the current tables.
    ///
    /// # Errors
    /// `mask/stale-configuration` if it belongs to other tables, which is a defect of the library.
    pub(crate) fn id(&self, at: Located) -> Result<ConfigurationId> {
        self.snapshot.id(at).ok_or_else(crate::mask::errors::stale_configuration)
    }

    /// A configuration of the current tables, with its generation and whether its text is a word.
    pub(crate) fn located(&self, id: ConfigurationId) -> Located {
        self.snapshot.located(id)
    }

    /// Replaces the tables with empty ones and returns the old ones: freeing them takes long and need not delay other
    /// threads. Keeps the remaining budget of work of the current mask.
    pub(crate) fn reset(&mut self) -> OldTables {
        let work = self.tables.work.clone();
        let tables = std::mem::take(&mut self.tables);
        self.tables.work = work;
        let next = snapshot(self.generation() + 1, &self.tables);
        let snapshot = std::mem::replace(&mut self.snapshot, next);
        self.current.store(Arc::clone(&self.snapshot));
        // a mask whose computation panicked may have left marks
        self.marks = ScratchBits::default();
        self.mask_bytes = 0;
        self.completions.forget_tables();
        OldTables {
            _tables: tables,
            _snapshot: snapshot,
            _records: std::mem::take(&mut self.records),
            _parts: std::mem::take(&mut self.parts),
            _reentry: std::mem::take(&mut self.reentry),
        }
    }

    /// The automaton with the cache of its configurations.
    pub(crate) fn lazy<'a>(&'a mut self, automaton: &'a Automaton) -> Lazy<'a> {
        Lazy::new(automaton, &mut self.tables)
    }

    /// The start configuration, in the current tables.
    pub(crate) fn start(&mut self, automaton: &Automaton) -> Result<Located> {
        let start = self.lazy(automaton).start()?;
        Ok(*self.snapshot.start.get_or_init(|| self.snapshot.located(start)))
    }

    /// The configuration after one more byte.
    pub(crate) fn step(&mut self, automaton: &Automaton, at: Located, byte: u8) -> Result<Located> {
        let id = self.id(at)?;
        let next = self.lazy(automaton).step(id, byte)?;
        Ok(self.located(next))
    }

    /// The configuration after a token that token edges of `at` accept; the token's bytes lead to `by_bytes`. `None` if
    /// no token edge accepts the token.
    pub(crate) fn step_token(
        &mut self,
        automaton: &Automaton,
        at: Located,
        by_bytes: Option<Located>,
        token: TokenId,
    ) -> Result<Option<Located>> {
        let id = self.id(at)?;
        let by_bytes = by_bytes.map_or(Ok(ConfigurationId::DEAD), |at| self.id(at))?;
        let terminals = &self.terminals;
        let next = Lazy::new(automaton, &mut self.tables)
            .step_token(id, by_bytes, |terminal| terminals.has(terminal, token))?;
        Ok(next.map(|next| self.located(next)))
    }

    /// Continues to find the configurations of places of a mask file, following about `edges` of its edges. If a limit
    /// is reached, the search is given up until the tables are dropped; then matchers that have left the explored part
    /// do not return to it. Does nothing while everything computed takes more than a quarter of `cache_bytes`.
    pub(crate) fn find_base_states(
        &mut self,
        (automaton, index): (&Automaton, &TokenIndex),
        base: &Base,
        edges: usize,
    ) {
        // the search must not be the reason why tables are dropped
        if self.reentry.is_done() || self.memory_usage() > automaton.cache_bytes() / 4 {
            return;
        }
        let work = Budget::of_exploring(REENTRY_WORK, automaton.limits());
        let work = std::mem::replace(&mut self.tables.work, work);
        let found = self.start(automaton).and_then(|start| {
            let (terminals, vocabulary) = (&self.terminals, index.vocabulary());
            let ground = Ground { base, terminals, vocabulary, start: start.id };
            let mut lazy = Lazy::new(automaton, &mut self.tables);
            let states = &self.snapshot.base_states;
            self.reentry.advance(&mut lazy, &ground, edges, |configuration, place| {
                states.entry(configuration.index()).store(place + 1, Ordering::Release);
            })
        });
        if found.is_err() {
            self.reentry.stop();
        }
        self.tables.work = work;
    }

    /// The place in the mask file of a configuration, or [`BaseState::NONE`] if none was found.
    pub(crate) fn base_state(&self, at: Located) -> BaseState {
        self.snapshot.base_state(at)
    }

    /// Publishes the number of bytes of everything computed, and returns it.
    pub(crate) fn publish_size(&self) -> usize {
        let bytes = self.memory_usage();
        self.snapshot.bytes.store(bytes, Ordering::Relaxed);
        bytes
    }

    pub(crate) fn memory_usage(&self) -> usize {
        self.tables.memory_usage()
            + self.mask_bytes
            + self.records.memory_usage()
            + self.completions.memory_usage()
            + self.parts.memory_usage()
            + self.marks.memory_usage()
            + self.snapshot.masks.memory_usage()
            + self.snapshot.base_states.memory_usage()
            + self.snapshot.within.memory_usage()
            + self.reentry.memory_usage()
    }

    /// The mask of a configuration, computed at the first visit in this generation of tables.
    pub(crate) fn mask(
        &mut self,
        automaton: &Automaton,
        index: &TokenIndex,
        configuration: ConfigurationId,
    ) -> Result<Arc<TokenMask>> {
        if let Some(mask) = self.snapshot.mask(self.located(configuration)) {
            return Ok(Arc::clone(mask));
        }
        let mask = compute::mask(
            Lazy::new(automaton, &mut self.tables),
            index,
            configuration,
            Resources {
                records: &mut self.records,
                shared: &self.shared,
                terminals: &self.terminals,
                marks: &mut self.marks,
                strategies: self.strategies,
                counts: &mut self.strategy_counts,
            },
        )?;
        let mask = Arc::new(mask);
        self.masks_computed += 1;
        self.mask_bytes += mask.memory_usage() + size_of::<TokenMask>();
        Ok(Arc::clone(self.snapshot.masks.entry(configuration.index()).get_or_init(|| mask)))
    }
}
