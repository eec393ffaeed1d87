//! Fuzz target for documents of tools; see `grammata_testing::fuzz_tools::tools`.

#![no_main]

use grammata_testing::fuzz_tools;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzz_tools::tools(bytes));
