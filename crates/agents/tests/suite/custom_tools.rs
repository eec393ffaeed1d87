//! Custom tools: their calls in every family and call format carry exactly the words of their grammars.

use crate::language::{Language, bytes_of};
use grammata::automaton::Automaton;
use grammata::automaton::samples::{Distribution, samples};
use grammata::diagnostic::Place;
use grammata::grammar::Grammar;
use grammata::limits::Limits;
use grammata::syntax::{lark, regex, structural_tag};
use grammata_agents::tools::{
    Call, CallFormat, Choice, Document, GrammarOptions, Markers, ReadOptions, ReasoningMode, TagOptions,
    TagPreset, ToolSet, Turn, read,
};
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use serde_json::{Map, Value, json};

/// The longest word drawn, in bytes.
const LONGEST: usize = 60;

/// The language of a custom tool's input.
struct Input {
    format: Value,
    words: Language,
    samples: Vec<String>,
}

fn drawn(grammar: &Grammar, count: usize, seed: u64) -> Vec<String> {
    drawn_within(grammar, count, seed, LONGEST)
}

fn drawn_within(grammar: &Grammar, count: usize, seed: u64, longest: usize) -> Vec<String> {
    let automaton = Automaton::new(grammar, &Limits::default()).unwrap();
    let Ok(mut samples) = samples(&automaton, Distribution::Walk, longest) else { return Vec::new() };
    let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(seed);
    let words = (0..count).filter_map(|_| samples.draw(&mut random).ok());
    words.map(|word| String::from_utf8(bytes_of(&word)).unwrap()).collect()
}

/// A terminal with characters that the spellings of strings escape.
fn terminal(random: &mut StdRng) -> &'static str {
    const TERMINALS: [&str; 12] = [
        "\"a\"",
        "\"\\\"\"",
        "\"\\\\\"",
        "\"\\n\"",
        "/[a-c]+/",
        "/[^x]/",
        "/[\\x00-\\x1f]/",
        "\"é\"",
        "/[α-γ😀]{1,2}/",
        "/'|\\/|<|>/",
        "\"</\"",
        "/(?i)select/",
    ];
    TERMINALS.choose(random).unwrap()
}

/// A small grammar: some rules, each with one or two alternatives, the last without references to rules.
fn random_lark(random: &mut StdRng) -> String {
    let count = random.random_range(1..4);
    let mut text = String::new();
    for rule in 0..count {
        let name = if rule == 0 { "start".to_owned() } else { format!("r{rule}") };
        let mut parts = Vec::new();
        for _ in 0..random.random_range(1..4) {
            let part = match random.random_range(0..4) {
                0 if count > 1 => format!("r{}", random.random_range(1..count)),
                1 => format!("(\"(\" {name} \")\")"),
                _ => terminal(random).to_owned(),
            };
            parts.push(format!("{part}{}", ["", "", "?", "~2", "*"].choose(random).unwrap()));
        }
        text.push_str(&format!("{name}: {} | {}\n", parts.join(" "), terminal(random)));
    }
    text
}

fn random_input(random: &mut StdRng) -> Input {
    let is_nested = random.random();
    let grammar = |syntax: &str, definition: &str| match is_nested {
        true => json!({"type": "grammar", "grammar": {"syntax": syntax, "definition": definition}}),
        false => json!({"type": "grammar", "syntax": syntax, "definition": definition}),
    };
    let seed = random.random();
    let (format, language) = match random.random_range(0..4) {
        0 => (json!({"type": "text"}), regex::compile("(?s).*", &regex::Options::default()).unwrap()),
        1 => {
            let patterns = [
                "[a-z]{1,3}(\\.[a-z]+)?",
                "(?i)x|y\\s\"",
                "[^a]*",
                "(?s).{0,4}\\\\",
                "\\d{4}-\\d{2}",
                "\\p{L}+",
                "(<a>|</a>)+",
            ];
            let pattern = patterns.choose(random).unwrap();
            (grammar("regex", pattern), regex::compile(pattern, &regex::Options::default()).unwrap())
        }
        _ => {
            let text = random_lark(random);
            let compiled =
                lark::compile(&text, &lark::Options::default()).unwrap_or_else(|e| panic!("{e}\n{text}"));
            (grammar("lark", &text), compiled.grammar)
        }
    };
    let samples = drawn(&language, 4, seed);
    Input { format, words: Language::new(&language), samples }
}

/// One to three custom tools with one or two functions, in either form of OpenAI's.
fn random_tools(random: &mut StdRng) -> (Value, Vec<(String, Input)>) {
    let mut tools =
        vec![json!({"type": "function", "function": {"name": "now", "parameters": {"type": "object"}}})];
    if random.random() {
        tools.push(json!({"type": "function", "function": {"name": "find", "parameters": {"type": "object",
            "properties": {"input": {"type": "string"}}, "required": ["input"], "additionalProperties": false}}}));
    }
    let mut inputs = Vec::new();
    for place in 0..random.random_range(1..4) {
        let name = format!("custom_{place}");
        let input = random_input(random);
        let of_responses = random.random();
        let mut members = json!({"name": name, "description": "d", "format": input.format});
        if of_responses {
            members["type"] = "custom".into();
            tools.push(members);
        } else {
            tools.push(json!({"type": "custom", "custom": members}));
        }
        inputs.push((name, input));
    }
    (tools.into(), inputs)
}

fn set(tools: &Value) -> ToolSet {
    let text = tools.to_string();
    let mut set = read([Document { label: "tools", text: &text }], &ReadOptions::default()).unwrap();
    set.check(&GrammarOptions::default().schema);
    assert!(set.findings().is_empty(), "{:?}\n{tools}", set.findings());
    set
}

/// Texts that may not be words: changed words, and words of other tools.
fn candidates(random: &mut StdRng, input: &Input, others: &[(String, Input)]) -> Vec<String> {
    let mut texts: Vec<String> = others.iter().flat_map(|(_, other)| other.samples.iter().cloned()).collect();
    for word in &input.samples {
        let mut chars: Vec<char> = word.chars().collect();
        let place = random.random_range(0..=chars.len());
        match random.random_range(0..3) {
            0 => chars.insert(place, *['"', '\\', 'a', '\n', 'x', '<', '\u{1}', 'é'].choose(random).unwrap()),
            1 if place < chars.len() => drop(chars.remove(place)),
            _ => chars.truncate(place),
        }
        texts.push(chars.into_iter().collect());
    }
    texts
}

fn cases() -> usize {
    std::env::var("GRAMMATA_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(3)
}

#[derive(Debug, Default)]
struct Seen {
    sets: usize,
    words: usize,
    others: usize,
    unwritten: usize,
    refused: usize,
}

/// The formats that can write a tool with one text as its argument.
const FORMATS: [&str; 11] = [
    "json",
    "llama3",
    "json-array",
    "hermes",
    "mistral",
    "mistral-args",
    "deepseek",
    "harmony",
    "react",
    "python",
    "qwen-coder",
];

/// Every word of a grammar is rendered as a turn, which is allowed and reads back; other texts are refused, by the
/// grammar of turns and by the check of calls.
#[test]
fn calls_read_back_and_only_words_are_allowed() {
    let mut random = StdRng::seed_from_u64(650);
    let mut seen = Seen::default();
    for format in FORMATS {
        let call_format = CallFormat::named(format).unwrap();
        for _ in 0..cases() {
            let (tools, inputs) = random_tools(&mut random);
            let set = set(&tools);
            let options = GrammarOptions::default().choice(Choice::Required).markers(Markers::Text);
            let grammar = call_format.grammar(&set, &options).unwrap();
            assert!(grammar.refused.is_empty(), "{format}: {:?}", grammar.refused);
            let turns = Language::new(&grammar.grammar);
            seen.sets += 1;
            for (name, input) in &inputs {
                let mut texts = input.samples.clone();
                texts.extend(candidates(&mut random, input, &inputs));
                for text in texts {
                    let is_word = input.words.accepts(text.as_bytes());
                    let arguments = Map::from_iter([("input".to_owned(), text.as_str().into())]);
                    let call = Call { tool: name.clone(), arguments };
                    let checked = set.check_call(&call);
                    assert_eq!(checked.is_ok(), is_word, "{text:?}: {checked:?}\n{tools}");
                    if let Err(error) = checked {
                        let place = Place::Pointer("/arguments/input".to_owned());
                        assert_eq!(error.diagnostic().place(), &place, "{error}");
                    }
                    let turn = Turn { calls: vec![call.clone()], ..Turn::default() };
                    let Ok(written) = call_format.render(&turn, &set) else {
                        seen.unwritten += 1;
                        continue;
                    };
                    let is_allowed = turns.accepts(written.as_bytes());
                    // an element cannot have the mark that ends it
                    let is_cut = format == "qwen-coder" && text.contains("</parameter>");
                    assert_eq!(is_allowed, is_word && !is_cut, "{format}: {written}\n{tools}");
                    if is_word && !is_cut {
                        let turn = call_format.read(&written, &set).unwrap();
                        assert_eq!(turn.calls, [call], "{format}: {written}");
                        assert_eq!(set.input(&turn.calls[0]), Some(text.as_str()));
                        seen.words += 1;
                    } else {
                        seen.refused += 1;
                    }
                }
            }
            for word in drawn_within(&grammar.grammar, 6, seen.sets as u64, 200) {
                let turn = call_format.read(&word, &set).unwrap();
                for call in &turn.calls {
                    let Some((_, input)) = inputs.iter().find(|(name, _)| *name == call.tool) else {
                        assert_eq!(set.input(call), None);
                        continue;
                    };
                    let text = set.input(call).unwrap();
                    assert!(input.words.accepts(text.as_bytes()), "{format}: {word}\n{tools}");
                    seen.others += 1;
                }
            }
        }
    }
    eprintln!("{seen:?}");
    assert!(seen.words > 300 && seen.refused > 100 && seen.others > 30 && seen.unwritten == 0, "{seen:?}");
}

fn tag_grammar(tag: &Value) -> Grammar {
    let compiled = structural_tag::compile_value(tag, &structural_tag::Options::default());
    compiled.unwrap_or_else(|error| panic!("{error}\n{tag}")).grammar
}

fn tag_language(tag: &Value) -> Language {
    let grammar = tag_grammar(tag);
    if let Err(error) = Automaton::new(&grammar, &Limits::default()) {
        panic!("{error}\n{tag}");
    }
    Language::new(&grammar)
}

/// In each family: a forced call of a custom tool with a word is allowed, with another text it is not. Calls that are
/// not forced contain it.
#[test]
fn families_write_words_and_only_words() {
    let mut random = StdRng::seed_from_u64(651);
    let mut seen = Seen::default();
    for family in TagPreset::names() {
        let preset = TagPreset::named(family).unwrap();
        for case in 0..cases() {
            let (tools, inputs) = random_tools(&mut random);
            seen.sets += 1;
            let options = TagOptions::default()
                .reasoning(ReasoningMode::Disabled)
                .parallel_tool_calls(random.random())
                .any_order(random.random())
                .max_whitespace_cnt([Some(0), None][case % 2]);
            let made =
                preset.structural_tag(&tools, &options.clone().tool_choice(json!("required"))).unwrap();
            assert!(made.warnings.is_empty(), "{:?}", made.warnings);
            let all = tag_language(&made.tag);
            for (name, input) in &inputs {
                let choice = match random.random() {
                    true => json!({"type": "custom", "name": name}),
                    false => json!({"type": "custom", "custom": {"name": name}}),
                };
                let forced = options.clone().tool_choice(choice);
                let tag = preset.structural_tag(&tools, &forced).unwrap().tag;
                let calls = tag_language(&tag);
                // what is around the input is the same for another input
                let probe = json!([{"type": "custom", "name": name,
                    "format": {"type": "grammar", "syntax": "regex", "definition": "PROBE"}}]);
                let probe = preset.structural_tag(&probe, &forced).unwrap().tag;
                let around = drawn_within(&tag_grammar(&probe), 6, seen.sets as u64, 400);
                let around: Vec<_> = around.iter().filter_map(|word| word.split_once("PROBE")).collect();
                assert!(!around.is_empty(), "{family}");
                let mut texts = input.samples.clone();
                texts.extend(candidates(&mut random, input, &inputs));
                for text in texts {
                    let is_word = input.words.accepts(text.as_bytes());
                    for &(begin, end) in &around {
                        let written = format!("{begin}{}{end}", written(begin, &text));
                        let is_allowed = calls.accepts(written.as_bytes());
                        if is_word || !is_trimmed(input, begin, &text, end) {
                            assert_eq!(is_allowed, is_word, "{family}: {begin:?}, {text:?}, {end:?}\n{tag}");
                        }
                        assert!(
                            !is_allowed || all.accepts(written.as_bytes()),
                            "{family}: {written}\n{tools}"
                        );
                        seen.words += usize::from(is_word);
                        seen.refused += usize::from(!is_allowed);
                    }
                }
            }
        }
    }
    eprintln!("{seen:?}");
    assert!(seen.words > 300 && seen.refused > 300, "{seen:?}");
}

/// An input as the family writes it: in the quotes before it, or as it is.
fn written(begin: &str, text: &str) -> String {
    let escaped = |text: &str| {
        let quoted = Value::from(text).to_string();
        quoted[1..quoted.len() - 1].to_owned()
    };
    // keyword arguments of Python
    let escaped_by_python = |text: &str| escaped(text).replace("\\u007f", "\\x7f");
    match begin.chars().last() {
        _ if begin.ends_with("<|\"|>") => text.to_owned(),
        Some('"') => escaped(text),
        Some('\'') => escaped_by_python(text).replace('\'', "\\'"),
        _ => text.to_owned(),
    }
}

/// Whether an input without some of the white space around it is a word. Styles that do not mark strings allow white
/// space around those that a schema restricts.
fn is_trimmed(input: &Input, begin: &str, text: &str, end: &str) -> bool {
    let (before, after) = (begin.trim_end(), end.trim_start());
    if !before.ends_with('>') || before.ends_with("<|\"|>") {
        return false;
    }
    let whole = [&begin[before.len()..], text, &end[..end.len() - after.len()]].concat();
    let starts = whole.char_indices().map(|(at, _)| at).chain([whole.len()]);
    let starts = starts.take_while(|&at| whole[..at].trim().is_empty());
    starts.into_iter().any(|start| {
        let rest = &whole[start..];
        let ends = rest.char_indices().map(|(at, _)| at).chain([rest.len()]);
        ends.filter(|&at| rest[at..].trim().is_empty()).any(|at| input.words.accepts(&rest.as_bytes()[..at]))
    })
}

fn lark_tool(definition: &str) -> Value {
    json!([{"type": "custom", "name": "exec",
        "format": {"type": "grammar", "syntax": "lark", "definition": definition}}])
}

/// A text that ends the carrier of a family is in no input of this family, whether or not it is in the grammar.
#[test]
fn ends_of_carriers_are_in_no_input() {
    let grammar = lark_tool("start: /(?s:.)+/");
    let text = json!([{"type": "custom", "custom": {"name": "exec", "format": {"type": "text"}}}]);
    let options = TagOptions::default()
        .reasoning(ReasoningMode::Disabled)
        .max_whitespace_cnt(Some(0))
        .tool_choice(json!("required"))
        .parallel_tool_calls(false);
    for (family, begin, end, mark) in [
        (
            "hermes",
            "<tool_call>\n{\"name\": \"exec\", \"arguments\": {\"input\":\"",
            "\"}}\n</tool_call>",
            "\",",
        ),
        (
            "qwen_3_coder",
            "<tool_call>\n<function=exec>\n<parameter=input>",
            "</parameter>\n</function>\n</tool_call>",
            "</parameter>",
        ),
        (
            "glm_4_7",
            "<tool_call>exec<arg_key>input</arg_key><arg_value>",
            "</arg_value></tool_call>",
            "</arg_value>",
        ),
        ("gemma_4", "<|tool_call>call:exec{input:<|\"|>", "<|\"|>}<tool_call|>", "<|\"|>"),
        (
            "harmony",
            "<|channel|>commentary to=functions.exec <|constrain|>json<|message|>{\"input\":\"",
            "\"}<|call|>",
            "\"}",
        ),
    ] {
        let preset = TagPreset::named(family).unwrap();
        for tools in [&grammar, &text] {
            let tag = preset.structural_tag(tools, &options).unwrap().tag;
            let language = tag_language(&tag);
            let accepts = |input: &str| language.accepts(format!("{begin}{input}{end}").as_bytes());
            assert!(accepts("ls -l"), "{family}: {tag}");
            assert!(!accepts(&format!("a{mark}b")), "{family}: {tag}");
        }
    }
}

/// Invalid declarations of custom tools: the JSON Pointer in the list, the code, and a part of the message.
#[test]
fn faults_of_custom_tools_have_their_places() {
    let of = |format: Value| json!({"type": "custom", "name": "x", "format": format});
    let chat = |format: Value| json!({"type": "custom", "custom": {"name": "x", "format": format}});
    let lark = |text: &str| json!({"type": "grammar", "syntax": "lark", "definition": text});
    let nested = |text: &str| json!({"type": "grammar", "grammar": {"syntax": "lark", "definition": text}});
    for (tool, code, place, part) in [
        (of(json!("lark")), "tools/form", "/0/format", "\"lark\""),
        (of(json!({"type": "json"})), "tools/form", "/0/format/type", "\"json\""),
        (of(json!({})), "tools/form", "/0/format/type", "null"),
        (of(json!({"type": "text", "definition": "a"})), "tools/form", "/0/format", "definition"),
        (of(json!({"type": "grammar", "syntax": "lark"})), "tools/form", "/0/format", "syntax"),
        (
            of(json!({"type": "grammar", "syntax": "gbnf", "definition": "a"})),
            "tools/form",
            "/0/format/syntax",
            "gbnf",
        ),
        (
            of(json!({"type": "grammar", "syntax": "regex", "definition": 5})),
            "tools/form",
            "/0/format/definition",
            "5",
        ),
        (chat(json!({"type": "grammar", "grammar": 5})), "tools/form", "/0/custom/format/grammar", "5"),
        (
            chat(json!({"type": "grammar", "grammar": {}, "syntax": "lark"})),
            "tools/form",
            "/0/custom/format",
            "syntax",
        ),
        (
            of(lark("start: \"a\"\n  | b\n")),
            "tools/definition",
            "/0/format/definition",
            "line 2, column 5 of the grammar",
        ),
        (of(lark("start: start \"a\"")), "tools/definition", "/0/format/definition", "no input is a word"),
        (of(lark("start: <|end|>")), "tools/definition", "/0/format/definition", "tokens"),
        (
            of(lark("start: %json {\"type\": \"object\"}")),
            "tools/definition",
            "/0/format/definition",
            "objects of JSON",
        ),
        (
            chat(nested("start \"a\"")),
            "tools/definition",
            "/0/custom/format/grammar/definition",
            "line 1, column 7",
        ),
        (
            of(json!({"type": "grammar", "syntax": "regex", "definition": "a)|(b"})),
            "tools/definition",
            "/0/format/definition",
            "line 1, column 2",
        ),
        (
            of(json!({"type": "grammar", "syntax": "regex", "definition": "(?=a)b"})),
            "tools/definition",
            "/0/format/definition",
            "regex/look-around",
        ),
    ] {
        let tools = json!([tool]);
        let error =
            TagPreset::named("qwen_3").unwrap().structural_tag(&tools, &TagOptions::default()).unwrap_err();
        let place = Place::Pointer(place.to_owned());
        assert_eq!((error.code(), error.diagnostic().place()), (code, &place), "{error}");
        assert!(error.to_string().contains(part), "{part}: {error}");
        assert!(error.diagnostic().help_text().is_some(), "{error}");
        // a document keeps the tool with the same reason
        let text = tools.to_string();
        let set = read([Document { label: "tools", text: &text }], &ReadOptions::default()).unwrap();
        let reason = set.tools()[0].refusal.as_ref().unwrap();
        assert_eq!((reason.code(), reason.place()), (code, &place), "{reason}");
        assert!(reason.to_string().contains(part), "{part}: {reason}");
    }
    let error = |tools: Value, choice: Value| {
        let options = TagOptions::default().tool_choice(choice);
        let error = TagPreset::named("qwen_3").unwrap().structural_tag(&tools, &options).unwrap_err();
        (error.code(), error.diagnostic().place().to_string())
    };
    let tools = json!([of(Value::Null), {"type": "function", "function": {"name": "f"}}]);
    for (choice, code, place) in [
        (json!({"type": "custom", "name": "z"}), "tools/unknown-tool", "#/name"),
        (json!({"type": "custom", "custom": {"name": "y"}}), "tools/unknown-tool", "#/custom/name"),
        (json!({"type": "custom"}), "tools/tag-choice", "# (the root)"),
        (
            json!({"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": [{"type": "custom", "name": "z"}]}}),
            "tools/unknown-tool",
            "#/allowed_tools/tools/0/name",
        ),
    ] {
        assert_eq!(error(tools.clone(), choice.clone()), (code, place.to_owned()), "{choice}");
    }
    let twice = json!([of(Value::Null), {"type": "function", "function": {"name": "x"}}]);
    assert_eq!(error(twice, Value::Null), ("tools/tag-tools", "#/1".to_owned()));
    let nameless = json!([{"type": "custom", "custom": {"format": {"type": "text"}}}]);
    assert_eq!(error(nameless, Value::Null), ("tools/tag-tools", "#/0/custom".to_owned()));
    let request = r#"{"family": "qwen_3", "tools": [{"type": "custom", "name": "x",
        "format": {"type": "grammar", "syntax": "lark", "definition": "start: b"}}]}"#;
    let error = TagPreset::tag_of_request(request, &Limits::default()).unwrap_err();
    let snippet = error.diagnostic().snippet().expect("a place in the request");
    assert_eq!((error.code(), snippet.line()), ("tools/definition", 2), "{error}");
}

/// A warning about a grammar, and the place where an input leaves one.
#[test]
fn grammars_are_explained() {
    let tools = lark_tool("start: \"SELECT \" NAME\nNAME.2: /[a-z\\n]+/");
    let made = TagPreset::named("qwen_3").unwrap().structural_tag(&tools, &TagOptions::default()).unwrap();
    let warning = &made.tool_warnings[..];
    assert_eq!(warning.len(), 1, "{warning:?}");
    assert_eq!(warning[0].code(), "lark/priority");
    assert_eq!(warning[0].place(), &Place::Pointer("/0/format/definition".to_owned()));
    let text = tools.to_string();
    let mut set = read([Document { label: "tools", text: &text }], &ReadOptions::default()).unwrap();
    set.check(&GrammarOptions::default().schema);
    let codes: Vec<&str> = set.findings().iter().map(|finding| finding.diagnostic.code()).collect();
    assert!(codes.iter().all(|code| *code == "lark/priority") && !codes.is_empty(), "{codes:?}");
    for (input, place, found) in [
        ("SELECT a\nB", "line 2, column 1 of the input", "B"),
        ("SELECT é", "line 1, column 8 of the input", "é"),
        ("SELECT ", "line 1, column 8 of the input", "the end of the input"),
        ("", "line 1, column 1 of the input", "the end of the input"),
        ("SELECT a\"", "line 1, column 9 of the input", "\""),
    ] {
        let arguments = Map::from_iter([("input".to_owned(), input.into())]);
        let error = set.check_call(&Call { tool: "exec".to_owned(), arguments }).unwrap_err();
        let diagnostic = error.diagnostic();
        assert_eq!(diagnostic.place(), &Place::Pointer("/arguments/input".to_owned()));
        assert_eq!(diagnostic.found_text(), Some(found), "{error}");
        assert!(diagnostic.cause_text().unwrap().contains(place), "{error}");
    }
}

/// A search for the end of an element in a grammar that nests and is ambiguous: the ways to go of single items say too
/// little, lower bounds of whole configurations direct it.
#[test]
fn elements_may_contain_ambiguous_recursion() {
    let tools = |syntax: &str, definition: &str| {
        let format = json!({"type": "grammar", "syntax": syntax, "definition": definition});
        json!([{"type": "custom", "name": "w", "format": format}])
    };
    let options = TagOptions::default()
        .reasoning(ReasoningMode::Disabled)
        .parallel_tool_calls(false)
        .tool_choice(json!("required"));
    for family in TagPreset::names() {
        let preset = TagPreset::named(family).unwrap();
        let tag = |tools: &Value| preset.structural_tag(tools, &options).unwrap().tag;
        let around = drawn_within(&tag_grammar(&tag(&tools("regex", "PROBE"))), 3, 7, 400);
        let (begin, end) = around.iter().find_map(|word| word.split_once("PROBE")).unwrap();
        for (definition, word, other) in [
            ("start: (\"(\" start \")\")~2 /[^x]*/ | \"y\"", "((y)(y))(y)zz", "((y)(y))x"),
            ("start: (\"(\" start \")\" /[^x]*/)~2 /[^x]*/ | \"y\"", "(y)(z(y)z(y)z", "(y)z"),
            ("start: \"(\" start \")\" | start start | \"y\"", "((y)yy)", "((y)yy"),
        ] {
            let language = tag_language(&tag(&tools("lark", definition)));
            for (text, expected) in [(word, true), (other, false), ("y", true)] {
                let written = format!("{begin}{}{end}", written(begin, text));
                assert_eq!(language.accepts(written.as_bytes()), expected, "{family}: {written}");
            }
        }
    }
}
