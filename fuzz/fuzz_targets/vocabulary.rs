//! Fuzz target for tokenizer files; see `grammata_testing::fuzz::vocabulary`.

#![no_main]

use grammata_testing::fuzz;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzz::vocabulary(bytes));
