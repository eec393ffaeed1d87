//! Fuzz target for the settings in a model's folder; see `grammata_testing::fuzz_templates::model_settings`.

#![no_main]

use grammata_testing::fuzz_templates;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzz_templates::model_settings(bytes));
