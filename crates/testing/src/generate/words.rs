//! Random words of a grammar, and random tokenisations of them.

use super::Choices;
use crate::earley::{Recogniser, Symbol};

/// Draws a word: a walk along viable bytes for at most `length` bytes, then a shortest completion. `None` if the
/// language is empty, the recogniser cannot decide, or the word contains a token terminal.
pub fn random_word(choices: &mut Choices<'_>, recogniser: &Recogniser<'_>, length: usize) -> Option<Vec<u8>> {
    let word = random_symbols(choices, recogniser, length)?;
    word.into_iter().map(Symbol::byte).collect()
}

/// Like [`random_word`], over bytes and token terminals.
pub fn random_symbols(
    choices: &mut Choices<'_>,
    recogniser: &Recogniser<'_>,
    length: usize,
) -> Option<Vec<Symbol>> {
    let mut state = recogniser.start();
    let mut word = Vec::new();
    if !recogniser.is_viable(&state)? {
        return None;
    }
    for _ in 0..length {
        let viable = recogniser.viable_bytes(&state)?;
        let bytes = recogniser.alphabet().iter().copied().filter(|&b| viable.contains(b));
        let terminals = recogniser.viable_terminals(&state).into_iter().map(Symbol::Terminal);
        let symbols: Vec<Symbol> = bytes.map(Symbol::Byte).chain(terminals).collect();
        if symbols.is_empty() || (recogniser.is_accepting(&state) && choices.chance(15)) {
            break;
        }
        let symbol = *choices.pick(&symbols);
        recogniser.advance_symbol(&mut state, symbol);
        word.push(symbol);
    }
    word.extend(recogniser.completion(&state)??);
    Some(word)
}

/// Draws a way to write `word` as tokens, if there is one.
pub fn random_tokenisation(
    choices: &mut Choices<'_>,
    tokens: &[Option<Vec<u8>>],
    word: &[u8],
) -> Option<Vec<u32>> {
    // which suffixes can be written as tokens
    let mut writable = vec![false; word.len() + 1];
    writable[word.len()] = true;
    let fits = |at: usize, token: &Option<Vec<u8>>| {
        token.as_ref().filter(|t| !t.is_empty() && word[at..].starts_with(t)).map(|t| at + t.len())
    };
    for at in (0..word.len()).rev() {
        writable[at] = tokens.iter().filter_map(|token| fits(at, token)).any(|end| writable[end]);
    }
    let (mut at, mut out) = (0, Vec::new());
    while at < word.len() {
        let next: Vec<(u32, usize)> = (0..)
            .zip(tokens)
            .filter_map(|(id, token)| fits(at, token).map(|end| (id, end)))
            .filter(|&(_, end)| writable[end])
            .collect();
        if next.is_empty() {
            return None;
        }
        let (id, end) = *choices.pick(&next);
        out.push(id);
        at = end;
    }
    Some(out)
}
