//! Finds which configurations are places of a mask file.
//!
//! A matcher that has left the explored part may return to it. The graph of the file and the automaton are walked in
//! lockstep from the start, a few edges at a time, as long as matchers need the engine. If one text leads to a place
//! and to a configuration, these correspond. Configurations are deterministic, so they correspond for every text that
//! leads to them.

use crate::automaton::{ConfigurationId, Lazy};
use crate::error::Result;
use crate::mask::base::Base;
use crate::mask::terminals::Terminals;
use crate::mask_file::START;
use crate::vocabulary::{TokenId, Vocabulary};
use fixedbitset::FixedBitSet;
use std::collections::VecDeque;

/// The state of the walk along the graph of a mask file.
#[derive(Debug, Default)]
pub(super) struct Reentry {
    has_begun: bool,
    /// Places whose successors are still to be visited, with their configurations.
    open: VecDeque<(u32, ConfigurationId)>,
    seen: FixedBitSet,
}

/// The inputs of the walk in addition to the tables.
pub(super) struct Ground<'a> {
    pub(super) base: &'a Base,
    pub(super) terminals: &'a Terminals,
    pub(super) vocabulary: &'a Vocabulary,
    pub(super) start: ConfigurationId,
}

impl Reentry {
    /// Whether the walk is finished.
    pub(super) fn is_done(&self) -> bool {
        self.has_begun && self.open.is_empty()
    }

    /// Ends the walk: [`advance`](Reentry::advance) then visits nothing more.
    pub(super) fn stop(&mut self) {
        self.has_begun = true;
        self.open = VecDeque::new();
    }

    /// Visits the successors of places until about `edges` edges were followed. Calls `found` with each configuration
    /// and its place.
    pub(super) fn advance(
        &mut self,
        lazy: &mut Lazy<'_>,
        ground: &Ground<'_>,
        mut edges: usize,
        mut found: impl FnMut(ConfigurationId, u32),
    ) -> Result<()> {
        let file = ground.base.file();
        if !self.has_begun {
            self.has_begun = true;
            self.seen.grow(file.state_count());
            if file.state_count() > 0 {
                self.visit(ground.start, START, &mut found);
            }
        }
        while edges > 0
            && let Some((place, at)) = self.open.pop_front()
        {
            let Some(state) = file.state(place) else { continue };
            for (byte, next) in file.byte_successors(state) {
                edges = edges.saturating_sub(1);
                if !self.seen.contains(next as usize) {
                    let to = lazy.step(at, byte)?;
                    self.visit(to, next, &mut found);
                }
            }
            for (token, next) in file.token_successors(state) {
                edges = edges.saturating_sub(1);
                if self.seen.contains(next as usize) {
                    continue;
                }
                let token = TokenId::new(token);
                let mut by_bytes = at;
                match ground.vocabulary.bytes(token) {
                    Some(bytes) => {
                        for &byte in bytes {
                            by_bytes = lazy.step(by_bytes, byte)?;
                        }
                    }
                    None => by_bytes = ConfigurationId::DEAD,
                }
                let takes = |terminal| ground.terminals.has(terminal, token);
                if let Some(to) = lazy.step_token(at, by_bytes, takes)? {
                    self.visit(to, next, &mut found);
                }
            }
        }
        Ok(())
    }

    fn visit(&mut self, at: ConfigurationId, place: u32, found: &mut impl FnMut(ConfigurationId, u32)) {
        // an edge of a file that does not fit its grammar may lead to the dead configuration
        if at.is_ordinary() {
            self.seen.insert(place as usize);
            self.open.push_back((place, at));
            found(at, place);
        }
    }

    pub(super) fn memory_usage(&self) -> usize {
        self.open.capacity() * size_of::<(u32, ConfigurationId)>() + self.seen.len() / 8
    }
}
