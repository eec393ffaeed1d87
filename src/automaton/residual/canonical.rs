//! Canonical forms of configurations: their behaviour, written without the ids of their grammar.
//!
//! A configuration is written as its states with their stacks, followed by the definition of each state: the symbols
//! that it reads and its successors. States are numbered in the order in which they are met. Two configurations with
//! the same form behave alike until they return, also if they belong to different grammars: the inside of a string, a
//! number, a date. (Two configurations that behave alike may have different forms.)

use super::canonical_form::{Canonical, CanonicalForm, CanonicalScratch, MOST_WORDS};
use crate::automaton::program::automaton::Automaton;
use crate::automaton::program::ids::StateId;
use crate::automaton::program::registers::RegisterState;
use crate::automaton::program::state::State;
use crate::automaton::run::cache::Cache;
use crate::automaton::run::configuration::{ConfigurationId, Frame, StackSetId};
use crate::automaton::run::lazy::Lazy;
use crate::automaton::tuning::WORDS_IN_VAIN;

/// The code of the first kind of register states; other states have lower codes.
const FIRST_REGISTER: u32 = 16;

/// Writes a canonical form.
pub(in crate::automaton) struct Writer<'a> {
    pub(in crate::automaton) automaton: &'a Automaton,
    pub(in crate::automaton) tables: &'a Cache,
    pub(in crate::automaton) scratch: CanonicalScratch,
}

impl Cache {
    /// The greatest completion radius of the products in a canonical form: the most bytes that completing one of them
    /// took so far.
    pub(crate) fn completion_radius_of(&self, canonical: &Canonical) -> u32 {
        canonical.products.iter().map(|&l| self.products.completion_radius(l)).max().unwrap_or(0)
    }

    /// Raises the completion radius of the products in a canonical form to at least `bytes`, a radius that was found in
    /// another grammar.
    pub(crate) fn raise_completion_radius(&mut self, canonical: &Canonical, bytes: u32) {
        canonical.products.iter().for_each(|&l| self.products.raise_completion_radius(l, bytes));
    }
}

impl Lazy<'_> {
    /// The canonical form of a configuration. `None` if it is too long, depends on the members or items of a list,
    /// refers to a part that is not lowered yet, or has no states; also if an earlier attempt with the same first state
    /// failed after more than [`WORDS_IN_VAIN`] words.
    pub(crate) fn canonical_form(&mut self, id: ConfigurationId) -> Option<Canonical> {
        let automaton = self.automaton;
        let first = self.states(id).next()?;
        if self.canonical_scratch.in_vain.contains(&first) {
            return None;
        }
        let mut scratch = std::mem::take(&mut self.canonical_scratch);
        scratch.products.clear();
        scratch.words.clear();
        scratch.met.clear();
        let mut writer = Writer { automaton, tables: self, scratch };
        let written = writer.write(id);
        self.canonical_scratch = writer.scratch;
        if written.is_none() && self.canonical_scratch.words.len() > WORDS_IN_VAIN {
            self.canonical_scratch.in_vain.insert(first);
        }
        let (words, products) = (&self.canonical_scratch.words, &self.canonical_scratch.products);
        written
            .map(|()| Canonical { form: CanonicalForm(words.as_slice().into()), products: products.clone() })
    }
}

impl Writer<'_> {
    fn write(&mut self, id: ConfigurationId) -> Option<()> {
        self.configuration(id)?;
        let mut written = 0;
        while written < self.scratch.met.len() {
            let state = *self.scratch.met.get(written as u32);
            written += 1;
            self.write_state(state)?;
        }
        Some(())
    }

    pub(in crate::automaton) fn put(&mut self, word: u32) {
        self.scratch.words.push(word);
    }

    /// `Some` if there is room for more words; otherwise `None`.
    fn has_room(&self) -> Option<()> {
        (self.scratch.words.len() < MOST_WORDS).then_some(())
    }

    /// Writes a kind and, in the same word, a number below 2^24: a count of parts, or a byte.
    fn put_kind(&mut self, kind: u32, more: u32) {
        self.put(kind << 24 | more);
    }

    /// Writes the kind and the role of a register state, with a number below 2^24.
    pub(in crate::automaton) fn put_register(&mut self, at: RegisterState, more: u32) {
        self.put_kind(FIRST_REGISTER + 8 * at.kind as u32 + at.role as u32, more);
    }

    /// Writes a reference to a state.
    pub(in crate::automaton) fn refer(&mut self, state: StateId) -> Option<()> {
        let number = self.number(state)?;
        self.put(number);
        Some(())
    }

    /// The number of a state; 0 for the accepting state. `None` if there are too many states, or if the state is the
    /// start of a part that is not lowered yet.
    fn number(&mut self, state: StateId) -> Option<u32> {
        let state = self.automaton.single(state);
        let state = match self.automaton.state(state) {
            State::Deferred(part) => self.automaton.lowered(part)?,
            _ => state,
        };
        let number = if state == StateId::ACCEPT { 0 } else { 1 + self.scratch.met.intern(state) };
        (number as usize <= MOST_WORDS).then_some(number)
    }

    /// Writes the items of a configuration.
    pub(in crate::automaton) fn configuration(&mut self, id: ConfigurationId) -> Option<()> {
        let tables = self.tables;
        if id == ConfigurationId::UNKNOWN || tables.is_history_dependent(id) {
            return None;
        }
        let items = tables.items(id);
        self.put_kind(1 + u32::from(tables.is_accepting(id)), items.len() as u32);
        items.iter().try_for_each(|item| {
            self.refer(item.state)?;
            self.stacks(item.stack)
        })
    }

    /// Writes a set of stacks: the frames that a residual keeps, such as the frames of loops and products.
    fn stacks(&mut self, stack: StackSetId) -> Option<()> {
        self.has_room()?;
        let frames = self.tables.stacks.frames(stack);
        self.put(frames.len() as u32);
        frames.iter().try_for_each(|frame| {
            if frame.to_return == Frame::BOTTOM {
                self.put(u32::MAX);
                return Some(());
            }
            self.refer(frame.to_return)?;
            match self.automaton.state(frame.to_return).frame_of() {
                Some(register) => register.canonical_value(self, frame.value)?,
                None => self.put(frame.value.bits()),
            }
            self.stacks(frame.below)
        })
    }

    fn write_state(&mut self, state: StateId) -> Option<()> {
        self.has_room()?;
        let automaton = self.automaton;
        match automaton.state(state) {
            // `number` never gives these states a number of their own
            State::Accept | State::Deferred(_) => None,
            State::Byte { byte, next } => {
                self.put_kind(3, u32::from(byte));
                self.refer(next)
            }
            State::ByteOr { byte, next, otherwise } => {
                self.put_kind(4, u32::from(byte));
                self.refer(next)?;
                self.refer(otherwise)
            }
            State::Bytes { first, len } => {
                self.put_kind(5, len);
                // adjacent edges often lead to the same state
                let mut last = None;
                automaton.edges(first, len).iter().try_for_each(|edge| {
                    self.put(u32::from(edge.low) << 8 | u32::from(edge.high));
                    match last {
                        Some((next, _)) if next == edge.next => {}
                        _ => last = Some((edge.next, self.number(edge.next)?)),
                    }
                    last.map(|(_, number)| self.put(number))
                })
            }
            State::Split { first, len } => {
                self.put_kind(6, len);
                automaton.splits(first, len).iter().try_for_each(|&next| self.refer(next))
            }
            State::Call { start, to_return } => {
                self.put_kind(8, 0);
                self.refer(start)?;
                self.refer(to_return)
            }
            // canonical forms describe bytes only, and no byte follows a token edge
            State::Token { .. } => {
                self.put_kind(13, 0);
                Some(())
            }
            state @ State::Register { .. } => state.register()?.canonical(self),
        }
    }
}
