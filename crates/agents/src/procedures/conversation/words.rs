//! Pieces of the user's messages that arguments may quote.

use rustc_hash::FxHashSet;

/// The maximum number of runs of characters without whitespace in a piece.
const MOST_WORDS: usize = 12;
/// The maximum number of pieces that begin at one place. A run of characters without whitespace may contain many words,
/// so the bound on runs is not enough.
const MOST_ENDS: usize = 64;

/// A byte offset in a text, and the number of its run of characters without whitespace, from 1.
type Boundary = (usize, usize);

/// Returns whether a character at the end of a run belongs to the sentence and not to the word.
fn is_mark(c: char) -> bool {
    matches!(c, '.' | ',' | ';' | ':' | '!' | '?' | '"' | '\'' | '(' | ')')
}

/// Returns the places where words begin and those where they end, each with the number of its run of characters without
/// whitespace. Words begin and end at the ends of a run, unless a punctuation mark is there, and at letters and digits
/// next to other characters.
fn boundaries(text: &str) -> (Vec<Boundary>, Vec<Boundary>) {
    let (mut begins, mut ends) = (Vec::new(), Vec::new());
    let mut run = 0;
    let mut before: Option<char> = None;
    for (at, c) in text.char_indices().chain([(text.len(), ' ')]) {
        let is_word = |c: char| c.is_alphanumeric();
        let was_space = before.is_none_or(char::is_whitespace);
        let is_end = |before: char| c.is_whitespace() && !is_mark(before) || is_word(before) && !is_word(c);
        if !was_space && before.is_some_and(is_end) {
            ends.push((at, run));
        }
        if !c.is_whitespace() {
            if was_space {
                run += 1;
            }
            if was_space && !is_mark(c) || is_word(c) && !before.is_some_and(is_word) {
                begins.push((at, run));
            }
        }
        before = Some(c);
    }
    (begins, ends)
}

/// Returns the distinct pieces of texts from the beginning of a word to the end of a word, as they are spelled there. A
/// piece spans at most 12 runs of characters without whitespace, and at most 64 pieces begin at one place. Pieces of
/// the latest text come first.
pub fn pieces<'t>(texts: impl DoubleEndedIterator<Item = &'t str>) -> Vec<String> {
    let mut seen: FxHashSet<&str> = FxHashSet::default();
    let mut pieces = Vec::new();
    for text in texts.rev() {
        let (begins, ends) = boundaries(text);
        let mut first = 0;
        for &(begin, run) in &begins {
            while ends.get(first).is_some_and(|&(end, _)| end <= begin) {
                first += 1;
            }
            let near = ends[first..].iter().take_while(|(_, last)| last - run < MOST_WORDS);
            for &(end, _) in near.take(MOST_ENDS) {
                if seen.insert(&text[begin..end]) {
                    pieces.push(text[begin..end].to_owned());
                }
            }
        }
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::{MOST_ENDS, pieces};

    #[test]
    fn pieces_go_from_a_word_to_a_word() {
        let of = |text: &str| {
            let mut pieces = pieces([text].into_iter());
            pieces.sort();
            pieces
        };
        assert_eq!(of("at Elm, no."), ["Elm", "Elm, no", "at", "at Elm", "at Elm, no", "no"]);
        assert_eq!(of("Köln\nK"), ["K", "Köln", "Köln\nK"]);
        assert_eq!(of("\"a\""), ["a"]);
        assert_eq!(of("C++ 12:30"), ["12", "12:30", "30", "C", "C++", "C++ 12", "C++ 12:30"]);
        assert!(of(" \t").is_empty());
        let long: Vec<String> = (0..30).map(|n| n.to_string()).collect();
        assert!(of(&long.join(" ")).iter().all(|piece| piece.split(' ').count() <= 12));
        assert_eq!(pieces(["x", "x"].into_iter()), ["x"]);
        assert!(of(&"a-".repeat(5_000)).len() <= 2 * MOST_ENDS);
    }
}
