//! Reading the graph of explored places of a mask file.
//!
//! Every value is range-checked when it is read, and impossible values count as unexplored. A place of the graph is a
//! number that is valid only in its file.

use super::codec::word;
use super::container::Container;
use super::header::Section;
use crate::error::Result;
use std::borrow::Cow;

/// Size of a state in bytes.
pub(super) const STATE: usize = 16;

/// The number of the state before the first byte.
pub(crate) const START: u32 = 0;

/// In place of a state: no completion continues with the byte or token.
pub(super) const DEAD: u32 = u32::MAX;
/// In place of a state: the destination was not explored.
pub(super) const UNEXPLORED: u32 = u32::MAX - 1;
/// In place of a mask or a list of token edges: there is none.
pub(super) const NONE: u32 = u32::MAX;

/// The bits of a state's first word.
pub(super) mod bits {
    pub(in crate::mask_file) const ACCEPTING: u32 = 1;
    pub(in crate::mask_file) const FINAL: u32 = 2;
    pub(in crate::mask_file) const NAMED: u32 = 4;
    pub(in crate::mask_file) const TOKENS: u32 = 8;
    /// Exactly one byte is allowed, which is stored in bits 8 to 15.
    pub(in crate::mask_file) const SINGLE: u32 = 16;
    /// The successors are stored in a row.
    pub(in crate::mask_file) const ROW: u32 = 32;
    /// All bits with a meaning.
    pub(in crate::mask_file) const ALL: u32 = 0xff3f;
}

/// A state: the facts about a place, its successors and its mask, as encoded in the file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct State {
    pub(super) info: u32,
    /// The successor of the single byte, or the place of the row, in words of the section of rows.
    pub(super) next: u32,
    mask: u32,
    pub(super) token_edges: u32,
}

/// The destination of a byte or a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    Dead,
    State(u32),
}

impl State {
    /// Whether the text so far is a word.
    pub(crate) fn is_accepting(self) -> bool {
        self.info & bits::ACCEPTING != 0
    }

    /// Whether the text so far is a word that cannot be extended.
    pub(crate) fn is_final(self) -> bool {
        self.info & bits::FINAL != 0
    }

    /// Whether the last byte ended a name of an object.
    pub(crate) fn is_named(self) -> bool {
        self.info & bits::NAMED != 0
    }

    /// Whether token edges leave the place.
    pub(crate) fn has_tokens(self) -> bool {
        self.info & bits::TOKENS != 0
    }

    /// Whether the successors are stored in a row.
    pub(super) fn has_row(self) -> bool {
        self.info & bits::ROW != 0
    }

    /// The number of the mask, if there is one.
    pub(crate) fn mask(self) -> Option<u32> {
        Some(self.mask).filter(|&mask| mask != NONE)
    }
}

pub(super) fn state_count(file: &Container) -> usize {
    file.section_len(Section::States) / STATE
}

/// Reads a state, if the file has it.
#[inline]
pub(super) fn state(file: &Container, id: u32) -> Option<State> {
    let record = file.part(Section::States, (id as usize).checked_mul(STATE)?, STATE)?;
    let field = |at: usize| word(record, at);
    Some(State { info: field(0)?, next: field(4)?, mask: field(8)?, token_edges: field(12)? })
}

/// Decodes the number of a target; `None` if it is unexplored or out of range.
#[inline]
pub(super) fn target(file: &Container, number: u32) -> Option<Next> {
    match number {
        DEAD => Some(Next::Dead),
        _ if (number as usize) < state_count(file) => Some(Next::State(number)),
        _ => None,
    }
}

/// The destination of a byte, if it was explored.
#[inline]
pub(super) fn after_byte(file: &Container, state: State, byte: u8) -> Option<Next> {
    if state.info & bits::SINGLE != 0 {
        return match (state.info >> 8) as u8 == byte {
            true => target(file, state.next),
            false => Some(Next::Dead),
        };
    }
    if state.info & bits::ROW == 0 {
        return None;
    }
    let Row { starts, targets } = row(file, state.next)?;
    let place = starts.iter().take_while(|&&start| start <= byte).count().checked_sub(1)?;
    target(file, word(targets, place * 4)?)
}

/// The destination of a token that token edges take, combining its bytes and token edges; `None` if it was not
/// explored.
pub(super) fn after_token(file: &Container, state: State, token: u32) -> Option<Next> {
    if state.token_edges == NONE {
        return None;
    }
    let edges = token_edges(file, state.token_edges)?;
    let at = |place: usize| word(edges, place * 8);
    let (mut low, mut high) = (0, edges.len() / 8);
    while low < high {
        let middle = low + (high - low) / 2;
        if at(middle)? < token { low = middle + 1 } else { high = middle }
    }
    (at(low)? == token).then(|| target(file, word(edges, low * 8 + 4)?)).flatten()
}

/// The states that a state's bytes lead to, each with a byte that leads there.
pub(super) fn byte_successors(file: &Container, state: State) -> impl Iterator<Item = (u8, u32)> + '_ {
    let single = Some(state).filter(|state| state.info & bits::SINGLE != 0);
    let single = single.map(|state| ((state.info >> 8) as u8, state.next));
    let row = Some(state).filter(|state| state.info & bits::ROW != 0).and_then(|state| row(file, state.next));
    let runs = row.into_iter().flat_map(|row| row.starts.iter().copied().zip(numbers(row.targets)));
    single.into_iter().chain(runs).filter(|&(_, to)| matches!(target(file, to), Some(Next::State(_))))
}

/// The states that a state's token edges lead to, each with its token.
pub(super) fn token_successors(file: &Container, state: State) -> impl Iterator<Item = (u32, u32)> + '_ {
    let list = Some(state.token_edges).filter(|&list| list != NONE);
    let edges = list.and_then(|list| token_edges(file, list)).unwrap_or_default();
    let edges = edges.as_chunks::<8>().0.iter().filter_map(|edge| Some((word(edge, 0)?, word(edge, 4)?)));
    edges.filter(|&(_, to)| matches!(target(file, to), Some(Next::State(_))))
}

/// The bytes of the list of token edges at a place, in words of its section: for each edge a token and a target. `None`
/// if the list cannot be read.
pub(super) fn token_edges(file: &Container, list: u32) -> Option<&[u8]> {
    let at = (list as usize).checked_mul(4)?;
    let count = word(file.part(Section::TokenEdges, at, 4)?, 0)? as usize;
    file.part(Section::TokenEdges, at + 4, count.checked_mul(8)?)
}

/// Runs of bytes with one successor each: the first byte of each run, and the successors.
pub(super) struct Row<'a> {
    pub(super) starts: &'a [u8],
    pub(super) targets: &'a [u8],
}

#[inline]
pub(super) fn row(file: &Container, at: u32) -> Option<Row<'_>> {
    let at = (at as usize).checked_mul(4)?;
    let count = word(file.part(Section::Rows, at, 4)?, 0)? as usize;
    if count > 256 {
        return None;
    }
    let starts = count.next_multiple_of(4);
    let row = file.part(Section::Rows, at + 4, starts + count * 4)?;
    Some(Row { starts: &row[..count], targets: &row[starts..] })
}

/// A mask as encoded in the file.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Form<'a> {
    /// Exactly these tokens.
    List(Ids<'a>),
    /// All tokens except these.
    AllBut(Ids<'a>),
    /// The tokens of shared words `words`, without `removed` and with `added`.
    Near { words: u32, removed: Ids<'a>, added: Ids<'a> },
}

impl Form<'_> {
    /// Encodes the mask for another file, in which its shared words have the id `words`.
    pub(super) fn to_bytes(self, words: u32) -> Vec<u8> {
        let len = |ids: Ids<'_>| (ids.0.len() / 4) as u32;
        let (head, lists) = match self {
            Form::List(ids) => (vec![form::LIST, len(ids)], vec![ids]),
            Form::AllBut(ids) => (vec![form::ALL_BUT, len(ids)], vec![ids]),
            Form::Near { removed, added, .. } => {
                (vec![form::NEAR, words, len(removed), len(added)], vec![removed, added])
            }
        };
        let mut bytes: Vec<u8> = head.iter().flat_map(|word| word.to_le_bytes()).collect();
        lists.iter().for_each(|ids| bytes.extend_from_slice(ids.0));
        bytes
    }
}

/// Token ids as encoded in the file: little-endian words.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ids<'a>(&'a [u8]);

impl Ids<'_> {
    /// Decodes the tokens; `None` unless they are strictly ascending and below the width.
    pub(crate) fn read(self, width: usize) -> Option<Vec<u32>> {
        let ids: Vec<u32> = numbers(self.0).collect();
        are_ids(&ids, width).then_some(ids)
    }
}

/// Whether tokens are strictly ascending and below the width.
pub(super) fn are_ids(ids: &[u32], width: usize) -> bool {
    ids.is_sorted_by(|one, other| one < other) && ids.last().is_none_or(|&last| (last as usize) < width)
}

/// Decodes little-endian words; bytes after the last whole word are ignored.
pub(super) fn numbers(bytes: &[u8]) -> impl Iterator<Item = u32> + '_ {
    bytes.as_chunks::<4>().0.iter().map(|&word| u32::from_le_bytes(word))
}

/// The forms of masks, by the first word of a mask.
pub(super) mod form {
    pub(in crate::mask_file) const LIST: u32 = 1;
    pub(in crate::mask_file) const ALL_BUT: u32 = 2;
    pub(in crate::mask_file) const NEAR: u32 = 3;
}

pub(super) fn mask_count(file: &Container) -> usize {
    file.section_len(Section::MaskPlaces) / 4
}

/// The start of a mask, in words of the section of masks.
pub(super) fn mask_place(file: &Container, id: u32) -> Option<u32> {
    word(file.part(Section::MaskPlaces, (id as usize).checked_mul(4)?, 4)?, 0)
}

/// The words of the mask at a place, in words of the section of masks; `None` if the mask cannot be read or has more
/// than `room` bytes. `part` returns bytes of a section, or `None` if they are not available.
///
/// # Errors
/// Those of `part`.
pub(super) fn record<'a>(
    part: &impl Fn(Section, usize, usize) -> Result<Option<Cow<'a, [u8]>>>,
    place: u32,
    room: usize,
) -> Result<Option<Vec<u32>>> {
    let Some(at) = (place as usize).checked_mul(4) else { return Ok(None) };
    let Some(head) = part(Section::Masks, at, 8)? else { return Ok(None) };
    let (kind, second) = (word(&head, 0), word(&head, 4).map_or(0, |count| count as usize));
    let len = match kind {
        Some(form::LIST | form::ALL_BUT) => second.checked_add(2),
        Some(form::NEAR) => {
            let Some(counts) = part(Section::Masks, at + 8, 8)? else { return Ok(None) };
            let count = |at: usize| word(&counts, at).map_or(0, |count| count as usize);
            count(0).checked_add(count(4)).and_then(|count| count.checked_add(4))
        }
        _ => None,
    };
    let Some(len) = len.and_then(|len| len.checked_mul(4)).filter(|&len| len <= room) else {
        return Ok(None);
    };
    let record = part(Section::Masks, at, len)?;
    Ok(record.map(|record| numbers(&record).collect()))
}

/// Reads a mask, if the file has it.
pub(super) fn mask(file: &Container, id: u32) -> Option<Form<'_>> {
    let at = (mask_place(file, id)? as usize).checked_mul(4)?;
    let head = file.part(Section::Masks, at, 8)?;
    let (form, second) = (word(head, 0)?, word(head, 4)?);
    let ids = |at: usize, count: u32| {
        let len = (count as usize).checked_mul(4)?;
        Some(Ids(file.part(Section::Masks, at, len)?))
    };
    match form {
        form::LIST => Some(Form::List(ids(at + 8, second)?)),
        form::ALL_BUT => Some(Form::AllBut(ids(at + 8, second)?)),
        form::NEAR => {
            let counts = file.part(Section::Masks, at + 8, 8)?;
            let removed = ids(at + 16, word(counts, 0)?)?;
            let added = ids(at + 16 + removed.0.len(), word(counts, 4)?)?;
            Some(Form::Near { words: second, removed, added })
        }
        _ => None,
    }
}

/// The form of a mask, even if the rest of the mask cannot be read.
pub(super) fn form_of(file: &Container, id: u32) -> Option<u32> {
    let at = (mask_place(file, id)? as usize).checked_mul(4)?;
    word(file.part(Section::Masks, at, 4)?, 0)
}

/// The number of sets of shared words, each of the length of a mask.
pub(super) fn words_count(file: &Container) -> usize {
    file.section_len(Section::Words) / (file.width().div_ceil(32) * 4).max(4)
}

/// Reads shared words; `None` if they are not within the section of words, if one of their blocks has a wrong
/// checksum, or if a bit at or above the width of the vocabulary is set.
pub(super) fn words(file: &Container, id: u32) -> Option<Vec<u32>> {
    let (width, len) = (file.width(), file.width().div_ceil(32) * 4);
    let bytes = file.part(Section::Words, (id as usize).checked_mul(len)?, len)?;
    are_words(bytes, width).then(|| numbers(bytes).collect())
}

/// Whether bytes are shared words, without a set bit at or above the width of the vocabulary. False for no bytes.
pub(super) fn are_words(bytes: &[u8], width: usize) -> bool {
    let last = bytes.len().checked_sub(4).and_then(|at| word(bytes, at));
    last.is_some_and(|last| width.is_multiple_of(32) || last >> (width % 32) == 0)
}
