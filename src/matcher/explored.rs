//! Reading a mask file along a path, and returning to it.
//!
//! A step has a place in the file, a configuration in the engine, or both. While bytes lead from place to place, the
//! engine is not used. If a text leaves the explored part, or if something other than steps and masks is needed, the
//! path recomputes its configuration from its bytes and tokens.

use super::keys;
use super::path::{Destination, Path, Way};
use super::state::{self, Locked, Matcher};
use crate::automaton::Facts;
#[cfg(feature = "testing")]
use crate::error::Result;
use crate::mask::{Base, BaseState, CompiledGrammar, Located, NameEnds, TokenMask};
use crate::vocabulary::TokenId;
use std::sync::Arc;

/// About how many edges are followed after each step of the engine to find places of the file.
const EDGES: usize = 64;

/// The configuration and the place in the mask file, if there is one, where a matcher begins.
pub(super) fn start(compiled: &CompiledGrammar) -> Destination {
    Destination { at: compiled.start(), base: compiled.base().map_or(BaseState::NONE, Base::start) }
}

/// A destination at a place of the file, with unknown configuration. `None` if the file has no such place.
#[inline]
fn reached(base: &Base, place: BaseState) -> Option<Destination> {
    let facts = base.facts(place)?;
    Some(Destination { at: Located::unknown(facts.is_accepting, facts.is_final), base: place })
}

/// The mask that the file has for the end of a path, ignoring the names of objects read so far. `None` if the file has
/// none.
#[inline]
pub(super) fn mask<'a>(compiled: &'a CompiledGrammar, path: &Path) -> Option<&'a Arc<TokenMask>> {
    compiled.base()?.mask(path.base())
}

/// The facts that the file has about the end of a path. `None` if the file has none.
#[inline]
pub(super) fn facts(compiled: &CompiledGrammar, path: &Path) -> Option<Facts> {
    compiled.base()?.facts(path.base())
}

/// Follows bytes from the end of a path in the file, ignoring names read so far. Returns `None` if the file does not
/// know the result. Otherwise returns the destination, which is `None` if the bytes are not allowed, and the indices of
/// the bytes that end names.
#[inline]
pub(super) fn run(
    compiled: &CompiledGrammar,
    path: &Path,
    bytes: &[u8],
) -> Option<(Option<Destination>, NameEnds)> {
    let base = compiled.base()?;
    let (end, names) = base.run(path.base(), bytes)?;
    match end {
        Some(end) => Some((Some(reached(base, end)?), names)),
        None => Some((None, names)),
    }
}

/// Accepts a token along token edges, if the file knows where they lead and no names are tracked. Returns whether the
/// token was accepted.
pub(super) fn accept_by_id(compiled: &CompiledGrammar, path: &mut Path, token: TokenId) -> bool {
    let took = || {
        let (base, vocabulary) = (compiled.base()?, compiled.vocabulary());
        // the engine tracks names, along bytes
        if path.has_ended() || !path.key_state().is_outside() {
            return None;
        }
        let bytes = vocabulary.bytes(token);
        let by_bytes = match bytes {
            Some(bytes) => base.run(path.base(), bytes).filter(|(_, names)| names.is_empty())?.0,
            None => None,
        };
        let to = base.after_token(path.base(), token)?;
        let is_end = compiled.is_end(token) && base.facts(to)?.is_accepting;
        let way = if by_bytes.is_some() { Way::Both(token) } else { Way::Token(token) };
        Some((bytes.unwrap_or_default(), reached(base, to)?, way, is_end))
    };
    let Some((bytes, at, way, is_end)) = took() else { return false };
    path.push_token(bytes, at, path.key_state(), way, is_end);
    true
}

impl Locked<'_> {
    /// A destination at a configuration of the engine, with its place in the file if that is known by now.
    pub(super) fn reached(&mut self, at: Located) -> Destination {
        if let Some(base) = self.compiled.base() {
            self.cache.find_base_states((self.compiled.automaton(), self.compiled.index()), base, EDGES);
        }
        Destination { at, base: self.cache.base_state(at) }
    }
}

pub(super) fn is_explored(m: &Matcher) -> bool {
    let free = m.path.key_state().is_outside() && !keys::holds_two_names(&m.compiled);
    let outside = free || !keys::needs_engine(&m.compiled);
    let has_mask = || m.compiled.base().is_some_and(|base| base.has_mask(m.path.base()));
    outside && !state::is_bounded(m) && (m.path.has_ended() || has_mask())
}

#[cfg(feature = "testing")]
pub(super) fn remembers(m: &mut Matcher) -> Result<(bool, bool)> {
    let names = !m.path.key_state().is_outside();
    let items = m.with_lock(|Locked { cache, .. }, at| {
        Ok(cache.tables.is_history_dependent(at) || cache.tables.remembers_items(at))
    })?;
    Ok((names, items))
}
