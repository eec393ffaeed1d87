//! Sets of keywords that hold of one item or of one name: many `contains`, also together with `uniqueItems`, and many
//! patterns in `patternProperties`. The grammars agree with a validator on all small values, and hostile sizes end at a
//! limit.

use crate::language::Language;
use grammata::syntax::json_schema::{Options, compile};
use grammata_testing::generate::Choices;
use rand::{RngCore, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// Number of schemas of arrays, and of objects.
const ARRAYS: usize = 400;
const OBJECTS: usize = 120;

/// Draws some schemas and compares each that compiles with a validator on all values. Returns how many compile,
/// and the numbers of accepted and of rejected values. Schemas may be refused for the given codes only, and as
/// contradictory only if no value is valid.
fn compare(count: usize, values: &[Value], draw: impl Fn(&mut Choices<'_>) -> Value) -> (usize, [usize; 2]) {
    let (mut compiled, mut verdicts) = (0, [0; 2]);
    for seed in 0..count {
        let mut bytes = [0; 400];
        ChaCha8Rng::seed_from_u64(seed as u64).fill_bytes(&mut bytes);
        let schema = draw(&mut Choices::new(&bytes));
        let validator = jsonschema::draft202012::new(&schema).unwrap();
        match compile(&schema.to_string(), &Options::default()) {
            Ok(made) => {
                compiled += 1;
                let language = Language::new(&made.grammar);
                for value in values {
                    let valid = validator.is_valid(value);
                    verdicts[usize::from(!valid)] += 1;
                    assert_eq!(
                        language.accepts(value.to_string().as_bytes()),
                        valid,
                        "{value} under {schema}"
                    );
                }
            }
            Err(error) if error.code() == "json-schema/unsatisfiable" => {
                let valid = values.iter().find(|value| validator.is_valid(value));
                assert_eq!(valid, None, "{schema}");
            }
            Err(error) => {
                let code = error.code();
                assert!(
                    code == "json-schema/unsupported-combination" || code == "limit/exceeded",
                    "{error}\n{schema}"
                );
            }
        }
    }
    (compiled, verdicts)
}

/// The items of the arrays.
fn items() -> [Value; 6] {
    [json!(1), json!(2), json!(3), json!("a"), json!("bb"), json!(null)]
}

/// All arrays of at most four items.
fn arrays() -> Vec<Value> {
    let mut all = vec![Vec::new()];
    let mut longest = 0;
    for _ in 0..4 {
        let last = all[longest..].to_vec();
        longest = all.len();
        all.extend(last.iter().flat_map(|list: &Vec<Value>| {
            items().into_iter().map(|item| list.iter().cloned().chain([item]).collect())
        }));
    }
    all.into_iter().map(Value::Array).collect()
}

fn counted(choices: &mut Choices<'_>) -> Value {
    let item = |choices: &mut Choices<'_>| items()[choices.below(6)].clone();
    match choices.below(9) {
        0..4 => json!({"const": item(choices)}),
        4 => json!({"enum": [item(choices), item(choices)]}),
        5 => json!({"type": (["integer", "string", "null"][choices.below(3)])}),
        6 => json!({"not": {"const": item(choices)}}),
        7 => json!({"type": "integer", "minimum": choices.below(4)}),
        _ => json!({"type": "string", "maxLength": choices.below(3)}),
    }
}

/// Returns a random schema of arrays with some `contains`.
fn array_schema(choices: &mut Choices<'_>, unique: bool) -> Value {
    let contains = |choices: &mut Choices<'_>| {
        let mut schema = json!({"contains": counted(choices)});
        match choices.below(4) {
            0 => schema["minContains"] = json!(0),
            1 => schema["minContains"] = json!(choices.below(4)),
            _ => {}
        }
        if schema.get("minContains") == Some(&json!(0)) || choices.chance(25) {
            schema["maxContains"] = json!(choices.below(3));
        }
        schema
    };
    let count = if unique { 1 + choices.below(3) } else { 5 + choices.below(3) };
    let all: Vec<Value> = (0..count).map(|_| contains(choices)).collect();
    let mut schema = json!({"type": "array", "maxItems": 3 + choices.below(3), "allOf": all});
    if unique || choices.chance(50) {
        let few: Vec<Value> = items().into_iter().filter(|_| choices.chance(80)).collect();
        schema["items"] = json!({ "enum": few });
    }
    if unique {
        schema["uniqueItems"] = json!(true);
    }
    if choices.chance(20) {
        schema["minItems"] = json!(choices.below(4));
    }
    schema
}

#[test]
fn many_contains_agree_with_a_validator() {
    let (compiled, verdicts) = compare(ARRAYS, &arrays(), |choices| array_schema(choices, false));
    eprintln!("{compiled} of {ARRAYS} compile; {verdicts:?} arrays are accepted and rejected");
    assert!(compiled > ARRAYS / 4 && verdicts[0] > 1000, "{compiled}, {verdicts:?}");
}

#[test]
fn contains_of_different_listed_items_agree_with_a_validator() {
    let (compiled, verdicts) = compare(ARRAYS, &arrays(), |choices| array_schema(choices, true));
    eprintln!("{compiled} of {ARRAYS} compile; {verdicts:?} arrays are accepted and rejected");
    assert!(compiled > ARRAYS / 4 && verdicts[0] > 1000, "{compiled}, {verdicts:?}");
}

/// Patterns of few strings, of which most exclude each other by more than a common prefix.
const PATTERNS: [&str; 16] = [
    "^a.*a$",
    "^a.*b$",
    "^a.*-$",
    "^b.*a$",
    "^b.*b$",
    "^b.*-$",
    "^-.*[ab]$",
    "^--$",
    "^[ab]$",
    "^$",
    "^(ab)+$",
    "^.{2}$",
    "-a-",
    "b{2}",
    "^(?!a).-b",
    "^-?$",
];

/// All objects of at most one member, whose name has at most four characters.
fn objects() -> Vec<Value> {
    let mut names = vec![String::new()];
    let mut longest = 0;
    for _ in 0..4 {
        let last = names[longest..].to_vec();
        longest = names.len();
        names.extend(last.iter().flat_map(|name| ["a", "b", "-"].map(|next| format!("{name}{next}"))));
    }
    let members = names.into_iter().flat_map(|name| [json!({name.clone(): 1}), json!({name: "s"})]);
    members.chain([json!({})]).collect()
}

fn patterns_schema(choices: &mut Choices<'_>) -> Value {
    let mut schema = json!({"type": "object", "patternProperties": {}});
    for pattern in PATTERNS {
        if choices.chance(75) {
            let value = match choices.below(4) {
                0 => json!({"type": "integer"}),
                1 => json!({"type": "string"}),
                2 => json!(false),
                _ => json!(true),
            };
            schema["patternProperties"][pattern] = value;
        }
    }
    match choices.below(3) {
        0 => schema["additionalProperties"] = json!(false),
        1 => schema["additionalProperties"] = json!({"type": "string"}),
        _ => {}
    }
    schema
}

#[test]
fn many_patterns_of_names_agree_with_a_validator() {
    let (compiled, verdicts) = compare(OBJECTS, &objects(), patterns_schema);
    eprintln!("{compiled} of {OBJECTS} compile; {verdicts:?} objects are accepted and rejected");
    // all do: at most some dozen sets of the patterns match one name
    assert_eq!(compiled, OBJECTS);
    assert!(verdicts.iter().all(|&count| count > 1000), "{verdicts:?}");
}

/// Schemas of these keywords that need too much end in an error soon.
#[test]
fn hostile_sizes_end_at_a_limit() {
    let list =
        |count: usize, part: &dyn Fn(usize) -> String| (0..count).map(part).collect::<Vec<_>>().join(",");
    let contains = |count: usize, part: &dyn Fn(usize) -> String| {
        let all = list(count, &|at| format!(r#"{{"contains":{}}}"#, part(at)));
        format!(r#"{{"type":"array","allOf":[{all}]}}"#)
    };
    let patterns = |count: usize, part: &dyn Fn(usize) -> String| {
        let all = list(count, &|at| format!(r#""{}":{{"const":{at}}}"#, part(at)));
        format!(r#"{{"type":"object","patternProperties":{{{all}}}}}"#)
    };
    let values = |count: usize| list(count, &|at| at.to_string());
    let nested = "(a?".repeat(60) + &")*".repeat(60);
    let schemas = [
        contains(33, &|at| format!(r#"{{"const":{at}}}"#)),
        contains(14, &|at| format!(r#"{{"const":{at}}}"#)),
        contains(30, &|at| format!(r#"{{"pattern":"{at}"}}"#)),
        contains(32, &|at| {
            format!(r#"{{"anyOf":[{{"const":{at}}},{{"minProperties":{at}}},{{"minItems":{at}}}]}}"#)
        }),
        patterns(10, &|at| format!("{at}")),
        patterns(64, &|at| format!("a.{{{at}}}b")),
        patterns(65, &|at| format!("^.*{at}$")),
        patterns(12, &|at| format!("(a|b)*a(a|b){{{}}}$", at + 5)),
        patterns(12, &|at| format!("^(a{{1,50000}}){{1,50000}}{at}?$")),
        patterns(12, &|at| format!("^[ab]{}{at}?$", "a?".repeat(20_000))),
        patterns(12, &|at| format!("{}{at}?$", "ab".repeat(20_000))),
        patterns(12, &|at| format!("{}{at}?$", "[ab]".repeat(20_000))),
        patterns(12, &|at| format!("{nested}{at}?$")),
        format!(
            r#"{{"type":"array","uniqueItems":true,"items":{{"enum":[{}]}},"contains":{{"minimum":5}},"minContains":50}}"#,
            values(200)
        ),
        format!(
            r#"{{"type":"array","uniqueItems":true,"items":{{"enum":[{}]}},"contains":{{"minimum":5}},"maxContains":5}}"#,
            values(2000)
        ),
    ];
    for schema in schemas {
        let begin = Instant::now();
        let error = match compile(&schema, &Options::default()) {
            Err(error) => error,
            Ok(_) => panic!("no error: {}", schema.chars().take(200).collect::<String>()),
        };
        let what = error.to_string();
        let codes =
            ["json-schema/unsupported-combination", "json-schema/unsupported-keyword", "limit/exceeded"];
        assert!(codes.contains(&error.code()), "{what}");
        eprintln!("{:?} {} {}", begin.elapsed(), error.code(), what.lines().next().unwrap_or_default());
        assert!(begin.elapsed() < Duration::from_secs(20), "{what}");
    }
}
