//! Fuzz target for calls of tools that are written and read back; see
//! `grammata_testing::round_trips::tools_round_trip`.

#![no_main]

use grammata_testing::round_trips;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| round_trips::tools_round_trip(bytes));
