//! The methods of generation that are compared.

use super::draws::Draws;
use super::fault::{Fault, Judged};
use super::judge::Judge;
use super::partial;
use super::published::Published;
use super::record::{Arm, Record};
use super::tasks::Task;
use super::trial::Trial;
use grammata::error::Result;
use grammata::mask::{CompiledGrammar, Compiler};
use grammata::matcher::Constraint;
use grammata::vocabulary::Vocabulary;
use grammata_agents::tools::session::{CompiledTools, Session, Subset, ToolCompiler, TurnOptions};
use grammata_agents::tools::{Choice, GrammarOptions, ToolSet};
use grammata_cli::cmd::tools::exact::{Spelled, most_probable, spelled};
use grammata_decode::{Decoder, Event, FinishReason, Generation, GenerationOptions, Model};
use rustc_hash::FxHashMap;
use serde_json::Value;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

/// The most outputs that the arm with retries requests.
const TRIES: usize = 3;

/// How a grammar restricts the values of arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Values {
    Typed,
    Any,
}

/// How one output is generated.
pub(super) struct Output {
    constraint: Option<Box<dyn Constraint>>,
    /// Whether the output must be a word of the constraint within the token limit.
    is_whole: bool,
    stop: Vec<String>,
}

impl Output {
    pub(super) fn free(constraint: Option<Box<dyn Constraint>>, stop: Vec<String>) -> Output {
        Output { constraint, is_whole: false, stop }
    }

    pub(super) fn whole(constraint: Box<dyn Constraint>) -> Output {
        Output { constraint: Some(constraint), is_whole: true, stop: Vec::new() }
    }
}

/// Settings for all outputs.
#[derive(Clone, Copy, Debug)]
pub(super) struct OutputOptions {
    /// The most tokens of an output.
    pub(super) max_tokens: usize,
    /// The most calls of a turn under a grammar.
    pub(super) max_calls: u32,
    /// 0 is greedy.
    pub(super) temperature: f32,
    /// Whether outputs of the arms without any grammar continue to the model's end instead of a stop string.
    pub(super) to_end: bool,
}

/// Generates and judges outputs.
pub(super) struct Runner<'a> {
    vocabulary: Arc<Vocabulary>,
    judge: Judge<'a>,
    options: OutputOptions,
    draws: Draws,
    /// The compiled grammars of the tool sets so far, by the address of the set.
    compiled: FxHashMap<(usize, Values), CompiledGrammar>,
    /// The compiled tools of the sets so far, by address, for arms that handle the name first.
    turns: FxHashMap<usize, CompiledTools>,
    kept: Vec<Rc<ToolSet>>,
    /// The most turns of a task in which the host computes.
    pub(super) max_turns: usize,
}

impl<'a> Runner<'a> {
    pub(super) fn new(vocabulary: Arc<Vocabulary>, judge: Judge<'a>, options: OutputOptions) -> Runner<'a> {
        Runner {
            vocabulary,
            judge,
            options,
            draws: Draws::new(options.temperature),
            compiled: FxHashMap::default(),
            turns: FxHashMap::default(),
            kept: Vec::new(),
            max_turns: 6,
        }
    }

    pub(super) fn grammar(&mut self, set: &Rc<ToolSet>, values: Values) -> Result<CompiledGrammar> {
        let key = (Rc::as_ptr(set) as usize, values);
        if let Some(known) = self.compiled.get(&key) {
            return Ok(known.clone());
        }
        let choice = if self.judge.format_name == "toolken" { Choice::Auto } else { Choice::Required };
        let options = GrammarOptions::default().choice(choice).max_calls(Some(self.options.max_calls));
        let made = match values {
            Values::Typed => self.judge.format.grammar(set, &options)?,
            Values::Any => self.judge.format.grammar(&partial::without_types(set)?, &options)?,
        };
        let compiled = Compiler::new(Arc::clone(&self.vocabulary)).compile(&made.grammar)?;
        self.compiled.insert(key, compiled.clone());
        // keeps the set alive, so that no other set gets its address
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
        let made = compiler.compile(set_of_turns, self.judge.format.clone(), &GrammarOptions::default())?;
        self.turns.insert(key, made.clone());
        self.kept.push(Rc::clone(set));
        Ok(made)
    }

    pub(super) fn encode(&self, text: &str) -> Vec<u32> {
        self.vocabulary.encode_greedy(text.as_bytes()).into_iter().flatten().map(|id| id.get()).collect()
    }

    fn options(&mut self, stop: Vec<String>, is_complete: bool) -> GenerationOptions {
        GenerationOptions::default()
            .max_tokens(self.options.max_tokens)
            .complete(is_complete)
            .sampling(self.draws.next())
            .end_tokens(self.vocabulary.eos().iter().map(|id| id.get()).collect())
            .stop(stop)
    }

    /// Generates the output of a trial and judges it. `again` returns the prompt after an output with a fault.
    ///
    /// # Errors
    /// Errors of the model and the engine.
    pub(super) fn run(
        &mut self,
        &Trial { task, arm, seed }: &Trial<'_>,
        prompt: &[u32],
        again: &dyn Fn(&str, Fault) -> Result<Vec<u32>>,
        model: &mut dyn Model,
    ) -> Result<Record> {
        self.draws.begin(&task.id, seed.unwrap_or_default());
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
        if self.judge.format_name == "toolken" {
            return self.numbers(arm, task, prompt, model);
        }
        let start = Instant::now();
        // all arms continue after the fixed beginning of a turn
        let lead = self.judge.format.lead();
        let mut prompt = prompt.to_vec();
        prompt.extend(self.encode(lead));
        let prompt = prompt.as_slice();
        let (generation, is_exception) = match arm {
            Arm::Published => {
                let tools = task.tools.callable().map(|tool| (tool.name.clone(), tool.arguments.value()));
                Published::new(&self.vocabulary, tools).generate(
                    prompt,
                    self.options.max_tokens,
                    self.draws.next(),
                    model,
                )?
            }
            Arm::Free | Arm::FreeRetry => {
                (self.generate(Output::free(None, self.stop()), prompt, model)?, false)
            }
            Arm::Name => {
                let vocabulary = Arc::clone(&self.vocabulary);
                let part = if self.judge.format_name == "python" {
                    let matcher = self.grammar(&task.tools, Values::Typed)?.matcher();
                    partial::UpToName::of_grammar(matcher, b'(', vocabulary)
                } else {
                    let mut session = Session::new(&self.tools(&task.tools)?, calling(None))?;
                    session.accept_bytes(lead.as_bytes())?;
                    partial::UpToName::of_session(session, vocabulary)
                };
                let stop = vec![self.stop_text().to_owned()];
                (self.generate(Output::free(Some(Box::new(part)), stop), prompt, model)?, false)
            }
            Arm::Structure | Arm::Full => {
                let values = if arm == Arm::Full { Values::Typed } else { Values::Any };
                let mut matcher = self.grammar(&task.tools, values)?.matcher();
                matcher.accept_bytes(lead.as_bytes())?;
                (self.generate(Output::whole(Box::new(matcher)), prompt, model)?, false)
            }
            Arm::FullExact => (self.exact(task, prompt, lead, model)?, false),
        };
        let text = format!("{lead}{}", generation.text);
        // with `to_end`, text that an arm without a mask writes after the turn is not a fault
        let (turn, is_stopped) = match text.split_once(self.stop_text()) {
            Some((turn, _)) if self.options.to_end && arm.is_unconstrained() => (turn.trim(), true),
            _ => (text.trim(), false),
        };
        let is_limited =
            matches!(generation.finish, FinishReason::TokenLimit { .. } | FinishReason::ContextLimit { .. });
        let judged = match self.judge.turn(turn, &task.tools) {
            _ if is_exception => Err(Fault::Exception),
            Err(_) if is_limited && !is_stopped => Err(Fault::Cut),
            judged => judged,
        };
        let text = text.trim().to_owned();
        Ok(record(arm, task, text, judged, &generation, start))
    }

    /// Returns the stop strings of the arms without any grammar; none if the model is to continue to its end.
    fn stop(&self) -> Vec<String> {
        if self.options.to_end { Vec::new() } else { vec![self.stop_text().to_owned()] }
    }

    fn stop_text(&self) -> &'static str {
        if self.judge.format_name == "react" { "\nObservation" } else { "\n\n" }
    }

    /// Generates a turn whose first call has the most probable name. The model writes any text before the call under
    /// the grammar. If that text ends without a call, it is the whole output.
    fn exact(
        &mut self,
        task: &Task,
        prompt: &[u32],
        lead: &str,
        model: &mut dyn Model,
    ) -> Result<Generation> {
        let tools = self.tools(&task.tools)?;
        let mut turn = tools.turn(&calling(None))?;
        let names: Vec<String> = tools.names(tools.all()).map(str::to_owned).collect();
        let (beginning, names) = match turn.clone().begin_call()? {
            Some(beginning) => (beginning, spelled(&tools, &names)?),
            None => self.spelled_whole(task, &tools, &names)?,
        };
        let ends: Vec<u32> = self.vocabulary.eos().iter().map(|id| id.get()).collect();
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
        let encode = |text: &str| Ok(self.encode(text));
        let (best, runs) = most_probable(&names, marker.as_bytes(), &ends, encode, &context, model)?;
        let mut turn = tools.turn(&calling(Some(tools.subset([best.as_str()])?)))?;
        before.push_str(&marker);
        turn.accept_bytes(format!("{lead}{before}").as_bytes())?;
        context.extend(self.encode(&marker));
        let mut made = self.generate(Output::whole(Box::new(turn)), &context, model)?;
        made.text.insert_str(0, &before);
        made.timings.model_steps += runs;
        if let Some(first) = text_before {
            // the prompt of the first part is one more run of the model
            made.timings.model_steps += first.timings.model_steps + 1;
            made.timings.forced_tokens += first.timings.forced_tokens;
            made.timings.mask += first.timings.mask;
            made.tokens.splice(0..0, first.tokens);
        }
        Ok(made)
    }

    /// Returns the text of a turn before the name, and the spellings of the names, for formats whose turns are matched
    /// as a whole.
    fn spelled_whole(
        &self,
        task: &Task,
        tools: &CompiledTools,
        names: &[String],
    ) -> Result<(Vec<u8>, Vec<Spelled>)> {
        let (beginning, is_relation) = match self.judge.format_name {
            "python" => ("[", false),
            "relation" => ("", true),
            format => return Err(crate::commands::errors::no_arm(Arm::FullExact.name(), format)),
        };
        let has_arguments = |name: &String| {
            let arguments = task.tools.tool(name).map(|tool| tool.arguments.value());
            arguments
                .is_some_and(|schema| schema["properties"].as_object().is_some_and(|all| !all.is_empty()))
        };
        let names = names.iter().map(|name| {
            let is_last = is_relation && !has_arguments(name);
            let mut written = tools.written_name(name);
            written.extend((!is_last).then_some('('));
            Spelled { name: name.clone(), written, is_last }
        });
        Ok((beginning.as_bytes().to_vec(), names.collect()))
    }

    pub(super) fn generate(
        &mut self,
        output: Output,
        prompt: &[u32],
        model: &mut dyn Model,
    ) -> Result<Generation> {
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
}

/// Returns the options of a turn that must call a tool, of the subset if there is one.
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
        lenient: None,
        has_path: None,
        tool,
        arguments,
        tokens: generation.tokens.len(),
        model_calls: timings.model_steps + usize::from(arm != Arm::Published),
        forced_tokens: timings.forced_tokens,
        mask_ms: timings.mask.as_secs_f64() * 1e3,
        time_ms: start.elapsed().as_secs_f64() * 1e3,
    }
}
