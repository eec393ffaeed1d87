//! The states of the byte-level pushdown automaton, and the tables they point into.

use super::interval::Interval;
use super::key_trie::KeyTrie;
use crate::error::Result;
use crate::grammar::conditions::Clauses;
use crate::grammar::{Condition, ExprId, Unit, conditions};
use crate::limits::Limits;
use std::fmt;

/// The id of a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StateId(pub(in crate::automaton) u32);

impl StateId {
    /// The one accepting state: what runs into it returns to the frame on top of the stack.
    pub const ACCEPT: StateId = StateId(0);

    /// The place in the state table.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Display for StateId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// A token terminal of the grammar that an automaton was made from: the id of its expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TerminalId(pub(in crate::automaton) ExprId);

impl TerminalId {
    /// The expression, which is a token terminal.
    pub fn expression(self) -> ExprId {
        self.0
    }
}

/// A part of the grammar that is bounded in tokens: the id of its expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct PartId(pub(in crate::automaton) ExprId);

impl PartId {
    /// The expression, which is a [`MaxTokens`](crate::grammar::Expression::MaxTokens).
    pub(crate) fn expression(self) -> ExprId {
        self.0
    }
}

/// One state. *Leaf* states (`Byte`, `ByteOr`, `Bytes`, `Token`, `Key`, `Product`) wait for a symbol and are what
/// configurations consist of; the others are passed through when a configuration is closed.
///
/// Every `Call` is of something that cannot be empty: what may be empty is skipped by a `Split` where it
/// is called. So closing a configuration first only returns (the stack gets shorter) and then only calls
/// (along the acyclic left-call graph), and always ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// Return to the top frame.
    Accept,
    /// One byte.
    Byte { byte: u8, next: StateId },
    /// One byte, or any other as `otherwise`, which is a `Bytes` state, reads it.
    ByteOr { byte: u8, next: StateId, otherwise: StateId },
    /// One byte in any of `edges[first..first + len]`: sorted, disjoint ranges.
    Bytes { first: u32, len: u32 },
    /// One token of a terminal, by its id; no byte follows the edge.
    Token { terminal: TerminalId, next: StateId },
    /// All of `splits[first..first + len]` without a byte.
    Split { first: u32, len: u32 },
    /// A name in an object was read.
    Named { next: StateId },
    /// Return address of a part that is bounded in tokens, and nothing else's; see `run/parts.rs`.
    PartEnd { part: PartId, next: StateId },
    /// Push `to_return` and go to `start`; nothing is pushed where `to_return` is the accepting state.
    Call { start: StateId, to_return: StateId },
    /// The first round of a counted loop is done: go round again, if that is allowed.
    LoopAgain(u32),
    /// Return address of a round of a counted loop; the frame's value says how many rounds may follow it.
    LoopReturn(u32),
    /// Begin a list of members.
    MembersEnter(u32),
    /// Return address of a member; the frame's value says which members were seen.
    MembersReturn(u32),
    /// Between the separator and the next member.
    MembersNext(u32),
    /// Marks the frame of a list while its separator is read; nothing returns to it.
    MembersBetween(u32),
    /// Inside a member's key: a node of the key trie.
    Key { members: u32, node: u32 },
    /// Begin a list of items that are pairwise different.
    UniqueEnter(u32),
    /// Return address of an item; the frame's value says which items were seen.
    UniqueReturn(u32),
    /// Between the separator and the next item.
    UniqueNext(u32),
    /// Stands for a part of the grammar that is lowered when it is first entered.
    Deferred(u32),
    /// Begin a product.
    ProductEnter(u32),
    /// Inside a product; the top frame's value is the product state.
    Product(u32),
}

impl State {
    /// Whether the state waits for a byte or a token.
    pub(crate) fn is_leaf(self) -> bool {
        use State::{Byte, ByteOr, Bytes, Key, Product, Token};
        matches!(self, Byte { .. } | ByteOr { .. } | Bytes { .. } | Token { .. } | Key { .. } | Product(_))
    }
}

/// A range of bytes and where it leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Edge {
    pub(crate) low: u8,
    pub(crate) high: u8,
    pub(crate) next: StateId,
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
    /// The `LoopReturn` state.
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
    /// Start of the separator, which leads to the `MembersNext` state.
    pub(crate) separator: StateId,
    /// Where to go on afterwards.
    pub(crate) exit: StateId,
    /// The `MembersReturn` state.
    pub(crate) to_return: StateId,
    /// The `MembersBetween` state.
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
    /// Start of the separator, which leads to the `UniqueNext` state.
    pub(crate) separator: StateId,
    /// Where to go on afterwards.
    pub(crate) exit: StateId,
    /// The `UniqueReturn` state.
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
    /// The `Product` state itself, also the return address in frames.
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
