//! Lists whose items must differ: languages compared with all their words, masks with trying each token alone, and
//! walks that never reach a dead end.

use grammata::automaton::{Automaton, Cache, ConfigurationId, Lazy};
use grammata::grammar::{Distinct, Grammar, GrammarBuilder};
use grammata::syntax::json_schema::{self, PropertyOrder, Whitespace, compile_value};
use grammata::vocabulary::{TokenId, VocabularyBuilder};
use grammata::{CompiledGrammar, Compiler, Limits, Matcher};
use grammata_testing::names::has_repeated_name;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::Arc;

fn grammar(schema: &Value, whitespace: Whitespace) -> Grammar {
    let options = json_schema::Options::default().property_order(PropertyOrder::Any).whitespace(whitespace);
    compile_value(schema, &options).unwrap_or_else(|e| panic!("{schema}: {e}")).grammar
}

/// Returns all words of a list of `min` to `max` different values; `items` has the spellings of each value.
fn words(items: &[Vec<String>], min: usize, max: usize) -> BTreeSet<String> {
    let mut words = BTreeSet::new();
    let mut open: Vec<(Vec<usize>, String)> = vec![(Vec::new(), "[".into())];
    while let Some((seen, text)) = open.pop() {
        if seen.len() >= min {
            words.insert(format!("{text}]"));
        }
        for value in (0..items.len()).filter(|value| seen.len() < max && !seen.contains(value)) {
            for spelling in &items[value] {
                let comma = if seen.is_empty() { "" } else { "," };
                let seen = seen.iter().copied().chain([value]).collect();
                open.push((seen, format!("{text}{comma}{spelling}")));
            }
        }
    }
    words
}

/// Checks a language along all its words: a byte is allowed if and only if some word continues with it.
fn check_language(name: &str, schema: &Value, words: &BTreeSet<String>) {
    check_grammar(name, &grammar(schema, Whitespace::Compact), words);
}

fn check_grammar(name: &str, grammar: &Grammar, words: &BTreeSet<String>) {
    let automaton = Automaton::new(grammar, &Limits::default()).unwrap_or_else(|e| panic!("{name}: {e}"));
    let mut prefixes: BTreeSet<&[u8]> = BTreeSet::new();
    for word in words {
        prefixes.extend((0..=word.len()).map(|end| &word.as_bytes()[..end]));
    }
    let mut tables = Cache::new();
    for &prefix in &prefixes {
        let mut at = Lazy::new(&automaton, &mut tables).start().unwrap();
        for &byte in prefix {
            at = Lazy::new(&automaton, &mut tables).step(at, byte).unwrap();
        }
        let text = String::from_utf8_lossy(prefix);
        assert_ne!(at, ConfigurationId::DEAD, "{name}: {text} is not allowed");
        assert_eq!(tables.is_accepting(at), words.contains(&*text), "{name}: {text} is a word");
        for byte in 0..=255u8 {
            let next = Lazy::new(&automaton, &mut tables).step(at, byte).unwrap();
            let expected = prefixes.contains(&[prefix, &[byte]].concat()[..]);
            let byte = char::from(byte);
            assert_eq!(next != ConfigurationId::DEAD, expected, "{name}: {byte:?} after {text}");
        }
    }
}

fn each(texts: &[&str]) -> Vec<Vec<String>> {
    texts.iter().map(|text| vec![text.to_string()]).collect()
}

/// A text that is not JSON is a value of its own, even if it begins or ends like JSON.
#[test]
fn items_that_are_no_json_are_compared_byte_by_byte() {
    let values = [&["10", "1e1"][..], &["1"], &["1e"], &[",1"], &["-"], &["-1"], &["{"], &["{}"], &[" {}"]];
    let values = values.map(|spellings| spellings.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>());
    for (min, max) in [(0, 3), (2, 2)] {
        let mut g = GrammarBuilder::new();
        let texts: Vec<_> = values.iter().flatten().map(|text| g.text(text.clone())).collect();
        let (item, separator, open, close) = (g.choice(texts), g.text(","), g.text("["), g.text("]"));
        let list = g.distinct(Distinct {
            items: [item].into(),
            separator,
            min: min as u32,
            max: Some(max as u32),
            endless: false,
            json: false,
        });
        let all = g.sequence([open, list, close]);
        let root = g.declare("root");
        g.define(root, all);
        check_grammar("no JSON", &g.build(root).unwrap(), &words(&values, min, max));
    }
}

/// White space between the parts of an item is not remembered. Otherwise each position of a text would be a different
/// configuration, and searches for short completions would visit all of them.
#[test]
fn white_space_between_the_parts_of_an_item_is_not_remembered() {
    let schema = json!({"type": "array", "uniqueItems": true, "minItems": 2, "items": {"type": "object", "properties":
        {"x": {"type": "integer", "maximum": 2, "minimum": 0}, "y": {"enum": ["a b", "a  b"]}}, "required": ["x", "y"]}});
    let automaton = Automaton::new(&grammar(&schema, Whitespace::Free), &Limits::default()).unwrap();
    let mut tables = Cache::new();
    let mut after = |text: &str| {
        let mut at = Lazy::new(&automaton, &mut tables).start().unwrap();
        for &byte in text.as_bytes() {
            at = Lazy::new(&automaton, &mut tables).step(at, byte).unwrap();
        }
        assert_ne!(at, ConfigurationId::DEAD, "{text}");
        at
    };
    let first = r#"[{"x": 1, "y": "a b"}, "#;
    let plain = after(&format!(r#"{first}{{"x": 1, "y": "#));
    assert_eq!(after(&format!("{first}{{ \"x\"\n:1 ,\t\"y\" : ")), plain);
    assert_eq!(after(&format!("{first}\r\n {{\"x\":1,\"y\": ")), plain);
    assert_ne!(after(&format!(r#"{first}{{"x": 2, "y": "#)), plain);
    // white space within strings is part of the value
    after(&format!(r#"{first}{{"x": 1, "y": "a  b"}}]"#));
    assert_ne!(
        after(&format!(r#"{first}{{"x": 2, "y": "a "#)),
        after(&format!(r#"{first}{{"x": 2, "y": "a  "#))
    );
}

#[test]
fn a_byte_is_allowed_if_some_word_goes_on_with_it() {
    let list = |items: Value, min: usize, max: usize| json!({"type": "array", "items": items, "uniqueItems": true, "minItems": min, "maxItems": max});
    let few = json!({"type": "string", "pattern": "^[ab]{1,2}$"});
    let strings = each(&["\"a\"", "\"b\"", "\"aa\"", "\"ab\"", "\"ba\"", "\"bb\""]);
    for (min, max) in [(0, 6), (0, 20), (2, 3), (5, 6), (6, 6)] {
        check_language("strings", &list(few.clone(), min, max), &words(&strings, min, max));
    }
    // `aa` is distinct from the other items only after its first character
    let twins = json!({"type": "string", "pattern": "^(aa|bb|bc)$"});
    check_language("twins", &list(twins, 0, 9), &words(&each(&["\"aa\"", "\"bb\"", "\"bc\""]), 0, 9));
    let objects = json!({"type": "object", "additionalProperties": false,
        "properties": {"a": {"type": "boolean"}, "b": {"const": "x"}}});
    let spellings = [
        vec!["{}"],
        vec!["{\"a\":true}"],
        vec!["{\"a\":false}"],
        vec!["{\"b\":\"x\"}"],
        vec!["{\"a\":true,\"b\":\"x\"}", "{\"b\":\"x\",\"a\":true}"],
        vec!["{\"a\":false,\"b\":\"x\"}", "{\"b\":\"x\",\"a\":false}"],
    ];
    let spellings: Vec<Vec<String>> =
        spellings.iter().map(|list| list.iter().map(|text| text.to_string()).collect()).collect();
    check_language("objects", &list(objects.clone(), 0, 3), &words(&spellings, 0, 3));
    check_language("objects", &list(objects, 2, 2), &words(&spellings, 2, 2));
    let inner = list(json!({"type": "string", "pattern": "^[ab]$"}), 0, 2);
    let lists = each(&["[]", "[\"a\"]", "[\"b\"]", "[\"a\",\"b\"]", "[\"b\",\"a\"]"]);
    for (min, max) in [(0, 3), (4, 5), (5, 9)] {
        check_language("lists", &list(inner.clone(), min, max), &words(&lists, min, max.min(5)));
    }
}

/// Schemas of items that seem to allow infinitely many values, but allow none.
#[test]
fn items_that_cannot_be_are_no_way_on() {
    let none = json!({"type": "array", "items": {"type": "number"}, "contains": {"type": "string"}});
    let unmatched = json!({"type": "string", "pattern": "^(?=a)b$"});
    let with = |value: &Value| json!({"type": "object", "properties": {"x": {"type": "string"}, "y": value}, "required": ["x", "y"]});
    let conditional = json!({"type": "object", "properties": {"y": none}, "required": ["x"],
        "anyOf": [{"required": ["y"], "properties": {"x": true}}, {"properties": {"x": false}}]});
    let number = json!({"allOf": [{"type": "integer", "minimum": 1, "maximum": 2}], "not": {"enum": [1, 2]}});
    let named = json!({"type": "object", "minProperties": 1, "additionalProperties": false,
        "patternProperties": {"^(?=a)b$": {"type": "string"}}});
    let cases = [
        ("contains", none.clone()),
        ("a member", with(&none)),
        ("a pattern", with(&unmatched)),
        ("conditions", conditional),
        ("numbers", with(&number)),
        ("names", with(&named)),
        ("a list", with(&json!({"type": "array", "items": none, "minItems": 1}))),
    ];
    for (name, impossible) in cases {
        let items = json!({"anyOf": [{"const": [true]}, impossible]});
        let list = json!({"type": "array", "items": items, "uniqueItems": true});
        check_language(name, &list, &words(&each(&["[true]"]), 0, 1));
    }
}

/// Prefixes of lists, and whether the part of the last item that was read can become a value that differs from the
/// earlier items.
#[test]
fn an_item_goes_on_as_long_as_it_can_differ() {
    let list = |items: Value| json!({"type": "array", "items": items, "uniqueItems": true});
    let object = json!({"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"],
        "additionalProperties": {"type": "integer"}});
    let closed = json!({"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "string"}},
        "required": ["a"], "additionalProperties": false});
    // white space within an inner list is remembered for the outer one
    let inner = json!({"type": "object", "properties": {"description": {"type": "string"}},
        "required": ["description"], "additionalProperties": false});
    let nested = json!({"type": "object", "properties": {"k": {"type": "string"}, "l": list(inner)},
        "required": ["k"], "additionalProperties": false});
    let cases = [
        (
            nested,
            r#"[{"k": "x", "l": [{"description": "y"}]}, {"k": "x", "l": [{"description": "z"}, {"#,
            true,
        ),
        (json!({"type": "number"}), "[0, 0", true),
        (json!({"type": "number"}), "[0, 0e", false),
        (json!({"type": "number"}), "[0, 0.00e", false),
        (json!({"type": "number"}), "[0, 0.0", true),
        (json!({"type": "number"}), "[1, 0e", true),
        (json!({"type": "number"}), "[1e2, 100,", false),
        (json!({"type": "number"}), "[1e2, 10", true),
        (json!({"type": "number"}), "[1e2, 1E+2]", false),
        (json!({"type": "number"}), "[1e2, 1E+20]", true),
        (json!({"type": "number"}), "[1.50, 1.5]", false),
        (
            json!({"type": "integer", "minimum": 0, "maximum": 19}),
            "[1, 10, 11, 12, 13, 14, 15, 16, 17, 18, 1",
            true,
        ),
        (json!({"type": "integer", "minimum": 10, "maximum": 14}), "[10, 11, 12, 13, 1", true),
        (json!({"type": "integer", "minimum": 10, "maximum": 14}), "[10, 11, 12, 13, 14,", false),
        (json!({"type": "integer", "minimum": 10, "maximum": 24}), "[20, 21, 22, 23, 24, 2", false),
        (object.clone(), r#"[{"a": 1, "x": 2}, {"a": 1, "x": 2"#, true),
        (object.clone(), r#"[{"a": 1, "x": 2}, {"x": 2, "a": 1}"#, false),
        (object.clone(), r#"[{"x": 2, "a": 1}, {"a": 1, "x": 2}"#, false),
        (object, r#"[{"x": 2, "a": 1}, {"a": 1, "x": 2, "y": 0}]"#, true),
        (closed.clone(), r#"[{"a": 1, "b": "x"}, {"a": 1, "b": "x"#, true),
        (closed.clone(), r#"[{"a": 1, "b": "x"}, {"a": 1, "b": "x""#, false),
        (closed.clone(), r#"[{"a": 1, "b": "x"}, {"a": 1}, {"a": 1"#, true),
        (closed, r#"[{"a": 1, "b": "x"}, {"a": 1}, {"a": 1}"#, false),
        (json!({"type": "string"}), r#"["a\"b", "a\u0022b""#, false),
        (json!({"type": "string"}), r#"["é", "\u00e9""#, false),
        (json!({"type": "string"}), r#"["é", "\u00e8""#, true),
        (json!({"type": "string", "maxLength": 1, "pattern": "^[a-c]?$"}), r#"["a", "", "c", "b"]"#, true),
        (json!({"type": "string", "maxLength": 1, "pattern": "^[a-c]?$"}), r#"["a", "", "c", "a"#, false),
    ];
    for (items, prefix, allowed) in cases {
        let automaton = Automaton::new(&grammar(&list(items.clone()), Whitespace::Free), &Limits::default());
        let automaton = automaton.unwrap_or_else(|e| panic!("{items}: {e}"));
        let mut tables = Cache::new();
        let mut at = Lazy::new(&automaton, &mut tables).start().unwrap();
        for &byte in prefix.as_bytes() {
            at = Lazy::new(&automaton, &mut tables).step(at, byte).unwrap();
        }
        assert_eq!(at != ConfigurationId::DEAD, allowed, "{prefix} of {items}");
    }
}

#[test]
fn more_items_than_there_are_is_an_error() {
    let schema = json!({"type": "array", "uniqueItems": true, "minItems": 5,
        "items": {"type": "string", "pattern": "^[ab]{2}$"}});
    let error = Automaton::new(&grammar(&schema, Whitespace::Free), &Limits::default()).unwrap_err();
    assert_eq!(error.code(), "automaton/too-few-different");
}

#[test]
fn lists_in_lists_that_end_nowhere_are_an_error() {
    let schema = json!({"type": "array", "uniqueItems": true, "minItems": 2,
        "items": {"type": "array", "maxItems": 1, "items": {"$ref": "#"}}});
    let error = Automaton::new(&grammar(&schema, Whitespace::Free), &Limits::default()).unwrap_err();
    assert_eq!(error.code(), "limit/exceeded");
}

fn schemas() -> [Value; 15] {
    let text = json!({"type": "string"});
    let list = |items: Value| json!({"type": "array", "uniqueItems": true, "items": items});
    [
        list(text.clone()),
        list(json!({"type": "string", "pattern": "^[ab,\"\\]\\[]{0,2}$"})),
        list(json!({"type": "number"})),
        list(json!({"type": "integer", "minimum": 0, "maximum": 12})),
        list(json!(true)),
        list(
            json!({"type": "object", "properties": {"a": text, "b": {"type": "boolean"}}, "additionalProperties": false}),
        ),
        list(list(json!({"type": "string", "maxLength": 1}))),
        json!({"type": "array", "uniqueItems": true, "minItems": 1, "items": {"anyOf": [{"const": 1}, {"$ref": "#"}]}}),
        json!({"type": "object", "properties": {"a": list(json!({"enum": ["a", [1], {"a": 1}]})), "b": list(text.clone())},
            "minProperties": 1, "additionalProperties": false}),
        // lists of different items as alternatives to other lists
        json!({"anyOf": [list(text.clone()), {"type": "array", "items": {"type": "string", "pattern": "^[ab]*$"}}]}),
        json!({"anyOf": [list(json!({"type": ["integer", "string"]})), list(json!({"type": "number"}))], "minItems": 1}),
        json!({"type": "array", "uniqueItems": true, "items": {"type": "integer"}, "minItems": 2, "maxItems": 4}),
        list(
            json!({"type": "object", "properties": {"a": {"type": "integer"}, "b": text}, "required": ["a"],
                "additionalProperties": {"type": "number"}}),
        ),
        json!({"type": "array", "uniqueItems": true, "prefixItems": [{"type": "string"}, {"type": "integer"}],
            "items": {"type": "string", "maxLength": 2}}),
        list(
            json!({"type": "object", "properties": {"a": list(text.clone()), "b": list(list(json!({"type": "integer"})))},
            "additionalProperties": false}),
        ),
    ]
}

/// Compiles a schema for a vocabulary of single bytes and of pieces of texts that such schemas allow. Returns the
/// tokens, too.
fn compiled(schema: &Value, whitespace: Whitespace, limits: Limits) -> (CompiledGrammar, Vec<Vec<u8>>) {
    let texts = [
        r#"["a","a","b","","ab"]"#,
        r#"[1,1,12,1.0,0.5,1e1 , 11]"#,
        r#"[{"a":"a","b":true},{"a":"b"},{}]"#,
        r#"{"a":["a",[1],{"a":1}],"b":["a","b"]}"#,
        r#"[["a","b"],["a"],[]]"#,
        r#"["\u0061\"","aa",",","]"]"#,
        r#"[{"a":[["a"],[1, 2]],"b":[[1,2],[1]]},{"a":["a"]}]"#,
        r#"[0e1,0e12,0,0.0,-0,1e2,100,1E+2,"a",2]"#,
        r#"[{"x":1,"a":1},{"a":1,"x":1.0}]"#,
    ];
    let mut tokens: BTreeSet<Vec<u8>> =
        (0x20..0x7F).chain([b'\n', 0xC3, 0xA9]).map(|b: u8| vec![b]).collect();
    for text in texts {
        for length in 2..10 {
            tokens.extend(text.as_bytes().windows(length).map(<[u8]>::to_vec));
        }
    }
    let tokens: Vec<Vec<u8>> = tokens.into_iter().collect();
    let eos = TokenId::new(tokens.len() as u32);
    let vocabulary = VocabularyBuilder::from_tokens(tokens.iter().cloned().chain([Vec::new()]))
        .eos([eos])
        .build()
        .unwrap();
    let compiler = Compiler::new(Arc::new(vocabulary)).limits(limits);
    (compiler.compile(&grammar(schema, whitespace)).unwrap(), tokens)
}

/// Returns the allowed tokens, each of which is tried alone, byte by byte.
fn token_by_token(
    compiled: &CompiledGrammar,
    tables: &mut Cache,
    prefix: &[u8],
    tokens: &[Vec<u8>],
) -> Vec<u32> {
    let automaton = compiled.automaton();
    let mut run = |mut at, bytes: &[u8]| {
        for &byte in bytes {
            at = Lazy::new(automaton, tables).step(at, byte).unwrap();
        }
        at
    };
    let start = Lazy::new(automaton, &mut Cache::new()).start().unwrap();
    let at = run(start, prefix);
    let names = super::masks::tells_names_apart(compiled.grammar());
    let repeats = |token: &[u8]| names && has_repeated_name(&[prefix, token].concat());
    let ends = (0u32..).zip(tokens).filter(|(_, t)| run(at, t) != ConfigurationId::DEAD && !repeats(t));
    let mut allowed: Vec<u32> = ends.map(|(id, _)| id).collect();
    if tables.is_accepting(at) {
        allowed.push(tokens.len() as u32);
    }
    allowed
}

/// Returns whether two values are equal, whatever their spelling.
fn are_same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        // the numbers of these tests are exact as floats; zeros are never equal here
        (Value::Number(a), Value::Number(b)) => {
            let is_exact = |a: f64| a.is_normal() || a == 0.0;
            a.as_f64().is_some_and(is_exact) && a.as_f64() == b.as_f64()
        }
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| are_same(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(name, a)| b.get(name).is_some_and(|b| are_same(a, b)))
        }
        _ => a == b,
    }
}

/// Returns whether a text is a complete list in which an item occurs twice.
fn has_repeated_item(text: &[u8]) -> bool {
    let Ok(Value::Array(items)) = serde_json::from_slice(text) else { return false };
    (0..items.len()).any(|at| items[..at].iter().any(|before| are_same(before, &items[at])))
}

/// Walks under the masks as the choices say. Each mask must equal that of single tokens, and no list may repeat an
/// item.
fn walk(schema: &Value, compiled: &CompiledGrammar, tokens: &[Vec<u8>], choices: &[u16]) -> Matcher {
    let mut matcher = compiled.matcher();
    let mut tables = Cache::new();
    assert_eq!(
        Lazy::new(compiled.automaton(), &mut tables).start().unwrap(),
        Lazy::new(compiled.automaton(), &mut Cache::new()).start().unwrap()
    );
    for &choice in choices {
        let mask = matcher.mask().unwrap_or_else(|e| {
            panic!("{} after {}: {e}", compiled.grammar(), String::from_utf8_lossy(&matcher.bytes()))
        });
        let found: Vec<u32> = mask.iter().map(TokenId::get).collect();
        let expected = token_by_token(compiled, &mut tables, &matcher.bytes(), tokens);
        let text = String::from_utf8_lossy(&matcher.bytes()).into_owned();
        let name = |id: &&u32| tokens.get(**id as usize).map(|token| String::from_utf8_lossy(token));
        let missing: Vec<_> = expected.iter().filter(|id| !found.contains(id)).map(|id| name(&id)).collect();
        let extra: Vec<_> = found.iter().filter(|id| !expected.contains(id)).map(|id| name(&id)).collect();
        assert!(found == expected, "after {text}: missing {missing:?}, too many {extra:?}");
        assert!(!found.is_empty(), "stuck after {text}");
        // long tokens are preferred, because they begin and end items
        let long: Vec<u32> = found
            .iter()
            .copied()
            .filter(|&id| tokens.get(id as usize).is_some_and(|token| token.len() > 1))
            .collect();
        let from = if choice % 3 > 0 && !long.is_empty() { &long } else { &found };
        let token = from[usize::from(choice) % from.len()];
        if token as usize == tokens.len() {
            break;
        }
        matcher.accept_token(TokenId::new(token)).unwrap();
        let text = matcher.bytes();
        let repeats = schema["uniqueItems"] == json!(true) && has_repeated_item(&text);
        assert!(!repeats, "{}", String::from_utf8_lossy(&text));
    }
    matcher
}

fn config() -> ProptestConfig {
    let cases = std::env::var("GRAMMATA_CASES").ok().and_then(|n| n.parse::<u32>().ok()).unwrap_or(500) / 80;
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn masks_are_those_of_each_token_alone(choices in prop::collection::vec(any::<u16>(), 24)) {
        for schema in schemas() {
            let whitespace = if choices[0] % 3 == 0 { Whitespace::Compact } else { Whitespace::AtMost(1) };
            let (compiled, tokens) = compiled(&schema, whitespace.clone(), Limits::default());
            walk(&schema, &compiled, &tokens, &choices);
        }
    }

    /// With a small bound, tables are dropped again and again; masks after rollbacks and in forks stay the same.
    #[test]
    fn masks_do_not_depend_on_what_is_kept(choices in prop::collection::vec(any::<u16>(), 16)) {
        for schema in schemas() {
            let whitespace = Whitespace::AtMost(1);
            let (free, tokens) = compiled(&schema, whitespace.clone(), Limits::default());
            let (tight, _) = compiled(&schema, whitespace, Limits::default().cache_bytes(1 << 19));
            let mut reference = walk(&schema, &free, &tokens, &choices);
            let mut matcher = tight.matcher();
            matcher.accept_bytes(&reference.bytes()).unwrap();
            prop_assert_eq!(&*matcher.mask().unwrap(), &*reference.mask().unwrap());
            let mut fork = reference.fork();
            let back = usize::from(choices[0]) % (reference.steps() + 1);
            let before = reference.mask().unwrap();
            reference.rollback(back).unwrap();
            let mut again = tight.matcher();
            again.accept_bytes(&reference.bytes()).unwrap();
            prop_assert_eq!(&*again.mask().unwrap(), &*reference.mask().unwrap());
            prop_assert_eq!(&*fork.mask().unwrap(), &*before);
        }
    }
}

/// Masks of a real vocabulary are exact along lists of different items.
#[test]
fn masks_of_a_real_vocabulary() {
    let text = r#"["abc","ab","http://x","http", "a\"b","" ,"x"]"#;
    let objects = r#"[{"a":"abc","b":true},{"a":"abc","b":false},{"a":"abd"}, {"a":"abc"}]"#;
    let numbers = "[1, 10,100,0.1,12, 120]";
    for (schema, text) in schemas().iter().zip([text, "", numbers, "", text, objects]) {
        let ends = (0..text.len()).step_by(3);
        let prefixes: Vec<&[u8]> = ends.map(|end| &text.as_bytes()[..end]).collect();
        super::masks::check(&grammar(schema, Whitespace::Free), &prefixes, &schema.to_string());
    }
}
