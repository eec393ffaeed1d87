//! Shapes of configurations: what may follow, written down without the ids of the grammar that it is of.
//!
//! A configuration is written as its states with their stacks, then each state as what it reads and where it leads, states
//! by the order in which they are met. Two configurations of one shape do the same until they return, be they of two
//! grammars: the inside of a string, a number, a date. (Two that do the same may have different shapes.)

use super::canonical_form::{Canonical, CanonicalForm, CanonicalScratch, MOST_WORDS};
use crate::automaton::Automaton;
use crate::automaton::program::state::{State, StateId};
use crate::automaton::run::cache::Cache;
use crate::automaton::run::configuration::{ConfigurationId, Frame, StackSetId};
use crate::automaton::run::lazy::Lazy;
use crate::automaton::tuning::WORDS_IN_VAIN;

struct Writer<'a> {
    automaton: &'a Automaton,
    tables: &'a Cache,
    scratch: CanonicalScratch,
}

impl Cache {
    /// The most bytes that it took to complete what runs in lockstep in a shape.
    pub(crate) fn completion_radius_of(&self, canonical: &Canonical) -> u32 {
        canonical.products.iter().map(|&l| self.products.completion_radius(l)).max().unwrap_or(0)
    }

    /// Says that it may take this many bytes to complete what runs in lockstep in a shape: another grammar has found out.
    pub(crate) fn raise_completion_radius(&mut self, canonical: &Canonical, bytes: u32) {
        canonical.products.iter().for_each(|&l| self.products.raise_completion_radius(l, bytes));
    }
}

impl Lazy<'_> {
    /// The shape of a configuration; `None` if it is large, or has to do with the members or items of a list.
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
        while let Some(&state) = self.scratch.met.states.get(written) {
            written += 1;
            self.write_state(state)?;
        }
        Some(())
    }

    fn put(&mut self, word: u32) {
        self.scratch.words.push(word);
    }

    /// Whether there is room for more.
    fn has_room(&self) -> Option<()> {
        (self.scratch.words.len() < MOST_WORDS).then_some(())
    }

    /// Writes the kind of what follows, with how many parts it has or a byte.
    fn put_kind(&mut self, kind: u32, more: u32) {
        self.put(kind << 24 | more);
    }

    /// Writes which state comes next.
    fn refer(&mut self, state: StateId) -> Option<()> {
        let number = self.number(state)?;
        self.put(number);
        Some(())
    }

    /// The number of a state: 0 for the accepting one.
    fn number(&mut self, state: StateId) -> Option<u32> {
        let state = self.automaton.single(state);
        let state = match self.automaton.state(state) {
            State::Deferred(part) => self.automaton.lowered(part)?,
            _ => state,
        };
        if state == StateId::ACCEPT { Some(0) } else { self.scratch.met.number(state) }
    }

    fn configuration(&mut self, id: ConfigurationId) -> Option<()> {
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

    /// Writes the frames of rounds and products that a part keeps.
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
            match self.automaton.state(frame.to_return) {
                State::MembersReturn(_) | State::MembersBetween(_) | State::UniqueReturn(_) => return None,
                State::Product(_) => {
                    let tuple = self.tables.products.get(frame.value.product_state());
                    tuple.iter().try_for_each(|&operand| self.configuration(operand))?;
                }
                State::LoopReturn(_) => {
                    let set = self.tables.stacks.rounds.get(frame.value.rounds());
                    (set.len() < MOST_WORDS).then_some(())?;
                    self.put(set.len() as u32);
                    set.iter()
                        .flat_map(|interval| [interval.low, interval.high])
                        .for_each(|end| self.put(end));
                }
                _ => self.put(frame.value.bits()),
            }
            self.stacks(frame.below)
        })
    }

    fn write_state(&mut self, state: StateId) -> Option<()> {
        self.has_room()?;
        let automaton = self.automaton;
        match automaton.state(state) {
            // these are not met
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
                // next to each other many lead to the same state
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
            // whose end it is does not matter to bytes
            State::PartEnd { next, .. } => {
                self.put_kind(14, 0);
                self.refer(next)
            }
            State::Named { next } => {
                self.put_kind(7, 0);
                self.refer(next)
            }
            State::Call { start, to_return } => {
                self.put_kind(8, 0);
                self.refer(start)?;
                self.refer(to_return)
            }
            // a form is about bytes alone, and none follows a token edge
            State::Token { .. } => {
                self.put_kind(13, 0);
                Some(())
            }
            State::LoopAgain(l) => self.write_loop(9, l),
            State::LoopReturn(l) => self.write_loop(10, l),
            State::MembersEnter(_)
            | State::MembersReturn(_)
            | State::MembersNext(_)
            | State::MembersBetween(_)
            | State::Key { .. }
            | State::UniqueEnter(_)
            | State::UniqueReturn(_)
            | State::UniqueNext(_) => None,
            State::Product(l) => self.write_product(11, l),
            State::ProductEnter(l) => self.write_product(12, l),
        }
    }

    fn write_product(&mut self, kind: u32, l: u32) -> Option<()> {
        self.scratch.products.push(l);
        let product = self.automaton.product(l);
        self.put_kind(kind, product.operands.len() as u32);
        self.put(u32::from(product.complement));
        for operand in &product.operands {
            self.put(u32::from(operand.nullable) << 1 | u32::from(operand.start.is_some()));
            operand.start.map_or(Some(()), |start| self.refer(start))?;
        }
        self.refer(product.exit)?;
        self.refer(product.state)
    }

    fn write_loop(&mut self, kind: u32, l: u32) -> Option<()> {
        let counted = self.automaton.counted_loop(l);
        self.put_kind(kind, u32::from(counted.max.is_some()));
        self.put(counted.bytes);
        self.put(counted.min);
        self.put(counted.max.unwrap_or(0));
        self.refer(counted.body)?;
        self.refer(counted.exit)?;
        self.refer(counted.to_return)?;
        self.refer(counted.after_first)
    }
}
