//! The engine, compared with naive oracles on random grammars and vocabularies.
//!
//! `GRAMMATA_CASES` sets the number of cases of each property (default 500).

use grammata::grammar::{GrammarBuilder, Member, Order};
use grammata::vocabulary::{TokenId, VocabularyBuilder};
use grammata::{Compiler, ErrorKind};
use grammata_testing::agreement::{
    Outcome, operations_agree, operations_agree_from_files, threads_agree, words_are_accepted,
};
use grammata_testing::generate::GrammarShape;
use grammata_testing::pressure::{finite_schemas_agree, finite_schemas_agree_from_files};
use proptest::prelude::*;
use proptest::test_runner::{TestCaseError, TestError, TestRunner};
use std::cell::RefCell;
use std::collections::BTreeMap;

type Property = fn(&[u8], &GrammarShape) -> Result<Outcome, String>;

/// Tests a property on random cases of a shape. At most `undecided` percent of the cases may stay undecided.
fn hold(property: Property, shape: &GrammarShape, undecided: usize) {
    hold_on_bytes(|bytes| property(bytes, shape), undecided, 1);
}

/// Tests a property as [`hold`] does, on one of `part` cases; for properties that take long.
pub(crate) fn hold_on_part(property: Property, shape: &GrammarShape, undecided: usize, part: u32) {
    hold_on_bytes(|bytes| property(bytes, shape), undecided, part);
}

pub(crate) fn hold_on_bytes(
    property: impl Fn(&[u8]) -> Result<Outcome, String>,
    undecided: usize,
    part: u32,
) {
    let cases: u32 = std::env::var("GRAMMATA_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(500);
    let cases = cases.div_ceil(part);
    let config = ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() };
    let counts: RefCell<BTreeMap<Outcome, usize>> = RefCell::default();
    let outcome = TestRunner::new(config).run(&prop::collection::vec(any::<u8>(), 0..800), |bytes| {
        let outcome = property(&bytes).map_err(TestCaseError::fail)?;
        *counts.borrow_mut().entry(outcome).or_default() += 1;
        Ok(())
    });
    match outcome {
        Err(TestError::Fail(reason, bytes)) => panic!("{reason}\nthe bytes: {bytes:?}"),
        Err(other) => panic!("{other}"),
        Ok(()) => {}
    }
    let counts = counts.into_inner();
    let count = |outcome| counts.get(&outcome).copied().unwrap_or(0);
    assert!(count(Outcome::Undecided) * 100 <= undecided * cases as usize, "too many undecided: {counts:?}");
    // Half of the grammars of some shapes have no words. A quarter is six standard deviations below what any shape
    // gives, so chance alone fails no run.
    assert!(count(Outcome::Agreed) * 4 > cases as usize, "too few cases say something: {counts:?}");
    eprintln!("{counts:?}");
}

pub(crate) fn with_locks() -> GrammarShape {
    GrammarShape { locks: true, depth: 3, count: 3, literal: 2, ..GrammarShape::default() }
}

pub(crate) fn few_letters() -> GrammarShape {
    GrammarShape { letters: vec!["a", "b"], literal: 2, bytes: false, ..GrammarShape::default() }
}

#[test]
fn operations_agree_with_the_oracle() {
    hold(operations_agree, &GrammarShape::default(), 2);
}

#[test]
fn operations_agree_with_the_oracle_from_mask_files() {
    hold_on_part(operations_agree_from_files, &GrammarShape::default(), 2, 4);
}

#[test]
fn operations_agree_with_the_oracle_from_mask_files_with_locksteps_and_token_terminals() {
    hold_on_part(operations_agree_from_files, &GrammarShape { tokens: true, ..with_locks() }, 15, 4);
}

#[test]
fn operations_agree_with_the_oracle_from_mask_files_with_token_terminals() {
    hold_on_part(operations_agree_from_files, &with_tokens(), 5, 4);
}

#[test]
fn names_and_items_that_run_out_agree_with_all_words_from_mask_files() {
    hold_on_bytes(|bytes| finite_schemas_agree_from_files(bytes, 2), 30, 4);
}

#[test]
fn operations_agree_with_the_oracle_on_few_letters() {
    hold(operations_agree, &few_letters(), 2);
}

#[test]
fn operations_agree_with_the_oracle_with_locksteps() {
    hold(operations_agree, &with_locks(), 15);
}

fn with_bounds() -> GrammarShape {
    GrammarShape { bounds: true, depth: 3, ..few_letters() }
}

#[test]
fn operations_agree_with_the_oracle_with_parts_of_bounded_length() {
    hold(operations_agree, &with_bounds(), 10);
}

#[test]
fn operations_agree_with_the_oracle_with_parts_of_bounded_length_in_any_letters() {
    let shape = GrammarShape { bounds: true, depth: 3, ..GrammarShape::default() };
    hold(operations_agree, &shape, 15);
}

#[test]
fn words_are_accepted_in_any_tokenisation_with_parts_of_bounded_length() {
    hold(words_are_accepted, &with_bounds(), 10);
}

pub(crate) fn with_tokens() -> GrammarShape {
    GrammarShape { tokens: true, letters: vec!["a", "b", "é"], literal: 2, ..GrammarShape::default() }
}

#[test]
fn operations_agree_with_the_oracle_with_token_terminals() {
    hold(operations_agree, &with_tokens(), 5);
}

#[test]
fn operations_agree_with_the_oracle_with_token_terminals_beside_locksteps() {
    hold(operations_agree, &GrammarShape { tokens: true, ..with_locks() }, 15);
}

#[test]
fn words_with_token_terminals_are_accepted_in_any_tokenisation() {
    hold(words_are_accepted, &with_tokens(), 5);
}

#[test]
fn threads_that_share_a_grammar_with_token_terminals_get_the_same_masks() {
    hold(threads_agree, &with_tokens(), 5);
}

#[test]
fn operations_agree_with_the_oracle_with_end_tokens_that_are_given() {
    hold(operations_agree, &GrammarShape { ends: true, ..GrammarShape::default() }, 2);
}

#[test]
fn operations_agree_with_the_oracle_with_end_tokens_that_are_given_beside_token_terminals() {
    hold(operations_agree, &GrammarShape { ends: true, ..with_tokens() }, 5);
}

#[test]
fn operations_agree_with_the_oracle_from_mask_files_with_end_tokens_that_are_given() {
    hold_on_part(operations_agree_from_files, &GrammarShape { ends: true, ..GrammarShape::default() }, 2, 4);
}

/// The shape of grammars with free text and triggers: strings, and what follows them. With `tokens`, there are token
/// terminals, too.
fn with_triggers(tokens: bool) -> GrammarShape {
    GrammarShape { triggers: true, depth: 3, ..if tokens { with_tokens() } else { few_letters() } }
}

#[test]
fn operations_agree_with_the_oracle_with_triggers() {
    hold(operations_agree, &with_triggers(false), 5);
}

#[test]
fn operations_agree_with_the_oracle_with_triggers_and_token_terminals() {
    hold(operations_agree, &with_triggers(true), 5);
}

#[test]
fn words_are_accepted_in_any_tokenisation_with_triggers() {
    hold(words_are_accepted, &with_triggers(false), 5);
}

#[test]
fn words_are_accepted_in_any_tokenisation() {
    hold(words_are_accepted, &GrammarShape::default(), 2);
}

#[test]
fn words_are_accepted_in_any_tokenisation_with_locksteps() {
    hold(words_are_accepted, &with_locks(), 15);
}

#[test]
fn threads_that_share_a_compiled_grammar_get_the_same_masks() {
    hold(threads_agree, &GrammarShape::default(), 2);
}

#[test]
fn names_and_items_that_run_out_agree_with_all_words_while_tables_are_dropped() {
    hold_on_bytes(|bytes| finite_schemas_agree(bytes, 1), 30, 1);
}

#[test]
fn names_and_items_that_run_out_agree_with_all_words_while_other_threads_drop_tables() {
    hold_on_bytes(|bytes| finite_schemas_agree(bytes, 3), 30, 1);
}

#[test]
fn an_intersection_that_contains_itself_is_an_error() {
    let mut g = GrammarBuilder::new();
    let root = g.declare("root");
    let (again, a) = (g.rule(root), g.text("a"));
    let longer = g.sequence([a, again]);
    let not = g.complement(longer);
    g.define(root, not);
    let vocabulary = VocabularyBuilder::from_tokens(["a", ""]).eos([TokenId::new(1)]).build().unwrap();
    let error = Compiler::new(vocabulary.into()).compile(&g.build(root).unwrap()).unwrap_err();
    assert_eq!((error.kind(), error.code()), (ErrorKind::Grammar, "automaton/cyclic-lockstep"));
}

/// If the separator has no words, the required member must be the only one: a text that begins another member has no
/// completion.
#[test]
fn members_whose_separator_has_no_words() {
    for order in [Order::Declared, Order::Any] {
        let mut g = GrammarBuilder::new();
        let (root, endless) = (g.declare("root"), g.declare("endless"));
        let again = g.rule(endless);
        g.define(endless, again);
        let (rest, empty) = (g.text("bxx"), g.empty());
        let member = |key: &str, required| Member { key: key.as_bytes().into(), value: empty, required };
        let list = g.members(order, [member("cyy", false), member("a", true)], Some(rest), again);
        g.define(root, list);
        let vocabulary = VocabularyBuilder::from_tokens(["a", "b", "c", "x", "y", ""]);
        let vocabulary = vocabulary.eos([TokenId::new(5)]).build().unwrap();
        let compiled = Compiler::new(vocabulary.into()).compile(&g.build(root).unwrap()).unwrap();
        let mut mask = [0];
        compiled.matcher().fill_mask(&mut mask).unwrap();
        assert_eq!(mask, [0b1], "{order:?}: only `a` can be completed");
    }
}
