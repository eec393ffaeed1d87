//! Reading outputs back as they come: words of tags split into reasoning, text and calls.

use grammata::automaton::Automaton;
use grammata::automaton::samples::{Distribution, samples};
use grammata::limits::Limits;
use grammata::syntax::structural_tag;
use grammata_agents::tools::{OutputPart, OutputReader, ReasoningMode, TagOptions, TagPreset};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use serde_json::{Value, json};

/// The families whose arguments are JSON.
fn families() -> Vec<&'static str> {
    let reads = |name: &&str| TagPreset::named(name).unwrap().reader([], ReasoningMode::Auto).is_ok();
    TagPreset::names().filter(reads).collect()
}

fn words(family: &str, tools: &Value, options: &TagOptions, count: usize, seed: u64) -> Vec<String> {
    let tag = TagPreset::named(family).unwrap().structural_tag(tools, options).unwrap().tag;
    let grammar = structural_tag::compile_value(&tag, &structural_tag::Options::default()).unwrap().grammar;
    let automaton = Automaton::new(&grammar, &Limits::default()).unwrap();
    let mut samples = samples(&automaton, Distribution::Walk, 600).unwrap();
    let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(seed);
    let drawn = (0..count).filter_map(|_| samples.draw(&mut random).ok());
    drawn.map(|word| String::from_utf8(crate::language::bytes_of(&word)).unwrap()).collect()
}

fn joined(parts: Vec<OutputPart>) -> Vec<OutputPart> {
    let mut made: Vec<OutputPart> = Vec::new();
    for part in parts {
        match (made.last_mut(), &part) {
            (Some(OutputPart::Text(last)), OutputPart::Text(more))
            | (Some(OutputPart::Reasoning(last)), OutputPart::Reasoning(more))
            | (Some(OutputPart::Arguments(last)), OutputPart::Arguments(more)) => last.push_str(more),
            _ => made.push(part),
        }
    }
    made
}

fn read(mut reader: OutputReader, pieces: impl Iterator<Item = String>) -> Vec<OutputPart> {
    let mut parts: Vec<OutputPart> = pieces.flat_map(|piece| reader.push(&piece)).collect();
    parts.extend(reader.finish());
    joined(parts)
}

/// Cuts a text into pieces of 1 to 6 characters.
fn cut(text: &str, random: &mut StdRng) -> Vec<String> {
    let mut pieces = Vec::new();
    let mut rest: Vec<char> = text.chars().collect();
    while !rest.is_empty() {
        let length = random.random_range(1..=6).min(rest.len());
        pieces.push(rest.drain(..length).collect());
    }
    pieces
}

fn tools() -> (Value, Vec<&'static str>) {
    let of = |name: &str, parameters: Value| json!({"type": "function", "function": {"name": name, "parameters": parameters}});
    let text = json!({"type": "object", "properties": {"q": {"type": "string", "maxLength": 9}, "n": {"enum": [1, -20, 0.5]}},
        "required": ["q"], "additionalProperties": false});
    let tools = json!([
        of("get", text.clone()),
        of(
            "get_all",
            json!({"type": "object", "properties": {"deep": {"type": "object", "properties": {"x": {"enum": ["}", "]\"", "\\"]}},
            "required": ["x"]}}, "required": ["deep"], "additionalProperties": false})
        ),
        of("f1", json!({"type": "object", "properties": {}, "additionalProperties": false})),
    ]);
    (tools, vec!["get", "get_all", "f1"])
}

/// Checks the calls among the parts, and returns how many there are.
#[track_caller]
fn calls(tools: &Value, parts: &[OutputPart], word: &str) -> usize {
    let mut count = 0;
    for (at, part) in parts.iter().enumerate() {
        let OutputPart::CallBegin(name) = part else { continue };
        count += 1;
        let (Some(OutputPart::Arguments(arguments)), Some(OutputPart::CallEnd)) =
            (parts.get(at + 1), parts.get(at + 2))
        else {
            panic!("the call has no arguments or no end: {word}\n{parts:?}");
        };
        let tool =
            tools.as_array().unwrap().iter().find(|tool| tool["function"]["name"] == name.as_str()).unwrap();
        let value =
            serde_json::from_str(arguments).unwrap_or_else(|cause| panic!("{cause}: {arguments} in {word}"));
        let validator = jsonschema::draft202012::new(&tool["function"]["parameters"]).unwrap();
        assert!(validator.is_valid(&value), "{name} {arguments} in {word}");
    }
    count
}

#[test]
fn words_of_every_family_are_read_the_same_in_any_pieces() {
    let (tools, names) = tools();
    let mut random = StdRng::seed_from_u64(4);
    let families = families();
    assert!(families.len() >= 15, "{families:?}");
    for family in families {
        let preset = TagPreset::named(family).unwrap();
        for (seed, mode) in
            [ReasoningMode::Disabled, ReasoningMode::Enabled, ReasoningMode::Auto].into_iter().enumerate()
        {
            for choice in ["auto", "required", "none"] {
                let options = TagOptions::default().tool_choice(json!(choice)).reasoning(mode);
                let (mut seen, mut made) = (0, 0);
                for word in words(family, &tools, &options, 12, seed as u64) {
                    seen += 1;
                    let reader = preset.reader(names.iter().copied(), mode).unwrap();
                    let whole = read(reader.clone(), std::iter::once(word.clone()));
                    let parts = read(reader, cut(&word, &mut random).into_iter());
                    assert_eq!(whole, parts, "{family} {mode:?}: {word}");
                    let count = calls(&tools, &parts, &word);
                    assert!(
                        count > 0 || choice != "required",
                        "{family} {mode:?}: no call in {word}\n{parts:?}"
                    );
                    made += count;
                }
                assert!(seen > 0, "{family} {mode:?} {choice}: no word was drawn");
                assert!(made == 0 || choice != "none", "{family}");
            }
        }
    }
}

#[test]
fn answers_by_a_schema_are_text() {
    let schema = json!({"type": "object", "properties": {"a": {"type": "string", "maxLength": 5}}, "required": ["a"],
        "additionalProperties": false});
    for family in families() {
        let preset = TagPreset::named(family).unwrap();
        for mode in [ReasoningMode::Disabled, ReasoningMode::Enabled] {
            let options = TagOptions::default().reasoning(mode).answer(Some(schema.clone()));
            for word in words(family, &Value::Null, &options, 8, 3) {
                let parts = read(preset.reader([], mode).unwrap(), std::iter::once(word.clone()));
                let text: Vec<&String> = parts
                    .iter()
                    .filter_map(|part| match part {
                        OutputPart::Text(text) => Some(text),
                        _ => None,
                    })
                    .collect();
                let [text] = text[..] else { panic!("{family}: {word}\n{parts:?}") };
                let value: Value = serde_json::from_str(text)
                    .unwrap_or_else(|cause| panic!("{family} {cause}: {word}\n{parts:?}"));
                assert!(value["a"].is_string(), "{family}: {word}");
            }
        }
    }
}

#[test]
fn families_with_other_arguments_are_refused() {
    let error = TagPreset::named("qwen_3_coder").unwrap().reader([], ReasoningMode::Auto).unwrap_err();
    assert_eq!(error.code(), "tools/reader-style");
}

#[test]
fn cut_outputs_have_the_parts_so_far() {
    let reader = || TagPreset::named("hermes").unwrap().reader(["get"], ReasoningMode::Enabled).unwrap();
    let parts = |text: &str| read(reader(), std::iter::once(text.to_owned()));
    assert_eq!(parts("ab<tool_"), [OutputPart::Text("ab<tool_".to_owned())]);
    let begun = "ab<tool_call>\n{\"name\": \"get\", \"arguments\": {\"q\": 1";
    let expected = [
        OutputPart::Text("ab".to_owned()),
        OutputPart::CallBegin("get".to_owned()),
        OutputPart::Arguments("{\"q\": 1".to_owned()),
    ];
    assert_eq!(parts(begun), expected);
}
