//! What the larger subtrees of a token trie are made of, so that a walk may take one whole.
//!
//! Where any character of some class leads on alike, as in a pattern's `[^/]{1,64}` or where words are counted, no
//! loop language is at hand. But most subtrees of the trie hold letters alone: if all characters of a subtree lead
//! on alike, for as long as its longest token goes, then all of its tokens are allowed and none needs a look.

use super::loops::{BEYOND_ASCII, STATES};
use super::trie::TokenTrie;

/// Smaller subtrees are walked.
const SMALLEST: u32 = 12;

/// No entry: the subtree is small, or not made of characters.
const NONE: u16 = u16::MAX;

/// First bytes of characters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Leads([u64; 4]);

impl Leads {
    pub(crate) fn insert(&mut self, byte: u8) {
        self.0[usize::from(byte >> 6)] |= 1 << (byte & 63);
    }

    fn add(&mut self, other: Leads) {
        self.0.iter_mut().zip(other.0).for_each(|(own, other)| *own |= other);
    }

    #[inline]
    pub(crate) fn are_in(&self, other: &Leads) -> bool {
        self.0.iter().zip(other.0).all(|(own, other)| own & !other == 0)
    }

    pub(crate) fn are_ascii(&self) -> bool {
        self.0[2] | self.0[3] == 0
    }
}

/// A subtree whose paths, from its root on, are characters (the last one may only be begun).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Subtree {
    /// The first bytes of its characters.
    pub(crate) leads: Leads,
    /// The most characters of a path, one that is only begun included.
    pub(crate) characters: u32,
}

/// The larger subtrees of a trie.
#[derive(Debug)]
pub(crate) struct Subtrees {
    /// Per node.
    place: Box<[u16]>,
    subtrees: Box<[Subtree]>,
}

/// Of a node: whether it stands between characters or within one, which one cannot say after a byte out of place.
type State = Option<u8>;

/// The state after a byte, and whether the byte may follow the state.
fn follow(next: &[[State; 256]; STATES], state: State, byte: u8) -> (State, bool) {
    match state.and_then(|state| next[usize::from(state)][usize::from(byte)]) {
        Some(after) => (Some(after), true),
        None => (next[0][usize::from(byte)], false),
    }
}

impl Subtrees {
    pub(super) fn new(trie: &TokenTrie) -> Subtrees {
        let mut next = [[None; 256]; STATES];
        next[0][..0x80].fill(Some(0));
        for transition in &BEYOND_ASCII {
            next[transition.from][usize::from(transition.low)..=usize::from(transition.high)]
                .fill(Some(transition.to as u8));
        }
        let count = trie.node_count();
        let mut states: Vec<State> = vec![Some(0); count];
        for node in 0..count as u32 {
            for step in trie.steps(node) {
                states[step.node as usize] = follow(&next, states[node as usize], step.byte).0;
            }
        }
        // children have higher numbers than their parents
        let mut whole: Vec<Option<Subtree>> = vec![None; count];
        for node in (0..count as u32).rev() {
            let state = states[node as usize];
            let mut all = Some(Subtree { leads: Leads::default(), characters: 0 });
            for step in trie.steps(node) {
                let below = whole[step.node as usize].filter(|_| follow(&next, state, step.byte).1);
                all = all.zip(below).map(|(mut all, below)| {
                    all.leads.add(below.leads);
                    let begins = state == Some(0);
                    if begins {
                        all.leads.insert(step.byte);
                    }
                    all.characters = all.characters.max(below.characters + u32::from(begins));
                    all
                });
            }
            whole[node as usize] = all;
        }
        let size = |node: usize| trie.subtree_end(node as u32) - node as u32;
        let mut smallest = SMALLEST;
        loop {
            let chosen = |&node: &usize| states[node] == Some(0) && size(node) >= smallest;
            let large: Vec<usize> = (0..count).filter(chosen).filter(|&node| whole[node].is_some()).collect();
            if large.len() < usize::from(NONE) {
                let mut place = vec![NONE; count];
                large.iter().zip(0..).for_each(|(&node, at)| place[node] = at);
                let subtrees = large.iter().filter_map(|&node| whole[node]).collect();
                return Subtrees { place: place.into(), subtrees };
            }
            smallest *= 2;
        }
    }

    /// Whether there is a subtree of a node.
    #[inline]
    pub(crate) fn has(&self, node: u32) -> bool {
        self.place.get(node as usize).is_some_and(|&place| place != NONE)
    }

    /// The subtree of a node, if it is large enough to be taken whole.
    #[inline]
    pub(crate) fn get(&self, node: u32) -> Option<&Subtree> {
        self.subtrees.get(usize::from(*self.place.get(node as usize)?))
    }

    /// Bytes on the heap.
    pub(super) fn memory_usage(&self) -> usize {
        size_of_val(&*self.place) + size_of_val(&*self.subtrees)
    }
}
