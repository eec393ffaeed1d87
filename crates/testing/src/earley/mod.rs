//! A recogniser for every grammar of the IR, after Earley: "An efficient context-free parsing algorithm" (1970).
//!
//! An item is a head (the construct being read), the remainder of it as a plain list of pieces (`chart`), and the place
//! where the head began. Rules, intersections and complements are heads; everything else is expanded in place. An
//! intersection or complement runs its own charts, one per operand.
//!
//! Every piece of every item can produce some word (items with a piece that cannot are dropped), so a state with an
//! item left is viable. With intersections and complements viability is undecidable in general. It is decided by a
//! search within a [budget](Recogniser::BUDGET) of states and another of work; `None` means that a budget ran out.

mod chart;
mod least;
mod search;
mod text;

use chart::{Chart, Head, Piece};
use grammata::grammar::{ByteSet, ExprId, Grammar};
use least::Least;
use rustc_hash::{FxHashMap, FxHashSet};
use search::Key;
use std::cell::{Cell, RefCell};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// The reason why there is no recogniser for a grammar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// An intersection or complement contains itself.
    Cyclic,
    /// The budget ran out before it was decided whether an intersection or complement is empty.
    Undecided,
}

/// The results of searches, by intersection or complement and the contents of its charts.
type Answers = FxHashMap<(ExprId, Vec<Key>), Option<bool>>;

/// The recogniser of one grammar. See the [module](self).
#[derive(Debug)]
pub struct Recogniser<'g> {
    grammar: &'g Grammar,
    least: Least,
    /// One representative of each class of bytes that the grammar does not distinguish.
    alphabet: Vec<u8>,
    /// The number of items made and columns copied so far, as a measure of the cost of searches.
    work: Cell<usize>,
    /// The part of the work done by searches.
    searched: Cell<usize>,
    completable: RefCell<Answers>,
}

/// An element of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Symbol {
    /// A byte.
    Byte(u8),
    /// A token of a token terminal.
    Terminal(ExprId),
}

impl Symbol {
    /// The byte; `None` for a token.
    pub fn byte(self) -> Option<u8> {
        match self {
            Symbol::Byte(byte) => Some(byte),
            Symbol::Terminal(_) => None,
        }
    }
}

/// The state of a [`Recogniser`] after some input.
#[derive(Clone, Debug)]
pub struct State(Chart);

impl<'g> Recogniser<'g> {
    /// The most states that a search examines before it gives up.
    pub const BUDGET: usize = 2_000;
    /// The most items that a search inside an intersection or complement makes before it gives up. The search for a
    /// completion may make ten times as many, that for the fewest tokens a quarter.
    const SEARCH_WORK: usize = 200_000;
    /// Maximum number of items that all searches make together. Beyond it, every search gives up immediately.
    const ALL_SEARCH_WORK: usize = 3_000_000;

    /// Builds the recogniser of a grammar.
    ///
    /// # Errors
    /// [`Refusal`] gives the reason why there is none.
    pub fn new(grammar: &'g Grammar) -> Result<Recogniser<'g>, Refusal> {
        let mut recogniser = Recogniser {
            grammar,
            least: Least::of(grammar, FxHashMap::default()),
            alphabet: text::alphabet(grammar),
            work: Cell::new(0),
            searched: Cell::new(0),
            completable: RefCell::default(),
        };
        // an intersection or complement is decided after those inside it
        let mut locks: Vec<(ExprId, FxHashSet<ExprId>)> = Vec::new();
        let root = grammar.rule(grammar.root()).body;
        for lock in least::locks_within(grammar, [root]) {
            let inside = least::locks_within(grammar, grammar.expression(lock).children());
            if inside.contains(&lock) {
                return Err(Refusal::Cyclic);
            }
            locks.push((lock, inside));
        }
        locks.sort_by_key(|(lock, inside)| (inside.len(), *lock));
        let mut decided = FxHashMap::default();
        for (lock, _) in locks {
            let start = recogniser.start_lock(lock);
            let Some(productive) = recogniser.completable(lock, &start) else {
                return Err(Refusal::Undecided);
            };
            decided.insert(lock, productive);
            recogniser.least = Least::of(grammar, decided.clone());
        }
        Ok(recogniser)
    }

    /// The grammar that this recognises.
    pub fn grammar(&self) -> &'g Grammar {
        self.grammar
    }

    /// One representative (the least) of each class of bytes that the grammar does not distinguish, in increasing
    /// order.
    pub fn alphabet(&self) -> &[u8] {
        &self.alphabet
    }

    /// The state before any input.
    pub fn start(&self) -> State {
        State(self.start_chart(Piece::Call(Head::Rule(self.grammar.root()))))
    }

    /// Reads one byte that is not part of a token terminal.
    pub fn advance(&self, state: &mut State, byte: u8) {
        self.advance_chart(&mut state.0, byte);
    }

    /// Reads one token: along its bytes, if it has any, and as each of the token terminals that contain it according to
    /// `has`.
    pub fn advance_token(&self, state: &mut State, bytes: &[u8], has: impl Fn(ExprId) -> bool) {
        self.advance_chart_token(&mut state.0, bytes, has);
    }

    /// Reads one symbol of a word.
    pub fn advance_symbol(&self, state: &mut State, symbol: Symbol) {
        match symbol {
            Symbol::Byte(byte) => self.advance(state, byte),
            Symbol::Terminal(terminal) => self.advance_token(state, b"", |other| other == terminal),
        }
    }

    /// The token terminals that may come next, without duplicates.
    pub fn viable_terminals(&self, state: &State) -> Vec<ExprId> {
        let terminal = |item: &chart::Item| match item.rest.last() {
            Some(&Piece::Token(terminal)) => Some(terminal),
            _ => None,
        };
        let mut all: Vec<ExprId> = state.0.last().readers.iter().filter_map(terminal).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// Whether the input so far is a word of the language.
    pub fn is_accepting(&self, state: &State) -> bool {
        state.0.is_accepting()
    }

    /// Whether some completion makes the input a word; `None` if the search gave up.
    pub fn is_viable(&self, state: &State) -> Option<bool> {
        self.is_chart_viable(&state.0)
    }

    /// Whether `word` is in the language.
    pub fn accepts(&self, word: &[u8]) -> bool {
        self.is_accepting(&self.after(word))
    }

    /// Whether `prefix` is a prefix of a word; `None` if the search gave up.
    pub fn viable_prefix(&self, prefix: &[u8]) -> Option<bool> {
        self.is_viable(&self.after(prefix))
    }

    /// The state after `bytes`.
    pub fn after(&self, bytes: &[u8]) -> State {
        let mut state = self.start();
        bytes.iter().for_each(|&byte| self.advance(&mut state, byte));
        state
    }

    /// The bytes that may come next; `None` if that could not be decided.
    pub fn viable_bytes(&self, state: &State) -> Option<ByteSet> {
        let mut bytes = ByteSet::EMPTY;
        for (i, &first) in self.alphabet.iter().enumerate() {
            let mut next = state.clone();
            self.advance(&mut next, first);
            if self.is_viable(&next)? {
                let last = self.alphabet.get(i + 1).map_or(255, |after| after - 1);
                bytes = bytes.union(&ByteSet::range(first, last));
            }
        }
        Some(bytes)
    }

    /// The fewest of the given tokens after which the state accepts. Breadth first; each token is tried in each state,
    /// along its bytes, if it has any, and as each of the token terminals that contain it according to `has`. `None` if
    /// that could not be decided within the budget, `Some(None)` if no tokens do.
    pub fn fewest_tokens(
        &self,
        state: &State,
        tokens: &[Option<Vec<u8>>],
        has: impl Fn(ExprId, u32) -> bool,
    ) -> Option<Option<usize>> {
        if self.is_accepting(state) {
            return Some(Some(0));
        }
        let (begun, mut tried) = (self.work.get(), 0);
        let mut seen = FxHashSet::from_iter([state.0.key()]);
        let mut level = vec![state.clone()];
        for count in 1.. {
            let mut next = Vec::new();
            let ids = || (0u32..).zip(tokens);
            for (state, (id, token)) in level.iter().flat_map(|s| ids().map(move |token| (s, token))) {
                if token.is_none() && !self.viable_terminals(state).iter().any(|&terminal| has(terminal, id))
                {
                    continue;
                }
                let mut after = state.clone();
                let bytes = token.as_deref().unwrap_or_default();
                self.advance_token(&mut after, bytes, |terminal| has(terminal, id));
                if self.is_accepting(&after) {
                    return Some(Some(count));
                }
                if self.least_completion(&after.0).is_some() && seen.insert(after.0.key()) {
                    next.push(after);
                }
                tried += 1;
                if tried > Recogniser::BUDGET || self.work.get() - begun > Recogniser::SEARCH_WORK / 4 {
                    return None;
                }
            }
            if next.is_empty() {
                return Some(None);
            }
            level = next;
        }
        None
    }

    /// A shortest completion: symbols after which the state accepts. `None` if none was found within the budget,
    /// `Some(None)` if there is none.
    pub fn completion(&self, state: &State) -> Option<Option<Vec<Symbol>>> {
        // A*: first the state whose word can be the shortest, and of these the one read furthest. The lower bound can
        // drop by more than was read, so a state reached again with fewer symbols is expanded again
        let (begun, mut reached) = (self.work.get(), 0usize);
        let mut fewest: FxHashMap<Key, usize> = FxHashMap::default();
        let mut queue = BTreeMap::new();
        if let Some(least) = self.least_completion(&state.0) {
            fewest.insert(state.0.key(), 0);
            queue.insert((least, Reverse(0usize), reached), (state.clone(), Vec::new()));
        }
        while let Some((_, (state, word))) = queue.pop_first() {
            if fewest.get(&state.0.key()).is_some_and(|&fewest| fewest < word.len()) {
                continue;
            }
            if self.is_accepting(&state) {
                return Some(Some(word));
            }
            if reached > Recogniser::BUDGET || self.work.get() - begun > 10 * Recogniser::SEARCH_WORK {
                return None;
            }
            let bytes = self.alphabet.iter().map(|&byte| Symbol::Byte(byte));
            let terminals = self.viable_terminals(&state).into_iter().map(Symbol::Terminal);
            for symbol in bytes.chain(terminals) {
                let mut next = state.clone();
                self.advance_symbol(&mut next, symbol);
                let Some(least) = self.least_completion(&next.0) else { continue };
                let longer = [&word[..], &[symbol]].concat();
                let length = longer.len();
                let known = fewest.entry(next.0.key()).or_insert(usize::MAX);
                if length < *known {
                    *known = length;
                    reached += 1;
                    queue.insert((least + length as u64, Reverse(length), reached), (next, longer));
                }
            }
        }
        Some(None)
    }
}
