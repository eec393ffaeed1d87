//! Styles whose names have no quotes: Gemma's objects, compared with a reader and a validator, and keyword arguments of
//! Python.

use crate::argument_styles::{changed, is_ordered, random_object_schema, random_value};
use crate::language::Language;
use grammata::syntax::json_schema::{Options, PropertyOrder, Spelling, compile_value};
use serde_json::{Map, Value, json};

const MARK: &str = "<|\"|>";
const BLANKS: [char; 4] = [' ', '\n', '\t', '\r'];

fn language(schema: &Value, spelling: Spelling) -> Language {
    let compiled = compile_value(schema, &Options::default().spelling(spelling));
    Language::new(&compiled.unwrap_or_else(|error| panic!("{schema}: {error}")).grammar)
}

fn write(value: &Value) -> String {
    match value {
        Value::String(text) => format!("{MARK}{text}{MARK}"),
        Value::Array(list) => format!("[{}]", list.iter().map(write).collect::<Vec<_>>().join(", ")),
        Value::Object(map) => {
            let members = map.iter().map(|(name, value)| format!("{name}:{}", write(value)));
            format!("{{{}}}", members.collect::<Vec<_>>().join(","))
        }
        json => json.to_string(),
    }
}

/// Reads a value at the beginning of a text, and returns it with the rest.
fn read(text: &str) -> Option<(Value, &str)> {
    if let Some(rest) = text.strip_prefix(MARK) {
        let (inside, rest) = rest.split_once(MARK)?;
        return Some((inside.into(), rest));
    }
    if let Some(mut rest) = text.strip_prefix('[') {
        let mut items = Vec::new();
        rest = rest.trim_start_matches(BLANKS);
        while !rest.starts_with(']') || !items.is_empty() {
            let (item, after) = read(rest)?;
            items.push(item);
            rest = after.trim_start_matches(BLANKS);
            match rest.strip_prefix(',') {
                Some(after) => rest = after.trim_start_matches(BLANKS),
                None => break,
            }
        }
        return Some((items.into(), rest.strip_prefix(']')?));
    }
    if let Some(mut rest) = text.strip_prefix('{') {
        let mut members = Map::new();
        rest = rest.trim_start_matches(BLANKS);
        while !rest.starts_with('}') || !members.is_empty() {
            let (name, after) = rest.split_once(':')?;
            let (value, after) = read(after.trim_start_matches(BLANKS))?;
            if members.insert(name.to_owned(), value).is_some() {
                return None;
            }
            rest = after.trim_start_matches(BLANKS);
            match rest.strip_prefix(',') {
                Some(after) => rest = after.trim_start_matches(BLANKS),
                None => break,
            }
        }
        return Some((members.into(), rest.strip_prefix('}')?));
    }
    let end = text.find([',', '}', ']', ' ', '\n', '\t', '\r']).unwrap_or(text.len());
    let value: Value = serde_json::from_str(&text[..end]).ok().filter(|value: &Value| !value.is_string())?;
    Some((value, &text[end..]))
}

#[test]
fn gemma_s_texts_are_read_as_values_of_the_schema() {
    let (mut accepted, mut refused) = (0, 0);
    crate::random::each(400, 200, |draw| {
        let schema = random_object_schema(draw, 2);
        let any_order = draw.chance(50);
        let order = if any_order { PropertyOrder::Any } else { PropertyOrder::Declared };
        let options = Options::default().spelling(Spelling::Gemma).property_order(order);
        let compiled = compile_value(&schema, &options).unwrap_or_else(|error| panic!("{schema}: {error}"));
        let language = Language::new(&compiled.grammar);
        let validator = jsonschema::validator_for(&schema).unwrap();
        for _ in 0..6 {
            let mut text = write(&random_value(draw, &schema));
            if draw.chance(40) {
                text = changed(draw, &text);
            }
            let value = read(&text).filter(|(_, rest)| rest.is_empty()).map(|(value, _)| value);
            let expected = value.is_some_and(|value| {
                validator.is_valid(&value) && (any_order || is_ordered(&schema, &value))
            });
            let found = language.accepts(text.as_bytes());
            assert_eq!(found, expected, "{schema}\n{text:?}");
            *(if found { &mut accepted } else { &mut refused }) += 1;
        }
    });
    assert!(accepted > 50 && refused > 50, "{accepted} {refused}");
}

/// Texts with the answer whether they are words, by schema and spelling.
#[test]
fn texts_are_words_or_not() {
    let open = json!({"type": "object", "additionalProperties": {"type": "integer"}});
    let pattern = json!({"type": "object", "patternProperties": {"^x": {"type": "integer"}}, "additionalProperties": false});
    let text =
        json!({"properties": {"s": {"type": "string"}}, "required": ["s"], "additionalProperties": false});
    let of =
        |list: Value| json!({"properties": {"l": list}, "required": ["l"], "additionalProperties": false});
    let unique = of(json!({"type": "array", "uniqueItems": true, "items": {"type": "string"}}));
    let listed = of(json!({"type": "array", "uniqueItems": true, "items": {"enum": ["a", "<|\"|>", 1]}}));
    let constant = json!({"const": {"a": ["x", 3, true], "b": {"c": "y"}}});
    let call = json!({
        "type": "object",
        "properties": {"city": {"type": "string"}, "days": {"type": "integer"}, "on": {"type": "boolean"},
                       "at": {"type": ["array", "null"], "items": {"type": "boolean"}}},
        "required": ["city"], "additionalProperties": false,
    });
    let map = json!({"type": "object", "additionalProperties": {"type": "boolean"}});
    let cases: [(&Value, Spelling, &[&str], &[&str]); 8] = [
        (
            &open,
            Spelling::Gemma,
            &["{}", "{a:1}", "{ a: 1 , _b2:2}"],
            &["{\"a\":1}", "{1a:1}", "{a-b:1}", "{a :1}", "{a:<|\"|>1<|\"|>}", "{a:1,}"],
        ),
        (
            &pattern,
            Spelling::Gemma,
            &["{x:1}", "{x.y-z:1,xé:2}"],
            &["{y:1}", "{x y:1}", "{x{:1}", "{x\":1}", "{x<:1}", "{<|\"|>x<|\"|>:1}"],
        ),
        (
            &text,
            Spelling::Gemma,
            &["{s:<|\"|><|\"|>}", "{s:<|\"|>\"a\\n\n<|\"<|\"|>}", "{s:<|\"|>a}<|\"|> }"],
            &["{s:\"a\"}", "{s:<|\"|>a<|\"|>b<|\"|>}", "{s:<|\"|>a}", "{s:a}"],
        ),
        (
            &unique,
            Spelling::Gemma,
            &["{l:[]}", "{l:[<|\"|>a<|\"|>, <|\"|>b<|\"|>]}"],
            &["{l:[<|\"|>a<|\"|>,<|\"|>a<|\"|>]}", "{l:[\"a\"]}"],
        ),
        // a string that contains the mark cannot be written
        (
            &listed,
            Spelling::Gemma,
            &["{l:[1,<|\"|>a<|\"|>]}"],
            &["{l:[1,1]}", "{l:[\"a\"]}", "{l:[<|\"|><|\"|><|\"|>]}"],
        ),
        (
            &constant,
            Spelling::Gemma,
            &["{a:[<|\"|>x<|\"|>,3,true],b:{c:<|\"|>y<|\"|>}}"],
            &["{\"a\":[\"x\",3,true],\"b\":{\"c\":\"y\"}}", "{a:[<|\"|>x<|\"|>,3,true]}"],
        ),
        (
            &call,
            Spelling::Keywords,
            &["city=\"Oslo\"", "city='it\\'s', days=-3, on=True, at=None", "city=\"\",at=[True, False]"],
            &[
                "",
                "days=1",
                "city=Oslo",
                "city=\"a\", on=true",
                "(city=\"a\")",
                "city = \"a\"",
                "city=\"a\" days=1",
            ],
        ),
        (
            &map,
            Spelling::Keywords,
            &["", "a=True", "_b=False, c9=True"],
            &["class=True", "a-b=True", "9=True", "\"a\"=True"],
        ),
    ];
    for (schema, spelling, accepted, refused) in cases {
        let language = language(schema, spelling);
        for (texts, expected) in [(accepted, true), (refused, false)] {
            for text in texts {
                assert_eq!(language.accepts(text.as_bytes()), expected, "{spelling:?} {schema}\n{text}");
            }
        }
    }
}

/// Excluded texts are looked for in names and strings as they are written.
#[test]
fn excluded_texts_are_in_neither_names_nor_strings() {
    let options =
        Options::default().spelling(Spelling::Gemma).excludes(vec!["<x>".to_owned(), "ab".to_owned()]);
    let schema =
        json!({"properties": {"s": {"type": "string"}}, "additionalProperties": {"enum": ["<x>", "y"]}});
    let language = Language::new(&compile_value(&schema, &options).unwrap().grammar);
    for (text, expected) in [
        ("{s:<|\"|>a<b>x<|\"|>}", true),
        ("{s:<|\"|>a<x>b<|\"|>}", false),
        ("{s:<|\"|>ab<|\"|>}", false),
        ("{s:<|\"|><|\"|>,ba:<|\"|>y<|\"|>}", true),
        ("{s:<|\"|><|\"|>,cab:<|\"|>y<|\"|>}", false),
        ("{ba:<|\"|><x><|\"|>}", false),
    ] {
        assert_eq!(language.accepts(text.as_bytes()), expected, "{text}");
    }
}

#[test]
fn what_cannot_be_written_is_an_error() {
    let named = |name: &str| {
        let properties: Map<String, Value> = [(name.to_owned(), json!(true))].into_iter().collect();
        json!({"type": "object", "properties": properties})
    };
    let objects = json!({"type": "array", "uniqueItems": true, "items": {"type": "object"}});
    let objects = json!({"type": "object", "properties": {"l": objects}});
    let mut cases = vec![
        (objects, Spelling::Gemma, "json-schema/unsupported-keyword"),
        (json!({"type": "string"}), Spelling::Gemma, "json-schema/no-object"),
        (json!({"type": "string"}), Spelling::Keywords, "json-schema/no-object"),
    ];
    for name in ["", " a", "a ", "a:b", "a,b", "{", "]", "a\nb", MARK] {
        cases.push((named(name), Spelling::Gemma, "json-schema/bare-name"));
    }
    for name in ["", "a b", "a-b", "1a", "for", "é", "a."] {
        cases.push((named(name), Spelling::Keywords, "json-schema/bare-name"));
    }
    for (schema, spelling, code) in cases {
        let error = compile_value(&schema, &Options::default().spelling(spelling)).unwrap_err();
        assert_eq!(error.code(), code, "{schema}");
        let text = error.to_string();
        assert!(text.contains("at: ") && text.contains("help: "), "{text}");
    }
    for name in ["a b", "é", "a.b-c", "class"] {
        assert!(
            language(&named(name), Spelling::Gemma).accepts(format!("{{{name}:1}}").as_bytes()),
            "{name}"
        );
    }
}
