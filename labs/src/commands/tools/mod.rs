//! `grammata-lab tools eval`: measures how well a model calls tools, with and without an automaton.

mod arithmetic;
mod arms;
mod ask;
mod draws;
mod fault;
mod judge;
mod lenient;
mod numbers;
mod partial;
mod published;
mod python;
mod record;
mod summary;
mod tasks;
#[cfg(test)]
mod tests;
mod trial;

use arms::{OutputOptions, Runner};
use ask::{Asker, EXAMPLES_AT_MOST, Instructions};
use clap::Subcommand;
use fault::Fault;
use grammata::error::{Error, Result};
use grammata_agents::tools::ToolSet;
use grammata_cli::args::model::{ModelSettings, Parts};
use grammata_cli::args::source;
use grammata_cli::cmd::tools::grammar::format;
use grammata_cli::cmd::tools::prompt::LevelName;
use grammata_cli::cmd::tools::{SetArgs, read_options};
use grammata_cli::io::messages::Progress;
use grammata_cli::io::output::{Exit, Failure, Output};
use grammata_decode::{PrefixCache, PromptTokenizer, Sampler, SamplingParams};
use grammata_report::{Journal, Table};
use judge::Judge;
use record::{Arm, Record};
use serde_json::json;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use trial::Trial;

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// How well a model calls tools, with and without an automaton
    Eval(Box<Arguments>),
}

impl Command {
    pub(super) fn run(&self, output: &mut Output) -> Result<Exit, Failure> {
        match self {
            Command::Eval(arguments) => run(arguments, output),
        }
    }
}

/// Each task is done once by each arm, with one prompt. What a model writes is judged by a reader of its own and the crate
/// `jsonschema`, not by the engine.
#[derive(Debug, clap::Args)]
pub(in crate::commands) struct Arguments {
    #[command(flatten)]
    set: SetArgs,
    /// Tasks: JSON or JSON lines of RestBench, of BFCL (its tools are its own, and FILE may be the same), or with `question` and
    /// `tool` or `answer`
    #[arg(long, value_name = "PATH")]
    tasks: PathBuf,
    /// The folder of an ONNX model, or its file; of a complete journal its name alone is used
    #[arg(long, value_name = "PATH")]
    model: PathBuf,
    /// The call format: react, json, relation, toolken, endpoint, http, restgpt, python
    #[arg(long, value_name = "NAME", default_value = "json")]
    format: String,
    /// How tokens are chosen; may be repeated [default: free, full]
    #[arg(long, value_enum)]
    arm: Vec<Arm>,
    /// Only N tasks, those of the least SHA-256 of their ids
    #[arg(long, value_name = "N")]
    n: Option<usize>,
    /// Only tasks whose ids begin so
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,
    /// The most tokens of a turn
    #[arg(long, value_name = "N", default_value_t = 256)]
    max_tokens: usize,
    /// The most calls of a turn under a grammar, in formats with several
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    max_calls: u32,
    /// `free` and `free+retry` write to the model's end, not to a blank line (react: `Observation`), for the lenient reader
    #[arg(long)]
    to_end: bool,
    /// Tokens are drawn at this temperature; 0 takes the most probable one
    #[arg(long, value_name = "T", default_value_t = 0.0)]
    temperature: f64,
    /// With a temperature: outputs of a task and arm, of the seeds 0 to N-1
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=1000))]
    seeds: u64,
    /// The description of the tools in the prompt [default: nothing]
    #[arg(long, value_enum)]
    level: Option<LevelName>,
    /// Worked examples of the call format in the prompt, of tools that are in no set
    #[arg(long, value_name = "N", default_value_t = EXAMPLES_AT_MOST as u8, value_parser = clap::value_parser!(u8).range(0..=EXAMPLES_AT_MOST as i64))]
    examples: u8,
    /// Keep each output in this file as a JSON line, and go on where it ends
    #[arg(long, value_name = "FILE")]
    journal: Option<PathBuf>,
    /// Write a report: Markdown, or HTML if the name ends in `.html`; may be repeated
    #[arg(long, value_name = "FILE")]
    report: Vec<PathBuf>,
    #[command(flatten)]
    model_settings: ModelSettings,
}

pub(super) fn run(arguments: &Arguments, output: &mut Output) -> Result<Exit, Failure> {
    let limits = arguments.set.limits.get();
    let format = format(&arguments.format, &limits)?;
    let arms = match arguments.arm.as_slice() {
        [] => vec![Arm::Free, Arm::Full],
        arms => arms.to_vec(),
    };
    if let Some(arm) = arms.iter().find(|arm| !arm.writes(&arguments.format)) {
        return Err(crate::commands::errors::no_arm(arm.name(), &arguments.format).into());
    }
    let seeds = seeds(arguments)?;
    let set: Rc<ToolSet> = Rc::new(arguments.set.load()?.set);
    let text = source::text(&arguments.tasks, &limits)?;
    let all = tasks::read(&text, &set, &read_options(&arguments.set))?;
    let is_chosen = |id: &str| arguments.only.as_ref().is_none_or(|start| id.starts_with(start.as_str()));
    let chosen = all.into_iter().filter(|task| is_chosen(&task.id)).collect();
    let tasks = tasks::sampled(chosen, arguments.n);

    let level_name = arguments.level.map(|level| format!("{level:?}").to_lowercase());
    let mut settings = json!({
        "model": source::name_of(&arguments.model), "tasks": arguments.tasks.file_name().map(|name| name.to_string_lossy()),
        "format": arguments.format, "level": level_name, "max_tokens": arguments.max_tokens, "temperature": if seeds == [None] { json!(0) } else { json!(arguments.temperature) },
    });
    // journals from before these options have their defaults
    if usize::from(arguments.examples) != EXAMPLES_AT_MOST {
        settings["examples"] = json!(arguments.examples);
    }
    if arguments.max_calls != 1 {
        settings["max_calls"] = json!(arguments.max_calls);
    }
    if arguments.to_end {
        settings["to_end"] = json!(true);
    }
    let mut journal = match &arguments.journal {
        Some(path) => Some(Journal::<Record>::open(path, &settings)?),
        None => None,
    };
    let judge = Judge { format: &format, format_name: &arguments.format };
    let trials = trial::all(&tasks, &arms, &seeds);
    let mut records = match journal.as_ref().and_then(|journal| kept(journal, &trials)) {
        Some(records) => records,
        None => generated(arguments, judge, &trials, journal.as_mut())?,
    };
    for (record, trial) in records.iter_mut().zip(&trials) {
        record.lenient = judge.leniently(trial.task, record);
        record.has_path = judge.has_path(trial.task, record);
    }
    let of_arms = summary::of_arms(&arms, &records, seeds.len());
    if seeds != [None] {
        // not in the journal's settings, because a journal may be continued with more seeds
        settings["seeds"] = json!(seeds.len());
    }
    for path in &arguments.report {
        write_report(path, &summary::report("Calls of tools", &settings, &of_arms))?;
    }
    if output.is_json() {
        output.report(&summary::to_json(&settings, &of_arms))?;
        return Ok(Exit::Done);
    }
    for table in [summary::table(&of_arms), summary::faults(&of_arms), summary::pairs(&of_arms)] {
        show(&table, output)?;
    }
    Ok(Exit::Done)
}

/// Returns the seeds of each task and arm. A greedy run has no seed.
fn seeds(arguments: &Arguments) -> Result<Vec<Option<u64>>> {
    let temperature = arguments.temperature as f32;
    Sampler::new(SamplingParams::default().temperature(temperature))?;
    match (temperature > 0.0, arguments.seeds) {
        (true, count) => Ok((0..count).map(Some).collect()),
        (false, 1) => Ok(vec![None]),
        (false, count) => Err(crate::commands::errors::seeds_alike(count)),
    }
}

/// Returns the records of all trials, if the journal has all of them.
fn kept(journal: &Journal<Record>, trials: &[Trial<'_>]) -> Option<Vec<Record>> {
    trials.iter().map(|trial| journal.get(&trial.id()).cloned()).collect()
}

/// Returns the records of trials. The model runs those that are not in the journal.
fn generated(
    arguments: &Arguments,
    judge: Judge<'_>,
    trials: &[Trial<'_>],
    mut journal: Option<&mut Journal<Record>>,
) -> Result<Vec<Record>> {
    let limits = arguments.set.limits.get();
    let parts = Parts::find(&arguments.model, &arguments.model_settings, &limits)?;
    let tokenizer = PromptTokenizer::from_file(&parts.tokenizer, &limits)?;
    let vocabulary = Arc::new(parts.vocabulary(&arguments.model_settings, &tokenizer, &limits)?.vocabulary);
    let instructions = Instructions {
        format: judge.format,
        format_name: judge.format_name,
        level: arguments.level.map(Into::into),
        examples: arguments.examples.into(),
    };
    let asker = Asker { tokenizer: &tokenizer, template: parts.template.as_ref(), instructions };
    let mut loaded = parts.load(&arguments.model_settings)?;
    let mut model = PrefixCache::new(&mut loaded);
    let options = OutputOptions {
        max_tokens: arguments.max_tokens,
        max_calls: arguments.max_calls,
        temperature: arguments.temperature as f32,
        to_end: arguments.to_end,
    };
    let mut runner = Runner::new(vocabulary, judge, options);
    let mut prompt = Vec::new();
    let mut records: Vec<Record> = Vec::new();
    let progress = Progress::with_total("writing outputs", trials.len() as u64);
    for (at, trial) in trials.iter().enumerate() {
        if at == 0 || !std::ptr::eq(trials[at - 1].task, trial.task) {
            prompt = asker.prompt(trial.task)?;
        }
        let again = |text: &str, fault: Fault| asker.again(trial.task, text, fault);
        let mut one = || runner.run(trial, &prompt, &again, &mut model);
        records.push(match &mut journal {
            Some(journal) => journal.get_or_run(&trial.id(), one)?.clone(),
            None => one()?,
        });
        progress.advance();
    }
    Ok(records)
}

fn write_report(path: &Path, report: &grammata_report::Report) -> Result<()> {
    let is_html = path.extension().is_some_and(|extension| extension == "html");
    let text = if is_html { report.to_html() } else { report.to_markdown() };
    std::fs::write(path, text).map_err(|cause| Error::io(path, &cause))
}

fn show(table: &Table, output: &mut Output) -> std::io::Result<()> {
    for row in std::iter::once(&table.columns).chain(&table.rows) {
        writeln!(output, "{}", row.join("  "))?;
    }
    writeln!(output)
}
