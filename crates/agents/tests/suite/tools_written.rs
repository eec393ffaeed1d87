//! Every preset and every call format writes each tool of a set, or names it in a warning; and tools whose arguments
//! have equal parts cost as much as one.

use crate::language::Language;
use crate::properties::cases;
use grammata::Limits;
use grammata::automaton::Automaton;
use grammata::diagnostic::Place;
use grammata::grammar::Grammar;
use grammata::limits::LimitKind;
use grammata::syntax::structural_tag;
use grammata_agents::tools::{
    CallFormat, Choice, Document, GrammarOptions, Markers, ReadOptions, ReasoningMode, RequestTag,
    TagOptions, TagPreset, read,
};
use grammata_testing::generate::Choices;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};

fn options(choice: Value) -> TagOptions {
    TagOptions::default().tool_choice(choice).reasoning(ReasoningMode::Disabled)
}

fn tag(family: &str, tools: &Value, choice: Value) -> RequestTag {
    TagPreset::named(family).unwrap().structural_tag(tools, &options(choice)).unwrap()
}

fn grammar(tag: &Value) -> Grammar {
    structural_tag::compile(&tag.to_string(), &structural_tag::Options::default()).unwrap().grammar
}

fn language(family: &str, tools: &Value) -> Language {
    Language::new(&grammar(&tag(family, tools, json!("required")).tag))
}

fn function(name: &str, parameters: Value) -> Value {
    json!({"type": "function", "function": {"name": name, "parameters": parameters}})
}

fn object(properties: Value) -> Value {
    json!({"type": "object", "properties": properties, "additionalProperties": false})
}

/// Draws a schema of arguments: closed and open objects, maps, unions, recursion, deep ones, and ones that some style
/// or every style cannot write.
fn random_parameters(choices: &mut Choices<'_>) -> Value {
    match choices.below(14) {
        0 => json!({"type": "object", "additionalProperties": {"type": "string"}}),
        1 => object(
            json!({"labels": {"type": "object", "additionalProperties": {"type": ["integer", "boolean"]}}}),
        ),
        2 => json!({"type": "object"}),
        3 => json!(true),
        4 => json!({"type": "object", "required": ["tree"], "properties": {"tree": {"$ref": "#/$defs/tree"}},
            "$defs": {"tree": {"type": "object", "properties": {"next": {"$ref": "#/$defs/tree"},
            "all": {"type": "array", "items": {"$ref": "#/$defs/tree"}}}}}}),
        5 => (0..choices.below(70)).fold(json!({"type": "string"}), |inner, _| object(json!({"in": inner}))),
        6 => json!({"type": "string"}),
        7 => object(json!({" ": {"type": "string"}, "a\"b>c</x": {"type": "integer"}})),
        8 => json!({"type": "object", "required": ["x"], "properties": {"x": false}}),
        9 => {
            json!({"anyOf": [object(json!({"a": {"type": "integer"}})), object(json!({"b": {"type": "null"}}))]})
        }
        10 => json!({"type": "object", "patternProperties": {"^x-": {"type": "string"}}, "minProperties": 1}),
        11 => {
            json!({"type": "object", "propertyNames": {"enum": ["a", "b"]}, "additionalProperties": {"type": "array"}})
        }
        12 => object(
            json!({"when": {"type": "string", "format": "date-time"}, "who": {"enum": ["'", "\"", "</parameter>"]}}),
        ),
        _ => grammata_testing::generate::random_schema(choices),
    }
}

fn random_tools(choices: &mut Choices<'_>) -> Value {
    let count = 1 + choices.below(4);
    let tool = |place: usize| {
        let mut tool = function(&format!("tool_{place}"), random_parameters(choices));
        match choices.below(6) {
            0 => tool["function"]["strict"] = json!(false),
            1 => _ = tool["function"].as_object_mut().unwrap().remove("parameters"),
            _ => {}
        }
        tool
    };
    (0..count).map(tool).collect()
}

#[test]
fn every_preset_writes_each_tool_or_names_it() {
    let mut wrong = Vec::new();
    for seed in 0..u64::from(cases(24)) {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let bytes: Vec<u8> = (0..300).map(|_| random.random()).collect();
        let tools = random_tools(&mut Choices::new(&bytes));
        let families: Vec<&str> = TagPreset::names().collect();
        let all = std::env::var_os("GRAMMATA_CASES").is_some();
        for (place, family) in families.iter().enumerate() {
            if !all && !(place as u64 + seed).is_multiple_of(4) {
                continue;
            }
            let made = tag(family, &tools, json!("auto"));
            Language::new(&grammar(&made.tag));
            let left_out: Vec<&Place> = made.warnings.iter().map(|warning| warning.place()).collect();
            for (index, tool) in tools.as_array().unwrap().iter().enumerate() {
                let name = tool["function"]["name"].as_str().unwrap();
                let prefix = format!("/{index}/function/");
                let is_named = left_out
                    .iter()
                    .any(|place| matches!(place, Place::Pointer(at) if at.starts_with(&prefix)));
                let choice = json!({"type": "function", "function": {"name": name}});
                let forced = TagPreset::named(family).unwrap().structural_tag(&tools, &options(choice));
                match forced {
                    Ok(forced) => {
                        let is_callable = Automaton::new(&grammar(&forced.tag), &Limits::default()).is_ok();
                        if is_named || !is_callable {
                            wrong.push(format!("{family}: {name} is neither callable nor left out\n{tool}"));
                        }
                    }
                    Err(error) if is_named && error.code() == "tools/left-out" => {}
                    Err(error) => wrong.push(format!("{family}: {name}: {error}\n{tool}")),
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} are wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn every_call_format_writes_each_tool_or_refuses_it() {
    let mut wrong = Vec::new();
    for seed in 0..u64::from(cases(24)) {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let bytes: Vec<u8> = (0..300).map(|_| random.random()).collect();
        let tools = random_tools(&mut Choices::new(&bytes)).to_string();
        if serde_json::from_str::<Value>(&tools).is_err() {
            continue; // deeper than JSON is read
        }
        let document = Document { label: "tools", text: &tools };
        let set = match read([document], &ReadOptions::default()) {
            Ok(set) => set,
            // a schema that is too deep for documents of tools
            Err(error) if error.code() == "limit/exceeded" => continue,
            Err(error) => {
                wrong.push(format!("seed {seed}: the document is refused: {error}\n{tools}"));
                continue;
            }
        };
        for format in CallFormat::names() {
            let options = GrammarOptions::default().markers(Markers::Text).choice(Choice::Auto);
            match CallFormat::named(format).unwrap().grammar(&set, &options) {
                Ok(made) => {
                    Language::new(&made.grammar);
                    let named = made.tools.len() + made.refused.len();
                    if named != set.callable().count() {
                        wrong.push(format!("{format}: {named} of the tools are named\n{tools}"));
                    }
                }
                // no tool has an address
                Err(error) if error.code() == "tools/no-tools" => {}
                Err(error) => wrong.push(format!("{format}: {error}\n{tools}")),
            }
        }
    }
    assert!(wrong.is_empty(), "{} are wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn a_tool_that_a_style_cannot_write_is_left_out_with_the_reason() {
    let deep = (0..125).fold(json!({"type": "string"}), |inner, _| object(json!({"in": inner})));
    let tools = json!([
        function("ping", object(json!({"host": {"type": "string"}}))),
        function("echo", json!({"type": "string"})),
        function("dig", deep),
    ]);
    let made = tag("minimax", &tools, json!("required"));
    let found: Vec<String> = made.warnings.iter().map(ToString::to_string).collect();
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(
        found[0].contains("`echo`") && found[0].contains("`minimax_xml`") && found[0].contains("object"),
        "{found:?}"
    );
    assert!(found[1].contains("`dig`") && found[1].contains("deep"), "{found:?}");
    assert_eq!(*made.warnings[0].place(), Place::Pointer("/1/function/parameters".to_owned()));
    assert!(!made.tag.to_string().contains("echo") && made.tag.to_string().contains("ping"));
    // JSON can write what is no object
    assert_eq!(tag("hermes", &tools, json!("required")).warnings.len(), 1);
    let forced = json!({"type": "function", "function": {"name": "echo"}});
    let preset = TagPreset::named("minimax").unwrap();
    let error = preset.structural_tag(&tools, &options(forced)).unwrap_err();
    assert_eq!(error.code(), "tools/left-out");
    let none = json!([function("echo", json!({"type": "string"}))]);
    assert_eq!(
        preset.structural_tag(&none, &options(json!("required"))).unwrap_err().code(),
        "tools/left-out"
    );
    let auto = preset.structural_tag(&none, &options(json!("auto"))).unwrap();
    assert_eq!(auto.warnings.len(), 1);
    assert!(Language::new(&grammar(&auto.tag)).accepts(b"\n</think>\n\nno tools"));
}

/// Maps in MiniMax M3's elements: an element for each name.
#[test]
fn maps_are_elements_with_their_names() {
    const MARK: &str = "]<]minimax[>[";
    let labels = json!({"type": "object", "additionalProperties": {"type": "string"}});
    let listed = json!({"type": "object", "propertyNames": {"enum": ["from", "to"]},
        "additionalProperties": {"type": "integer"}});
    let tools = json!([
        function("mark", json!({"type": "object", "properties": {"labels": labels, "span": listed},
            "required": ["labels"], "additionalProperties": false})),
        function("stop", object(json!({"why": {"type": "string"}}))),
        {"type": "function", "function": {"name": "any"}},
    ]);
    let language = language("minimax_m3", &tools);
    let call = |name: &str, inside: &str| {
        let inside = inside.replace('[', MARK);
        format!(
            "{MARK}<tool_call>\n{MARK}<invoke name=\"{name}\">{inside}{MARK}</invoke>\n{MARK}</tool_call>"
        )
    };
    let cases = [
        ("mark", "[<labels>[<a>x[</a>[<b_2>y[</b_2>[</labels>", true),
        ("mark", "[<labels>[</labels>", true),
        ("mark", "[<labels>[</labels>[<span>[<to>2[</to>[</span>", true),
        ("mark", "[<labels>[</labels>[<span>[<to>2[</from>[</span>", false),
        ("mark", "[<labels>[</labels>[<span>[<at>2[</at>[</span>", false),
        ("mark", "[<labels>[<a b>x[</a b>[</labels>", false),
        ("mark", "", false),
        ("mark", "[<labels>[<a>x[</labels>", false),
        ("stop", "[<why>x[</why>", true),
        ("stop", "[<who>x[</who>", false),
        ("any", "[<x>1[</x>[<y>[<z>text[</z>[</y>", true),
    ];
    for (name, inside, expected) in cases {
        assert_eq!(language.accepts(call(name, inside).as_bytes()), expected, "{name}: {inside}");
    }
}

fn with_times(count: usize) -> Value {
    let tool = |place: usize| {
        let mut schema = object(json!({"when": {"type": "string", "format": "date-time"},
            "note": {"type": "string", "maxLength": 100}}));
        // so that no two schemas are equal
        schema["properties"]["only"] = json!({"const": place});
        schema["required"] = json!(["when"]);
        function(&format!("tool_{place}"), schema)
    };
    (0..count).map(tool).collect()
}

/// Whether a set of tools compiles with this much work.
fn is_enough(family: &str, tools: &Value, work: u64) -> bool {
    let limits = Limits::default().with(LimitKind::CompileWork, work as usize);
    Language::within(&grammar(&tag(family, tools, json!("required")).tag), &limits).is_some()
}

/// Strings with equal schemas are examined once in all tools, not once for each.
#[test]
fn two_hundred_times_cost_as_much_as_one() {
    let (one, many) = (with_times(1), with_times(200));
    for family in TagPreset::names() {
        let least = (10..25).map(|exponent| 1 << exponent).find(|&work| is_enough(family, &one, work));
        let least = least.unwrap_or_else(|| panic!("{family}: one tool takes too much work"));
        assert!(
            is_enough(family, &many, 2 * least),
            "{family}: more than twice the work, {least}, for 200 tools"
        );
    }
    let language = language("qwen_3_5", &many);
    let call = |when: &str| {
        format!(
            "<tool_call>\n<function=tool_7>\n<parameter=when>\n{when}\n</parameter>\n</function>\n</tool_call>"
        )
    };
    assert!(language.accepts(call("2026-09-01T10:00:00Z").as_bytes()));
    assert!(!language.accepts(call("2026-09-01").as_bytes()));
}

/// Strings in single and double quotes, as Python writes them, and the values that they mean.
#[test]
fn strings_of_python_calls_have_both_quotes() {
    let parameters = json!({"type": "object", "required": ["url"], "additionalProperties": false, "properties": {
        "url": {"type": "string"},
        "day": {"enum": ["it's", "a\"b", "x\ny"]},
        "code": {"type": "string", "pattern": "^[a-z'\"]{2}$"},
        "other": {"type": "string", "not": {"const": "a"}, "maxLength": 3},
        "opts": {"type": "object", "properties": {"a's": {"type": "string"}, "b": {"type": "boolean"}},
            "additionalProperties": false},
        "map": {"type": "object", "additionalProperties": {"type": "string"}},
        "any": {},
        "set": {"type": "array", "uniqueItems": true, "items": {"type": "string"}},
    }});
    let tools = json!([function("go", parameters)]).to_string();
    let set = read([Document { label: "tools", text: &tools }], &ReadOptions::default()).unwrap();
    let format = CallFormat::named("python").unwrap();
    let options = GrammarOptions::default().markers(Markers::Text).choice(Choice::Required);
    let made = format.grammar(&set, &options).unwrap();
    assert!(made.refused.is_empty());
    let language = Language::new(&made.grammar);
    let accepted = [
        (r#"url="/home""#, json!({"url": "/home"})),
        (r#"url='/home'"#, json!({"url": "/home"})),
        (r#"url='"'"#, json!({"url": "\""})),
        (r#"url="'""#, json!({"url": "'"})),
        (r#"url='\''"#, json!({"url": "'"})),
        (r#"url="\'\"""#, json!({"url": "'\""})),
        (r#"url='\n\t\\\a\x41\u00e9\U0001f600, (x]'"#, json!({"url": "\n\t\\\u{7}Aé😀, (x]"})),
        (r#"url='', day='it\'s'"#, json!({"url": "", "day": "it's"})),
        (r#"url='', day="it's""#, json!({"url": "", "day": "it's"})),
        (r#"url='', day='a"b'"#, json!({"url": "", "day": "a\"b"})),
        (r#"url='', day='x\ny'"#, json!({"url": "", "day": "x\ny"})),
        (r#"url='', code='a"'"#, json!({"url": "", "code": "a\""})),
        (r#"url='', code='\'b'"#, json!({"url": "", "code": "'b"})),
        (r#"url='', other='ab'"#, json!({"url": "", "other": "ab"})),
        (r#"url='', opts={'a\'s': 'x', 'b': True}"#, json!({"url": "", "opts": {"a's": "x", "b": true}})),
        (r#"url='', opts={"a's": 'x', "b": False}"#, json!({"url": "", "opts": {"a's": "x", "b": false}})),
        (r#"url='', map={"k": "v"}"#, json!({"url": "", "map": {"k": "v"}})),
        (r#"url='', any='text'"#, json!({"url": "", "any": "text"})),
        (r#"url='', any=[None, "x"]"#, json!({"url": "", "any": [null, "x"]})),
    ];
    for (inside, expected) in accepted {
        let text = format!("[go({inside})]");
        assert!(language.accepts(text.as_bytes()), "{text}");
        let turn = format.read(&text, &set).unwrap();
        assert_eq!(Value::Object(turn.calls[0].arguments.clone()), expected, "{text}");
    }
    for inside in [
        "url=3",
        r#"url='x""#,
        r#"url='it's'"#,
        "url='a\nb'",
        r#"url='\ud83d\ude00'"#,
        r#"url='\U00110000'"#,
        r#"url='\q'"#,
        r#"url='', day='its'"#,
        r#"url='', code='abc'"#,
        r#"url='', other='a'"#,
        r#"url='', other='\x61'"#,
        r#"url='', other="\u0061""#,
        r#"url='', opts={'a\'s': 'x', "b": True}"#,
        r#"url='', map={'k': "v", "k": "w"}"#,
        r#"url='', set=["a", "a"]"#,
        r#"url='', set=["a", 'a']"#,
    ] {
        assert!(!language.accepts(format!("[go({inside})]").as_bytes()), "{inside}");
    }
}
