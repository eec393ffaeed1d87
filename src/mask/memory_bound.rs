//! A memory bound shared by the tables of many grammars.

use std::fmt::Debug;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// A bound on the total memory of the tables and masks of compiled grammars, of one compiler or several: see
/// [`Compiler::within`](crate::Compiler::within). Clones share the bound.
///
/// Each grammar also respects [`Limits::cache_bytes`](crate::Limits::cache_bytes) on its own. When the bound is
/// exceeded, the tables of the least recently used grammars are dropped as a whole, and computed again when needed. No
/// mask changes and no sequence stops. A grammar is used when a sequence reads its tables or adds to them. The excess
/// is at most the size of the grammars that add something concurrently. Grammars, automata and
/// mask files are not counted.
#[derive(Clone, Debug)]
pub struct MemoryBound(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    most: usize,
    used: AtomicUsize,
    /// The number of times so far that a grammar has added to its tables.
    clock: AtomicU64,
    /// The clock value at which the readers' marks are checked next.
    next_check: AtomicU64,
    tenants: Mutex<Vec<Weak<dyn Tenant>>>,
}

/// Readers' marks are checked after this many additions to tables, plus one per grammar.
const CHECK_AFTER: u64 = 64;

/// An owner of tables that can be dropped.
pub(super) trait Tenant: Debug + Send + Sync {
    /// The owner's share of the bound.
    fn share(&self) -> &Share;

    /// Whether the owner's tables were read since the last call of this function.
    fn was_read(&self) -> bool;

    /// Drops the owner's tables, unless another thread is working on them.
    fn drop_tables(&self);
}

/// The bytes of one grammar under the bound. Dropping the share subtracts them.
#[derive(Debug)]
pub(super) struct Share {
    bound: Option<MemoryBound>,
    bytes: AtomicUsize,
    /// The clock value of the last addition.
    made_at: AtomicU64,
    /// A bit for each of the last 64 checks of readers' marks: whether the tables were read since the check before. The
    /// highest bit is the latest check.
    uses: AtomicU64,
}

impl MemoryBound {
    /// Creates a bound, in bytes.
    pub fn new(bytes: usize) -> MemoryBound {
        let (used, clock, tenants) = Default::default();
        MemoryBound(Arc::new(Shared {
            most: bytes,
            used,
            clock,
            next_check: AtomicU64::new(CHECK_AFTER),
            tenants,
        }))
    }

    /// Bytes of the tables and masks of all grammars under the bound. The bytes of each grammar are updated when it
    /// adds something or drops its tables.
    pub fn used(&self) -> usize {
        self.0.used.load(Ordering::Relaxed)
    }

    /// The bound in bytes.
    pub fn most(&self) -> usize {
        self.0.most
    }

    /// Registers an owner of tables.
    pub(super) fn add(&self, tenant: Weak<dyn Tenant>) {
        // no panic can interrupt a change under this lock
        let mut tenants = self.0.tenants.lock().unwrap_or_else(PoisonError::into_inner);
        if tenants.len() == tenants.capacity() {
            tenants.retain(|tenant| tenant.strong_count() > 0);
        }
        tenants.push(tenant);
    }

    /// Records which tables were read since the last check. Readers only set a mark, so the order of uses is
    /// approximate (the aging algorithm of page replacement). Returns all owners; `None` if another thread is checking
    /// or registers an owner.
    fn check_marks(&self, now: u64) -> Option<Vec<Arc<dyn Tenant>>> {
        let mut tenants = self.0.tenants.try_lock().ok()?;
        tenants.retain(|tenant| tenant.strong_count() > 0);
        let all: Vec<Arc<dyn Tenant>> = tenants.iter().filter_map(Weak::upgrade).collect();
        self.0.next_check.store(now + CHECK_AFTER + all.len() as u64, Ordering::Relaxed);
        for tenant in &all {
            let uses = &tenant.share().uses;
            let last = u64::from(tenant.was_read()) << 63;
            uses.store(uses.load(Ordering::Relaxed) >> 1 | last, Ordering::Relaxed);
        }
        Some(all)
    }

    /// Drops tables until an eighth of the bound is free, least recently used ones first, never those of `user`. Does
    /// nothing if another thread is checking marks or registers an owner.
    fn shrink(&self, user: &Share, now: u64) {
        let Some(mut others) = self.check_marks(now) else { return };
        others.retain(|tenant| !std::ptr::eq(tenant.share(), user));
        others.sort_by_cached_key(|tenant| tenant.share().last_used());
        for tenant in others {
            if self.used() <= self.0.most - self.0.most / 8 {
                break;
            }
            tenant.drop_tables();
        }
    }
}

impl Share {
    /// The bound, if there is one.
    pub(super) fn bound(&self) -> Option<&MemoryBound> {
        self.bound.as_ref()
    }

    pub(super) fn new(bound: Option<MemoryBound>) -> Share {
        let (bytes, made_at, uses) = Default::default();
        Share { bound, bytes, made_at, uses }
    }

    /// A sort key that is greater for tables used more recently.
    fn last_used(&self) -> (u64, u64) {
        (self.uses.load(Ordering::Relaxed), self.made_at.load(Ordering::Relaxed))
    }

    /// Whether the bound is reached; false without a bound.
    pub(super) fn is_full(&self) -> bool {
        self.bound.as_ref().is_some_and(|bound| bound.used() >= bound.0.most)
    }

    /// Updates the bytes of the share. The caller holds the lock of the grammar, so only one thread does so at a time.
    pub(super) fn set(&self, bytes: usize) {
        let Some(bound) = &self.bound else { return };
        let before = self.bytes.swap(bytes, Ordering::Relaxed);
        // the sum is modular, so a negative difference wraps correctly
        bound.0.used.fetch_add(bytes.wrapping_sub(before), Ordering::Relaxed);
    }

    /// Records that the grammar has added to its tables, and drops tables of other grammars if the bound is exceeded.
    /// The caller must not hold a lock that an owner waits for.
    pub(super) fn make_room(&self) {
        if let Some(bound) = &self.bound {
            let now = bound.0.clock.fetch_add(1, Ordering::Relaxed);
            self.made_at.store(now, Ordering::Relaxed);
            if bound.used() > bound.0.most {
                bound.shrink(self, now);
            } else if now >= bound.0.next_check.load(Ordering::Relaxed) {
                bound.check_marks(now);
            }
        }
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.set(0);
    }
}
