//! The parts of a matcher, and the critical section in which it computes unknown steps and masks.

use super::open_parts::Parts;
use super::path::{self, Path};
use super::promises::Promises;
use crate::attribution::{self, Cause};
use crate::automaton::ConfigurationId;
use crate::automaton::keys::tracker::KeyTracker;
use crate::diagnostic::Place;
use crate::error::Result;
use crate::limits::LimitKind;
use crate::mask::{CompiledGrammar, MaskCache};

/// One sequence under a [`CompiledGrammar`].
#[derive(Clone, Debug)]
pub struct Matcher {
    pub(super) compiled: CompiledGrammar,
    pub(super) path: Path,
    pub(super) promises: Promises,
    pub(super) parts: Parts,
}

/// What a matcher can access under the engine's lock.
pub(super) struct Locked<'a> {
    pub(super) compiled: &'a CompiledGrammar,
    pub(super) cache: &'a mut MaskCache,
    pub(super) path: &'a mut Path,
    pub(super) names: &'a mut KeyTracker,
}

impl AsMut<Matcher> for Matcher {
    fn as_mut(&mut self) -> &mut Matcher {
        self
    }
}

impl Matcher {
    /// The compiled grammar.
    pub fn compiled(&self) -> &CompiledGrammar {
        &self.compiled
    }

    /// The bytes accepted so far, as one copy.
    pub fn bytes(&self) -> Vec<u8> {
        self.path.bytes()
    }

    /// The number of bytes accepted so far.
    pub fn byte_count(&self) -> usize {
        self.path.byte_count()
    }

    /// The number of steps (tokens or byte strings) accepted so far, which can be rolled back.
    pub fn steps(&self) -> usize {
        self.path.step_count()
    }

    /// Runs `work` on the current configuration, under the engine's lock. If the tables are full, they are dropped, the
    /// configuration is recomputed, and the work is repeated with all the room: so `work` must make its changes as its
    /// last action.
    pub(super) fn with_lock<R>(
        &mut self,
        mut work: impl FnMut(&mut Locked<'_>, ConfigurationId) -> Result<R>,
    ) -> Result<R> {
        let _scope = attribution::enter(Cause::Locked);
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
        // other threads may have filled the tables meanwhile; this time the lock is held
        let mut old = None;
        if !was_fresh && is_full(&result) {
            let _scope = attribution::enter(Cause::Reset);
            old = Some(cache.reset());
            result = attempt(&mut cache);
        }
        compiled.release(cache);
        if old.is_some() {
            let _scope = attribution::enter(Cause::Reset);
            drop(old);
        }
        result.map_err(|error| error.or_at(&Place::Byte(path.byte_count())))
    }
}
