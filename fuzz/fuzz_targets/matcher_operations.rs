//! Fuzzes `grammata::testing::fuzz::matcher_operations`.

#![no_main]

use grammata::testing::fuzz;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzz::matcher_operations(bytes));
