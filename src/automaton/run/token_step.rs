//! Steps by tokens, along token edges.
//!
//! A token that a token terminal has, and that has bytes, goes both ways at once. What follows distributes over the union of
//! configurations, so the way by its bytes is walked first, and what it has led to is closed together with the rest. All
//! stacks have then read the same bytes since the outermost list of different items began, as token edges lie outside of such
//! lists.

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

/// Steps of work of one step along token edges, beside one for each state and frame.
const NEW_STEP: usize = 8;

impl Lazy<'_> {
    /// The token terminals of a configuration; the same one may come again.
    pub(crate) fn terminals(&self, id: ConfigurationId) -> SmallVec<[TerminalId; 4]> {
        let automaton = self.automaton;
        if !automaton.has_terminals() {
            return SmallVec::new();
        }
        self.items(id).iter().filter_map(|item| automaton.terminal(item.state)).collect()
    }

    /// Per token terminal of a configuration, the configuration behind its token edges alone. What a token leads to that the terminal
    /// has holds that and more.
    ///
    /// # Errors
    /// Limits.
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

    /// The configuration after a token: what lies behind the token edges of `id` whose terminals `takes` says have the token,
    /// and `by_bytes`, which the token's bytes lead to. `None` if no token edge takes it.
    ///
    /// # Errors
    /// Limits.
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

    /// A configuration, and what follows some items.
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
    /// What is true of a configuration of these items that is no word.
    pub(in crate::automaton) fn flags_of(&self, items: &[Item]) -> Flags {
        let tokens = self.has_terminals() && items.iter().any(|item| self.terminal(item.state).is_some());
        Flags { tokens, ..Flags::default() }
    }
}
