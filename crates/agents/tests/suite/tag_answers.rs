//! Tags of requests with the schema of an answer: their words are exactly those of calls alone and of answers alone.

use crate::language::{Language, bytes_of};
use grammata::automaton::Automaton;
use grammata::automaton::samples::{Distribution, samples};
use grammata::diagnostic::Place;
use grammata::grammar::Grammar;
use grammata::limits::Limits;
use grammata::syntax::structural_tag;
use grammata_agents::tools::{ReasoningMode, TagOptions, TagPreset};
use grammata_testing::generate::{Choices, random_document, random_schema};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use serde_json::{Value, json};

/// The longest word drawn, in bytes.
const LONGEST: usize = 600;

fn grammar(family: &str, tools: &Value, options: &TagOptions) -> grammata::Result<Grammar> {
    let tag = TagPreset::named(family)?.structural_tag(tools, options)?.tag;
    let compiled = structural_tag::compile_value(&tag, &structural_tag::Options::default());
    Ok(compiled.unwrap_or_else(|error| panic!("{family}: {error}\n{tag}")).grammar)
}

fn words(grammar: &Grammar, count: usize, seed: u64) -> Vec<Vec<u8>> {
    let automaton = Automaton::new(grammar, &Limits::default()).unwrap();
    let Ok(mut samples) = samples(&automaton, Distribution::Walk, LONGEST) else { return Vec::new() };
    let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(seed);
    (0..count).filter_map(|_| samples.draw(&mut random).ok()).map(|word| bytes_of(&word)).collect()
}

fn schema(choices: &mut Choices<'_>, of_tool: bool) -> Value {
    match (of_tool, choices.chance(50)) {
        (true, true) => {
            json!({"type": "object", "properties": {"a": {"type": "integer"}, "b": {"enum": ["x", "y"]}},
            "required": ["a"]})
        }
        (true, false) => {
            json!({"type": "object", "properties": {"q": {"type": "string", "maxLength": 9}}, "additionalProperties": false})
        }
        (false, true) => {
            json!({"type": "object", "properties": {"title": {"type": "string"}, "year": {"type": "integer"}},
            "required": ["title"], "additionalProperties": false})
        }
        (false, false) => random_schema(choices),
    }
}

fn tools(choices: &mut Choices<'_>) -> (Value, Vec<String>) {
    let names: Vec<String> = (0..=choices.below(3)).map(|place| format!("tool_{place}")).collect();
    let tool = |name: &String, choices: &mut Choices<'_>| json!({"type": "function", "function": {"name": name, "parameters": schema(choices, true)}});
    (names.iter().map(|name| tool(name, choices)).collect(), names)
}

/// Whether a text has an exponent of three digits or more.
fn has_long_exponent(text: &str) -> bool {
    text.match_indices(['e', 'E']).any(|(place, _)| {
        let digits = text[place + 1..].trim_start_matches(['+', '-', '0']);
        digits.bytes().take_while(u8::is_ascii_digit).count() > 2
    })
}

#[derive(Debug, Default)]
struct Seen {
    pairs: usize,
    without: usize,
    calls: usize,
    answers: usize,
    documents: usize,
}

fn pair(family: &str, bytes: &[u8], seen: &mut Seen) -> Result<(), String> {
    let mut choices = Choices::new(bytes);
    let answer = schema(&mut choices, false);
    let (tools, names) = tools(&mut choices);
    let reasoning = *choices.pick(&[ReasoningMode::Disabled, ReasoningMode::Enabled, ReasoningMode::Auto]);
    let options = TagOptions::default()
        .reasoning(reasoning)
        .any_order(choices.chance(50))
        .parallel_tool_calls(choices.chance(50))
        .answer(Some(answer.clone()));
    let alone = grammar(family, &Value::Null, &options);
    // some random schemas have no valid value
    let Some(alone) = alone.ok().filter(|alone| Automaton::new(alone, &Limits::default()).is_ok()) else {
        seen.without += 1;
        return Ok(());
    };
    let calls = grammar(family, &tools, &options.clone().tool_choice(json!("required"))).unwrap();
    let both = grammar(family, &tools, &options).unwrap();
    seen.pairs += 1;
    let [both_has, calls_have, alone_has] = [&both, &calls, &alone].map(Language::new);
    let seed = bytes.len() as u64;
    let named = |word: &[u8]| {
        let text = String::from_utf8_lossy(word);
        names.iter().any(|name| text.contains(name.as_str()))
    };
    for word in words(&both, 4, seed) {
        let (is_call, is_answer) = (calls_have.accepts(&word), alone_has.accepts(&word));
        if !is_call && !is_answer {
            return Err(format!(
                "{family}: {} is neither\n{tools}\n{answer}",
                String::from_utf8_lossy(&word)
            ));
        }
    }
    for word in words(&calls, 3, seed + 1) {
        seen.calls += 1;
        if !both_has.accepts(&word) || !named(&word) {
            return Err(format!(
                "{family}: the call {} is not allowed\n{tools}",
                String::from_utf8_lossy(&word)
            ));
        }
    }
    let validator = jsonschema::draft202012::new(&answer).map_err(|error| error.to_string())?;
    let is_plain = TagPreset::named(family).unwrap().structural_tag(&Value::Null, &options).unwrap().tag["format"]
        ["type"]
        == "json_schema";
    for word in words(&alone, 3, seed + 2) {
        seen.answers += 1;
        let text = String::from_utf8_lossy(&word);
        if !both_has.accepts(&word) {
            return Err(format!("{family}: the answer {text} is not allowed\n{answer}"));
        }
        // the validator reads numbers as floats, which have no such exponents
        if is_plain && !has_long_exponent(&text) {
            let value = serde_json::from_str(&text).map_err(|error| format!("{family}: {text}: {error}"))?;
            if !validator.is_valid(&value) {
                return Err(format!("{family}: the answer {text} is not valid\n{answer}"));
            }
        }
    }
    // tags refuse what a schema does not declare beside what it declares
    let text = answer.to_string();
    let is_open = !text.contains("\"properties\"") && !text.contains("\"prefixItems\"");
    for _ in 0..if is_plain && options.any_order && is_open { 3 } else { 0 } {
        let document = random_document(&mut choices, &answer);
        if validator.is_valid(&document) {
            seen.documents += 1;
            let text = document.to_string();
            if !both_has.accepts(text.as_bytes()) {
                return Err(format!("{family}: the valid answer {text} is not allowed\n{answer}"));
            }
        }
    }
    Ok(())
}

/// `GRAMMATA_CASES` sets the number of pairs of tools and a schema for each family.
#[test]
fn words_are_calls_or_answers_and_all_of_them() {
    let cases = std::env::var("GRAMMATA_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(4);
    let mut random = StdRng::seed_from_u64(65);
    let (mut seen, mut wrong) = (Seen::default(), Vec::new());
    for family in TagPreset::names() {
        for _ in 0..cases {
            let bytes: Vec<u8> = (0..random.random_range(40..200)).map(|_| random.random()).collect();
            wrong.extend(pair(family, &bytes, &mut seen).err());
        }
    }
    eprintln!("{seen:?}, {} wrong", wrong.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    assert!(seen.pairs > seen.without && seen.calls > 50 && seen.answers > 50, "{seen:?}");
}

fn weather() -> Value {
    json!([{"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object",
        "properties": {"city": {"type": "string"}}, "required": ["city"], "additionalProperties": false}}}])
}

fn accepts(family: &str, options: &TagOptions, text: &str) -> bool {
    Language::new(&grammar(family, &weather(), options).unwrap()).accepts(text.as_bytes())
}

/// Outputs of one family of each layout.
#[test]
fn calls_and_answers_stay_in_the_channels_of_the_family() {
    let answer = json!({"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"],
        "additionalProperties": false});
    let options = TagOptions::default().answer(Some(answer)).reasoning(ReasoningMode::Disabled);
    let call = "<tool_call>\n{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Oslo\"}}\n</tool_call>";
    for (text, expected) in [
        (r#"{"city": "Oslo"}"#.to_owned(), true),
        (call.to_owned(), true),
        (format!("{call}\n{call}"), true),
        (format!("Here: {call}"), false),
        (format!(r#"{{"city": "Oslo"}}{call}"#), false),
        (r#"{"city": "<tool_call>"}"#.to_owned(), false),
        (r#"{"town": "Oslo"}"#.to_owned(), false),
        (String::new(), false),
    ] {
        assert_eq!(accepts("hermes", &options, &text), expected, "{text}");
    }
    let one = options.clone().parallel_tool_calls(false);
    assert!(accepts("hermes", &one, call) && !accepts("hermes", &one, &format!("{call}\n{call}")));
    let none = options.clone().tool_choice(json!("none"));
    assert!(accepts("hermes", &none, r#"{"city": "Oslo"}"#) && !accepts("hermes", &none, call));
    let required = options.tool_choice(json!("required"));
    assert!(!accepts("hermes", &required, r#"{"city": "Oslo"}"#) && accepts("hermes", &required, call));
}

#[test]
fn a_schema_that_cannot_be_answered_is_an_error_with_a_place() {
    let make = |answer: Value| {
        let options = TagOptions::default().answer(Some(answer));
        TagPreset::named("qwen_3").unwrap().structural_tag(&weather(), &options)
    };
    let error = make(json!({"properties": {"a": {"type": "text"}}})).unwrap_err();
    assert_eq!(error.diagnostic().place(), &Place::Pointer("/properties/a/type".to_owned()), "{error}");
    let error = make(json!({"allOf": [{"const": 1}, {"const": 2}]})).unwrap_err();
    assert_eq!(error.code(), "json-schema/unsatisfiable");
    // the family's text may not have this token
    let error = make(json!({"const": "<think>"})).unwrap_err();
    assert_eq!(error.code(), "tools/no-answer", "{error}");
    let made = make(json!({"type": "string", "format": "isbn"})).unwrap();
    assert_eq!(made.answer_warnings.len(), 1, "{:?}", made.answer_warnings);
    assert_eq!(made.answer_warnings[0].place(), &Place::Pointer("/format".to_owned()));
}

/// A request in one text has the places of its members.
#[test]
fn a_request_in_json_has_places_in_its_text() {
    let limits = Limits::default();
    let place = |text: &str| {
        let error = TagPreset::tag_of_request(text, &limits).unwrap_err();
        (error.code(), error.diagnostic().place().to_string())
    };
    let line = |line: usize, column: usize| Place::LineColumn { line, column }.to_string();
    let tool = r#"[{"type": "function", "function": {"name": "now"}}]"#;
    assert_eq!(place("{\"family\": \"qwen_3\",\n \"tols\": []}"), ("tools/tag-request", line(2, 7)));
    assert_eq!(place(r#"{"family": "qwen_3", "tools": [1]}"#), ("tools/tag-tools", "#/tools/0".to_owned()));
    let choice = format!(r#"{{"family": "qwen_3", "tools": {tool}, "tool_choice": "some"}}"#);
    assert_eq!(place(&choice), ("tools/tag-choice", "#/tool_choice".to_owned()));
    let answer = r#"{"family": "qwen_3", "answer": {"properties": {"a": {"type": "text"}}}}"#;
    assert_eq!(place(answer).1, "#/answer/properties/a/type");
    let code = TagPreset::tag_of_request(r#"{"family": "qwen"}"#, &limits).unwrap_err().code();
    assert_eq!(code, "tools/unknown-family");
    let long = limits.clone().source_bytes(10);
    assert_eq!(TagPreset::tag_of_request(&choice, &long).unwrap_err().code(), "limit/exceeded");
}
