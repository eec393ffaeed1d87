//! The mask of a configuration, put together from its parts.
//!
//! For each part of a configuration (see [`Cache::parts`]) there is a [`ResidualMask`]: the tokens that the part
//! allows whatever is below it, and the places where it returns before a token has ended. The record is made
//! once for all configurations that have the part. What a configuration adds is a walk from those places on,
//! which is short: after a string few bytes may come.

pub(in crate::mask) mod unique;

use super::cache::shape_cache::ShapeCache;
use super::strategy::class_trie;
use super::strategy::delta;
use super::strategy::delta::{MaskDelta, Removed};
use super::strategy::loop_language;
use super::terminals::Terminals;
use super::token_mask::TokenMask;
use super::token_set::{ScratchBits, TokenSet};
use super::walk::{Continuation, Walk};
use crate::automaton::{ConfigurationId, Lazy, Residual};
use crate::error::Result;
use crate::token_index::loops::TrieId;
use crate::vocabulary::Vocabulary;
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;
use unique::{ForgetfulMask, Indifferent};

/// Some tokens: those below a node of a trie.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct TrieScope {
    trie: TrieId,
    node: u32,
}

impl TrieScope {
    /// All tokens.
    const ALL: TrieScope = TrieScope { trie: TrieId::ALL, node: 0 };
}

/// Of what a record is: a part, and the tokens that it is about.
type ResidualKey = (ConfigurationId, TrieScope);

/// This many configurations are examined to see how long completions are.
const MOST_EXPLORED: usize = 64;

/// Where this many bytes may come, there may be a string.
const WIDE: usize = 32;

/// Walks through more than this part of all nodes are given up where there may be a shorter way.
const LONG_WALK: usize = 48;

/// What is known of a part.
#[derive(Clone, Debug)]
pub(super) struct ResidualMask {
    /// The part that it is nearly the same as.
    base: Option<ConfigurationId>,
    facts: Arc<ResidualTokens>,
}

/// What is known of a part, in whichever grammar it is.
#[derive(Debug)]
pub(super) struct ResidualTokens {
    /// The tokens allowed whatever is below, or how they differ from those of another part.
    tokens: Tokens,
    /// Where it returns before a token has ended.
    continuations: Vec<Continuation>,
    /// It took at most this many bytes to complete what runs in lockstep.
    completion_radius: u32,
}

#[derive(Debug)]
enum Tokens {
    Whole(TokenSet),
    Near(MaskDelta),
}

/// The records made so far.
#[derive(Debug, Default)]
pub(super) struct ResidualMasks {
    /// `None` for parts that may return nearly everywhere.
    of: FxHashMap<ResidualKey, Option<ResidualMask>>,
    /// Of the configurations that stand in for those that remember items.
    forgetful: FxHashMap<ConfigurationId, Arc<ForgetfulMask>>,
    /// Subtrees of the trie where what came makes no difference.
    indifferent: FxHashSet<Indifferent>,
    bytes: usize,
}

impl ResidualMasks {
    /// Bytes on the heap.
    pub(super) fn memory_usage(&self) -> usize {
        self.bytes
            + self.of.capacity() * (size_of::<(ResidualKey, Option<ResidualMask>)>() + 1)
            + self.forgetful.capacity() * (size_of::<(ConfigurationId, Arc<ForgetfulMask>)>() + 1)
            + self.indifferent.capacity() * (size_of::<Indifferent>() + 1)
    }

    pub(super) fn is_indifferent(&self, subtree: &Indifferent) -> bool {
        self.indifferent.contains(subtree)
    }

    pub(super) fn keep_indifferent(&mut self, subtrees: impl Iterator<Item = Indifferent>) {
        self.indifferent.extend(subtrees);
    }

    pub(super) fn forgetful(&self, configuration: ConfigurationId) -> Option<Arc<ForgetfulMask>> {
        self.forgetful.get(&configuration).cloned()
    }

    pub(super) fn keep_forgetful(&mut self, configuration: ConfigurationId, forgetful: Arc<ForgetfulMask>) {
        self.bytes += forgetful.memory_usage();
        self.forgetful.insert(configuration, forgetful);
    }
}

impl ResidualTokens {
    pub(super) fn memory_usage(&self) -> usize {
        let tokens = match &self.tokens {
            Tokens::Whole(allowed) => allowed.memory_usage(),
            Tokens::Near(difference) => difference.removed.memory_usage() + difference.added.memory_usage(),
        };
        size_of::<ResidualTokens>() + tokens + self.continuations.len() * size_of::<Continuation>()
    }
}

/// The mask of a configuration: every token whose bytes lead to a configuration that is not dead, those of its token edges,
/// and the end-of-sequence tokens if the configuration accepts.
pub(super) fn mask(
    lazy: Lazy<'_>,
    records: &mut ResidualMasks,
    shared: &ShapeCache,
    (vocabulary, terminals): (&Vocabulary, &Terminals),
    configuration: ConfigurationId,
    marks: &mut ScratchBits,
) -> Result<TokenMask> {
    let transitions = Arc::clone(lazy.transitions());
    let walk = Walk::new(Lazy::new(lazy.automaton, &mut *lazy.cache), &transitions, vocabulary);
    let mut work = Work { walk, records, shared, marks, spares_walks: false, spared: false };
    let mut allowed = work.allowed(configuration)?;
    let mut token_edges = lazy.terminals(configuration);
    token_edges.sort_unstable();
    token_edges.dedup();
    token_edges.into_iter().for_each(|terminal| terminals.add_to(terminal, &mut allowed));
    if lazy.is_accepting(configuration) {
        allowed.extend(vocabulary.eos());
    }
    Ok(allowed.finish(vocabulary.width(), marks))
}

pub(super) struct Work<'a> {
    pub(super) walk: Walk<'a>,
    pub(super) records: &'a mut ResidualMasks,
    shared: &'a ShapeCache,
    pub(super) marks: &'a mut ScratchBits,
    /// Whether records are not made that take a walk over all tokens, and whether one was not.
    spares_walks: bool,
    spared: bool,
}

impl Work<'_> {
    pub(super) fn allowed(&mut self, configuration: ConfigurationId) -> Result<TokenSet> {
        if self.walk.lazy.has_register(configuration) {
            return self.remembering(configuration);
        }
        if self.walk.lazy.is_narrow(configuration) {
            let mut allowed = TokenSet::default();
            self.walk.run(TrieId::ALL, configuration, |_| true, &mut allowed)?;
            self.resolve_entered(&mut allowed)?;
            return Ok(allowed);
        }
        loop {
            let before = self.walk.lazy.radius_epoch();
            let allowed = self.by_residuals(configuration)?;
            // where completions are longer than was thought, bounds may have been nearer
            if self.walk.lazy.radius_epoch() == before {
                return Ok(allowed);
            }
        }
    }

    /// The tokens of a configuration, from those of its parts.
    fn by_residuals(&mut self, configuration: ConfigurationId) -> Result<TokenSet> {
        let vocabulary = self.walk.vocabulary;
        let residuals = self.walk.lazy.decompose(configuration, vocabulary.longest());
        let mut allowed = None;
        // where a bound is near for long tokens only, those are examined by themselves
        for lengths in vocabulary.loops().lengths.iter().filter(|_| residuals.depends_on_count) {
            let of_short = self.walk.lazy.decompose(configuration, lengths.bytes);
            if !of_short.depends_on_count {
                let short = self.unite(&of_short, TrieScope::ALL, Some(configuration))?;
                let long = self.unite(&residuals, TrieScope { trie: lengths.long, node: 0 }, None)?;
                allowed = short.zip(long).map(|(mut short, long)| {
                    short.keep(&lengths.short);
                    short.unite(long);
                    short
                });
                break;
            }
        }
        if allowed.is_none() {
            allowed = self.unite(&residuals, TrieScope::ALL, Some(configuration))?;
        }
        match allowed {
            Some(allowed) => Ok(allowed),
            None => self.tokens(configuration),
        }
    }

    /// The tokens that parts allow, those of `whole` if that is given; `None` if one has no record.
    fn unite(
        &mut self,
        residuals: &[Residual],
        scope: TrieScope,
        whole: Option<ConfigurationId>,
    ) -> Result<Option<TokenSet>> {
        let mut allowed = TokenSet::default();
        for &residual in residuals {
            // where most tokens are allowed already, the others are examined rather than all again
            let whole = whole.filter(|_| allowed.has_base());
            let outer = std::mem::replace(&mut self.spares_walks, whole.is_some());
            let more = self.residual_tokens(residual, scope);
            self.spares_walks = outer;
            let spared = std::mem::take(&mut self.spared);
            match (more?, whole) {
                (Some(more), _) => allowed.unite(more),
                (None, Some(whole)) if spared => return self.complete(whole, &allowed),
                (None, _) => return Ok(None),
            }
        }
        Ok(Some(allowed))
    }

    /// All tokens of a configuration, of which some are known.
    fn complete(&mut self, configuration: ConfigurationId, known: &TokenSet) -> Result<Option<TokenSet>> {
        let mut allowed = class_trie::complete(&mut self.walk, configuration, known)?;
        if let Some(allowed) = &mut allowed {
            self.resolve_entered(allowed)?;
        }
        Ok(allowed)
    }

    /// Adds what follows where strings may begin.
    pub(super) fn resolve_entered(&mut self, allowed: &mut TokenSet) -> Result<()> {
        while let Some((trie, node, configuration)) = self.walk.entered.pop() {
            match self.below(TrieScope { trie, node }, configuration)? {
                Some(more) => allowed.unite(more),
                None => self.walk.run_from(trie, node, configuration, allowed)?,
            }
        }
        Ok(())
    }

    /// The tokens below a node at which a configuration is reached, from those of its parts; `None` if that is not worth
    /// while.
    fn below(&mut self, scope: TrieScope, configuration: ConfigurationId) -> Result<Option<TokenSet>> {
        let Walk { lazy, vocabulary, .. } = &mut self.walk;
        if lazy.is_history_dependent(configuration)
            || lazy.may_become_unknown(configuration)
            || lazy.is_accepting(configuration)
            || lazy.candidate_bytes(configuration).len() < WIDE
        {
            return Ok(None);
        }
        let residuals = lazy.decompose(configuration, vocabulary.longest());
        if residuals.depends_on_count {
            return Ok(None);
        }
        let others = std::mem::take(&mut self.walk.entered);
        let tokens = self.unite(&residuals, scope, None);
        self.walk.entered = others;
        tokens
    }

    /// The tokens that a part allows where it stands; `None` if it has no record.
    fn residual_tokens(&mut self, residual: Residual, scope: TrieScope) -> Result<Option<TokenSet>> {
        let Some(record) = self.record((residual.configuration, scope), scope == TrieScope::ALL)? else {
            return Ok(None);
        };
        let mut allowed = match (&record.facts.tokens, record.base) {
            (Tokens::Whole(allowed), _) => allowed.clone(),
            (Tokens::Near(difference), base) => {
                let base = base.map(|configuration| Residual { configuration, ..residual });
                let base = base.map_or(Ok(None), |base| self.residual_tokens(base, scope));
                let Some(mut allowed) = base? else { return Ok(None) };
                match &difference.removed {
                    Removed::Few(tokens) => {
                        allowed.remove(tokens, self.walk.vocabulary.width(), self.marks);
                    }
                    Removed::AllBut(kept) => allowed.keep(kept),
                }
                allowed.unite(difference.added.clone());
                allowed
            }
        };
        if let Some(below) = residual.returns_to {
            let returned = self.walk.lazy.returned(below)?;
            if returned == ConfigurationId::UNKNOWN {
                for place in &record.facts.continuations {
                    self.walk.leave_unknown(place.trie, place.node);
                }
            }
            let candidates = self.walk.lazy.candidate_bytes(returned);
            for place in record.facts.continuations.iter().filter(|place| candidates.contains(place.byte)) {
                let next = self.walk.step(returned, place.byte)?;
                self.walk.run_below(place.trie, place.node, next, &mut allowed)?;
            }
            if self.walk.lazy.is_accepting(returned) {
                self.walk.continue_at(&record.facts.continuations);
            }
        } else {
            self.walk.continue_at(&record.facts.continuations);
        }
        self.resolve_entered(&mut allowed)?;
        Ok(Some(allowed))
    }

    /// The record of a part, made at the first visit. Unless it may `lean` on another's it is whole.
    fn record(&mut self, of: ResidualKey, lean: bool) -> Result<Option<ResidualMask>> {
        if let Some(known) = self.records.of.get(&of) {
            return Ok(known.clone());
        }
        let (configuration, scope) = of;
        let record = match self.walk.lazy.canonical_form(configuration) {
            None => {
                let record = self.new_record(of, lean)?;
                if self.spared {
                    return Ok(None);
                }
                record.map(|(base, facts)| (base, Arc::new(facts)))
            }
            Some(canonical) => match self.shared.get(&(canonical.form.clone(), scope)) {
                Some(None) => None,
                Some(Some(facts)) => {
                    self.walk.lazy.raise_completion_radius(&canonical, facts.completion_radius);
                    Some((self.base_of(configuration, &facts)?, facts))
                }
                None => {
                    let record = self.new_record(of, lean)?;
                    if self.spared {
                        return Ok(None);
                    }
                    let completion_radius = self.walk.lazy.completion_radius_of(&canonical);
                    let record = record
                        .map(|(base, facts)| (base, Arc::new(ResidualTokens { completion_radius, ..facts })));
                    let facts = record.as_ref().map(|record| Arc::clone(&record.1));
                    self.shared.insert((canonical.form, scope), facts);
                    record
                }
            },
        };
        let record = record.map(|(base, facts)| ResidualMask { base, facts });
        self.records.bytes += record.as_ref().map_or(0, |record| record.facts.memory_usage());
        self.records.of.insert(of, record.clone());
        Ok(record)
    }

    /// The part that a part is nearly the same as, given what another grammar has found out.
    fn base_of(
        &mut self,
        configuration: ConfigurationId,
        facts: &ResidualTokens,
    ) -> Result<Option<ConfigurationId>> {
        match &facts.tokens {
            Tokens::Whole(_) => Ok(None),
            Tokens::Near(_) => delta::base(&mut self.walk, configuration),
        }
    }

    fn new_record(
        &mut self,
        (configuration, scope): ResidualKey,
        lean: bool,
    ) -> Result<Option<(Option<ConfigurationId>, ResidualTokens)>> {
        if self.walk.lazy.is_accepting(configuration) {
            return Ok(None);
        }
        let base = if lean { self.base(configuration)? } else { None };
        // the record may be made in the middle of another
        let outer = (self.walk.continuations.take(), std::mem::take(&mut self.walk.entered));
        let (unknown, radius_epoch) = (self.walk.unknown.len(), self.walk.radius_epoch);
        let tokens = loop {
            let before = self.walk.lazy.radius_epoch();
            self.walk.continuations = Some(Vec::new());
            self.walk.radius_epoch = Some(before);
            let tokens = self.tokens_at(configuration, scope, base);
            // as with the mask: strings in it may have been nearer to their bounds
            if tokens.is_err() || self.walk.lazy.radius_epoch() == before {
                break tokens;
            }
            if let Err(error) = self.warm_completion_radius(configuration) {
                break Err(error);
            }
        };
        self.walk.radius_epoch = radius_epoch;
        let everywhere = self.walk.too_many_continuations();
        let continuations = std::mem::replace(&mut self.walk.continuations, outer.0).unwrap_or_default();
        self.walk.entered = outer.1;
        let Some(mut tokens) = tokens? else { return Ok(None) };
        if everywhere || self.walk.unknown.len() > unknown {
            return Ok(None);
        }
        if let Tokens::Whole(allowed) = &mut tokens {
            allowed.compact(self.walk.vocabulary.width());
        }
        Ok(Some((base, ResidualTokens { tokens, continuations, completion_radius: 0 })))
    }

    /// Steps through what is near: the next walk is then less likely to be cut short by longer completions.
    fn warm_completion_radius(&mut self, configuration: ConfigurationId) -> Result<()> {
        let Walk { lazy, .. } = &mut self.walk;
        if lazy.is_history_dependent(configuration) {
            return Ok(());
        }
        let mut seen = FxHashSet::from_iter([configuration]);
        let mut order = vec![configuration];
        let mut done = 0;
        while let Some(&at) = order.get(done).filter(|_| order.len() < MOST_EXPLORED) {
            done += 1;
            for next in lazy.after_any(at)? {
                if next.is_ordinary() && seen.insert(next) {
                    order.push(next);
                }
            }
        }
        Ok(())
    }

    /// What a record holds; `None` if that is not to be found out.
    fn tokens_at(
        &mut self,
        configuration: ConfigurationId,
        scope: TrieScope,
        base: Option<ConfigurationId>,
    ) -> Result<Option<Tokens>> {
        if let Some(base) = base {
            let mut difference = delta::compute(&mut self.walk, configuration, base)?;
            self.resolve_entered(&mut difference.added)?;
            return Ok(Some(Tokens::Near(difference)));
        }
        if scope == TrieScope::ALL && self.spares_walks {
            let known = self.tokens_without_walk(configuration)?;
            self.spared |= known.is_none();
            return Ok(known.map(Tokens::Whole));
        }
        if scope == TrieScope::ALL {
            return Ok(Some(Tokens::Whole(self.tokens(configuration)?)));
        }
        let mut allowed = TokenSet::default();
        self.walk.run_from(scope.trie, scope.node, configuration, &mut allowed)?;
        self.resolve_entered(&mut allowed)?;
        Ok(Some(Tokens::Whole(allowed)))
    }

    /// The part that a part is nearly the same as.
    fn base(&mut self, configuration: ConfigurationId) -> Result<Option<ConfigurationId>> {
        let Some(base) = delta::base(&mut self.walk, configuration)? else { return Ok(None) };
        let record = self.record((base, TrieScope::ALL), false)?;
        let wide = record
            .is_some_and(|record| matches!(&record.facts.tokens, Tokens::Whole(whole) if whole.has_base()));
        Ok(wide.then_some(base))
    }

    /// The tokens of a configuration as a whole.
    fn tokens(&mut self, configuration: ConfigurationId) -> Result<TokenSet> {
        if let Some(allowed) = self.tokens_without_walk(configuration)? {
            return Ok(allowed);
        }
        let mut allowed = TokenSet::default();
        self.walk.run(TrieId::ALL, configuration, |_| true, &mut allowed)?;
        self.resolve_entered(&mut allowed)?;
        Ok(allowed)
    }

    /// The same, unless it takes a long walk.
    fn tokens_without_walk(&mut self, configuration: ConfigurationId) -> Result<Option<TokenSet>> {
        let candidates = self.walk.lazy.candidate_bytes(configuration);
        let walk_all = |walk: &mut Walk<'_>| {
            if let Some(allowed) = loop_language::compute(walk, configuration, &candidates)? {
                return Ok(allowed);
            }
            let mut allowed = TokenSet::default();
            walk.run(TrieId::ALL, configuration, |_| true, &mut allowed)?;
            Ok(allowed)
        };
        let known = match class_trie::is_begun(&self.walk, configuration) {
            true => None,
            false => self.with_budget(walk_all)?,
        };
        let mut allowed = match known {
            Some(allowed) => Some(allowed),
            None => class_trie::compute(&mut self.walk, configuration, &candidates)?,
        };
        if let Some(allowed) = &mut allowed {
            self.resolve_entered(allowed)?;
        }
        Ok(allowed)
    }

    /// Computes something by walks that are given up if they become long: then it is as if they had not been begun.
    fn with_budget(
        &mut self,
        compute: impl FnOnce(&mut Walk<'_>) -> Result<TokenSet>,
    ) -> Result<Option<TokenSet>> {
        let walk = &mut self.walk;
        let (continuations, unknown) = (walk.continuations.as_ref().map_or(0, Vec::len), walk.unknown.len());
        walk.limit(1 + (walk.vocabulary.trie().node_count() / LONG_WALK) as u32, !self.spares_walks);
        let allowed = compute(walk);
        let is_over_budget = walk.is_over_budget();
        walk.limit(u32::MAX, false);
        if is_over_budget {
            walk.unknown.truncate(unknown);
            if let Some(places) = &mut walk.continuations {
                places.truncate(continuations);
            }
        }
        Ok(Some(allowed?).filter(|_| !is_over_budget))
    }
}
