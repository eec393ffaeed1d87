//! `grammata generate --prompts`: an output for each line of a file, in batches.

use crate::args::model::Parts;
use crate::args::session::Session;
use crate::args::source::{self, Kind, Origin};
use crate::cmd::generate::Arguments;
use crate::cmd::generation::{self, ExactReport, Verified, check, finish_name, unusable_limit};
use crate::cmd::prompt_errors;
use crate::io::messages::{self, Progress};
use crate::io::output::{Exit, Failure, Output, seconds};
use crate::io::report::DiagnosticReport;
use crate::io::{errors, text};
use clap::ValueEnum;
use grammata::error::{Error, Result};
use grammata::limits::Limits;
use grammata::mask::{CompiledGrammar, Compiler};
use grammata::matcher::Constraint;
use grammata::serve::GrammarCache;
use grammata::syntax::{Notation, json_schema};
use grammata_decode::ort::OrtModel;
use grammata_decode::{
    Generation, GenerationOptions, Message, PromptTokenizer, Request, RequestId, Scheduler, SchedulerOptions,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::{BTreeMap, VecDeque};
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Maximum bytes of the compiled grammars of lines. The grammars for the final checks have another bound of the same
/// size.
const GRAMMAR_BYTES: usize = 256 << 20;

/// A line: a prompt, and values that override the options of the command.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    /// Copied to the record of each output of the line.
    id: Option<Value>,
    prompt: Option<String>,
    messages: Option<Vec<LineMessage>>,
    grammar: Option<LineGrammar>,
    schema: Option<Value>,
    n: Option<u64>,
    max_tokens: Option<usize>,
    temperature: Option<f32>,
    top_k: Option<usize>,
    top_p: Option<f32>,
    min_p: Option<f32>,
    repetition_penalty: Option<f32>,
    seed: Option<u64>,
    stop: Option<Vec<String>>,
    timeout_seconds: Option<f64>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct LineMessage {
    role: String,
    content: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct LineGrammar {
    kind: String,
    text: String,
}

/// An output to generate.
struct Job {
    line: usize,
    sample: u64,
    id: Option<Value>,
    prompt: Arc<[u32]>,
    /// `None` for the grammar of the command.
    grammar: Option<grammata::syntax::Source>,
    compiled: CompiledGrammar,
    options: GenerationOptions,
}

/// An output, or the errors that prevented it.
#[derive(Serialize)]
struct Record<'a> {
    /// The line of the file, from 1.
    line: usize,
    /// Index of the output among those of the line, from 0; null if the line cannot be used.
    sample: Option<u64>,
    id: Option<&'a Value>,
    text: Option<&'a str>,
    tokens: Option<&'a [u32]>,
    /// Has the values of `finish` in the report for one prompt.
    finish: &'static str,
    complete: bool,
    verified: Option<&'static str>,
    log_probability: Option<f64>,
    log_probabilities: Option<&'a [f64]>,
    refused_mass: Option<&'a [f64]>,
    exact: Option<ExactReport>,
    diagnostics: Vec<DiagnosticReport>,
}

/// The report on the whole file.
#[derive(Serialize)]
struct Summary<'a> {
    grammar: &'a Origin,
    tokenizer: &'a str,
    lines: usize,
    written: usize,
    failed: usize,
    output_tokens: usize,
    tokens_per_second: f64,
    total_seconds: f64,
}

/// The shared inputs of all jobs.
struct Setting<'a> {
    arguments: &'a Arguments,
    limits: &'a Limits,
    parts: &'a Parts,
    tokenizer: &'a PromptTokenizer,
    session: &'a Session,
    /// Compiled grammars of lines.
    grammars: GrammarCache,
    /// The same grammars, compiled separately to check outputs.
    checks: GrammarCache,
    /// The grammar of the command, compiled separately to check outputs.
    check: CompiledGrammar,
}

pub(crate) fn run(arguments: &Arguments, path: &Path, output: &mut Output) -> Result<Exit, Failure> {
    let limits = arguments.source.limits.get();
    let parts = Parts::find(&arguments.model, &arguments.model_settings, &limits)?;
    let tokenizer = PromptTokenizer::from_file(&parts.tokenizer, &limits)?;
    let session = generation::session(arguments, &parts, &tokenizer)?;
    let file = source::text(path, &limits)?;
    let compiler = || Compiler::new(Arc::clone(session.compiled.vocabulary())).limits(limits.clone());
    let setting = Setting {
        arguments,
        limits: &limits,
        parts: &parts,
        tokenizer: &tokenizer,
        session: &session,
        grammars: GrammarCache::new(compiler(), GRAMMAR_BYTES),
        checks: GrammarCache::new(compiler(), GRAMMAR_BYTES),
        check: compiler().compile(session.compiled.grammar())?,
    };
    let lines: Vec<(usize, &str)> = file.lines().enumerate().map(|(at, line)| (at + 1, line)).collect();
    let lines: Vec<(usize, &str)> = lines.into_iter().filter(|(_, line)| !line.trim().is_empty()).collect();
    let mut model = parts.load(&arguments.model_settings)?;
    let mut writer = Writer {
        output,
        setting: &setting,
        progress: Progress::with_total("generating", lines.len() as u64),
        left: BTreeMap::new(),
        exit: Exit::Done,
        written: 0,
        failed: 0,
        tokens: 0,
    };
    if writer.output.is_json() {
        writer.output.list("outputs")?;
    }
    let start = Instant::now();
    let count = lines.len();
    generate(&setting, lines, &mut model, &mut writer)?;
    writer.finish(count, start.elapsed())
}

fn generate(
    setting: &Setting<'_>,
    lines: Vec<(usize, &str)>,
    model: &mut OrtModel,
    writer: &mut Writer<'_>,
) -> Result<(), Failure> {
    let batch = usize::try_from(setting.arguments.batch).unwrap_or(usize::MAX);
    let vocabulary = &**setting.session.compiled.vocabulary();
    // the queue is short, so that lines are read only when they are needed
    let options = SchedulerOptions::default().batch(batch).queue(batch);
    let mut scheduler = Scheduler::new(vocabulary, options);
    let (mut lines, mut jobs) = (lines.into_iter(), VecDeque::new());
    let mut running: BTreeMap<RequestId, Job> = BTreeMap::new();
    let ended = loop {
        while scheduler.has_room() {
            if jobs.is_empty() {
                let Some((line, text)) = lines.next() else { break };
                match setting.jobs(line, text) {
                    Ok(of_line) => {
                        writer.left.insert(line, of_line.len());
                        jobs.extend(of_line);
                    }
                    Err((id, error)) => writer.refuse(line, id.as_ref(), &error)?,
                }
                continue;
            }
            let Some(job) = jobs.pop_front() else { break };
            let request = Request::new(job.prompt.to_vec(), setting.constraint(&job), job.options.clone());
            match scheduler.submit(request) {
                Ok(id) => drop(running.insert(id, job)),
                Err(error) => writer.fail(&job, error)?,
            }
        }
        if scheduler.is_empty() {
            break Ok(());
        }
        let ended = scheduler.step(model, &mut |_, _| {});
        let written = ended.into_iter().try_for_each(|ended| match running.remove(&ended.id) {
            Some(job) => writer.write(&job, ended.result),
            None => Ok(()),
        });
        if written.is_err() {
            break written;
        }
    };
    scheduler.close(model);
    ended
}

impl Setting<'_> {
    /// Returns the jobs of a line, or the error of the line, with its id if that could be read.
    fn jobs(&self, line: usize, text: &str) -> std::result::Result<Vec<Job>, (Option<Value>, Error)> {
        let parsed: Line =
            serde_json::from_str(text).map_err(|cause| (None, prompt_errors::prompt_line(line, &cause)))?;
        let id = parsed.id.clone();
        self.jobs_of(line, parsed).map_err(|error| (id, error))
    }

    fn jobs_of(&self, line: usize, parsed: Line) -> Result<Vec<Job>> {
        let count = parsed.n.unwrap_or(self.arguments.n);
        if count == 0 || count > crate::cmd::generate::MOST_OUTPUTS {
            return Err(prompt_errors::prompt_outputs(line, count));
        }
        let prompt: Arc<[u32]> = self.prompt(line, &parsed)?.into();
        let grammar = self.grammar(line, &parsed)?;
        let compiled = match &grammar {
            None => self.session.compiled.clone(),
            Some(source) => self.grammars.get(source)?.compiled.clone(),
        };
        let options = self.options(line, &parsed)?;
        let job = |sample| {
            let mut options = options.clone();
            options.sampling.seed = options.sampling.seed.wrapping_add(sample);
            let (id, prompt, grammar) = (parsed.id.clone(), Arc::clone(&prompt), grammar.clone());
            Job { line, sample, id, prompt, grammar, compiled: compiled.clone(), options }
        };
        Ok((0..count).map(job).collect())
    }

    fn prompt(&self, line: usize, parsed: &Line) -> Result<Vec<u32>> {
        let messages = match (&parsed.prompt, &parsed.messages) {
            (Some(prompt), None) if !self.arguments.chat => return self.tokenizer.encode(prompt, true),
            (Some(prompt), None) => {
                let system = self.arguments.system.as_ref().map(Message::system);
                system.into_iter().chain([Message::user(prompt)]).collect()
            }
            (None, Some(messages)) => {
                let message = |message: &LineMessage| Message::new(&message.role, &message.content);
                messages.iter().map(message).collect::<Vec<_>>()
            }
            (None, None) | (Some(_), Some(_)) => return Err(prompt_errors::prompt_or_messages(line)),
        };
        let template = self.parts.template.as_ref();
        let template = template.ok_or_else(|| errors::no_chat_template(&self.arguments.model))?;
        self.tokenizer.encode(&template.render(&messages, true)?, false)
    }

    fn grammar(&self, line: usize, parsed: &Line) -> Result<Option<grammata::syntax::Source>> {
        let (kind, text) = match (&parsed.grammar, &parsed.schema) {
            (None, None) => return Ok(None),
            (None, Some(schema)) => (Notation::JsonSchema, schema.to_string()),
            (Some(grammar), None) => match Kind::from_str(&grammar.kind, false) {
                Ok(kind) => (kind.0, grammar.text.clone()),
                Err(_) => return Err(prompt_errors::prompt_kind(line, &grammar.kind)),
            },
            (Some(_), Some(_)) => return Err(prompt_errors::prompt_grammars(line)),
        };
        let defaults = json_schema::Options::generation();
        source::of_text(&self.arguments.source, kind, &text, self.limits, defaults).map(Some)
    }

    fn options(&self, line: usize, parsed: &Line) -> Result<GenerationOptions> {
        let mut options = generation::options(self.arguments, self.session);
        let sampling = &mut options.sampling;
        sampling.temperature = parsed.temperature.unwrap_or(sampling.temperature);
        sampling.top_k = parsed.top_k.unwrap_or(sampling.top_k);
        sampling.top_p = parsed.top_p.unwrap_or(sampling.top_p);
        sampling.min_p = parsed.min_p.unwrap_or(sampling.min_p);
        sampling.repetition_penalty = parsed.repetition_penalty.unwrap_or(sampling.repetition_penalty);
        sampling.seed = parsed.seed.unwrap_or(sampling.seed);
        options.max_tokens = parsed.max_tokens.unwrap_or(options.max_tokens);
        if let Some(stop) = &parsed.stop {
            options.stop.clone_from(stop);
        }
        if let Some(limit) = parsed.timeout_seconds {
            let limit =
                Duration::try_from_secs_f64(limit).map_err(|_| prompt_errors::prompt_timeout(line, limit))?;
            options.timeout = Some(limit);
        }
        Ok(options)
    }

    fn constraint(&self, job: &Job) -> Option<Box<dyn Constraint>> {
        (!self.arguments.unconstrained).then(|| Box::new(job.compiled.matcher()) as Box<dyn Constraint>)
    }

    /// Checks an output with separately compiled grammars.
    fn verify(&self, job: &Job, tokens: &[u32]) -> Result<Verified> {
        match &job.grammar {
            None => check(&self.check, tokens),
            Some(source) => check(&self.checks.get(source)?.compiled, tokens),
        }
    }
}

/// Writes and counts records.
struct Writer<'a> {
    output: &'a mut Output,
    setting: &'a Setting<'a>,
    progress: Progress,
    /// For each line, the number of outputs that are still to come.
    left: BTreeMap<usize, usize>,
    exit: Exit,
    written: usize,
    failed: usize,
    tokens: usize,
}

impl Writer<'_> {
    /// Writes the record of an output, or of its error.
    fn write(&mut self, job: &Job, result: Result<Generation>) -> Result<(), Failure> {
        let checked = result.and_then(|generation| {
            let verified = self.setting.verify(job, &generation.tokens)?;
            Ok((generation, verified))
        });
        let (generation, verified) = match checked {
            Ok(checked) => checked,
            Err(error) => return self.fail(job, error),
        };
        self.worsen(match verified {
            _ if !generation.finish.is_complete() => Exit::Cut,
            Verified::Word => Exit::Done,
            Verified::Prefix | Verified::Rejected { .. } => Exit::Rejected,
        });
        self.written += 1;
        self.tokens += generation.tokens.len();
        let scored = self.setting.arguments.logprobs && !generation.log_probabilities.is_empty();
        self.record(&Record {
            line: job.line,
            sample: Some(job.sample),
            id: job.id.as_ref(),
            text: Some(&generation.text),
            tokens: Some(&generation.tokens),
            finish: finish_name(&generation.finish),
            complete: generation.finish.is_complete(),
            verified: Some(verified.name()),
            log_probability: scored.then(|| generation.log_probability()),
            log_probabilities: scored.then_some(&generation.log_probabilities),
            refused_mass: scored.then_some(&generation.refused_mass),
            exact: generation.exact.as_ref().map(ExactReport::new),
            diagnostics: Vec::new(),
        })?;
        self.advance(job.line);
        Ok(())
    }

    /// Writes the record of a failed job.
    fn fail(&mut self, job: &Job, error: Error) -> Result<(), Failure> {
        self.error(job.line, Some(job.sample), job.id.as_ref(), &unusable_limit(error))?;
        self.advance(job.line);
        Ok(())
    }

    /// Writes the record of a line that cannot be used.
    fn refuse(&mut self, line: usize, id: Option<&Value>, error: &Error) -> Result<(), Failure> {
        self.error(line, None, id, error)?;
        self.progress.advance();
        Ok(())
    }

    fn error(
        &mut self,
        line: usize,
        sample: Option<u64>,
        id: Option<&Value>,
        error: &Error,
    ) -> Result<(), Failure> {
        self.failed += 1;
        self.worsen(Exit::of(error));
        let diagnostics = error.diagnostics().map(|one| DiagnosticReport::new("error", one)).collect();
        self.record(&Record {
            line,
            sample,
            id,
            text: None,
            tokens: None,
            finish: "error",
            complete: false,
            verified: None,
            log_probability: None,
            log_probabilities: None,
            refused_mass: None,
            exact: None,
            diagnostics,
        })
    }

    fn record(&mut self, record: &Record<'_>) -> Result<(), Failure> {
        if self.output.is_json() {
            self.output.item(record)?;
        } else {
            let line = serde_json::to_string(record).map_err(std::io::Error::from)?;
            writeln!(self.output, "{line}")?;
        }
        Ok(self.output.flush()?)
    }

    fn advance(&mut self, line: usize) {
        if let Some(left) = self.left.get_mut(&line) {
            *left -= 1;
            if *left == 0 {
                self.left.remove(&line);
                self.progress.advance();
            }
        }
    }

    /// Sets the exit code to `exit` if that is worse than the present one. From best to worst: done, cut, rejected,
    /// limit, unusable.
    fn worsen(&mut self, exit: Exit) {
        let order = [Exit::Done, Exit::Cut, Exit::Rejected, Exit::Limit, Exit::Unusable];
        let rank = |exit: Exit| order.iter().position(|other| *other == exit);
        if rank(exit) > rank(self.exit) {
            self.exit = exit;
        }
    }

    fn finish(self, lines: usize, time: Duration) -> Result<Exit, Failure> {
        self.progress.finish();
        let rate = self.tokens as f64 / time.as_secs_f64().max(f64::MIN_POSITIVE);
        let Writer { output, setting, written, failed, tokens, .. } = self;
        if output.is_json() {
            output.report(&Summary {
                grammar: &setting.session.origin,
                tokenizer: &setting.session.vocabulary_name,
                lines,
                written,
                failed,
                output_tokens: tokens,
                tokens_per_second: rate,
                total_seconds: seconds(time),
            })?;
        }
        messages::plain(&format!(
            "{} from {}, {failed} failed; {} in {time:.2?}, {rate:.1} tokens/s",
            text::counted(written, "output"),
            text::counted(lines, "line"),
            text::counted(tokens, "token"),
        ));
        Ok(self.exit)
    }
}
