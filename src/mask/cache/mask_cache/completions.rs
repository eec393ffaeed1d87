//! The completions of configurations, and what masks within budgets are made of.

use super::MaskCache;
use crate::automaton::{Automaton, ConfigurationId, Lazy, Letter, Sufficient, TerminalId};
use crate::error::Result;
use crate::mask::completion::{BeginOfWay, Effort, KeptMask, KeptMasks, Known, Levels, With, spelled};
use crate::mask::partition::{PartitionAt, of_configuration};
use crate::token_index::TokenIndex;
use crate::vocabulary::{TokenId, Vocabulary};
use arc_swap::ArcSwap;
use std::sync::Arc;

impl MaskCache {
    /// The known completions of a configuration for some effort, computed at the first visit.
    pub(crate) fn completion(
        &mut self,
        automaton: &Automaton,
        index: &TokenIndex,
        configuration: ConfigurationId,
        effort: Effort,
    ) -> Result<Known> {
        let with = With { index, terminals: &self.terminals };
        self.completions.of((automaton, &mut self.tables), with, configuration, effort)
    }

    /// An upper bound on the tokens that lead from a configuration to a word, regardless of the names read, if a bound
    /// is known. From a configuration with a bound above 0 some token leads to one with a lower bound.
    pub(crate) fn potential(
        &mut self,
        automaton: &Automaton,
        with: &Arc<Sufficient>,
        vocabulary: &Vocabulary,
        configuration: ConfigurationId,
    ) -> Result<Option<usize>> {
        let lazy = &mut Lazy::new(automaton, &mut self.tables);
        let bound = self.completions.potential(lazy, with, vocabulary, configuration)?;
        Ok(bound.map(|bound| bound as usize))
    }

    /// As [`potential`](MaskCache::potential), of a configuration that stands for others, which remember items.
    pub(crate) fn forgetful_potential(
        &mut self,
        automaton: &Automaton,
        with: &Arc<Sufficient>,
        vocabulary: &Vocabulary,
        configuration: ConfigurationId,
    ) -> Result<Option<usize>> {
        let lazy = &mut Lazy::new(automaton, &mut self.tables);
        let configuration = lazy.forgetful(configuration)?;
        let bound = self.completions.forgetful_potential(lazy, with, vocabulary, configuration)?;
        Ok(bound.map(|bound| bound as usize))
    }

    /// An upper bound on the letters that complete a text after any one more token from a configuration, if a bound is
    /// known.
    pub(crate) fn sufficient_after_any(
        &mut self,
        automaton: &Automaton,
        with: &Arc<Sufficient>,
        configuration: ConfigurationId,
    ) -> Result<Option<usize>> {
        let lazy = Lazy::new(automaton, &mut self.tables);
        let bound = self.completions.sufficient(with).after_any_token(&lazy, configuration)?;
        Ok(bound.map(|bound| bound as usize))
    }

    /// Gives searches for completions their full budget of work again. The budget is per mask.
    pub(crate) fn renew_search_work(&mut self) {
        self.completions.renew_work();
    }

    /// Swaps the mask's work budget with the work budget of its searches.
    pub(crate) fn exchange_search_work(&mut self, automaton: &Automaton) {
        self.completions.exchange_work(automaton.limits(), &mut self.tables);
    }

    /// Spells a completion with the fewest tokens; `None` if no tokens spell it.
    pub(crate) fn spelled(&self, index: &TokenIndex, letters: &[Letter]) -> Option<Vec<TokenId>> {
        spelled(With { index, terminals: &self.terminals }, letters)
    }

    /// A token of a terminal, to complete a text with; `None` if the terminal has none.
    pub(in crate::mask) fn example(&self, terminal: TerminalId, vocabulary: &Vocabulary) -> Option<TokenId> {
        self.terminals.example(terminal, vocabulary)
    }

    /// A lower bound on the bytes that lead from a configuration to a word.
    pub(crate) fn least_bytes(
        &mut self,
        automaton: &Automaton,
        configuration: ConfigurationId,
    ) -> Result<usize> {
        self.completions.estimate(&Lazy::new(automaton, &mut self.tables), configuration)
    }

    /// The number of configurations whose distance was searched for, and, among those searched with [`Effort::All`],
    /// the numbers of those with only an upper bound and of those with an unknown distance.
    pub(in crate::mask) fn distances(&self) -> (usize, usize, usize) {
        self.completions.counts()
    }

    /// The number of places that searches for completions have examined so far.
    pub(crate) fn places_searched(&self) -> usize {
        self.completions.searched
    }

    /// Adds the places that a search outside of this cache has examined.
    pub(crate) fn add_places_searched(&mut self, places: usize) {
        self.completions.searched += places;
    }

    /// Keeps a mask within budgets of a configuration, of which no names matter. `needed` tokens suffice to complete the
    /// text.
    pub(crate) fn keep_within(&mut self, configuration: ConfigurationId, needed: usize, kept: KeptMask) {
        let new = || ArcSwap::from_pointee(KeptMasks::new(usize::MAX));
        let slot = self.snapshot.within.entry(configuration.index()).get_or_init(new);
        if slot.load().has(&kept) {
            return;
        }
        self.mask_bytes += size_of::<KeptMasks>() + size_of::<KeptMask>();
        self.mask_bytes += kept.mask.as_ref().map_or(0, |mask| mask.memory_usage());
        slot.store(Arc::new(slot.load().with(needed, kept)));
    }

    /// Whether a mask within a budget is kept, regardless of the names read: see [`KeptMasks::get`].
    pub(crate) fn has_within(&self, configuration: ConfigurationId, budget: usize) -> bool {
        let slot = self.snapshot.within.get(configuration.index()).and_then(|slot| slot.get());
        slot.is_some_and(|slot| slot.load().get(budget, 0).is_some())
    }

    /// A number of tokens that suffices after any token that a configuration allows, if one is kept.
    pub(crate) fn ceiling(&self, configuration: ConfigurationId) -> Option<usize> {
        self.snapshot.within.get(configuration.index())?.get()?.load().ceiling()
    }

    /// As [`Completions::take_levels`].
    pub(crate) fn take_levels(&mut self, configuration: ConfigurationId) -> Option<Option<Box<Levels>>> {
        self.completions.take_levels(configuration)
    }

    /// As [`Completions::keep_levels`].
    pub(crate) fn keep_levels(&mut self, configuration: ConfigurationId, levels: Option<Box<Levels>>) {
        self.completions.keep_levels(configuration, levels);
    }

    /// The partition of a configuration: see [`of_configuration::at`].
    pub(crate) fn partition(
        &mut self,
        on: (&Automaton, &TokenIndex),
        with: &Arc<Sufficient>,
        configuration: ConfigurationId,
    ) -> Result<Option<PartitionAt>> {
        let MaskCache { tables, records, completions, shared, .. } = self;
        let tables = of_configuration::Tables { tables, records, completions, shared: &shared.partitions };
        of_configuration::at(on, tables, with, configuration)
    }

    /// The letters of a way, as far as it was followed.
    pub(crate) fn letters_of_way(&self, begin: BeginOfWay) -> impl Iterator<Item = u8> + '_ {
        self.completions.letters_of_way(begin)
    }

    /// The tokens of a way, if it was followed.
    pub(crate) fn way(&self, begin: BeginOfWay, vocabulary: &Vocabulary) -> Option<Vec<TokenId>> {
        self.completions.way(begin, vocabulary)
    }

    /// Where the way of a configuration begins whose tokens are its [`potential`](MaskCache::potential).
    pub(crate) fn begin_of_way(&mut self, automaton: &Automaton, at: ConfigurationId) -> Result<BeginOfWay> {
        self.completions.begin_of_way(&mut Lazy::new(automaton, &mut self.tables), at)
    }
}
