//! Fuzz target for plan specs and searches for plans; see `grammata_testing::fuzz_templates::plan_spec`.

#![no_main]

use grammata_testing::fuzz_templates;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzz_templates::plan_spec(bytes));
