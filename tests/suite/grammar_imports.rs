//! Grammars that are imported into another one: the language is the same, and equal rules are there once.

use crate::properties::config;
use grammata::grammar::{FreeText, Grammar, GrammarBuilder};
use grammata_testing::earley::Recogniser;
use grammata_testing::generate::{Choices, GrammarShape, random_grammar, random_word};
use proptest::prelude::*;

/// A grammar of a number of texts in brackets, which may be nested, with a label around its root.
fn nested(texts: &[&str], label: Option<&str>) -> Grammar {
    let mut g = GrammarBuilder::new();
    let list = g.declare("list");
    let mut ways: Vec<_> = texts.iter().map(|text| g.text(*text)).collect();
    let (open, inner, close) = (g.text("["), g.rule(list), g.text("]"));
    ways.push(g.sequence([open, inner, close]));
    let mut body = g.choice(ways);
    if let Some(label) = label {
        body = g.label(label, body);
    }
    g.define(list, body);
    let inner = g.rule(list);
    let root = g.declare("root");
    let free = FreeText { triggers: vec![("</a>".into(), inner)], ..FreeText::default() };
    let body = g.free_text(&free);
    g.define(root, body);
    g.build(root).unwrap()
}

#[test]
fn equal_rules_are_imported_once() {
    let mut g = GrammarBuilder::new();
    let first = g.import(&nested(&["x", "y"], None));
    let length = g.len();
    assert_eq!(g.import(&nested(&["x", "y"], None)), first);
    assert_eq!(g.len(), length, "nothing is added");
    assert_ne!(g.import(&nested(&["x"], None)), first);
    // labels are places of their grammars
    let labelled = g.import(&nested(&["x", "y"], Some("#/a")));
    assert_ne!(labelled, first);
    assert_ne!(g.import(&nested(&["x", "y"], Some("#/b"))), labelled);
}

fn accepts(grammar: &Grammar, word: &[u8]) -> Option<bool> {
    let recogniser = Recogniser::new(grammar).ok()?;
    let mut state = recogniser.start();
    word.iter().for_each(|&byte| recogniser.advance(&mut state, byte));
    Some(recogniser.is_accepting(&state))
}

proptest! {
    #![proptest_config(config(300))]

    /// A choice of imported grammars, one of them twice, has the words of each.
    #[test]
    fn a_choice_of_imports_has_the_words_of_each(bytes in prop::collection::vec(any::<u8>(), 0..600)) {
        let mut choices = Choices::new(&bytes);
        let shape = GrammarShape { locks: choices.chance(50), triggers: choices.chance(50), ..GrammarShape::default() };
        let grammars = [random_grammar(&mut choices, &shape), random_grammar(&mut choices, &shape)];
        let mut g = GrammarBuilder::new();
        let ways = [&grammars[0], &grammars[1], &grammars[0]].map(|grammar| g.import(grammar));
        let root = g.declare("root");
        let body = g.choice(ways);
        g.define(root, body);
        let Ok(all) = g.build(root) else { return Ok(()) };
        for grammar in &grammars {
            let Ok(recogniser) = Recogniser::new(grammar) else { continue };
            for length in [2, 5, 9] {
                let Some(mut word) = random_word(&mut choices, &recogniser, length) else { continue };
                for _ in 0..2 {
                    let expected: Option<Vec<bool>> = grammars.iter().map(|one| accepts(one, &word)).collect();
                    let Some(expected) = expected else { continue };
                    if let Some(found) = accepts(&all, &word) {
                        prop_assert_eq!(found, expected.contains(&true), "{:?}", String::from_utf8_lossy(&word));
                    }
                    let place = choices.below(word.len().max(1));
                    if place < word.len() {
                        word.remove(place);
                    }
                }
            }
        }
    }
}
