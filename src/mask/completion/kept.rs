//! What masks within budgets keep of configurations: where tokens lead, and the masks.

use crate::automaton::ConfigurationId;
use crate::mask::token_mask::TokenMask;
use crate::vocabulary::TokenId;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Tokens by the configuration that they lead to.
pub(crate) type Groups = [(ConfigurationId, Vec<TokenId>)];

/// What is kept of the tokens that a configuration allows.
#[derive(Clone, Debug)]
pub(crate) struct KeptGroups {
    pub(crate) groups: Arc<Groups>,
    /// Whether none of them ends a name that is to be remembered, as far as that is known.
    pub(crate) names_stay: bool,
}

/// All is dropped when it takes more than this many bytes, or than this part of what all tables may take.
const MOST_BYTES: usize = 16 << 20;
const PART: usize = 8;

/// Of one generation of tables.
#[derive(Debug, Default)]
pub(in crate::mask) struct Kept {
    groups: FxHashMap<ConfigurationId, KeptGroups>,
    /// By how many tokens may come after the next one.
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

    /// Makes room for more, where `all` is what all tables may take.
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
