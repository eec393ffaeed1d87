//! Which published answers are words of the grammars: `cargo run --profile quick --example tool_gold_calls -- TASKS
//! [OPENAPI]`
//!
//! TASKS is a file of BFCL (JSON lines, each a question with its tools) or, with OPENAPI, of RestBench. In BFCL each
//! gold call is rendered with the first alternative of each value, and tested with the grammar of its tools and with
//! the crate `jsonschema`. In RestBench each gold endpoint is tested as it is, and with the names of its parameters as
//! the OpenAPI document has them.
#![allow(clippy::print_stdout)] // an example prints its results

use grammata::vocabulary::VocabularyBuilder;
use grammata::{CompiledGrammar, Compiler, TokenId};
use grammata_agents::tools::{
    Call, CallFormat, Choice, Document, GrammarOptions, ReadOptions, ToolSet, Turn, read,
};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::sync::Arc;

type Failure = Box<dyn std::error::Error>;

fn compiler() -> Result<Compiler, Failure> {
    let tokens = (0..=255_u8).map(|byte| vec![byte]).chain([b"</s>".to_vec()]);
    let vocabulary = VocabularyBuilder::from_tokens(tokens).eos([TokenId::new(256)]).build()?;
    Ok(Compiler::new(Arc::new(vocabulary)))
}

fn is_word(compiled: &CompiledGrammar, text: &str) -> bool {
    let mut matcher = compiled.matcher();
    matcher.accept_bytes(text.as_bytes()).is_ok() && matcher.is_accepting()
}

/// Returns the first alternative of each member. A member whose first alternative is `""` is left out.
fn first_alternatives(members: &Value) -> Map<String, Value> {
    let mut made = Map::new();
    for (name, alternatives) in members.as_object().into_iter().flatten() {
        let first = match alternatives.as_array() {
            Some(list) => list.first().cloned().unwrap_or(Value::Null),
            None => alternatives.clone(),
        };
        if first != "" {
            made.insert(name.clone(), inner(&first));
        }
    }
    made
}

/// Replaces objects within a value by their first alternatives, if all their members are lists.
fn inner(value: &Value) -> Value {
    match value {
        Value::Object(members) if members.values().all(Value::is_array) => {
            Value::Object(first_alternatives(value))
        }
        Value::Array(items) => items.iter().map(inner).collect(),
        value => value.clone(),
    }
}

/// Checks that a call is a word of the grammar. An error says what is wrong with it.
fn verdict(set: &ToolSet, compiled: &CompiledGrammar, name: &str, gold: &Value) -> Result<(), String> {
    let arguments = first_alternatives(gold);
    let Some(tool) = set.tool(name) else { return Err("no tool of this name".to_owned()) };
    if let Some(refusal) = &tool.refusal {
        return Err(format!("not callable: {refusal}"));
    }
    let value = Value::Object(arguments.clone());
    let call = Call { tool: name.to_owned(), arguments };
    let format = CallFormat::named("json").ok_or("no format")?;
    let text = format.render(&Turn { calls: vec![call], ..Turn::default() }, set);
    let text = text.map_err(|error| error.to_string())?;
    let judge = jsonschema::validator_for(&tool.arguments.value()).map_err(|error| error.to_string())?;
    let contradiction = judge.iter_errors(&value).next().map(|error| error.to_string());
    match (is_word(compiled, &text), contradiction) {
        (true, None) => Ok(()),
        (true, Some(error)) => Err(format!("A WORD THAT CONTRADICTS ITS SCHEMA: {error}: {text}")),
        (false, Some(error)) => Err(format!("contradicts its schema: {error}")),
        (false, None) => {
            let mut matcher = compiled.matcher();
            let found = matcher.explain(text.as_bytes()).map_err(|error| error.to_string())?;
            Err(format!("VALID AND NO WORD, at {}: {text}", found.position()))
        }
    }
}

fn questions(text: &str) -> Result<(), Failure> {
    let compiler = compiler()?;
    let (mut all, mut words) = (0, 0);
    let mut wrong: BTreeMap<String, usize> = BTreeMap::new();
    for line in text.lines() {
        let question: Value = serde_json::from_str(line)?;
        let Some(gold) = question["ground_truth"].as_array().filter(|gold| !gold.is_empty()) else {
            continue;
        };
        all += 1;
        let tools = question["function"].to_string();
        let mut set = read([Document { label: "b", text: &tools }], &ReadOptions::default())?;
        let options = GrammarOptions::default().choice(Choice::Required);
        set.check(&options.schema);
        let format = CallFormat::named("json").ok_or("no format")?;
        let compiled = match format.grammar(&set, &options) {
            Ok(made) => compiler.compile(&made.grammar)?,
            // all tools are refused, which the verdict on the first call reports
            Err(_) => {
                compiler.compile(&format.grammar(&set, &options.clone().choice(Choice::None))?.grammar)?
            }
        };
        let calls = gold.iter().flat_map(|call| call.as_object().into_iter().flatten());
        let mut verdicts = calls.map(|(name, gold)| verdict(&set, &compiled, name, gold));
        match verdicts.find_map(Result::err) {
            None => words += 1,
            Some(reason) => {
                println!("{}: {reason}", question["id"].as_str().unwrap_or_default());
                *wrong.entry(reason.split(':').next().unwrap_or_default().to_owned()).or_default() += 1;
            }
        }
    }
    println!("{words} of {all} questions have gold calls that are words; {wrong:?}");
    Ok(())
}

/// Returns an endpoint without the names of its parameters.
fn bare(endpoint: &str) -> String {
    let mut made = String::new();
    let mut is_name = false;
    for c in endpoint.trim().chars() {
        is_name &= c != '}';
        if !is_name {
            made.push(c);
        }
        is_name |= c == '{';
    }
    made
}

fn endpoints(tasks: &str, document: &str) -> Result<(), Failure> {
    let set = read([Document { label: "r", text: document }], &ReadOptions::default())?;
    let format = CallFormat::named("endpoint").ok_or("no format")?;
    let options = GrammarOptions::default().choice(Choice::Required);
    let compiled = compiler()?.compile(&format.grammar(&set, &options)?.grammar)?;
    let mut documented: BTreeMap<String, String> = BTreeMap::new();
    for tool in set.callable() {
        let call = Call { tool: tool.name.clone(), arguments: Map::new() };
        let text = format.render(&Turn { calls: vec![call], ..Turn::default() }, &set)?;
        documented.insert(bare(&text), text);
    }
    let tasks: Vec<Value> = serde_json::from_str(tasks)?;
    let (mut all, mut raw, mut known) = (0, 0, 0);
    for (at, task) in tasks.iter().enumerate() {
        for gold in task["solution"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            all += 1;
            raw += usize::from(is_word(&compiled, gold));
            match documented.get(&bare(gold)) {
                Some(text) if is_word(&compiled, text) => known += 1,
                _ => println!("task {at}: {gold:?}"),
            }
        }
    }
    closures(&set, &tasks, &documented)?;
    println!(
        "{all} gold endpoints: {raw} are words as they stand, {known} with the document's names of parameters"
    );
    Ok(())
}

/// Prints how many plans of several steps are within the closure of their last step: the tools that it needs, and
/// transitively the tools that those need.
fn closures(set: &ToolSet, tasks: &[Value], documented: &BTreeMap<String, String>) -> Result<(), Failure> {
    let format = CallFormat::named("endpoint").ok_or("no format")?;
    let (mut plans, mut whole, mut size) = (0, 0, 0);
    for task in tasks {
        let steps = task["solution"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let mut tools = Vec::new();
        for text in steps.filter_map(|step| documented.get(&bare(step))) {
            let turn = format.read(text, set)?;
            let name = turn.calls.first().map(|call| call.tool.clone());
            tools.extend(set.tools().iter().position(|tool| Some(&tool.name) == name.as_ref()));
        }
        let Some(last) = tools.last().filter(|_| tools.len() > 1) else { continue };
        let closure = set.with_prerequisites([*last]);
        plans += 1;
        size += closure.len();
        whole += usize::from(tools.iter().all(|tool| closure.contains(tool)));
    }
    println!(
        "{whole} of {plans} plans of several steps lie in what their last step needs, {:.1} tools on average",
        size as f64 / plans.max(1) as f64
    );
    Ok(())
}

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.as_slice() {
        [tasks] => questions(&std::fs::read_to_string(tasks)?),
        [tasks, document] => endpoints(&std::fs::read_to_string(tasks)?, &std::fs::read_to_string(document)?),
        _ => Err("TASKS [OPENAPI]".into()),
    }
}
