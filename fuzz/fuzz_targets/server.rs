//! Fuzz target for requests to the server; see `grammata_testing::fuzz_server::server`.

#![no_main]

use grammata_testing::fuzz_server;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzz_server::server(bytes));
