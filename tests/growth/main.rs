//! How time and memory grow with the size of an input, for each front end: a module for each. In a binary of its own,
//! since the allocator counts what all threads allocate.

mod json_schema;
mod notations;

use grammata_testing::growth::{Meter, Order};
use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};
use std::alloc::System;
use std::fmt::Display;

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// The bytes that the process has allocated so far, including those freed again. Memory that grows counts once.
fn allocated() -> usize {
    ALLOCATOR.stats().bytes_allocated
}

/// Checks that reading generated inputs of some sizes takes work of the given order.
fn growth<T, E: Display>(
    name: &str,
    order: Order,
    sizes: impl IntoIterator<Item = usize>,
    input: impl Fn(usize) -> String,
    read: impl Fn(&str) -> Result<T, E>,
) {
    Meter(allocated).growth(name, order, sizes, input, read);
}
