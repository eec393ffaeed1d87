//! How many cases the properties take, and how proptest runs them.

use grammata_testing::generate::Choices;
use proptest::test_runner::Config;

/// `default` cases; `GRAMMATA_CASES=10000` takes that many instead, in every property.
pub(crate) fn cases(default: u32) -> u32 {
    std::env::var("GRAMMATA_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(default)
}

/// Proptest's configuration with [`cases`]; failures are not written to files.
pub(crate) fn config(default: u32) -> Config {
    Config { cases: cases(default), failure_persistence: None, ..Config::default() }
}

/// Runs a check on random choices, each case on its own.
pub(crate) fn each(default: u32, bytes: usize, mut check: impl FnMut(&mut Choices<'_>)) {
    let strategy = proptest::collection::vec(proptest::arbitrary::any::<u8>(), bytes);
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    for _ in 0..cases(default) {
        let drawn = proptest::strategy::Strategy::new_tree(&strategy, &mut runner).unwrap();
        check(&mut Choices::new(&proptest::strategy::ValueTree::current(&drawn)));
    }
}
