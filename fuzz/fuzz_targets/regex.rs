//! Fuzzes `grammata::testing::fuzz::regex`.

#![no_main]

use grammata::testing::fuzz;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzz::regex(bytes));
