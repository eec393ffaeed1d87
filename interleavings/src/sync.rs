//! Loom's atomics under the names of `grammata`'s `sync`.

pub(crate) use loom::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};

use loom::sync::Mutex;
use loom::sync::atomic::AtomicBool;
use std::fmt;

/// A cell that is set once. Loom has none: the flag is what readers synchronise with, as with the standard library's.
pub(crate) struct OnceLock<T> {
    value: std::sync::OnceLock<T>,
    is_set: AtomicBool,
    setting: Mutex<()>,
}

impl<T> OnceLock<T> {
    pub(crate) fn new() -> OnceLock<T> {
        let (value, is_set, setting) = Default::default();
        OnceLock { value, is_set, setting }
    }

    pub(crate) fn get(&self) -> Option<&T> {
        if self.is_set.load(Ordering::Acquire) { self.value.get() } else { None }
    }

    pub(crate) fn get_or_init(&self, make: impl FnOnce() -> T) -> &T {
        if let Some(known) = self.get() {
            return known;
        }
        let _setting = self.setting.lock();
        let value = self.value.get_or_init(make);
        self.is_set.store(true, Ordering::Release);
        value
    }
}

impl<T> fmt::Debug for OnceLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OnceLock")
    }
}

/// Atomics that are zero.
pub(crate) fn zeros<T: Default>(len: usize) -> Box<[T]> {
    (0..len).map(|_| T::default()).collect()
}
