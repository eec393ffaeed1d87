//! Masks within budgets of tokens take bounded time and memory, and equal the plain masks if the budget is ample.

use crate::shipped::shipped;
use grammata::syntax::automaton_spec;
use grammata::syntax::json_schema::{self, PropertyOrder};
use grammata::{CompiledGrammar, Compiler, TokenId, Vocabulary};
use serde_json::json;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// The most time that a mask may take in the test profile. An optimised program takes at most 2 seconds.
const TIME: Duration = Duration::from_secs(60);

/// The most bytes that a compiled grammar may use after its masks were computed.
const BYTES: usize = 200 << 20;

fn vocabulary() -> Arc<Vocabulary> {
    static SHARED: OnceLock<Arc<Vocabulary>> = OnceLock::new();
    let load = || Vocabulary::from_file("tests/data/smollm2/tokenizer.json", &Default::default()).unwrap();
    Arc::clone(SHARED.get_or_init(|| Arc::new(load())))
}

fn compiled(schema: &str, order: PropertyOrder) -> CompiledGrammar {
    let options = json_schema::Options::default().property_order(order);
    let schema = json_schema::compile(schema, &options).unwrap();
    Compiler::new(vocabulary()).compile(&schema.grammar).unwrap()
}

/// Computes the masks within some budgets after a text. Each must succeed, or fail because no completion is known, in
/// bounded time and memory.
fn are_bounded(schema: &str, order: PropertyOrder, prefix: &str, budgets: &[usize]) {
    let compiled = compiled(schema, order);
    let mut matcher = compiled.matcher();
    matcher.accept_bytes(prefix.as_bytes()).unwrap();
    let name: String = schema.chars().take(80).collect();
    for &budget in budgets {
        let start = Instant::now();
        let error = matcher.fork().mask_within(budget).err().map(|error| error.code().to_owned());
        let time = start.elapsed();
        assert!(error.as_deref().is_none_or(|code| code == "matcher/budget"), "{name} {budget}: {error:?}");
        assert!(time < TIME, "{name} after {prefix:?} within {budget}: {time:?}");
        let bytes = compiled.memory_usage();
        assert!(bytes < BYTES, "{name} after {prefix:?} within {budget}: {bytes} bytes");
    }
}

/// Each of these masks once took between 2 and 30 seconds in an optimised program, or hundreds of megabytes.
#[test]
fn masks_within_budgets_take_bounded_time_and_memory() {
    let numbers = r#"{"type": "array", "uniqueItems": true, "minItems": 20,
        "items": {"type": "integer", "minimum": 0, "maximum": 30}}"#;
    let budgets = [50, 60, 100, 600, 10_000];
    for prefix in ["", "[", "[1,2"] {
        are_bounded(numbers, PropertyOrder::Declared, prefix, &budgets);
    }
    let names = r#"{"type": "object", "additionalProperties": {"type": "string", "minLength": 40}, "minProperties": 8}"#;
    are_bounded(names, PropertyOrder::Declared, r#"{"ab"#, &[400, 10_000]);
    are_bounded(
        r#"{"type": "object", "minProperties": 1000000}"#,
        PropertyOrder::Declared,
        "",
        &[200, 10_000],
    );
    are_bounded(r#"{"type": "array", "minItems": 100000}"#, PropertyOrder::Declared, "", &[200, 10_000]);
    are_bounded(
        r#"{"type": "array", "minItems": 1000000000}"#,
        PropertyOrder::Declared,
        "[1",
        &[200, 10_000],
    );
}

/// In a product of many operands, a search that only serves a budget ends before it has examined all product states.
#[test]
fn masks_within_budgets_in_products_of_many_operands_take_bounded_time_and_memory() {
    for count in [16, 20, 24] {
        let multiples: Vec<_> = (1..=count).map(|n| json!({"multipleOf": f64::from(n) * 0.125})).collect();
        let multiples = json!({"type": "number", "oneOf": multiples}).to_string();
        are_bounded(&multiples, PropertyOrder::Declared, "", &[2, 200]);
    }
    let few: Vec<u32> = (0..60).collect();
    let values = json!({"oneOf": [{"multipleOf": 1.7}, {"type": "string", "minLength": 60, "maxLength": 600},
        {"enum": (0..20).collect::<Vec<u32>>()}]});
    let members = json!({"type": "object", "minProperties": 40, "patternProperties": {
        "^fz": {"enum": few}, "^c.*z": {"multipleOf": 13}, "^f.*y": {"type": "string", "pattern": "^(a|b)*a(a|b){3}$"}}});
    let mixed = json!({"allOf": [members, values]}).to_string();
    are_bounded(&mixed, PropertyOrder::Declared, "", &[200, 1_000]);
}

#[test]
fn many_names_that_are_required_in_any_order_take_bounded_time() {
    let names: Vec<String> = (0..3_000).map(|place| format!("k{place}")).collect();
    let schema = json!({"type": "object", "required": names}).to_string();
    are_bounded(&schema, PropertyOrder::Any, "", &[200, 10_000]);
}

/// A thought of bounded length is followed by a call. The mask within the thought does not depend on whether the
/// arguments may have names that the schema does not list, and once the configurations are known, masks take no walk
/// over the vocabulary.
#[test]
fn a_thought_before_an_open_object_has_all_its_tokens() {
    let spec = |closed: &str| {
        format!(
            r#"
            kind = "nfa"
            start = "a"
            accepting = ["c"]
            transitions = [{{ from = "a", input = "think", to = "b" }}, {{ from = "b", input = "call", to = "c" }}]
            [symbols.think]
            free_text = {{ until = ["</think>"], max_tokens = 500 }}
            [symbols.call]
            text = "weather({{}})"
            arguments = {{ type = "object", properties = {{ city = {{ type = "string" }} }}, required = ["city"]{closed} }}
            "#
        )
    };
    let mut allowed = Vec::new();
    for closed in ["", ", additionalProperties = false"] {
        let compiled = automaton_spec::compile(&spec(closed), &Default::default()).unwrap();
        let compiled = Compiler::new(vocabulary()).compile(&compiled.grammar).unwrap();
        let mut matcher = compiled.matcher();
        matcher.accept_bytes(b"I should look").unwrap();
        let plain = matcher.mask().unwrap();
        let start = Instant::now();
        let within = matcher.mask_within(2_000).unwrap();
        assert!(start.elapsed() < TIME, "{:?}", start.elapsed());
        assert_eq!(within.to_bits(), plain.to_bits(), "additionalProperties: {closed:?}");
        allowed.push(within.iter().count());
        let thought: Vec<TokenId> = (0..400)
            .map(|step| {
                let allowed: Vec<TokenId> = matcher.mask_within(2_000 - step).unwrap().iter().collect();
                let token = allowed[step * 7919 % allowed.len()];
                matcher.accept_token(token).unwrap();
                token
            })
            .collect();
        matcher.rollback(thought.len()).unwrap();
        let start = Instant::now();
        for (step, &token) in thought.iter().enumerate() {
            assert!(matcher.mask_within(2_000 - step).unwrap().contains(token));
            matcher.accept_token(token).unwrap();
        }
        assert!(start.elapsed() < TIME / 20, "{closed:?}: {:?}", start.elapsed());
    }
    assert!(allowed[0] > 40_000 && allowed[0] == allowed[1], "{allowed:?}");
}

/// Within an ample budget, each token of the plain mask leaves time for a completion, and a search finds one.
#[test]
fn ample_budgets_leave_time_for_a_completion_after_each_token() {
    let compiler = Compiler::new(vocabulary());
    let (mut grammars, mut ample, mut asked) = (0, 0, 0);
    for (name, grammar, texts) in shipped() {
        let compiled = compiler.compile(&grammar).unwrap();
        let mut found = false;
        for text in texts.iter().take(2) {
            let Some(tokens) = compiler.vocabulary().encode_greedy(text) else { continue };
            let mut matcher = compiled.matcher();
            for (place, token) in tokens.into_iter().take(40).enumerate() {
                let plain: Vec<TokenId> = matcher.mask().unwrap().iter().collect();
                if let Some(budget) = matcher.ample_budget().unwrap() {
                    found = true;
                    for &token in plain.iter().skip(place % 7).step_by(plain.len().div_ceil(12)) {
                        let mut after = matcher.fork();
                        after.accept_token(token).unwrap();
                        let distance = after.distance().unwrap().known();
                        assert!(
                            distance.is_some_and(|distance| distance < budget),
                            "{name}: {token:?} after {:?}: {distance:?} within {budget}",
                            String::from_utf8_lossy(&matcher.bytes())
                        );
                        asked += 1;
                    }
                }
                matcher.accept_token(token).unwrap();
            }
        }
        grammars += 1;
        ample += usize::from(found);
    }
    eprintln!("{grammars} grammars, {ample} with ample budgets, {asked} tokens");
    assert!(
        ample * 2 > grammars && asked > 1_000,
        "{grammars} grammars, {ample} with ample budgets, {asked} tokens"
    );
}
