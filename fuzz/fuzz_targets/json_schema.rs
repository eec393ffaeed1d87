//! Fuzzes `grammata::testing::fuzz::json_schema`.

#![no_main]

use grammata::testing::fuzz;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzz::json_schema(bytes));
