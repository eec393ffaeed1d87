//! Fuzz target for chat templates; see `grammata_testing::fuzz_templates::chat_template`.

#![no_main]

use grammata_testing::fuzz_templates;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzz_templates::chat_template(bytes));
