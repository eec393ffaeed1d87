//! Checks of all states, rows and masks of a file, at a cost bounded by the length of the file.

use super::codec::word;
use super::container::Container;
use super::errors;
use super::graph::{self, NONE, Row, State, UNEXPLORED, are_ids, bits, form};
use super::header::Section;
use crate::error::Result;
use std::borrow::Cow;

/// Maximum number of bytes that a check reads per byte of the file. In files written by this crate rows, lists and
/// masks do not overlap, and each is read once. Only files of an archive that share a part of their graphs are read
/// more often.
const MOST: usize = 32;

/// A set of visited places of a section: one bit per word of the section.
#[derive(Debug)]
struct Visited(Vec<u64>);

impl Visited {
    /// An empty set for a section of this many bytes.
    fn of(section_bytes: usize) -> Visited {
        Visited(vec![0; section_bytes.div_ceil(4).div_ceil(64)])
    }

    /// Marks a place and returns whether it was new. Places beyond the last bit are always new.
    fn is_new(&mut self, place: u32) -> bool {
        let Some(word) = self.0.get_mut(place as usize / 64) else { return true };
        let bit = 1 << (place % 64);
        let is_new = *word & bit == 0;
        *word |= bit;
        is_new
    }
}

/// A check of a file or an archive.
#[derive(Debug)]
pub(super) struct Check {
    /// Number of bytes that may be read.
    most: usize,
    /// Number of bytes charged so far.
    done: usize,
    masks: Visited,
    words: Visited,
}

impl Check {
    /// A check of a file or archive of `bytes` bytes, whose sections of masks and of shared words have `masks` and
    /// `words` bytes.
    pub(super) fn new(bytes: usize, masks: usize, words: usize) -> Check {
        let most = bytes.saturating_mul(MOST);
        Check { most, done: 0, masks: Visited::of(masks), words: Visited::of(words) }
    }

    /// Charges bytes that will be read for the state, mask or file with number `id`.
    ///
    /// # Errors
    /// `mask-file/impossible` if more than [`MOST`] bytes per byte of the file were charged: then parts of the file
    /// overlap.
    pub(super) fn charge(&mut self, bytes: usize, what: &str, id: usize) -> Result<()> {
        self.done = self.done.saturating_add(bytes);
        if self.done > self.most { Err(errors::overlapping(what, id, self.most)) } else { Ok(()) }
    }

    /// Checks the states of a file, their rows and their token edges.
    ///
    /// # Errors
    /// `mask-file/impossible` if a state, a row or a list of token edges is invalid, or if parts overlap.
    pub(super) fn states(&mut self, file: &Container) -> Result<()> {
        let mut rows = Visited::of(file.section_len(Section::Rows));
        let mut lists = Visited::of(file.section_len(Section::TokenEdges));
        for id in 0..graph::state_count(file) {
            self.charge(graph::STATE, "state", id)?;
            let state = graph::state(file, id as u32).ok_or_else(|| errors::impossible("state", id))?;
            if let Some(what) = wrong_with(file, state) {
                return Err(errors::impossible(what, id));
            }
            if state.has_row() && rows.is_new(state.next) {
                let bytes = row_bytes(file, state.next);
                self.charge(bytes.ok_or_else(|| errors::impossible("the row of state", id))?, "state", id)?;
            }
            if state.token_edges != NONE && lists.is_new(state.token_edges) {
                let bytes = token_edges_bytes(file, state.token_edges);
                let impossible = || errors::impossible("the token edges of state", id);
                self.charge(bytes.ok_or_else(impossible)?, "state", id)?;
            }
        }
        Ok(())
    }

    /// Checks the masks of a file, and the shared words that they refer to. `part` returns bytes of the sections of
    /// masks and words.
    ///
    /// # Errors
    /// `mask-file/impossible` if a mask or its shared words are invalid, or if parts overlap; those of `part`.
    pub(super) fn masks<'a>(
        &mut self,
        file: &Container,
        part: impl Fn(Section, usize, usize) -> Result<Option<Cow<'a, [u8]>>>,
    ) -> Result<()> {
        let width = file.width();
        for id in 0..graph::mask_count(file) {
            self.charge(4, "mask", id)?;
            let impossible = || errors::impossible("mask", id);
            let place = graph::mask_place(file, id as u32).ok_or_else(impossible)?;
            if !self.masks.is_new(place) {
                continue;
            }
            let room = self.masks.0.len().saturating_mul(64 * 4);
            let record = graph::record(&part, place, room)?.ok_or_else(impossible)?;
            self.charge(record.len() * 4, "mask", id)?;
            let in_order = match record.as_slice() {
                [form::LIST | form::ALL_BUT, _, ids @ ..] => are_ids(ids, width),
                [form::NEAR, words, removed, _, ids @ ..] => {
                    let (removed, added) = ids.split_at((*removed as usize).min(ids.len()));
                    self.shared_words(*words as usize, width, &part)?;
                    are_ids(removed, width) && are_ids(added, width)
                }
                _ => false,
            };
            if !in_order {
                return Err(impossible());
            }
        }
        Ok(())
    }

    /// Checks the shared words with number `id`, unless they were checked before.
    ///
    /// # Errors
    /// `mask-file/impossible` if the words are invalid or cannot be read, or if parts overlap; those of `part`.
    pub(super) fn shared_words<'a>(
        &mut self,
        id: usize,
        width: usize,
        part: impl Fn(Section, usize, usize) -> Result<Option<Cow<'a, [u8]>>>,
    ) -> Result<()> {
        let place = u32::try_from(id).unwrap_or(u32::MAX);
        if !self.words.is_new(place) {
            return Ok(());
        }
        let len = width.div_ceil(32) * 4;
        self.charge(len, "shared words", id)?;
        let words = part(Section::Words, id.saturating_mul(len), len)?;
        match words.is_some_and(|words| graph::are_words(&words, width)) {
            true => Ok(()),
            false => Err(errors::impossible("shared words", id)),
        }
    }
}

/// Whether a number is a valid target: a state of the file, dead or unexplored.
fn is_target(file: &Container, number: u32) -> bool {
    number == UNEXPLORED || graph::target(file, number).is_some()
}

/// Says which part of a state is impossible, if any. Rows and token edges are not examined.
fn wrong_with(file: &Container, state: State) -> Option<&'static str> {
    let both = bits::SINGLE | bits::ROW;
    if state.info & !bits::ALL != 0 || state.info & both == both {
        return Some("a state");
    }
    if state.info & bits::SINGLE != 0 && !is_target(file, state.next) {
        return Some("the successor of the state");
    }
    match state.mask() {
        Some(mask) if mask as usize >= graph::mask_count(file) => Some("the mask of state"),
        _ => None,
    }
}

/// The bytes of a row's starts and targets; `None` if the row is invalid.
fn row_bytes(file: &Container, at: u32) -> Option<usize> {
    let Row { starts, targets } = graph::row(file, at)?;
    let in_order = starts.first() == Some(&0) && starts.is_sorted_by(|one, other| one < other);
    let is_right = in_order && graph::numbers(targets).all(|target| is_target(file, target));
    is_right.then_some(starts.len() + targets.len())
}

/// The bytes of the edges of a list of token edges; `None` if the list is invalid.
fn token_edges_bytes(file: &Container, list: u32) -> Option<usize> {
    let edges = graph::token_edges(file, list)?;
    let mut last = None;
    for edge in edges.as_chunks::<8>().0 {
        let (token, to) = (word(edge, 0)?, word(edge, 4)?);
        if last.is_some_and(|last| last >= token) || !is_target(file, to) {
            return None;
        }
        last = Some(token);
    }
    last.is_none_or(|last| (last as usize) < file.width()).then_some(edges.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mask_file::MaskFile;
    use crate::mask_file::assemble::assemble;

    fn bytes(words: impl IntoIterator<Item = u32>) -> Vec<u8> {
        words.into_iter().flat_map(u32::to_le_bytes).collect()
    }

    /// Checks a file with these sections; returns the bytes read, the file's length, and the result.
    fn checked(width: usize, sections: &[(Section, Vec<u8>)]) -> (usize, usize, Result<()>) {
        let sections: Vec<(Section, &[u8])> =
            sections.iter().map(|(section, all)| (*section, &**all)).collect();
        let file = MaskFile::from_bytes(assemble([0; 32], width, &sections)).unwrap();
        let len = |section| file.file.section_len(section);
        let mut check = Check::new(file.len(), len(Section::Masks), len(Section::Words));
        let part = |section, at, len| Ok(file.file.part(section, at, len).map(Cow::Borrowed));
        let found = check.states(&file.file).and_then(|()| check.masks(&file.file, part));
        assert_eq!(file.check().is_ok(), found.is_ok());
        (check.done, file.len(), found)
    }

    const COUNT: u32 = 4000;

    #[test]
    fn what_many_entries_share_is_read_once() {
        let ids = || 0..COUNT;
        let states = ids().flat_map(|_| [bits::ROW, 0, NONE, 0]).collect::<Vec<u32>>();
        let edges = [COUNT].into_iter().chain(ids().flat_map(|id| [id, id])).collect::<Vec<u32>>();
        let list = [form::LIST, COUNT].into_iter().chain(ids()).collect::<Vec<u32>>();
        let (done, len, found) = checked(
            COUNT as usize,
            &[
                (Section::States, bytes(states)),
                (Section::Rows, bytes([1, 0, 7])),
                (Section::TokenEdges, bytes(edges)),
                (Section::MaskPlaces, bytes(ids().map(|_| 0))),
                (Section::Masks, bytes(list)),
            ],
        );
        found.unwrap();
        // reading each list for each entry would take 2,000 times as much
        assert!(done <= len, "{done} of {len}");
    }

    #[test]
    fn parts_that_overlap_are_refused() {
        // a list of token edges begins at each target of the first list, which is the number of edges that follow
        let states = (0..COUNT).flat_map(|id| [0, 0, NONE, 2 * id]).collect::<Vec<u32>>();
        let edges = (0..COUNT).flat_map(|id| [COUNT - 1 - id, id]).collect::<Vec<u32>>();
        let sections = [(Section::States, bytes(states)), (Section::TokenEdges, bytes(edges))];
        let (done, len, found) = checked(COUNT as usize, &sections);
        let error = found.unwrap_err();
        assert_eq!(error.code(), "mask-file/impossible");
        assert!(error.to_string().contains("overlap"), "{error}");
        assert!(done <= (MOST + 1) * len, "{done} of {len}");
    }

    #[test]
    fn words_of_masks_are_checked() {
        let near = |ids: [u32; 2]| [form::NEAR, 0, 1, 1].into_iter().chain(ids);
        let check = |words: u32, ids: [u32; 2]| {
            let places = (Section::MaskPlaces, bytes([0]));
            checked(9, &[places, (Section::Masks, bytes(near(ids))), (Section::Words, bytes([words]))]).2
        };
        check(0x1ff, [8, 0]).unwrap();
        assert!(check(0x200, [8, 0]).is_err() && check(0, [9, 0]).is_err() && check(0, [0, 9]).is_err());
    }
}
