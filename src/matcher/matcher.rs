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
            .field("steps", &self.steps())
            .field("bytes", &self.byte_count())
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
    /// The compiled grammar that decides which tokens and bytes this matcher accepts.
    pub fn compiled(&self) -> &CompiledGrammar {
        &self.compiled
    }

    /// The bytes of all accepted steps, copied into one vector.
    pub fn bytes(&self) -> Vec<u8> {
        self.path.bytes()
    }

    /// The number of bytes accepted so far.
    pub fn byte_count(&self) -> usize {
        self.path.byte_count()
    }

    /// The number of steps accepted so far, which can be rolled back. A step is a token, including an end-of-sequence
    /// token, or a byte string.
    pub fn steps(&self) -> usize {
        self.path.step_count()
    }

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
