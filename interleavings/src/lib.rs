//! Tables that one thread extends while others read them without a lock. The tests run them under all interleavings of
//! the threads, and all reorderings that the memory model allows, that [loom] explores.
//!
//! The files that do this in grammata are included as they are; `sync` has loom's atomics in place of those of the
//! standard library, and everything else that the files name is replaced by a minimal version that compiles.

pub mod models;

#[allow(dead_code, unreachable_pub)]
mod automaton;
#[allow(dead_code, unreachable_pub)]
mod collections;
mod sync;

/// The part of `grammata::grammar` that the tables name.
mod grammar {
    /// A set of bytes.
    #[derive(Debug)]
    pub(crate) struct ByteSet;

    impl ByteSet {
        pub(crate) fn from_words(_: [u64; 4]) -> ByteSet {
            ByteSet
        }
    }
}
