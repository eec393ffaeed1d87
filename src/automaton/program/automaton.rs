//! The automaton of a grammar: its blocks of states and its global properties.

use super::block::{Block, Scope};
use super::byte_classes::ByteClasses;
use super::deferred::DeferredBlocks;
use super::ids::{StateId, TerminalId};
use super::registers::{Members, Part, Product, RegisterState, Role, UniqueItems};
use super::state::{Edge, State};
use crate::automaton::errors;
use crate::error::Result;
use crate::grammar::{ByteSet, ExprId, Grammar, Unit, least_lengths};
use crate::limits::Limits;
use rustc_hash::FxHashMap;
use std::fmt;

/// A lowered grammar. Parts that are entered only after a byte may be lowered when they are first needed; otherwise an
/// automaton does not change. The lazily computed tables are in [`Cache`](crate::automaton::Cache).
pub struct Automaton {
    /// The block lowered when the automaton was created.
    pub(in crate::automaton) ahead: Block,
    /// The blocks lowered later, if there are any.
    pub(in crate::automaton) deferred: Option<Box<DeferredBlocks>>,
    /// Lowers the remaining parts, if there are any.
    pub(in crate::automaton) later: Option<Box<dyn LowersParts>>,
    pub(in crate::automaton) classes: ByteClasses,
    /// Whether the grammar has names that an object must not contain twice.
    pub(in crate::automaton) names: bool,
    /// Whether all items of lists of different items are JSON texts.
    pub(in crate::automaton) json_items: bool,
    /// Whether the grammar has token terminals, whether or not its root reaches them.
    pub(in crate::automaton) terminals: bool,
    /// For intersections and complements, the length in bytes of some word other than the empty one.
    pub(in crate::automaton) product_words: FxHashMap<ExprId, u32>,
    /// Per expression, whether it contains a part bounded in tokens; `None` if the root does not.
    pub(in crate::automaton) parts: Option<Box<[bool]>>,
    /// The starts of names with prefixes that few names may extend.
    pub(in crate::automaton) name_starts: Vec<StateId>,
    pub(in crate::automaton) start: StateId,
    pub(in crate::automaton) nullable: bool,
    pub(in crate::automaton) limits: Limits,
}

impl fmt::Debug for Automaton {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Automaton").field("states", &self.state_count()).finish_non_exhaustive()
    }
}

/// Lowers the deferred parts of a grammar, each part when a text first reaches it.
pub(in crate::automaton) trait LowersParts: fmt::Debug + Send + Sync {
    /// Lowers a part unless it is lowered already. Returns its start and the number of states that this call created.
    /// The work is bounded when the automaton is created, and the caller counts it afterwards. So a call never fails
    /// because a budget of work is spent. An error is an error of the grammar. It concerns this
    /// part only: the part may be tried again, and other parts can still be lowered.
    ///
    /// # Errors
    /// Errors of the grammar.
    fn lower(&self, automaton: &Automaton, part: u32) -> Result<(StateId, usize)>;

    /// The expression of a part, and whether its empty word counts; `None` for an unknown part.
    fn expression(&self, part: u32) -> Option<(ExprId, bool)>;

    fn grammar(&self) -> Grammar;
}

/// All 256 bytes.
const ALL_BYTES: [u8; 256] = {
    let mut all = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        all[byte] = byte as u8;
        byte += 1;
    }
    all
};

impl Automaton {
    /// An automaton of one block. Its start must be set afterwards.
    pub(in crate::automaton) fn of(ahead: Block, classes: ByteClasses, limits: Limits) -> Automaton {
        let (deferred, later, start) = (None, None, StateId::ACCEPT);
        let (names, json_items, terminals, parts, name_starts) = (false, false, false, None, Vec::new());
        let nullable = false;
        Automaton {
            ahead,
            deferred,
            later,
            classes,
            names,
            json_items,
            terminals,
            product_words: FxHashMap::default(),
            parts,
            name_starts,
            start,
            nullable,
            limits,
        }
    }

    /// For intersections and complements, the length in bytes of some word other than the empty one.
    pub(crate) fn product_words(&self) -> &FxHashMap<ExprId, u32> {
        &self.product_words
    }

    /// The number of states lowered so far.
    pub fn state_count(&self) -> usize {
        self.ahead.states.len() + self.deferred.as_ref().map_or(0, |deferred| deferred.states())
    }

    /// The number of classes of bytes that the automaton distinguishes, 1 to 256.
    pub fn class_count(&self) -> usize {
        self.classes.len()
    }

    /// The least byte of each class, in ascending order.
    pub fn class_representatives(&self) -> &[u8] {
        self.classes.representatives()
    }

    /// The class of a byte, below [`class_count`](Automaton::class_count).
    #[inline]
    pub fn class_of(&self, byte: u8) -> usize {
        self.classes.get(byte)
    }

    /// The bytes that must be tried: all of them if a configuration remembers what it has read, otherwise one byte of
    /// each class.
    pub(crate) fn alphabet(&self, remembers: bool) -> &[u8] {
        if remembers { &ALL_BYTES } else { self.classes.representatives() }
    }

    /// Whether the grammar has names that an object must not contain twice.
    pub(crate) fn has_names(&self) -> bool {
        self.names
    }

    /// Whether the grammar has token terminals, whether or not its root reaches them.
    #[inline]
    pub(crate) fn has_terminals(&self) -> bool {
        self.terminals
    }

    /// Whether the root of the grammar reaches a part bounded in tokens.
    #[inline]
    pub(crate) fn has_parts(&self) -> bool {
        self.parts.is_some()
    }

    /// The token terminal of a state that waits for a token; `None` for other states.
    pub(crate) fn terminal(&self, state: StateId) -> Option<TerminalId> {
        match self.state(state) {
            State::Token { terminal, .. } => Some(terminal),
            _ => None,
        }
    }

    /// Whether some prefix of a name may be extended to few names only.
    pub(crate) fn may_have_few_names(&self) -> bool {
        !self.name_starts.is_empty()
    }

    /// The limits under which the automaton was lowered. The same limits bound its caches and searches.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// The most bytes of lazily computed tables: [`Limits::cache_bytes`], but less than 8 GiB. Each id takes at least
    /// four bytes, so ids stay below 2^31.
    pub(crate) fn cache_bytes(&self) -> usize {
        self.limits.cache_bytes.min((u32::MAX as usize / 2).saturating_mul(4))
    }

    /// The part of the grammar from which a state was lowered.
    pub fn scope(&self, state: StateId) -> Scope {
        let block = self.block(state.0);
        block.scopes[block.state_scopes[block.at(state.0)] as usize]
    }

    /// Bytes on the heap, for all blocks lowered so far.
    pub fn memory_usage(&self) -> usize {
        self.bytes_ahead() + self.deferred_bytes()
    }

    /// Bytes on the heap of the block that was lowered when the automaton was created.
    pub(crate) fn bytes_ahead(&self) -> usize {
        self.ahead.memory_usage()
    }

    /// Bytes on the heap of the blocks lowered later.
    pub(crate) fn deferred_bytes(&self) -> usize {
        self.deferred.as_ref().map_or(0, |deferred| deferred.bytes())
    }

    /// The bytes that a state waits for; empty for states that wait for none.
    pub(in crate::automaton) fn wanted_bytes(&self, state: StateId) -> ByteSet {
        let mut wanted = ByteSet::EMPTY;
        self.add_wanted_bytes(state, &mut wanted);
        wanted
    }

    pub(in crate::automaton) fn add_wanted_bytes(&self, mut state: StateId, wanted: &mut ByteSet) {
        if let State::ByteOr { byte, otherwise, .. } = self.state(state) {
            wanted.insert(byte);
            state = otherwise;
        }
        match self.state(state) {
            State::Byte { byte, .. } => wanted.insert(byte),
            State::Bytes { first, len } => {
                self.edges(first, len).iter().for_each(|edge| wanted.insert_range(edge.low, edge.high));
            }
            State::Register { kind, role: role @ Role::Inside, record, node } => {
                RegisterState { kind, role, record, node }.add_wanted(self, wanted);
            }
            _ => {}
        }
    }

    /// The bytes that a text reads from a state on if it begins with `first`, as long as each next byte is the only one
    /// and belongs to the same part of the grammar; at most `most`. Empty if the state does not read `first`.
    pub(crate) fn spelled(&self, state: StateId, first: u8, most: usize) -> Vec<u8> {
        let scope = self.scope(state);
        let through = |first_edge: u32, len: u32| {
            let edges = self.edges(first_edge, len);
            edges.iter().find(|edge| (edge.low..=edge.high).contains(&first)).map(|edge| edge.next)
        };
        let mut next = match self.state(state) {
            State::Byte { byte, next } | State::ByteOr { byte, next, .. } if byte == first => Some(next),
            State::ByteOr { otherwise, .. } => match self.state(otherwise) {
                State::Bytes { first, len } => through(first, len),
                _ => None,
            },
            State::Bytes { first, len } => through(first, len),
            _ => None,
        };
        let mut spelled = Vec::new();
        spelled.extend(next.map(|_| first));
        while let Some(state) = next.filter(|&state| spelled.len() < most && self.scope(state) == scope) {
            next = None;
            if let State::Byte { byte, next: after } = self.state(state) {
                spelled.push(byte);
                next = Some(after);
            }
        }
        spelled
    }

    /// The byte of a state that waits for a single byte, and the state after it if there is only one. `None` for other
    /// states.
    pub(crate) fn literal(&self, state: StateId) -> Option<(u8, Option<StateId>)> {
        match self.state(state) {
            State::Byte { byte, next } => Some((byte, Some(next))),
            State::Register { kind, role: role @ Role::Inside, record, node } => {
                RegisterState { kind, role, record, node }.literal(self)
            }
            _ => None,
        }
    }

    /// The block that contains a state, or an entry of a table, by its id.
    #[inline]
    pub(in crate::automaton) fn block(&self, id: u32) -> &Block {
        match &self.deferred {
            Some(deferred) if id >= deferred.first() => deferred.block(id),
            _ => &self.ahead,
        }
    }

    #[inline]
    pub(crate) fn state(&self, id: StateId) -> State {
        self.block(id.0).state(id)
    }

    pub(crate) fn edges(&self, first: u32, len: u32) -> &[Edge] {
        self.block(first).edges(first, len)
    }

    pub(crate) fn splits(&self, first: u32, len: u32) -> &[StateId] {
        self.block(first).splits(first, len)
    }

    /// The target of a split with one target; otherwise the state itself.
    pub(in crate::automaton) fn single(&self, state: StateId) -> StateId {
        match self.state(state) {
            State::Split { first, len: 1 } => self.splits(first, 1)[0],
            _ => state,
        }
    }

    pub(in crate::automaton) fn members(&self, id: u32) -> &Members {
        let block = self.block(id);
        &block.records.members[block.at(id)]
    }

    pub(in crate::automaton) fn unique(&self, id: u32) -> &UniqueItems {
        let block = self.block(id);
        &block.records.unique[block.at(id)]
    }

    pub(in crate::automaton) fn part_record(&self, id: u32) -> &Part {
        let block = self.block(id);
        &block.records.parts[block.at(id)]
    }

    pub(in crate::automaton) fn product(&self, id: u32) -> &Product {
        let block = self.block(id);
        &block.records.products[block.at(id)]
    }

    /// The rank of a callable in the left-call order; callers come before callees.
    pub(in crate::automaton) fn rank(&self, start: StateId) -> u32 {
        self.block(start.0).rank(start)
    }

    /// The start of a part, if it is lowered.
    pub(in crate::automaton) fn lowered(&self, part: u32) -> Option<StateId> {
        self.deferred.as_ref()?.start(part)
    }

    /// The start of a part, lowering it if necessary, and the number of states that this call created; see
    /// [`LowersParts::lower`].
    ///
    /// # Errors
    /// Errors of the grammar.
    pub(in crate::automaton) fn part(&self, part: u32) -> Result<(StateId, usize)> {
        match (self.lowered(part), &self.later) {
            (Some(start), _) => Ok((start, 0)),
            (None, Some(later)) => later.lower(self, part),
            (None, None) => Err(errors::not_lowered()),
        }
    }

    /// The expression of a part, and whether its empty word counts; `None` if lowering has failed or nothing is
    /// deferred.
    pub(in crate::automaton) fn expression_of_part(&self, part: u32) -> Option<(ExprId, bool)> {
        self.later.as_ref()?.expression(part)
    }

    /// The least lengths of the words of all expressions; empty if no part is lowered later.
    pub(in crate::automaton) fn least_lengths_of_parts(&self, unit: Unit) -> Vec<u32> {
        self.later.as_ref().map_or_else(Vec::new, |later| least_lengths(&later.grammar(), unit))
    }
}
