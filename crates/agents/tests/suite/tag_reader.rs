//! Reading outputs back as they come: words of tags split into reasoning, text and calls.

use grammata::automaton::samples::{Distribution, samples};
use grammata::automaton::{Automaton, Cache, ConfigurationId, Lazy};
use grammata::limits::Limits;
use grammata::mask::Compiler;
use grammata::syntax::structural_tag;
use grammata::vocabulary::{TokenId, VocabularyBuilder};
use grammata_agents::tools::{OutputPart, OutputReader, ReasoningMode, TagOptions, TagPreset};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use serde_json::{Value, json};
use std::sync::Arc;

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

/// Where no tool may be called, a call is text, and where there is an answer, nothing in it is a call.
#[test]
fn only_tools_that_may_be_called_are_called() {
    let options = TagOptions::default().tool_choice(json!("none"));
    let (tools, _) = tools();
    for family in families() {
        let preset = TagPreset::named(family).unwrap();
        let made = preset.structural_tag(&tools, &options).unwrap();
        assert!(made.callable.is_empty(), "{family}: {:?}", made.callable);
        let call = words(family, &tools, &TagOptions::default().tool_choice(json!("required")), 1, 5);
        let names = made.callable.iter().map(String::as_str);
        let parts = read(preset.reader(names, ReasoningMode::Enabled).unwrap(), call.into_iter());
        let is_call = |part: &OutputPart| matches!(part, OutputPart::CallBegin(_));
        assert!(!parts.iter().any(is_call), "{family}: {parts:?}");
    }
    let one = TagOptions::default().tool_choice(json!({"type": "function", "function": {"name": "f1"}}));
    let made = TagPreset::named("hermes").unwrap().structural_tag(&tools, &one).unwrap();
    assert_eq!(made.callable, ["f1"]);
}

/// Answers with strings of any length, with tools beside them, are read back as they are.
#[test]
fn answers_beside_calls_are_read_back() {
    let schema = json!({"type": "object", "properties": {"answer": {"type": "string"}}, "required": ["answer"],
        "additionalProperties": false});
    let (tools, names) = tools();
    let mut random = StdRng::seed_from_u64(9);
    let (mut answers, mut called) = (0, 0);
    for family in families() {
        let preset = TagPreset::named(family).unwrap();
        for mode in [ReasoningMode::Disabled, ReasoningMode::Enabled] {
            let options = TagOptions::default().reasoning(mode).answer(Some(schema.clone()));
            let reader = preset.reader(names.iter().copied(), mode).unwrap().with_answer(true);
            for word in words(family, &tools, &options, 20, 11) {
                let parts = read(reader.clone(), cut(&word, &mut random).into_iter());
                match calls(&tools, &parts, &word) {
                    0 => {
                        let text: String = parts
                            .iter()
                            .filter_map(|part| match part {
                                OutputPart::Text(text) => Some(text.as_str()),
                                _ => None,
                            })
                            .collect();
                        let value: Value = serde_json::from_str(&text)
                            .unwrap_or_else(|cause| panic!("{family} {cause}: {word}\n{parts:?}"));
                        assert!(value["answer"].is_string(), "{family}: {word}");
                        answers += 1;
                    }
                    _ => called += 1,
                }
            }
        }
    }
    assert!(answers > 100 && called > 100, "{answers} answers, {called} with calls");
}

/// The marks that end a family's text end an answer, too, so they are not in its strings.
#[test]
fn ends_of_text_are_not_in_answers() {
    let schema = json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]});
    let options = TagOptions::default().reasoning(ReasoningMode::Disabled).answer(Some(schema));
    for mark in ["<|end|>", "<|return|>"] {
        let (family, begin) = ("harmony", "<|channel|>final<|message|>");
        let tag = TagPreset::named(family).unwrap().structural_tag(&Value::Null, &options).unwrap().tag;
        let compiled = structural_tag::compile_value(&tag, &structural_tag::Options::default()).unwrap();
        let automaton = Automaton::new(&compiled.grammar, &Limits::default()).unwrap();
        let begins = |text: &str| {
            let mut cache = Cache::new();
            let mut lazy = Lazy::new(&automaton, &mut cache);
            let mut at = lazy.start().unwrap();
            text.bytes().all(|byte| {
                at = lazy.step(at, byte).unwrap();
                at != ConfigurationId::DEAD
            })
        };
        let with = |text: &str| begins(&format!("{begin}{{\"a\": \"{text}\"}}"));
        assert!(with("plain") && !with(mark), "{family} {mark}");
    }
}

/// Calls of `llama` are bare objects, so an answer that begins like one cannot be told from it.
#[test]
fn answers_that_look_like_calls_are_refused() {
    let (tools, _) = tools();
    let tag = |family: &str, first: &str, choice: &str| {
        let schema = json!({"type": "object", "properties": {first: {"type": "string"}}, "required": [first],
            "additionalProperties": true});
        let options = TagOptions::default().answer(Some(schema)).tool_choice(json!(choice));
        TagPreset::named(family).unwrap().structural_tag(&tools, &options).map(|_| ())
    };
    let error = tag("llama", "name", "auto").unwrap_err();
    assert_eq!(error.code(), "tools/answer-like-call");
    assert!(error.to_string().contains("help: "), "{error}");
    for (family, first, choice) in [
        ("llama", "title", "auto"),
        ("llama", "name", "none"),
        ("llama", "name", "required"),
        ("hermes", "name", "auto"),
    ] {
        tag(family, first, choice).unwrap_or_else(|error| panic!("{family} {first} {choice}: {error}"));
    }
}

/// With markers as tokens, readers of text must find no marker that text spells with other tokens.
#[test]
fn spelled_markers_are_excluded_where_readers_need_it() {
    let markers = ["<think>", "</think>", "<tool_call>", "</tool_call>"];
    let builder = VocabularyBuilder::from_tokens((0..=255u8).map(|byte| [byte]));
    let ids = (256u32..).map(TokenId::new);
    let builder = markers.iter().zip(ids).fold(builder, |builder, (name, id)| builder.special(id, *name));
    let vocabulary = Arc::new(builder.eos([TokenId::new(0)]).build().unwrap());
    let (tools, _) = tools();
    let call = "{T}\n{\"name\": \"f1\", \"arguments\": {}}\n{E}";
    for family in ["qwen_3", "qwen_3_5", "qwen_3_coder"] {
        for choice in ["auto", "none", "required"] {
            for mode in [ReasoningMode::Enabled, ReasoningMode::Auto] {
                let accepts = |excludes: bool, text: &str| {
                    let options = TagOptions::default()
                        .tool_choice(json!(choice))
                        .reasoning(mode)
                        .token_markers(true)
                        .exclude_spelled_markers(excludes);
                    let tag = TagPreset::named(family).unwrap().structural_tag(&tools, &options).unwrap().tag;
                    let made =
                        structural_tag::compile_value(&tag, &structural_tag::Options::default()).unwrap();
                    let compiled = Compiler::new(Arc::clone(&vocabulary)).compile(&made.grammar).unwrap();
                    let mut matcher = compiled.matcher();
                    // `{T}` and `{E}` stand for the tokens of a call, `{S}` for that of the end of reasoning
                    let mut rest = text;
                    while let Some(first) = rest.chars().next() {
                        let token = ["{S}", "{T}", "{E}"].iter().position(|mark| rest.starts_with(mark));
                        let (id, length) = match token {
                            Some(at) => (257 + at as u32, 3),
                            None => (u32::from(first), 1),
                        };
                        if matcher.accept_token(TokenId::new(id)).is_err() {
                            return false;
                        }
                        rest = &rest[length..];
                    }
                    matcher.is_accepting()
                };
                let thought = if mode == ReasoningMode::Enabled { "Hm{S}\n\n" } else { "" };
                let may_call = choice != "none" && family == "qwen_3";
                for excludes in [false, true] {
                    let shown = format!("{family} {choice} {mode:?} {excludes}");
                    let is = |text: &str| accepts(excludes, &format!("{thought}{text}"));
                    assert_eq!(is(call), may_call, "{shown}");
                    assert_eq!(is(&format!("a{call}")), may_call && choice == "auto", "{shown}");
                    assert_eq!(is(&format!("{call}a<b{call}")), may_call, "{shown}");
                    if choice != "required" {
                        assert!(is("a<tool_cal"), "{shown}");
                        let spelled = ["a<tool_call>", "</think>", "b</tool_call>"];
                        for text in spelled {
                            // without calls the marks of calls are excluded in any case
                            assert!(!excludes || !is(text), "{shown}: {text}");
                        }
                        assert!(excludes || choice == "none" || is("a<tool_call>"), "{shown}");
                    }
                    if mode == ReasoningMode::Enabled {
                        assert_eq!(
                            accepts(excludes, "a</think>{S}\n\n") && choice != "required",
                            !excludes && choice != "required",
                            "{shown}"
                        );
                    }
                }
            }
        }
    }
}
