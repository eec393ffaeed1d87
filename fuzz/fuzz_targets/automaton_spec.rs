//! Fuzz target for automaton specs in TOML or JSON; see `grammata_testing::fuzz::automaton_spec`.

#![no_main]

use grammata_testing::fuzz;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzz::automaton_spec(bytes));
