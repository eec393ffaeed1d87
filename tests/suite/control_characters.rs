//! Control characters, line ends and marks of direction in a source never reach the text of a diagnostic: each reader
//! is fed the inputs of `tests/diagnostics` with such characters at every place, and no text of an error or a warning
//! has them, nor a line that the input wrote.

use grammata::automaton::Automaton;
use grammata::diagnostic::{Diagnostic, is_hidden};
use grammata::syntax::{Notation, Source, parse, regex};
use grammata::{Limits, Place};
use std::collections::BTreeSet;
use std::path::Path;

/// Sequences for a terminal, ends of lines, and marks of direction; then a forged message.
const HOSTILE: &str = "\u{1b}]0;x\u{7}\u{9b}2J\u{202e}\u{2028}\r\nerror[x] forged";
/// The same within a string of JSON or TOML.
const ESCAPED: &str = "\\u001b]0;x\\u0007\\u009b2J\\u202e\\u2028\\r\\nerror[x] forged";
/// Places of one input at which the characters are inserted.
const PLACES: usize = 40;

#[track_caller]
fn check_text(text: &str, source: &str) {
    assert!(!text.contains(is_hidden), "{text:?}\n{source:?}");
}

/// The lines of a whole message: the first one begins with `start`, the others with two blanks.
#[track_caller]
fn check_lines(text: &str, start: &str, source: &str) {
    for (number, line) in text.split('\n').enumerate() {
        check_text(line, source);
        assert!(line.starts_with(if number == 0 { start } else { "  " }), "{text}\n{source:?}");
    }
}

fn check(diagnostic: &Diagnostic, source: &str) {
    check_lines(&diagnostic.to_string(), "[", source);
    check_text(diagnostic.message(), source);
    check_text(&diagnostic.place().to_string(), source);
    let texts = [
        diagnostic.file(),
        diagnostic.found_text(),
        diagnostic.cause_text(),
        diagnostic.allowed_text(),
        diagnostic.help_text(),
        diagnostic.snippet().map(|snippet| snippet.text()),
    ];
    texts.into_iter().flatten().for_each(|text| check_text(text, source));
    check_text(&format!("{diagnostic:?}"), source);
}

/// Reads a source, lowers its grammar and explains a text. Returns the codes of the diagnostics.
fn read(source: &Source) -> BTreeSet<&'static str> {
    let text = source.text();
    let mut codes = BTreeSet::new();
    let limits = Limits::default().automaton_states(2_000);
    let parsed = parse(source).map_err(|error| error.in_file(&format!("file {HOSTILE}")));
    let parsed = parsed.and_then(|parsed| {
        parsed.warnings.iter().for_each(|warning| {
            check(warning, text);
            codes.insert(warning.code());
        });
        Automaton::new(&parsed.grammar, &limits)
    });
    if let Err(error) = parsed {
        let shown = error.to_string();
        let shown = shown.strip_suffix("\nthere may be more errors: reading stopped here").unwrap_or(&shown);
        shown.split("\nerror").for_each(|one| {
            check_lines(one.trim_start_matches("error"), "[", text);
        });
        check_text(&format!("{error:?}").replace('\n', ""), text);
        error.diagnostics().for_each(|diagnostic| {
            check(diagnostic, text);
            codes.insert(diagnostic.code());
        });
    }
    codes
}

#[test]
fn no_reader_lets_control_characters_into_a_message() {
    let folder = Path::new(crate::ROOT).join("tests/diagnostics");
    type Topic = (&'static str, fn(String) -> Source);
    let topics: [Topic; 8] = [
        ("json-schema", Source::json_schema),
        ("engine", Source::json_schema),
        ("gbnf", Source::gbnf),
        ("lark", Source::lark),
        ("regex", Source::regex),
        ("regex-ecma", |text| {
            Source::Regex(text, regex::Options::default().dialect(regex::Dialect::Ecma262))
        }),
        ("structural-tag", Source::structural_tag),
        ("automaton-spec", Source::spec),
    ];
    for (topic, source) in topics {
        let mut codes = BTreeSet::new();
        let (mut inputs, mut reads) = (0, 0);
        let files = std::fs::read_dir(folder.join(topic)).unwrap();
        let mut files: Vec<_> = files.map(|entry| entry.unwrap().path()).collect();
        files.sort();
        for path in files.iter().filter(|path| path.extension().is_some_and(|kind| kind == "in")) {
            let Ok(text) = std::fs::read_to_string(path) else { continue };
            // huge inputs are about limits
            if text.len() > 20_000 {
                continue;
            }
            inputs += 1;
            let boundaries: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
            let step = boundaries.len().div_ceil(PLACES).max(1);
            for &at in boundaries.iter().step_by(step) {
                for hostile in [HOSTILE, ESCAPED] {
                    let (before, after) = text.split_at(at);
                    codes.extend(read(&source(format!("{before}{hostile}{after}"))));
                    reads += 1;
                }
            }
        }
        eprintln!("{topic}: {inputs} inputs, {reads} reads, {} codes: {codes:?}", codes.len());
        assert!(reads > 100 && codes.len() > 2, "{topic}: {reads} reads, {codes:?}");
    }
}

#[test]
fn names_in_explanations_are_escaped() {
    let name = "a\u{1b}[2J\u{202e}\nb";
    let schema = serde_json::json!({"$defs": {name: {"type": "array", "items": {"$ref": format!("#/$defs/{}", name)}}},
        "$ref": format!("#/$defs/{name}")});
    let parsed = parse(&Source::json_schema(schema.to_string())).unwrap();
    let vocabulary = grammata::vocabulary::VocabularyBuilder::from_tokens(["["]).build().unwrap();
    let compiled = grammata::Compiler::new(std::sync::Arc::new(vocabulary)).compile(&parsed.grammar).unwrap();
    let explanation = compiled.matcher().explain(b"[x").unwrap();
    let text = explanation.to_string();
    assert!(text.contains("\\u{1b}[2J\\u{202e}\\nb"), "{text}");
    check_text(&text, "");
}

/// The place of an error keeps the name as it is, for programs; only its text is escaped.
#[test]
fn places_are_data() {
    let schema = "{\"properties\":{\"a\\u001b[31m\\n\":{\"minimum\":\"x\"}}}";
    let error = parse(&Source::json_schema(schema)).unwrap_err();
    let place = error.diagnostic().place();
    assert_eq!(*place, Place::Pointer("/properties/a\u{1b}[31m\n/minimum".to_owned()));
    assert_eq!(place.to_string(), "#/properties/a\\u{1b}[31m\\n/minimum");
    assert_eq!(error.diagnostic().snippet().map(|snippet| snippet.line()), Some(1));
    assert_eq!(Notation::JsonSchema.id(), "json-schema");
}
