//! Fuzz target for sessions of the guard and logs to continue; see `grammata_testing::fuzz_guard::guard`.

#![no_main]

use grammata_testing::fuzz_guard;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzz_guard::guard(bytes));
