//! Walks through configurations: along documents, then best-first.
//!
//! The cost of a configuration is the number of bits of the choices on the way from a document: a forced step costs
//! nothing, one of thirty names costs five bits. Among equal costs, the configuration discovered first is explored
//! first.

use super::{ExploreBudget, skeleton};
use crate::automaton::ConfigurationId;
use crate::error::{ErrorKind, Result};
use crate::forking;
use crate::mask::{CompiledGrammar, MaskCache};
use crate::vocabulary::TokenId;
use crate::work::Budget;
use fixedbitset::FixedBitSet;
use rustc_hash::{FxHashMap, FxHashSet};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Maximum steps of work of one visit to shared tables, some milliseconds. A visit ends early if a sequence waits for
/// the tables.
const SECTION_WORK: u64 = 1 << 16;

/// How long to sleep before checking again whether sequences need the tables.
const PAUSE: Duration = Duration::from_micros(50);

/// The tables used for exploring.
#[derive(Debug)]
pub(super) enum Tables<'a> {
    /// The explorer's own tables: results depend on nothing else.
    Own(Box<MaskCache>),
    /// The grammar's tables, used for short periods while no sequence needs them, until the flag is set.
    Shared(&'a AtomicBool),
}

/// The state of an exploration.
pub(super) struct Explorer<'a> {
    pub(super) compiled: &'a CompiledGrammar,
    pub(super) budget: &'a ExploreBudget,
    tables: Tables<'a>,
    /// Generation of the tables when exploring began. Ids mean nothing in other generations.
    generation: u64,
    /// The configurations in the order of discovery.
    pub(super) order: Vec<ConfigurationId>,
    pub(super) index: FxHashMap<ConfigurationId, u32>,
    /// The configurations whose mask was computed, by their index in `order`.
    pub(super) masked: FixedBitSet,
    /// For each index in `order`, the destinations of tokens that token edges take.
    pub(super) token_edges: FxHashMap<u32, BTreeMap<u32, ConfigurationId>>,
    /// Configurations to explore, ordered by cost and then by time of discovery.
    frontier: BinaryHeap<Reverse<(u32, u32, ConfigurationId)>>,
    queued: FxHashSet<ConfigurationId>,
    pub(super) spent: u64,
    pub(super) deadline: Option<Instant>,
    is_over: bool,
}

/// The result of a visit to the tables.
enum Visit<T> {
    Done(T),
    /// A limit was exceeded; the place is skipped.
    Left,
}

impl<'a> Explorer<'a> {
    pub(super) fn new(
        compiled: &'a CompiledGrammar,
        budget: &'a ExploreBudget,
        tables: Tables<'a>,
    ) -> Explorer<'a> {
        Explorer {
            compiled,
            budget,
            tables,
            generation: 0,
            order: Vec::new(),
            index: FxHashMap::default(),
            masked: FixedBitSet::new(),
            token_edges: FxHashMap::default(),
            frontier: BinaryHeap::new(),
            queued: FxHashSet::default(),
            spent: 0,
            deadline: budget.time.map(|time| Instant::now() + time),
            is_over: false,
        }
    }

    /// Computes the configuration before the first byte and adds it as the first place.
    pub(super) fn start(&mut self) -> Result<()> {
        let automaton = self.compiled.automaton();
        let started = self.with_tables(|cache| {
            cache.tables.work = Budget::of_mask(automaton.limits());
            let start = cache.start(automaton)?;
            Ok((cache.generation(), cache.id(start)?))
        });
        let Some(started) = started else {
            self.is_over = true;
            return Ok(());
        };
        let (generation, start) = started?;
        self.generation = generation;
        self.add(start, 0);
        Ok(())
    }

    /// Explores until the budget is spent or nothing is left: along `documents`, then along the documents that the
    /// grammar suggests, then best-first.
    pub(super) fn run(&mut self, documents: &[Vec<TokenId>]) {
        for document in documents {
            self.walk(document);
        }
        let compiled = self.compiled;
        for document in skeleton::documents(compiled.grammar()) {
            if self.is_over {
                return;
            }
            if let Some(tokens) = compiled.vocabulary().encode_greedy(&document) {
                self.walk(&tokens);
            }
        }
        while let Some(Reverse((cost, _, configuration))) = self.frontier.pop()
            && !self.is_over
        {
            self.expand(configuration, cost);
        }
    }

    /// The number of places found, and the number of masks computed.
    pub(super) fn counts(&self) -> (usize, usize) {
        (self.order.len(), self.masked.count_ones(..))
    }

    /// Runs `work` on the tables: immediately on the explorer's own tables, and on shared tables as soon as no sequence
    /// needs them. `None` if exploring shared tables was cancelled or its time is over.
    pub(super) fn with_tables<T>(&mut self, work: impl FnOnce(&mut MaskCache) -> T) -> Option<T> {
        let is_cancelled = match &mut self.tables {
            Tables::Own(cache) => return Some(work(cache)),
            Tables::Shared(is_cancelled) => is_cancelled,
        };
        loop {
            if is_cancelled.load(Ordering::Relaxed) || self.deadline.is_some_and(|end| Instant::now() >= end)
            {
                return None;
            }
            // no other thread forks the process while this one holds the tables
            let _running = forking::begin();
            match self.compiled.cache_if_idle() {
                Some(mut cache) => {
                    let done = work(&mut cache);
                    self.compiled.publish_size(&cache);
                    return Some(done);
                }
                None => std::thread::sleep(PAUSE),
            }
        }
    }

    /// Runs `work` on the tables, within the budget of a visit. `None` if `work` failed or exploring is over.
    pub(super) fn visit<T>(&mut self, work: impl FnOnce(&mut MaskCache) -> Result<T>) -> Option<T> {
        if self.is_over {
            return None;
        }
        match self.visit_tables(work) {
            Some(Visit::Done(value)) => return Some(value),
            Some(Visit::Left) => {}
            None => self.is_over = true,
        }
        None
    }

    /// Like [`visit`](Self::visit), but tells work that met a limit (`Visit::Left`) from the end of exploring (`None`).
    fn visit_tables<T>(&mut self, work: impl FnOnce(&mut MaskCache) -> Result<T>) -> Option<Visit<T>> {
        let is_late = self.deadline.is_some_and(|end| Instant::now() >= end);
        let is_shared = matches!(self.tables, Tables::Shared(_));
        if self.spent >= self.budget.work || is_late || is_shared && self.compiled.is_bound_reached() {
            return None;
        }
        let automaton = self.compiled.automaton();
        // exploring is useless if it evicts what sequences need
        let (most_work, most_bytes) = match self.tables {
            Tables::Own(_) => (u64::MAX, automaton.cache_bytes()),
            Tables::Shared(_) => (SECTION_WORK, automaton.cache_bytes() / 2),
        };
        let (generation, most_bytes) = (self.generation, most_bytes.min(self.budget.bytes));
        let waiting = Arc::clone(self.compiled.waiting());
        let (spent, result) = self.with_tables(|cache| {
            if cache.generation() != generation || cache.memory_usage() > most_bytes {
                return None;
            }
            let work_of_visit = Budget::of_exploring(most_work, automaton.limits());
            cache.tables.work = match is_shared {
                true => work_of_visit.until_someone_waits(waiting),
                false => work_of_visit,
            };
            let result = work(cache);
            Some((1 + cache.tables.work.spent(), result))
        })??;
        self.spent += spent;
        match result {
            Ok(value) => Some(Visit::Done(value)),
            Err(error) if error.kind() == ErrorKind::Limit => Some(Visit::Left),
            Err(_) => None,
        }
    }

    /// Adds a configuration, if the budget has room, and returns its index. Otherwise exploring is over, and the result
    /// is `None`.
    fn add(&mut self, configuration: ConfigurationId, cost: u32) -> Option<u32> {
        if let Some(&known) = self.index.get(&configuration) {
            return Some(known);
        }
        if self.order.len() >= self.budget.states {
            self.is_over = true;
            return None;
        }
        let state = self.order.len() as u32;
        self.order.push(configuration);
        self.masked.grow(self.order.len());
        self.index.insert(configuration, state);
        self.queue(configuration, cost);
        Some(state)
    }

    fn queue(&mut self, configuration: ConfigurationId, cost: u32) {
        if self.queued.insert(configuration) {
            self.frontier.push(Reverse((cost, self.queued.len() as u32, configuration)));
        }
    }

    /// Computes the mask of a configuration, unless it was computed before, is no place, or exploring is over.
    fn mask(&mut self, configuration: ConfigurationId) {
        let Some(&state) = self.index.get(&configuration) else { return };
        if self.masked.contains(state as usize) {
            return;
        }
        let (automaton, index) = (self.compiled.automaton(), self.compiled.index());
        if self.visit(|cache| cache.mask(automaton, index, configuration).map(|_| ())).is_some() {
            self.masked.insert(state as usize);
        }
    }

    /// Computes the masks along a document, up to its first token that is not allowed or cannot be explored.
    fn walk(&mut self, tokens: &[TokenId]) {
        let Some(mut at) = self.order.first().copied() else { return };
        for &token in tokens {
            self.mask(at);
            match self.follow(at, token) {
                Some(next) => at = next,
                None => return,
            }
        }
        self.mask(at);
    }

    /// The configuration after a token; `None` if the token is not allowed or cannot be explored. The configurations
    /// after the bytes of the token are added as places if all bytes can be read.
    fn follow(&mut self, at: ConfigurationId, token: TokenId) -> Option<ConfigurationId> {
        let compiled = self.compiled;
        let automaton = compiled.automaton();
        let bytes = compiled.vocabulary().bytes(token);
        let (way, by_id) = self.visit(|cache| {
            let (mut way, mut by_bytes) = (Vec::new(), at);
            for &byte in bytes.unwrap_or_default() {
                by_bytes = cache.lazy(automaton).step(by_bytes, byte)?;
                if by_bytes == ConfigurationId::DEAD || cache.tables.is_history_dependent(by_bytes) {
                    break;
                }
                way.push(by_bytes);
            }
            let is_whole = way.len() == bytes.map_or(1, <[u8]>::len);
            let after_bytes = is_whole.then_some(by_bytes).filter(|_| bytes.is_some());
            let is_known = is_whole || by_bytes == ConfigurationId::DEAD || bytes.is_none();
            let by_id = match automaton.has_terminals() && is_known {
                true => {
                    let after_bytes = after_bytes.map(|at| cache.located(at));
                    let from = cache.located(at);
                    let to = cache.step_token(automaton, from, after_bytes, token)?;
                    to.map(|to| cache.id(to)).transpose()?
                }
                false => None,
            };
            if !is_whole {
                // a partial path to a token is not worth places
                way.clear();
            }
            Ok((way, by_id.filter(|&to| !cache.tables.is_history_dependent(to))))
        })?;
        let mut last = None;
        for next in way {
            self.add(next, 0)?;
            last = Some(next);
        }
        match by_id {
            Some(to) => {
                self.add_token_edge(at, token, to, 0);
                Some(to)
            }
            // a token without bytes that no token edge takes is not allowed
            None if bytes.is_none_or(<[u8]>::is_empty) => None,
            None => last,
        }
    }

    fn add_token_edge(&mut self, at: ConfigurationId, token: TokenId, to: ConfigurationId, cost: u32) {
        if let Some(&state) = self.index.get(&at)
            && self.add(to, cost).is_some()
        {
            self.token_edges.entry(state).or_default().insert(token.get(), to);
        }
    }

    /// Adds a configuration, computes its mask, and queues its successors.
    fn expand(&mut self, at: ConfigurationId, cost: u32) {
        if self.add(at, cost).is_none() {
            return;
        }
        self.mask(at);
        let compiled = self.compiled;
        let automaton = compiled.automaton();
        let next = self.visit(|cache| {
            let wanted = cache.lazy(automaton).candidate_bytes(at);
            let mut next: Vec<ConfigurationId> = Vec::new();
            for &byte in automaton.class_representatives().iter().filter(|&&byte| wanted.contains(byte)) {
                let to = cache.lazy(automaton).step(at, byte)?;
                if to.is_ordinary() && !cache.tables.is_history_dependent(to) && !next.contains(&to) {
                    next.push(to);
                }
            }
            Ok(next)
        });
        let by_id = match automaton.has_terminals() {
            true => self.visit(|cache| {
                let mut by_id = Vec::new();
                for terminal in cache.lazy(automaton).terminals(at) {
                    // only documents tell which tokens of a terminal with many tokens occur
                    let Some(token) = compiled.terminals().only(terminal) else { continue };
                    let bytes = compiled.vocabulary().bytes(token);
                    let mut after = bytes.map(|_| at);
                    for &byte in bytes.unwrap_or_default() {
                        after = after.map(|at| cache.lazy(automaton).step(at, byte)).transpose()?;
                    }
                    let (from, after) = (cache.located(at), after.map(|at| cache.located(at)));
                    if let Some(to) = cache.step_token(automaton, from, after, token)? {
                        by_id.push((token, cache.id(to)?));
                    }
                }
                by_id.retain(|&(_, to)| to.is_ordinary() && !cache.tables.is_history_dependent(to));
                // so that the result does not depend on the order of the items
                by_id.sort_unstable_by_key(|&(token, _)| token);
                Ok(by_id)
            }),
            false => None,
        };
        let (next, by_id) = (next.unwrap_or_default(), by_id.unwrap_or_default());
        let ways = (next.len() + by_id.len()) as u32;
        let cost = cost + ways.saturating_sub(1).checked_ilog2().map_or(0, |bits| bits + 1);
        next.into_iter().for_each(|to| self.queue(to, cost));
        for (token, to) in by_id {
            self.add_token_edge(at, token, to, cost);
        }
    }
}
