//! Strategies for masks, each alone, on a real vocabulary.

use crate::properties;
use grammata::Vocabulary;
use grammata::testing::strategies::{Strategies, Usage};
use proptest::prelude::*;
use proptest::test_runner::{RngAlgorithm, TestCaseError, TestError, TestRng, TestRunner};
use std::cell::RefCell;
use std::path::Path;

#[test]
fn each_strategy_alone_gives_the_bits_of_the_full_walk() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/smollm2/tokenizer.json");
    let vocabulary =
        Vocabulary::from_file(&path, &Default::default()).expect("the committed tokenizer is read");
    let strategies = Strategies::new(vocabulary.into()).expect("it compiles");
    // the same cases each time: whether a strategy is used does not hang on chance
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
