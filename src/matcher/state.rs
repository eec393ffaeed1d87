//! The fields of a matcher, and the critical section in which a matcher computes unknown steps and masks.

use super::open_parts::Parts;
use super::path::{self, Path};
use super::promises::Promises;
use crate::automaton::ConfigurationId;
use crate::automaton::keys::tracker::KeyTracker;
use crate::diagnostic::Place;
use crate::error::Result;
use crate::limits::LimitKind;
use crate::mask::{CompiledGrammar, MaskCache};
use std::fmt;

/// The state of one sequence under a [`CompiledGrammar`]: the accepted steps, which determine the next mask.
#[derive(Clone)]
pub struct Matcher {
    pub(super) compiled: CompiledGrammar,
    pub(super) path: Path,
    pub(super) promises: Promises,
    pub(super) parts: Parts,
}

/// The data that a matcher can access under the engine's lock.
pub(super) struct Locked<'a> {
    pub(super) compiled: &'a CompiledGrammar,
    pub(super) cache: &'a mut MaskCache,
    pub(super) path: &'a mut Path,
    pub(super) names: &'a mut KeyTracker,
}

impl fmt::Debug for Matcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Matcher")
            .field("steps", &self.path.step_count())
            .field("bytes", &self.path.byte_count())
            .field("compiled", &self.compiled)
            .finish_non_exhaustive()
    }
}

impl AsMut<Matcher> for Matcher {
    fn as_mut(&mut self) -> &mut Matcher {
        self
    }
}

impl Matcher {
    /// Calls `work` with the current configuration, under the engine's lock. If the tables are too full for `work`,
    /// they are dropped, the configuration is recomputed, and `work` is called again; it is called at most three times.
    /// So `work` must make its changes as its last action.
    pub(super) fn with_lock<R>(
        &mut self,
        mut work: impl FnMut(&mut Locked<'_>, ConfigurationId) -> Result<R>,
    ) -> Result<R> {
        let (compiled, path) = (&self.compiled, &mut self.path);
        let names = path.names();
        let mut cache = compiled.cache();
        if cache.memory_usage() > compiled.automaton().cache_bytes() {
            cache = compiled.emptied(cache);
        }
        let mut attempt = |cache: &mut MaskCache| {
            let mut names = path::lock(&names);
            let at = path.find(compiled, cache)?;
            let at = cache.id(at)?;
            work(&mut Locked { compiled, cache, path, names: &mut names }, at)
        };
        let is_full = |result: &Result<R>| {
            result.as_ref().is_err_and(|error| error.limit() == Some(LimitKind::CacheBytes))
        };
        let is_fresh = |cache: &MaskCache| cache.tables.configuration_count() <= 1;
        let mut was_fresh = is_fresh(&cache);
        let mut result = attempt(&mut cache);
        if !was_fresh && is_full(&result) {
            cache = compiled.emptied(cache);
            was_fresh = is_fresh(&cache);
            result = attempt(&mut cache);
        }
        // `emptied` released the lock, so other threads may have filled the tables again; this reset keeps the lock
        let mut old = None;
        if !was_fresh && is_full(&result) {
            old = Some(cache.reset());
            result = attempt(&mut cache);
        }
        compiled.release(cache);
        drop(old);
        result.map_err(|error| error.or_at(&Place::Byte(path.byte_count())))
    }
}

/// Whether bounds of parts may still matter for the text. False if the grammar has none, or once no part is open
/// and none can follow.
#[inline]
pub(super) fn is_bounded(m: &Matcher) -> bool {
    m.compiled.has_parts() && !m.parts.are_free()
}

/// Whether the text may end, and whether it cannot be extended, according to the readings. `None` if the readings
/// after the last step are not known, or no bounds matter.
pub(super) fn bounded_end(m: &Matcher) -> Option<(bool, bool)> {
    let node = m.parts.last.as_ref().filter(|node| node.steps == m.path.step_count())?;
    let readings = node.readings.as_ref()?;
    let may_end = readings.iter().any(|reading| reading.at.is_accepting());
    Some((may_end, may_end && readings.iter().all(|reading| reading.at.is_final())))
}

/// Ends the text if the text is a word and has not ended. Returns whether this call ended it.
pub(super) fn accept_end(m: &mut Matcher) -> bool {
    let may_end = !m.path.has_ended() && is_accepting(m);
    if may_end {
        m.path.push_end();
    }
    may_end
}

pub(super) fn is_accepting(m: &Matcher) -> bool {
    bounded_end(m).map_or_else(|| m.path.at().is_accepting(), |(may_end, _)| may_end)
}

pub(super) fn is_finished(m: &Matcher) -> bool {
    m.path.has_ended() || bounded_end(m).map_or_else(|| m.path.at().is_final(), |(_, is_last)| is_last)
}
