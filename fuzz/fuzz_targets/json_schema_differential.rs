//! Fuzz target that compares random schemas of objects with the `jsonschema` crate; see
//! `grammata_testing::differential::json_schema_differential`.

#![no_main]

use grammata_testing::differential;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| differential::json_schema_differential(bytes));
