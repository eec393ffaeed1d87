//! One bound of memory for the tables of many grammars.

use std::fmt::Debug;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// A bound on the memory that the tables and masks of compiled grammars take together, of one compiler or of several: see
/// [`Compiler::within`](crate::Compiler::within). Clones are the same bound.
///
/// Each grammar keeps to [`Limits::cache_bytes`](crate::Limits::cache_bytes) by itself. Past the bound the tables of the grammars
/// that were used longest ago are dropped as a whole, and made again where they are needed; no mask changes, and no sequence
/// stops. A grammar is used if a sequence reads its tables or adds to them. The bound is exceeded by no more than what the
/// grammars that add something at a time take. What a grammar is made of itself and what lies in mask files is not counted.
#[derive(Clone, Debug)]
pub struct MemoryBound(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    most: usize,
    used: AtomicUsize,
    /// How many times something new was made.
    clock: AtomicU64,
    /// The time of the clock at which the readers' marks are checked next.
    next_check: AtomicU64,
    tenants: Mutex<Vec<Weak<dyn Tenant>>>,
}

/// Readers' marks are checked after this many additions to tables, and one more for each grammar.
const CHECK_AFTER: u64 = 64;

/// Whose tables can be dropped.
pub(super) trait Tenant: Debug + Send + Sync {
    /// What it takes of the bound.
    fn share(&self) -> &Share;

    /// Whether its tables were read since this was asked last.
    fn was_read(&self) -> bool;

    /// Drops its tables, unless someone is at work on them.
    fn drop_tables(&self);
}

/// What one grammar takes of the bound. Dropped, it gives that back.
#[derive(Debug)]
pub(super) struct Share {
    bound: Option<MemoryBound>,
    bytes: AtomicUsize,
    /// When something new was made last.
    made_at: AtomicU64,
    /// Whether it was used before each of the last 64 checks of readers' marks; the highest bit is that of the last one.
    uses: AtomicU64,
}

impl MemoryBound {
    /// A bound, in bytes.
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

    /// Bytes of the tables and masks of all grammars that it holds for, when each of them last made something.
    pub fn used(&self) -> usize {
        self.0.used.load(Ordering::Relaxed)
    }

    /// The bytes that it allows.
    pub fn most(&self) -> usize {
        self.0.most
    }

    /// Adds one whose tables can be dropped.
    pub(super) fn add(&self, tenant: Weak<dyn Tenant>) {
        // nothing that could panic runs under this lock half way through a change
        let mut tenants = self.0.tenants.lock().unwrap_or_else(PoisonError::into_inner);
        if tenants.len() == tenants.capacity() {
            tenants.retain(|tenant| tenant.strong_count() > 0);
        }
        tenants.push(tenant);
    }

    /// Notes which tables were read since this was done last: who reads tables leaves a mark and nothing else, so what is known
    /// of the order of uses is approximate (the aging algorithm for pages of memory). Gives all tenants, unless another thread
    /// is at it.
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

    /// Drops tables until an eighth is free, those used longest ago first and `user`'s never. One thread at a time does.
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

    /// Greater for tables that were used later.
    fn last_used(&self) -> (u64, u64) {
        (self.uses.load(Ordering::Relaxed), self.made_at.load(Ordering::Relaxed))
    }

    /// Whether the bound is reached.
    pub(super) fn is_full(&self) -> bool {
        self.bound.as_ref().is_some_and(|bound| bound.used() >= bound.0.most)
    }

    /// Says how many bytes are taken now. One thread at a time does: under the lock of the grammar.
    pub(super) fn set(&self, bytes: usize) {
        let Some(bound) = &self.bound else { return };
        let before = self.bytes.swap(bytes, Ordering::Relaxed);
        // sums wrap in both directions alike
        bound.0.used.fetch_add(bytes.wrapping_sub(before), Ordering::Relaxed);
    }

    /// Makes room where more is taken than is allowed. The caller holds no lock that a tenant waits for.
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
