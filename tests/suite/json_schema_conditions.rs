//! JSON Schemas with conditions on combinations of members, compared with a validator: every object over a few names
//! and values is judged, and every text that is made byte by byte is valid and can be completed.

use grammata::syntax::json_schema::{self, PropertyOrder, compile_value};
use grammata::vocabulary::{TokenId, VocabularyBuilder};
use grammata::{CompiledGrammar, Compiler, Error, ErrorKind, Limits};
use grammata_testing::generate::Choices;
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use std::cell::Cell;
use std::sync::LazyLock;

static COMPILER: LazyLock<Compiler> = LazyLock::new(|| {
    let tokens = (0..=255_u8).map(|byte| vec![byte]).chain([Vec::new()]);
    Compiler::new(VocabularyBuilder::from_tokens(tokens).eos([TokenId::new(256)]).build().unwrap().into())
});

fn compile(schema: &Value, order: PropertyOrder) -> Result<CompiledGrammar, Error> {
    let options = json_schema::Options::default().property_order(order);
    COMPILER.compile(&compile_value(schema, &options)?.grammar)
}

fn accepts(compiled: &CompiledGrammar, text: &str) -> bool {
    let mut matcher = compiled.matcher();
    matcher.accept_bytes(text.as_bytes()).is_ok() && matcher.is_accepting()
}

/// A random number generator (Marsaglia's xorshift), for longer walks than choices from bytes make.
struct Random(u64);

impl Random {
    fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % bound
    }
}

/// A document made byte by byte, without white space; mostly of what its names are made of, and of what ends something.
/// Nothing if it becomes too long: the walk may miss the names that are required.
fn made(compiled: &CompiledGrammar, random: &mut Random) -> Result<Option<Value>, TestCaseError> {
    let mut matcher = compiled.matcher();
    let mut made: Vec<u8> = Vec::new();
    while !matcher.is_finished() {
        if made.len() > 4_000 {
            return Ok(None);
        }
        let mask = matcher.mask().map_err(|error| TestCaseError::fail(error.to_string()))?;
        prop_assert!(!mask.is_empty(), "stuck after {}", String::from_utf8_lossy(&made));
        let mut buckets: [Vec<u8>; 3] = Default::default();
        for byte in mask.iter().filter_map(|token| u8::try_from(token.get()).ok()) {
            match byte {
                b' ' | b'\t' | b'\n' | b'\r' => {}
                b'"' | b',' | b'}' => buckets[0].push(byte),
                b'a'..=b'c' | b'x' | b'0'..=b'2' => buckets[1].push(byte),
                _ => buckets[2].push(byte),
            }
        }
        if matcher.is_accepting() && buckets.iter().all(Vec::is_empty) {
            break;
        }
        let first = [0, 0, 0, 1, 1, 1, 2][random.below(7)];
        let found = [first, 0, 1, 2].into_iter().find(|&bucket| !buckets[bucket].is_empty());
        let Some(bucket) = found else {
            let text = String::from_utf8_lossy(&made);
            return Err(TestCaseError::fail(format!("only white space after {text}")));
        };
        let byte = buckets[bucket][random.below(buckets[bucket].len())];
        matcher.accept_token(TokenId::new(u32::from(byte))).unwrap();
        made.push(byte);
    }
    Ok(Some(serde_json::from_slice(&made).unwrap()))
}

/// Names of members that random schemas speak of, the last two of them never declared.
const NAMES: [&str; 6] = ["a", "b", "ab", "c", "x1", "x2"];
const DECLARED: usize = 4;

/// A schema of one member.
fn of_member(choices: &mut Choices<'_>) -> Value {
    let place = choices.below(NAMES.len());
    let (name, other) = (NAMES[place], NAMES[(place + 1) % NAMES.len()]);
    match choices.below(6) {
        0 => json!({"required": [name]}),
        1 => json!({"not": {"required": [name]}}),
        2 => json!({"properties": {name: {"const": choices.below(3)}}}),
        3 => json!({"properties": {name: {"const": choices.below(3)}}, "required": [name]}),
        4 => json!({"properties": {name: {"enum": [0, choices.below(3)]}}}),
        _ => json!({"required": [name, other]}),
    }
}

fn condition(choices: &mut Choices<'_>) -> Value {
    let mut one = || of_member(choices);
    let (first, second, third) = (one(), one(), one());
    let (name, other) = (NAMES[choices.below(NAMES.len())], NAMES[choices.below(NAMES.len())]);
    match choices.below(8) {
        0 | 1 => json!({"anyOf": [first, second]}),
        2 => json!({"anyOf": [first, second, third]}),
        3 => json!({"if": first, "then": second}),
        4 => json!({"if": first, "then": second, "else": third}),
        5 => json!({"dependentRequired": {name: [other]}}),
        6 => json!({"dependentSchemas": {name: first}}),
        _ => json!({"oneOf": [first, second]}),
    }
}

fn object_schema(choices: &mut Choices<'_>) -> Value {
    let mut schema = Map::new();
    let declared = &NAMES[..choices.below(DECLARED + 1)];
    let member = |choices: &mut Choices<'_>| match choices.below(3) {
        0 => json!({"enum": [0, 1]}),
        _ => json!({"enum": [0, 1, 2]}),
    };
    let properties: Map<String, Value> =
        declared.iter().map(|&name| (name.to_owned(), member(choices))).collect();
    schema.insert("type".into(), json!("object"));
    schema.insert("properties".into(), properties.into());
    match choices.below(4) {
        0 => drop(schema.insert("additionalProperties".into(), json!({"enum": [0, 1, 2]}))),
        1 => {
            schema.insert("patternProperties".into(), json!({"^x[12]$": {"enum": [0, 1]}}));
            schema.insert("additionalProperties".into(), json!(false));
        }
        _ => drop(schema.insert("additionalProperties".into(), json!(false))),
    }
    if choices.chance(30) {
        schema.insert("minProperties".into(), choices.below(4).into());
    }
    if choices.chance(30) {
        schema.insert("maxProperties".into(), (1 + choices.below(4)).into());
    }
    let conditions: Vec<Value> = (0..1 + choices.below(6)).map(|_| condition(choices)).collect();
    schema.insert("allOf".into(), conditions.into());
    schema.into()
}

/// Members with some of the names, in any order.
fn members(choices: &mut Choices<'_>) -> Vec<String> {
    let mut members: Vec<String> = Vec::new();
    for name in NAMES {
        if choices.chance(50) {
            members.insert(choices.below(members.len() + 1), format!("\"{name}\":{}", choices.below(3)));
        }
    }
    members
}

fn object(members: &[String]) -> String {
    format!("{{{}}}", members.join(","))
}

/// Whether some order of the members is accepted, where those before `from` stay.
fn accepts_some_order(compiled: &CompiledGrammar, members: &mut [String], from: usize) -> bool {
    if from + 1 >= members.len() {
        return accepts(compiled, &object(members));
    }
    (from..members.len()).any(|other| {
        members.swap(from, other);
        let accepted = accepts_some_order(compiled, members, from + 1);
        members.swap(from, other);
        accepted
    })
}

#[test]
fn objects_under_random_conditions_are_judged_as_a_validator_does() {
    let cases = std::env::var("GRAMMATA_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(150);
    let config = ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() };
    let (valid, invalid, refused, walks) = (Cell::new(0), Cell::new(0), Cell::new(0), Cell::new(0));
    let judge = |bytes: Vec<u8>| {
        let mut choices = Choices::new(&bytes);
        let schema = object_schema(&mut choices);
        let validator = jsonschema::draft202012::new(&schema).unwrap();
        for order in [PropertyOrder::Declared, PropertyOrder::Any] {
            let compiled = match compile(&schema, order) {
                Ok(compiled) => Some(compiled),
                Err(error) => {
                    prop_assert_eq!(error.kind(), ErrorKind::Grammar, "{} under {}", error, schema);
                    refused.set(refused.get() + 1);
                    let unsatisfiable =
                        ["json-schema/unsatisfiable", "automaton/empty-language"].contains(&error.code());
                    if !unsatisfiable {
                        continue;
                    }
                    None
                }
            };
            for _ in 0..12 {
                let mut members = members(&mut choices);
                let text = object(&members);
                let expected = validator.is_valid(&serde_json::from_str(&text).unwrap());
                let accepted = compiled.as_ref().is_some_and(|compiled| match order {
                    PropertyOrder::Any => accepts(compiled, &text),
                    _ => accepts_some_order(compiled, &mut members, 0),
                });
                prop_assert_eq!(accepted, expected, "{} under {} ({:?})", text, schema, order);
                let count = if expected { &valid } else { &invalid };
                count.set(count.get() + 1);
            }
            let Some(compiled) = compiled else { continue };
            let mut random =
                Random::new(bytes.iter().fold(1, |hash, &byte| hash * 31 % 65_537 + u64::from(byte)));
            for _ in 0..3 {
                let made = made(&compiled, &mut random);
                let Some(value) =
                    made.map_err(|e| TestCaseError::fail(format!("{e} under {schema} ({order:?})")))?
                else {
                    continue;
                };
                prop_assert!(validator.is_valid(&value), "{} was made under {} ({:?})", value, schema, order);
                walks.set(walks.get() + 1);
            }
        }
        Ok(())
    };
    let outcome = proptest::test_runner::TestRunner::new(config)
        .run(&prop::collection::vec(any::<u8>(), 0..300), judge);
    outcome.unwrap_or_else(|e| panic!("{e}"));
    let counts = format!(
        "{} valid, {} invalid, {} schemas refused, {} walks",
        valid.get(),
        invalid.get(),
        refused.get(),
        walks.get()
    );
    // a schema is compiled in both orders
    assert!(valid.get() > cases && invalid.get() > cases && refused.get() < cases, "{counts}");
    eprintln!("{counts}");
}

/// Walks through the masks of both orders: every text can be completed and is valid.
fn check_walks(name: &str, schema: &Value, walks: u64) -> Result<(), Error> {
    let validator = jsonschema::draft202012::new(schema).unwrap();
    for order in [PropertyOrder::Declared, PropertyOrder::Any] {
        let compiled = compile(schema, order)?;
        for walk in 0..walks {
            let value = made(&compiled, &mut Random::new(walk)).unwrap().unwrap();
            assert!(validator.is_valid(&value), "{name}: {value} was made ({order:?})");
        }
    }
    Ok(())
}

/// A form: questions with a few answers; all of them answered, or a waiver; a reason where one is "no".
fn form(questions: usize) -> Value {
    let names: Vec<String> = (0..questions).map(|place| format!("question_{place}")).collect();
    let of_all = |value: Value| -> Map<String, Value> {
        names.iter().map(|name| (name.clone(), value.clone())).collect()
    };
    let mut properties = of_all(json!({"enum": ["yes", "no", "unknown"]}));
    properties.insert("waiver".into(), json!({"enum": ["medical", "other"]}));
    properties.insert("reason".into(), json!({"enum": ["late", "lost"]}));
    let reasons: Vec<Value> = names
        .iter()
        .map(|name| json!({"if": {"properties": {name: {"const": "no"}}}, "then": {"required": ["reason"]}}))
        .collect();
    json!({
        "type": "object", "properties": properties, "additionalProperties": false, "allOf": reasons,
        "anyOf": [
            {"required": names, "properties": of_all(json!({"enum": ["yes", "no"]}))},
            {"required": ["waiver"]}
        ]
    })
}

/// Members that are all present with small values, otherwise one of others; `alternatives` times.
fn all_or_one(members: usize, alternatives: usize) -> Value {
    let names: Vec<String> = (0..members).map(|place| format!("m{place}")).collect();
    let of_all = |value: Value| -> Map<String, Value> {
        names.iter().map(|name| (name.clone(), value.clone())).collect()
    };
    let mut properties = of_all(json!({"enum": [0, 1, 2]}));
    (0..alternatives).for_each(|place| drop(properties.insert(format!("y{place}"), json!({"const": 1}))));
    let all = json!({"required": names, "properties": of_all(json!({"enum": [0, 1]}))});
    let or_one = (0..alternatives).map(|place| json!({"anyOf": [all, {"required": [format!("y{place}")]}]}));
    let zero = names.iter().enumerate().map(|(place, name)| {
        let other = format!("y{}", place % alternatives);
        json!({"anyOf": [{"properties": {name: {"const": 0}}}, {"required": [other]}]})
    });
    let conditions: Vec<Value> = or_one.chain(zero).collect();
    json!({"type": "object", "properties": properties, "additionalProperties": false, "allOf": conditions})
}

/// Optional members, and two or three of them, or of their absence, in each of some alternatives.
fn clauses(seed: u64) -> Value {
    let mut random = Random::new(seed);
    let members = 6 + random.below(20);
    let properties: Map<String, Value> =
        (0..members).map(|place| (format!("v{place}"), json!({"enum": [0, 1]}))).collect();
    let count = members * (5 + random.below(20)) / 10;
    let conditions: Vec<Value> = (0..count)
        .map(|_| {
            let kind = random.below(5);
            let mut one = || {
                let required = json!({"required": [format!("v{}", random.below(members))]});
                if random.below(2) == 0 { required } else { json!({"not": required}) }
            };
            match kind {
                0 => json!({"if": one(), "then": one()}),
                1 | 2 => json!({"anyOf": [one(), one()]}),
                _ => json!({"anyOf": [one(), one(), one()]}),
            }
        })
        .collect();
    json!({"type": "object", "properties": properties, "additionalProperties": false, "allOf": conditions})
}

#[test]
fn long_forms_are_filled_in() {
    for questions in [4, 26] {
        check_walks("a form", &form(questions), 4).unwrap();
    }
}

#[test]
fn all_members_or_one_of_others_come() {
    for members in [4, 24] {
        check_walks("all or one", &all_or_one(members, 10), 4).unwrap();
    }
}

/// What compiles is filled in to its end; what does not is unsatisfiable.
#[test]
fn random_clauses_compile_and_run() {
    let count = std::env::var("GRAMMATA_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(12);
    let mut unsatisfiable = 0;
    for seed in 0..count {
        if let Err(error) = check_walks(&format!("clauses {seed}"), &clauses(seed), 4) {
            assert_eq!(error.code(), "json-schema/unsatisfiable", "clauses {seed}: {error}");
            unsatisfiable += 1;
        }
    }
    assert!(unsatisfiable * 3 < count, "{unsatisfiable} of {count} cannot be satisfied");
}

#[test]
fn a_list_that_may_take_too_many_decisions_is_refused_with_its_place() {
    let schema = json!({"type": "array", "items": form(8)});
    let limits = Limits::default().condition_search(1);
    let options = json_schema::Options::default().limits(limits);
    let error = compile_value(&schema, &options).unwrap_err();
    assert_eq!((error.kind(), error.code()), (ErrorKind::Limit, "limit/exceeded"));
    let text = error.to_string();
    assert!(text.contains("#/items") && text.contains("`condition_search`"), "{text}");
}
