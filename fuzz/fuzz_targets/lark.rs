//! Fuzz target for Lark grammars; see `grammata_testing::fuzz::lark`.

#![no_main]

use grammata_testing::fuzz;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzz::lark(bytes));
