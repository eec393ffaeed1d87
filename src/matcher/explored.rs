//! What a matcher reads in a mask file, and how it comes back to one.
//!
//! A step has its place in the file, its configuration in the engine, or both. As long as bytes lead from place to place the
//! engine is not asked. Where they lead out of what was explored, or something else than steps and masks is asked, the
//! path finds its configuration by its bytes.

use super::keys;
use super::matcher::{Locked, Matcher};
use super::path::{Destination, Path, Way};
use crate::automaton::Facts;
#[cfg(feature = "testing")]
use crate::error::Result;
use crate::mask::{Base, BaseState, CompiledGrammar, Located, NameEnds, TokenMask};
use crate::vocabulary::TokenId;
use std::sync::Arc;

/// Each step that the engine makes looks for places in the file along at most this number of edges.
const EDGES: usize = 64;

/// Where a matcher begins.
pub(super) fn start(compiled: &CompiledGrammar) -> Destination {
    Destination { at: compiled.start(), base: compiled.base().map_or(BaseState::NONE, Base::start) }
}

/// A place of the file, whose configuration is not known.
#[inline]
fn reached(base: &Base, place: BaseState) -> Option<Destination> {
    let facts = base.facts(place)?;
    Some(Destination { at: Located::unknown(facts.is_accepting, facts.is_final), base: place })
}

/// The mask at the end of a path, names that came not regarded.
#[inline]
pub(super) fn mask<'a>(compiled: &'a CompiledGrammar, path: &Path) -> Option<&'a Arc<TokenMask>> {
    compiled.base()?.mask(path.base())
}

/// What is true of the end of a path.
#[inline]
pub(super) fn facts(compiled: &CompiledGrammar, path: &Path) -> Option<Facts> {
    compiled.base()?.facts(path.base())
}

/// Where bytes lead, nowhere included, if the file says it; and the places of the bytes with which names end.
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

/// Accepts a token that token edges take, if the file says where it leads.
pub(super) fn accept_by_id(compiled: &CompiledGrammar, path: &mut Path, token: TokenId) -> bool {
    let took = || {
        let (base, vocabulary) = (compiled.base()?, compiled.vocabulary());
        // names are followed along bytes, with the engine
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
    /// A configuration of the engine with the place in the file that it was found to be.
    pub(super) fn reached(&mut self, at: Located) -> Destination {
        if let Some(base) = self.compiled.base() {
            self.cache.find_base_states((self.compiled.automaton(), self.compiled.index()), base, EDGES);
        }
        Destination { at, base: self.cache.base_state(at) }
    }
}

impl Matcher {
    /// Whether the mask that comes next is read from a [mask file](crate::mask_file), and the engine is not asked: not where
    /// nothing was explored, nor where names of objects that came are to be left out.
    pub fn is_explored(&self) -> bool {
        let free = self.path.key_state().is_outside() && !keys::holds_two_names(&self.compiled);
        let outside = free || !keys::needs_engine(&self.compiled);
        let has_mask = || self.compiled.base().is_some_and(|base| base.has_mask(self.path.base()));
        outside && !self.is_bounded() && (self.path.has_ended() || has_mask())
    }

    /// What is remembered of the text that no mask file has: whether names of objects are, and whether items of a list that must
    /// differ are. For benches, which count such steps apart.
    ///
    /// # Errors
    /// Limits.
    #[cfg(feature = "testing")]
    #[doc(hidden)]
    pub fn remembers(&mut self) -> Result<(bool, bool)> {
        let names = !self.path.key_state().is_outside();
        let items = self.with_lock(|Locked { cache, .. }, at| {
            Ok(cache.tables.is_history_dependent(at) || cache.tables.remembers_items(at))
        })?;
        Ok((names, items))
    }
}
