//! Unique decodability: whether every text can be split into symbols in only one way.
//!
//! Limits and requirements on symbols are checked on the text of a word, so the text must determine its symbols. This
//! is the question whether a code is uniquely decodable (Sardinas and Patterson, 1953). The search follows all pairs of
//! readings of a common text. In each pair, one reading is ahead of the other by a suffix. If the suffix of some pair
//! is a code word, a text with two readings is found.

use crate::error::Result;
use crate::limits::{LimitKind, Limits};
use rustc_hash::{FxHashMap, FxHashSet};

/// Number of bytes that may be compared, for each unit of `grammar_nodes`.
const BYTES_A_NODE: usize = 64;

/// A pair of readings: how it was derived from its parent, and the suffix by which one reading is ahead.
struct Pair {
    /// The pair from which this one was derived; `None` for a first pair.
    parent: Option<usize>,
    /// The word that was appended to the reading behind; for a first pair, the word of the reading that is ahead.
    word: usize,
    /// The word of the reading that is behind in a first pair; `None` for later pairs.
    other: Option<usize>,
    /// Whether the reading that was behind is ahead after the word was appended.
    overtakes: bool,
    /// The suffix by which one reading is ahead: a word, and the byte offset in it where the suffix begins.
    rest: (usize, usize),
}

/// Two different readings of one text, as sequences of indices into `words`; `None` if no text has two readings. The
/// words must be distinct, and none may be empty.
///
/// # Errors
/// `limit/exceeded` if more bytes must be compared than `grammar_nodes` allows.
pub(super) fn two_readings(words: &[Vec<u8>], limits: &Limits) -> Result<Option<[Vec<usize>; 2]>> {
    let by_text: FxHashMap<&[u8], usize> = words.iter().enumerate().map(|(i, w)| (w.as_slice(), i)).collect();
    let mut sorted: Vec<usize> = (0..words.len()).collect();
    sorted.sort_by(|&a, &b| words[a].cmp(&words[b]));
    let lengths: std::collections::BTreeSet<usize> = words.iter().map(Vec::len).collect();
    let limit = limits.grammar_nodes.saturating_mul(BYTES_A_NODE);
    let mut work = 0;
    let mut seen: FxHashSet<&[u8]> = FxHashSet::default();
    let mut pairs: Vec<Pair> = Vec::new();
    for (word, text) in words.iter().enumerate() {
        for &length in lengths.range(..text.len()) {
            work += length;
            if let Some(&other) = by_text.get(&text[..length])
                && seen.insert(&text[length..])
            {
                let rest = (word, length);
                pairs.push(Pair { parent: None, word, other: Some(other), overtakes: false, rest });
            }
        }
        if work > limit {
            return Err(too_long(limits));
        }
    }
    let mut next = 0;
    while let Some(pair) = pairs.get(next) {
        let (ahead, from) = pair.rest;
        let rest = &words[ahead][from..];
        if let Some(&word) = by_text.get(rest) {
            return Ok(Some(readings(&pairs, next, word)));
        }
        let mut found = Vec::new();
        for &length in lengths.range(..rest.len()) {
            work += length;
            if let Some(&word) = by_text.get(&rest[..length]) {
                found.push((word, false, (ahead, from + length)));
            }
        }
        let first = sorted.partition_point(|&word| words[word].as_slice() < rest);
        for &word in sorted[first..].iter().take_while(|&&word| words[word].starts_with(rest)) {
            work += rest.len() + 1;
            found.push((word, true, (word, rest.len())));
        }
        if work > limit {
            return Err(too_long(limits));
        }
        for (word, overtakes, rest) in found {
            if seen.insert(&words[rest.0][rest.1..]) {
                pairs.push(Pair { parent: Some(next), word, other: None, overtakes, rest });
            }
        }
        next += 1;
    }
    Ok(None)
}

fn too_long(limits: &Limits) -> crate::Error {
    Limits::exceeded(LimitKind::GrammarNodes, limits.grammar_nodes, "longer texts of symbols under `limits`")
}

/// The two readings that result if the reading behind in the pair `last` is completed by `word`.
fn readings(pairs: &[Pair], last: usize, word: usize) -> [Vec<usize>; 2] {
    let mut chain = Vec::new();
    let mut at = Some(last);
    while let Some(pair) = at.and_then(|at| pairs.get(at)) {
        chain.push(pair);
        at = pair.parent;
    }
    let (mut ahead, mut behind) = (Vec::new(), Vec::new());
    for pair in chain.into_iter().rev() {
        match pair.other {
            Some(other) => {
                ahead.push(pair.word);
                behind.push(other);
            }
            None => behind.push(pair.word),
        }
        if pair.overtakes {
            std::mem::swap(&mut ahead, &mut behind);
        }
    }
    behind.push(word);
    [ahead, behind]
}
