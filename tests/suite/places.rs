//! Every error about input has a place. This is checked for the inputs of `tests/diagnostics`, for the limits of all
//! front ends, and for the constructors of diagnostics in the source code.

use crate::imports::product;
use grammata::automaton::Automaton;
use grammata::diagnostic::{Notation, Source};
use grammata::grammar::Grammar;
use grammata::syntax::{automaton_spec, gbnf, json_schema, lark, regex, structural_tag};
use grammata::{Error, ErrorKind, Limits, Place, Result};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// One front end: its folder in `tests/diagnostics`, and how it reads a source.
struct FrontEnd {
    topic: &'static str,
    notation: Notation,
    read: fn(&str, &Limits) -> Result<Grammar>,
}

fn read_spec(source: &str, limits: &Limits) -> Result<Grammar> {
    let parameters: BTreeMap<String, String> = source
        .lines()
        .filter_map(|line| line.strip_prefix("#! ")?.split_once('='))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect();
    let format = match source.trim_start().starts_with('{') {
        true => automaton_spec::Format::Json,
        false => automaton_spec::Format::Toml,
    };
    let options =
        automaton_spec::Options::default().format(format).parameters(parameters).limits(limits.clone());
    automaton_spec::compile(source, &options).map(|compiled| compiled.grammar)
}

const FRONT_ENDS: [FrontEnd; 7] = [
    FrontEnd {
        topic: "gbnf",
        notation: Notation::Gbnf,
        read: |source, limits| {
            let options = gbnf::Options::default().limits(limits.clone());
            gbnf::compile(source, &options).map(|compiled| compiled.grammar)
        },
    },
    FrontEnd {
        topic: "regex",
        notation: Notation::Text,
        read: |source, limits| regex::compile(source, &regex::Options::default().limits(limits.clone())),
    },
    FrontEnd {
        topic: "regex-ecma",
        notation: Notation::Text,
        read: |source, limits| {
            let dialect = regex::Dialect::Ecma262;
            regex::compile(source, &regex::Options::default().dialect(dialect).limits(limits.clone()))
        },
    },
    FrontEnd {
        topic: "json-schema",
        notation: Notation::Json,
        read: |source, limits| {
            let options = json_schema::Options::default().limits(limits.clone());
            json_schema::compile(source, &options).map(|compiled| compiled.grammar)
        },
    },
    FrontEnd { topic: "automaton-spec", notation: Notation::Toml, read: read_spec },
    FrontEnd {
        topic: "structural-tag",
        notation: Notation::Json,
        read: |source, limits| {
            let options = structural_tag::Options::default().limits(limits.clone());
            structural_tag::compile(source, &options).map(|compiled| compiled.grammar)
        },
    },
    FrontEnd {
        topic: "lark",
        notation: Notation::Text,
        read: |source, limits| {
            let options = lark::Options::default().limits(limits.clone());
            lark::compile(source, &options).map(|compiled| compiled.grammar)
        },
    },
];

/// Returns the error of a source, from its front end or from lowering its grammar; `None` if there is no error.
fn error_of(front_end: &FrontEnd, source: &str, limits: &Limits) -> Option<Error> {
    let grammar = match (front_end.read)(source, limits) {
        Ok(grammar) => grammar,
        Err(error) => return Some(error),
    };
    let error = Automaton::new(&grammar, limits).err()?;
    Some(error.in_source(&Source::new(source, front_end.notation)))
}

/// Returns whether an error is about a source as a whole, so that it has no place in it.
fn is_about_the_whole(error: &Error) -> bool {
    // the whole text is longer than the limit
    error.to_string().contains("the limit `source_bytes`")
        || error.to_string().contains("the limit `pattern_bytes`")
}

fn inputs(topic: &str) -> Vec<(PathBuf, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/diagnostics").join(topic);
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let inputs = files.filter(|path| path.extension().is_some_and(|extension| extension == "in"));
    // the front ends take only texts, so other files are skipped
    inputs.filter_map(|path| Some((path.clone(), std::fs::read_to_string(&path).ok()?))).collect()
}

#[test]
fn every_pinned_error_has_a_place_and_a_line() {
    let (mut errors, mut wrong) = (0, Vec::new());
    for front_end in &FRONT_ENDS {
        for (path, source) in inputs(front_end.topic) {
            let Some(error) = error_of(front_end, &source, &Limits::default()) else { continue };
            errors += 1;
            for diagnostic in error.diagnostics() {
                // a place in another document, or in a document given with the source, has no line in the source
                let elsewhere = matches!(diagnostic.place(), Place::Pointer(pointer) if !pointer.is_empty() && !pointer.starts_with('/'))
                    || diagnostic.place() == &Place::Pointer("/parameters".to_owned());
                let known =
                    *diagnostic.place() != Place::Whole && (elsewhere || diagnostic.snippet().is_some());
                if !known && !is_about_the_whole(&error) {
                    wrong.push(format!("{}\n{error}", path.display()));
                }
            }
        }
    }
    assert!(errors > 150, "only {errors}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Each limit, set to a small number, is exceeded at a place.
#[test]
fn every_limit_of_a_grammar_is_exceeded_at_a_place() {
    let sources = [
        "root ::= a | (((\"x\" root)))\na ::= [a-z]{3,90} \"some more text\" a?",
        "(((a|b){3,90}c?)+[a-z]é){2}",
        "(?=.*a)[a-cé]{2,5}",
        r#"{"type": "object", "properties": {"a": {"type": "array", "items": {"pattern": "^a+b$"}, "uniqueItems": true},
            "b": {"not": {"pattern": "x"}, "type": "string", "minLength": 3}}, "required": ["a"]}"#,
        "kind = 'cfg'\nsymbols = { x = 'text of x', y = 'text of y' }\nstart = 's'\nrules = { s = ['x', 'x s y'] }\nlimits = { at_most_once = ['x'] }",
        r#"{"type": "structural_tag", "format": {"type": "triggered_tags", "triggers": ["<f"], "tags": [{"begin": "<f>", "end": "</f>",
            "content": {"type": "sequence", "elements": [{"type": "json_schema", "json_schema": {"pattern": "^a+b$"}},
                {"type": "regex", "pattern": "[a-z]{3,90}"}, {"type": "grammar", "grammar": "root ::= (\"x\")"}]}}]}}"#,
        "start: a | ((\"x\" start)) | %json {\"pattern\": \"^a+b$\"}\na: /[a-zé]{3,90}/ \"some more text\" a?",
    ];
    let Ok(serde_json::Value::Object(fields)) = serde_json::to_value(Limits::default()) else { panic!() };
    let mut exceeded = 0;
    for (front_end, source) in FRONT_ENDS.iter().zip(sources) {
        let error = error_of(front_end, source, &Limits::default());
        assert!(error.is_none(), "{}: {error:?}", front_end.topic);
        for name in fields.keys() {
            for most in [0, 2, 20] {
                let mut fields = fields.clone();
                fields.insert(name.clone(), most.into());
                if name == "compile_work" {
                    fields.insert("compile_work_per_byte".to_owned(), 0.into());
                }
                let limits: Limits = serde_json::from_value(serde_json::Value::Object(fields)).unwrap();
                let Some(error) = error_of(front_end, source, &limits) else { continue };
                assert_eq!(error.kind(), ErrorKind::Limit, "{error}");
                exceeded += 1;
                let has_place = error.diagnostics().all(|diagnostic| *diagnostic.place() != Place::Whole);
                assert!(has_place || is_about_the_whole(&error), "{} {name}: {error}", front_end.topic);
            }
        }
    }
    assert!(exceeded > 30, "only {exceeded}");
}

/// Codes of diagnostics whose constructors give no place, by prefix, and why.
const WITHOUT_PLACE: &[(&str, &str)] = &[
    ("automaton/", "the front door gives the rule"),
    ("limit/exceeded", "whoever reads a source or a text gives the place in it"),
    ("regex/empty-language", "the front door gives the pattern's beginning"),
    ("regex/look-around", "the front door gives the pattern's beginning"),
    ("json-schema/whitespace-pattern", "an option, not the schema"),
    ("gbnf/unreachable-rule", "sums up the warnings of many places"),
    ("grammar/crossed-bounds", "a call of the library"),
    ("grammar/empty-trigger", "a call of the library; the front door gives the place of the text"),
    ("grammar/trigger-", "a call of the library; the front door gives the place of the text"),
    ("grammar/empty-token-terminal", "a call of the library"),
    ("grammar/no-tokens-for-part", "a call of the library; the front door gives the place of the part"),
    ("tools/reader-style", "a call of the library"),
    ("matcher/rollback-too-far", "a call of the library"),
    ("serve/rows", "a call of the library"),
    ("mask/buffer-too-short", "a call of the library"),
    ("mask/unknown-token", "the compiler gives the rule"),
    ("mask/token-range", "the compiler gives the rule"),
    ("mask/no-tokens", "the compiler gives the rule"),
    ("mask/stale-configuration", "a fault of the library, which stands in for a wrong mask"),
    ("mask-file/other-vocabulary", "the file as a whole; the reader gives its name"),
    ("mask-file/impossible", "names the part by its number"),
    ("mask-file/name-twice", "a call of the library"),
    ("mask-file/token-index", "the index as a whole"),
    ("mask-file/no-token-index", "the vocabulary as a whole"),
    ("mask-file/disagrees", "what a text has shown, not the file"),
    ("decode/", "a call of the library, a setting, or the model as a whole"),
    ("vocabulary/empty", "the whole file"),
    ("vocabulary/no-eos", "the whole file"),
    ("vocabulary/width", "an option, not the file"),
    ("vocabulary/eos-range", "an option, not the file"),
    ("vocabulary/special-", "an option, or a call of the library"),
    ("vocabulary/no-added-token", "an option, not the file"),
    ("mask/no-end-tokens", "a call of the library"),
    ("mask/end-token-range", "a call of the library"),
    ("matcher/draft-", "a call of the library"),
    ("tools/unknown-family", "an option, not the document"),
    ("tools/no-arguments", "the reason in a warning, which has the place"),
    ("environment/", "what the world did, not a file"),
    ("chat/", "what a model or a command answered, not a file"),
    ("endpoint/", "an option, or what a server answered"),
    ("guard/", "an option, or what a client or a server did"),
    ("evaluation/unwritable-record", "a value of the caller"),
    ("flow/level", "an option, not the file"),
    ("flow/arguments", "an option, not the file"),
    ("flow/answer", "an option, not the file"),
    ("flow/intents", "an option, not the file"),
    ("flow/stated", "an option, not the file"),
    ("flow/line", "names the step or API; the file was read before"),
    ("flow/similarity", "what a model computed"),
    ("flow/budget", "an option, not the file"),
    ("pdl/blocking", "the procedure as a whole, which it names"),
    ("procedure/", "a call of the library, or what the world did"),
    ("plan/", "a spec or a dialogue as a whole; the reader gives the file"),
    ("retrieval/", "a call of the library, or a binary file as a whole; lines of text have their place"),
    ("tools/no-tools", "the set as a whole"),
    ("tools/unknown-tool", "an option, not the document"),
    ("tools/call-count", "an option, not the document"),
    ("tools/tool-choice", "an option, not the document"),
    ("tools/no-markers", "a preset, of which no text was read"),
    ("events/unknown-rule", "an argument of the call"),
    ("events/token-terminals", "the grammar as a whole"),
    ("events/moved", "the matcher as a whole"),
    ("cli/", "the arguments"),
];

#[test]
fn constructors_without_a_place_are_known() {
    let (mut seen, mut wrong, mut used) = (0, Vec::new(), vec![false; WITHOUT_PLACE.len()]);
    for (path, text) in product() {
        let text = text.split("#[cfg(test)]").next().unwrap();
        let mut check = |code: &str, has_place: bool| {
            seen += 1;
            // diagnostics with a place or a file are skipped, and those whose code is not a literal
            if has_place || !code.contains('/') {
                return;
            }
            match WITHOUT_PLACE.iter().position(|(prefix, _)| code.starts_with(prefix)) {
                Some(known) => used[known] = true,
                None => wrong.push(format!("{}: {code}", path.display())),
            }
        };
        let has_place = |text: &str| {
            let place = [".at(", " at(", "(at(", ".in_file(", " in_file(", "at_span(", "at_offset("];
            place.iter().any(|place| text.contains(place))
        };
        let code = |text: &str| text.split('"').nth(1).unwrap_or_default().to_owned();
        for function in text.split("\nfn ").flat_map(|part| part.split("\npub")) {
            for made in function.split("Diagnostic::new(").skip(1) {
                check(&code(made), has_place(function));
            }
        }
        for rows in text.split("\ngrammata_base::errors! {").skip(1) {
            let rows = rows.split("\n}").next().unwrap_or_default();
            let (shared, rows) = rows.split_once(";\n\n").unwrap_or_default();
            for row in rows.split(";\n\n") {
                let row: String = row.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
                check(&code(&row), has_place(shared) || has_place(&row));
            }
        }
    }
    assert!(seen > 500, "only {seen}");
    assert!(wrong.is_empty(), "{wrong:#?}");
    let unused: Vec<&str> =
        WITHOUT_PLACE.iter().zip(used).filter(|(_, used)| !used).map(|((code, _), _)| *code).collect();
    assert!(unused.is_empty(), "{unused:?}");
}
