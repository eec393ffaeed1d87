//! One bound of memory for the tables of many grammars.

use std::fmt::Debug;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// A bound on the memory that the tables and masks of compiled grammars take together, of one compiler or of several: see
/// [`Compiler::within`](crate::Compiler::within). Clones are the same bound.
///
/// Each grammar keeps to [`Limits::cache_bytes`](crate::Limits::cache_bytes) by itself. Past the bound the tables of those that
/// made something new longest ago are dropped as a whole, and made again where they are needed; no mask changes, and no sequence
/// stops. It is exceeded by no more than what the grammars that make something new at a time take. What a grammar is made of itself and
/// what lies in mask files is not counted.
#[derive(Clone, Debug)]
pub struct MemoryBound(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    most: usize,
    used: AtomicUsize,
    /// How many times something new was made.
    clock: AtomicU64,
    tenants: Mutex<Vec<Weak<dyn Tenant>>>,
}

/// Whose tables can be dropped.
pub(super) trait Tenant: Debug + Send + Sync {
    /// When something new was made for it.
    fn share(&self) -> &Share;

    /// Drops its tables, unless someone is at work on them.
    fn drop_tables(&self);
}

/// What one grammar takes of the bound. Dropped, it gives that back.
#[derive(Debug)]
pub(super) struct Share {
    bound: Option<MemoryBound>,
    bytes: AtomicUsize,
    used_at: AtomicU64,
}

impl MemoryBound {
    /// A bound, in bytes.
    pub fn new(bytes: usize) -> MemoryBound {
        let (used, clock, tenants) = Default::default();
        MemoryBound(Arc::new(Shared { most: bytes, used, clock, tenants }))
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

    /// Drops tables until an eighth is free, those used longest ago first and `user`'s never. One thread at a time does.
    fn shrink(&self, user: &Share) {
        let Ok(mut tenants) = self.0.tenants.try_lock() else { return };
        tenants.retain(|tenant| tenant.strong_count() > 0);
        let all = tenants.iter().filter_map(Weak::upgrade);
        let mut others: Vec<Arc<dyn Tenant>> =
            all.filter(|tenant| !std::ptr::eq(tenant.share(), user)).collect();
        drop(tenants);
        others.sort_by_cached_key(|tenant| tenant.share().used_at.load(Ordering::Relaxed));
        for tenant in others {
            if self.used() <= self.0.most - self.0.most / 8 {
                break;
            }
            tenant.drop_tables();
        }
    }
}

impl Share {
    pub(super) fn new(bound: Option<MemoryBound>) -> Share {
        Share { bound, bytes: AtomicUsize::new(0), used_at: AtomicU64::new(0) }
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
            self.used_at.store(bound.0.clock.fetch_add(1, Ordering::Relaxed), Ordering::Relaxed);
            if bound.used() > bound.0.most {
                bound.shrink(self);
            }
        }
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.set(0);
    }
}
