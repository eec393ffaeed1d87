//! Extracting a file from an archive.

use super::member::OWN;
use crate::error::Result;
use crate::mask_file::assemble::assemble;
use crate::mask_file::graph::{self, form};
use crate::mask_file::header::{Header, Section};
use rustc_hash::FxHashMap;
use std::borrow::Cow;

/// A file that was extracted from an archive.
pub(super) struct Taken {
    pub(super) bytes: Vec<u8>,
    /// The place in the archive of the first part that could not be read and is missing.
    pub(super) missing: Option<usize>,
}

/// In place of an unreadable mask: no form has the number 0.
const UNREADABLE: [u32; 2] = [0, 0];

/// Extracts the file with the sections of `header`; its masks and words are in the sections of the archive. `part`
/// returns bytes of a section, or `None` if they are not available. `room` bounds the bytes of masks and words: a mask
/// counts as not available if its own bytes, or those of its words, are more than the earlier ones leave.
///
/// # Errors
/// Those of `part`.
pub(super) fn take<'a>(
    header: &Header,
    part: impl Fn(Section, usize, usize) -> Result<Option<Cow<'a, [u8]>>>,
    room: usize,
) -> Result<Taken> {
    let mut missing = None;
    let mut own: Vec<(Section, Cow<'a, [u8]>)> = Vec::new();
    for section in OWN {
        let place = &header.sections[section as usize];
        let bytes = part(section, 0, place.len())?;
        if bytes.is_none() {
            missing = missing.or(Some(place.start));
        }
        own.push((section, bytes.unwrap_or_default()));
    }
    let places = own.iter().find(|(section, _)| *section == Section::MaskPlaces);
    let places: Vec<u32> = places
        .map(|(_, places)| places.as_chunks::<4>().0.iter().map(|&place| u32::from_le_bytes(place)).collect())
        .unwrap_or_default();
    let words_len = header.width.div_ceil(32) * 4;
    let (mut masks, mut words): (Vec<u32>, Vec<u8>) = (Vec::new(), Vec::new());
    let (mut new_places, mut known) = (Vec::new(), FxHashMap::default());
    let mut new_words: FxHashMap<u32, u32> = FxHashMap::default();
    for place in places {
        if let Some(&known) = known.get(&place) {
            new_places.push(known);
            continue;
        }
        let left = room.saturating_sub(masks.len() * 4 + words.len());
        let mut record = graph::record(&part, place, left)?;
        if let Some([form::NEAR, shared, ..]) = record.as_deref_mut() {
            let next = new_words.len() as u32;
            match new_words.get(shared) {
                Some(&known) => *shared = known,
                None => {
                    let at = (*shared as usize).saturating_mul(words_len);
                    match part(Section::Words, at, words_len)?.filter(|found| found.len() <= left) {
                        Some(found) => {
                            words.extend_from_slice(&found);
                            new_words.insert(*shared, next);
                            *shared = next;
                        }
                        None => record = None,
                    }
                }
            }
        }
        let new_place = masks.len() as u32;
        match record {
            Some(record) => masks.extend(record),
            None => {
                let start = header.sections[Section::Masks as usize].start;
                missing = missing.or(Some(start.saturating_add(place as usize * 4)));
                masks.extend(UNREADABLE);
            }
        }
        known.insert(place, new_place);
        new_places.push(new_place);
    }
    let bytes = |words: &[u32]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
    let (new_places, masks) = (bytes(&new_places), bytes(&masks));
    let sections = Section::ALL[..8].iter().map(|&section| match section {
        Section::MaskPlaces => (section, &new_places[..]),
        Section::Masks => (section, &masks[..]),
        Section::Words => (section, &words[..]),
        _ => (section, own.iter().find(|own| own.0 == section).map_or(&[][..], |own| &*own.1)),
    });
    let sections: Vec<(Section, &[u8])> = sections.collect();
    Ok(Taken { bytes: assemble(header.fingerprint, header.width, &sections), missing })
}
