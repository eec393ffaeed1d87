//! Fuzz target for grammars with bounded parts; see `grammata_testing::fuzz::bounded_parts`.

#![no_main]

use grammata_testing::fuzz;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzz::bounded_parts(bytes));
