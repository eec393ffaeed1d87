//! The kinds of registers, their states, and their records: what was lowered for each loop, list of members, list of unique
//! items, product, bounded part and name. What a register does when an automaton runs is in `automaton/register`.

use super::ids::{PartId, StateId};
use super::interval::Interval;
use super::key_trie::KeyTrie;
use crate::error::Result;
use crate::grammar::conditions::Clauses;
use crate::grammar::{Condition, Unit, conditions};
use crate::limits::Limits;

/// Declares the kinds of registers, with the table of records that each has in a block.
macro_rules! kinds {
    ($($(#[doc = $doc:literal])+ $(#[cfg($cfg:meta)])? $kind:ident in $table:ident: $record:ty;)*) => {
        /// The kind of a register.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum RegisterKind {
            $($(#[doc = $doc])+ $(#[cfg($cfg)])? $kind,)*
        }

        /// The records of the registers of a block, in a table a kind.
        #[derive(Debug, Default)]
        pub(in crate::automaton) struct Records {
            $($(#[cfg($cfg)])? pub(in crate::automaton) $table: Vec<$record>,)*
        }

        impl Records {
            /// Each state that the record of a kind and place leads to or calls; see [`Record::each_target`].
            pub(in crate::automaton) fn each_target_of(
                &self,
                (kind, place): (RegisterKind, usize),
                each: &mut dyn FnMut(StateId),
            ) {
                match kind {
                    $($(#[cfg($cfg)])? RegisterKind::$kind => self.$table[place].each_target(each),)*
                }
            }

            /// Each start that a record calls before a byte is read; see [`Record::each_left_call`].
            pub(in crate::automaton) fn each_left_call_of(
                &self,
                (kind, place): (RegisterKind, usize),
                each: &mut dyn FnMut(StateId),
            ) {
                match kind {
                    $($(#[cfg($cfg)])? RegisterKind::$kind => self.$table[place].each_left_call(each),)*
                }
            }

            /// Each state that any record leads to or calls.
            pub(in crate::automaton) fn each_target(&self, each: &mut dyn FnMut(StateId)) {
                $($(#[cfg($cfg)])? self.$table.iter().for_each(|record| record.each_target(each));)*
            }

            /// The same, to be changed.
            pub(in crate::automaton) fn each_target_mut(&mut self, each: &mut dyn FnMut(&mut StateId)) {
                $($(#[cfg($cfg)])? self.$table.iter_mut().for_each(|record| record.each_target_mut(each));)*
            }

            /// Bytes on the heap.
            pub(in crate::automaton) fn memory_usage(&self) -> usize {
                let mut bytes = 0;
                $(
                    $(#[cfg($cfg)])?
                    {
                        bytes += self.$table.capacity() * size_of::<$record>();
                        bytes += self.$table.iter().map(Record::heap_bytes).sum::<usize>();
                    }
                )*
                bytes
            }
        }
    };
}

kinds! {
    /// A counted loop.
    Loop in loops: Loop;
    /// A list of members.
    Members in members: Members;
    /// A list of items that are pairwise different.
    Unique in unique: UniqueItems;
    /// An intersection or a complement.
    Product in products: Product;
    /// A part that is bounded in tokens.
    Part in parts: Part;
    /// A name in an object.
    Name in names: Name;
    /// That of the test of `register/toy.rs`.
    #[cfg(test)]
    Toy in toys: Toy;
}

/// What a state of a register is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// Begin it.
    Enter,
    /// Go on after a separator; the frame on top has the value.
    Next,
    /// Return address of what the register calls: a round, a member, an item. The frame's value is the register.
    Return,
    /// Marks a frame while a separator is read; nothing returns to it.
    Between,
    /// A leaf state, which waits for a byte; the value is that of the frame on top.
    Inside,
}

impl Role {
    /// Whether the frames that return to the state have values.
    #[inline]
    pub(in crate::automaton) fn has_value(self) -> bool {
        matches!(self, Role::Return | Role::Between | Role::Inside)
    }
}

/// A state of a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::automaton) struct RegisterState {
    pub(in crate::automaton) kind: RegisterKind,
    pub(in crate::automaton) role: Role,
    /// The id of the record: ids count through all blocks, as those of states do.
    pub(in crate::automaton) record: u32,
    /// In the role `Inside`: where inside, as a number that the register gives a meaning; 0 otherwise.
    pub(in crate::automaton) node: u32,
}

/// What was lowered for one register: where it leads, as the passes over a block see it.
pub(in crate::automaton) trait Record {
    /// Each state that it leads to or calls, other than its own.
    fn each_target(&self, each: &mut dyn FnMut(StateId));

    /// The same states, to be changed.
    fn each_target_mut(&mut self, each: &mut dyn FnMut(&mut StateId));

    /// Each start that its state with the role `Enter` calls before a byte is read.
    fn each_left_call(&self, each: &mut dyn FnMut(StateId));

    /// Bytes on the heap.
    fn heap_bytes(&self) -> usize;
}

/// A counted loop: its body runs `min` to `max` times. How many rounds may still follow is the frame's value.
#[derive(Clone, Debug)]
pub(crate) struct Loop {
    /// Start of the body; the body is never empty and ends in the accepting state.
    pub(crate) body: StateId,
    /// At least this many bytes are a round.
    pub(crate) bytes: u32,
    pub(crate) min: u32,
    pub(crate) max: Option<u32>,
    /// Where to go on afterwards.
    pub(crate) exit: StateId,
    /// The state with the role `Return`.
    pub(crate) to_return: StateId,
    /// Where the first round, which is a plain call, returns to.
    pub(crate) after_first: StateId,
}

impl Loop {
    /// How many rounds may follow the one after `before` rounds, which is allowed.
    pub(in crate::automaton) fn following(&self, before: u32) -> Interval {
        let done = before + 1;
        let high = self.max.map_or(Interval::ENDLESS, |max| max.saturating_sub(done));
        Interval { low: self.min.saturating_sub(done), high }
    }
}

/// The lowered form of [`crate::grammar::Members`].
#[derive(Clone, Debug)]
pub(crate) struct Members {
    pub(crate) any_order: bool,
    pub(crate) keys: KeyTrie,
    /// Per member: where its value starts (it ends in the accepting state).
    pub(crate) values: Vec<StateId>,
    /// Per member: whether it is required.
    pub(crate) required: Vec<bool>,
    /// Per member position `i` (and one past the end): the first required member at or after `i`.
    pub(crate) next_required: Vec<u32>,
    /// Per member position `i` (and one past the end): how many members at or after `i` are required.
    pub(crate) required_from: Vec<u32>,
    /// Bounds on how many members come, further ones included.
    pub(crate) min: u32,
    pub(crate) max: Option<u32>,
    /// Start of a further member.
    pub(crate) rest: Option<StateId>,
    /// Start of the names of all members without a fixed key, if they may be few.
    pub(crate) names: Option<StateId>,
    /// How many further members may come at most: there are no more names.
    pub(crate) max_additional: Option<u32>,
    /// Starts of the members without a fixed key that come once at most.
    pub(crate) ones: Vec<StateId>,
    /// What must hold of the members that come, if that is not said by what is required.
    pub(crate) conditional: Option<Box<Conditional>>,
    /// Start of the separator, which leads to the state with the role `Next`.
    pub(crate) separator: StateId,
    /// Where to go on afterwards.
    pub(crate) exit: StateId,
    /// The state with the role `Return`.
    pub(crate) to_return: StateId,
    /// The state with the role `Between`.
    pub(crate) between: StateId,
    /// State id of the key trie's root; node `n` has the id `root + n`.
    pub(crate) root: StateId,
}

/// The conditions of a list of members. Its entries are the members and then the ones.
#[derive(Clone, Debug)]
pub(crate) struct Conditional {
    pub(crate) conditions: Vec<Condition>,
    /// The same as clauses, with the members that are required.
    pub(crate) clauses: Clauses,
    /// Per member: the first one with its key.
    pub(crate) groups: Vec<u32>,
}

impl Conditional {
    /// Refuses conditions that take too many decisions to combine.
    ///
    /// # Errors
    /// The limit `condition_search`.
    pub(in crate::automaton) fn check(&self, is_counted: bool, limits: &Limits) -> Result<()> {
        let limit = limits.condition_search;
        match self.clauses.is_decidable(is_counted, limit) {
            true => Ok(()),
            false => Err(conditions::undecidable(limit)),
        }
    }
}

/// The lowered form of [`crate::grammar::Distinct`].
#[derive(Clone, Debug)]
pub(crate) struct UniqueItems {
    /// Per place: start of an item (it ends in the accepting state). The last one is that of all further places.
    pub(crate) items: Vec<StateId>,
    pub(crate) min: u32,
    pub(crate) max: Option<u32>,
    pub(crate) endless: bool,
    /// Start of the separator, which leads to the state with the role `Next`.
    pub(crate) separator: StateId,
    /// Where to go on afterwards.
    pub(crate) exit: StateId,
    /// The state with the role `Return`.
    pub(crate) to_return: StateId,
}

/// Sub-automata that run side by side over the same bytes.
#[derive(Clone, Debug)]
pub(crate) struct Product {
    pub(crate) operands: Vec<Operand>,
    /// Accept where the (single) operand does not.
    pub(crate) complement: bool,
    /// If one operand only bounds how long the words of the other are.
    pub(crate) bound: Option<Bound>,
    /// Where to go on afterwards.
    pub(crate) exit: StateId,
    /// The state inside, also the return address of its frames.
    pub(crate) state: StateId,
}

/// A part and what bounds its length, by their places in a product.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bound {
    pub(crate) unit: Unit,
    pub(crate) part: usize,
    /// Reads any bytes, or any characters, of a number.
    pub(crate) counter: usize,
}

/// One side of a product.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Operand {
    /// Start of the operand's words other than the empty one; `None` if it has none.
    pub(crate) start: Option<StateId>,
    /// Whether the empty word is one of its words.
    pub(crate) nullable: bool,
}

/// A part that is bounded in tokens; see `run/parts.rs`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part {
    pub(crate) part: PartId,
    /// Where to go on afterwards.
    pub(crate) exit: StateId,
}

/// A name in an object; which names came is followed beside configurations, see `automaton/keys`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Name {
    /// Where to go on once it was read.
    pub(crate) exit: StateId,
}

impl Record for Loop {
    fn each_target(&self, each: &mut dyn FnMut(StateId)) {
        [self.body, self.exit, self.after_first].into_iter().for_each(each);
    }

    fn each_target_mut(&mut self, each: &mut dyn FnMut(&mut StateId)) {
        [&mut self.body, &mut self.exit, &mut self.after_first].into_iter().for_each(each);
    }

    fn each_left_call(&self, each: &mut dyn FnMut(StateId)) {
        each(self.body);
    }

    fn heap_bytes(&self) -> usize {
        0
    }
}

impl Record for Members {
    fn each_target(&self, each: &mut dyn FnMut(StateId)) {
        let starts = self.values.iter().chain(&self.rest).chain(&self.names).chain(&self.ones);
        starts.chain([&self.separator, &self.exit]).copied().for_each(each);
    }

    fn each_target_mut(&mut self, each: &mut dyn FnMut(&mut StateId)) {
        let starts =
            self.values.iter_mut().chain(&mut self.rest).chain(&mut self.names).chain(&mut self.ones);
        starts.chain([&mut self.separator, &mut self.exit]).for_each(each);
    }

    fn each_left_call(&self, each: &mut dyn FnMut(StateId)) {
        // the value of a member with a key begins after that was read
        self.ones.iter().chain(&self.rest).copied().for_each(each);
    }

    fn heap_bytes(&self) -> usize {
        let ids = self.values.capacity() + self.ones.capacity();
        let counts = self.next_required.capacity() + self.required_from.capacity();
        self.keys.memory_usage() + 4 * (ids + counts) + self.required.capacity()
    }
}

impl Record for UniqueItems {
    fn each_target(&self, each: &mut dyn FnMut(StateId)) {
        self.items.iter().chain([&self.separator, &self.exit]).copied().for_each(each);
    }

    fn each_target_mut(&mut self, each: &mut dyn FnMut(&mut StateId)) {
        self.items.iter_mut().chain([&mut self.separator, &mut self.exit]).for_each(each);
    }

    fn each_left_call(&self, each: &mut dyn FnMut(StateId)) {
        self.items.first().copied().into_iter().for_each(each);
    }

    fn heap_bytes(&self) -> usize {
        self.items.capacity() * size_of::<StateId>()
    }
}

impl Record for Product {
    fn each_target(&self, each: &mut dyn FnMut(StateId)) {
        let starts = self.operands.iter().filter_map(|operand| operand.start);
        starts.chain([self.exit]).for_each(each);
    }

    fn each_target_mut(&mut self, each: &mut dyn FnMut(&mut StateId)) {
        let starts = self.operands.iter_mut().filter_map(|operand| operand.start.as_mut());
        starts.chain([&mut self.exit]).for_each(each);
    }

    /// None: operands run on stacks of their own.
    fn each_left_call(&self, _: &mut dyn FnMut(StateId)) {}

    fn heap_bytes(&self) -> usize {
        self.operands.capacity() * size_of::<Operand>()
    }
}

impl Record for Part {
    fn each_target(&self, each: &mut dyn FnMut(StateId)) {
        each(self.exit);
    }

    fn each_target_mut(&mut self, each: &mut dyn FnMut(&mut StateId)) {
        each(&mut self.exit);
    }

    fn each_left_call(&self, _: &mut dyn FnMut(StateId)) {}

    fn heap_bytes(&self) -> usize {
        0
    }
}

impl Record for Name {
    fn each_target(&self, each: &mut dyn FnMut(StateId)) {
        each(self.exit);
    }

    fn each_target_mut(&mut self, each: &mut dyn FnMut(&mut StateId)) {
        each(&mut self.exit);
    }

    fn each_left_call(&self, _: &mut dyn FnMut(StateId)) {}

    fn heap_bytes(&self) -> usize {
        0
    }
}

/// An even number of bytes `x`, `most` of them at most, and then a semicolon: the smallest register with a leaf state.
#[cfg(test)]
#[derive(Clone, Copy, Debug)]
pub(in crate::automaton) struct Toy {
    /// Even.
    pub(in crate::automaton) most: u32,
    /// The state with the role `Inside`.
    pub(in crate::automaton) inside: StateId,
    /// Where to go on afterwards.
    pub(in crate::automaton) exit: StateId,
}

#[cfg(test)]
impl Record for Toy {
    fn each_target(&self, each: &mut dyn FnMut(StateId)) {
        each(self.exit);
    }

    fn each_target_mut(&mut self, each: &mut dyn FnMut(&mut StateId)) {
        each(&mut self.exit);
    }

    fn each_left_call(&self, _: &mut dyn FnMut(StateId)) {}

    fn heap_bytes(&self) -> usize {
        0
    }
}
