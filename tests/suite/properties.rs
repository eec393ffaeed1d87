//! How many cases the properties take, and how proptest runs them.

use proptest::test_runner::Config;

/// `default` cases; `GRAMMATA_CASES=10000` takes that many instead, in every property.
pub(crate) fn cases(default: u32) -> u32 {
    std::env::var("GRAMMATA_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(default)
}

/// Proptest's configuration with [`cases`]; failures are not written to files.
pub(crate) fn config(default: u32) -> Config {
    Config { cases: cases(default), failure_persistence: None, ..Config::default() }
}
