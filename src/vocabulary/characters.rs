//! Which characters tokens are made of, so that the tokens of one class of characters need no walk.
//!
//! A pattern such as `[A-Za-z0-9_.]+` loops through a class of its own, for which nothing can be precomputed. But its
//! tokens are those that have no other character, and for each character (or for all that begin with one byte) it is
//! known which tokens have it.

use super::Vocabulary;
use super::loops::{BEYOND_ASCII, STATES};
use super::subtrees::Leads;
use super::trie::TokenTrie;

/// First bytes of characters of which more tokens have one than this keep them as bits.
const MANY: usize = 1 << 12;

/// What the tokens of a vocabulary are made of.
#[derive(Debug)]
pub(crate) struct Characters {
    /// The tokens made of characters alone (the last one may only be begun), as bits.
    whole: Box<[u32]>,
    /// Of those: by the first byte of a character, the tokens that have one.
    having: Vec<Having>,
    /// Of those: by token, how many characters it has, one that is only begun included; at most 255.
    counts: Box<[u8]>,
    /// Per node of the trie of all tokens: the groups of the bytes below it.
    below: Box<[Groups]>,
}

#[derive(Debug)]
enum Having {
    Few(Box<[u32]>),
    /// As bits.
    Many(Box<[u32]>),
}

/// Groups of bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Groups(u32);

impl Groups {
    /// Adds the group of a byte. Letters and digits are in groups with others, most other ASCII characters have their own.
    pub(crate) fn insert(&mut self, byte: u8) {
        let group = match byte {
            b'a'..=b'z' => 0,
            b'A'..=b'Z' => 1,
            b'0'..=b'9' => 2,
            b' '..=b'/' => 3 + (byte - b' '),
            b':'..=b'@' => 19 + (byte - b':'),
            b'\\' => 26,
            b'_' => 27,
            b'[' | b']' | b'{' | b'}' => 28,
            0x80.. => 29,
            0..b' ' | 0x7F => 30,
            _ => 31,
        };
        self.0 |= 1 << group;
    }

    /// Whether a group is in both.
    #[inline]
    pub(crate) fn meet(self, other: Groups) -> bool {
        self.0 & other.0 != 0
    }
}

/// Reads well-formed UTF-8: by state and byte the next state, 0 being between characters.
pub(super) fn utf8() -> [[Option<u8>; 256]; STATES] {
    let mut next = [[None; 256]; STATES];
    next[0][..0x80].fill(Some(0));
    for transition in &BEYOND_ASCII {
        next[transition.from][usize::from(transition.low)..=usize::from(transition.high)]
            .fill(Some(transition.to as u8));
    }
    next
}

impl Characters {
    pub(super) fn new(vocabulary: &Vocabulary) -> Characters {
        let next = utf8();
        let words = vocabulary.mask_words();
        let mut whole = vec![0u32; words];
        let mut counts = vec![0u8; vocabulary.width()];
        let mut lists: Vec<Vec<u32>> = vec![Vec::new(); 256];
        let mut leads: Vec<u8> = Vec::new();
        for (token, bytes) in vocabulary.tokens() {
            leads.clear();
            let end = bytes.iter().try_fold(0u8, |state, &byte| {
                if state == 0 {
                    leads.push(byte);
                }
                next[usize::from(state)][usize::from(byte)]
            });
            let id = token.get();
            if end.is_none() {
                continue;
            }
            whole[id as usize / 32] |= 1 << (id % 32);
            if let Some(count) = counts.get_mut(id as usize) {
                *count = u8::try_from(leads.len()).unwrap_or(u8::MAX);
            }
            for &lead in &leads {
                let list = &mut lists[usize::from(lead)];
                if list.last() != Some(&id) {
                    list.push(id);
                }
            }
        }
        let having = |list: Vec<u32>| {
            if list.len() <= MANY.min(words) {
                return Having::Few(list.into());
            }
            let mut bits = vec![0u32; words];
            list.iter().for_each(|&id| bits[id as usize / 32] |= 1 << (id % 32));
            Having::Many(bits.into())
        };
        Characters {
            whole: whole.into(),
            having: lists.into_iter().map(having).collect(),
            counts: counts.into(),
            below: groups_below(vocabulary.trie()),
        }
    }

    /// The tokens all of whose characters begin with one of `leads`, of which they have at most so many; as bits.
    pub(crate) fn within(&self, leads: &Leads, most: Option<u8>) -> Vec<u32> {
        let mut bits = self.whole.to_vec();
        for (_, having) in (0..=u8::MAX).zip(&self.having).filter(|&(lead, _)| !leads.contains(lead)) {
            match having {
                Having::Few(list) => list.iter().for_each(|&id| bits[id as usize / 32] &= !(1 << (id % 32))),
                Having::Many(others) => bits.iter_mut().zip(others).for_each(|(bits, other)| *bits &= !other),
            }
        }
        if let Some(most) = most {
            for (bits, counts) in bits.iter_mut().zip(self.counts.chunks(32)) {
                let short =
                    |kept: u32, (place, &count): (usize, &u8)| kept | u32::from(count <= most) << place;
                *bits &= counts.iter().enumerate().fold(0, short);
            }
        }
        bits
    }

    /// The groups of the bytes below a node of the trie of all tokens.
    #[inline]
    pub(crate) fn below(&self, node: u32) -> Groups {
        self.below.get(node as usize).copied().unwrap_or_default()
    }

    /// Bytes on the heap.
    pub(super) fn memory_usage(&self) -> usize {
        let having = |having: &Having| match having {
            Having::Few(list) | Having::Many(list) => size_of_val(&**list),
        };
        self.having.iter().map(having).sum::<usize>()
            + self.having.capacity() * size_of::<Having>()
            + size_of_val(&*self.whole)
            + size_of_val(&*self.counts)
            + size_of_val(&*self.below)
    }
}

fn groups_below(trie: &TokenTrie) -> Box<[Groups]> {
    let count = trie.node_count();
    let mut below = vec![Groups::default(); count];
    // children have higher numbers than their parents
    for node in (0..count as u32).rev() {
        let mut all = Groups::default();
        for step in trie.steps(node) {
            all.insert(step.byte);
            all.0 |= below[step.node as usize].0;
        }
        below[node as usize] = all;
    }
    below.into()
}
