//! Fuzz target for domains of flows and plans that a model wrote; see `grammata_testing::fuzz_flows::flow`.

#![no_main]

use grammata_testing::fuzz_flows;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzz_flows::flow(bytes));
