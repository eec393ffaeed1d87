//! The ways to generate that are compared.

use super::arithmetic;
use super::judge::{self, Fault, Judged};
use super::partial;
use super::published::Published;
use super::tasks::{Gold, Task};
use crate::cli::errors;
use crate::cli::tools::exact::most_probable;
use crate::decode::{
    Constraint, Decoder, Event, Feed, FinishReason, Generation, GenerationOptions, Model, Rows,
    SamplingParams,
};
use crate::error::Result;
use crate::mask::{CompiledGrammar, Compiler};
use crate::tools::session::{CompiledTools, Session, Subset, ToolCompiler, TurnOptions};
use crate::tools::{CallFormat, Choice, GrammarOptions, ToolSet};
use crate::vocabulary::Vocabulary;
use clap::ValueEnum;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

/// A way to generate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Arm {
    /// The model alone
    Free,
    /// The model alone, asked again with what was wrong, up to three times in all
    #[value(name = "free+retry")]
    #[serde(rename = "free+retry")]
    FreeRetry,
    /// The published algorithm of ToolDec, rebuilt (react only)
    Published,
    /// The automaton up to the end of the tool's name, then the model alone
    Name,
    /// The automaton of a call grammar in which values are of any type
    Structure,
    /// The automaton of the call grammar
    Full,
    /// The same with the most probable name of all
    #[value(name = "full+exact")]
    #[serde(rename = "full+exact")]
    FullExact,
}

/// Outputs that the arm of retries asks for, at most.
const TRIES: usize = 3;

impl Arm {
    pub(super) fn name(self) -> &'static str {
        match self {
            Arm::Free => "free",
            Arm::FreeRetry => "free+retry",
            Arm::Published => "published",
            Arm::Name => "name",
            Arm::Structure => "structure",
            Arm::Full => "full",
            Arm::FullExact => "full+exact",
        }
    }

    /// Whether it writes turns of a format.
    pub(super) fn writes(self, format: &str) -> bool {
        match self {
            Arm::Free | Arm::Full => true,
            Arm::FreeRetry => format != "toolken",
            Arm::Published => format == "react",
            // values have types
            Arm::Structure => ["json", "react", "python"].contains(&format),
            // a name is known before the arguments come
            Arm::Name | Arm::FullExact => ["json", "react"].contains(&format),
        }
    }
}

/// What is kept of an output.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Record {
    pub(super) arm: Arm,
    pub(super) text: String,
    pub(super) fault: Option<Fault>,
    /// The call, if nothing is wrong with it.
    pub(super) tool: Option<String>,
    pub(super) arguments: Value,
    pub(super) right: bool,
    pub(super) tokens: usize,
    /// Runs of the model, the prompt's among them.
    pub(super) model_calls: usize,
    pub(super) forced_tokens: usize,
    pub(super) mask_ms: f64,
    pub(super) time_ms: f64,
}

/// What a grammar says of the values of arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Values {
    Typed,
    Any,
}

/// How one output is made.
struct Output {
    constraint: Option<Box<dyn Constraint>>,
    /// Whether it is a word of the constraint within the limit of tokens.
    is_whole: bool,
    stop: Vec<String>,
}

impl Output {
    fn free(constraint: Option<Box<dyn Constraint>>, stop: Vec<String>) -> Output {
        Output { constraint, is_whole: false, stop }
    }

    fn whole(constraint: Box<dyn Constraint>) -> Output {
        Output { constraint: Some(constraint), is_whole: true, stop: Vec::new() }
    }
}

/// What outputs are made with.
pub(super) struct Runner<'a> {
    pub(super) vocabulary: Arc<Vocabulary>,
    pub(super) format: &'a CallFormat,
    pub(super) format_name: &'a str,
    pub(super) max_tokens: usize,
    /// Grammars of the sets so far, by their address.
    compiled: FxHashMap<(usize, Values), CompiledGrammar>,
    /// The same with their names first.
    turns: FxHashMap<usize, CompiledTools>,
    kept: Vec<Rc<ToolSet>>,
    /// Turns of a task in which the host computes.
    max_turns: usize,
}

impl<'a> Runner<'a> {
    pub(super) fn new(
        vocabulary: Arc<Vocabulary>,
        format: &'a CallFormat,
        format_name: &'a str,
        max_tokens: usize,
    ) -> Runner<'a> {
        Runner {
            vocabulary,
            format,
            format_name,
            max_tokens,
            compiled: FxHashMap::default(),
            turns: FxHashMap::default(),
            kept: Vec::new(),
            max_turns: 6,
        }
    }

    fn grammar(&mut self, set: &Rc<ToolSet>, values: Values) -> Result<CompiledGrammar> {
        let key = (Rc::as_ptr(set) as usize, values);
        if let Some(known) = self.compiled.get(&key) {
            return Ok(known.clone());
        }
        let choice = if self.format_name == "toolken" { Choice::Auto } else { Choice::Required };
        let options = GrammarOptions { choice, ..GrammarOptions::default() };
        let made = match values {
            Values::Typed => self.format.grammar(set, &options)?,
            Values::Any => self.format.grammar(&partial::without_types(set)?, &options)?,
        };
        let compiled = Compiler::new(Arc::clone(&self.vocabulary)).compile(&made.grammar)?;
        self.compiled.insert(key, compiled.clone());
        // so that no other set gets the address
        self.kept.push(Rc::clone(set));
        Ok(compiled)
    }

    fn tools(&mut self, set: &Rc<ToolSet>) -> Result<CompiledTools> {
        let key = Rc::as_ptr(set) as usize;
        if let Some(known) = self.turns.get(&key) {
            return Ok(known.clone());
        }
        let compiler = ToolCompiler::new(Compiler::new(Arc::clone(&self.vocabulary)));
        let set_of_turns = Arc::new((**set).clone());
        let made = compiler.compile(set_of_turns, self.format.clone(), &GrammarOptions::default())?;
        self.turns.insert(key, made.clone());
        self.kept.push(Rc::clone(set));
        Ok(made)
    }

    fn encode(&self, text: &str) -> Vec<u32> {
        self.vocabulary.encode_greedy(text.as_bytes()).into_iter().flatten().map(|id| id.get()).collect()
    }

    fn options(&self, stop: Vec<String>, is_complete: bool) -> GenerationOptions {
        GenerationOptions {
            max_tokens: self.max_tokens,
            complete: is_complete,
            sampling: SamplingParams::greedy(),
            end_tokens: self.vocabulary.eos().iter().map(|id| id.get()).collect(),
            stop,
            ..GenerationOptions::default()
        }
    }

    /// Generates one output of a task and judges it. `again` gives the prompt after an output that has a fault.
    ///
    /// # Errors
    /// What the model or the engine reports.
    pub(super) fn run(
        &mut self,
        arm: Arm,
        task: &Task,
        prompt: &[u32],
        again: &dyn Fn(&str, Fault) -> Result<Vec<u32>>,
        model: &mut dyn Model,
    ) -> Result<Record> {
        let mut record = self.one(arm, task, prompt, model)?;
        let tries = if arm == Arm::FreeRetry { TRIES } else { 1 };
        for _ in 1..tries {
            let Some(fault) = record.fault else { break };
            let next = self.one(arm, task, &again(&record.text, fault)?, model)?;
            record = Record {
                tokens: record.tokens + next.tokens,
                model_calls: record.model_calls + next.model_calls,
                time_ms: record.time_ms + next.time_ms,
                ..next
            };
        }
        Ok(record)
    }

    fn one(&mut self, arm: Arm, task: &Task, prompt: &[u32], model: &mut dyn Model) -> Result<Record> {
        if self.format_name == "toolken" {
            return self.numbers(arm, task, prompt, model);
        }
        let start = Instant::now();
        // all arms go on from what a turn begins with
        let lead = self.format.lead();
        let mut prompt = prompt.to_vec();
        prompt.extend(self.encode(lead));
        let prompt = prompt.as_slice();
        let (generation, is_exception) = match arm {
            Arm::Published => self.published(task, prompt, model)?,
            Arm::Free | Arm::FreeRetry => {
                (self.generate(Output::free(None, self.stop()), prompt, model)?, false)
            }
            Arm::Name => {
                let mut session = Session::new(&self.tools(&task.tools)?, calling(None))?;
                session.accept_bytes(lead.as_bytes())?;
                let part = partial::UpToName::new(session, Arc::clone(&self.vocabulary));
                (self.generate(Output::free(Some(Box::new(part)), self.stop()), prompt, model)?, false)
            }
            Arm::Structure | Arm::Full => {
                let values = if arm == Arm::Full { Values::Typed } else { Values::Any };
                let mut matcher = self.grammar(&task.tools, values)?.matcher();
                matcher.accept_bytes(lead.as_bytes())?;
                (self.generate(Output::whole(Box::new(matcher)), prompt, model)?, false)
            }
            Arm::FullExact => (self.exact(task, prompt, lead, model)?, false),
        };
        // what a model writes around a turn, as after it, is no fault of the arm without a mask
        let text = format!("{lead}{}", generation.text).trim().to_owned();
        let judged = if is_exception {
            Err(Fault::Exception)
        } else if matches!(
            generation.finish,
            FinishReason::TokenLimit { .. } | FinishReason::ContextLimit { .. }
        ) && self.judge(&text, &task.tools).is_err()
        {
            Err(Fault::Cut)
        } else {
            self.judge(&text, &task.tools)
        };
        Ok(record(arm, task, text, judged, &generation, start))
    }

    fn judge(&self, text: &str, set: &ToolSet) -> std::result::Result<Judged, Fault> {
        match self.format_name {
            "react" => judge::react(text, set),
            "json" => judge::json(text, set),
            "relation" => judge::name(text, set),
            _ => {
                let turn = self.format.read(text, set).map_err(|_| Fault::Format)?;
                let call = turn.calls.first().ok_or(Fault::Format)?;
                if self.format_name == "endpoint" {
                    return Ok(Judged { tool: call.tool.clone(), arguments: json!({}) });
                }
                judge::validated(Value::Object(call.arguments.clone()), &call.tool, set)
            }
        }
    }

    /// What ends an output that no grammar ends.
    fn stop(&self) -> Vec<String> {
        let stop = if self.format_name == "react" { "\nObservation" } else { "\n\n" };
        vec![stop.to_owned()]
    }

    /// A turn whose first call is of the tool with the most probable name where it begins. What a turn has before it is written by the
    /// model under the grammar.
    fn exact(
        &mut self,
        task: &Task,
        prompt: &[u32],
        lead: &str,
        model: &mut dyn Model,
    ) -> Result<Generation> {
        let tools = self.tools(&task.tools)?;
        let mut turn = tools.turn(&calling(None))?;
        let refused = || errors::no_arm(Arm::FullExact.name(), self.format_name);
        let beginning = turn.clone().begin_call()?.ok_or_else(refused)?;
        let marker = String::from_utf8_lossy(beginning.strip_prefix(lead.as_bytes()).unwrap_or(&beginning));
        let marker = marker.into_owned();
        turn.accept_bytes(lead.as_bytes())?;
        let (mut context, mut before) = (prompt.to_vec(), String::new());
        let mut text_before = None;
        if !lead.is_empty() {
            let stop = vec![marker.clone()];
            let output = Output { stop, ..Output::whole(Box::new(turn)) };
            let text = self.generate(output, prompt, model)?;
            if !matches!(text.finish, FinishReason::StopString { .. }) {
                return Ok(text);
            }
            context.extend(self.encode(&text.text));
            before.push_str(&text.text);
            text_before = Some(text);
        }
        let names: Vec<String> = tools.names(tools.all()).map(str::to_owned).collect();
        let encode = |text: &str| Ok(self.encode(text));
        let (best, runs) = most_probable(&tools, marker.as_bytes(), &names, encode, &context, model)?;
        let mut turn = tools.turn(&calling(Some(tools.subset([best.as_str()])?)))?;
        before.push_str(&marker);
        turn.accept_bytes(format!("{lead}{before}").as_bytes())?;
        context.extend(self.encode(&marker));
        let mut made = self.generate(Output::whole(Box::new(turn)), &context, model)?;
        made.text.insert_str(0, &before);
        made.timings.model_steps += runs;
        if let Some(first) = text_before {
            // its prompt is another run of the model
            made.timings.model_steps += first.timings.model_steps + 1;
            made.timings.forced_tokens += first.timings.forced_tokens;
            made.timings.mask += first.timings.mask;
            made.tokens.splice(0..0, first.tokens);
        }
        Ok(made)
    }

    fn generate(&self, output: Output, prompt: &[u32], model: &mut dyn Model) -> Result<Generation> {
        let options = self.options(output.stop, output.is_whole);
        let mut decoder = Decoder::new(model, &*self.vocabulary, output.constraint, prompt, &options)?;
        loop {
            match decoder.next(model) {
                Ok(Event::Finished(_)) => return Ok(decoder.close(model)),
                Ok(_) => {}
                Err(error) => {
                    decoder.close(model);
                    return Err(error);
                }
            }
        }
    }

    /// The loop of the published decoder; whether its parser had no case for the schema.
    fn published(&self, task: &Task, prompt: &[u32], model: &mut dyn Model) -> Result<(Generation, bool)> {
        let tools = task.tools.callable().map(|tool| (tool.name.clone(), tool.arguments.value()));
        let mut published = Published::new(&self.vocabulary, tools);
        let sequence = model.open()?;
        let mut tokens: Vec<u32> = Vec::new();
        let mut pending = prompt.to_vec();
        let mut finish = FinishReason::EndOfSequence;
        let mut steps = 0;
        let mut buffer = Vec::new();
        let outcome = loop {
            if tokens.len() >= self.max_tokens {
                finish = FinishReason::TokenLimit {
                    limit: self.max_tokens,
                    status: crate::decode::OutputStatus::Unconstrained,
                };
                break Ok(());
            }
            let fed = model.feed(&[Feed { sequence, tokens: &pending, rows: Rows::Last }]);
            let chosen = fed.and_then(|logits| Ok(published.choose(logits.row(0, &mut buffer)?)));
            steps += 1;
            let chosen = match chosen {
                Ok(chosen) => chosen,
                Err(error) => break Err(error),
            };
            let Some(token) =
                chosen.filter(|token| !self.vocabulary.is_eos(crate::vocabulary::TokenId::new(*token)))
            else {
                break Ok(());
            };
            if published.is_exception {
                break Ok(());
            }
            published.accept(token);
            tokens.push(token);
            pending = vec![token];
        };
        model.close(sequence);
        outcome?;
        let bytes: Vec<u8> = tokens
            .iter()
            .flat_map(|token| {
                self.vocabulary.bytes(crate::vocabulary::TokenId::new(*token)).unwrap_or_default().to_vec()
            })
            .collect();
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let timings = crate::decode::Timings {
            model_steps: steps,
            tokens: tokens.len(),
            ..crate::decode::Timings::default()
        };
        Ok((
            Generation { text, tokens, log_probabilities: Vec::new(), finish, timings },
            published.is_exception,
        ))
    }

    /// Text with calls whose results are computed and written after them.
    fn numbers(&mut self, arm: Arm, task: &Task, prompt: &[u32], model: &mut dyn Model) -> Result<Record> {
        let start = Instant::now();
        let mut so_far = String::new();
        let mut context = prompt.to_vec();
        let (mut tokens, mut calls, mut forced, mut mask_ms) = (0, 0, 0, 0.0);
        let mut fault = None;
        for _ in 0..self.max_turns {
            let output = match arm {
                Arm::Full => Output::whole(Box::new(self.grammar(&task.tools, Values::Typed)?.matcher())),
                _ => Output::free(None, vec![")".to_owned(), "\n".to_owned()]),
            };
            let generation = self.generate(output, &context, model)?;
            let timings = &generation.timings;
            tokens += generation.tokens.len();
            calls += timings.model_steps + 1;
            forced += timings.forced_tokens;
            mask_ms += timings.mask.as_secs_f64() * 1e3;
            let mut text = generation.text.clone();
            // a word of the grammar is whole, though a longer one might have followed
            let is_cut = !generation.finish.is_complete();
            if matches!(&generation.finish, FinishReason::StopString { stop, .. } if stop == ")") {
                text.push(')');
            }
            so_far.push_str(&text);
            context.extend(self.encode(&text));
            match called(&text, &task.tools) {
                Some(Ok(result)) => {
                    let result = format!("={}", arithmetic::shown(result));
                    so_far.push_str(&result);
                    context.extend(self.encode(&result));
                }
                Some(Err(found)) => {
                    fault = found;
                    break;
                }
                None if is_cut => {
                    fault = Some(Fault::Cut);
                    break;
                }
                None if text.ends_with(')') => {}
                None => break,
            }
        }
        let answer = so_far.split("####").nth(1).map_or(so_far.as_str(), |answer| answer);
        let number = last_number(answer);
        let right = match (&task.gold, number, fault) {
            (Gold::Number(gold), Some(number), None) => (number - gold).abs() <= gold.abs() * 1e-3,
            _ => false,
        };
        Ok(Record {
            arm,
            text: so_far,
            fault,
            tool: None,
            arguments: json!(number),
            right,
            tokens,
            model_calls: calls,
            forced_tokens: forced,
            mask_ms,
            time_ms: start.elapsed().as_secs_f64() * 1e3,
        })
    }
}

/// The result of the call that a text ends with; `None` without one. An error without a fault is one of the numbers, as a division by
/// zero.
fn called(text: &str, set: &ToolSet) -> Option<std::result::Result<f64, Option<Fault>>> {
    let call = text.strip_suffix(')')?;
    let (_, call) = call.rsplit_once('<')?;
    let Some((name, numbers)) = call.split_once(">(") else { return Some(Err(Some(Fault::Format))) };
    let Some(tool) = set.tool(name) else { return Some(Err(Some(Fault::Name))) };
    let parsed: std::result::Result<Vec<f64>, _> =
        numbers.split(',').map(|number| number.trim().parse::<f64>()).collect();
    let Ok(parsed) = parsed else { return Some(Err(Some(Fault::Type))) };
    let arguments = tool.arguments.value();
    let properties = arguments["properties"].as_object()?;
    let required = arguments["required"].as_array().map_or(0, Vec::len);
    let items = properties.values().next_back().filter(|last| last["type"] == "array");
    let (least, most) = match items {
        Some(items) => (items["minItems"].as_u64().unwrap_or(1) as usize, usize::MAX),
        None => (required, properties.len()),
    };
    if parsed.len() < least {
        return Some(Err(Some(Fault::Missing)));
    }
    if parsed.len() > most {
        return Some(Err(Some(Fault::Undeclared)));
    }
    let is_whole =
        properties.values().any(|schema| schema["type"] == "integer" || schema["items"]["type"] == "integer");
    if is_whole && numbers.contains('.') {
        return Some(Err(Some(Fault::Type)));
    }
    Some(arithmetic::compute(name, &parsed).ok_or(None))
}

fn last_number(text: &str) -> Option<f64> {
    let digits = |c: char| c.is_ascii_digit() || c == '.' || c == '-';
    let words = text.split(|c: char| !digits(c)).filter(|word| word.contains(|c: char| c.is_ascii_digit()));
    words.filter_map(|word| word.trim_matches('.').parse::<f64>().ok()).next_back()
}

/// A turn that calls one tool, of a subset if there is one.
fn calling(subset: Option<Subset>) -> TurnOptions {
    TurnOptions { choice: Choice::Required, subset, ..TurnOptions::default() }
}

fn record(
    arm: Arm,
    task: &Task,
    text: String,
    judged: std::result::Result<Judged, Fault>,
    generation: &Generation,
    start: Instant,
) -> Record {
    let timings = &generation.timings;
    let (fault, tool, arguments) = match judged {
        Ok(call) => (None, Some(call.tool), call.arguments),
        Err(fault) => (Some(fault), None, Value::Null),
    };
    let right = tool.as_ref().is_some_and(|tool| task.gold.is_met(&task.tools, tool, &arguments));
    Record {
        arm,
        text,
        fault,
        right,
        tool,
        arguments,
        tokens: generation.tokens.len(),
        model_calls: timings.model_steps + usize::from(arm != Arm::Published),
        forced_tokens: timings.forced_tokens,
        mask_ms: timings.mask.as_secs_f64() * 1e3,
        time_ms: start.elapsed().as_secs_f64() * 1e3,
    }
}
