//! Strategies for masks, each alone, on a real vocabulary.

use crate::properties;
use grammata::Vocabulary;
use grammata_testing::strategies::{Strategies, Usage};
use proptest::prelude::*;
use proptest::test_runner::{RngAlgorithm, TestCaseError, TestError, TestRng, TestRunner};
use std::cell::RefCell;
use std::path::Path;

/// Builds the strategies for the tokenizer in this repository.
fn strategies() -> Strategies {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/smollm2/tokenizer.json");
    let vocabulary =
        Vocabulary::from_file(&path, &Default::default()).expect("the committed tokenizer is read");
    Strategies::new(vocabulary.into()).expect("it compiles")
}

#[test]
fn each_strategy_alone_gives_the_bits_of_the_full_walk() {
    let strategies = strategies();
    // the cases are the same each time, so that chance does not decide whether a strategy is used
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let mut runner = TestRunner::new_with_rng(properties::config(40), rng);
    let usage: RefCell<Usage> = RefCell::default();
    let outcome = runner.run(&prop::collection::vec(any::<u8>(), 0..400), |bytes| {
        for (name, count) in strategies.agree(&bytes).map_err(TestCaseError::fail)? {
            *usage.borrow_mut().entry(name).or_default() += u64::from(count > 0);
        }
        Ok(())
    });
    match outcome {
        Err(TestError::Fail(reason, bytes)) => panic!("{reason}\nthe bytes: {bytes:?}"),
        Err(other) => panic!("{other}"),
        Ok(()) => {}
    }
    let usage = usage.into_inner();
    eprintln!("cases in which each strategy was used: {usage:?}");
    for name in strategies.names() {
        let count = usage.get(name).copied().unwrap_or_default();
        assert!(count > 0, "{name} is never used: {usage:?}");
    }
}

/// Choices that once gave different bits: a walk that had used up its budget counted as complete when a later walk
/// found where the residual returns.
const ONCE_WRONG: [&[u8]; 1] =
    [&[6, 0, 51, 54, 61, 126, 2, 29, 56, 15, 46, 90, 0, 50, 73, 64, 6, 10, 0, 31, 4, 14, 32, 0, 0]];

#[test]
fn what_was_once_wrong_is_right() {
    let strategies = strategies();
    for bytes in ONCE_WRONG {
        strategies.agree(bytes).unwrap_or_else(|what| panic!("{what}\nthe bytes: {bytes:?}"));
    }
}
