//! Comparing a mask file with its own grammar.

use crate::automaton::ConfigurationId;
use crate::error::Result;
use crate::mask::{BaseState, CompiledGrammar, MaskCache};
use crate::mask_file::errors::disagrees;
use crate::mask_file::{Next, START};
use crate::vocabulary::TokenId;
use crate::work::Budget;
use rustc_hash::FxHashSet;

/// Maximum average number of configurations per place. Configurations with the same future may share a place. A larger
/// average suggests a file that does not fit its grammar.
const CONFIGURATIONS_A_PLACE: usize = 4;

/// Number of additional configurations allowed, for files with few places.
const CONFIGURATIONS: usize = 1 << 10;

impl CompiledGrammar {
    /// Recomputes the content of the grammar's mask file for all places that texts reach: the facts, where each
    /// explored byte and each listed token leads, and the mask. Returns the number of masks compared, where a mask
    /// counts once for each configuration that shares its place; 0 without a mask file.
    ///
    /// # Errors
    /// `mask-file/damaged` or `mask-file/impossible` if [`MaskFile::check`](crate::MaskFile::check) fails;
    /// `mask-file/disagrees` if the file differs from its grammar; `limit/exceeded` if a limit such as `mask_work` or
    /// `cache_bytes` is exceeded.
    pub fn verify_masks(&self) -> Result<usize> {
        let Some(base) = self.base() else { return Ok(0) };
        let file = base.file();
        file.check()?;
        if file.state_count() == 0 {
            return Ok(0);
        }
        let automaton = self.automaton();
        let mut cache = self.cache();
        let start = cache.start(automaton)?;
        let start = (START, cache.id(start)?);
        let mut seen: FxHashSet<(u32, ConfigurationId)> = [start].into_iter().collect();
        let mut open = vec![start];
        let mut compared = 0;
        while let Some((place, at)) = open.pop() {
            cache.tables.work = Budget::of_mask(automaton.limits());
            let Some(state) = file.state(place) else { continue };
            let transitions = cache.tables.transitions();
            let is_named = transitions.is_named(at);
            if base.facts(BaseState::of(place)) != Some(transitions.facts(at)) || state.is_named() != is_named
            {
                return Err(disagrees("something else is true of a place"));
            }
            if state.mask().is_some() {
                let mask = cache.mask(automaton, self.index(), at)?;
                if base.mask(BaseState::of(place)) != Some(&mask) {
                    return Err(disagrees("a mask is another"));
                }
                compared += 1;
            }
            let mut next = Vec::new();
            for byte in 0..=255 {
                if let Some(said) = file.after_byte(state, byte) {
                    next.push((said, cache.lazy(automaton).step(at, byte)?));
                }
            }
            for (token, said) in file.token_successors(state) {
                let to = self.after_token(&mut cache, at, TokenId::new(token))?;
                next.push((Next::State(said), to));
            }
            for (said, to) in next {
                match (said, to) {
                    (Next::Dead, ConfigurationId::DEAD) => {}
                    (Next::Dead, _) => return Err(disagrees("it forbids a prefix of a word")),
                    (_, ConfigurationId::DEAD) => {
                        return Err(disagrees("it allows a text that is not a prefix of a word"));
                    }
                    (Next::State(said), to) => {
                        if seen.insert((said, to)) {
                            open.push((said, to));
                        }
                    }
                }
            }
            if seen.len() > CONFIGURATIONS_A_PLACE * file.state_count() + CONFIGURATIONS {
                return Err(disagrees("one place represents many different configurations"));
            }
        }
        Ok(compared)
    }

    /// The configuration after a token, combining its bytes and token edges; dead if no token edge takes it.
    fn after_token(
        &self,
        cache: &mut MaskCache,
        at: ConfigurationId,
        token: TokenId,
    ) -> Result<ConfigurationId> {
        let automaton = self.automaton();
        let mut by_bytes = None;
        if let Some(bytes) = self.vocabulary().bytes(token) {
            let steps = bytes.iter().try_fold(at, |at, &byte| cache.lazy(automaton).step(at, byte))?;
            by_bytes = Some(cache.located(steps));
        }
        let from = cache.located(at);
        let to = cache.step_token(automaton, from, by_bytes, token)?;
        to.map_or(Ok(ConfigurationId::DEAD), |to| cache.id(to))
    }
}
