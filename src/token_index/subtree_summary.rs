//! Summaries of the larger subtrees of a token trie, so that a walk can accept a subtree as a whole.
//!
//! In a pattern like `[^/]{1,64}`, or where words are counted, all characters of a kind stay alive alike but no loop
//! language applies. Most subtrees of the trie hold only letters, though. If all letters stay alive for as many
//! characters as the longest path of the subtree has, all tokens of the subtree are allowed and none needs to be
//! visited.

use super::alphabet::{CharKinds, kind_of, kind_of_begun, kind_of_char};
use super::utf8::{BEYOND_ASCII, STATES};
use crate::token_index::tuning::LARGE_SUBTREE;
use crate::vocabulary::trie::TokenTrie;
use rustc_hash::FxHashMap;

/// No entry: the subtree is small, does not branch at the node, begins inside a character or after an unexpected byte,
/// or contains characters without a kind or bytes that are not UTF-8; or there are too many different summaries.
const NONE: u16 = u16::MAX;

/// A subtree whose paths, from its root on, consist of characters; the last one may be incomplete.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct SubtreeSummary {
    /// The kinds of the characters.
    pub(crate) kinds: CharKinds,
    /// The most characters on a path, an incomplete one included.
    pub(crate) characters: u16,
}

/// The bytes read so far of a character beyond ASCII, padded with zeros.
type Begun = [u8; 4];

fn bytes(begun: &Begun) -> &[u8] {
    &begun[..begun.iter().position(|&byte| byte == 0).unwrap_or(begun.len())]
}

/// Adds the subtree `below` of a child inside a character. `begun` are the bytes of the character up to the child, and
/// `ends` says whether they complete it.
fn add_within(all: &mut SubtreeSummary, begun: &Begun, ends: bool, below: SubtreeSummary) {
    if ends && let Some(c) = std::str::from_utf8(bytes(begun)).ok().and_then(|text| text.chars().next()) {
        all.kinds.add(kind_of_char(c).map(CharKinds::of).unwrap_or_default());
    }
    all.kinds.add(below.kinds);
    all.characters = all.characters.max(below.characters);
}

impl SubtreeSummary {
    /// Adds a subtree that is reached by a character of one of the `kinds`.
    pub(crate) fn add(&mut self, kinds: CharKinds, below: SubtreeSummary) {
        self.kinds.add(kinds);
        self.kinds.add(below.kinds);
        self.characters = self.characters.max(below.characters.saturating_add(1));
    }
}

/// The summaries of the larger subtrees of a trie.
#[derive(Debug)]
pub(crate) struct SubtreeSummaries {
    /// Per node, the index of its summary, or [`NONE`].
    entries: Box<[u16]>,
    distinct: Vec<SubtreeSummary>,
}

/// The UTF-8 state of a node: between characters or inside one; `None` after an unexpected byte, when it is unknown.
type State = Option<u8>;

/// The state after a byte, and whether the byte is valid in the state.
fn follow(next: &[[State; 256]; STATES], state: State, byte: u8) -> (State, bool) {
    match state.and_then(|state| next[usize::from(state)][usize::from(byte)]) {
        Some(after) => (Some(after), true),
        None => (next[0][usize::from(byte)], false),
    }
}

impl SubtreeSummaries {
    pub(crate) fn new(trie: &TokenTrie) -> SubtreeSummaries {
        let mut next = [[None; 256]; STATES];
        next[0][..0x80].fill(Some(0));
        for transition in &BEYOND_ASCII {
            next[transition.from][usize::from(transition.low)..=usize::from(transition.high)]
                .fill(Some(transition.to as u8));
        }
        let count = trie.node_count();
        let mut states: Vec<State> = vec![Some(0); count];
        let mut begun = vec![Begun::default(); count];
        for node in 0..count as u32 {
            for step in trie.steps(node) {
                let (place, state) = (step.node as usize, states[node as usize]);
                states[place] = follow(&next, state, step.byte).0;
                if !step.byte.is_ascii() {
                    let is_new = matches!(state, None | Some(0));
                    begun[place] = if is_new { Begun::default() } else { begun[node as usize] };
                    if let Some(free) = begun[place].iter_mut().find(|byte| **byte == 0) {
                        *free = step.byte;
                    }
                }
            }
        }
        // reverse order visits children first: they have higher numbers than their parents
        let mut made: Vec<Option<SubtreeSummary>> = vec![None; count];
        let mut subtrees = SubtreeSummaries { entries: vec![NONE; count].into(), distinct: Vec::new() };
        let mut places = FxHashMap::default();
        for node in (0..count as u32).rev() {
            let state = states[node as usize];
            let mut all = Some(SubtreeSummary::default());
            if state != Some(0) && !trie.tokens(node).is_empty() {
                // the tokens end inside a character
                all = Some(SubtreeSummary {
                    kinds: CharKinds::of(kind_of_begun(bytes(&begun[node as usize]))),
                    characters: 0,
                });
            }
            for step in trie.steps(node) {
                let child = step.node as usize;
                let below = made[child].filter(|_| follow(&next, state, step.byte).1);
                // the kind of a character beyond ASCII is determined at its last byte
                let kind = match step.byte.is_ascii() {
                    true => kind_of(step.byte).map(CharKinds::of),
                    false => Some(CharKinds::default()),
                };
                all = all.zip(below).zip(kind).map(|((mut all, below), kinds)| {
                    if state == Some(0) {
                        all.add(kinds, below);
                    } else {
                        add_within(&mut all, &begun[child], states[child] == Some(0), below);
                    }
                    all
                });
            }
            made[node as usize] = all;
            // a node with one child needs no entry: its child has one
            let branches = trie.steps(node).len() > 1;
            if state == Some(0)
                && branches
                && trie.subtree_end(node) - node >= LARGE_SUBTREE
                && let Some(subtree) = all
            {
                let place = *places.entry(subtree).or_insert_with(|| {
                    subtrees.distinct.push(subtree);
                    subtrees.distinct.len() - 1
                });
                subtrees.entries[node as usize] = u16::try_from(place).unwrap_or(NONE);
            }
        }
        subtrees
    }

    /// The summary of a node's subtree; `None` if the node has none (see [`NONE`]).
    #[inline]
    pub(crate) fn get(&self, node: u32) -> Option<SubtreeSummary> {
        let entry = *self.entries.get(node as usize).filter(|&&entry| entry != NONE)?;
        Some(self.distinct[usize::from(entry)])
    }

    /// Bytes on the heap.
    pub(crate) fn memory_usage(&self) -> usize {
        size_of_val(&*self.entries) + self.distinct.capacity() * size_of::<SubtreeSummary>()
    }
}
