//! The search for a least completion.

use super::bounds::Estimates;
use crate::automaton::run::configuration::ConfigurationId;
use crate::automaton::run::lazy::Lazy;
use crate::error::Result;
use crate::grammar::ByteSet;
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::hash::Hash;

/// Bytes after which a text is a word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Completion {
    pub(crate) bytes: Vec<u8>,
    /// Whether there is no shorter one.
    pub(crate) is_least: bool,
}

/// What a search found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    Completion(Completion),
    /// There is none.
    Nothing,
    /// None among the places that were examined.
    GaveUp,
}

/// What a search goes through.
pub(crate) trait Space {
    type Place: Copy + Eq + Hash;

    /// A lower bound on the bytes to a word; 0 where the text is one.
    fn estimate(&mut self, place: Self::Place) -> Result<u32>;

    /// Whether the text is a word.
    fn is_word(&self, place: Self::Place) -> bool;

    /// The places after one more byte, each with such a byte, in the order of bytes. `since` are the bytes that led to
    /// the place from where the search began.
    fn next(
        &mut self,
        place: Self::Place,
        since: &dyn Fn() -> Vec<u8>,
        next: &mut Vec<(u8, Self::Place)>,
    ) -> Result<()>;
}

struct Reached<P> {
    place: P,
    from: usize,
    byte: u8,
    bytes: u32,
}

/// A* from a place, of `patience` places at most. Then, up to `limit` places in all, those first from which there is the
/// least to go.
/// Of equals the later one in the text comes first, and then the one that was reached first: what is found depends on
/// neither ids nor what was searched for before. `searched` counts the places.
///
/// # Errors
/// Those of the space.
pub(crate) fn search<S: Space>(
    space: &mut S,
    from: S::Place,
    (patience, limit): (usize, usize),
    searched: &mut usize,
) -> Result<Found> {
    let mut reached = vec![Reached { place: from, from: 0, byte: 0, bytes: 0 }];
    let mut best: FxHashMap<S::Place, u32> = FxHashMap::from_iter([(from, 0)]);
    let first = space.estimate(from)?;
    let mut open = BinaryHeap::from([Reverse((first, Reverse(0u32), 0usize))]);
    let (mut next, mut examined, mut hurries) = (Vec::new(), 0, false);
    while let Some(Reverse((_, Reverse(bytes), id))) = open.pop() {
        let place = reached[id].place;
        // in a hurry, what is nearer is examined first and the way there may be long
        if !hurries && best[&place] < bytes {
            continue;
        }
        if space.is_word(place) {
            return Ok(Found::Completion(Completion { bytes: way(&reached, id), is_least: !hurries }));
        }
        examined += 1;
        *searched += 1;
        if examined > patience && !hurries {
            hurries = true;
            let rest = std::mem::take(&mut open);
            for Reverse((sum, Reverse(bytes), id)) in rest.into_iter().chain([Reverse((
                bytes.saturating_add(space.estimate(place)?),
                Reverse(bytes),
                id,
            ))]) {
                open.push(Reverse((sum.saturating_sub(bytes), Reverse(bytes), id)));
            }
            continue;
        }
        if examined > limit {
            return Ok(Found::GaveUp);
        }
        next.clear();
        space.next(place, &|| way(&reached, id), &mut next)?;
        for &(byte, after) in &next {
            let known = best.get(&after).copied().unwrap_or(u32::MAX);
            if bytes + 1 < known {
                best.insert(after, bytes + 1);
                let left = space.estimate(after)?;
                let sum = if hurries { left } else { left.saturating_add(bytes + 1) };
                open.push(Reverse((sum, Reverse(bytes + 1), reached.len())));
                reached.push(Reached { place: after, from: id, byte, bytes: bytes + 1 });
            }
        }
    }
    Ok(if hurries { Found::GaveUp } else { Found::Nothing })
}

/// The bytes that led to a place.
fn way<P>(reached: &[Reached<P>], mut id: usize) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(reached[id].bytes as usize);
    while id != 0 {
        bytes.push(reached[id].byte);
        id = reached[id].from;
    }
    bytes.reverse();
    bytes
}

/// The configurations of an automaton, over some bytes.
struct Configurations<'a, 'b> {
    lazy: &'a mut Lazy<'b>,
    estimates: &'a mut Estimates,
    usable: &'a ByteSet,
}

impl Space for Configurations<'_, '_> {
    type Place = ConfigurationId;

    fn estimate(&mut self, place: ConfigurationId) -> Result<u32> {
        self.estimates.of(self.lazy, place)
    }

    fn is_word(&self, place: ConfigurationId) -> bool {
        self.lazy.is_accepting(place)
    }

    fn next(
        &mut self,
        place: ConfigurationId,
        _: &dyn Fn() -> Vec<u8>,
        next: &mut Vec<(u8, ConfigurationId)>,
    ) -> Result<()> {
        let bytes = self.lazy.candidate_bytes(place).intersection(self.usable);
        let mut known = None;
        for byte in bytes.iter() {
            if known.is_some_and(|last| byte <= last) {
                continue;
            }
            let (after, last) = self.lazy.step_run(place, byte)?;
            known = Some(last);
            if after.is_ordinary() {
                next.push((byte, after));
            }
        }
        Ok(())
    }
}

impl Lazy<'_> {
    /// A least completion of a configuration of `usable` bytes; see [`search`].
    ///
    /// # Errors
    /// Limits.
    pub(crate) fn completion(
        &mut self,
        estimates: &mut Estimates,
        from: ConfigurationId,
        usable: &ByteSet,
        limit: usize,
        searched: &mut usize,
    ) -> Result<Found> {
        let limits = (limit, limit.saturating_mul(2));
        search(&mut Configurations { lazy: self, estimates, usable }, from, limits, searched)
    }
}
