//! Fuzz target for answers of chat servers; see `grammata_testing::fuzz_endpoint::endpoint`.

#![no_main]

use grammata_testing::fuzz_endpoint;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzz_endpoint::endpoint(bytes));
