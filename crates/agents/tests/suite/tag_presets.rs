//! Presets of structural tags: each folder under `grammars/calls` is a test. Its texts are whole outputs of a model,
//! named `<choice>.<reasoning>.<what>.txt`. The texts under `accept` are words of the tag for that choice, those under
//! `reject` are not.

use crate::language::Language;
use crate::shipped::texts;
use grammata::diagnostic::Place;
use grammata::limits::{LimitKind, Limits};
use grammata::syntax::structural_tag;
use grammata_agents::tools::{ReasoningMode, TagOptions, TagPreset};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(crate::ROOT).join("grammars/calls")
}

fn tools() -> Value {
    serde_json::from_str(&std::fs::read_to_string(root().join("tools.json")).unwrap()).unwrap()
}

/// Returns the options for the choice and the reasoning mode in the name of a text.
fn options(choice: &str, reasoning: &str) -> TagOptions {
    let tool_choice = match choice {
        "single" => json!("auto"),
        "forced" => json!({"type": "function", "function": {"name": "get_weather"}}),
        name => json!(name),
    };
    let reasoning: ReasoningMode = reasoning.parse().unwrap();
    TagOptions::default()
        .tool_choice(tool_choice)
        .reasoning(reasoning)
        .parallel_tool_calls(choice != "single")
}

fn language(family: &str, options: &TagOptions) -> Language {
    let tag = TagPreset::named(family).unwrap().structural_tag(&tools(), options).unwrap().tag;
    let compiled = structural_tag::compile_value(&tag, &structural_tag::Options::default());
    Language::new(&compiled.unwrap_or_else(|error| panic!("{family}: {error}\n{tag}")).grammar)
}

#[test]
fn texts_are_words_or_not() {
    let mut wrong = Vec::new();
    for family in TagPreset::names() {
        let mut languages: BTreeMap<String, Language> = BTreeMap::new();
        for (which, expected) in [("accept", true), ("reject", false)] {
            for (path, text) in texts(&root().join(family), which) {
                let name = path.file_name().unwrap().to_string_lossy().into_owned();
                let (choice, rest) = name.split_once('.').unwrap();
                let (reasoning, _) = rest.split_once('.').unwrap();
                let language = languages
                    .entry(format!("{choice}.{reasoning}"))
                    .or_insert_with(|| language(family, &options(choice, reasoning)));
                if language.accepts(&text) != expected {
                    wrong.push(format!("{family}/{which}/{name}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn every_folder_is_a_family_with_texts() {
    let list = std::fs::read_to_string(root().join("../README.md")).unwrap();
    let mut folders: Vec<String> = std::fs::read_dir(root())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_dir())
        .map(|path| path.file_name().unwrap().to_string_lossy().into_owned())
        .collect();
    folders.sort();
    assert_eq!(folders, TagPreset::names().collect::<Vec<_>>());
    for family in folders {
        let folder = root().join(&family);
        assert!(
            list.contains(&format!("| [{family}](calls/{family}) |")),
            "{family} is not in grammars/README.md"
        );
        assert!(texts(&folder, "accept").len() >= 7 && texts(&folder, "reject").len() >= 6, "{family}");
        let preset = TagPreset::named(&family).unwrap();
        assert!(preset.source.starts_with("https://") && !preset.models.is_empty(), "{family}");
    }
}

/// Every family gives a non-empty grammar for every choice, reasoning mode and further option.
#[test]
fn every_tag_compiles() {
    for family in TagPreset::names() {
        for choice in ["auto", "none", "required", "forced", "single"] {
            for (mode, _) in ReasoningMode::ALL {
                for more in [false, true] {
                    let options = options(choice, mode);
                    let options = options.exclude_special_tokens(!more).any_order(more);
                    let options = options.max_whitespace_cnt(more.then_some(2));
                    language(family, &options);
                }
            }
        }
    }
}

#[test]
fn tags_have_the_fields_that_options_ask_for() {
    let options = TagOptions::default().any_order(true).max_whitespace_cnt(Some(2));
    let options = options.exclude_special_tokens(false).reasoning(ReasoningMode::Disabled);
    let tools = json!([
        {"type": "function", "function": {"name": "f", "parameters": {"type": "object"}, "strict": false}},
        {"type": "function", "function": {"name": "g", "parameters": {"type": "object"}, "strict": null}},
        {"function": {"name": "h"}},
    ]);
    let tag = TagPreset::named("qwen_3").unwrap().structural_tag(&tools, &options).unwrap().tag;
    let call = |name: &str, schema: Value| {
        json!({
            "type": "tag",
            "begin": format!("<tool_call>\n{{\"name\": \"{name}\", \"arguments\": "),
            "content": {"type": "json_schema", "json_schema": schema, "any_order": true, "max_whitespace_cnt": 2},
            "end": "}\n</tool_call>",
        })
    };
    let tags = [call("f", json!(true)), call("g", json!({"type": "object"})), call("h", json!(true))];
    let format = json!({"type": "triggered_tags", "triggers": ["<tool_call>"], "tags": tags});
    assert_eq!(tag, json!({"type": "structural_tag", "format": format}));
}

const TOOLS: &str = r#"[
    {"type": "function", "function": {"name": "now"}},
    {"type": "web_search", "name": "browser.search", "parameters": {"type": "object"}}
]"#;

#[test]
fn choices_keep_the_tools_that_they_name() {
    let search = json!({"type": "web_search"});
    let now = json!({"type": "function", "function": {"name": "now"}});
    let allowed = |mode: &str, tools: &[&Value]| json!({"type": "allowed_tools", "allowed_tools": {"mode": mode, "tools": tools}});
    let cases = [
        (json!(null), "now search"),
        (json!("auto"), "now search"),
        (json!("none"), ""),
        (json!("required"), "now search"),
        (now.clone(), "now"),
        (search.clone(), "search"),
        (allowed("auto", &[&now]), "now"),
        (allowed("required", &[&search]), "search"),
        (allowed("auto", &[&search, &now]), "now search"),
        (allowed("auto", &[]), ""),
    ];
    let tools: Value = serde_json::from_str(TOOLS).unwrap();
    for (choice, expected) in cases {
        let options = TagOptions::default().tool_choice(choice.clone());
        let tag =
            TagPreset::named("harmony").unwrap().structural_tag(&tools, &options).unwrap().tag.to_string();
        let names = [("now", "to=functions.now<"), ("search", "to=browser.search code")];
        let found: Vec<&str> =
            names.iter().filter(|(_, text)| tag.contains(text)).map(|(name, _)| *name).collect();
        assert_eq!(found.join(" "), expected, "{choice}");
    }
}

#[test]
fn bad_tools_and_choices_are_refused_with_their_place() {
    let function = |name: &str| json!({"type": "function", "function": {"name": name}});
    let cases = [
        (json!({}), json!("auto"), "tools/tag-tools", ""),
        (json!([1]), json!("auto"), "tools/tag-tools", "/0"),
        (json!([function("f"), {}]), json!("auto"), "tools/tag-tools", "/1"),
        (json!([{"type": 1}]), json!("auto"), "tools/tag-tools", "/0/type"),
        (json!([{"type": "function"}]), json!("auto"), "tools/tag-tools", "/0"),
        (json!([{"type": "function", "name": "f"}]), json!("auto"), "tools/tag-tools", "/0"),
        (json!([{"type": "function", "function": {}}]), json!("auto"), "tools/tag-tools", "/0/function"),
        (json!([function("a\"b")]), json!("auto"), "tools/tag-tools", "/0/function/name"),
        (json!([function("")]), json!("auto"), "tools/tag-tools", "/0/function/name"),
        (json!([function("f"), function("f")]), json!("auto"), "tools/tag-tools", "/1"),
        (
            json!([{"type": "function", "function": {"name": "f", "parameters": 1}}]),
            json!("auto"),
            "tools/tag-tools",
            "/0/function/parameters",
        ),
        (
            json!([{"type": "function", "function": {"name": "f", "strict": 1}}]),
            json!("auto"),
            "tools/tag-tools",
            "/0/function/strict",
        ),
        (json!([{"type": "web_search"}]), json!("auto"), "tools/tag-tools", "/0/type"),
        (json!([function("f")]), json!("any"), "tools/tag-choice", ""),
        (json!([function("f")]), json!(1), "tools/tag-choice", ""),
        (json!([function("f")]), json!({}), "tools/tag-choice", ""),
        (json!([function("f")]), json!({"type": "function", "name": "f"}), "tools/tag-choice", ""),
        (json!([function("f")]), function("g"), "tools/unknown-tool", "/function/name"),
        (json!([function("f")]), json!({"type": "web_search"}), "tools/tag-choice", "/type"),
        (json!([function("f")]), json!({"type": "allowed_tools"}), "tools/tag-choice", "/allowed_tools"),
        (
            json!([function("f")]),
            json!({"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": [function("g")]}}),
            "tools/unknown-tool",
            "/allowed_tools/tools/0/function/name",
        ),
        (
            json!([function("f")]),
            json!({"type": "allowed_tools", "allowed_tools": {"mode": "required", "tools": []}}),
            "tools/no-tools",
            "/allowed_tools",
        ),
        (json!([]), json!("required"), "tools/no-tools", ""),
        (json!(null), json!("required"), "tools/no-tools", ""),
    ];
    for (tools, choice, code, pointer) in cases {
        let options = TagOptions::default().tool_choice(choice.clone());
        let error = TagPreset::named("qwen_3").unwrap().structural_tag(&tools, &options).unwrap_err();
        assert_eq!(error.code(), code, "{tools} {choice}");
        assert_eq!(*error.diagnostic().place(), Place::Pointer(pointer.to_owned()), "{tools} {choice}");
    }
    let options = TagOptions::default().limits(Limits::default().with(LimitKind::CatalogueTools, 1));
    let tools = json!([function("f"), function("g")]);
    let error = TagPreset::named("qwen_3").unwrap().structural_tag(&tools, &options).unwrap_err();
    assert_eq!(error.code(), "limit/exceeded");
    assert_eq!(TagPreset::named("qwen3").unwrap_err().code(), "tools/unknown-family");
}

const HEAD: &str = "description = \"\"\nmodels = []\nsource = \"\"\n";

#[test]
fn bad_presets_are_refused() {
    let cases = [
        ("trigger = \"<\"", "missing field `call`"),
        ("trigger = \"<\"\ncall = \"<$name$arguments>\"\nstile = 1", "unknown field `stile`"),
        ("trigger = \"<\"\ncall = \"<$name$arguments>\"\nstyle = \"yaml\"", "unknown variant `yaml`"),
        ("trigger = \"<\"\ncall = 1", "a string or a list of strings"),
        ("trigger = \"<\"\ncall = []", "no `call`"),
        ("trigger = \"<\"\ncall = \"<$arguments>\"", "a call without `$name`"),
        ("trigger = \"<\"\ncall = \"<$name>\"", "a call without `$arguments`"),
        ("trigger = \"<\"\ncall = \"<$name$arguments$number>\"", "a hole after `$arguments`"),
        ("trigger = \"<\"\ncall = \"<$name$name$arguments>\"", "a hole that is there twice"),
        ("trigger = \"<\"\ncall = \"<$name$id$arguments$id>\"", "a hole that is there twice"),
        ("trigger = \"<\"\ncall = \"<$name$arguments$id$$$arguments>\"", "a hole after `$arguments`"),
        (
            "trigger = \"<\"\ncall = \"<$name$arguments>\"\n[preamble]\nbegin = \"x\"\nend = \"y\"",
            "a preamble outside of messages",
        ),
        ("trigger = \"<\"\ncall = \"<$tool$arguments>\"", "a `$` that begins no hole"),
        ("call = \"<$name$arguments>\"", "no `trigger`"),
        ("trigger = \"[\"\ncall = \"<$name$arguments>\"", "do not begin with `trigger`"),
        ("trigger = \"[\"\ncall = \"$name$arguments\"", "a call that nothing begins"),
        ("trigger = \"<\"\ncall = \"<$name$arguments>\"\n[calls]\nend = \"x\"", "without their `begin`"),
        ("trigger = \"<\"\ncall = \"<$name$arguments>\"\n[calls]\nseparator = \"x\"", "without a section"),
        (
            "trigger = \"<\"\ncall = \"<$name$arguments>\"\n[text]\nbegin = \"x\"",
            "a beginning or an end of text",
        ),
        (
            "trigger = \"<\"\ncall = \"<$name$arguments>\"\n[reasoning]\nbegin = \"x\"\nend = \"\"",
            "without an `end`",
        ),
        ("layout = \"blocks\"\ntrigger = \"<\"\ncall = \"<$name$arguments>\"", "a `trigger` where"),
        ("layout = \"messages\"\ncall = \"<$name$arguments>\"", "text without a `begin`"),
        (
            "layout = \"messages\"\ncall = \"<$name$arguments>\"\n[text]\nbegin = \"a\"\nend = \"b\"",
            "without a `separator`",
        ),
        (
            "layout = \"blocks\"\ncall = \"<$name$arguments>\"\n[text]\nbegin = \"a\"\nend = \"b\"",
            "does not fit `begin`",
        ),
    ];
    for (rest, found) in cases {
        let error = TagPreset::from_toml(&format!("{HEAD}{rest}"), &Limits::default()).unwrap_err();
        assert_eq!(error.code(), "tools/preset", "{rest}");
        let text = error.diagnostic().found_text().unwrap();
        assert!(text.contains(found), "{rest}: {text}");
    }
    let limits = Limits::default().with(LimitKind::SourceBytes, 10);
    assert_eq!(TagPreset::from_toml(HEAD, &limits).unwrap_err().code(), "limit/exceeded");
}

/// A user-defined family, with a dollar sign and a number before the name of a call.
#[test]
fn a_further_family_takes_no_code() {
    let text = format!("{HEAD}trigger = \"$$\"\ncall = \"$$$$$number:$name $arguments;\"\n")
        .replace("\"$$\"", "\"$\"");
    let preset = TagPreset::from_toml(&text, &Limits::default()).unwrap();
    let tools = json!([{"function": {"name": "now", "parameters": {"type": "object", "additionalProperties": false}}}]);
    let tag = preset.structural_tag(&tools, &TagOptions::default()).unwrap().tag;
    let grammar = structural_tag::compile_value(&tag, &structural_tag::Options::default()).unwrap().grammar;
    let language = Language::new(&grammar);
    assert!(language.accepts(b"Now: $$12:now {}; and $$1:now {};"));
    assert!(!language.accepts(b"Now: $$:now {};") && !language.accepts(b"$$1:then {};"));
}

/// Forms that differ only after the arguments are one tag, and others are tags of their own.
#[test]
fn ids_come_before_or_after_the_arguments() {
    let text = format!(
        "{HEAD}trigger = \"<\"\ncall = [\"<$name $arguments>\", \"<$name $arguments, $id>\", \"<$name:$id $arguments;>\"]\n"
    );
    let preset = TagPreset::from_toml(&text, &Limits::default()).unwrap();
    let tools = json!([{"function": {"name": "now", "parameters": {"type": "object", "additionalProperties": false}}}]);
    let tag =
        preset.structural_tag(&tools, &TagOptions::default().tool_choice(json!("required"))).unwrap().tag;
    let tags = tag["format"]["tags"].as_array().unwrap();
    assert_eq!(tags.len(), 2, "{tag}");
    assert_eq!((&tags[0]["end"], &tags[1]["end"]), (&json!(">"), &json!(";>")), "{tag}");
    let grammar = structural_tag::compile_value(&tag, &structural_tag::Options::default()).unwrap().grammar;
    let language = Language::new(&grammar);
    for (word, expected) in [
        ("<now {}>", true),
        ("<now {}, abcDEF019>", true),
        ("<now:abcdefghi {};>", true),
        ("<now {};>", false),
        ("<now {}, abcdefgh>", false),
        ("<now:abcdefghi {}>", false),
        ("<now {}, abcdefgh->", false),
    ] {
        assert_eq!(language.accepts(word.as_bytes()), expected, "{word}");
    }
}

/// With markers as tokens, a text of tokens is accepted only if its markers are the tokens of these names.
#[test]
fn markers_are_tokens_if_asked_for() {
    let options = TagOptions::default().token_markers(true);
    let tools = json!([{"function": {"name": "now", "parameters": {"type": "object", "additionalProperties": false}}}]);
    let markers = |family: &str, options: &TagOptions| {
        TagPreset::named(family).unwrap().structural_tag(&tools, options).map(|made| made.tag)
    };
    let tag = markers("qwen_3", &options).unwrap();
    let token = |text: &str| json!({"type": "token", "token": text});
    let text = |value: &str| json!({"type": "const_string", "value": value});
    let thought = json!({"type": "tag", "begin": "", "content": {"type": "any_tokens", "exclude_tokens": []}, "end": token("</think>")});
    let schema = json!({"type": "json_schema", "json_schema": tools[0]["function"]["parameters"]});
    let parts = [text("\n{\"name\": \"now\", \"arguments\": "), schema, text("}\n")];
    let call = json!({"type": "tag", "begin": token("<tool_call>"), "end": token("</tool_call>"),
                      "content": {"type": "sequence", "elements": parts}});
    let calls = json!({"type": "token_triggered_tags", "trigger_tokens": ["<tool_call>"], "tags": [call],
                       "exclude_tokens": ["<think>", "</think>"]});
    let reasoning = json!({"type": "sequence", "elements": [thought, text("\n\n")]});
    assert_eq!(tag["format"], json!({"type": "sequence", "elements": [reasoning, calls]}));
    for family in ["qwen_3", "qwen_3_5", "qwen_3_coder", "glm_4_7"] {
        for choice in ["auto", "none", "required"] {
            for (mode, _) in ReasoningMode::ALL {
                let options = options.clone().tool_choice(json!(choice)).reasoning(mode.parse().unwrap());
                let tag = markers(family, &options).unwrap();
                let compiled = structural_tag::compile_value(&tag, &structural_tag::Options::default());
                compiled.unwrap_or_else(|error| panic!("{family}: {error}\n{tag}"));
                let format = tag["format"].to_string();
                assert!(!format.contains("\"begin\":\"<") && !format.contains("\"end\":\"<"), "{tag}");
            }
        }
    }
    let error = markers("hermes", &options).unwrap_err();
    assert_eq!(error.code(), "tools/no-markers");
    assert!(error.to_string().contains("help: "), "{error}");
}
