//! Masks within budgets where names of objects must differ, with vocabularies of single bytes: no mask within a granted
//! budget is empty, and each of its tokens may come by itself.

use grammata::syntax::json_schema::{self, PropertyOrder, Whitespace};
use grammata::vocabulary::VocabularyBuilder;
use grammata::{CompiledGrammar, Compiler, Limits, Matcher, TokenId};
use grammata_testing::budgets::{Walks, walks_within_budgets};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use std::sync::Arc;

/// `GRAMMATA_CASES` sets the number of cases, of two walks each, and `GRAMMATA_SEED` the seed.
#[test]
fn walks_within_budgets_never_meet_an_empty_mask() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let cases = number("GRAMMATA_CASES").unwrap_or(300);
    let mut random = StdRng::seed_from_u64(number("GRAMMATA_SEED").unwrap_or(61));
    let (mut all, mut broken) = (Walks::default(), Vec::new());
    for _ in 0..cases {
        let bytes: Vec<u8> = (0..random.random_range(20..300)).map(|_| random.random()).collect();
        match walks_within_budgets(&bytes) {
            Ok(walks) => all.add(walks),
            Err(promise) => broken.push(promise),
        }
    }
    eprintln!("{cases} cases, {} broken promises: {all:?}", broken.len());
    assert!(broken.is_empty(), "{}", broken.join("\n"));
    assert!(all.walks as u64 > cases && all.undecided as u64 * 2 < cases, "{all:?}");
}

/// Compiles a schema for the single bytes and further tokens; the end token comes last.
fn compiled(schema: &str, further: &[&str], limits: Limits) -> CompiledGrammar {
    try_compiled(schema, further, limits).unwrap()
}

fn try_compiled(schema: &str, further: &[&str], limits: Limits) -> grammata::Result<CompiledGrammar> {
    let options = json_schema::Options::default()
        .property_order(PropertyOrder::Any)
        .whitespace(Whitespace::Compact)
        .limits(limits.clone());
    let schema = json_schema::compile(schema, &options)?;
    let tokens =
        (0..=255u8).map(|byte| vec![byte]).chain(further.iter().map(|text| text.as_bytes().to_vec()));
    let tokens: Vec<Vec<u8>> = tokens.chain([Vec::new()]).collect();
    let end = TokenId::new(tokens.len() as u32 - 1);
    let vocabulary = VocabularyBuilder::from_tokens(tokens).eos([end]).build().unwrap();
    Compiler::new(Arc::new(vocabulary)).limits(limits).compile(&schema.grammar)
}

fn after(compiled: &CompiledGrammar, text: &str) -> Matcher {
    let mut matcher = compiled.matcher();
    matcher.accept_bytes(text.as_bytes()).unwrap();
    matcher
}

/// Each text is within or before a name that may equal one that was read; `least` bytes complete it.
#[test]
fn a_name_that_was_read_cannot_end() {
    let free = r#"{"type": "object"}"#;
    let two = r#"{"type": "object", "minProperties": 2}"#;
    let letters =
        r#"{"type": "object", "propertyNames": {"pattern": "^a*$"}, "additionalProperties": {"const": 1}}"#;
    let listed =
        r#"{"type": "object", "properties": {"abc": {"const": 1}}, "additionalProperties": {"const": 1}}"#;
    for (schema, text, least) in [
        (free, r#"{"a":2,"a"#, 5),
        (free, r#"{"a":2,""#, 4),
        (free, r#"{"":2,"#, 6),
        (free, r#"{"":2,""#, 5),
        (free, r#"{"a":2,"ab":3,"a"#, 5),
        (free, r#"{"a":2,"\u006"#, 5),
        (free, r#"{"a":{"b":1,"b"#, 6),
        (two, r#"{"a":2,"a"#, 5),
        (two, r#"{"a":2"#, 6),
        (letters, r#"{"a":1,"aaa":1,"a"#, 5),
        (letters, r#"{"":1,"a":1,"aa":1,""#, 7),
        (listed, r#"{"ab":1,"ab"#, 5),
        (listed, r#"{"ab":1,"abc":1,"ab"#, 5),
    ] {
        let compiled = compiled(schema, &[], Limits::default());
        for budget in least - 1..least + 12 {
            // asked for at once, and after the mask without a budget and the distance were computed
            let mut matcher = after(&compiled, text);
            let found = matcher.fork().mask_within(budget);
            matcher.mask().unwrap();
            assert!(
                matcher.distance().unwrap().known().is_some_and(|known| known >= least),
                "{text} {schema}"
            );
            let again = matcher.mask_within(budget);
            let what = format!("{text} within {budget} under {schema}");
            if budget < least {
                assert_eq!(found.unwrap_err().code(), "matcher/budget", "{what}");
                assert_eq!(again.unwrap_err().code(), "matcher/budget", "{what}");
            } else {
                let found = found.unwrap();
                assert!(!found.is_empty(), "{what}");
                assert_eq!(found, again.unwrap(), "{what}");
            }
        }
    }
}

/// From each place a text is completed within the least budget, by the first token of each mask.
#[test]
fn the_least_budget_completes_a_text_from_each_place() {
    let compiled = compiled(r#"{"type": "object", "minProperties": 2}"#, &[], Limits::default());
    let text = r#"{"a":1,"ab":{"":1,"a":0},"a\u0062c":0}"#;
    for end in 0..text.len() {
        let mut matcher = after(&compiled, &text[..end]);
        let mut budget = matcher.distance().unwrap().known().unwrap();
        while !matcher.is_finished() {
            let mask = matcher.mask_within(budget).unwrap();
            let token = mask.iter().next().unwrap_or_else(|| panic!("{:?} within {budget}", matcher.bytes()));
            matcher.accept_token(token).unwrap();
            budget = budget.saturating_sub(1);
        }
        assert!(matcher.is_accepting());
    }
}

/// Completions of tokens that begin different names are found for one token and kept for the others.
#[test]
fn tokens_of_a_mask_may_come_by_themselves() {
    let schema = r#"{"type": "object", "properties": {}, "minProperties": 3, "maxProperties": 3,
        "propertyNames": {"pattern": "^[ab]*$"}}"#;
    let compiled = compiled(schema, &["ab", "aa", "ba", "bb", "a\"", "b\""], Limits::default());
    let mut matcher = after(&compiled, "{\"");
    let least = matcher.distance().unwrap().known().unwrap();
    let mut asked = 0;
    for budget in least..least + 6 {
        let mask = matcher.mask_within(budget).unwrap();
        for token in mask.iter() {
            assert!(matcher.is_token_allowed_within(token, budget).unwrap(), "{token:?} within {budget}");
            asked += 1;
        }
    }
    assert!(asked > 20, "{asked}");
}

/// Within a budget, a search that reaches a limit has found nothing; it is no error, because the mask without the
/// budget is known.
#[test]
fn a_limit_reached_for_a_budget_is_no_error() {
    let schema = r#"{"type": "array", "minItems": 2, "maxItems": 4, "uniqueItems": true, "items": {"type": "array",
        "minItems": 2, "maxItems": 2, "uniqueItems": true, "items": {"anyOf": [
            {"type": "string", "pattern": "^[ab]+$", "maxLength": 2}, {"type": "integer", "minimum": 0, "maximum": 101}]}}}"#;
    let pairs: Vec<String> = (0..100).map(|pair| format!("{pair:02}")).collect();
    let pairs: Vec<&str> = pairs.iter().map(String::as_str).collect();
    let mut granted = 0;
    for lockstep_search in [300, 3_000, 200_000] {
        let limits = Limits::default().lockstep_search(lockstep_search);
        let Ok(compiled) = try_compiled(schema, &pairs, limits) else { continue };
        for text in ["[[10,22.", "[[10,22", "[[1", "[[10,2],[\"a\"", "[[\"ab\",1],[1,\"ab\"]"] {
            let mut matcher = compiled.matcher();
            if matcher.accept_bytes(text.as_bytes()).is_err() {
                continue;
            }
            for budget in (3..14).rev() {
                // the mask without a budget may reach the limit
                let Ok(plain) = matcher.mask() else { break };
                match matcher.mask_within(budget) {
                    Ok(mask) => {
                        assert!(mask.iter().all(|token| plain.contains(token)) && !mask.is_empty());
                        granted += 1;
                        let token = mask.iter().last().unwrap();
                        if matcher.accept_token(token).is_err() || matcher.is_finished() {
                            break;
                        }
                    }
                    Err(error) => {
                        assert_eq!(
                            error.code(),
                            "matcher/budget",
                            "{text} within {budget}, {lockstep_search}"
                        );
                        break;
                    }
                }
                assert!(matcher.distance().is_ok());
            }
        }
    }
    assert!(granted > 20, "{granted}");
}
