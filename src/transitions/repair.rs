//! The accepted word with the least edit distance from a given one (Wagner 1974, here over a lazily built system): a
//! search by the number of edits (Dijkstra 1959) over pairs of a state and a position in the word.

use super::{Completable, Letters, Word, open_choices};
use crate::collections::best_first::Frontier;
use crate::error::Result;
use std::cmp::Reverse;

/// A column of the alignment of a given word with an accepted one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Alignment<L> {
    /// The given letter is kept, read as this letter.
    Keep(L),
    /// The given letter is replaced by another.
    Substitute {
        /// The index of the replaced letter in the given word.
        given: usize,
        /// The letter of the accepted word that replaces the given letter.
        letter: L,
    },
    /// A letter that the given word lacks is inserted.
    Insert(L),
    /// The given letter at this index is deleted.
    Delete(usize),
}

/// The result of [`repair`]: an accepted word, or the reason why none was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Repaired<L> {
    /// An accepted word with the least edit distance.
    Word {
        /// The number of letters inserted, deleted and substituted.
        edits: usize,
        /// The columns of the alignment, in order.
        alignment: Vec<Alignment<L>>,
    },
    /// The language is empty.
    Empty,
    /// The search stopped because it found more partial alignments than the bound.
    Exhausted,
}

/// Finds the accepted word with the fewest edits from a given word; among several, the first one found. Stops after
/// about `most` partial alignments.
///
/// # Errors
/// Errors of the system, for instance an exceeded limit.
pub fn repair<T: Letters>(system: &mut T, word: &impl Word<T>, most: usize) -> Result<Repaired<T::Letter>> {
    let used = T::Used::default();
    // fewest edits first; among equal numbers of edits, the alignment that covers most of the word
    let key = |edits, place| (edits, Reverse(place));
    let mut frontier = Frontier::new((system.start(), 0, used), 0, key(0, 0));
    while let Some(((edits, Reverse(place)), number)) = frontier.pop() {
        if frontier.is_outdone(number) {
            continue;
        }
        let (state, _, used) = frontier.trail().place(number).0.clone();
        if place == word.len() && system.is_accepting(&state) {
            return Ok(Repaired::Word { edits, alignment: frontier.trail().letters(number) });
        }
        if frontier.trail().len() > most {
            return Ok(Repaired::Exhausted);
        }
        let mut push = |edits: usize, state: &T::State, place: usize, used: &T::Used, column| {
            let reached = (state.clone(), place, used.clone());
            if frontier.is_cheaper(&reached, edits) {
                frontier.push(key(edits, place), (reached, edits), number, column);
            }
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
