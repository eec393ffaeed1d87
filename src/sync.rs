//! Synchronisation primitives of the shared tables. The package `interleavings` compiles the files that use this module
//! with loom's primitives instead.

pub(crate) use std::sync::OnceLock;
pub(crate) use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};

/// Zeroed atomics. Their memory is not touched before it is used.
pub(crate) fn zeros<T: bytemuck::Zeroable>(len: usize) -> Box<[T]> {
    bytemuck::zeroed_slice_box(len)
}
