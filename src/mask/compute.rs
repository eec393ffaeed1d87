//! The mask of a configuration, put together from its parts.
//!
//! For each part of a configuration (see [`Tables::parts`]) there is a [`Record`]: the tokens that the part
//! allows whatever is below it, and the places where it returns before a token has ended. The record is made
//! once for all configurations that have the part. What a configuration adds is a walk from those places on,
//! which is short: after a string few bytes may come.

use super::allowed::Allowed;
use super::difference::{self, Difference, Removed};
use super::distinct::Blind;
use super::loops;
use super::token_mask::TokenMask;
use super::walk::{Return, Walk};
use crate::automaton::{Automaton, ConfigurationId, Part, Tables};
use crate::error::Result;
use crate::vocabulary::Vocabulary;
use crate::vocabulary::loops::TrieId;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Of what a record is: a part, and the tokens of a trie.
type RecordOf = (ConfigurationId, TrieId);

/// What is known of a part.
#[derive(Debug)]
pub(super) struct Record {
    /// The tokens allowed whatever is below, or how they differ from those of another part.
    tokens: Tokens,
    /// Where it returns before a token has ended.
    returns: Vec<Return>,
}

#[derive(Debug)]
enum Tokens {
    Whole(Allowed),
    Near(Difference),
}

/// The records made so far.
#[derive(Debug, Default)]
pub(super) struct Records {
    /// `None` for parts that may return nearly everywhere.
    of: FxHashMap<RecordOf, Option<Arc<Record>>>,
    /// Of the configurations that stand in for those that remember items.
    blind: FxHashMap<ConfigurationId, Arc<Blind>>,
    bytes: usize,
}

impl Records {
    /// Bytes on the heap.
    pub(super) fn memory_usage(&self) -> usize {
        self.bytes
            + self.of.capacity() * (size_of::<(RecordOf, Option<Arc<Record>>)>() + 1)
            + self.blind.capacity() * (size_of::<(ConfigurationId, Arc<Blind>)>() + 1)
    }

    pub(super) fn blind(&self, configuration: ConfigurationId) -> Option<Arc<Blind>> {
        self.blind.get(&configuration).cloned()
    }

    pub(super) fn keep_blind(&mut self, configuration: ConfigurationId, blind: Arc<Blind>) {
        self.bytes += blind.memory_usage();
        self.blind.insert(configuration, blind);
    }
}

impl Record {
    fn memory_usage(&self) -> usize {
        let tokens = match &self.tokens {
            Tokens::Whole(allowed) => allowed.memory_usage(),
            Tokens::Near(difference) => difference.removed.memory_usage() + difference.added.memory_usage(),
        };
        size_of::<Record>() + tokens + self.returns.len() * size_of::<Return>()
    }
}

/// The mask of a configuration: every token whose bytes lead to a configuration that is not dead, and the
/// end-of-sequence tokens if the configuration accepts.
pub(super) fn mask(
    tables: &mut Tables,
    records: &mut Records,
    automaton: &Automaton,
    vocabulary: &Vocabulary,
    configuration: ConfigurationId,
    scratch: &mut [u32],
) -> Result<TokenMask> {
    let successors = Arc::clone(tables.successors());
    let mut work = Work { walk: Walk::new(tables, &successors, automaton, vocabulary), records, scratch };
    let mut allowed = work.allowed(configuration)?;
    if tables.is_accepting(configuration) {
        allowed.extend(vocabulary.eos());
    }
    Ok(allowed.finish(vocabulary.width(), scratch))
}

pub(super) struct Work<'a> {
    pub(super) walk: Walk<'a>,
    pub(super) records: &'a mut Records,
    /// Zeros, a mask's words.
    pub(super) scratch: &'a mut [u32],
}

impl Work<'_> {
    pub(super) fn allowed(&mut self, configuration: ConfigurationId) -> Result<Allowed> {
        if self.walk.tables.has_register(configuration) {
            return self.remembering(configuration);
        }
        if self.walk.tables.is_narrow(self.walk.automaton, configuration) {
            let mut allowed = Allowed::default();
            self.walk.run(TrieId::ALL, configuration, |_| true, &mut allowed)?;
            return Ok(allowed);
        }
        loop {
            let before = self.walk.tables.reaches();
            let allowed = self.by_parts(configuration)?;
            // where completions are longer than was thought, bounds may have been nearer
            if self.walk.tables.reaches() == before {
                return Ok(allowed);
            }
        }
    }

    /// The tokens of a configuration, from those of its parts.
    fn by_parts(&mut self, configuration: ConfigurationId) -> Result<Allowed> {
        let (automaton, vocabulary) = (self.walk.automaton, self.walk.vocabulary);
        let parts = self.walk.tables.parts(automaton, configuration, vocabulary.longest());
        let mut allowed = None;
        // where a bound is near for long tokens only, those are looked at by themselves
        for lengths in vocabulary.loops().lengths.iter().filter(|_| parts.told_apart) {
            let of_short = self.walk.tables.parts(automaton, configuration, lengths.bytes);
            if !of_short.told_apart {
                let short = self.unite(&of_short, TrieId::ALL)?;
                let long = self.unite(&parts, lengths.long)?;
                allowed = short.zip(long).map(|(mut short, long)| {
                    short.keep(&lengths.short);
                    short.unite(long);
                    short
                });
                break;
            }
        }
        if allowed.is_none() {
            allowed = self.unite(&parts, TrieId::ALL)?;
        }
        match allowed {
            Some(allowed) => Ok(allowed),
            None => self.tokens(configuration),
        }
    }

    /// The tokens of a trie that parts allow; `None` if one has no record.
    fn unite(&mut self, parts: &[Part], trie: TrieId) -> Result<Option<Allowed>> {
        let mut allowed = Allowed::default();
        for &part in parts {
            match self.part(part, trie)? {
                Some(more) => allowed.unite(more),
                None => return Ok(None),
            }
        }
        Ok(Some(allowed))
    }

    /// The tokens of a trie that a part allows where it stands; `None` if it has no record.
    fn part(&mut self, part: Part, trie: TrieId) -> Result<Option<Allowed>> {
        let Some(record) = self.record((part.configuration, trie), trie == TrieId::ALL)? else {
            return Ok(None);
        };
        let mut allowed = match &record.tokens {
            Tokens::Whole(allowed) => allowed.clone(),
            Tokens::Near(difference) => {
                let base = Part { configuration: difference.base, ..part };
                let Some(mut allowed) = self.part(base, trie)? else { return Ok(None) };
                match &difference.removed {
                    Removed::Few(tokens) => allowed.remove(tokens, self.scratch),
                    Removed::AllBut(kept) => allowed.keep(kept),
                }
                allowed.unite(difference.added.clone());
                allowed
            }
        };
        if let Some(below) = part.below {
            let returned = self.walk.tables.returned(self.walk.automaton, below)?;
            if returned == ConfigurationId::UNSURE {
                for place in &record.returns {
                    self.walk.leave_unsure(place.trie, place.node);
                }
            }
            let candidates = self.walk.tables.candidate_bytes(self.walk.automaton, returned);
            for place in record.returns.iter().filter(|place| candidates.contains(place.byte)) {
                let next = self.walk.step(returned, place.byte)?;
                self.walk.run_below(place.trie, place.node, next, &mut allowed)?;
            }
        }
        Ok(Some(allowed))
    }

    /// The record of a part for a trie, made at the first visit. Unless it may `lean` on another's it is whole.
    fn record(&mut self, of: RecordOf, lean: bool) -> Result<Option<Arc<Record>>> {
        if let Some(known) = self.records.of.get(&of) {
            return Ok(known.clone());
        }
        let record = self.new_record(of, lean)?.map(Arc::new);
        self.records.bytes += record.as_ref().map_or(0, |record| record.memory_usage());
        self.records.of.insert(of, record.clone());
        Ok(record)
    }

    fn new_record(&mut self, (configuration, trie): RecordOf, lean: bool) -> Result<Option<Record>> {
        if self.walk.tables.is_accepting(configuration) {
            return Ok(None);
        }
        let base = if lean { self.base(configuration)? } else { None };
        let unsure = self.walk.unsure.len();
        self.walk.returns = Some(Vec::new());
        let tokens = match base {
            Some(base) => difference::compute(&mut self.walk, configuration, base).map(Tokens::Near),
            None if trie == TrieId::ALL => self.tokens(configuration).map(Tokens::Whole),
            None => {
                let mut allowed = Allowed::default();
                let walked = self.walk.run(trie, configuration, |_| true, &mut allowed);
                walked.map(|()| Tokens::Whole(allowed))
            }
        };
        let everywhere = self.walk.returns_everywhere();
        let returns = self.walk.returns.take().unwrap_or_default();
        let mut tokens = tokens?;
        if everywhere || self.walk.unsure.len() > unsure {
            return Ok(None);
        }
        if let Tokens::Whole(allowed) = &mut tokens {
            allowed.settle(self.walk.vocabulary.width());
        }
        Ok(Some(Record { tokens, returns }))
    }

    /// The part that a part is nearly the same as.
    fn base(&mut self, configuration: ConfigurationId) -> Result<Option<ConfigurationId>> {
        let Some(base) = difference::base(&mut self.walk, configuration)? else { return Ok(None) };
        let record = self.record((base, TrieId::ALL), false)?;
        let wide =
            record.is_some_and(|record| matches!(&record.tokens, Tokens::Whole(whole) if whole.is_wide()));
        Ok(wide.then_some(base))
    }

    /// The tokens of a configuration as a whole.
    fn tokens(&mut self, configuration: ConfigurationId) -> Result<Allowed> {
        let candidates = self.walk.tables.candidate_bytes(self.walk.automaton, configuration);
        if let Some(allowed) = loops::compute(&mut self.walk, configuration, &candidates)? {
            return Ok(allowed);
        }
        let mut allowed = Allowed::default();
        self.walk.run(TrieId::ALL, configuration, |_| true, &mut allowed)?;
        Ok(allowed)
    }
}
