//! Call formats: which turns are words, which calls they have, and that written calls are read back.

use grammata::automaton::Automaton;
use grammata::automaton::words::{Count, count, enumerate};
use grammata::grammar::Grammar;
use grammata::syntax::json_schema::Whitespace;
use grammata::vocabulary::VocabularyBuilder;
use grammata::{CompiledGrammar, Compiler, Limits, TokenId};
use grammata_agents::tools::session::{Event, Session, ToolCompiler, TurnOptions};
use grammata_agents::tools::{Call, CallFormat, Choice, GrammarOptions, Markers, ToolSet, Turn};
use grammata_testing::earley::Recogniser;
use serde_json::json;
use std::sync::Arc;

const NAMES: &str = r#"[{"name": "get", "inputSchema": {"type": "object"}},
    {"name": "get_user", "inputSchema": {"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]}},
    {"name": "get_users", "inputSchema": {"type": "object", "properties": {"q": {"type": "string"}}}}]"#;
/// A small set of tools: A has 10 argument objects, if members may be in any order, and B one.
const SMALL: &str = r#"[{"name": "A", "inputSchema": {"type": "object", "properties": {"e": {"enum": ["x", "y"]}, "b": {"type": "boolean"}}, "required": ["e"]}},
    {"name": "B", "inputSchema": {"type": "object"}}]"#;
/// Operations with few calls each, whose paths, queries, headers and bodies are hard to tell apart.
const REQUESTS: &str = r##"{"openapi": "3.2.0", "servers": [{"url": "https://h"}], "paths": {
    "/a/{x}-{y}.json": {"get": {"operationId": "two", "parameters": [
        {"name": "x", "in": "path", "schema": {"enum": ["-", "a-b", -1, "-1"]}},
        {"name": "y", "in": "path", "allowReserved": true, "schema": {"enum": ["-", ".json", "a:b/"]}}]}},
    "/a/{x}": {"get": {"operationId": "one", "parameters": [{"name": "x", "in": "path", "schema": {"enum": ["b", "a-b.json", "é"]}}]}},
    "/a/b": {"get": {"operationId": "literal"}},
    "/l/{l}": {"get": {"operationId": "label", "parameters": [{"name": "l", "in": "path", "style": "label", "explode": true,
        "schema": {"type": "array", "maxItems": 2, "items": {"enum": [".", "a"]}}}]}},
    "/q?f=1": {"get": {"operationId": "query", "parameters": [
        {"name": "q", "in": "query", "allowReserved": true, "schema": {"enum": ["a&b=c#d+e/", "1", 1]}},
        {"name": "l", "in": "query", "explode": false, "schema": {"type": "array", "maxItems": 2, "items": {"enum": [",", 1]}}},
        {"name": "X-A", "in": "header", "schema": {"enum": ["x", "é", " "]}}]}},
    "/form": {"post": {"operationId": "form", "requestBody": {"content": {"application/x-www-form-urlencoded": {
        "encoding": {"csv": {"explode": false}}, "schema": {"type": "object", "properties": {
        "tags": {"type": "array", "maxItems": 2, "items": {"enum": ["a&", 1]}},
        "csv": {"type": "array", "maxItems": 2, "items": {"enum": [",", true]}}}}}}}}}}}"##;
const ENDPOINTS: &str = r#"{"openapi": "3.1.0", "paths": {"/tv/{id}": {"get": {"operationId": "tv", "parameters": [{"name": "id", "in": "path", "schema": {"type": "integer"}}]}}, "/tv/popular": {"get": {"operationId": "popular"}}}}"#;

/// The number of words of `endpoint`, and the number of different calls that they write.
const ENDPOINT_WORDS: (usize, usize) = (23, 23);
const HTTP_WORDS: (usize, usize) = (169, 109);

fn set(text: &str) -> ToolSet {
    super::tools::set(text).unwrap()
}

fn text_options() -> GrammarOptions {
    GrammarOptions::default().markers(Markers::Text)
}

fn compiled(format: &str, set: &ToolSet, options: &GrammarOptions) -> CompiledGrammar {
    compiled_grammar(&CallFormat::named(format).unwrap().grammar(set, options).unwrap().grammar)
}

fn compiled_grammar(grammar: &Grammar) -> CompiledGrammar {
    let tokens = (0..=255_u8).map(|byte| vec![byte]).chain([b"</s>".to_vec()]);
    let vocabulary = VocabularyBuilder::from_tokens(tokens).eos([TokenId::new(256)]).build().unwrap();
    Compiler::new(Arc::new(vocabulary)).compile(grammar).unwrap()
}

fn is_word(compiled: &CompiledGrammar, text: &str) -> bool {
    let mut matcher = compiled.matcher();
    matcher.accept_bytes(text.as_bytes()).is_ok() && matcher.is_accepting()
}

/// Returns the bytes that may follow a text, as characters.
fn next(compiled: &CompiledGrammar, text: &str) -> String {
    let mut matcher = compiled.matcher();
    matcher.accept_bytes(text.as_bytes()).unwrap();
    let allowed = matcher.allowed_bytes().unwrap();
    (0..=255_u8).filter(|byte| allowed.contains(*byte)).map(char::from).collect()
}

#[test]
fn a_name_that_begins_another_may_end_or_go_on() {
    let set = set(NAMES);
    let json = compiled("json", &set, &text_options().choice(Choice::Required));
    assert_eq!(next(&json, r#"{"name": "get"#), "\"_");
    assert_eq!(next(&json, r#"{"name": "get_user"#), "\"s");
    let react = compiled("react", &set, &text_options().choice(Choice::Required));
    assert_eq!(next(&react, "Thought: hm\nAction: get_user"), "\ns");
}

/// Texts in each format: the calls of a turn, no calls if the turn is text, or `None` if the text is not a turn.
#[test]
fn turns_are_words_and_read_back() {
    let get = r#"{"name": "get_user", "arguments": {"id": 7}}"#;
    let cases: Vec<(&str, &str, Choice, String, Option<&str>)> = vec![
        ("json", NAMES, Choice::Auto, get.to_owned(), Some(r#"get_user{"id":7}"#)),
        ("json", NAMES, Choice::Auto, get.replace(' ', ""), Some(r#"get_user{"id":7}"#)),
        ("json", NAMES, Choice::Auto, get.replace(' ', "  "), None),
        ("json", NAMES, Choice::Auto, "Seven {is} a number.".to_owned(), Some("")),
        ("json", NAMES, Choice::Required, "Seven is a number.".to_owned(), None),
        ("json", NAMES, Choice::None, get.to_owned(), None),
        ("json", NAMES, Choice::Auto, get.replace('7', "7.0"), None),
        ("json", NAMES, Choice::Auto, get.replace('7', "-7"), Some(r#"get_user{"id":-7}"#)),
        ("json-array", NAMES, Choice::Auto, format!("[{get}, {get}]"), Some(r#"get_user{"id":7} get_user{"id":7}"#)),
        ("json-array", NAMES, Choice::Auto, format!("[{get}, {get}, {get}]"), None),
        ("hermes", NAMES, Choice::Auto, format!("Well.<tool_call>\n{get}\n</tool_call>"), Some(r#"get_user{"id":7}"#)),
        ("hermes", NAMES, Choice::Auto, "Well.<tool_call>\n".to_owned(), None),
        ("hermes", NAMES, Choice::None, "Well.<tool_call>\n".to_owned(), None),
        ("hermes", NAMES, Choice::Required, "Well.".to_owned(), None),
        ("react", NAMES, Choice::Auto, "Thought: Action films are fun".to_owned(), Some("")),
        ("react", NAMES, Choice::Auto, "Thought: \nActio\nAction: get\nAction Input: {}".to_owned(), Some("get{}")),
        ("react", NAMES, Choice::Auto, "Thought: x\nAct".to_owned(), Some("")),
        ("react", NAMES, Choice::Auto, "Thought: x\nAction: ".to_owned(), None),
        ("mistral-args", NAMES, Choice::Auto, "a [TOOL_CALLS]get[ARGS]{}".to_owned(), Some("get{}")),
        ("mistral", NAMES, Choice::Auto, format!("[TOOL_CALLS] [{get}]"), Some(r#"get_user{"id":7}"#)),
        ("deepseek", NAMES, Choice::Auto, "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>get<｜tool▁sep｜>{}<｜tool▁call▁end｜><｜tool▁calls▁end｜>".to_owned(), Some("get{}")),
        ("harmony", NAMES, Choice::Auto, "<|channel|>commentary to=functions.get <|constrain|>json<|message|>{}".to_owned(), Some("get{}")),
        ("endpoint", ENDPOINTS, Choice::Auto, "GET /tv/{id}\nGET /tv/popular".to_owned(), Some("tv{} popular{}")),
        ("endpoint", ENDPOINTS, Choice::Auto, "No API call needed.".to_owned(), Some("")),
        ("endpoint", ENDPOINTS, Choice::Required, "No API call needed.".to_owned(), None),
    ];
    for (name, tools, choice, text, expected) in cases {
        let set = set(tools);
        let options = text_options().choice(choice).max_calls(Some(2));
        let found = is_word(&compiled(name, &set, &options), &text);
        assert_eq!(found, expected.is_some(), "{name} {choice:?}: {text}");
        if let Some(expected) = expected {
            let turn = CallFormat::named(name).unwrap().read(&text, &set).unwrap();
            let calls = turn.calls.iter().map(|call| format!("{}{}", call.tool, json!(call.arguments)));
            assert_eq!(calls.collect::<Vec<_>>().join(" "), expected, "{name}: {text}");
        }
    }
}

/// Returns whether a text is a word, according to a recogniser that shares no code with the engine.
fn accepts(grammar: &Grammar, text: &str) -> bool {
    let recogniser = Recogniser::new(grammar).unwrap();
    let mut state = recogniser.start();
    text.bytes().for_each(|byte| recogniser.advance(&mut state, byte));
    recogniser.is_accepting(&state)
}

/// Enumerates the words of a small set in compact JSON. Each word is read, and what is rendered from it is read as the
/// same turn. Formats that write requests get a set of operations, so that a call is a request.
#[test]
fn all_words_of_a_small_set_read_back() {
    let (set, requests) = (set(SMALL), set(REQUESTS));
    let schema = text_options().schema.whitespace(Whitespace::Compact);
    for name in CallFormat::names() {
        let format = CallFormat::named(name).unwrap();
        let options = text_options().choice(Choice::Required).schema(schema.clone());
        let is_request = ["endpoint", "restgpt", "http"].contains(&name);
        let set = if is_request { &requests } else { &set };
        let made = format.grammar(set, &options).unwrap();
        let automaton = Automaton::new(&made.grammar, &Limits::default()).unwrap();
        let mut read = std::collections::BTreeSet::new();
        let mut words = 0;
        for word in enumerate(&automaton).unwrap().take(1000) {
            let word = word.unwrap();
            let bytes: Vec<u8> = word.iter().filter_map(|letter| letter.byte()).collect();
            let text = String::from_utf8(bytes).unwrap();
            let turn = format.read(&text, set).unwrap_or_else(|error| panic!("{name}: {text}\n{error}"));
            assert_eq!(turn.calls.len(), 1, "{name}: {text}");
            let rendered = format.render(&turn, set).unwrap();
            assert_eq!(format.read(&rendered, set).unwrap(), turn);
            if name == "http" {
                let request = set.request(&turn.calls[0]).unwrap();
                let target = request.url.strip_prefix("https://h").unwrap();
                assert!(
                    rendered.starts_with(&format!("{} {target}", request.method)),
                    "{rendered:?} {request:?}"
                );
            }
            // the recogniser is slow, and most turns with equal calls differ only in white space
            if read.insert(json!(turn.calls[0].arguments).to_string() + &turn.calls[0].tool) {
                assert!(accepts(&made.grammar, &rendered), "{name}: {rendered}");
            }
            words += 1;
        }
        match name {
            // 9 paths of `two` (`-1` only as a string), 6 of `label`, those of `one` except `/a/b`, which is `literal`,
            // and the paths as they are documented
            "endpoint" => assert_eq!((words, read.len()), ENDPOINT_WORDS),
            "http" => assert_eq!((words, read.len()), HTTP_WORDS),
            "restgpt" => assert!(words == 1000 && !read.is_empty()),
            // 2 calls of A with `e` alone, 8 with `b` in two orders, and 1 of B
            _ => assert!(words >= 11 && read.len() <= 11, "{name}: {words} words, {read:?}"),
        }
    }
    let format = CallFormat::named("harmony").unwrap();
    let made = format.grammar(&set, &text_options().choice(Choice::Required).schema(schema)).unwrap();
    let automaton = Automaton::new(&made.grammar, &Limits::default()).unwrap();
    assert!(matches!(count(&automaton).unwrap(), Count::Finite(words) if words == 11_u32.into()));
}

#[test]
fn bounds_and_choices_that_no_turn_keeps_are_errors() {
    let none = set("[]");
    let format = CallFormat::named("json").unwrap();
    let code = |set: &ToolSet, options: GrammarOptions| {
        format.grammar(set, &options).map_or_else(|error| error.code(), |_| "fine")
    };
    assert_eq!(code(&none, text_options().choice(Choice::Required)), "tools/no-tools");
    assert_eq!(code(&none, text_options()), "fine");
    let set = set(NAMES);
    assert_eq!(code(&set, text_options().tools(vec!["got".to_owned()])), "tools/unknown-tool");
    assert_eq!(code(&set, text_options().min_calls(2).max_calls(None)), "tools/call-count");
}

#[test]
fn names_that_a_format_cannot_hold_are_refused_in_it() {
    let set = set(
        r#"[{"name": "a\nb \"<tool_call>", "inputSchema": {"type": "object"}}, {"name": "fine", "inputSchema": {"type": "object"}}]"#,
    );
    let made = |name: &str| CallFormat::named(name).unwrap().grammar(&set, &text_options()).unwrap();
    assert_eq!(made("json").tools.len(), 2);
    assert_eq!(made("react").tools, ["fine"]);
    assert_eq!(made("react").refused[0].1.code(), "tools/not-callable");
    let call = Call { tool: set.tools()[0].name.clone(), arguments: serde_json::Map::new() };
    let turn = Turn { calls: vec![call], ..Turn::default() };
    let format = CallFormat::named("hermes").unwrap();
    let text = format.render(&turn, &set).unwrap();
    assert!(is_word(&compiled("hermes", &set, &text_options()), &text), "{text}");
    assert_eq!(format.read(&text, &set).unwrap(), turn);
}

#[test]
fn tables_that_are_no_formats_say_where() {
    for table in [
        "",
        "description = 'd'\ntext = 'here'\ncall = []",
        "description = 'd'\ntext = 'none'\ncall = [{ name = true }]",
        "description = 'd'\ntext = 'before'\ncall = [{ object = ['a', 'b'] }]",
        "description = 'd'\ntext = 'before'\nbetween = true\nseparator = [{ text = ';' }]\ncall = [{ text = '<' }, { object = ['a', 'b'] }]",
        "description = 'd'\ntext = 'before'\nbetween = true\ncall = [{ token = '<' }, { object = ['a', 'b'] }]",
        "description = 'd'\ntext = 'opening'\nbetween = true\ncall = [{ text = '<' }, { object = ['a', 'b'] }]",
        "description = 'd'\ntext = 'none'\nbegin = [{ name = true }]\ncall = [{ object = ['a', 'b'] }]",
    ] {
        let error = CallFormat::from_toml(table).unwrap_err();
        assert_eq!(error.code(), "tools/format", "{table}");
    }
}

/// A custom format with text before, between and after calls: its turns, how they are read, and the events of a
/// session.
#[test]
fn text_may_stand_between_calls() {
    let table = "description = 'd'\ntext = 'before'\nbetween = true\nafter = true\n\
        call = [{ text = '<call>' }, { object = ['name', 'arguments'] }, { text = '</call>' }]";
    let format = CallFormat::from_toml(table).unwrap();
    let set = set(NAMES);
    let call = |id: u32| format!("<call>{{\"name\":\"get_user\",\"arguments\":{{\"id\":{id}}}}}</call>");
    let (one, two, three) = (call(1), call(2), call(3));
    for (calls, text, expected) in [
        ((1, 3), format!("a{one}b <cal{two}c"), Some(("a", &["b <cal"][..], "c"))),
        ((1, 3), format!("{one}{two}{three}"), Some(("", &["", ""], ""))),
        ((1, 3), format!("{one}</call>"), Some(("", &[], "</call>"))),
        ((2, 3), format!("{one} and {two}"), Some(("", &[" and "], ""))),
        ((2, 3), format!("{one} and"), None),
        ((1, 1), format!("{one}{two}"), None),
        ((1, 3), format!("{one} <call>"), None),
    ] {
        let options = text_options().choice(Choice::Required).min_calls(calls.0).max_calls(Some(calls.1));
        let made = format.grammar(&set, &options).unwrap();
        let tokens = (0..=255_u8).map(|byte| vec![byte]).chain([b"</s>".to_vec()]);
        let vocabulary = VocabularyBuilder::from_tokens(tokens).eos([TokenId::new(256)]).build().unwrap();
        let compiler = Compiler::new(Arc::new(vocabulary));
        assert_eq!(is_word(&compiler.compile(&made.grammar).unwrap(), &text), expected.is_some(), "{text}");
        let Some((before, between, after)) = expected else { continue };
        let turn = format.read(&text, &set).unwrap();
        assert_eq!((turn.text.as_str(), turn.after.as_str()), (before, after), "{text}");
        assert_eq!(turn.between, between, "{text}");
        assert_eq!(format.render(&turn, &set).unwrap(), text);
        let compiled = ToolCompiler::new(compiler).compile(Arc::new(set.clone()), format.clone(), &options);
        let turn_options =
            TurnOptions { min_calls: calls.0, max_calls: Some(calls.1), ..TurnOptions::default() };
        let mut session = Session::new(&compiled.unwrap(), turn_options).unwrap();
        session.accept_bytes(text.as_bytes()).unwrap();
        let told: String = session
            .finish()
            .unwrap()
            .iter()
            .filter_map(|event| match event {
                Event::Text(text) => Some(text.as_str()),
                Event::Called { .. } => Some("|"),
                _ => None,
            })
            .collect();
        let texts = [&[before], between].concat();
        assert_eq!(told, format!("{}|{after}", texts.join("|")));
    }
}

/// Operations with parameters in all locations and bodies. In each format that writes requests or separate arguments,
/// the first words are read, and what is rendered from them is a word that reads the same.
#[test]
fn words_of_requests_read_back() {
    let text = r##"{"openapi": "3.1.0", "servers": [{"url": "https://h/v1"}], "paths": {
        "/a/{x}/{y}": {"put": {"operationId": "a", "parameters": [
            {"name": "x", "in": "path", "schema": {"type": "string", "maxLength": 2}},
            {"name": "y", "in": "path", "schema": {"type": ["integer", "string"]}},
            {"name": "q[]", "in": "query", "schema": {"type": "array", "items": {"type": "string"}}},
            {"name": "f", "in": "query", "explode": false, "schema": {"type": "array", "items": {"enum": ["a,b", "ü"]}}},
            {"name": "x", "in": "query", "schema": {}},
            {"name": "X-H", "in": "header", "schema": {"type": "boolean"}},
            {"name": "c", "in": "cookie", "schema": {"type": "string"}}],
            "requestBody": {"content": {"application/json": {"schema": {"type": "object",
                "properties": {"x": {"type": "string"}, "n": {"type": "number"}}, "required": ["n"]}}}}}},
        "/a/b/c": {"get": {"operationId": "b"}}}}"##;
    let set = set(text);
    let schema = text_options().schema.whitespace(Whitespace::Compact);
    for (name, count) in [("http", 2), ("endpoint", 2), ("python", 1), ("qwen-coder", 2)] {
        let format = CallFormat::named(name).unwrap();
        let options = text_options().choice(Choice::Required).schema(schema.clone());
        let made = format.grammar(&set, &options).unwrap();
        assert_eq!(made.tools.len(), count, "{name}: {:?}", made.refused);
        let compiled = compiled(name, &set, &options);
        let automaton = Automaton::new(&made.grammar, &Limits::default()).unwrap();
        let mut seen = 0;
        // there are infinitely many words; the enumeration ends with an error at its limit
        for word in enumerate(&automaton).unwrap().map_while(Result::ok).take(200) {
            let bytes: Vec<u8> = word.iter().filter_map(|letter| letter.byte()).collect();
            // words are enumerated by their bytes, so some use few letters only
            let text = String::from_utf8(bytes).unwrap();
            let turn = format.read(&text, &set).unwrap_or_else(|error| panic!("{name}: {text:?}\n{error}"));
            let rendered =
                format.render(&turn, &set).unwrap_or_else(|error| panic!("{name}: {text:?}\n{error}"));
            assert!(is_word(&compiled, &rendered), "{name}: {text:?} -> {rendered:?}");
            assert_eq!(format.read(&rendered, &set).unwrap(), turn, "{name}: {text:?} -> {rendered:?}");
            seen += 1;
        }
        assert!(seen >= if count == 1 { 1 } else { 20 }, "{name}: {seen} words");
    }
}

/// Tools whose last argument is a list, for a format that writes the items by position.
const LISTS: &str = r#"[
    {"name": "all", "inputSchema": {"type": "object", "required": ["id", "cards"], "properties": {
        "id": {"type": "string"}, "cards": {"type": "array", "items": {"type": "string"}}}}},
    {"name": "between", "inputSchema": {"type": "object", "required": ["id", "cards"], "properties": {
        "id": {"type": "string"}, "n": {"type": "integer"}, "cards": {"type": "array", "items": {"type": "string"}}}}},
    {"name": "optional", "inputSchema": {"type": "object", "required": ["id"], "properties": {
        "id": {"type": "string"}, "cards": {"type": "array", "items": {"type": "string"}}}}},
    {"name": "nested", "inputSchema": {"type": "object", "properties": {"cards": {"type": "array"}}}},
    {"name": "empty", "inputSchema": {"type": "object", "required": ["id", "cards"], "properties": {
        "id": {"type": "string"}, "cards": {"type": "array", "maxItems": 0}}}},
    {"name": "nothing", "inputSchema": {"type": "object", "required": ["id", "cards"], "properties": {
        "id": {"type": "string"}, "cards": {"type": "array", "items": false}}}}]"#;

#[test]
fn last_lists_by_position_read_back() {
    let set = set(LISTS);
    let format = CallFormat::named("relation").unwrap();
    let compiled = compiled("relation", &set, &text_options());
    for (text, arguments) in [
        (r#"all(", ")"#, json!({"id": ", ", "cards": []})),
        (r#"all("a", "b", "[]")"#, json!({"id": "a", "cards": ["b", "[]"]})),
        (r#"between(", ")"#, json!({"id": ", ", "cards": []})),
        (r#"between("a", 1)"#, json!({"id": "a", "n": 1, "cards": []})),
        (r#"between("a", 1, "b")"#, json!({"id": "a", "n": 1, "cards": ["b"]})),
        (r#"optional("a")"#, json!({"id": "a"})),
        (r#"optional("a", [])"#, json!({"id": "a", "cards": []})),
        (r#"optional("a", "[]")"#, json!({"id": "a", "cards": ["[]"]})),
        ("nested()", json!({})),
        ("nested([])", json!({"cards": [[]]})),
        (r#"empty("a", [])"#, json!({"id": "a", "cards": []})),
        (r#"nothing("a")"#, json!({"id": "a", "cards": []})),
    ] {
        let call = Call {
            tool: text[..text.find('(').unwrap()].to_owned(),
            arguments: arguments.as_object().unwrap().clone(),
        };
        let turn = Turn { calls: vec![call], ..Turn::default() };
        assert!(is_word(&compiled, text), "{text}");
        assert_eq!(format.read(text, &set).unwrap(), turn, "{text}");
        assert_eq!(format.render(&turn, &set).unwrap(), text);
    }
    // two calls that cannot be written: an item may itself be an empty list, and an omitted argument leaves no gap
    for (tool, arguments) in
        [("nested", json!({"cards": []})), ("between", json!({"id": "a", "cards": ["b"]}))]
    {
        let call = Call { tool: tool.to_owned(), arguments: arguments.as_object().unwrap().clone() };
        let turn = Turn { calls: vec![call], ..Turn::default() };
        assert_eq!(format.render(&turn, &set).unwrap_err().code(), "tools/call-text", "{tool}");
    }
    assert!(!is_word(&compiled, r#"all("a", [])"#) && !is_word(&compiled, r#"between("a", "b")"#));
}

/// A format in which the closing text of an argument may occur in JSON. The first occurrence ends the value, both for
/// the grammar and for the reader.
#[test]
fn the_closing_text_of_an_argument_does_not_occur_in_its_value() {
    let set = set(r#"[{"name": "t", "inputSchema": {"type": "object", "properties": {
            "a": {"type": "array", "items": {"type": "string"}}, "b": {"type": "string"}, "c": {"type": "integer"}}}}]"#);
    for (close, value, expected) in [
        ("</p>", r#"["x"]"#, true),
        ("</p>", r#"["<","/p>"]"#, true),
        ("</p>", r#"["</p>"]"#, false),
        ("</p>", r#"["</p></f>"]"#, false),
        ("]", "[]", false),
        ("\n</p>\n", r#"["</p>"]"#, true),
    ] {
        let table = format!(
            "description = 'd'\ntext = 'before'\ncall = [{{ text = '<f=' }}, {{ name = true }}, {{ text = '>' }}, \
             {{ element = ['<p=', '>', {}] }}, {{ text = '</f>' }}]",
            toml::Value::from(close)
        );
        let format = CallFormat::from_toml(&table).unwrap();
        let grammar = format.grammar(&set, &text_options().choice(Choice::Required)).unwrap().grammar;
        let compiled = compiled_grammar(&grammar);
        let text = format!("<f=t><p=a>{value}{close}<p=b>y{close}<p=c>7{close}</f>");
        assert_eq!(is_word(&compiled, &text), expected, "{text}");
        let value: serde_json::Value = serde_json::from_str(value).unwrap();
        let arguments = json!({"a": value, "b": "y", "c": 7});
        if expected {
            let call = &format.read(&text, &set).unwrap().calls[0];
            assert_eq!(json!(call.arguments), arguments, "{text}");
        }
        let call = Call { tool: "t".to_owned(), arguments: arguments.as_object().cloned().unwrap() };
        let rendered = format.render(&Turn { calls: vec![call], ..Turn::default() }, &set);
        let rendered = rendered.map_err(|error| error.code().to_owned());
        assert_eq!(rendered, if expected { Ok(text) } else { Err("tools/call-text".to_owned()) });
    }
}

/// If a limit is reached, the grammar of endpoints fails; it does not leave endpoints out.
#[test]
fn a_limit_in_the_path_of_an_endpoint_is_an_error() {
    let path = r#"{"openapi": "3.1.0", "paths": {"/a/{x}": {"get": {"operationId": "a", "parameters": [
        {"name": "x", "in": "path", "schema": {"type": "string", "pattern": "^x+$"}}]}}}}"#;
    let set = set(path);
    let made = |limits: Limits| {
        let options = text_options().schema(GrammarOptions::arguments(limits));
        CallFormat::named("endpoint").unwrap().grammar(&set, &options)
    };
    assert_eq!(made(Limits::default()).unwrap().tools, ["a"]);
    let limits = Limits::default().pattern_bytes(2);
    assert_eq!(made(limits).unwrap_err().code(), "limit/exceeded");
}
