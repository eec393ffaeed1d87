//! Fuzz target for JSON Schemas; see `grammata_testing::fuzz::json_schema`.

#![no_main]

use grammata_testing::fuzz;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzz::json_schema(bytes));
