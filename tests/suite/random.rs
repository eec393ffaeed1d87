//! Checks that run on random choices.

use crate::properties::cases;
use grammata_testing::generate::Choices;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;

/// Runs a check on [`cases`] random choices of `bytes` bytes each, from a fixed seed.
pub(crate) fn each(default: u32, bytes: usize, mut check: impl FnMut(&mut Choices<'_>)) {
    let strategy = proptest::collection::vec(proptest::arbitrary::any::<u8>(), bytes);
    let mut runner = TestRunner::deterministic();
    for _ in 0..cases(default) {
        check(&mut Choices::new(&strategy.new_tree(&mut runner).unwrap().current()));
    }
}
