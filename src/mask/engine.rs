//! What is made lazily for one compiled grammar: tables and masks, under one lock and one memory bound.

use super::compute::{self, Records};
use super::token_mask::TokenMask;

use crate::automaton::{Automaton, ConfigurationId, Tables};
use crate::error::Result;
use crate::vocabulary::Vocabulary;
use std::sync::Arc;

/// Lazily made tables and masks. When they are dropped to make room, the generation goes up: ids of an
/// older generation mean nothing, and matchers find theirs again by running over their bytes.
#[derive(Debug)]
pub(crate) struct Engine {
    pub(crate) generation: u64,
    pub(crate) tables: Tables,
    masks: Vec<Option<Arc<TokenMask>>>,
    records: Records,
    /// Zeros, a mask's words.
    scratch: Vec<u32>,
    mask_bytes: usize,
    pub(crate) masks_computed: u64,
}

impl Engine {
    pub(super) fn new() -> Engine {
        Engine {
            generation: 0,
            tables: Tables::new(),
            masks: Vec::new(),
            records: Records::default(),
            scratch: Vec::new(),
            mask_bytes: 0,
            masks_computed: 0,
        }
    }

    /// Drops all that was made.
    pub(crate) fn reset(&mut self) {
        *self =
            Engine { generation: self.generation + 1, masks_computed: self.masks_computed, ..Engine::new() };
    }

    pub(crate) fn memory_usage(&self) -> usize {
        self.tables.memory_usage()
            + self.mask_bytes
            + self.records.memory_usage()
            + self.scratch.len() * 4
            + self.masks.capacity() * size_of::<Option<Arc<TokenMask>>>()
    }

    /// The mask of a configuration, computed on the first visit.
    pub(crate) fn mask(
        &mut self,
        automaton: &Automaton,
        vocabulary: &Vocabulary,
        configuration: ConfigurationId,
    ) -> Result<Arc<TokenMask>> {
        let place = configuration.index();
        if let Some(Some(mask)) = self.masks.get(place) {
            return Ok(Arc::clone(mask));
        }
        self.scratch.resize(vocabulary.mask_words(), 0);
        let mask = compute::mask(
            &mut self.tables,
            &mut self.records,
            automaton,
            vocabulary,
            configuration,
            &mut self.scratch,
        )?;
        let mask = Arc::new(mask);
        self.masks_computed += 1;
        if self.masks.len() <= place {
            self.masks.resize(place + 1, None);
        }
        self.mask_bytes += mask.memory_usage() + size_of::<TokenMask>();
        self.masks[place] = Some(Arc::clone(&mask));
        Ok(mask)
    }
}
