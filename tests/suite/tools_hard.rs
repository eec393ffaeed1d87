//! Hard cases of tools under `tests/cases/tools/hard`: documents, a call format, and what must hold of the turns.
//!
//! A case has `documents` (`{label: document}`; text stands for itself), and of `format` with `options`: the `words` that are turns with
//! their calls, the `refused` texts, the bytes that come `next` after a text, which tools are `callable`, `not_callable` (with a part of
//! the reason) or `refused_tools` in the format, the number of `warnings`, the `error`, and how many words there are (`count`).

use grammata::automaton::Automaton;
use grammata::automaton::words::{Count, count};
use grammata::syntax::json_schema::{self, PropertyOrder, Whitespace};
use grammata::tools::{
    CallFormat, Choice, Document, GrammarOptions, Markers, ReadOptions, Severity, ToolSet, read,
};
use grammata::vocabulary::VocabularyBuilder;
use grammata::{CompiledGrammar, Compiler, Limits, TokenId};
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;

const KEYS: [&str; 21] = [
    "case",
    "documents",
    "format",
    "choice",
    "max_calls",
    "compact",
    "declared",
    "open",
    "strict",
    "server",
    "words",
    "refused",
    "next",
    "callable",
    "not_callable",
    "refused_tools",
    "warnings",
    "error",
    "count",
    "requests",
    "grouped",
];

fn cases() -> Vec<(String, Value)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/tools/hard");
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let mut cases = Vec::new();
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        let list: Vec<Value> =
            serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let name = file.file_stem().unwrap().to_string_lossy().into_owned();
        cases.extend(list.into_iter().map(|case| (format!("{name}: {}", case["case"]), case)));
    }
    cases
}

fn set(case: &Value) -> Result<ToolSet, String> {
    let documents = case["documents"].as_object().unwrap();
    let texts: Vec<(&String, String)> = documents
        .iter()
        .map(|(label, document)| {
            (label, document.as_str().map_or_else(|| document.to_string(), str::to_owned))
        })
        .collect();
    let options = ReadOptions::default()
        .open_objects(case["open"] == json!(true))
        .strict(case["strict"] == json!(true))
        .grouped(case["grouped"] == json!(true))
        .server(case["server"].as_str().map(str::to_owned));
    let documents = texts.iter().map(|(label, text)| Document { label, text });
    let mut set = read(documents, &options).map_err(|error| error.to_string())?;
    set.check(&schema(case));
    Ok(set)
}

fn schema(case: &Value) -> json_schema::Options {
    let mut schema = GrammarOptions::arguments(Limits::default());
    if case["compact"] == json!(true) {
        schema.whitespace = Whitespace::Compact;
    }
    if case["declared"] == json!(true) {
        schema.property_order = PropertyOrder::Declared;
    }
    schema
}

fn options(case: &Value) -> GrammarOptions {
    let choice = match case["choice"].as_str() {
        Some("auto") => Choice::Auto,
        Some("none") => Choice::None,
        _ => Choice::Required,
    };
    let max_calls = Some(case["max_calls"].as_u64().unwrap_or(1) as u32);
    GrammarOptions::default().choice(choice).max_calls(max_calls).markers(Markers::Text).schema(schema(case))
}

fn compiled(grammar: &grammata::grammar::Grammar) -> CompiledGrammar {
    let tokens = (0..=255_u8).map(|byte| vec![byte]).chain([b"</s>".to_vec()]);
    let vocabulary = VocabularyBuilder::from_tokens(tokens).eos([TokenId::new(256)]).build().unwrap();
    Compiler::new(Arc::new(vocabulary)).compile(grammar).unwrap()
}

fn is_word(compiled: &CompiledGrammar, text: &str) -> bool {
    let mut matcher = compiled.matcher();
    matcher.accept_bytes(text.as_bytes()).is_ok() && matcher.is_accepting()
}

/// The bytes that may come after a text, and `$` if the turn may end.
fn next(compiled: &CompiledGrammar, text: &str) -> String {
    let mut matcher = compiled.matcher();
    if matcher.accept_bytes(text.as_bytes()).is_err() {
        return "(not viable)".to_owned();
    }
    let allowed = matcher.allowed_bytes().unwrap();
    let mut found: String = (0..=255_u8).filter(|byte| allowed.contains(*byte)).map(char::from).collect();
    if matcher.is_accepting() {
        found.push('$');
    }
    found
}

fn texts(value: &Value) -> impl Iterator<Item = &str> {
    value.as_array().into_iter().flatten().map(|text| text.as_str().unwrap())
}

/// What of a case does not hold.
fn failures(case: &Value) -> Vec<String> {
    let mut wrong = Vec::new();
    let unknown = case.as_object().unwrap().keys().find(|key| !KEYS.contains(&key.as_str()));
    assert_eq!(unknown, None, "a key that means nothing");
    let set = match (set(case), case["error"].as_str()) {
        (Ok(set), _) => set,
        (Err(found), Some(expected)) if found.contains(expected) => return wrong,
        (Err(found), expected) => return vec![format!("expected {expected:?}, found {found}")],
    };
    let callable: Vec<&str> = set.callable().map(|tool| tool.name.as_str()).collect();
    if let Some(expected) = case["callable"].as_array()
        && json!(callable) != json!(expected)
    {
        wrong.push(format!("callable: {callable:?}"));
    }
    for (name, reason) in case["not_callable"].as_object().into_iter().flatten() {
        let found = set.tool(name).and_then(|tool| tool.refusal.as_ref()).map(ToString::to_string);
        if !found.as_ref().is_some_and(|found| found.contains(reason.as_str().unwrap())) {
            wrong.push(format!("{name} refused: {found:?}"));
        }
    }
    if let Some(expected) = case["warnings"].as_u64() {
        let found: Vec<_> =
            set.findings().iter().filter(|finding| finding.severity == Severity::Warning).collect();
        if found.len() as u64 != expected {
            wrong.push(format!("warnings: {found:?}"));
        }
    }
    for (call, expected) in case["requests"].as_object().into_iter().flatten() {
        let call: Value = serde_json::from_str(call).unwrap();
        let arguments = call["arguments"].as_object().unwrap().clone();
        let tool = call["name"].as_str().unwrap().to_owned();
        let found = set.request(&grammata::tools::Call { tool, arguments });
        let found = found.map(|made| {
            format!(
                "{} {}{}",
                made.method,
                made.url,
                made.body.map_or_else(String::new, |body| format!(" {body}"))
            )
        });
        if found.as_ref().ok().map(String::as_str) != expected.as_str() {
            wrong.push(format!("request: {found:?}"));
        }
    }
    let Some(name) = case["format"].as_str() else { return wrong };
    let format = CallFormat::named(name).unwrap();
    let made = match (format.grammar(&set, &options(case)), case["error"].as_str()) {
        (Ok(made), None) => made,
        (Err(found), Some(expected)) if found.to_string().contains(expected) => return wrong,
        (made, expected) => {
            wrong.push(format!("expected {expected:?}, found {:?}", made.map(|made| made.tools)));
            return wrong;
        }
    };
    if let Some(expected) = case["refused_tools"].as_array() {
        let found: Vec<&String> = made.refused.iter().map(|(name, _)| name).collect();
        if json!(found) != json!(expected) {
            wrong.push(format!("refused in the format: {:?}", made.refused));
        }
    }
    if let Some(expected) = case["count"].as_u64() {
        let automaton = Automaton::new(&made.grammar, &Limits::default()).unwrap();
        let found = count(&automaton).unwrap();
        if !matches!(&found, Count::Finite(words) if *words == expected.into()) {
            wrong.push(format!("words: {found:?}"));
        }
    }
    let grammar = compiled(&made.grammar);
    for (text, expected) in case["words"].as_object().into_iter().flatten() {
        if !is_word(&grammar, text) {
            let mut matcher = grammar.matcher();
            let explanation = matcher.explain(text.as_bytes()).unwrap();
            wrong.push(format!(
                "{text:?} is no word: at {} expected {}",
                explanation.position(),
                explanation.expected_text()
            ));
            continue;
        }
        let turn = match format.read(text, &set) {
            Ok(turn) => turn,
            Err(error) => {
                wrong.push(format!("{text:?} does not read: {error}"));
                continue;
            }
        };
        let calls = turn.calls.iter().map(|call| format!("{}{}", call.tool, json!(call.arguments)));
        let calls = calls.collect::<Vec<_>>().join(" ");
        if calls != expected.as_str().unwrap() {
            wrong.push(format!("{text:?} reads as {calls}"));
        }
        let rendered = format.render(&turn, &set).unwrap();
        if !is_word(&grammar, &rendered) || format.read(&rendered, &set).ok() != Some(turn) {
            wrong.push(format!("{text:?} renders as {rendered:?}"));
        }
    }
    for text in texts(&case["refused"]).filter(|text| is_word(&grammar, text)) {
        wrong.push(format!("{text:?} is a word"));
    }
    for (text, expected) in case["next"].as_object().into_iter().flatten() {
        let found = next(&grammar, text);
        if found != expected.as_str().unwrap() {
            wrong.push(format!("after {text:?}: {found:?}"));
        }
    }
    wrong
}

#[test]
fn hard_cases_have_their_outcomes() {
    let cases = cases();
    let mut wrong = Vec::new();
    for (name, case) in &cases {
        wrong.extend(failures(case).into_iter().map(|failure| format!("{name}: {failure}")));
    }
    assert!(cases.len() >= 30, "only {}", cases.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
