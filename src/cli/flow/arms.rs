//! Ways to make a plan, which experiments compare.

use super::model::Loaded;
use crate::decode::{
    BeamOptions, Constraint, Decoder, Event, Feed, ForcedDraft, GenerationOptions, LogSoftmax, Model,
    PrefixCache, Rows, SamplingParams, SequenceId, beam_search,
};
use crate::error::{Error, Result};
use crate::flows::flap::{FlapDecoder, FlapOptions};
use crate::flows::{
    Brackets, ChooserOptions, EmbeddedSimilarity, ExecutedCall, Execution, FlowDomain, FlowOptions,
    FlowPrompt, IntentText, Level, ParsedPlan, PlanWriter, Served, Thoughts, ValidChooser, WrittenCall,
    grammar, intent_similarities, parse_with, serving_flow,
};
use crate::limits::Limits;
use crate::mask::{CompiledGrammar, Compiler};
use crate::plan::Environment;
use rustc_hash::FxHashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The most calls and tokens of a plan that no grammar bounds, as of the published decoder.
const MOST_CALLS: usize = 30;
const MOST_TOKENS: usize = 512;
/// The most tokens of a text that every plan goes on with, which one run of the model verifies.
const MOST_DRAFTED: usize = 16;
/// The most tokens of a plan under a grammar that bounds it.
const MOST_BOUNDED: usize = 4096;

/// Which flows the prompt and the grammar have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Which {
    /// All of the domain.
    All,
    /// That of the query's intent.
    Relevant,
    /// All in the prompt, in the grammar the one that is most similar to the query.
    Similar,
}

/// How a plan is made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Method {
    /// Under the grammar of a level, with a number of draws at each call.
    Valid(Level, Which, usize),
    /// Without a grammar: the most probable token.
    Greedy(Which),
    /// Without a grammar: a token of the most probable 0.9.
    Nucleus,
    /// Without a grammar: beam search of width 3, no 10 tokens twice.
    Beam,
    /// The published decoder.
    Flap(FlapOptions),
}

/// A way to make a plan.
#[derive(Clone, Debug)]
pub(super) struct Arm {
    pub(super) name: String,
    pub(super) method: Method,
    pub(super) thoughts: Thoughts,
    pub(super) brackets: Brackets,
    /// Answers of APIs that are known beforehand.
    pub(super) answers: Vec<(usize, usize)>,
}

/// What was made of a query.
#[derive(Clone, Debug, Default)]
pub(super) struct Made {
    pub(super) text: String,
    pub(super) tokens: usize,
    /// Of these, those that every plan goes on with in this spelling.
    pub(super) forced: usize,
    pub(super) passes: usize,
    pub(super) time: Duration,
    pub(super) mask: Duration,
}

/// Models with the compiled grammars of domains.
pub(super) struct Maker<'m> {
    model: PrefixCache<'m>,
    loaded: Rest<'m>,
    similarity: Option<EmbeddedSimilarity<'m>>,
    compiler: Compiler,
    compiled: FxHashMap<(String, Level, Thoughts, bool, Option<usize>), CompiledGrammar>,
    limits: Limits,
}

/// What a [`Loaded`] has beside its models.
struct Rest<'m> {
    vocabulary: &'m Arc<crate::vocabulary::Vocabulary>,
    encoder: &'m super::model::Encoder,
    end_tokens: Vec<u32>,
}

impl<'m> Maker<'m> {
    pub(super) fn new(loaded: &'m mut Loaded, limits: &Limits) -> Maker<'m> {
        let Loaded { model, vocabulary, embedder, encoder } = loaded;
        let end_tokens = vocabulary.eos().iter().map(|id| id.get()).collect();
        Maker {
            model: PrefixCache::new(&mut **model),
            loaded: Rest { vocabulary, encoder, end_tokens },
            similarity: embedder.as_mut().map(|embedder| EmbeddedSimilarity::new(&mut **embedder)),
            compiler: Compiler::new(Arc::clone(vocabulary)).limits(limits.clone()),
            compiled: FxHashMap::default(),
            limits: limits.clone(),
        }
    }

    /// The similarity, if an embedder was loaded.
    pub(super) fn similarity(&mut self) -> Option<&mut EmbeddedSimilarity<'m>> {
        self.similarity.as_mut()
    }

    /// Forgets the compiled grammars, and compiles the one of an arm for a domain `times` times from the domain's file. Gives the seconds of each.
    pub(super) fn compile_times(
        &mut self,
        text: &str,
        arm: &Arm,
        flow: Option<usize>,
        times: usize,
    ) -> Result<Vec<f64>> {
        let Method::Valid(level, ..) = arm.method else { return Ok(Vec::new()) };
        let mut found = Vec::with_capacity(times);
        for _ in 0..times {
            self.compiled.clear();
            let start = Instant::now();
            let domain = FlowDomain::read(text, &self.limits)?;
            self.compile(&domain, level, arm, flow)?;
            found.push(start.elapsed().as_secs_f64());
        }
        self.compiled.clear();
        Ok(found)
    }

    /// The logarithms of the probabilities that the model gives each flow's intent after a prompt that asks for it, for their
    /// lengths in bytes.
    pub(super) fn intent_likelihoods(&mut self, domain: &FlowDomain, query: &str) -> Result<Vec<f64>> {
        let all: Vec<usize> = (0..domain.flows.len()).collect();
        let mut prompt = FlowPrompt::new(domain, &all, query, Thoughts::None, &self.limits)?;
        prompt.answer = "The customer wants to".to_owned();
        let prompt = self.loaded.encoder.prompt(&prompt)?;
        let mut found = Vec::with_capacity(all.len());
        let texts: Vec<String> = domain.flows.iter().map(|flow| format!(" {}", flow.intent)).collect();
        let mean = texts.iter().map(String::len).sum::<usize>() as f64 / texts.len().max(1) as f64;
        for text in &texts {
            let tokens = self.loaded.encoder.text(text)?;
            let sequence = self.model.open()?;
            let scored = self.log_probability(sequence, &prompt, &tokens);
            self.model.close(sequence);
            found.push(scored? / text.len().max(1) as f64 * mean);
        }
        Ok(found)
    }

    fn log_probability(&mut self, sequence: SequenceId, prompt: &[u32], tokens: &[u32]) -> Result<f64> {
        let fed = [prompt, tokens.get(..tokens.len().saturating_sub(1)).unwrap_or_default()].concat();
        let places: Vec<usize> = (prompt.len() - 1..fed.len()).collect();
        let logits = self.model.feed(&[Feed { sequence, tokens: &fed, rows: Rows::At(&places) }])?;
        let mut sum = 0.0;
        let mut buffer = Vec::new();
        for (row, &token) in tokens.iter().enumerate() {
            let row = logits.row(row, &mut buffer)?;
            let logit = row.get(token as usize).copied().unwrap_or(f32::NEG_INFINITY);
            sum += LogSoftmax::of(row).at(logit);
        }
        Ok(sum)
    }

    /// The plan that an arm makes of a query; `flow` serves it.
    pub(super) fn make(&mut self, arm: &Arm, domain: &FlowDomain, flow: usize, query: &str) -> Result<Made> {
        let start = Instant::now();
        let (prompt, kept) = self.asked(arm, domain, flow, query)?;
        let mut made = match arm.method {
            Method::Valid(level, _, samples) => {
                self.valid(arm, domain, level, kept, samples, &prompt, query)?
            }
            Method::Greedy(_) => {
                self.free(domain, arm, SamplingParams::default(), &prompt, None, MOST_TOKENS)?
            }
            Method::Nucleus => {
                let sampling = SamplingParams { temperature: 1.0, top_p: 0.9, ..SamplingParams::default() };
                self.free(domain, arm, sampling, &prompt, None, MOST_TOKENS)?
            }
            Method::Beam => self.beam(domain, &prompt)?,
            Method::Flap(options) => self.flap(domain, options, &prompt, query)?,
        };
        made.time = start.elapsed();
        Ok(made)
    }

    /// The plan that an arm under a mask makes of a query, whose calls are carried out as they are decided: `on_call` is given
    /// each with what it says and what came of it.
    pub(super) fn carry_out<E: From<Error>>(
        &mut self,
        arm: &Arm,
        domain: &FlowDomain,
        flow: usize,
        query: &str,
        environment: &mut dyn Environment,
        on_call: &mut dyn FnMut(&WrittenCall, &ExecutedCall) -> Result<(), E>,
    ) -> Result<Made, E> {
        let start = Instant::now();
        let Method::Valid(level, ..) = arm.method else { return Ok(Made::default()) };
        let (prompt, kept) = self.asked(arm, domain, flow, query)?;
        let compiled = self.compile(domain, level, arm, kept)?;
        let mut execution = Execution::new(domain, &self.limits)?;
        for &api in domain.prelude_apis() {
            let call = WrittenCall { name: domain.apis[api].name.clone(), ..WrittenCall::default() };
            on_call(&call, execution.call(&call, environment)?)?;
        }
        let encoder = self.loaded.encoder;
        let encode = |text: &str| encoder.text(text);
        let most = if level < Level::Bounded { MOST_TOKENS } else { MOST_BOUNDED };
        let mut writer =
            PlanWriter::new(&compiled, domain, arm.thoughts, arm.brackets, &prompt, &encode).max_tokens(most);
        while let Some(call) = writer.next_call(&mut self.model)? {
            let executed = execution.call(&call, environment)?;
            if let Some(outcome) = executed.outcome {
                writer.answer(outcome, &mut self.model);
            }
            on_call(&call, executed)?;
        }
        let used = writer.used();
        Ok(Made {
            text: writer.text(),
            tokens: used.tokens,
            forced: used.forced,
            passes: used.passes,
            time: start.elapsed(),
            ..Made::default()
        })
    }

    /// The prompt of an arm, and the flow that its grammar has alone.
    fn asked(
        &mut self,
        arm: &Arm,
        domain: &FlowDomain,
        flow: usize,
        query: &str,
    ) -> Result<(Vec<u32>, Option<usize>)> {
        let all: Vec<usize> = (0..domain.flows.len()).collect();
        let (shown, kept) = match arm.method {
            Method::Valid(_, Which::Relevant, _) | Method::Greedy(Which::Relevant) => {
                (vec![flow], Some(flow))
            }
            Method::Valid(_, Which::Similar, _) => (all, self.most_similar(domain, query)?),
            _ => (all, None),
        };
        let mut prompt = FlowPrompt::new(domain, &shown, query, arm.thoughts, &self.limits)?;
        if arm.brackets == Brackets::Makers {
            prompt = prompt.naming_makers(domain, arm.thoughts);
        }
        Ok((self.loaded.encoder.prompt(&prompt)?, kept))
    }

    fn most_similar(&mut self, domain: &FlowDomain, query: &str) -> Result<Option<usize>> {
        let Some(similarity) = &mut self.similarity else { return Ok(None) };
        let found = intent_similarities(domain, query, IntentText::WithSteps, similarity)?;
        Ok(match serving_flow(&found, None) {
            Served::By(flow) => Some(flow),
            Served::CannotHelp(_) => None,
        })
    }

    fn compile(
        &mut self,
        domain: &FlowDomain,
        level: Level,
        arm: &Arm,
        flow: Option<usize>,
    ) -> Result<CompiledGrammar> {
        let arguments = arm.brackets == Brackets::Makers;
        let key = (domain.name.clone(), level, arm.thoughts, arguments, flow);
        if let Some(known) = self.compiled.get(&key) {
            return Ok(known.clone());
        }
        let limits = self.limits.clone();
        let answers = arm.answers.clone();
        let options = FlowOptions { level, flow, arguments, answers, limits, ..FlowOptions::default() };
        let grammar = grammar(domain, &options, arm.thoughts)?;
        let compiled = self.compiler.compile(&grammar)?;
        self.compiled.insert(key, compiled.clone());
        Ok(compiled)
    }

    #[allow(clippy::too_many_arguments)] // the parts of an arm
    fn valid(
        &mut self,
        arm: &Arm,
        domain: &FlowDomain,
        level: Level,
        flow: Option<usize>,
        samples: usize,
        prompt: &[u32],
        query: &str,
    ) -> Result<Made> {
        let compiled = self.compile(domain, level, arm, flow)?;
        if samples <= 1 {
            let most = if level < Level::Bounded { MOST_TOKENS } else { MOST_BOUNDED };
            let matcher = Box::new(compiled.matcher());
            return self.free(domain, arm, SamplingParams::default(), prompt, Some(matcher), most);
        }
        let (arguments, limits) = (arm.brackets == Brackets::Makers, self.limits.clone());
        let answers = arm.answers.clone();
        let flows = FlowOptions { level, flow, arguments, answers, limits, ..FlowOptions::default() };
        let thoughts = arm.thoughts;
        let options = ChooserOptions { flows, thoughts, samples, ..ChooserOptions::default() };
        let similarity = self.similarity.as_mut().map(|one| one as &mut dyn crate::flows::Similarity);
        let model = &mut self.model;
        let chosen =
            ValidChooser { model, compiled: &compiled, similarity, domain, options }.plan(prompt, query)?;
        Ok(Made {
            text: chosen.text,
            tokens: chosen.drawn,
            forced: chosen.forced,
            passes: chosen.passes,
            ..Made::default()
        })
    }

    /// Writes until the plan has ended, can no longer be read, or is too long.
    fn free(
        &mut self,
        domain: &FlowDomain,
        arm: &Arm,
        sampling: SamplingParams,
        prompt: &[u32],
        constraint: Option<Box<dyn Constraint>>,
        max_tokens: usize,
    ) -> Result<Made> {
        let end_tokens = self.loaded.end_tokens.clone();
        // what keeps plans short enough is part of the constraint
        let complete = false;
        let options =
            GenerationOptions { max_tokens, complete, sampling, end_tokens, ..GenerationOptions::default() };
        let model: &mut dyn Model = &mut self.model;
        let most = if constraint.is_some() { MOST_DRAFTED } else { 0 };
        let mut decoder = Decoder::new(model, &**self.loaded.vocabulary, constraint, prompt, &options)?;
        loop {
            match decoder.next_drafted(model, &mut ForcedDraft, most)? {
                Event::Finished(_) => break,
                Event::Token(_) => {}
                Event::Text(_) => {
                    let plan = parsed(domain, decoder.text(), arm);
                    let is_over = plan.is_finished && arm.thoughts != Thoughts::After;
                    if is_over || plan.is_broken || plan.calls.len() >= MOST_CALLS {
                        break;
                    }
                }
            }
        }
        let generation = decoder.close(model);
        let timings = generation.timings;
        let mut text = generation.text;
        let plan = parsed(domain, &text, arm);
        if plan.calls.len() >= MOST_CALLS {
            // what a token has beyond the last call is not the plan's
            text.truncate(plan.length);
        }
        Ok(Made {
            text,
            tokens: generation.tokens.len(),
            forced: timings.forced_tokens + timings.accepted_tokens,
            passes: timings.model_steps + 1,
            mask: timings.mask,
            ..Made::default()
        })
    }

    fn beam(&mut self, domain: &FlowDomain, prompt: &[u32]) -> Result<Made> {
        let end = format!("{}()", domain.apis[domain.end].name);
        let options = BeamOptions {
            width: 3,
            max_tokens: MOST_TOKENS,
            end_tokens: self.loaded.end_tokens.clone(),
            stop: vec![end.clone()],
            no_repeat: 10,
            ..BeamOptions::default()
        };
        let found = beam_search(&mut self.model, &**self.loaded.vocabulary, None, prompt, &options)?;
        let Some(best) = found.into_iter().next() else { return Ok(Made::default()) };
        let is_stopped = matches!(best.finish, crate::decode::FinishReason::StopString { .. });
        let text = if is_stopped { best.text + &end } else { best.text };
        let tokens = best.tokens.len();
        Ok(Made { text, tokens, passes: tokens * 3, ..Made::default() })
    }

    fn flap(
        &mut self,
        domain: &FlowDomain,
        options: FlapOptions,
        prompt: &[u32],
        query: &str,
    ) -> Result<Made> {
        let Some(similarity) = &mut self.similarity else {
            return Err(crate::cli::errors::needs_embedder());
        };
        let detokenizer = &**self.loaded.vocabulary;
        let end_tokens = &self.loaded.end_tokens;
        let model = &mut self.model;
        let mut decoder = FlapDecoder { model, detokenizer, end_tokens, similarity, domain, options };
        let plan = decoder.plan(prompt, query)?;
        Ok(Made { text: plan.text, tokens: plan.tokens, passes: plan.passes, ..Made::default() })
    }
}

/// The calls of a text after the prelude.
pub(super) fn parsed(domain: &FlowDomain, text: &str, arm: &Arm) -> ParsedPlan {
    parse_with(text, &domain.apis[domain.end].name, arm.thoughts, arm.brackets)
}
