//! Fuzz target for procedures in YAML and TOML; see `grammata_testing::fuzz_procedures::procedure`.

#![no_main]

use grammata_testing::fuzz_procedures;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzz_procedures::procedure(bytes));
