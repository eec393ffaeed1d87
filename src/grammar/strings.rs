//! An automaton that finds strings in a text (A. Aho and M. Corasick, 1975). Built in time linear in the strings.

use rustc_hash::FxHashMap;
use std::collections::VecDeque;

/// A state: the longest suffix of the text so far that is a prefix of a string.
pub(super) type StateId = u32;

/// The state of the empty text.
pub(super) const START: StateId = 0;

/// The trie of the strings with links to suffixes.
pub(super) struct Finder {
    edges: FxHashMap<(StateId, u8), StateId>,
    states: Vec<Node>,
}

#[derive(Clone, Copy, Default)]
struct Node {
    /// The state of the longest proper suffix.
    suffix: StateId,
    /// By kind: the index of the longest string of this kind with which the text ends.
    found: [Option<u32>; 2],
}

/// The kind of a string. The strings of each kind are numbered from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    First = 0,
    Second = 1,
}

impl Finder {
    /// Builds the automaton of the strings of two kinds. Of equal strings of one kind, the first one is found.
    pub(super) fn new<'t>(
        first: impl IntoIterator<Item = &'t str>,
        second: impl IntoIterator<Item = &'t str>,
    ) -> Finder {
        let mut finder = Finder { edges: FxHashMap::default(), states: vec![Node::default()] };
        // by state: its bytes and the states after them
        let mut children: Vec<Vec<(u8, StateId)>> = vec![Vec::new()];
        let first = first.into_iter().enumerate().map(|(index, text)| (Kind::First, index, text));
        let second = second.into_iter().enumerate().map(|(index, text)| (Kind::Second, index, text));
        for (kind, index, text) in first.chain(second) {
            let mut state = START;
            for byte in text.bytes() {
                let new = finder.states.len() as StateId;
                let next = *finder.edges.entry((state, byte)).or_insert(new);
                if next == new {
                    finder.states.push(Node::default());
                    children.push(Vec::new());
                    children[state as usize].push((byte, new));
                }
                state = next;
            }
            finder.states[state as usize].found[kind as usize].get_or_insert(index as u32);
        }
        let mut open = VecDeque::from([START]);
        while let Some(state) = open.pop_front() {
            for &(byte, next) in &children[state as usize] {
                let suffix = match state {
                    START => START,
                    _ => finder.next(finder.states[state as usize].suffix, byte),
                };
                let found = finder.states[suffix as usize].found;
                let node = &mut finder.states[next as usize];
                node.suffix = suffix;
                for (own, shorter) in node.found.iter_mut().zip(found) {
                    *own = own.or(shorter);
                }
                open.push_back(next);
            }
        }
        finder
    }

    /// The state after a byte.
    pub(super) fn next(&self, mut state: StateId, byte: u8) -> StateId {
        loop {
            match self.edges.get(&(state, byte)) {
                Some(&next) => return next,
                None if state == START => return START,
                None => state = self.states[state as usize].suffix,
            }
        }
    }

    /// The index of the longest string of a kind that ends in a state.
    pub(super) fn found(&self, state: StateId, kind: Kind) -> Option<usize> {
        self.states[state as usize].found[kind as usize].map(|index| index as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_found_as_by_trying_each() {
        let mut seed = 5_u32;
        let mut draw = |below: u32| {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (seed >> 16) % below
        };
        let mut found = 0;
        for _ in 0..2_000 {
            let mut word = |most: u32| -> String {
                (0..1 + draw(most)).map(|_| char::from(b'a' + draw(2) as u8)).collect()
            };
            let strings: [Vec<String>; 2] = [(); 2].map(|()| (0..4).map(|_| word(4)).collect());
            let text = word(12);
            let finder =
                Finder::new(strings[0].iter().map(String::as_str), strings[1].iter().map(String::as_str));
            let mut state = START;
            for end in 1..=text.len() {
                state = finder.next(state, text.as_bytes()[end - 1]);
                for kind in [Kind::First, Kind::Second] {
                    let all = &strings[kind as usize];
                    let ends = all.iter().filter(|string| text[..end].ends_with(&***string));
                    let longest = ends.map(String::len).max();
                    let expected = longest.and_then(|longest| {
                        all.iter()
                            .position(|string| string.len() == longest && text[..end].ends_with(&**string))
                    });
                    assert_eq!(finder.found(state, kind), expected, "{strings:?} {text} {end} {kind:?}");
                    found += usize::from(expected.is_some());
                }
            }
        }
        assert!(found > 10_000, "{found}");
    }
}
