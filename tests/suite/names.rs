//! No object has a name twice: languages compared with all their words, masks with trying each token alone, and walks
//! that never reach a dead end.

use crate::language::bytes_of;
use grammata::automaton::words::{Count, count, enumerate};
use grammata::automaton::{Automaton, Cache, ConfigurationId, Lazy};
use grammata::grammar::GrammarBuilder;
use grammata::syntax::json_schema::{self, PropertyOrder, Whitespace, compile_value};
use grammata::vocabulary::{TokenId, Vocabulary, VocabularyBuilder};
use grammata::{CompiledGrammar, Compiler, ErrorKind, Limits};
use grammata_testing::names::has_repeated_name;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::Arc;

fn compile(
    schema: &Value,
    order: PropertyOrder,
    vocabulary: &Arc<Vocabulary>,
) -> grammata::Result<CompiledGrammar> {
    let options = json_schema::Options::default()
        .property_order(order)
        .whitespace(Whitespace::Compact)
        .numbers(grammata::syntax::json_schema::Numbers::Plain);
    Compiler::new(Arc::clone(vocabulary)).compile(&compile_value(schema, &options)?.grammar)
}

fn vocabulary(texts: &[&str]) -> Arc<Vocabulary> {
    let mut tokens: BTreeSet<Vec<u8>> = (0..=255u8).map(|byte| vec![byte]).collect();
    for text in texts {
        for length in [2, 3, 4, 6, 10] {
            tokens.extend(text.as_bytes().windows(length).map(<[u8]>::to_vec));
        }
    }
    let eos = TokenId::new(tokens.len() as u32);
    let tokens = tokens.into_iter().chain([Vec::new()]);
    Arc::new(VocabularyBuilder::from_tokens(tokens).eos([eos]).build().unwrap())
}

/// Returns all objects of at most four of these members, in which no name occurs twice.
fn objects() -> Vec<String> {
    let mut all: Vec<Vec<(&str, &str)>> = vec![Vec::new()];
    let mut begun = 0;
    for _ in 0..4 {
        let end = all.len();
        for place in begun..end {
            for name in ["a", "ab", "b", "ba", "c", "aa", "bb"] {
                for value in ["1", "2"] {
                    let object = &all[place];
                    if object.iter().all(|(known, _)| *known != name) {
                        let longer = object.iter().copied().chain([(name, value)]).collect();
                        all.push(longer);
                    }
                }
            }
        }
        begun = end;
    }
    let text = |object: &Vec<(&str, &str)>| {
        let members: Vec<String> = object.iter().map(|(name, value)| format!("\"{name}\":{value}")).collect();
        format!("{{{}}}", members.join(","))
    };
    all.iter().map(text).collect()
}

#[test]
fn scarce_keys_allow_exactly_the_viable_bytes() {
    let few = |pattern: &str, more: Value| {
        let mut schema = json!({"type": "object", "patternProperties": {pattern: {"const": 1}},
            "additionalProperties": false});
        schema.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        schema
    };
    let lacking = |letter: &str| json!({"not": {"propertyNames": {"pattern": letter}}});
    let cases = [
        few("^(a|b|ab)$", json!({})),
        few("^(ab|ba|b)$", json!({"minProperties": 2})),
        few("^(ab|ba|b)$", json!({"minProperties": 3})),
        few("^[ab]$", json!({"properties": {"c": {"const": 2}}, "required": ["c"]})),
        few("^[ab]$", json!({"properties": {"c": {"const": 2}}, "minProperties": 3})),
        few("^[ab]$", json!({"properties": {"c": {"enum": [1, 2]}}, "minProperties": 2, "maxProperties": 2})),
        json!({"type": "object", "propertyNames": {"enum": ["a", "ab", "c"]},
            "additionalProperties": {"enum": [1, 2]}, "maxProperties": 2}),
        json!({"type": "object", "propertyNames": {"pattern": "^[ab]{1,2}$"}, "minProperties": 2, "maxProperties": 3,
            "patternProperties": {"^a": {"const": 1}}, "additionalProperties": {"const": 2}}),
        // members that must be present, although other members may use up their names
        json!({"type": "object", "propertyNames": {"pattern": "^[ab]{1,2}$"}, "additionalProperties": {"const": 1},
            "maxProperties": 3, "allOf": [lacking("a"), lacking("b")]}),
        json!({"type": "object", "propertyNames": {"pattern": "^[ab]+$", "maxLength": 2}, "minProperties": 3,
            "additionalProperties": {"const": 1}, "maxProperties": 3, "allOf": [lacking("a"), lacking("b")]}),
        json!({"type": "object", "propertyNames": {"pattern": "^[ab]$"}, "additionalProperties": {"enum": [1, 2]},
            "not": {"additionalProperties": {"const": 1}}}),
        json!({"type": "object", "propertyNames": {"enum": ["a", "ab", "c"]}, "maxProperties": 2,
            "additionalProperties": {"enum": [1, 2]}, "not": {"additionalProperties": {"const": 1}}}),
    ];
    let (all, bytes) = (objects(), vocabulary(&[]));
    for schema in &cases {
        let validator = jsonschema::draft202012::new(schema).unwrap();
        let is_word = |text: &&String| validator.is_valid(&serde_json::from_str(text).unwrap());
        let words: BTreeSet<String> = all.iter().filter(is_word).cloned().collect();
        assert!(words.len() > 1);
        let compiled =
            compile(schema, PropertyOrder::Any, &bytes).unwrap_or_else(|e| panic!("{schema}: {e}"));
        let prefixes: BTreeSet<&[u8]> =
            words.iter().flat_map(|word| (0..=word.len()).map(|end| &word.as_bytes()[..end])).collect();
        for &prefix in &prefixes {
            let shown = String::from_utf8_lossy(prefix);
            let mut matcher = compiled.matcher();
            matcher.accept_bytes(prefix).unwrap_or_else(|e| panic!("{schema}: {e}"));
            assert_eq!(matcher.is_accepting(), words.contains(&*shown), "{schema}: {shown}");
            let expected: Vec<u8> =
                (0..=255).filter(|&byte| prefixes.contains(&[prefix, &[byte]].concat()[..])).collect();
            assert_eq!(
                matcher.allowed_bytes().unwrap().iter().collect::<Vec<u8>>(),
                expected,
                "{schema}: {shown}"
            );
            let mask = matcher.mask().unwrap();
            let found: Vec<u8> = mask.iter().filter(|id| id.get() < 256).map(|id| id.get() as u8).collect();
            assert_eq!(found, expected, "{schema}: {shown}");
            let forced = matcher.forced_bytes().unwrap();
            let going_on: Vec<_> = words.iter().filter(|word| word.as_bytes().starts_with(prefix)).collect();
            let all_begin = |length: usize| {
                going_on.iter().all(|w| {
                    w.len() >= prefix.len() + length
                        && w.as_bytes()[..prefix.len() + length]
                            == going_on[0].as_bytes()[..prefix.len() + length]
                })
            };
            let length = (0..).take_while(|&n| all_begin(n)).last().unwrap();
            assert_eq!(
                forced,
                going_on[0].as_bytes()[prefix.len()..prefix.len() + length],
                "{schema}: {shown}"
            );
            for byte in 0..=255 {
                assert_eq!(
                    matcher.fork().accept_bytes(&[byte]).is_ok(),
                    expected.contains(&byte),
                    "{schema}: {shown}"
                );
            }
        }
        let automaton = compiled.automaton();
        assert_eq!(count(automaton).unwrap(), Count::Finite(words.len().into()), "{schema}");
        let listed: BTreeSet<Vec<u8>> =
            enumerate(automaton).unwrap().map(|word| bytes_of(&word.unwrap())).collect();
        assert!(listed.iter().map(Vec::as_slice).eq(words.iter().map(|w| w.as_bytes())), "{schema}");
    }
}

/// If items must differ, the search for what an item may still become ignores the names that were used. Schemas with
/// too few names are therefore refused.
#[test]
fn different_objects_of_few_names_are_refused() {
    let few = json!({"type": "object", "patternProperties": {"^[ab]$": {"const": 1}}, "additionalProperties": false});
    let items = json!({"anyOf": [{"type": "string"}, few]});
    let schema = json!({"type": "array", "uniqueItems": true, "items": items});
    let error = compile(&schema, PropertyOrder::Any, &vocabulary(&[])).unwrap_err();
    assert_eq!((error.kind(), error.code()), (ErrorKind::Grammar, "automaton/few-names-in-items"));
    let schema = json!({"type": "array", "items": items});
    assert!(compile(&schema, PropertyOrder::Any, &vocabulary(&[])).is_ok());
}

#[test]
fn an_object_with_too_few_names_is_left_out() {
    let bytes = vocabulary(&[]);
    let two = json!({"type": "object", "propertyNames": {"pattern": "^[ab]$"}, "minProperties": 3});
    let error = compile(&two, PropertyOrder::Any, &bytes).unwrap_err();
    assert_eq!((error.kind(), error.code()), (ErrorKind::Grammar, "automaton/too-few-names"));
    let or = json!({"anyOf": [two, {"const": 1}]});
    let compiled = compile(&or, PropertyOrder::Any, &bytes).unwrap();
    assert_eq!(compiled.matcher().forced_bytes().unwrap(), b"1");
}

const TEXTS: [&str; 3] = [
    r#"{"a":1,"b":{"a":2,"a":3},"a":4,"":5,"ab":"a"}"#,
    r#"[{"x-a":{"\u0061":[{}]},"\u0061":"","":null},{"a":1,"x-b":1}]"#,
    r#"{"a":{"":0},"":"","aa":"\",\"a","b":1,"ba":2}"#,
];

fn schemas() -> Vec<Value> {
    let few =
        json!({"type": "object", "patternProperties": {"^(a|b|ab)$": true}, "additionalProperties": false});
    vec![
        json!(true),
        json!({"type": "object"}),
        json!({"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "object"}}}),
        json!({"type": "object", "properties": {"a": true}, "required": ["ab"], "additionalProperties": true}),
        json!({"type": "object", "patternProperties": {"^x-": true}}),
        json!({"type": "object", "propertyNames": {"maxLength": 2}}),
        json!({"anyOf": [{"type": "object", "properties": {"a": {"type": "integer"}}},
            {"type": "object", "properties": {"b": {"type": "object"}}}]}),
        few.clone(),
        json!({"type": "object", "additionalProperties": few, "minProperties": 2}),
        json!({"type": "object", "propertyNames": {"pattern": "^(a|b.*)$"}}),
        json!({"type": "array", "uniqueItems": true, "items": {"type": "object"}}),
    ]
}

/// Walks under the masks as the choices say, and compares each mask with trying each token alone.
fn walk(compiled: &CompiledGrammar, choices: &[u16], text: &str) -> Vec<u8> {
    let vocabulary = compiled.vocabulary();
    let automaton = compiled.automaton();
    let mut matcher = compiled.matcher();
    let mut tables = Cache::new();
    let start = Lazy::new(automaton, &mut tables).start().unwrap();
    let mut run = |mut at, bytes: &[u8]| {
        for &byte in bytes {
            at = Lazy::new(automaton, &mut tables).step(at, byte).unwrap();
        }
        at
    };
    let mut at = run(start, b"");
    for (place, &choice) in choices.iter().enumerate() {
        let mask = matcher.mask().unwrap();
        let found: Vec<TokenId> = mask.iter().filter(|id| !vocabulary.is_eos(*id)).collect();
        let before = matcher.bytes();
        let shown = String::from_utf8_lossy(&before);
        let is_plain = |bytes: &[u8]| !has_repeated_name(&[&before, bytes].concat());
        let alone: Vec<TokenId> = vocabulary
            .tokens()
            .filter(|(_, bytes)| run(at, bytes) != ConfigurationId::DEAD && is_plain(bytes))
            .map(|(id, _)| id)
            .collect();
        let stays = |id: &TokenId| matcher.fork().accept_token(*id).is_ok();
        assert!(
            found.iter().all(|id| alone.binary_search(id).is_ok()),
            "{} after {shown}",
            compiled.grammar()
        );
        for id in alone.iter().filter(|id| found.binary_search(id).is_err()) {
            // the prefix of a name that continues only to names that were used
            assert!(!stays(id), "{:?} after {shown} in {}", vocabulary.bytes(*id), compiled.grammar());
        }
        let some = found.iter().step_by(found.len().div_ceil(8).max(1));
        assert!(some.into_iter().all(stays), "{} after {shown}", compiled.grammar());
        assert!(!mask.is_empty(), "stuck after {shown} in {}", compiled.grammar());
        if found.is_empty() {
            break;
        }
        // tokens that continue `text`; none if the walk is not on `text` any more or has reached its end
        let wanted = text.as_bytes().get(before.len()..).unwrap_or_default();
        let along: Vec<TokenId> = found
            .iter()
            .copied()
            .filter(|id| {
                text.as_bytes().starts_with(&before) && wanted.starts_with(vocabulary.bytes(*id).unwrap())
            })
            .collect();
        let long: Vec<TokenId> =
            found.iter().copied().filter(|id| vocabulary.bytes(*id).unwrap().len() > 1).collect();
        let from = match choice % 8 {
            0..5 if !along.is_empty() => &along,
            0..7 if !long.is_empty() => &long,
            _ => &found,
        };
        let token = from[usize::from(choice) / 8 % from.len()];
        at = run(at, vocabulary.bytes(token).unwrap());
        matcher.accept_token(token).unwrap();
        if place % 7 == 6 {
            // a rollback, and the same text again
            let bytes = matcher.bytes();
            let fork = matcher.fork();
            matcher.rollback(usize::from(choice) % (matcher.steps() + 1)).unwrap();
            let rest = bytes[matcher.byte_count()..].to_vec();
            matcher.accept_bytes(&rest).unwrap();
            assert_eq!(*matcher.mask().unwrap(), *fork.clone().mask().unwrap());
        }
    }
    matcher.bytes()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn masks_are_those_of_each_token_alone(choices in prop::collection::vec(any::<u16>(), 12)) {
        let pieces = vocabulary(&TEXTS);
        let no_two_names: Vec<&str> = TEXTS.iter().flat_map(|text| text.split_inclusive(',')).collect();
        let simple = vocabulary(&no_two_names);
        for schema in schemas() {
            for vocabulary in [&pieces, &simple] {
                let compiled = compile(&schema, PropertyOrder::Any, vocabulary).unwrap();
                let text = TEXTS[usize::from(choices[0]) % TEXTS.len()];
                let bytes = walk(&compiled, &choices, text);
                prop_assert!(!has_repeated_name(&bytes), "{}", String::from_utf8_lossy(&bytes));
            }
        }
    }
}

/// Text before an object is not JSON: a quote in that text does not begin a string.
#[test]
fn an_object_after_a_quote_has_no_name_twice() {
    let options = json_schema::Options::default().whitespace(Whitespace::Compact);
    let object = compile_value(&json!({"type": "object"}), &options).unwrap().grammar;
    let pieces = vocabulary(&TEXTS);
    let text = r#"{"a":1,"b":{"a":2,"ab":3},"c":"x"#;
    for before in ["", "5\" ", "a \"b\" \\\" "] {
        let mut builder = GrammarBuilder::new();
        let (start, object) = (builder.text(before), builder.import(&object));
        let body = builder.sequence([start, object]);
        let root = builder.declare("root");
        builder.define(root, body);
        let compiled = Compiler::new(Arc::clone(&pieces)).compile(&builder.build(root).unwrap()).unwrap();
        for end in 0..=text.len() {
            let mut matcher = compiled.matcher();
            matcher.accept_bytes(before.as_bytes()).unwrap();
            matcher.accept_bytes(&text.as_bytes()[..end]).unwrap();
            let mask = matcher.mask().unwrap();
            for (id, bytes) in pieces.tokens().filter(|(id, _)| !pieces.is_eos(*id)) {
                let is_there = mask.contains(id);
                let repeats = has_repeated_name(&[&text.as_bytes()[..end], bytes].concat());
                let shown = String::from_utf8_lossy(bytes);
                assert!(!is_there || !repeats, "{shown:?} after {before}{}", &text[..end]);
                let goes_on = matcher.fork().try_accept(id).unwrap();
                assert_eq!(is_there, goes_on, "{shown:?} after {before}{}", &text[..end]);
            }
        }
    }
}

#[test]
fn masks_of_a_real_vocabulary() {
    let text = r#"{"name":"a","na":{"x":1,"name":[]},"x\u0061":"","":0,"names":{"":"","x":{}}, "x"#;
    let prefixes: Vec<&[u8]> = (0..=text.len()).step_by(3).map(|end| &text.as_bytes()[..end]).collect();
    for schema in [json!(true), json!({"properties": {"na": {"type": "object"}}})] {
        let options = json_schema::Options::default().property_order(PropertyOrder::Any);
        let grammar = compile_value(&schema, &options).unwrap().grammar;
        super::masks::check(&grammar, &prefixes, &schema.to_string());
    }
}

/// With thousands of names, each name takes as long as with a few.
#[test]
fn objects_may_have_thousands_of_names() {
    let vocabulary = vocabulary(&[]);
    let compiled = compile(&json!({"type": "object"}), PropertyOrder::Any, &vocabulary).unwrap();
    let mut matcher = compiled.matcher();
    matcher.accept_bytes(b"{").unwrap();
    for n in 0..20_000 {
        let comma = if n > 0 { "," } else { "" };
        matcher.accept_bytes(format!("{comma}\"member {n}").as_bytes()).unwrap();
        assert!(matcher.mask().unwrap().contains(TokenId::new(u32::from(b'"'))));
        matcher.accept_bytes(b"\":1").unwrap();
    }
    matcher.accept_bytes(b",\"member 17").unwrap();
    assert!(!matcher.mask().unwrap().contains(TokenId::new(u32::from(b'"'))));
    let error = matcher.accept_bytes(b"\"").unwrap_err();
    assert_eq!(error.code(), "matcher/rejected");
    let automaton = Automaton::new(compiled.grammar(), &Limits::default()).unwrap();
    assert_eq!(count(&automaton).unwrap(), Count::Infinite);
    let words: Vec<_> =
        enumerate(&automaton).unwrap().take(2_000).map(|word| bytes_of(&word.unwrap())).collect();
    assert!(words.iter().all(|word| !has_repeated_name(word)));
}

/// Returns the suffixes of a thousand names; the first one is the least.
fn ends() -> Vec<String> {
    let letter = |number: usize| char::from_digit((number % 36) as u32, 36).unwrap();
    let end = |number: usize| [number, number / 36, number / 1296].map(letter).iter().collect();
    (0..1_000).map(|number| end(number * 7919 % 46_656)).collect()
}

/// Returns a matcher inside a name of an object. The object may have a thousand names with one long prefix, and all
/// names but the least were used.
fn nearly_exhausted(limits: Limits) -> grammata::Matcher {
    let prefix = "a".repeat(100);
    let names = ends().join("|");
    let schema = json!({"type": "object", "patternProperties": {format!("^{prefix}({names})$"): {"const": 1}},
        "additionalProperties": false});
    let options = json_schema::Options::default().whitespace(Whitespace::Compact);
    let grammar = compile_value(&schema, &options).unwrap().grammar;
    let tokens = (0..=255u8).map(|byte| vec![byte]).chain((2..=100).map(|length| vec![b'a'; length]));
    let vocabulary = VocabularyBuilder::from_tokens(tokens).build().unwrap();
    let compiler = Compiler::new(Arc::new(vocabulary)).limits(limits);
    let mut matcher = compiler.compile(&grammar).unwrap().matcher();
    matcher.accept_bytes(b"{").unwrap();
    for end in &ends()[1..] {
        matcher.accept_bytes(format!("\"{prefix}{end}\":1,").as_bytes()).unwrap();
    }
    matcher.accept_bytes(b"\"").unwrap();
    matcher
}

#[test]
fn a_search_for_a_name_that_did_not_come_is_work_of_the_mask() {
    let error = nearly_exhausted(Limits::default().mask_work(1 << 16)).mask().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Limit);
    assert!(error.to_string().contains("mask_work"), "{error}");
    let mut matcher = nearly_exhausted(Limits::default());
    let mask = matcher.mask().unwrap();
    // the 100 tokens that begin the common prefix
    assert_eq!(mask.iter().count(), 100);
    let name = |end: &str| format!("{}{end}\":1}}", "a".repeat(100));
    assert!(!matcher.accepts_prefix(name(&ends()[1]).as_bytes()).unwrap());
    assert!(matcher.accepts_prefix(name(&ends()[0]).as_bytes()).unwrap());
}

/// If tables were dropped, a long text is read again. This does not count as work of the mask.
#[test]
fn a_long_text_is_found_again_after_tables_were_dropped() {
    let schema =
        json!({"type": "array", "items": {"type": "object", "additionalProperties": {"type": "integer"}}});
    let options = json_schema::Options::default().whitespace(Whitespace::Compact);
    let grammar = compile_value(&schema, &options).unwrap().grammar;
    let bound = grammata::MemoryBound::new(1);
    let limits = Limits::default().mask_work(1 << 14);
    let compiler = Compiler::new(vocabulary(&[])).limits(limits).within(&bound);
    let (compiled, other) = (compiler.compile(&grammar).unwrap(), compiler.compile(&grammar).unwrap());
    let mut matcher = compiled.matcher();
    matcher.accept_bytes(b"[").unwrap();
    for number in 0..4_000 {
        let item = format!("{{\"name {number}\":{number},\"other name\":-{number},\"{number}\":123456}},");
        matcher.accept_bytes(item.as_bytes()).unwrap();
    }
    matcher.accept_bytes(b"{\"name 1\":1,\"").unwrap();
    let before: Vec<TokenId> = matcher.mask().unwrap().iter().collect();
    for _ in 0..2 {
        let resets = compiled.statistics().resets;
        other.matcher().accept_bytes(b"[{\"name\":").unwrap();
        assert!(compiled.statistics().resets > resets);
        let after: Vec<TokenId> = matcher.mask().unwrap().iter().collect();
        assert_eq!(after, before);
    }
    assert!(!matcher.accepts_prefix(b"name 1\"").unwrap() && matcher.accepts_prefix(b"name 2\"").unwrap());
}
