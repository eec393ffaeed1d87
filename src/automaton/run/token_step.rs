//! Steps by tokens, along token edges.
//!
//! A token that has bytes and is in a token terminal is read both ways at the same time. Closing distributes over the
//! union of configurations. So the bytes are read first, and the resulting configuration is closed together with the
//! targets of the token edges. All stacks have then read the same bytes since the outermost list of different items
//! began, because such lists contain no token edges.

use super::configuration::{ConfigurationId, Item};
use super::lazy::Lazy;
use super::transitions::Flags;
use super::work_list::Closure;
use crate::automaton::program::automaton::Automaton;
use crate::automaton::program::ids::TerminalId;
use crate::automaton::program::state::State;
use crate::automaton::register::unique::memory::HistoryId;
use crate::error::Result;
use smallvec::SmallVec;

/// Steps of work of a step along token edges, in addition to one per token edge followed and per frame interned.
const NEW_STEP: usize = 8;

impl Lazy<'_> {
    /// The token terminals that a configuration waits for, possibly with duplicates.
    pub(crate) fn terminals(&self, id: ConfigurationId) -> SmallVec<[TerminalId; 4]> {
        let automaton = self.automaton;
        if !automaton.has_terminals() {
            return SmallVec::new();
        }
        self.items(id).iter().filter_map(|item| automaton.terminal(item.state)).collect()
    }

    /// Per token terminal of a configuration, sorted and without duplicates, the configuration after the terminal's
    /// edges alone; the configuration after a token of the terminal includes the words of that configuration. Terminals
    /// after which nothing is known to follow (dead or unknown) are left out.
    pub(crate) fn after_terminals(
        &mut self,
        id: ConfigurationId,
    ) -> Result<SmallVec<[(TerminalId, ConfigurationId); 4]>> {
        let mut terminals = self.terminals(id);
        terminals.sort_unstable();
        terminals.dedup();
        let mut after = SmallVec::new();
        for terminal in terminals {
            let next = self.step_token(id, ConfigurationId::DEAD, |other| other == terminal)?;
            after.extend(next.filter(|next| next.is_ordinary()).map(|next| (terminal, next)));
        }
        Ok(after)
    }

    /// The configuration after a token: the union of the targets of the token edges of `id` whose terminals the closure
    /// `takes` accepts, and of `by_bytes`, the configuration after the token's bytes. `None` if no token edge accepts
    /// the token.
    pub(crate) fn step_token(
        &mut self,
        id: ConfigurationId,
        by_bytes: ConfigurationId,
        takes: impl Fn(TerminalId) -> bool,
    ) -> Result<Option<ConfigurationId>> {
        let automaton = self.automaton;
        let mut moved: SmallVec<[Item; 8]> = SmallVec::new();
        for &Item { state, stack } in self.items(id) {
            if let State::Token { terminal, next } = automaton.state(state)
                && takes(terminal)
            {
                moved.push(Item { state: next, stack });
            }
        }
        if moved.is_empty() {
            return Ok(None);
        }
        self.check_memory()?;
        let next = match by_bytes {
            ConfigurationId::DEAD => self.make(|lazy, closure| {
                lazy.add_all(closure, &mut moved);
                Ok(())
            }),
            _ => self.close_with(by_bytes, &mut moved),
        };
        let made = self.cache.stacks.take_interned();
        self.cache.work.spend(NEW_STEP + moved.len() + made)?;
        next.map(Some)
    }

    /// The union of a configuration and of some items, closed.
    fn close_with(&mut self, with: ConfigurationId, items: &mut [Item]) -> Result<ConfigurationId> {
        let mut closure = self.spare.pop().unwrap_or_default();
        closure.clear();
        self.add_configuration(&mut closure, with);
        self.add_all(&mut closure, items);
        let next = self.close(&mut closure).and_then(|()| self.intern_closure(&mut closure));
        self.spare.push(closure);
        next
    }

    fn add_configuration(&mut self, closure: &mut Closure, id: ConfigurationId) {
        for place in 0..self.items(id).len() {
            let Item { state, stack } = self.items(id)[place];
            self.add(closure, state, stack);
        }
        let flags = self.transitions.flags(id);
        closure.accepting = flags.accepting;
        closure.named = flags.named;
        let history = self.history(id);
        if history != HistoryId::NONE {
            closure.trace.history = history;
            closure.trace.remembers = true;
            closure.trace.depends = true;
            if let Some(watches) = self.memory.watches.get(&id) {
                closure.trace.watches.extend_from_slice(watches);
            }
        }
    }
}

impl Automaton {
    /// The flags of a configuration with these items, in which the text so far is not a word and no name has just
    /// ended.
    pub(in crate::automaton) fn flags_of(&self, items: &[Item]) -> Flags {
        let tokens = self.has_terminals() && items.iter().any(|item| self.terminal(item.state).is_some());
        Flags { tokens, ..Flags::default() }
    }
}
