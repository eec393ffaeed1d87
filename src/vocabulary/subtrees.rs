//! What the larger subtrees of a token trie are made of, so that a walk may take one whole.
//!
//! Where any character of some class leads on alike, as in a pattern's `[^/]{1,64}` or where words are counted, no
//! loop language is at hand. But most subtrees of the trie hold letters alone: if all letters lead on, for as long as
//! the longest token of the subtree goes, then all of its tokens are allowed and none needs a look.

use super::loops::{BEYOND_ASCII, STATES};
use super::trie::TokenTrie;

/// Smaller subtrees are walked.
const SMALLEST: u32 = 8;

/// No entry: the subtree is small, or not made of characters of one class.
const NONE: u16 = u16::MAX;

/// An entry has the number of characters in so many bits, above them the class.
const CHARACTER_BITS: u32 = 12;

/// A class of characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Class(u8);

struct Definition {
    ascii: Ranges,
    /// First bytes of the characters beyond ASCII.
    beyond: Ranges,
}

type Ranges = &'static [(u8, u8)];

const SPACE: (u8, u8) = (b' ', b' ');
const DIGITS: (u8, u8) = (b'0', b'9');
const CAPITALS: (u8, u8) = (b'A', b'Z');
const SMALL: (u8, u8) = (b'a', b'z');
/// What may stand in a JSON string (RFC 8259, section 7), beside escapes.
const IN_STRINGS: Ranges = &[(0x20, 0x21), (0x23, 0x5B), (0x5D, 0x7F)];
const BEYOND: Ranges = &[(0xC2, 0xF4)];
/// Without general punctuation, of which U+2028 and U+2029 end a line (ECMA-262, section 12.3).
const IN_LINES: Ranges = &[(0xC2, 0xE1), (0xE3, 0xF4)];
/// Without those that begin with what white space begins with.
const IN_WORDS: Ranges = &[(0xC3, 0xE0), (0xE4, 0xEE), (0xF0, 0xF4)];

/// The classes, each before those that it is in.
const CLASSES: [Definition; 14] = [
    Definition { ascii: &[SPACE], beyond: &[] },
    Definition { ascii: &[(b'\t', b'\n'), (b'\r', b'\r'), SPACE], beyond: &[] },
    Definition { ascii: &[DIGITS], beyond: &[] },
    Definition { ascii: &[SMALL], beyond: &[] },
    Definition { ascii: &[CAPITALS, SMALL], beyond: &[] },
    Definition { ascii: &[DIGITS, CAPITALS, (b'_', b'_'), SMALL], beyond: &[] },
    Definition { ascii: &[SPACE, CAPITALS, SMALL], beyond: &[] },
    Definition { ascii: &[SPACE, (b',', b'.'), DIGITS, CAPITALS, (b'_', b'_'), SMALL], beyond: &[] },
    Definition { ascii: IN_STRINGS, beyond: &[] },
    Definition { ascii: &[], beyond: IN_WORDS },
    Definition { ascii: &[], beyond: IN_LINES },
    Definition { ascii: &[], beyond: BEYOND },
    Definition { ascii: IN_STRINGS, beyond: IN_LINES },
    Definition { ascii: IN_STRINGS, beyond: BEYOND },
];

impl Class {
    /// Its ASCII characters.
    pub(crate) fn ascii(self) -> Ranges {
        CLASSES[usize::from(self.0)].ascii
    }

    /// The first bytes of its characters beyond ASCII.
    pub(crate) fn beyond_ascii(self) -> Ranges {
        CLASSES[usize::from(self.0)].beyond
    }

    /// The first bytes of its characters.
    fn leads(self) -> Leads {
        let mut all = Leads::default();
        let ranges = self.ascii().iter().chain(self.beyond_ascii());
        ranges.flat_map(|&(low, high)| low..=high).for_each(|byte| all.insert(byte));
        all
    }
}

/// First bytes of characters.
#[derive(Clone, Copy, Debug, Default)]
struct Leads([u64; 4]);

impl Leads {
    fn insert(&mut self, byte: u8) {
        self.0[usize::from(byte >> 6)] |= 1 << (byte & 63);
    }

    fn add(&mut self, other: Leads) {
        self.0.iter_mut().zip(other.0).for_each(|(own, other)| *own |= other);
    }

    fn are_in(&self, others: &Leads) -> bool {
        self.0.iter().zip(others.0).all(|(own, others)| own & !others == 0)
    }
}

/// A subtree whose paths, from its root on, are characters of a class (the last one may only be begun).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Subtree {
    pub(crate) class: Class,
    /// The most characters of a path, one that is only begun included.
    pub(crate) characters: u32,
}

/// The larger subtrees of a trie.
#[derive(Debug)]
pub(crate) struct Subtrees {
    /// Per node: the class and the number of characters.
    entries: Box<[u16]>,
}

/// What the paths of a subtree are made of, if of characters.
#[derive(Clone, Copy)]
struct Made {
    leads: Leads,
    characters: u32,
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
        let mut made: Vec<Option<Made>> = vec![None; count];
        let mut entries = vec![NONE; count];
        let classes: [Leads; CLASSES.len()] = std::array::from_fn(|class| Class(class as u8).leads());
        for node in (0..count as u32).rev() {
            let state = states[node as usize];
            let mut all = Some(Made { leads: Leads::default(), characters: 0 });
            for step in trie.steps(node) {
                let below = made[step.node as usize].filter(|_| follow(&next, state, step.byte).1);
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
            made[node as usize] = all;
            // what is true of a node with one child is found out at the child
            let branches = trie.steps(node).len() > 1;
            if state == Some(0) && branches && trie.subtree_end(node) - node >= SMALLEST {
                entries[node as usize] = all.map_or(NONE, |made| entry(made, &classes));
            }
        }
        Subtrees { entries: entries.into() }
    }

    /// Whether there is a subtree of a node.
    #[inline]
    pub(crate) fn has(&self, node: u32) -> bool {
        self.entries[node as usize] != NONE
    }

    /// The subtree of a node, if it is large enough to be taken whole.
    #[inline]
    pub(crate) fn get(&self, node: u32) -> Option<Subtree> {
        let entry = *self.entries.get(node as usize).filter(|&&entry| entry != NONE)?;
        let characters = u32::from(entry) & ((1 << CHARACTER_BITS) - 1);
        Some(Subtree { class: Class((entry >> CHARACTER_BITS) as u8), characters })
    }

    /// Bytes on the heap.
    pub(super) fn memory_usage(&self) -> usize {
        size_of_val(&*self.entries)
    }
}

/// The entry of a subtree, given the first bytes of the characters of each class.
fn entry(made: Made, classes: &[Leads]) -> u16 {
    match (0..).zip(classes).find(|(_, class)| made.leads.are_in(class)) {
        Some((class, _)) if made.characters < 1 << CHARACTER_BITS => {
            class << CHARACTER_BITS | made.characters as u16
        }
        _ => NONE,
    }
}
