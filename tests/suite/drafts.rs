//! Masks of drafts and of draft trees, compared with those of forks, and their errors.

use crate::engine_properties::{few_letters, hold_on_part, with_locks, with_tokens};
use grammata::matcher::DraftTree;
use grammata::syntax::regex;
use grammata::vocabulary::VocabularyBuilder;
use grammata::{Compiler, ErrorKind, Limits, Matcher, TokenId};
use grammata_testing::drafts::tree_masks_agree;
use grammata_testing::generate::GrammarShape;
use std::sync::Arc;

#[test]
fn masks_of_draft_trees_are_those_of_forks() {
    hold_on_part(tree_masks_agree, &GrammarShape::default(), 2, 4);
    hold_on_part(tree_masks_agree, &few_letters(), 2, 4);
}

#[test]
fn masks_of_draft_trees_are_those_of_forks_with_token_terminals_and_given_end_tokens() {
    hold_on_part(tree_masks_agree, &GrammarShape { ends: true, ..with_tokens() }, 5, 4);
}

#[test]
fn masks_of_draft_trees_are_those_of_forks_with_locksteps() {
    hold_on_part(tree_masks_agree, &with_locks(), 15, 4);
}

/// Returns a matcher for the tokens `a` (0), `b` (1), `ab` (2) and the end (3).
fn matcher(pattern: &str, limits: Limits) -> Matcher {
    let vocabulary = VocabularyBuilder::from_tokens(["a", "b", "ab", ""]).eos([TokenId::new(3)]).build();
    let grammar = regex::compile(pattern, &regex::Options::default()).unwrap();
    Compiler::new(Arc::new(vocabulary.unwrap())).limits(limits).compile(&grammar).unwrap().matcher()
}

#[test]
fn rows_behind_a_token_that_is_not_allowed_are_empty() {
    let mut matcher = matcher("(ab)+", Limits::default());
    let draft = [2, 0, 0, 1].map(TokenId::new);
    let mut rows = [u32::MAX; 11];
    assert_eq!(matcher.fill_draft_masks(&draft, &mut rows, 2).unwrap(), 2);
    assert_eq!(rows, [0b101, 0, 0b1101, 0, 0b10, 0, 0, 0, 0, 0, u32::MAX]);
    // after the end nothing is allowed
    let mut rows = [u32::MAX; 3];
    assert_eq!(matcher.fill_draft_masks(&[2, 3].map(TokenId::new), &mut rows, 1).unwrap(), 2);
    assert_eq!(rows, [0b101, 0b1101, 0]);
    assert_eq!(matcher.fill_draft_masks(&[], &mut rows[..1], 1).unwrap(), 0);
    assert_eq!((rows[0], matcher.steps()), (0b101, 0));
}

#[test]
fn nodes_that_nothing_links_to_are_not_reached() {
    let mut matcher = matcher("(ab)+", Limits::default());
    // the root has the children 1 and 3; 2 is below 3; 4 and 5 link to each other
    let tree = DraftTree::new(&[1, -1, -1, 2, 5, -1], &[-1, 3, -1, -1, -1, 4], &[9, 1, 1, 0, 0, 0]).unwrap();
    let mut rows = [u32::MAX; 6];
    let reached = matcher.fill_tree_masks(&tree, &mut rows, 1).unwrap();
    assert_eq!(reached, [true, false, true, true, false, false]);
    assert_eq!(rows, [0b101, 0, 0b1101, 0b10, 0, 0]);
}

#[test]
fn draft_trees_are_checked() {
    let link = |first_child: &[i64], next_sibling: &[i64]| {
        let tokens = vec![0; first_child.len()];
        DraftTree::new(first_child, next_sibling, &tokens).unwrap_err()
    };
    let wrong: [(&[i64], &[i64], &str); 10] = [
        (&[], &[], "arrays"),
        (&[-1, -1], &[-1], "arrays"),
        (&[1, 0], &[-1, -1], "leads to the root"),
        (&[1, -1], &[-1, 0], "leads to the root"),
        (&[-1, -1], &[1, -1], "the root of a draft tree has a sibling"),
        (&[2, -1], &[-1, -1], "leads to no node"),
        (&[-2, -1], &[-1, -1], "leads to no node"),
        (&[1, -1], &[-1, i64::MAX], "leads to no node"),
        (&[1, 1], &[-1, -1], "lead to one node"),
        (&[1, 2, -1], &[-1, 2, -1], "lead to one node"),
    ];
    for (first_child, next_sibling, what) in wrong {
        let error = link(first_child, next_sibling);
        assert_eq!((error.kind(), error.code()), (ErrorKind::Usage, "matcher/draft-tree"));
        assert!(error.to_string().contains(what), "{error}");
    }
}

#[test]
fn a_call_that_fails_leaves_no_token_allowed() {
    let mut matcher = matcher("(ab)+", Limits::default());
    let draft = [2, 2].map(TokenId::new);
    for (words, row_words, code) in [
        (2, 1, "matcher/draft-rows"),
        (0, 1, "matcher/draft-rows"),
        (5, usize::MAX, "matcher/draft-rows"),
        (3, 0, "mask/buffer-too-short"),
    ] {
        let mut rows = vec![u32::MAX; words];
        let error = matcher.fill_draft_masks(&draft, &mut rows, row_words).unwrap_err();
        assert_eq!((error.kind(), error.code()), (ErrorKind::Usage, code));
        let filled = &rows[..rows.len().min(row_words.saturating_mul(3))];
        assert!(filled.iter().all(|&word| word == 0), "{rows:?}");
    }
    let tight = Limits::default().mask_work(10);
    let mut matcher = self::matcher("[ab]{3}(a|b){4,9}(ab)+", tight);
    let mut rows = [u32::MAX; 3];
    let error = matcher.fill_draft_masks(&draft, &mut rows, 1).unwrap_err();
    assert_eq!((error.kind(), rows), (ErrorKind::Limit, [0; 3]));
    assert_eq!(matcher.steps(), 0);
}
