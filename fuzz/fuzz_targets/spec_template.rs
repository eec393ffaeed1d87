//! Fuzz target for the templates of specs; see `grammata_testing::fuzz_templates::spec_template`.

#![no_main]

use grammata_testing::fuzz_templates;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzz_templates::spec_template(bytes));
