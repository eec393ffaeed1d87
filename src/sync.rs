//! What threads share tables with. The package `interleavings` includes the files that use this with loom's in its place.

pub(crate) use std::sync::OnceLock;
pub(crate) use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};

/// Atomics that are zero. Their memory is not touched before it is used.
pub(crate) fn zeros<T: bytemuck::Zeroable>(len: usize) -> Box<[T]> {
    bytemuck::zeroed_slice_box(len)
}
