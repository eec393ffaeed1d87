//! Fuzzes `grammata::testing::fuzz_templates::model_settings`.

#![no_main]

use grammata::testing::fuzz_templates;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzz_templates::model_settings(bytes));
