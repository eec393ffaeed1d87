//! Loop languages: sets of characters that grammars repeat, precomputed per vocabulary.
//!
//! Inside a JSON string, a comment or free text, nearly all tokens are allowed, and the exceptions hardly depend on the
//! grammar. For a few standard loops this module computes once
//! - *accepted*: the tokens that stay in the loop from their first byte to their last (they may end inside a
//!   character);
//! - *suffixes*: for the tokens that begin in the loop and leave it, the rest after their longest prefix in the loop,
//!   as a trie. Many tokens share a suffix: of Llama 3.1's 128,000 tokens, 123,177 are in the JSON string loop, and the
//!   suffixes of the tokens that leave the loop make a trie of a few thousand nodes;
//! - both by the number of characters ([`ByLength`]), for loops whose rounds are counted (`maxLength`).
//!
//! For a configuration that returns to itself on a loop, a mask then needs only the suffixes and the tokens that do not
//! begin in the loop, instead of the trie of all tokens.

mod flat;

use super::alphabet::kind_of;
use super::class_trie::ClassTrie;
use super::subtree_summary::SubtreeSummaries;
use super::utf8::{BEYOND_ASCII, STATES, Transition};
use crate::token_index::tuning::{MAX_CHARS, SHORT};
use crate::vocabulary::trie::TokenTrie;
use crate::vocabulary::{TokenId, Vocabulary};
use std::sync::Arc;

/// Ranges of bytes, both ends included.
pub(crate) type Ranges = &'static [(u8, u8)];

/// A loop: its ASCII characters, and whether it contains all characters beyond ASCII.
struct Definition {
    ascii: Ranges,
    beyond: bool,
    /// A byte used to find out quickly that a configuration does not loop.
    probe: u8,
}

impl Definition {
    fn transitions(&self) -> Vec<Transition> {
        let ascii = self.ascii.iter().map(|&(low, high)| Transition { from: 0, low, high, to: 0 });
        ascii.chain(BEYOND_ASCII.iter().copied().filter(|_| self.beyond)).collect()
    }

    /// Whether few tokens begin in the loop and grammars do not count its rounds.
    fn is_short(&self) -> bool {
        self.probe == b' '
    }
}

/// The loops. A loop comes before the loops that it contains.
const DEFINITIONS: [Definition; 7] = [
    // any text
    Definition { ascii: &[(0x00, 0x7F)], beyond: true, probe: b'a' },
    // any text without a line feed
    Definition { ascii: &[(0x00, 0x09), (0x0B, 0x7F)], beyond: true, probe: b'a' },
    // the unescaped characters of JSON strings (RFC 8259, section 7)
    Definition { ascii: &[(0x20, 0x21), (0x23, 0x5B), (0x5D, 0x7F)], beyond: true, probe: b'a' },
    // identifiers
    Definition {
        ascii: &[(b'0', b'9'), (b'A', b'Z'), (b'_', b'_'), (b'a', b'z')],
        beyond: false,
        probe: b'a',
    },
    Definition { ascii: &[(b'0', b'9'), (b'_', b'_'), (b'a', b'z')], beyond: false, probe: b'a' },
    Definition { ascii: &[(b'a', b'z')], beyond: false, probe: b'a' },
    // JSON whitespace
    Definition { ascii: &[(b'\t', b'\n'), (b'\r', b'\r'), (b' ', b' ')], beyond: false, probe: b' ' },
];

/// The index of the loop of JSON strings.
const STRING: usize = 2;

/// Checks that every ASCII character of the loop of JSON strings has a kind. Otherwise the class trie would omit
/// tokens, and they would be treated as allowed.
const _: () = {
    let ranges = DEFINITIONS[STRING].ascii;
    let mut place = 0;
    while place < ranges.len() {
        let mut byte = ranges[place].0;
        while byte <= ranges[place].1 {
            assert!(kind_of(byte).is_some());
            byte += 1;
        }
        place += 1;
    }
};

/// The loops of one vocabulary.
#[derive(Debug)]
pub(crate) struct Loops {
    pub(crate) languages: Vec<LoopLanguage>,
    /// Summaries of the larger subtrees of the trie of all tokens.
    pub(crate) subtrees: SubtreeSummaries,
    /// The trie of the tokens of the JSON string loop, spelled in kinds of characters.
    pub(crate) class_trie: ClassTrie,
    /// Divisions into short and long tokens, the greatest bound first.
    pub(crate) lengths: Vec<Lengths>,
    tries: Vec<TokenTrie>,
}

/// A division of the tokens into short and long tokens, by their lengths in bytes.
#[derive(Debug)]
pub(crate) struct Lengths {
    /// The greatest length of short tokens, in bytes.
    pub(crate) bytes: u32,
    /// The short tokens, as bits.
    pub(crate) short: Box<[u32]>,
    /// The trie of the long tokens.
    pub(crate) long: TrieId,
}

/// The id of a trie of a vocabulary: the trie of all tokens, or a trie of suffixes or of some tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct TrieId(u16);

impl TrieId {
    /// The trie of all tokens.
    pub(crate) const ALL: TrieId = TrieId(0);
}

/// A loop language for one vocabulary.
#[derive(Debug)]
pub(crate) struct LoopLanguage {
    /// The ASCII characters of the loop.
    pub(crate) ascii: Ranges,
    /// Whether the loop contains all characters beyond ASCII.
    pub(crate) beyond: bool,
    pub(crate) transitions: Vec<Transition>,
    pub(crate) probe: u8,
    /// Whether a byte begins a character of the loop.
    pub(crate) first_bytes: [bool; 256],
    /// The tokens that stay in the loop, as bits.
    pub(crate) accepted: Arc<[u32]>,
    /// For [short](Definition::is_short) loops: the nodes of the trie of all tokens whose parent has a non-empty path
    /// in the loop.
    pub(crate) places: Option<Vec<u32>>,
    /// Per UTF-8 state, the suffixes of the tokens that leave the loop in that state, if there are any.
    pub(crate) suffixes: Suffixes,
    /// The tries of the whole tokens that leave the loop, by the [group](escape_group) of the byte at which they leave.
    pub(crate) escaping: [Option<TrieId>; ESCAPES],
    /// `None` for loops that grammars do not count.
    pub(crate) by_length: Option<ByLength>,
}

/// Per UTF-8 state, a trie of token suffixes, or `None` if there are none.
pub(crate) type Suffixes = Vec<Option<TrieId>>;

/// The number of groups of tokens that leave a loop, by the byte at which they leave.
pub(crate) const ESCAPES: usize = 3;

/// The group of a byte: quotes, backslashes, or all others.
pub(crate) fn escape_group(byte: u8) -> usize {
    match byte {
        b'"' => 0,
        b'\\' => 1,
        _ => 2,
    }
}

/// The tokens that begin in a loop, by the number of their characters in it.
#[derive(Debug)]
pub(crate) struct ByLength {
    /// The accepted tokens of `n` characters, an incomplete one included, are `accepted[starts[n]..starts[n + 1]]`; `n`
    /// is at most [`MAX_CHARS`].
    pub(crate) accepted: Vec<u32>,
    pub(crate) starts: Vec<usize>,
    /// The tokens of `accepted`, as bits.
    pub(crate) words: Arc<[u32]>,
    /// The suffixes of the tokens that leave the loop, by the number of complete characters before the suffix, 0 to
    /// [`MAX_CHARS`].
    pub(crate) suffixes: Vec<Suffixes>,
    /// The whole tokens that begin in the loop with more than [`MAX_CHARS`] characters.
    pub(crate) longer: Option<TrieId>,
}

/// A token that begins in a loop.
struct LoopPrefix<'v> {
    token: TokenId,
    bytes: &'v [u8],
    /// The number of complete characters, and the state after the last byte in the loop.
    characters: usize,
    state: usize,
    /// The number of bytes in the loop.
    length: usize,
}

impl Loops {
    /// Computes all loops of a vocabulary.
    pub(crate) fn new(vocabulary: &Vocabulary) -> Loops {
        let mut tries = Vec::new();
        let languages: Vec<LoopLanguage> = DEFINITIONS
            .iter()
            .map(|definition| LoopLanguage::new(definition, vocabulary, &mut tries))
            .collect();
        let accepted = &languages[STRING].accepted;
        let in_strings = |token: &TokenId| accepted[token.index() / 32] >> (token.index() % 32) & 1 == 1;
        Loops {
            subtrees: SubtreeSummaries::new(vocabulary.trie()),
            class_trie: ClassTrie::new(
                vocabulary.tokens().map(|(token, _)| token).filter(in_strings),
                vocabulary,
            ),
            lengths: SHORT.iter().filter_map(|&bytes| lengths(bytes, vocabulary, &mut tries)).collect(),
            languages,
            tries,
        }
    }

    /// The loop of JSON strings.
    pub(crate) fn string(&self) -> &LoopLanguage {
        &self.languages[STRING]
    }

    /// A trie by id; `None` for [`TrieId::ALL`] and for ids that do not exist.
    pub(crate) fn trie(&self, id: TrieId) -> Option<&TokenTrie> {
        self.tries.get(usize::from(id.0).checked_sub(1)?)
    }

    /// Bytes on the heap, approximately: the tables of all loops and lengths, and all tries.
    pub(crate) fn memory_usage(&self) -> usize {
        self.subtrees.memory_usage()
            + self.class_trie.memory_usage()
            + self.languages.iter().map(LoopLanguage::memory_usage).sum::<usize>()
            + self.lengths.iter().map(|lengths| lengths.short.len() * 4).sum::<usize>()
            + self.tries.iter().map(TokenTrie::memory_usage).sum::<usize>()
    }
}

impl LoopLanguage {
    /// A loop language with the parts that do not depend on a vocabulary, and without tokens.
    fn of(definition: &Definition) -> LoopLanguage {
        let transitions = definition.transitions();
        let next = table(&transitions);
        LoopLanguage {
            ascii: definition.ascii,
            beyond: definition.beyond,
            transitions,
            probe: definition.probe,
            first_bytes: std::array::from_fn(|byte| next[0][byte].is_some()),
            accepted: Arc::default(),
            places: None,
            suffixes: Vec::new(),
            escaping: [None; ESCAPES],
            by_length: None,
        }
    }

    fn new(definition: &Definition, vocabulary: &Vocabulary, tries: &mut Vec<TokenTrie>) -> LoopLanguage {
        let language = LoopLanguage::of(definition);
        let next = table(&language.transitions);
        let runs: Vec<LoopPrefix<'_>> =
            vocabulary.tokens().filter_map(|(token, bytes)| LoopPrefix::new(&next, token, bytes)).collect();
        let accepted: Vec<u32> =
            runs.iter().filter(|run| run.is_inside()).map(|run| run.token.get()).collect();
        let words = vocabulary.mask_words();
        let is_short = definition.is_short();
        LoopLanguage {
            accepted: bits(&accepted, words).into(),
            places: is_short.then(|| places(&next[0], vocabulary.trie())),
            suffixes: suffixes(runs.iter(), tries),
            escaping: escaping(&runs, tries),
            by_length: (!is_short).then(|| ByLength::new(&runs, words, tries)),
            ..language
        }
    }

    /// Bytes on the heap of the largest tables of this loop (its tokens and places), without its tries, which [`Loops`]
    /// owns.
    fn memory_usage(&self) -> usize {
        (self.accepted.len() + self.places.as_ref().map_or(0, Vec::len)) * 4
            + self.by_length.as_ref().map_or(0, ByLength::memory_usage)
    }
}

/// Per UTF-8 state and byte, the next state; `None` if the byte leaves the loop.
type Table = [[Option<usize>; 256]; STATES];

fn table(transitions: &[Transition]) -> Table {
    let mut next = [[None; 256]; STATES];
    for transition in transitions {
        next[transition.from][usize::from(transition.low)..=usize::from(transition.high)]
            .fill(Some(transition.to));
    }
    next
}

/// An upper bound on the nodes, without roots, of the tries of loops, of character kinds and of tokens with quotes,
/// given that the trie of all tokens has `nodes` nodes without its root.
pub(super) fn nodes_at_most(vocabulary: &Vocabulary, nodes: usize) -> usize {
    // prefixes of some whole tokens are among the prefixes of all, also when spelled in kinds of characters
    let of_whole = |bytes: usize| bytes.min(nodes);
    let (mut all, mut long, mut quoted) = (0usize, [0usize; SHORT.len()], 0usize);
    for (_, bytes) in vocabulary.tokens() {
        all += bytes.len();
        quoted += if bytes.contains(&b'"') { bytes.len() } else { 0 };
        for (long, &short) in long.iter_mut().zip(&SHORT) {
            *long += if bytes.len() > short as usize { bytes.len() } else { 0 };
        }
    }
    let mut most = of_whole(all) + of_whole(quoted) + long.into_iter().map(of_whole).sum::<usize>();
    for definition in &DEFINITIONS {
        let next = table(&definition.transitions());
        let (mut escaping, mut suffixes, mut longer) = (0usize, 0usize, 0usize);
        for run in vocabulary.tokens().filter_map(|(token, bytes)| LoopPrefix::new(&next, token, bytes)) {
            if !run.is_inside() {
                let rest = run.bytes.len() - run.length;
                let is_counted = !definition.is_short() && run.characters <= MAX_CHARS;
                escaping += run.bytes.len();
                suffixes += if is_counted { 2 * rest } else { rest };
            }
            longer += if definition.is_short() || run.is_counted() { 0 } else { run.bytes.len() };
        }
        most += of_whole(escaping) + of_whole(longer) + suffixes;
    }
    most
}

impl<'v> LoopPrefix<'v> {
    /// `None` if the token does not begin in the loop.
    fn new(next: &Table, token: TokenId, bytes: &'v [u8]) -> Option<LoopPrefix<'v>> {
        let (mut state, mut length, mut characters) = (0, 0, 0);
        while let Some(to) = bytes.get(length).and_then(|&byte| next[state][usize::from(byte)]) {
            state = to;
            length += 1;
            characters += usize::from(state == 0);
        }
        (length > 0).then_some(LoopPrefix { token, bytes, characters, state, length })
    }

    fn is_inside(&self) -> bool {
        self.length == self.bytes.len()
    }

    /// The number of characters, an incomplete one included.
    fn begun(&self) -> usize {
        self.characters + usize::from(self.state != 0)
    }

    /// Whether the token has at most [`MAX_CHARS`] characters in the loop, so that it is precomputed by their number.
    /// An incomplete character counts only if the token stays in the loop.
    fn is_counted(&self) -> bool {
        if self.is_inside() { self.begun() <= MAX_CHARS } else { self.characters <= MAX_CHARS }
    }
}

impl ByLength {
    fn new(runs: &[LoopPrefix<'_>], words: usize, tries: &mut Vec<TokenTrie>) -> ByLength {
        let mut by_length: Vec<&LoopPrefix<'_>> =
            runs.iter().filter(|run| run.is_inside() && run.is_counted()).collect();
        by_length.sort_by_key(|run| run.begun());
        let starts = (0..MAX_CHARS + 2).map(|n| by_length.partition_point(|run| run.begun() < n)).collect();
        let accepted: Vec<u32> = by_length.iter().map(|run| run.token.get()).collect();
        let mut longer: Vec<(&[u8], TokenId)> =
            runs.iter().filter(|run| !run.is_counted()).map(|run| (run.bytes, run.token)).collect();
        longer.sort_unstable();
        ByLength {
            words: bits(&accepted, words).into(),
            accepted,
            starts,
            suffixes: (0..=MAX_CHARS)
                .map(|n| suffixes(runs.iter().filter(|run| run.characters == n), tries))
                .collect(),
            longer: add_trie(&longer, tries),
        }
    }

    fn memory_usage(&self) -> usize {
        self.accepted.capacity() * 4 + self.words.len() * 4
    }
}

/// Adds the trie of some sorted byte strings; `None` if there are none.
fn add_trie(strings: &[(&[u8], TokenId)], tries: &mut Vec<TokenTrie>) -> Option<TrieId> {
    if strings.is_empty() {
        return None;
    }
    tries.push(TokenTrie::from_sorted(strings));
    // at most a few thousand: loops times characters times states
    Some(TrieId(tries.len() as u16))
}

/// Divides the tokens by length in bytes; `None` if no token is longer than the bound.
fn lengths(bytes: u32, vocabulary: &Vocabulary, tries: &mut Vec<TokenTrie>) -> Option<Lengths> {
    let is_short = |text: &[u8]| text.len() <= bytes as usize;
    let (short, mut long): (Vec<_>, Vec<_>) = vocabulary.tokens().partition(|(_, text)| is_short(text));
    // tokens with the same bytes are ordered by id
    long.sort_unstable_by_key(|&(token, text)| (text, token));
    let long: Vec<(&[u8], TokenId)> = long.into_iter().map(|(token, text)| (text, token)).collect();
    let short: Vec<u32> = short.into_iter().map(|(token, _)| token.get()).collect();
    let long = add_trie(&long, tries)?;
    Some(Lengths { bytes, short: bits(&short, vocabulary.mask_words()).into(), long })
}

/// The nodes whose parent has a non-empty path in a loop of single bytes.
fn places(next: &[Option<usize>; 256], trie: &TokenTrie) -> Vec<u32> {
    let mut places = Vec::new();
    let mut open = vec![trie.root()];
    while let Some(node) = open.pop() {
        let children = trie.children(node);
        open.extend(children.clone().filter(|&child| next[usize::from(trie.byte(child))].is_some()));
        if node != trie.root() {
            places.extend(children);
        }
    }
    places
}

/// The tries of the whole tokens that leave the loop, by the [group](escape_group) of the byte at which they leave.
fn escaping(runs: &[LoopPrefix<'_>], tries: &mut Vec<TokenTrie>) -> [Option<TrieId>; ESCAPES] {
    std::array::from_fn(|group| {
        let leaves_so = |run: &&LoopPrefix<'_>| {
            run.bytes.get(run.length).is_some_and(|&byte| escape_group(byte) == group)
        };
        let mut tokens: Vec<(&[u8], TokenId)> =
            runs.iter().filter(leaves_so).map(|run| (run.bytes, run.token)).collect();
        tokens.sort_unstable();
        add_trie(&tokens, tries)
    })
}

/// The tries of the suffixes of the tokens that leave the loop, per UTF-8 state in which they leave.
fn suffixes<'a, 'v: 'a>(
    runs: impl Iterator<Item = &'a LoopPrefix<'v>>,
    tries: &mut Vec<TokenTrie>,
) -> Suffixes {
    let mut escaping: [Vec<(&[u8], TokenId)>; STATES] = Default::default();
    for run in runs.filter(|run| !run.is_inside()) {
        escaping[run.state].push((&run.bytes[run.length..], run.token));
    }
    let trie = |mut suffixes: Vec<(&[u8], TokenId)>| {
        suffixes.sort_unstable();
        add_trie(&suffixes, tries)
    };
    escaping.into_iter().map(trie).collect()
}

fn bits(ids: &[u32], words: usize) -> Vec<u32> {
    let mut bits = vec![0u32; words];
    ids.iter().for_each(|&id| bits[id as usize / 32] |= 1 << (id % 32));
    bits
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::token_index::quote_tokens::QuoteTokens;
    use crate::vocabulary::VocabularyBuilder;

    #[test]
    fn tries_have_at_most_as_many_nodes_as_is_said() {
        let mut seed = 1u64;
        let mut draw = |below: usize| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) as usize % below
        };
        for alphabet in ["ab", "a\"\\ \n,0", "abcdefgh_XYZ09\u{e9}\u{4e00} :\"{}"] {
            let letters: Vec<char> = alphabet.chars().collect();
            let tokens: Vec<Vec<u8>> = (0..400)
                .map(|_| {
                    let most = if draw(9) == 0 { 60 } else { 7 };
                    let length = 1 + draw(most);
                    let text: String = (0..length).map(|_| letters[draw(letters.len())]).collect();
                    // some tokens end inside a character
                    text.into_bytes()[..].iter().copied().take(length + 2).collect()
                })
                .collect();
            let vocabulary = VocabularyBuilder::from_tokens(&tokens).build().unwrap();
            let nodes = vocabulary.trie().node_count();
            let loops = Loops::new(&vocabulary);
            let without_root = |trie: &TokenTrie| trie.node_count() - 1;
            let found = loops.tries.iter().map(without_root).sum::<usize>()
                + without_root(&loops.class_trie.trie)
                + without_root(&QuoteTokens::new(&vocabulary).trie);
            let most = nodes_at_most(&vocabulary, nodes);
            assert!(found <= most, "{alphabet}: {found} nodes, {most} at most");
        }
    }
}
