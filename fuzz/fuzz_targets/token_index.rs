//! Fuzz target for token indices; see `grammata_testing::token_indices::token_index`.

#![no_main]

use grammata_testing::token_indices;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| token_indices::token_index(bytes));
