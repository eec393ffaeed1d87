//! Masks within budgets in lists whose items must differ: the bounds fall, no granted budget leads to a dead end, and
//! tokens that an exhaustive search allows are rarely forbidden.

use grammata::syntax::json_schema::{self, Whitespace};
use grammata::vocabulary::VocabularyBuilder;
use grammata::{CompiledGrammar, Compiler, Matcher, TokenId, Vocabulary};
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use serde_json::json;
use std::sync::Arc;

const SCHEMAS: [&str; 13] = [
    r#"{"type": "array", "uniqueItems": true, "items": {"type": "string"}}"#,
    r#"{"type": "array", "uniqueItems": true, "minItems": 1, "items": {"type": ["string", "integer"]}}"#,
    r#"{"type": "array", "uniqueItems": true, "minItems": 3, "items": {"type": "integer"}}"#,
    r#"{"type": "array", "uniqueItems": true, "items": {"enum": [1, "a", "ab", true]}}"#,
    r#"{"type": "array", "uniqueItems": true, "items": {"anyOf": [{"enum": ["a", "ab"]}, {"type": "string", "pattern": "^a?b+$"}]}}"#,
    r#"{"type": "array", "uniqueItems": true, "maxItems": 2, "items": {"type": "array", "uniqueItems": true, "minItems": 1, "items": {"type": "string", "maxLength": 2}}}"#,
    r#"{"type": "array", "uniqueItems": true, "items": {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"], "additionalProperties": false}}"#,
    r#"{"type": "array", "uniqueItems": true, "items": {"type": "object", "additionalProperties": {"enum": [1, 2]}, "maxProperties": 2}}"#,
    r#"{"type": "object", "properties": {"b": {"type": "array", "uniqueItems": true, "items": {"type": "string"}}, "a": {"type": "integer"}}, "required": ["a", "b"], "additionalProperties": false}"#,
    // a name may be needed that differs from those read, or a value of another alternative
    r#"{"type": "array", "uniqueItems": true, "items": {"type": "object", "additionalProperties": {"const": 1}}}"#,
    r#"{"anyOf": [{"type": "array", "uniqueItems": true, "minItems": 3, "items": {"type": "string", "pattern": "^[a-z]*$"}},
        {"type": "array", "minItems": 2, "maxItems": 2, "prefixItems": [{"type": "string", "pattern": "^[a-z]*$"}, {"const": 11}]}]}"#,
    // finitely many items
    r#"{"type": "array", "uniqueItems": true, "minItems": 1, "items": {"enum": ["a", "b", "ab", "ba", "1"]}}"#,
    r#"{"type": "array", "uniqueItems": true, "items": {"type": "array", "uniqueItems": true, "minItems": 1, "items": {"enum": ["a", "b", 1, 11]}}}"#,
];

/// Compiles a schema for single bytes and some longer tokens; the end token comes last.
fn compiled(schema: &str) -> CompiledGrammar {
    let longer = ["ab", "\",\"", "\"]", "[\"", "\",\"a", "{\"a\":", "\":", "1,", "},{\"", "11"];
    let bytes: Vec<Vec<u8>> = br#"[]{}",:0123456789abtruefals-.\"#.iter().map(|&byte| vec![byte]).collect();
    let mut tokens: Vec<Vec<u8>> =
        bytes.into_iter().chain(longer.iter().map(|text| text.as_bytes().to_vec())).collect();
    tokens.sort_unstable();
    tokens.dedup();
    tokens.push(Vec::new());
    let end = TokenId::new(tokens.len() as u32 - 1);
    let vocabulary = VocabularyBuilder::from_tokens(tokens).eos([end]).build().unwrap();
    let options = json_schema::Options::default().whitespace(Whitespace::Compact);
    let schema = json_schema::compile(schema, &options).unwrap();
    Compiler::new(Arc::new(vocabulary)).compile(&schema.grammar).unwrap()
}

/// Whether at most `budget` tokens complete the text, by trying all of them.
fn ends_within(matcher: &Matcher, budget: usize) -> bool {
    if matcher.is_accepting() {
        return true;
    }
    let mut matcher = matcher.fork();
    let allowed: Vec<TokenId> = match budget {
        0 => return false,
        _ => matcher.mask().unwrap().iter().collect(),
    };
    allowed.into_iter().any(|token| {
        let mut after = matcher.fork();
        after.accept_token(token).unwrap();
        ends_within(&after, budget - 1)
    })
}

/// The token after which the bound falls; the bound is above 0.
fn falling(matcher: &mut Matcher, bound: usize) -> Option<TokenId> {
    let allowed: Vec<TokenId> = matcher.mask().unwrap().iter().collect();
    allowed.into_iter().find(|&token| {
        let mut after = matcher.fork();
        after.accept_token(token).unwrap();
        after.potential().unwrap().is_some_and(|after| after < bound)
    })
}

#[derive(Debug, Default)]
struct Seen {
    /// Places with a bound, and those inside or after the first item of a list among them.
    bounds: usize,
    without: usize,
    /// Tokens that leave time for a completion of few tokens, and those of them that masks within budgets have.
    possible: usize,
    allowed: usize,
}

fn walk(compiled: &CompiledGrammar, random: &mut StdRng, seen: &mut Seen) {
    let mut matcher = compiled.matcher();
    for _ in 0..random.random_range(1..14) {
        let text = String::from_utf8_lossy(&matcher.bytes()).into_owned();
        let plain: Vec<TokenId> = matcher.mask().unwrap().iter().collect();
        match matcher.potential().unwrap() {
            Some(bound) => {
                seen.bounds += 1;
                assert_eq!(bound == 0, matcher.is_accepting(), "{text}");
                assert!(
                    bound == 0 || falling(&mut matcher, bound).is_some(),
                    "{text}: {bound} does not fall"
                );
            }
            None => seen.without += 1,
        }
        let budget = random.random_range(1..4);
        if let Ok(mask) = matcher.mask_within(budget) {
            for &token in &plain {
                let mut after = matcher.fork();
                after.accept_token(token).unwrap();
                if after.is_finished() {
                    continue;
                }
                let is_possible = ends_within(&after, budget - 1);
                let is_allowed = mask.contains(token);
                assert!(is_possible || !is_allowed, "{text} within {budget}: {token:?} leads to a dead end");
                assert_eq!(matcher.is_token_allowed_within(token, budget), Ok(is_allowed), "{text}");
                seen.possible += usize::from(is_possible);
                seen.allowed += usize::from(is_allowed);
            }
        }
        matcher.accept_token(*plain.choose(random).unwrap()).unwrap();
        if matcher.is_finished() {
            return;
        }
    }
    // whatever budget is granted is kept, whichever tokens are taken
    let text = String::from_utf8_lossy(&matcher.bytes()).into_owned();
    let Some(budget) = matcher.distance().unwrap().known() else { return };
    let budget = budget + random.random_range(0..6);
    for left in (0..=budget).rev() {
        if matcher.is_finished() || left == 0 {
            break;
        }
        let mask = matcher.mask_within(left).unwrap_or_else(|error| panic!("{text}: {left}: {error}"));
        let allowed: Vec<TokenId> = mask.iter().collect();
        matcher.accept_token(*allowed.choose(random).unwrap()).unwrap();
    }
    assert!(matcher.is_finished() || matcher.is_accepting(), "{text}: not complete within {budget}");
}

#[test]
fn budgets_hold_where_items_must_differ() {
    let mut random = StdRng::seed_from_u64(11);
    for schema in SCHEMAS {
        let (compiled, mut seen) = (compiled(schema), Seen::default());
        for _ in 0..20 {
            walk(&compiled, &mut random, &mut seen);
        }
        eprintln!("{schema}: {seen:?}");
        assert!(seen.allowed * 100 >= seen.possible * 85, "{schema}: {seen:?}");
        // lists of two items or more have no bound, nor have those of finitely many different items
        let is_free = !schema.contains("enum") && !schema.contains("minItems\": 3");
        assert!(!is_free || seen.bounds > seen.without * 3, "{schema}: {seen:?}");
    }
}

fn smollm2() -> Arc<Vocabulary> {
    Arc::new(Vocabulary::from_file("tests/data/smollm2/tokenizer.json", &Default::default()).unwrap())
}

/// Each token of an item leads to a configuration of its own, because the item is remembered. A mask must not visit
/// them all: that took 3 seconds and 200 megabytes.
#[test]
fn a_mask_within_an_item_does_not_visit_all_its_continuations() {
    let schema = json_schema::compile(
        r#"{"type": "array", "uniqueItems": true, "items": {"type": "string"}}"#,
        &Default::default(),
    );
    let compiled = Compiler::new(smollm2()).compile(&schema.unwrap().grammar).unwrap();
    let mut matcher = compiled.matcher();
    matcher.accept_bytes(br#"["first", "fi"#).unwrap();
    let plain = matcher.mask().unwrap();
    matcher.mask_within(20).unwrap();
    let before = compiled.memory_usage();
    for text in ["n", "e", " w", "ords"] {
        matcher.accept_bytes(text.as_bytes()).unwrap();
        let mask = matcher.mask_within(20).unwrap();
        assert!(mask.len() * 100 > plain.len() * 99, "{text}: {} of {}", mask.len(), plain.len());
    }
    let grown = compiled.memory_usage() - before;
    assert!(grown < 4 << 20, "{grown} bytes for four masks");
}

/// The shortest completion has more than 4,096 letters, each of which was once counted as a token.
#[test]
fn a_long_completion_is_counted_in_tokens() {
    let names: Vec<String> = (0..300).map(|place| format!("requiredProperty{place}")).collect();
    let properties = names.iter().map(|name| (name.clone(), json!({"type": "boolean"})));
    let properties: serde_json::Map<_, _> = properties.collect();
    let schema = json!({"type": "object", "properties": properties, "required": names}).to_string();
    let schema = json_schema::compile(&schema, &Default::default()).unwrap();
    let compiled = Compiler::new(smollm2()).compile(&schema.grammar).unwrap();
    let mut matcher = compiled.matcher();
    matcher.accept_bytes(br#"{"required"#).unwrap();
    let least = matcher.distance().unwrap().known().unwrap();
    let plain = matcher.mask().unwrap().len();
    let within = matcher.mask_within(least + least / 10).unwrap().len();
    assert_eq!(within, plain, "{least} tokens suffice");
}

/// Places where names must differ from those read, or where another alternative continues.
#[test]
fn granted_budgets_hold_after_each_token_beside_names_and_alternatives() {
    let named = r#"{"type": "array", "uniqueItems": true, "items": {"type": "object", "additionalProperties": {"const": 1}}}"#;
    let mut masks = 0;
    for (schema, prefix) in [(named, r#"[{"":1},{"":"#), (named, r#"[{"a":1},{"a"#), (SCHEMAS[10], r#"["a""#)]
    {
        let compiled = compiled(schema);
        for budget in 1..14 {
            let mut matcher = compiled.matcher();
            matcher.accept_bytes(prefix.as_bytes()).unwrap();
            let Ok(mask) = matcher.mask_within(budget) else { continue };
            masks += 1;
            for token in mask.iter() {
                let mut asked = compiled.matcher();
                asked.accept_bytes(prefix.as_bytes()).unwrap();
                assert_eq!(
                    asked.is_token_allowed_within(token, budget),
                    Ok(true),
                    "{prefix} {budget} {token:?}"
                );
                let mut after = matcher.fork();
                after.accept_token(token).unwrap();
                if !after.is_finished() && !after.is_accepting() {
                    let left = after.mask_within(budget - 1);
                    assert!(left.is_ok_and(|mask| !mask.is_empty()), "{prefix} {budget} {token:?}");
                }
            }
        }
    }
    assert!(masks > 20, "{masks}");
}
