//! Many tools: `cargo run --profile quick --example tools_scale -- TOKENIZER DOCUMENT... COUNT... [--different]`
//!
//! Takes COUNT tools from the documents. If they have fewer, copies of the tools get other names. With `--different`,
//! the copies also get other schemas, each of which is then checked and stored separately. Measures on one thread, as
//! the median of five: reading; compiling; masks before, within and after a name; a subset of 20 tools (first with
//! names that are not in the machine's caches, then the same again); memory. Durations over 20 ms are CPU time on
//! Linux, so that other programs do not count.
#![allow(clippy::print_stdout)] // an example prints its results

use grammata::vocabulary::Vocabulary;
use grammata::{Compiler, Limits};
use grammata_agents::tools::session::{ToolCompiler, TurnMatcher, TurnOptions};
use grammata_agents::tools::{
    CallFormat, Choice, Document, GrammarOptions, ReadOptions, Tool, ToolSet, read,
};
use serde_json::json;
use std::sync::Arc;
use std::time::Instant;

type Failure = Box<dyn std::error::Error>;

const RUNS: usize = 5;

/// Returns the resident memory in bytes (Linux; 0 elsewhere).
fn resident() -> usize {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    text.split(' ').nth(1).and_then(|pages| pages.parse::<usize>().ok()).unwrap_or(0) * 4_096
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// Returns the CPU time of this thread in microseconds, which advances in steps of some milliseconds (Linux; 0
/// elsewhere).
fn on_processor() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    text.split(' ').next().and_then(|nanoseconds| nanoseconds.parse::<f64>().ok()).unwrap_or(0.0) / 1e3
}

/// From this many microseconds on, CPU time is exact enough.
const LONG: f64 = 20_000.0;

/// Runs a piece of work. Returns its result and its time in microseconds: CPU time if it took longer than [`LONG`],
/// otherwise elapsed time.
fn timed<R>(work: impl FnOnce() -> grammata::Result<R>) -> grammata::Result<(R, f64)> {
    let (busy, start) = (on_processor(), Instant::now());
    let made = work()?;
    let (elapsed, busy) = (start.elapsed().as_secs_f64() * 1e6, on_processor() - busy);
    Ok((made, if elapsed > LONG && busy > 0.0 { busy } else { elapsed }))
}

/// Returns a document of `count` tools: those of the documents, then copies under labels. With `different`, no two
/// copies have the same schema.
fn document(tools: &[Tool], count: usize, different: bool) -> String {
    let list = (0..count).map(|index| {
        let tool = &tools[index % tools.len()];
        let name = match index / tools.len() {
            0 => tool.name.clone(),
            copy => format!("s{copy:03}__{}", tool.name),
        };
        let mut schema = tool.arguments.value();
        if different {
            schema["description"] = format!("the arguments of {name}").into();
        }
        json!({"name": name, "description": tool.description, "inputSchema": schema})
    });
    json!({"tools": list.collect::<Vec<_>>()}).to_string()
}

#[derive(Default)]
struct Row {
    compile: Vec<f64>,
    before: Vec<f64>,
    first: Vec<f64>,
    warm: Vec<f64>,
    lowering: Vec<f64>,
    arguments: Vec<f64>,
    subset: Vec<f64>,
    subset_again: Vec<f64>,
    turn: Vec<f64>,
    subset_mask: Vec<f64>,
}

fn measure(set: &Arc<ToolSet>, compiler: &Compiler, row: &mut Row) -> grammata::Result<(usize, usize)> {
    let format = CallFormat::named("hermes").unwrap_or_else(|| unreachable!("a preset"));
    // a compiler without the results of other runs
    let tools = ToolCompiler::new(compiler.detached());
    let before = resident();
    let (compiled, compile) = timed(|| tools.compile(Arc::clone(set), format, &GrammarOptions::default()))?;
    let memory = resident().saturating_sub(before);
    let options = TurnOptions { choice: Choice::Required, ..TurnOptions::default() };
    let ((mut turn, _), first) = timed(|| {
        let mut turn = compiled.turn(&options)?;
        let mask = turn.mask()?;
        Ok((turn, mask))
    })?;
    row.compile.push(compile);
    row.before.push(first);
    turn.accept_bytes(b"<tool_call>\n{\"name\": \"")?;
    row.first.push(timed(|| turn.mask())?.1);
    row.warm.push(timed(|| turn.mask())?.1);
    let names: Vec<&str> = compiled.names(compiled.all()).collect();
    let name = names[names.len() / 2];
    let call = |turn: &mut TurnMatcher| -> grammata::Result<()> {
        turn.accept_bytes(&serde_json::Value::from(name).to_string().as_bytes()[1..])?;
        turn.mask().map(|_| ())
    };
    row.lowering.push(timed(|| call(&mut turn))?.1);
    turn.accept_bytes(b", \"arguments\": {")?;
    row.arguments.push(timed(|| turn.mask())?.1);
    // the names are new strings, as in a request
    let some: Vec<String> = (0..20).map(|n| names[n * names.len() / 20].to_owned()).collect();
    let (subset, time) = timed(|| compiled.subset(some.iter().map(String::as_str)))?;
    row.subset.push(time);
    row.subset_again.push(timed(|| compiled.subset(some.iter().map(String::as_str)))?.1);
    let options = TurnOptions { subset: Some(subset), ..options };
    let (mut turn, time) = timed(|| compiled.turn(&options))?;
    row.turn.push(time);
    turn.accept_bytes(b"<tool_call>\n{\"name\": \"")?;
    row.subset_mask.push(timed(|| turn.mask())?.1);
    Ok((memory, compiled.memory_usage() + tools.memory_usage()))
}

/// Returns the microseconds to compile a tool whose argument is one of 5,000 texts, many of which are prefixes of
/// others, to compute the mask where the value begins, and to compute a mask within it.
fn listed(compiler: &Compiler) -> grammata::Result<[f64; 3]> {
    let values: Vec<String> = (0..5_000).map(|number| number.to_string()).collect();
    let schema = json!({"type": "object", "properties": {"x": {"enum": values}}, "required": ["x"]});
    let text = json!([{"name": "t", "inputSchema": schema}]).to_string();
    let set = Arc::new(read([Document { label: "t", text: &text }], &ReadOptions::default())?);
    let format = CallFormat::named("hermes").unwrap_or_else(|| unreachable!("a preset"));
    let mut times: [Vec<f64>; 3] = Default::default();
    for _ in 0..RUNS {
        let tools = ToolCompiler::new(compiler.detached());
        let ((compiled, mut turn), compiling) = timed(|| {
            let compiled = tools.compile(Arc::clone(&set), format.clone(), &GrammarOptions::default())?;
            let mut turn =
                compiled.turn(&TurnOptions { choice: Choice::Required, ..TurnOptions::default() })?;
            turn.accept_bytes(b"<tool_call>\n{\"name\": \"t\", \"arguments\": {\"x\": ")?;
            Ok((compiled, turn))
        })?;
        times[0].push(compiling);
        times[1].push(timed(|| turn.mask())?.1);
        turn.accept_bytes(b"\"4")?;
        times[2].push(timed(|| turn.mask())?.1);
        drop(compiled);
    }
    Ok(times.map(median))
}

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [tokenizer, rest @ ..] = arguments.as_slice() else {
        return Err("TOKENIZER DOCUMENT... COUNT...".into());
    };
    let compiler = Compiler::new(Arc::new(Vocabulary::from_file(tokenizer, &Default::default())?));
    compiler.prepare()?;
    let limits = Limits::default().catalogue_tools(200_000).source_bytes(1 << 30);
    let options = ReadOptions::default().limits(limits);
    let different = rest.iter().any(|text| text == "--different");
    let rest = rest.iter().filter(|text| *text != "--different");
    let (counts, files): (Vec<&String>, Vec<&String>) = rest.partition(|text| text.parse::<usize>().is_ok());
    let mut real: Vec<Tool> = Vec::new();
    for file in files {
        let text = std::fs::read_to_string(file)?;
        let set = read([Document { label: file, text: &text }], &options)?;
        real.extend(set.callable().cloned());
    }
    real.sort_by(|one, other| one.name.cmp(&other.name));
    real.dedup_by(|one, other| one.name == other.name);
    let [compile, first, within] = listed(&compiler)?;
    println!(
        "5,000 listed values: compile {compile:.0}, first mask {first:.1}, within {within:.1} microseconds"
    );
    println!("{} tools in the documents; times in microseconds", real.len());
    println!(
        "tools | read | compile | first mask | name mask | warm | name's end | arguments | subset of 20 | again | its turn | its mask | MB of the set | MB grown | MB counted"
    );
    for count in counts {
        let text = document(&real, count.parse()?, different);
        let before = resident();
        let (set, reading) = timed(|| read([Document { label: "t", text: &text }], &options))?;
        let set = Arc::new(set);
        let of_set = resident().saturating_sub(before);
        let mut row = Row::default();
        let mut memory = Vec::new();
        for _ in 0..RUNS {
            memory.push(measure(&set, &compiler, &mut row)?);
        }
        let (grown, counted) = memory[0];
        let times = [
            row.compile,
            row.before,
            row.first,
            row.warm,
            row.lowering,
            row.arguments,
            row.subset,
            row.subset_again,
            row.turn,
            row.subset_mask,
        ];
        let times: Vec<String> = times.into_iter().map(|times| format!("{:.1}", median(times))).collect();
        println!(
            "{count} | {reading:.0} | {} | {:.1} | {:.1} | {:.1}",
            times.join(" | "),
            of_set as f64 / 1e6,
            grown as f64 / 1e6,
            counted as f64 / 1e6
        );
    }
    Ok(())
}
