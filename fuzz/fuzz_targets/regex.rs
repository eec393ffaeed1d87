//! Fuzz target for regular expressions in both dialects; see `grammata_testing::fuzz::regex`.

#![no_main]

use grammata_testing::fuzz;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzz::regex(bytes));
