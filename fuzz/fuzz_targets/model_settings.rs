//! Fuzzes `grammata_testing::fuzz_templates::model_settings`.

#![no_main]

use grammata_testing::fuzz_templates;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzz_templates::model_settings(bytes));
