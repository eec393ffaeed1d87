//! Distances to the end of a text, and masks within budgets of tokens, compared with an exhaustive search.

use crate::engine_properties::{few_letters, hold_on_part, with_locks, with_tokens};
use grammata::grammar::{GrammarBuilder, WordEdge, WordGraph, WordTarget};
use grammata::mask::Distance;
use grammata::syntax::{json_schema, regex};
use grammata::vocabulary::{TokenId, VocabularyBuilder};
use grammata::{CompiledGrammar, Compiler, Limits, TokenMask};
use grammata_testing::distances::{budgets_agree, distances_agree, potentials_agree};
use grammata_testing::generate::GrammarShape;
use std::sync::Arc;

#[test]
fn distances_are_those_of_exhaustive_search() {
    hold_on_part(distances_agree, &GrammarShape::default(), 20, 5);
}

#[test]
fn distances_are_those_of_exhaustive_search_on_few_letters() {
    hold_on_part(distances_agree, &few_letters(), 20, 5);
}

#[test]
fn distances_are_those_of_exhaustive_search_with_locksteps() {
    hold_on_part(distances_agree, &with_locks(), 40, 5);
}

#[test]
fn distances_are_those_of_exhaustive_search_with_parts_of_bounded_length() {
    hold_on_part(distances_agree, &GrammarShape { bounds: true, depth: 3, ..few_letters() }, 40, 5);
}

#[test]
fn potentials_are_bounds_that_fall() {
    hold_on_part(potentials_agree, &GrammarShape::default(), 40, 5);
}

#[test]
fn potentials_are_bounds_that_fall_on_few_letters() {
    hold_on_part(potentials_agree, &few_letters(), 40, 5);
}

#[test]
fn potentials_are_bounds_that_fall_with_locksteps() {
    hold_on_part(potentials_agree, &with_locks(), 60, 5);
}

#[test]
fn potentials_are_bounds_that_fall_with_token_terminals() {
    hold_on_part(potentials_agree, &with_tokens(), 60, 5);
}

#[test]
fn masks_within_budgets_are_those_of_exhaustive_search() {
    hold_on_part(budgets_agree, &GrammarShape::default(), 30, 5);
}

#[test]
fn masks_within_budgets_are_those_of_exhaustive_search_on_few_letters() {
    hold_on_part(budgets_agree, &few_letters(), 30, 5);
}

#[test]
fn masks_within_budgets_are_those_of_exhaustive_search_with_locksteps() {
    hold_on_part(budgets_agree, &with_locks(), 40, 5);
}

#[test]
fn distances_are_those_of_exhaustive_search_with_token_terminals() {
    hold_on_part(distances_agree, &with_tokens(), 30, 5);
}

#[test]
fn masks_within_budgets_are_those_of_exhaustive_search_with_token_terminals() {
    hold_on_part(budgets_agree, &with_tokens(), 40, 5);
}

#[test]
fn distances_are_those_of_exhaustive_search_with_end_tokens_that_are_given() {
    hold_on_part(distances_agree, &GrammarShape { ends: true, ..GrammarShape::default() }, 20, 5);
    hold_on_part(distances_agree, &GrammarShape { ends: true, ..with_tokens() }, 30, 5);
}

#[test]
fn masks_within_budgets_are_those_of_exhaustive_search_with_end_tokens_that_are_given() {
    hold_on_part(budgets_agree, &GrammarShape { ends: true, ..few_letters() }, 30, 5);
    hold_on_part(budgets_agree, &GrammarShape { ends: true, ..with_tokens() }, 40, 5);
}

#[test]
fn masks_within_budgets_are_those_of_exhaustive_search_with_triggers() {
    hold_on_part(budgets_agree, &GrammarShape { triggers: true, depth: 3, ..few_letters() }, 40, 5);
}

const END: TokenId = TokenId::new(9);

/// Compiles a pattern for the tokens "a", "b", "ab", "abab", "[", "]", "[[", "c" and the special "<s>", which is not an
/// end token.
fn compiled(pattern: &str, limits: Limits) -> CompiledGrammar {
    let vocabulary = VocabularyBuilder::from_tokens(["a", "b", "ab", "abab", "[", "]", "[[", "c"])
        .special(TokenId::new(8), "<s>")
        .special(END, "<end>")
        .eos([END])
        .width(12)
        .build()
        .unwrap();
    let grammar = regex::compile(pattern, &regex::Options::default()).unwrap();
    Compiler::new(Arc::new(vocabulary)).limits(limits).compile(&grammar).unwrap()
}

fn ids(mask: &TokenMask) -> Vec<u32> {
    mask.iter().map(TokenId::get).collect()
}

#[test]
fn distances_count_tokens_and_bytes_but_not_the_end() {
    let compiled = compiled("(ab){3}c?", Limits::default());
    let mut matcher = compiled.matcher();
    assert_eq!(matcher.distance(), Ok(Distance::Exact(2)));
    assert_eq!(matcher.distance_in_bytes(), Ok(Distance::Exact(6)));
    matcher.accept_bytes(b"ababa").unwrap();
    assert_eq!(matcher.distance(), Ok(Distance::Exact(1)));
    matcher.accept_bytes(b"b").unwrap();
    assert_eq!(matcher.distance(), Ok(Distance::Exact(0)));
    matcher.accept_token(END).unwrap();
    assert_eq!(matcher.distance(), Ok(Distance::Exact(0)));
    assert!(matcher.mask_within(7).unwrap().is_empty());
    assert_eq!(compiled.statistics().distances_at_most, 0);
}

#[test]
fn a_budget_may_be_nothing_or_more_than_any_text() {
    let compiled = compiled("(ab)*", Limits::default());
    let mut matcher = compiled.matcher();
    assert_eq!(ids(&matcher.mask_within(0).unwrap()), [9]);
    for budget in [1 << 40, usize::MAX] {
        assert_eq!(matcher.mask_within(budget), matcher.mask());
    }
    // after "a" one more token is needed
    assert_eq!(ids(&matcher.mask_within(1).unwrap()), [2, 3, 9]);
    assert_eq!(ids(&matcher.mask_within(2).unwrap()), [0, 2, 3, 9]);
    matcher.accept_token(TokenId::new(0)).unwrap();
    let error = matcher.mask_within(0).unwrap_err();
    assert_eq!(error.code(), "matcher/budget");
    assert_eq!(error.diagnostic().allowed_text(), Some("a budget of at least 1 token"));
    let mut words = [u32::MAX];
    assert_eq!(matcher.fill_mask_within(0, &mut words).unwrap_err().code(), "matcher/budget");
    assert_eq!(words, [0], "a row that failed allows nothing");
    assert_eq!(ids(&matcher.mask_within(1).unwrap()), [1]);
}

#[test]
fn a_text_that_no_tokens_spell_is_unreachable() {
    let mut matcher = compiled("ad|b(a|d{4})d", Limits::default()).matcher();
    assert_eq!(matcher.distance(), Ok(Distance::Unreachable));
    assert_eq!(matcher.distance_in_bytes(), Ok(Distance::Exact(2)));
    assert_eq!(matcher.mask_within(100).unwrap_err().code(), "matcher/budget");
    // no tokens spell the shortest word, but another one
    let mut matcher = compiled(r"d|\[{3}", Limits::default()).matcher();
    assert_eq!(matcher.distance(), Ok(Distance::Exact(2)));
    assert_eq!(ids(&matcher.mask_within(2).unwrap()), [4, 6]);
}

#[test]
fn searches_that_reach_their_limit_say_so() {
    let limits = Limits::default().completion_search(3);
    let mut matcher = compiled("(a|b[a-c]{2}){20}", limits).matcher();
    assert_eq!(matcher.distance(), Ok(Distance::Unknown));
    // the maximum length of a text is known from the grammar
    assert_eq!(matcher.mask_within(1 << 40), matcher.mask());
    let error = matcher.mask_within(12).unwrap_err();
    assert!(error.to_string().contains("none that is known"), "{error}");
    let limits = Limits::default().completion_search(12);
    let compiled = compiled("[ab]{10}", limits);
    let mut matcher = compiled.matcher();
    assert_eq!(matcher.distance(), Ok(Distance::AtMost(10)));
    assert_eq!(compiled.statistics().distances_at_most, 1);
    let mut left = 10;
    while !matcher.is_finished() {
        let mask = matcher.mask_within(left).unwrap();
        matcher.accept_token(mask.iter().next().unwrap()).unwrap();
        left -= 1;
    }
}

#[test]
fn what_was_promised_holds_after_a_rollback_and_in_forks() {
    let mut matcher = compiled("(ab){4}c", Limits::default()).matcher();
    let least = matcher.distance().unwrap().known().unwrap();
    let mut ways = 0;
    // all walks, with a rollback after each token
    let mut open = vec![(matcher.fork(), least + 1)];
    while let Some((mut at, left)) = open.pop() {
        let mask = at.mask_within(left).unwrap();
        for token in mask.iter() {
            at.accept_token(token).unwrap();
            if at.is_finished() {
                ways += 1;
            } else {
                open.push((at.fork(), left - 1));
            }
            at.rollback(1).unwrap();
            assert_eq!(at.mask_within(left).unwrap(), mask);
        }
    }
    // the texts are abab abab c, and abab ab ab c with its tokens in three orders
    assert_eq!(ways, 4);
}

/// The shortest word of the grammar that is drawn from these bytes has 8 bytes, "aaê😀". The oracle once found a word of
/// 9 bytes first.
#[test]
fn a_distance_that_the_oracle_once_took_to_be_longer() {
    #[rustfmt::skip]
    let bytes = [
        1, 0, 209, 158, 36, 0, 75, 179, 21, 14, 0, 0, 100, 46, 0, 0, 0, 0, 100, 141, 171, 0, 0, 40,
        44, 173, 59, 32, 24, 0, 144, 124, 215, 15, 0, 0, 17, 0, 0, 17, 60, 0, 0, 0, 100, 0, 54, 176,
        47, 159, 108, 135, 24, 46, 28, 3, 135, 31, 0, 16, 0, 47, 0, 0, 0, 0, 56, 0, 75, 5, 0, 60,
        114, 0, 158, 0, 0, 151, 28, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 60, 1, 0,
        124, 61, 235, 70, 136, 1, 180, 0, 196, 0, 0, 69, 93, 88, 0, 0, 20, 0, 0, 0, 0, 140, 167, 1,
        0, 0, 0, 52, 0, 0, 0, 40, 80, 39, 0, 42, 41, 100, 0, 60, 170, 0, 0, 0, 154, 0, 0, 0,
        180, 0, 1, 87, 28, 0, 59, 4, 84, 32, 82, 202, 29,
    ];
    distances_agree(&bytes, &GrammarShape::default()).unwrap();
}

/// The upper bound of a node with a fallback node ignores an edge of the fallback for a byte that the node reads
/// itself.
#[test]
fn the_bound_of_a_node_is_not_that_of_an_edge_it_hides() {
    let edge = |byte, to| WordEdge { low: byte, high: byte, to };
    let mut g = GrammarBuilder::new();
    let (a, empty) = (g.text("a"), g.empty());
    let mut graph = WordGraph::new([a, empty]);
    graph.push([edge(b'a', WordTarget::Node(1))], Some(1));
    graph.push([edge(b'a', WordTarget::Exit(1)), edge(b'b', WordTarget::Exit(0))], None);
    let root = g.declare("root");
    let body = g.word_graph(graph);
    g.define(root, body);
    let grammar = g.build(root).unwrap();
    let vocabulary = VocabularyBuilder::from_tokens(["a", "b"]).special(END, "<end>").eos([END]);
    let vocabulary = Arc::new(vocabulary.width(12).build().unwrap());
    let mut matcher = Compiler::new(vocabulary).compile(&grammar).unwrap().matcher();
    // "aa" and "ba" are the shortest words, though node 1 needs one byte
    assert_eq!(matcher.distance(), Ok(Distance::Exact(2)));
    assert_eq!(matcher.mask_within(1).unwrap_err().code(), "matcher/budget");
    assert_eq!(ids(&matcher.mask_within(2).unwrap()), [0, 1]);
}

/// Inside a key that several members share, only the members that may follow in the declared order give an upper bound
/// of the distance. Here `nb` would be as short as `x`, but it may not precede `x`.
#[test]
fn a_member_behind_a_required_one_is_no_way_to_the_end() {
    let schema = r#"{"type": "object", "additionalProperties": false, "required": ["x", "nb"],
        "properties": {"na": {"const": 1}, "x": {"const": 1}, "nb": {"const": 1}}}"#;
    let options = json_schema::Options::default().whitespace(json_schema::Whitespace::Compact);
    let grammar = json_schema::compile(schema, &options).unwrap().grammar;
    let texts: Vec<String> = (b' '..=b'~').map(|byte| char::from(byte).to_string()).collect();
    let end = TokenId::new(texts.len() as u32);
    let vocabulary = VocabularyBuilder::from_tokens(&texts).special(end, "<end>").eos([end]).build().unwrap();
    let mut matcher = Compiler::new(Arc::new(vocabulary)).compile(&grammar).unwrap().matcher();
    matcher.accept_bytes(br#"{""#).unwrap();
    let least = r#"x":1,"nb":1}"#.len();
    assert_eq!(matcher.distance().unwrap(), Distance::Exact(least));
    for (budget, expected) in [(least, vec!['x']), (least + 6, vec!['x']), (least + 7, vec!['n', 'x'])] {
        let mask = matcher.mask_within(budget).unwrap();
        let found: Vec<char> = mask.iter().map(|token| char::from(token.get() as u8 + b' ')).collect();
        assert_eq!(found, expected, "within {budget}");
    }
}
