//! Random walks under masks within budgets, over JSON Schemas with every kind of register. Each walk ends within its
//! budget with a complete and valid text.

use flate2::read::MultiGzDecoder;
use grammata::grammar::{FreeText, GrammarBuilder, TokenScope, TokenSelector, TokenTerminal};
use grammata::mask::Distance;
use grammata::syntax::json_schema;
use grammata::{CompiledGrammar, Compiler, Limits, Matcher, TokenId, Vocabulary};
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::sync::{Arc, OnceLock};

/// Schemas that are hard to complete: with counts, conditions, different items and names, patterns, nested
/// requirements.
const HARD: &[&str] = &[
    r#"{"type": "array", "items": {"type": "integer", "minimum": 0, "maximum": 12}, "uniqueItems": true, "minItems": 9}"#,
    r#"{"type": "array", "items": {"enum": ["a", "b", "ab", "ba"]}, "uniqueItems": true, "minItems": 4}"#,
    r#"{"type": "object", "minProperties": 3, "additionalProperties": {"type": "integer"}}"#,
    r#"{"type": "object", "propertyNames": {"enum": ["a", "b", "c", "aa"]}, "minProperties": 4}"#,
    r#"{"type": "object", "propertyNames": {"pattern": "^[ab]{1,2}$"}, "minProperties": 5, "additionalProperties": {"type": "null"}}"#,
    r#"{"type": "string", "minLength": 30, "maxLength": 40}"#,
    r#"{"type": "string", "pattern": "^(ab|c){5,}$", "minLength": 9}"#,
    r#"{"type": "string", "pattern": "[0-9]{4}", "maxLength": 9}"#,
    r#"{"type": "array", "items": {"type": "array", "items": {"type": "number"}, "minItems": 2}, "minItems": 3}"#,
    r#"{"type": "object", "properties": {"kind": {"enum": ["x", "y"]}, "x": {"type": "string"}, "y": {"type": "array", "minItems": 3}},
        "required": ["kind"], "if": {"properties": {"kind": {"const": "y"}}}, "then": {"required": ["y"]}, "else": {"required": ["x"]},
        "additionalProperties": false}"#,
    r#"{"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "string"}, "c": {"type": "boolean"}},
        "dependentRequired": {"a": ["b"], "b": ["c"]}, "minProperties": 1, "additionalProperties": false}"#,
    r##"{"$ref": "#/$defs/node", "$defs": {"node": {"type": "object", "required": ["value", "next"], "additionalProperties": false,
        "properties": {"value": {"type": "number"}, "next": {"anyOf": [{"type": "null"}, {"$ref": "#/$defs/node"}]}}}}}"##,
    r#"{"oneOf": [{"type": "object", "required": ["longer name of a member"]}, {"type": "integer", "multipleOf": 7, "minimum": 100}]}"#,
    r#"{"not": {"type": "string"}}"#,
    r#"{}"#,
];

fn vocabulary() -> Arc<Vocabulary> {
    static SHARED: OnceLock<Arc<Vocabulary>> = OnceLock::new();
    let load = || Vocabulary::from_file("tests/data/smollm2/tokenizer.json", &Default::default()).unwrap();
    Arc::clone(SHARED.get_or_init(|| Arc::new(load())))
}

fn compiled(schema: &str, limits: Limits) -> CompiledGrammar {
    let schema = json_schema::compile(schema, &json_schema::Options::default()).unwrap();
    Compiler::new(vocabulary()).limits(limits).compile(&schema.grammar).unwrap()
}

/// A pseudo-random number generator: the linear congruential generator of Knuth's MMIX.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((self.0 >> 33) as usize) % limit.max(1)
    }
}

/// Walks to the end of a text within `budget` tokens, with random tokens of the masks. Returns the text.
fn walk(matcher: &mut Matcher, budget: usize, random: &mut Random) -> String {
    for left in (0..=budget).rev() {
        let mask = matcher.mask_within(left).unwrap();
        let allowed: Vec<TokenId> = mask.iter().collect();
        assert!(!allowed.is_empty(), "nothing may come");
        let token = allowed[random.below(allowed.len())];
        matcher.accept_token(token).unwrap();
        if matcher.is_finished() {
            break;
        }
        assert!(left > 0, "over the budget");
    }
    assert!(matcher.is_accepting());
    String::from_utf8(matcher.bytes()).unwrap()
}

fn walks(schema: &str, limits: &Limits, seeds: std::ops::Range<u64>) {
    let compiled = compiled(schema, limits.clone());
    let validator = jsonschema::draft202012::new(&serde_json::from_str(schema).unwrap()).unwrap();
    let least = compiled.matcher().distance().unwrap();
    let least = least.known().unwrap_or_else(|| panic!("{schema}: {least}"));
    let error = compiled.matcher().mask_within(least - 1).map(|_| ());
    let exact = matches!(compiled.matcher().distance().unwrap(), Distance::Exact(_));
    assert!(error.is_err() || !exact, "{schema}");
    for seed in seeds {
        let mut random = Random(seed);
        let budget = least + [0, 0, 1, 2, 5, 9, 20][random.below(7)];
        let mut matcher = compiled.matcher();
        let text = walk(&mut matcher, budget, &mut random);
        let value: Value = serde_json::from_str(&text).unwrap();
        assert!(validator.is_valid(&value), "{schema}\n{text}");
    }
}

fn rounds() -> u64 {
    let cases: u64 = std::env::var("GRAMMATA_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(500);
    cases.div_ceil(250)
}

#[test]
fn walks_over_hard_schemas_end_in_time() {
    for schema in HARD {
        walks(schema, &Limits::default(), 0..rounds());
    }
}

#[test]
fn walks_end_in_time_where_tables_are_dropped_again_and_again() {
    let limits = Limits::default().cache_bytes(1 << 20);
    for schema in [HARD[2], HARD[8], HARD[9]] {
        walks(schema, &limits, 0..rounds());
    }
}

/// On a real vocabulary, a mask within a budget agrees with the answers for single tokens, after several prefixes.
#[test]
fn masks_within_budgets_in_strings_have_the_tokens_that_may_come() {
    let text = r#"{"type": "object", "required": ["a"],
        "properties": {"a": {"type": "string"}, "b": {"type": "string", "maxLength": 6}}}"#;
    let vocabulary = vocabulary();
    for closed in [false, true] {
        let mut schema: Value = serde_json::from_str(text).unwrap();
        if closed {
            schema["additionalProperties"] = false.into();
        }
        let compiled = compiled(&schema.to_string(), Limits::default());
        let prefixes = [
            r#"{"a": "x"#,
            r#"{"a"#,
            r#"{"a": "x", "b": "y"#,
            r#"{"a": "x", "z"#,
            r#"{"a": "x", "z": "y"#,
            r#"{"a": "x", "z": "y", "q"#,
        ];
        for prefix in prefixes {
            let mut matcher = compiled.matcher();
            if closed && prefix.contains('z') {
                continue;
            }
            matcher.accept_bytes(prefix.as_bytes()).unwrap();
            let least = matcher.distance().unwrap().known().unwrap();
            for budget in [least, least + 1, least + 2, least + 3, least + 6, least + 40] {
                let mask = matcher.fork().mask_within(budget).unwrap();
                let quotes = vocabulary.tokens().filter(|(_, bytes)| bytes.contains(&b'"')).step_by(7);
                let others = vocabulary.tokens().step_by(401);
                for (token, _) in quotes.chain(others) {
                    let may_come = matcher.fork().is_token_allowed_within(token, budget).unwrap();
                    let what = format!("{token:?} after {prefix} within {budget} tokens, {least} at least");
                    assert_eq!(mask.contains(token), may_come, "{what}");
                }
            }
        }
    }
}

/// Compiles a grammar of a thought, a special token and a JSON text of the schema. The thought is free text if
/// `of_text`, otherwise any tokens but two special ones.
fn after_a_thought(schema: &str, of_text: bool) -> CompiledGrammar {
    let schema = json_schema::compile(schema, &json_schema::Options::default()).unwrap();
    let mut g = GrammarBuilder::new();
    let root = g.declare("root");
    let close = g.token(TokenTerminal::named("<|im_end|>"));
    let object = g.import(&schema.grammar);
    let answer = g.sequence([close, object]);
    let whole = match of_text {
        true => g.free_text(&FreeText { end: Some(answer), ..FreeText::default() }),
        false => {
            let selectors = ["<|im_end|>", "<|endoftext|>"].map(|name| TokenSelector::Name(name.into()));
            let any = g.token(TokenTerminal::new(TokenScope::AllBut, selectors));
            let thought = g.star(any);
            g.sequence([thought, answer])
        }
    };
    g.define(root, whole);
    Compiler::new(vocabulary()).compile(&g.build(root).unwrap()).unwrap()
}

#[test]
fn walks_through_a_thought_to_an_answer_end_in_time() {
    let close = vocabulary().special_id("<|im_end|>").unwrap();
    let mut thoughts = 0;
    for (place, schema) in [HARD[2], HARD[5], HARD[9]].into_iter().enumerate() {
        let compiled = after_a_thought(schema, place % 2 == 0);
        let validator = jsonschema::draft202012::new(&serde_json::from_str(schema).unwrap()).unwrap();
        let least = compiled.matcher().distance().unwrap().known();
        let least = least.unwrap_or_else(|| panic!("{schema}: no distance is known"));
        assert_eq!(compiled.matcher().mask_within(0).unwrap_err().code(), "matcher/budget");
        for seed in 0..rounds().div_ceil(2) {
            let mut random = Random(seed);
            let budget = least + [9, 30, 0, 1, 3][(place + seed as usize) % 5];
            let mut matcher = compiled.matcher();
            let mut answer = None;
            for left in (0..=budget).rev() {
                let allowed: Vec<TokenId> = matcher.mask_within(left).unwrap().iter().collect();
                assert!(!allowed.is_empty(), "nothing may come");
                let token = allowed[random.below(allowed.len())];
                assert!(matcher.is_token_allowed_within(token, left).unwrap());
                matcher.accept_token(token).unwrap();
                if token == close && answer.is_none() {
                    answer = Some(matcher.byte_count());
                }
                thoughts += usize::from(answer.is_none());
                if matcher.is_finished() {
                    break;
                }
                assert!(left > 0, "over the budget");
            }
            assert!(matcher.is_accepting());
            let text = matcher.bytes().split_off(answer.unwrap());
            let value: Value = serde_json::from_slice(&text).unwrap();
            assert!(validator.is_valid(&value), "{schema}\n{}", String::from_utf8_lossy(&text));
        }
    }
    assert!(thoughts > 0, "{thoughts}");
}

/// Walks over 300 schemas of a file of MaskBench, evenly spaced among those that compile. `GRAMMATA_SCHEMAS` names the
/// file (one JSON object per line, compressed with gzip). `GRAMMATA_WALKS` is the number of walks, 5,000 by default.
#[test]
fn walks_over_schemas_of_a_file_end_in_time() {
    // the test takes long, and the file is not part of the repository
    let Some(path) = std::env::var_os("GRAMMATA_SCHEMAS") else {
        eprintln!("not run: GRAMMATA_SCHEMAS names no file");
        return;
    };
    let number = |name: &str| std::env::var(name).ok().and_then(|n| n.parse::<usize>().ok());
    let (count, walks) = (300, number("GRAMMATA_WALKS").unwrap_or(5_000));
    let file = MultiGzDecoder::new(std::fs::File::open(path).unwrap());
    let lines: Vec<String> = BufReader::new(file).lines().map(|line| line.unwrap()).collect();
    let (mut schemas, mut done, mut tokens) = (0, 0, 0);
    let (mut distances, mut at_most, mut unknown) = (0, 0, 0);
    let mut random = Random(26);
    let mut place = 0;
    while schemas < count && place < lines.len() {
        let line: Value = serde_json::from_str(&lines[place]).unwrap();
        // if this schema cannot be used, the next line is tried
        place = place.max(schemas * lines.len() / count) + 1;
        let (id, text) = (line["id"].as_str().unwrap(), line["schema"].as_str().unwrap());
        let document: Value = serde_json::from_str(text).unwrap();
        let Ok(validator) = jsonschema::validator_for(&document) else { continue };
        let Ok(schema) = json_schema::compile(text, &json_schema::Options::default()) else { continue };
        let Ok(compiled) = Compiler::new(vocabulary()).compile(&schema.grammar) else { continue };
        let Some(least) = compiled.matcher().distance().unwrap().known() else {
            eprintln!("{id}: no distance is known");
            unknown += 1;
            continue;
        };
        schemas += 1;
        while done < walks * schemas / count {
            let budget = least + [0, 0, 1, 2, 5, 9, 20, 60][random.below(8)];
            let mut matcher = compiled.matcher();
            let text = walk(&mut matcher, budget, &mut random);
            assert!(matcher.steps() <= budget + 1, "{id}: {} steps of {budget}", matcher.steps());
            let value: Value = serde_json::from_str(&text).unwrap_or_else(|e| panic!("{id}: {e}\n{text}"));
            assert!(validator.is_valid(&value), "{id} within {budget}\n{text}");
            done += 1;
            tokens += matcher.steps();
        }
        let counts = compiled.statistics();
        distances += counts.distances;
        at_most += counts.distances_at_most;
        unknown += counts.distances_unknown;
        if schemas % 10 == 0 {
            eprintln!(
                "{schemas} schemas, {done} walks, {tokens} tokens, {distances} distances, {at_most} at most, {unknown} unknown"
            );
        }
    }
    assert_eq!((schemas, done), (count, walks));
}
