//! The number of cases of the properties, and the configuration of proptest.

use proptest::test_runner::Config;

/// Returns the number of cases of a property: the value of `GRAMMATA_CASES`, or `default` if that is not set.
pub(crate) fn cases(default: u32) -> u32 {
    std::env::var("GRAMMATA_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(default)
}

/// Returns proptest's configuration with [`cases`]; failures are not written to files.
pub(crate) fn config(default: u32) -> Config {
    Config { cases: cases(default), failure_persistence: None, ..Config::default() }
}
