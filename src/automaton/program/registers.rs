//! The kinds of registers, their states, and their records: the lowered form of each loop, list of members, list of
//! unique items, product, bounded part and name. Their behaviour at run time is in `automaton/register`.

use super::ids::{PartId, StateId};
use super::interval::Interval;
use super::key_trie::KeyTrie;
use crate::error::Result;
use crate::grammar::conditions::Clauses;
use crate::grammar::{Alternative, Condition, Unit, conditions};
use crate::limits::Limits;

/// Declares the kinds of registers, each with its table of records in a block.
macro_rules! kinds {
    ($($(#[doc = $doc:literal])+ $(#[cfg($cfg:meta)])? $kind:ident in $table:ident: $record:ty;)*) => {
        /// The kind of a register.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum RegisterKind {
            $($(#[doc = $doc])+ $(#[cfg($cfg)])? $kind,)*
        }

        /// The records of the registers of a block, one table per kind.
        #[derive(Debug, Default)]
        pub(in crate::automaton) struct Records {
            $($(#[cfg($cfg)])? pub(in crate::automaton) $table: Vec<$record>,)*
        }

        impl Records {
            /// Calls `each` for every state that a record leads to or calls; see [`Record::each_target`].
            pub(in crate::automaton) fn each_target_of(
                &self,
                (kind, place): (RegisterKind, usize),
                each: &mut dyn FnMut(StateId),
            ) {
                match kind {
                    $($(#[cfg($cfg)])? RegisterKind::$kind => self.$table[place].each_target(each),)*
                }
            }

            /// Calls `each` for every start that a record calls before a byte is read; see [`Record::each_left_call`].
            pub(in crate::automaton) fn each_left_call_of(
                &self,
                (kind, place): (RegisterKind, usize),
                each: &mut dyn FnMut(StateId),
            ) {
                match kind {
                    $($(#[cfg($cfg)])? RegisterKind::$kind => self.$table[place].each_left_call(each),)*
                }
            }

            /// Calls `each` for every state that any record leads to or calls.
            pub(in crate::automaton) fn each_target(&self, each: &mut dyn FnMut(StateId)) {
                $($(#[cfg($cfg)])? self.$table.iter().for_each(|record| record.each_target(each));)*
            }

            /// Like `each_target`, with mutable access.
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
    /// A part bounded in tokens.
    Part in parts: Part;
    /// A name in an object.
    Name in names: Name;
    /// The register of the test in `register/toy.rs`.
    #[cfg(test)]
    Toy in toys: Toy;
}

/// The role of a state of a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// Begins the register.
    Enter,
    /// Continues after a separator; the frame on top has the value.
    Next,
    /// The return address of the calls of the register: a round, a member, an item. The value of the frame is the value
    /// of the register.
    Return,
    /// Marks a frame while a separator is read; no call returns to the state.
    Between,
    /// A leaf state, which waits for a byte. The register's value is the value of the top frame.
    Inside,
}

impl Role {
    /// Whether the frames that return to the state have values.
    #[inline]
    pub(in crate::automaton) fn has_value(self) -> bool {
        matches!(self, Role::Return | Role::Between | Role::Inside)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::automaton) struct RegisterState {
    pub(in crate::automaton) kind: RegisterKind,
    pub(in crate::automaton) role: Role,
    /// The id of the record. Ids of records count through all blocks, like ids of states.
    pub(in crate::automaton) record: u32,
    /// For the role `Inside`, a position whose meaning the register defines; otherwise 0.
    pub(in crate::automaton) node: u32,
}

/// The lowered form of one register: the states that it leads to, for passes over a block.
pub(in crate::automaton) trait Record {
    /// Calls `each` for every state that the register leads to or calls, except the states of the register itself.
    fn each_target(&self, each: &mut dyn FnMut(StateId));

    /// Like [`each_target`](Record::each_target), with mutable access.
    fn each_target_mut(&mut self, each: &mut dyn FnMut(&mut StateId));

    /// Calls `each` for every start that the state of the register with the role `Enter` calls before a byte is read.
    fn each_left_call(&self, each: &mut dyn FnMut(StateId));

    /// Bytes on the heap that the record owns.
    fn heap_bytes(&self) -> usize;
}

/// A counted loop: its body runs `min` to `max` times. The value of the frame is the set of the numbers of rounds that
/// may follow the current round.
#[derive(Clone, Debug)]
pub(crate) struct Loop {
    /// The start of the body; the body is never empty and ends in the accepting state.
    pub(crate) body: StateId,
    /// A lower bound on the bytes of a round.
    pub(crate) bytes: u32,
    pub(crate) min: u32,
    pub(crate) max: Option<u32>,
    /// The state after the last round.
    pub(crate) exit: StateId,
    /// The state with the role `Return`.
    pub(crate) to_return: StateId,
    /// The return address of the first round, which is a plain call.
    pub(crate) after_first: StateId,
}

impl Loop {
    /// The numbers of rounds that may follow the next round after `before` rounds; that round must be allowed.
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
    /// Per member, the start of its value, which ends in the accepting state.
    pub(crate) values: Vec<StateId>,
    /// Per member: whether it is required.
    pub(crate) required: Vec<bool>,
    /// Per index of a member (and one past the end), the first required member at or after it, or the number of members
    /// if there is none.
    pub(crate) next_required: Vec<u32>,
    /// Per index of a member (and one past the end), the number of required members at or after it.
    pub(crate) required_from: Vec<u32>,
    /// Bounds on the number of members in total, members without a fixed key included.
    pub(crate) min: u32,
    pub(crate) max: Option<u32>,
    /// The start of a further member; `None` if there can be none.
    pub(crate) rest: Option<StateId>,
    /// The start of the names of all members without a fixed key, if these names may be few.
    pub(crate) names: Option<StateId>,
    /// The most further members: the number of their names if these are few. `None` if names do not bound the number.
    pub(crate) max_additional: Option<u32>,
    /// The starts of the members without a fixed key that may be present at most once.
    pub(crate) ones: Vec<StateId>,
    /// The conditions on the members present; `None` if `required`, `min` and `max` express all of them.
    pub(crate) conditional: Option<Box<Conditional>>,
    /// The start of the separator, which leads to the state with the role `Next`.
    pub(crate) separator: StateId,
    /// The state after the list.
    pub(crate) exit: StateId,
    /// The state with the role `Return`.
    pub(crate) to_return: StateId,
    /// The state with the role `Between`.
    pub(crate) between: StateId,
    /// The state of the key trie's root; node `n` has the id `root + n`.
    pub(crate) root: StateId,
}

/// The conditions of a list of members. Entries are the members, then the ones.
#[derive(Clone, Debug)]
pub(crate) struct Conditional {
    pub(crate) conditions: Vec<Condition>,
    /// The conditions as clauses, including the required members.
    pub(crate) clauses: Clauses,
    /// Per member, the first member with its key.
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

    /// The number of bytes on the heap, those of this value included.
    fn boxed_bytes(&self) -> usize {
        let sets = |alternative: &Alternative| {
            let ids = alternative.some.iter().map(|set| set.len()).sum::<usize>() + alternative.none.len();
            size_of_val(&*alternative.some) + ids * size_of::<u32>()
        };
        let alternatives =
            |condition: &Condition| size_of_val(&*condition.0) + condition.0.iter().map(sets).sum::<usize>();
        size_of::<Conditional>()
            + self.conditions.capacity() * size_of::<Condition>()
            + self.conditions.iter().map(alternatives).sum::<usize>()
            + self.clauses.heap_bytes()
            + self.groups.capacity() * size_of::<u32>()
    }
}

/// The lowered form of [`crate::grammar::Distinct`].
#[derive(Clone, Debug)]
pub(crate) struct UniqueItems {
    /// The start of an item, per place. The item ends in the accepting state. The last start is used for all further
    /// places.
    pub(crate) items: Vec<StateId>,
    pub(crate) min: u32,
    pub(crate) max: Option<u32>,
    pub(crate) endless: bool,
    /// The start of the separator, which leads to the state with the role `Next`.
    pub(crate) separator: StateId,
    /// The state after the list.
    pub(crate) exit: StateId,
    /// The state with the role `Return`.
    pub(crate) to_return: StateId,
}

/// An intersection or a complement: sub-automata that run in lockstep over the same bytes.
#[derive(Clone, Debug)]
pub(crate) struct Product {
    pub(crate) operands: Vec<Operand>,
    /// Whether to accept where the single operand does not.
    pub(crate) complement: bool,
    /// Set if the product is an intersection of two operands, one of which only bounds the length of the other.
    pub(crate) bound: Option<Bound>,
    /// The length in bytes of some word other than the empty one, if it is known.
    pub(crate) word: Option<u32>,
    /// The state after a word of the product.
    pub(crate) exit: StateId,
    /// The state with the role `Inside`, which is also the return address of the frames.
    pub(crate) state: StateId,
}

/// A part and the operand that bounds its length, by their indices in a product.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bound {
    pub(crate) unit: Unit,
    pub(crate) part: usize,
    /// The operand that reads any bytes, or any characters, up to a maximal number.
    pub(crate) counter: usize,
}

/// One operand of a product.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Operand {
    /// The start of the operand's words other than the empty one; `None` if there are none.
    pub(crate) start: Option<StateId>,
    /// Whether the operand accepts the empty word.
    pub(crate) nullable: bool,
}

/// A part bounded in tokens; see `run/parts.rs`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part {
    pub(crate) part: PartId,
    /// The state after the part.
    pub(crate) exit: StateId,
}

/// The end of a name in an object. Names are tracked separately from configurations; see `automaton/keys`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Name {
    /// The state after the name.
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
        // the value of a member with a key begins after the key was read
        self.ones.iter().chain(&self.rest).copied().for_each(each);
    }

    fn heap_bytes(&self) -> usize {
        let ids = self.values.capacity() + self.ones.capacity();
        let counts = self.next_required.capacity() + self.required_from.capacity();
        let conditional = self.conditional.as_ref().map_or(0, |conditional| conditional.boxed_bytes());
        self.keys.memory_usage() + 4 * (ids + counts) + self.required.capacity() + conditional
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

    /// Does nothing: operands run on stacks of their own.
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

/// An even number of bytes `x`, at most `most`, followed by a semicolon: the smallest register with a leaf state.
#[cfg(test)]
#[derive(Clone, Copy, Debug)]
pub(in crate::automaton) struct Toy {
    /// The most bytes `x`, an even number.
    pub(in crate::automaton) most: u32,
    /// The state with the role `Inside`.
    pub(in crate::automaton) inside: StateId,
    /// The state after the semicolon.
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
