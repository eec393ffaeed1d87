//! Hard cases of tools under `tests/cases/tools/hard`: documents, a call format, and what must hold of the turns.
//!
//! A case has `documents` (`{label: document}`; a text is used as it is) and options of reading them. It may state:
//! - `callable`, `not_callable` (with a part of the reason): tools
//! - `warnings`, `errors`: numbers of findings; `error`: a part of the error
//! - `requests`: calls with their requests
//! - `short_names`: the names in OpenAI's alphabet and length
//!
//! With a `format` and its options it may also state:
//! - `words`: texts that are turns, with their calls; `refused`: texts that are not
//! - `next`: the bytes that may follow a text, and `$` if the turn may end; `count`: the number of words
//! - `refused_tools`: tools that the format refuses
//! - `masks`: which of the `tokens`, which are added to the bytes, may follow a text
//! - `forced`: the text that must follow a text, and needs no run of the model
//! - `observations`: messages of the host, after which the words are turns as before
//! - `too_few`: a budget that is refused before the first token; `whole`: with one token more than the least budget
//!   every turn is complete
//!
//! A list of values `{"numbers": N}` is replaced by the texts of the numbers below N.

use grammata::automaton::Automaton;
use grammata::automaton::words::{Count, count};
use grammata::syntax::json_schema::{self, PropertyOrder, Whitespace};
use grammata::vocabulary::{Vocabulary, VocabularyBuilder};
use grammata::{CompiledGrammar, Compiler, Limits, Matcher, TokenId};
use grammata_agents::tools::session::{CompiledTools, Session, ToolCompiler, TurnOptions};
use grammata_agents::tools::{
    CallFormat, Choice, Document, GrammarOptions, Markers, ReadOptions, Severity, ToolSet, read,
    restricted_names,
};
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;

const KEYS: [&str; 29] = [
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
    "errors",
    "tokens",
    "masks",
    "forced",
    "observations",
    "short_names",
    "too_few",
    "whole",
];

fn cases() -> Vec<(String, Value)> {
    let folder = Path::new(crate::ROOT).join("tests/cases/tools/hard");
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
    let mut documents = case["documents"].clone();
    list_numbers(&mut documents);
    let documents = documents.as_object().unwrap();
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

/// Replaces each `{"numbers": N}` with a list of the texts of the numbers below N.
fn list_numbers(value: &mut Value) {
    match value {
        Value::Object(members) => match members.get("numbers").and_then(Value::as_u64) {
            Some(count) if members.len() == 1 => {
                *value = (0..count).map(|number| number.to_string()).collect();
            }
            _ => members.values_mut().for_each(list_numbers),
        },
        Value::Array(items) => items.iter_mut().for_each(list_numbers),
        _ => {}
    }
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

/// Returns a vocabulary of all bytes, the tokens of a case, and an end token.
fn vocabulary(case: &Value) -> Arc<Vocabulary> {
    let tokens = (0..=255_u8).map(|byte| vec![byte]);
    let tokens = tokens.chain(texts(&case["tokens"]).map(|token| token.as_bytes().to_vec()));
    let tokens: Vec<Vec<u8>> = tokens.chain([b"</s>".to_vec()]).collect();
    let end = TokenId::new(tokens.len() as u32 - 1);
    Arc::new(VocabularyBuilder::from_tokens(tokens).eos([end]).build().unwrap())
}

fn is_word(compiled: &CompiledGrammar, text: &str) -> bool {
    let mut matcher = compiled.matcher();
    matcher.accept_bytes(text.as_bytes()).is_ok() && matcher.is_accepting()
}

/// Returns the bytes that may follow a text, and `$` if the turn may end.
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

/// Returns the tokens of a case that the mask allows after a text. The masks of the whole grammar and of a session must
/// agree.
fn allowed_tokens(case: &Value, whole: &CompiledGrammar, tools: Option<&CompiledTools>, text: &str) -> Value {
    let of = |allowed: &dyn Fn(TokenId) -> bool| -> Value {
        let tokens = texts(&case["tokens"]).enumerate();
        tokens.filter(|(at, _)| allowed(TokenId::new(256 + *at as u32))).map(|(_, token)| token).collect()
    };
    let mut matcher = whole.matcher();
    matcher.accept_bytes(text.as_bytes()).unwrap();
    let mask = matcher.mask().unwrap();
    let found = of(&|token| mask.contains(token));
    if let Some(tools) = tools {
        let mut turn = tools.turn(&turn_options(case)).unwrap();
        turn.accept_bytes(text.as_bytes()).unwrap();
        let mask = turn.mask().unwrap();
        assert_eq!(of(&|token| mask.contains(token)), found, "a session after {text:?}");
    }
    found
}

fn turn_options(case: &Value) -> TurnOptions {
    let GrammarOptions { choice, min_calls, max_calls, .. } = options(case);
    TurnOptions { choice, min_calls, max_calls, ..TurnOptions::default() }
}

/// Returns how a session differs from the case: forced text, and turns after messages of the host.
fn session_failures(case: &Value, tools: &CompiledTools) -> Vec<String> {
    let mut wrong = Vec::new();
    for (text, expected) in case["forced"].as_object().into_iter().flatten() {
        let mut turn = tools.turn(&turn_options(case)).unwrap();
        turn.accept_bytes(text.as_bytes()).unwrap();
        let forced = String::from_utf8(turn.forced_bytes().unwrap()).unwrap();
        if forced != expected.as_str().unwrap() {
            wrong.push(format!("forced after {text:?}: {forced:?}"));
        }
    }
    if !case["observations"].is_array() {
        return wrong;
    }
    let mut session = Session::new(tools, turn_options(case)).unwrap();
    let mut turns = Vec::new();
    for (text, _) in case["words"].as_object().into_iter().flatten() {
        for observation in texts(&case["observations"]) {
            session.observe(observation).unwrap();
            session.accept_bytes(text.as_bytes()).unwrap();
            session.finish().unwrap();
            turns.push(tools.format().read(text, tools.set()).unwrap());
        }
    }
    if session.turns() != turns {
        wrong.push(format!("turns of the session: {:?}", session.turns()));
    }
    wrong
}

/// Returns the least budget that is not refused. Panics if it is 10,000 or more.
fn least_budget(matcher: &mut Matcher) -> usize {
    (0..10_000).find(|&budget| matcher.check_budget(budget).is_ok()).unwrap()
}

/// Returns how the token budgets of the case's grammar differ from what the case expects; empty if they do not.
fn budget_failures(case: &Value, whole: &CompiledGrammar) -> Vec<String> {
    let mut wrong = Vec::new();
    if let Some(budget) = case["too_few"].as_u64() {
        let found = whole.matcher().check_budget(budget as usize).map_err(|error| error.code());
        if found != Err("matcher/budget") {
            wrong.push(format!("a budget of {budget}: {found:?}"));
        }
    }
    if case["whole"] != json!(true) {
        return wrong;
    }
    let least = least_budget(&mut whole.matcher());
    // one walk always takes the first allowed token, another one always the last
    for is_last in [false, true] {
        let mut matcher = whole.matcher();
        let mut left = least + 1;
        while !matcher.is_finished() {
            let mask = matcher.mask_within(left).unwrap();
            let token = if is_last { mask.iter().max() } else { mask.iter().min() };
            let token = token.unwrap();
            matcher.accept_token(token).unwrap();
            left -= usize::from(!whole.vocabulary().is_eos(token));
        }
        if !matcher.is_accepting() && !matcher.is_finished() {
            wrong.push(format!("cut within {} tokens", least + 1));
        }
    }
    wrong
}

/// Returns how a case differs from what it states; empty if it does not.
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
    for (key, severity) in [("warnings", Severity::Warning), ("errors", Severity::Error)] {
        let found: Vec<_> = set.findings().iter().filter(|finding| finding.severity == severity).collect();
        if case[key].as_u64().is_some_and(|expected| found.len() as u64 != expected) {
            wrong.push(format!("{key}: {found:?}"));
        }
    }
    if case["short_names"].is_array() {
        let found = restricted_names(set.tools().iter().map(|tool| tool.name.as_str()), 64);
        if json!(found) != case["short_names"] {
            wrong.push(format!("short names: {found:?}"));
        }
    }
    for (call, expected) in case["requests"].as_object().into_iter().flatten() {
        let call: Value = serde_json::from_str(call).unwrap();
        let arguments = call["arguments"].as_object().unwrap().clone();
        let tool = call["name"].as_str().unwrap().to_owned();
        let found = set.request(&grammata_agents::tools::Call { tool, arguments });
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
    let compiler = Compiler::new(vocabulary(case));
    let grammar = compiler.compile(&made.grammar).unwrap();
    let tools = format.names_come_first().then(|| {
        let options = options(case);
        ToolCompiler::new(compiler).compile(Arc::new(set.clone()), format.clone(), &options).unwrap()
    });
    for (text, expected) in case["masks"].as_object().into_iter().flatten() {
        let found = allowed_tokens(case, &grammar, tools.as_ref(), text);
        if found != *expected {
            wrong.push(format!("tokens after {text:?}: {found}"));
        }
    }
    if let Some(tools) = &tools {
        wrong.extend(session_failures(case, tools));
    }
    wrong.extend(budget_failures(case, &grammar));
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
