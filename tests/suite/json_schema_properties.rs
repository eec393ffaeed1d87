//! Random schemas and documents: what the engine accepts is what a validator calls valid.

use grammata::syntax::json_schema::{JsonSchemaOptions, PropertyOrder, compile_value};
use grammata::testing::generate::{Choices, random_document, random_schema};
use grammata::vocabulary::{TokenId, VocabularyBuilder};
use grammata::{Compiler, ErrorKind};
use proptest::prelude::*;
use std::cell::Cell;

#[test]
fn random_documents_are_judged_as_a_validator_does() {
    let cases = std::env::var("GRAMMATA_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(500);
    let config = ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() };
    let tokens = (0..=255u8).map(|byte| vec![byte]).chain([Vec::new()]);
    let vocabulary = VocabularyBuilder::from_tokens(tokens).eos([TokenId::new(256)]).build().unwrap();
    let compiler = Compiler::new(vocabulary.into());
    let (valid, invalid, refused, narrowed) = (Cell::new(0), Cell::new(0), Cell::new(0), Cell::new(0));
    let options = JsonSchemaOptions { property_order: PropertyOrder::Any, ..JsonSchemaOptions::default() };
    let judge = |bytes: Vec<u8>| {
        let mut choices = Choices::new(&bytes);
        let schema = random_schema(&mut choices);
        let validator = jsonschema::draft202012::new(&schema).unwrap();
        let documents: Vec<_> = (0..6).map(|_| random_document(&mut choices, &schema)).collect();
        let compiled = compile_value(&schema, &options)
            .and_then(|made| Ok((compiler.compile(&made.grammar)?, made.warnings)));
        let (compiled, warnings) = match compiled {
            Ok(compiled) => compiled,
            Err(error) => {
                prop_assert_eq!(error.kind(), ErrorKind::Grammar);
                // a schema may be refused for what is not supported, or because nothing satisfies it
                if ["json-schema/unsatisfiable", "automaton/empty-language"].contains(&error.code()) {
                    for document in &documents {
                        prop_assert!(!validator.is_valid(document), "{} satisfies {}", document, schema);
                    }
                }
                refused.set(refused.get() + 1);
                return Ok(());
            }
        };
        let is_narrowed = warnings.iter().any(|warning| warning.code() == "json-schema/narrowed");
        for document in documents {
            let mut matcher = compiled.matcher();
            let read = matcher.accept_bytes(document.to_string().as_bytes()).is_ok();
            let accepted = read && matcher.is_accepting().unwrap();
            let expected = validator.is_valid(&document);
            // narrowed schemas leave valid documents out, and say so
            if accepted || !is_narrowed {
                prop_assert_eq!(accepted, expected, "{} under {}", document, schema);
            } else if expected {
                narrowed.set(narrowed.get() + 1);
            }
            let count = if expected { &valid } else { &invalid };
            count.set(count.get() + 1);
        }
        Ok(())
    };
    let outcome = proptest::test_runner::TestRunner::new(config)
        .run(&prop::collection::vec(any::<u8>(), 0..400), judge);
    outcome.unwrap_or_else(|e| panic!("{e}"));
    let (valid, invalid, refused, narrowed) = (valid.get(), invalid.get(), refused.get(), narrowed.get());
    let counts = format!("{valid} valid, {invalid} invalid, {refused} schemas refused, {narrowed} left out");
    assert!(valid > cases && invalid > cases && narrowed < valid / 100, "{counts}");
    eprintln!("{counts}");
}

/// Masks of a real vocabulary within random documents of random schemas, bit for bit.
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
        let options =
            JsonSchemaOptions { property_order: PropertyOrder::Any, ..JsonSchemaOptions::default() };
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
