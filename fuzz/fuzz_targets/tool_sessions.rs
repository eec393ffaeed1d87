//! Fuzz target for sessions with tools; see `grammata_testing::tool_sessions::session`.

#![no_main]

use grammata_testing::tool_sessions;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| tool_sessions::session(bytes));
