//! A draft of the graph of explored places, and how it is written to a mask file.
//!
//! Equal drafts give equal files, byte for byte.

use super::assemble::assemble;
use super::grammar;
use super::graph::{DEAD, NONE, UNEXPLORED, bits, form};
use super::header::Section;
use crate::grammar::Grammar;
use crate::vocabulary::Vocabulary;
use rustc_hash::FxHashMap;
use sha2::{Digest, Sha256};

/// A mask that some form encodes in at most this many words, without new shared words, never gets shared words of its
/// own.
const FEW: usize = 8;

/// The destination of a run of bytes, or of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Target {
    Dead,
    Unexplored,
    State(u32),
}

impl Target {
    fn number(self) -> u32 {
        match self {
            Target::Dead => DEAD,
            Target::Unexplored => UNEXPLORED,
            Target::State(state) => state,
        }
    }
}

/// A draft of the state of one explored place.
#[derive(Clone, Debug, Default)]
pub(crate) struct StateDraft {
    pub(crate) accepting: bool,
    pub(crate) is_final: bool,
    pub(crate) named: bool,
    pub(crate) tokens: bool,
    /// The first byte of each run of bytes, in ascending order from 0, and the run's destination. Empty if no byte was
    /// followed.
    pub(crate) runs: Vec<(u8, Target)>,
    /// Destinations of tokens that token edges take, sorted by token.
    pub(crate) token_edges: Vec<(u32, Target)>,
    /// The id of the mask, as returned by [`MaskDrafts::add`].
    pub(crate) mask: Option<u32>,
}

/// Drafts of masks, deduplicated. Each is encoded in the smallest form.
#[derive(Debug)]
pub(crate) struct MaskDrafts {
    width: usize,
    places: Vec<u32>,
    masks: Vec<u32>,
    shared: Vec<Vec<u32>>,
    known: FxHashMap<[u8; 32], u32>,
}

impl MaskDrafts {
    /// An empty set of masks for a vocabulary of `width` ids.
    pub(crate) fn new(width: usize) -> MaskDrafts {
        let (places, masks, shared) = Default::default();
        MaskDrafts { width, places, masks, shared, known: FxHashMap::default() }
    }

    /// Adds a mask of `width` bits and returns its id. Equal masks have the same id.
    pub(crate) fn add(&mut self, words: &[u32]) -> u32 {
        let ones: usize = words.iter().map(|word| word.count_ones() as usize).sum();
        let few = ones <= words.len();
        let ids = if few { ones_of(words) } else { Vec::new() };
        let mut hasher = Sha256::new();
        hasher.update([u8::from(few)]);
        hasher.update(bytemuck::cast_slice::<u32, u8>(if few { &ids } else { words }));
        let next = self.places.len() as u32;
        match self.known.entry(hasher.finalize().into()) {
            std::collections::hash_map::Entry::Occupied(known) => return *known.get(),
            std::collections::hash_map::Entry::Vacant(vacant) => vacant.insert(next),
        };
        self.places.push(self.masks.len() as u32);
        self.encode(words, ones, ids);
        next
    }

    fn encode(&mut self, words: &[u32], ones: usize, ids: Vec<u32>) {
        let differences = |shared: &Vec<u32>| -> usize {
            shared.iter().zip(words).map(|(a, b)| (a ^ b).count_ones() as usize).sum()
        };
        let near = self.shared.iter().map(differences).enumerate().min_by_key(|&(id, count)| (count, id));
        let near_size = near.map_or(usize::MAX, |(_, count)| 4 + count);
        let (list, all_but) = (2 + ones, 2 + self.width - ones);
        let least = near_size.min(list).min(all_but);
        if least > (words.len() / 2).max(FEW) {
            // no other form is much smaller than words of the mask's own, to which later masks can refer
            self.masks.extend([form::NEAR, self.shared.len() as u32, 0, 0]);
            self.shared.push(words.to_vec());
        } else if least == list {
            self.masks.extend([form::LIST, ones as u32]);
            self.masks.extend(if ids.len() == ones { ids } else { ones_of(words) });
        } else if least == all_but {
            let mut zeros: Vec<u32> = words.iter().map(|word| !word).collect();
            if let Some(last) = zeros.last_mut().filter(|_| !self.width.is_multiple_of(32)) {
                *last &= (1 << (self.width % 32)) - 1;
            }
            self.masks.extend([form::ALL_BUT, (self.width - ones) as u32]);
            self.masks.extend(ones_of(&zeros));
        } else if let Some((id, _)) = near {
            let shared = &self.shared[id];
            let removed = ones_of(&shared.iter().zip(words).map(|(a, b)| a & !b).collect::<Vec<_>>());
            let added = ones_of(&shared.iter().zip(words).map(|(a, b)| b & !a).collect::<Vec<_>>());
            self.masks.extend([form::NEAR, id as u32, removed.len() as u32, added.len() as u32]);
            self.masks.extend(removed);
            self.masks.extend(added);
        }
    }
}

/// The positions of the set bits, in ascending order.
fn ones_of(words: &[u32]) -> Vec<u32> {
    let mut ones = Vec::new();
    for (place, &word) in words.iter().enumerate() {
        let mut word = word;
        while word != 0 {
            ones.push(place as u32 * 32 + word.trailing_zeros());
            word &= word - 1;
        }
    }
    ones
}

/// Writes the bytes of a mask file. `about` is text about how it was made.
pub(crate) fn write(
    grammar: &Grammar,
    vocabulary: &Vocabulary,
    states: &[StateDraft],
    masks: MaskDrafts,
    about: &str,
) -> Vec<u8> {
    let mut rows = Rows::default();
    let mut edges: Vec<u32> = Vec::new();
    let mut records: Vec<u32> = Vec::with_capacity(states.len() * 4);
    for state in states {
        let flags = [
            (state.accepting, bits::ACCEPTING),
            (state.is_final, bits::FINAL),
            (state.named, bits::NAMED),
            (state.tokens, bits::TOKENS),
        ];
        let flags = flags.iter().filter(|(is_set, _)| *is_set).fold(0, |all, (_, bit)| all | bit);
        let (row, next) = match only_byte(&state.runs) {
            Some((byte, target)) => (bits::SINGLE | u32::from(byte) << 8, target.number()),
            None if state.runs.is_empty() => (0, NONE),
            None => (bits::ROW, rows.add(&state.runs)),
        };
        let list = match state.token_edges.is_empty() {
            true => NONE,
            false => edges.len() as u32,
        };
        if list != NONE {
            edges.push(state.token_edges.len() as u32);
            edges.extend(state.token_edges.iter().flat_map(|&(token, to)| [token, to.number()]));
        }
        records.extend([flags | row, next, state.mask.unwrap_or(NONE), list]);
    }
    let bytes = |words: &[u32]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
    let sections = [
        (Section::Grammar, grammar::write(grammar)),
        (Section::States, bytes(&records)),
        (Section::Rows, bytes(&rows.words)),
        (Section::TokenEdges, bytes(&edges)),
        (Section::MaskPlaces, bytes(&masks.places)),
        (Section::Masks, bytes(&masks.masks)),
        (Section::Words, bytes(&masks.shared.concat())),
        (Section::About, about.as_bytes().to_vec()),
    ];
    let sections = sections.each_ref().map(|(section, bytes)| (*section, &**bytes));
    assemble(vocabulary.fingerprint(), vocabulary.width(), &sections)
}

/// The single byte that is not dead, if there is only one, and its destination.
fn only_byte(runs: &[(u8, Target)]) -> Option<(u8, Target)> {
    let mut live = (0..runs.len()).filter(|&at| runs[at].1 != Target::Dead);
    let (at, None) = (live.next()?, live.next()) else { return None };
    let (start, target) = runs[at];
    let end = runs.get(at + 1).map_or(256, |next| usize::from(next.0));
    (end - usize::from(start) == 1).then_some((start, target))
}

/// Rows, deduplicated.
#[derive(Default)]
struct Rows {
    words: Vec<u32>,
    known: FxHashMap<Vec<(u8, Target)>, u32>,
}

impl Rows {
    /// Adds a row unless it is already there, and returns its place: an index of `words`.
    fn add(&mut self, runs: &[(u8, Target)]) -> u32 {
        if let Some(&known) = self.known.get(runs) {
            return known;
        }
        let place = self.words.len() as u32;
        self.known.insert(runs.to_vec(), place);
        self.words.push(runs.len() as u32);
        for four in runs.chunks(4) {
            let mut starts = [0; 4];
            four.iter().zip(&mut starts).for_each(|(run, start)| *start = run.0);
            self.words.push(u32::from_le_bytes(starts));
        }
        self.words.extend(runs.iter().map(|run| run.1.number()));
        place
    }
}
