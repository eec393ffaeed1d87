//! Fuzz target for structural tags; see `grammata_testing::fuzz::structural_tag`.

#![no_main]

use grammata_testing::fuzz;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzz::structural_tag(bytes));
