//! The accepted word with the least edit distance from a given one (Wagner 1974, here over a system that is made lazily):
//! a search by the number of edits (Dijkstra 1959) over pairs of a state and a place in the word.

use super::{Completable, Letters, Word, open_choices};
use crate::error::Result;
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A column of the alignment of a given word with an accepted one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Alignment<L> {
    /// The letter stays.
    Keep(L),
    /// The given letter is replaced.
    Substitute {
        /// Its place in the given word.
        given: usize,
        /// The letter of the accepted word.
        letter: L,
    },
    /// A letter that the given word lacks.
    Insert(L),
    /// The given letter at this place is left out.
    Delete(usize),
}

/// The result of [`repair`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Repaired<L> {
    /// An accepted word with the least edit distance.
    Word {
        /// Letters inserted, deleted and substituted.
        edits: usize,
        /// All letters of both words in order.
        alignment: Vec<Alignment<L>>,
    },
    /// No word is accepted.
    Empty,
    /// The bound on partial alignments was reached.
    Exhausted,
}

/// A partial alignment: the one that it extends, and its last column.
struct Node<T: Letters> {
    before: usize,
    state: T::State,
    used: T::Used,
    column: Option<Alignment<T::Letter>>,
}

/// The accepted word with the fewest edits from a given one; of several, the first found. At most about `most` partial
/// alignments are made.
///
/// # Errors
/// Limits of the system.
pub fn repair<T: Letters>(system: &mut T, word: &impl Word<T>, most: usize) -> Result<Repaired<T::Letter>> {
    let used = T::Used::default();
    let mut nodes: Vec<Node<T>> = vec![Node { before: 0, state: system.start(), used, column: None }];
    let mut seen: FxHashMap<(T::State, usize, T::Used), usize> = FxHashMap::default();
    // fewest edits first; of equals, the alignment of most letters
    let mut open = BinaryHeap::from([(Reverse(0usize), 0usize, Reverse(0usize))]);
    while let Some((Reverse(edits), place, Reverse(number))) = open.pop() {
        let Some(node) = nodes.get(number) else { break };
        let (state, used) = (node.state.clone(), node.used.clone());
        let key = (state.clone(), place, used.clone());
        if seen.get(&key).is_some_and(|&known| known <= edits) {
            continue;
        }
        seen.insert(key, edits);
        if place == word.len() && system.is_accepting(&state) {
            return Ok(Repaired::Word { edits, alignment: columns(nodes, number) });
        }
        if nodes.len() > most {
            return Ok(Repaired::Exhausted);
        }
        let mut push = |edits: usize, state: &T::State, place: usize, used: &T::Used, column| {
            open.push((Reverse(edits), place, Reverse(nodes.len())));
            let (state, used) = (state.clone(), used.clone());
            nodes.push(Node { before: number, state, used, column: Some(column) });
        };
        if place < word.len() {
            push(edits + 1, &state, place + 1, &used, Alignment::Delete(place));
        }
        for (choice, to) in open_choices(system, &state, &used)? {
            if system.completable(&to)? == Completable::No {
                continue;
            }
            let mut used = used.clone();
            system.use_up(&choice, &mut used);
            if place < word.len() {
                let (cost, column) = match word.readings(system, place, &choice).into_iter().next() {
                    Some(letter) => (0, Alignment::Keep(letter)),
                    None => (1, Alignment::Substitute { given: place, letter: system.first(&choice) }),
                };
                push(edits + cost, &to, place + 1, &used, column);
            }
            push(edits + 1, &to, place, &used, Alignment::Insert(system.first(&choice)));
        }
    }
    Ok(Repaired::Empty)
}

fn columns<T: Letters>(mut nodes: Vec<Node<T>>, last: usize) -> Vec<Alignment<T::Letter>> {
    let mut alignment = Vec::new();
    let mut at = last;
    while let Some(node) = nodes.get_mut(at) {
        let Some(column) = node.column.take() else { break };
        alignment.push(column);
        at = node.before;
    }
    alignment.reverse();
    alignment
}
