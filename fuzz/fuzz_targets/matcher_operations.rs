//! Fuzz target that compares a matcher's operations with an oracle; see `grammata_testing::fuzz::matcher_operations`.

#![no_main]

use grammata_testing::fuzz;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzz::matcher_operations(bytes));
