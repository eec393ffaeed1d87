//! The data that masks within budgets store per configuration: groups of tokens, and masks.

use crate::automaton::ConfigurationId;
use crate::mask::token_mask::TokenMask;
use crate::vocabulary::TokenId;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Tokens, grouped by the configuration that they lead to.
pub(crate) type Groups = [(ConfigurationId, Vec<TokenId>)];

/// The groups of the tokens that a configuration allows.
#[derive(Clone, Debug)]
pub(crate) struct KeptGroups {
    pub(crate) groups: Arc<Groups>,
    /// Whether it is known that none of the tokens ends a name that must be remembered.
    pub(crate) names_stay: bool,
}

/// All stored data is dropped when it would exceed this many bytes, or one [`PART`]th of the bound of all tables.
const MOST_BYTES: usize = 16 << 20;
const PART: usize = 8;

/// The stored data of one generation of tables.
#[derive(Debug, Default)]
pub(in crate::mask) struct Kept {
    groups: FxHashMap<ConfigurationId, KeptGroups>,
    /// Masks by configuration and number of tokens allowed after the next one.
    masks: FxHashMap<(ConfigurationId, usize), Arc<TokenMask>>,
    bytes: usize,
}

impl Kept {
    pub(in crate::mask) fn groups(&self, id: ConfigurationId) -> Option<&KeptGroups> {
        self.groups.get(&id)
    }

    pub(in crate::mask) fn keep_groups(&mut self, id: ConfigurationId, kept: KeptGroups, all: usize) {
        let bytes = kept.groups.iter().map(|(_, tokens)| 40 + tokens.capacity() * 4).sum::<usize>() + 32;
        if self.has_room(bytes, all) {
            self.groups.insert(id, kept);
        }
    }

    pub(in crate::mask) fn mask(&self, id: ConfigurationId, rest: usize) -> Option<&Arc<TokenMask>> {
        self.masks.get(&(id, rest))
    }

    pub(in crate::mask) fn keep_mask(
        &mut self,
        (id, rest): (ConfigurationId, usize),
        mask: Arc<TokenMask>,
        all: usize,
    ) {
        if self.has_room(mask.memory_usage() + size_of::<TokenMask>() + 40, all) {
            self.masks.insert((id, rest), mask);
        }
    }

    /// Makes room for `bytes` more, by dropping everything if necessary, and counts them. `all` is the bound of all
    /// tables in bytes. Returns false if the bytes can never fit.
    fn has_room(&mut self, bytes: usize, all: usize) -> bool {
        let most = MOST_BYTES.min(all / PART);
        if self.bytes + bytes > most {
            *self = Kept::default();
        }
        let fits = bytes <= most;
        self.bytes += if fits { bytes } else { 0 };
        fits
    }

    pub(in crate::mask) fn memory_usage(&self) -> usize {
        self.bytes
    }
}
