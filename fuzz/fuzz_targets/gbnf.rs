//! Fuzz target for grammars in GBNF; see `grammata_testing::fuzz::gbnf`.

#![no_main]

use grammata_testing::fuzz;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzz::gbnf(bytes));
