//! Fuzzes `grammata_testing::differential`: schemas of objects against the `jsonschema` crate.

#![no_main]

use grammata_testing::differential;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| differential::json_schema_differential(bytes));
