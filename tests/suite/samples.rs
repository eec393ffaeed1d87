//! Random words of schemas and grammars: they are words, within the bound, of objects whose names differ.

use crate::language::{Language, bytes_of};
use grammata::Limits;
use grammata::automaton::Automaton;
use grammata::automaton::samples::{Distribution, samples};
use grammata::grammar::Grammar;
use grammata::syntax::{gbnf, json_schema};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

/// Draws words of at most `most` bytes by random walks, and checks that the language has them.
fn drawn(grammar: &Grammar, count: usize, most: usize) -> Vec<Vec<u8>> {
    let automaton = Automaton::new(grammar, &Limits::default()).unwrap();
    let language = Language::new(grammar);
    let mut samples = samples(&automaton, Distribution::Walk, most).unwrap();
    let mut random = ChaCha8Rng::seed_from_u64(count as u64);
    let words = (0..count).map(|_| bytes_of(&samples.draw(&mut random).unwrap()));
    let words: Vec<Vec<u8>> = words.collect();
    for word in &words {
        assert!(word.len() <= most && language.accepts(word), "{}", String::from_utf8_lossy(word));
    }
    words
}

/// Whether objects of a JSON text repeat a name: a reader of its own for texts without escapes in names.
fn repeats(value: &serde_json::Value, text: &str) -> bool {
    fn members(value: &serde_json::Value) -> usize {
        match value {
            serde_json::Value::Object(map) => map.len() + map.values().map(members).sum::<usize>(),
            serde_json::Value::Array(list) => list.iter().map(members).sum(),
            _ => 0,
        }
    }
    // colons outside of strings
    let (mut colons, mut inside, mut escaped) = (0, false, false);
    for letter in text.chars() {
        match letter {
            _ if escaped => escaped = false,
            '\\' if inside => escaped = true,
            '"' => inside = !inside,
            ':' if !inside => colons += 1,
            _ => {}
        }
    }
    colons != members(value)
}

#[test]
fn words_of_schemas_are_drawn() {
    let schemas = [
        "true",
        r#"{"type": "object"}"#,
        r#"{"type": "object", "minProperties": 3, "additionalProperties": {"type": "integer"}}"#,
        r#"{"type": "object", "patternProperties": {"^[ab]$": {"const": 1}}, "additionalProperties": false, "minProperties": 2}"#,
        r#"{"type": "array", "items": {"type": "string", "format": "date"}, "uniqueItems": true, "minItems": 3}"#,
        r##"{"$ref": "#/$defs/t", "$defs": {"t": {"type": "object", "properties": {"l": {"$ref": "#/$defs/t"}, "r": {"$ref": "#/$defs/t"}}}}}"##,
        r#"{"type": "string", "minLength": 30, "maxLength": 40}"#,
    ];
    for schema in schemas {
        let options = json_schema::Options::default().whitespace(json_schema::Whitespace::Short);
        let grammar = json_schema::compile(schema, &options).unwrap().grammar;
        for word in drawn(&grammar, 20, 120) {
            let text = String::from_utf8(word).unwrap();
            let value: serde_json::Value = serde_json::from_str(&text).unwrap();
            assert!(!repeats(&value, &text), "{text}");
        }
    }
}

#[test]
fn words_of_nested_grammars_end_in_time() {
    let texts = [
        r#"root ::= "(" root root ")" | "[" root "]" | [a-z]+"#,
        r#"root ::= "x" root root "y" | "v" root "w" | "z""#,
        r#"root ::= "a" root "b" root | "c" root "d" | "e"? "f""#,
    ];
    for text in texts {
        let grammar = gbnf::compile(text, &gbnf::Options::default()).unwrap().grammar;
        for most in [1, 4, 5, 8, 40, 200] {
            drawn(&grammar, 20, most);
        }
    }
}
