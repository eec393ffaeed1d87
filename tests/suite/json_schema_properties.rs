//! Random schemas and documents: the engine accepts the documents that a validator calls valid.

use grammata::syntax::json_schema::{self, PropertyOrder, compile_value};
use grammata::vocabulary::{TokenId, VocabularyBuilder};
use grammata::{Compiler, ErrorKind, Matcher};
use grammata_testing::generate::{Choices, random_document, random_schema};
use grammata_testing::names::has_repeated_name;
use proptest::prelude::*;
use std::cell::Cell;

#[test]
fn random_documents_are_judged_as_a_validator_does() {
    let cases = std::env::var("GRAMMATA_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(500);
    let config = ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() };
    let tokens = (0..=255u8).map(|byte| vec![byte]).chain([Vec::new()]);
    let vocabulary = VocabularyBuilder::from_tokens(tokens).eos([TokenId::new(256)]).build().unwrap();
    let compiler = Compiler::new(vocabulary.into());
    let (valid, invalid, refused) = (Cell::new(0), Cell::new(0), Cell::new(0));
    let options = json_schema::Options::default().property_order(PropertyOrder::Any);
    let judge = |bytes: Vec<u8>| {
        let mut choices = Choices::new(&bytes);
        let schema = random_schema(&mut choices);
        let validator = jsonschema::draft202012::new(&schema).unwrap();
        let documents: Vec<_> = (0..6).map(|_| random_document(&mut choices, &schema)).collect();
        let compiled = compile_value(&schema, &options).and_then(|made| compiler.compile(&made.grammar));
        let compiled = match compiled {
            Ok(compiled) => compiled,
            Err(error) => {
                // the search may not be able to decide whether lists in lists of different items can end
                let searched = error.to_string().contains("lockstep_search");
                prop_assert!(error.kind() == ErrorKind::Grammar || searched, "{} under {}", error, schema);
                // a schema may be refused because a part is not supported, or because nothing satisfies it
                if ["json-schema/unsatisfiable", "automaton/empty-language"].contains(&error.code()) {
                    for document in &documents {
                        prop_assert!(!validator.is_valid(document), "{} satisfies {}", document, schema);
                    }
                }
                refused.set(refused.get() + 1);
                return Ok(());
            }
        };
        for document in documents {
            let mut matcher = compiled.matcher();
            let read = matcher.accept_bytes(document.to_string().as_bytes()).is_ok();
            let accepted = read && matcher.is_accepting();
            let expected = validator.is_valid(&document);
            prop_assert_eq!(accepted, expected, "{} under {}", document, schema);
            let count = if expected { &valid } else { &invalid };
            count.set(count.get() + 1);
        }
        Ok(())
    };
    let outcome = proptest::test_runner::TestRunner::new(config)
        .run(&prop::collection::vec(any::<u8>(), 0..400), judge);
    outcome.unwrap_or_else(|e| panic!("{e}"));
    let (valid, invalid, refused) = (valid.get(), invalid.get(), refused.get());
    let counts = format!("{valid} valid, {invalid} invalid, {refused} schemas refused");
    assert!(valid > cases && invalid > cases && refused < cases / 4, "{counts}");
    eprintln!("{counts}");
}

/// Masks of a real vocabulary are exact at random prefixes of valid random documents.
#[test]
fn masks_along_random_documents_are_exact() {
    let cases = std::env::var("GRAMMATA_CASES").ok().and_then(|n| n.parse::<u32>().ok()).unwrap_or(500) / 10;
    let config = ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() };
    let checked = Cell::new(0);
    let judge = |bytes: Vec<u8>| {
        let mut choices = Choices::new(&bytes);
        let schema = random_schema(&mut choices);
        let document = random_document(&mut choices, &schema);
        let validator = jsonschema::draft202012::new(&schema).unwrap();
        let options = json_schema::Options::default().property_order(PropertyOrder::Any);
        let Ok(compiled) = compile_value(&schema, &options) else { return Ok(()) };
        if validator.is_valid(&document) {
            let text = document.to_string();
            let prefixes: Vec<&[u8]> =
                (0..4).map(|_| &text.as_bytes()[..choices.below(text.len() + 1)]).collect();
            super::masks::check(&compiled.grammar, &prefixes, &schema.to_string());
            checked.set(checked.get() + prefixes.len());
        }
        Ok(())
    };
    let outcome = proptest::test_runner::TestRunner::new(config)
        .run(&prop::collection::vec(any::<u8>(), 0..400), judge);
    outcome.unwrap_or_else(|e| panic!("{e}"));
    assert!(checked.get() > cases as usize, "{} masks", checked.get());
}

/// Returns whether a text has a number of more than 12 characters or with an exponent, which the validator may
/// misjudge.
fn has_long_number(text: &str) -> bool {
    text.split(|c: char| !c.is_ascii_alphanumeric() && !".+-".contains(c)).any(|word| {
        word.starts_with(|c: char| c == '-' || c.is_ascii_digit())
            && (word.len() > 12 || word.contains(['e', 'E']))
    })
}

/// Generates a document byte by byte under the masks, mostly with bytes that soon end it. Returns `None` if it does not
/// end within 300 bytes.
fn made(matcher: &mut Matcher, choices: &mut Choices<'_>, random: &mut u64) -> Option<String> {
    for length in 0..300 {
        if matcher.is_accepting() && (length > 60 || choices.chance(30)) {
            return String::from_utf8(matcher.bytes()).ok();
        }
        let mask = matcher.mask().unwrap();
        let allowed: Vec<u8> = mask.iter().filter_map(|token| u8::try_from(token.get()).ok()).collect();
        assert!(!mask.is_empty(), "stuck after {}", String::from_utf8_lossy(&matcher.bytes()));
        *random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let number = (*random >> 33) as usize;
        let liked: &[u8] = match number % 16 {
            _ if length > 60 => b"\"}]0:",
            0..4 => b"\"}]:,",
            4..12 => b"ab{[\"1}]:,",
            _ => b"",
        };
        let liked: Vec<u8> = allowed.iter().copied().filter(|byte| liked.contains(byte)).collect();
        let from = if liked.is_empty() { &allowed } else { &liked };
        let Some(&byte) = from.get(number / 16 % from.len().max(1)) else { break };
        matcher.accept_token(TokenId::new(u32::from(byte))).unwrap();
    }
    None
}

/// Generated documents are valid and have no name twice. A generated document with some bytes changed is valid if it is
/// accepted, and is accepted in its plain spelling if it is valid.
#[test]
fn made_documents_are_valid() {
    let cases = std::env::var("GRAMMATA_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(300);
    let config = ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() };
    let tokens = (0..=255u8).map(|byte| vec![byte]).chain([Vec::new()]);
    let vocabulary = VocabularyBuilder::from_tokens(tokens).eos([TokenId::new(256)]).build().unwrap();
    let compiler = Compiler::new(vocabulary.into());
    let options = json_schema::Options::default().property_order(PropertyOrder::Any);
    let counts: [Cell<u32>; 4] = Default::default();
    let one_more = |place: usize| counts[place].set(counts[place].get() + 1);
    let judge = |bytes: Vec<u8>| {
        let mut choices = Choices::new(&bytes);
        let schema = random_schema(&mut choices);
        let validator = jsonschema::draft202012::new(&schema).unwrap();
        let Ok(all) = compile_value(&schema, &options) else { return Ok(()) };
        let Ok(compiled) = compiler.compile(&all.grammar) else { return Ok(()) };
        one_more(0);
        let accepts = |text: &str| {
            let mut matcher = compiled.matcher();
            matcher.accept_bytes(text.as_bytes()).is_ok() && matcher.is_accepting()
        };
        let mut random =
            bytes.iter().fold(1, |all: u64, &byte| all.wrapping_mul(31).wrapping_add(byte.into()));
        for _ in 0..3 {
            let Some(text) = made(&mut compiled.matcher(), &mut choices, &mut random) else { continue };
            one_more(1);
            if has_long_number(&text) {
                continue;
            }
            let document: serde_json::Value = serde_json::from_str(&text).unwrap();
            prop_assert!(validator.is_valid(&document), "{} under {}", text, schema);
            prop_assert!(!has_repeated_name(text.as_bytes()), "{} under {}", text, schema);
            let mut changed = text.clone().into_bytes();
            random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let place = (random >> 40) as usize % (changed.len() + 1);
            let piece = [&b""[..], b"a", b"1", b"\"", b"{}", b"b", b",\"a\":1", b"null,"]
                [(random >> 33) as usize % 8];
            let cut = (random >> 36) as usize % 3;
            changed.splice(place..(place + cut).min(text.len()).max(place), piece.iter().copied());
            let Ok(changed) = String::from_utf8(changed) else { continue };
            let Ok(document) = serde_json::from_str::<serde_json::Value>(&changed) else { continue };
            if has_long_number(&changed) {
                continue;
            }
            one_more(2);
            let (accepted, repeated) = (accepts(&changed), has_repeated_name(changed.as_bytes()));
            prop_assert!(
                !accepted || !repeated && validator.is_valid(&document),
                "{} under {}",
                changed,
                schema
            );
            let plain = document.to_string();
            let valid = validator.is_valid(&document);
            if valid {
                one_more(3);
            }
            prop_assert_eq!(accepts(&plain), valid, "{} under {}", plain, schema);
        }
        Ok(())
    };
    let outcome = proptest::test_runner::TestRunner::new(config)
        .run(&prop::collection::vec(any::<u8>(), 0..400), judge);
    outcome.unwrap_or_else(|e| panic!("{e}"));
    let [schemas, made, changed, valid] = counts.map(Cell::into_inner);
    let counts =
        format!("{schemas} schemas, {made} documents made, {changed} changed, {valid} of them valid");
    assert!(made > schemas / 2 && changed > schemas / 8 && valid > 0, "{counts}");
    eprintln!("{counts}");
}

/// Documents that are generated under conditions on the members of an object are valid.
#[test]
fn documents_made_under_conditions_are_valid() {
    let cases: serde_json::Value =
        serde_json::from_str(include_str!("../cases/json_schema/conditions.json")).unwrap();
    let tokens = (0..=255u8).map(|byte| vec![byte]).chain([Vec::new()]);
    let vocabulary = VocabularyBuilder::from_tokens(tokens).eos([TokenId::new(256)]).build().unwrap();
    let compiler = Compiler::new(vocabulary.into());
    let mut finished = 0;
    for case in cases.as_array().unwrap() {
        let validator = jsonschema::draft202012::new(&case["schema"]).unwrap();
        for property_order in [PropertyOrder::Any, PropertyOrder::Declared] {
            let options = json_schema::Options::default().property_order(property_order);
            let compiled =
                compiler.compile(&compile_value(&case["schema"], &options).unwrap().grammar).unwrap();
            for seed in 1..12u8 {
                let bytes: Vec<u8> =
                    (0..200u8).map(|i| i.wrapping_mul(seed).wrapping_mul(41) ^ seed).collect();
                let mut choices = Choices::new(&bytes);
                let Some(text) = made(&mut compiled.matcher(), &mut choices, &mut u64::from(seed)) else {
                    continue;
                };
                finished += 1;
                let document = serde_json::from_str(&text).unwrap();
                assert!(validator.is_valid(&document), "{text} under {}", case["schema"]);
            }
        }
    }
    assert!(finished > 30, "{finished}");
}
