//! Plans queries with a language model under the grammars of domains.

use super::choose::{ChooserOptions, IntentText, Served, ValidChooser, intent_similarities, serving_flow};
use super::execute::{ExecutedCall, Execution, PlanWriter};
use super::prompt::FlowPrompt;
use super::similarity::{EmbeddedSimilarity, Similarity};
use grammata::error::{Error, Result};
use grammata::limits::Limits;
use grammata::mask::{CompiledGrammar, Compiler};
use grammata::matcher::Constraint;
use grammata::vocabulary::Vocabulary;
use grammata_agents::flows::{
    Brackets, FlowDomain, FlowOptions, Level, MOST_CALLS, ParsedPlan, Thoughts, WrittenCall, grammar,
    parse_with,
};
use grammata_agents::plan::Environment;
use grammata_decode::{Decoder, Event, ForcedDraft, GenerationOptions, Model, PrefixCache, SamplingParams};
use grammata_embeddings::Embedder;
use rustc_hash::FxHashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The maximum number of forced tokens that one run of the model verifies.
const MOST_DRAFTED: usize = 16;
/// The maximum number of tokens of a plan under a grammar that bounds it.
const MOST_BOUNDED: usize = 4096;

/// The flows in the prompt and in the grammar.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FlowScope {
    /// All flows of the domain, in the prompt and in the grammar.
    #[default]
    All,
    /// Only the given flow, in the prompt and in the grammar.
    Relevant,
    /// All flows in the prompt; in the grammar, the flow most similar to the query, or all flows if the planner has no
    /// [`similarity`](FlowPlanner::similarity).
    Similar,
}

grammata_base::options! {
    /// Options for writing plans.
    #[derive(Clone, Debug)]
    #[non_exhaustive]
    pub struct PlannerOptions {
        /// The rules of a flow that a plan obeys. Default: its steps (level 6).
        pub level: Level = Level::Steps,
        /// The flows in the prompt and in the grammar. Default: all.
        pub scope: FlowScope = FlowScope::All,
        /// The number of thoughts sampled and scored per call. 1, the default, is greedy.
        pub samples: usize = 1,
        /// The thoughts written with calls. Default: none.
        pub thoughts: Thoughts = Thoughts::None,
        /// The content of the brackets of calls. Default: empty.
        pub brackets: Brackets = Brackets::Empty,
        /// Answers of APIs known in advance, as indices of an API and of its outcome.
        pub answers: Vec<(usize, usize)>,
    }
}

impl PlannerOptions {
    /// Parses the calls of a text after the prelude.
    pub fn parse(&self, domain: &FlowDomain, text: &str) -> ParsedPlan {
        parse_with(text, &domain.apis[domain.end].name, self.thoughts, self.brackets)
    }

    fn flow_options(&self, flow: Option<usize>, limits: &Limits) -> FlowOptions {
        let options = FlowOptions::default().level(self.level).flow(flow).answers(self.answers.clone());
        options.arguments(self.brackets == Brackets::Makers).limits(limits.clone())
    }

    fn most_tokens(&self) -> usize {
        if self.level < Level::Bounded { FlowPlanner::MOST_TOKENS } else { MOST_BOUNDED }
    }
}

/// A plan as written, and its cost.
#[derive(Clone, Debug, Default)]
pub struct WrittenPlan {
    /// The text after the prompt.
    pub text: String,
    /// The number of tokens. If several thoughts are sampled per call, the sampled tokens, including discarded ones; if
    /// calls are executed, tokens that an answer replaced are included.
    pub tokens: usize,
    /// The number of tokens of the plan that were the only allowed ones; if calls are executed, tokens that an answer
    /// replaced are included.
    pub forced: usize,
    /// The number of runs of the model over one sequence.
    pub passes: usize,
    /// The total time.
    pub time: Duration,
    /// The time for masks. Not measured, and so zero, if several thoughts are sampled per call or calls are executed.
    pub mask: Duration,
}

/// Tokenises prompts for a model.
pub trait PromptEncoder {
    /// Tokenises a prompt.
    ///
    /// # Errors
    /// Those of the tokenizer or the chat template.
    fn prompt(&self, prompt: &FlowPrompt) -> Result<Vec<u32>>;

    /// Tokenises a text after a prompt.
    ///
    /// # Errors
    /// Those of the tokenizer.
    fn text(&self, text: &str) -> Result<Vec<u32>>;
}

/// The cache key of a compiled grammar: the domain's name, the level, the thoughts, whether calls name makers, the only
/// flow, and the answers known in advance.
type Key = (String, Level, Thoughts, bool, Option<usize>, Vec<(usize, usize)>);

/// A language model with the compiled grammars of domains.
pub struct FlowPlanner<'m> {
    /// The model.
    pub model: PrefixCache<'m>,
    /// The similarity of texts, for [`FlowScope::Similar`] and scores.
    pub similarity: Option<EmbeddedSimilarity<'m>>,
    /// The vocabulary of the model.
    pub vocabulary: &'m Arc<Vocabulary>,
    /// Tokenises prompts with the vocabulary.
    pub encoder: &'m dyn PromptEncoder,
    compiler: Compiler,
    compiled: FxHashMap<Key, CompiledGrammar>,
    limits: Limits,
}

impl std::fmt::Debug for FlowPlanner<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FlowPlanner").field("compiled", &self.compiled.len()).finish_non_exhaustive()
    }
}

impl<'m> FlowPlanner<'m> {
    /// The maximum number of tokens of a plan without a bounding grammar, as in the published decoder.
    pub const MOST_TOKENS: usize = 512;

    /// Creates a planner. Grammars are compiled on first use.
    pub fn new(
        model: &'m mut dyn Model,
        vocabulary: &'m Arc<Vocabulary>,
        encoder: &'m dyn PromptEncoder,
        embedder: Option<&'m mut dyn Embedder>,
        limits: &Limits,
    ) -> FlowPlanner<'m> {
        FlowPlanner {
            model: PrefixCache::new(model),
            similarity: embedder.map(EmbeddedSimilarity::new),
            vocabulary,
            encoder,
            compiler: Compiler::new(Arc::clone(vocabulary)).limits(limits.clone()),
            compiled: FxHashMap::default(),
            limits: limits.clone(),
        }
    }

    /// Returns the end-of-sequence tokens of the vocabulary.
    pub fn end_tokens(&self) -> Vec<u32> {
        self.vocabulary.eos().iter().map(|id| id.get()).collect()
    }

    /// Drops the cached grammars.
    pub fn forget(&mut self) {
        self.compiled.clear();
    }

    /// Writes the plan of a query. `flow` is the flow that serves the query; it is used only with
    /// [`FlowScope::Relevant`].
    ///
    /// # Errors
    /// Those of [`prompt`](Self::prompt) and [`compile`](Self::compile), of the model, the mask and the similarity.
    pub fn write(
        &mut self,
        options: &PlannerOptions,
        domain: &FlowDomain,
        flow: usize,
        query: &str,
    ) -> Result<WrittenPlan> {
        let start = Instant::now();
        let (prompt, kept) = self.prompt(options, domain, flow, query)?;
        let compiled = self.compile(options, domain, kept)?;
        let written = if options.samples <= 1 {
            let matcher = Box::new(compiled.matcher());
            let sampling = SamplingParams::default();
            self.generate(options, domain, sampling, &prompt, Some(matcher), options.most_tokens())?
        } else {
            self.choose(options, domain, &compiled, kept, &prompt, query)?
        };
        Ok(WrittenPlan { time: start.elapsed(), ..written })
    }

    /// Writes the plan of a query, and executes the calls of the prelude and each further call as soon as it is
    /// decided. `on_call` receives each call with its result. Tokens are chosen greedily, whatever the number of
    /// samples.
    ///
    /// # Errors
    /// Those of [`write`](Self::write), of the environment and of `on_call`.
    pub fn carry_out<E: From<Error>>(
        &mut self,
        options: &PlannerOptions,
        domain: &FlowDomain,
        flow: usize,
        query: &str,
        environment: &mut dyn Environment,
        on_call: &mut dyn FnMut(&WrittenCall, &ExecutedCall) -> Result<(), E>,
    ) -> Result<WrittenPlan, E> {
        let start = Instant::now();
        let (prompt, kept) = self.prompt(options, domain, flow, query)?;
        let compiled = self.compile(options, domain, kept)?;
        let mut execution = Execution::new(domain, &self.limits)?;
        for &api in domain.prelude_apis() {
            let call = WrittenCall { name: domain.apis[api].name.clone(), ..WrittenCall::default() };
            on_call(&call, execution.call(&call, environment)?)?;
        }
        let encoder = self.encoder;
        let encode = |text: &str| encoder.text(text);
        let mut writer =
            PlanWriter::new(&compiled, domain, options.thoughts, options.brackets, &prompt, &encode)
                .max_tokens(options.most_tokens());
        while let Some(call) = writer.next_call(&mut self.model)? {
            let executed = execution.call(&call, environment)?;
            if let Some(outcome) = executed.outcome {
                writer.answer(outcome, &mut self.model);
            }
            on_call(&call, executed)?;
        }
        let used = writer.used();
        Ok(WrittenPlan {
            text: writer.text(),
            tokens: used.tokens,
            forced: used.forced,
            passes: used.passes,
            time: start.elapsed(),
            ..WrittenPlan::default()
        })
    }

    /// Returns the tokenised prompt of a query, and the only flow of its grammar; `None` if the grammar has all flows.
    ///
    /// # Errors
    /// Those of [`FlowPrompt::new`], the encoder and the similarity.
    pub fn prompt(
        &mut self,
        options: &PlannerOptions,
        domain: &FlowDomain,
        flow: usize,
        query: &str,
    ) -> Result<(Vec<u32>, Option<usize>)> {
        let all: Vec<usize> = (0..domain.flows.len()).collect();
        let (shown, kept) = match options.scope {
            FlowScope::Relevant => (vec![flow], Some(flow)),
            FlowScope::Similar => (all, self.most_similar(domain, query)?),
            FlowScope::All => (all, None),
        };
        let mut prompt = FlowPrompt::new(domain, &shown, query, options.thoughts, &self.limits)?;
        if options.brackets == Brackets::Makers {
            prompt = prompt.naming_makers(domain, options.thoughts);
        }
        Ok((self.encoder.prompt(&prompt)?, kept))
    }

    fn most_similar(&mut self, domain: &FlowDomain, query: &str) -> Result<Option<usize>> {
        let Some(similarity) = &mut self.similarity else { return Ok(None) };
        let found = intent_similarities(domain, query, IntentText::WithSteps, similarity)?;
        Ok(match serving_flow(&found, None) {
            Served::By(flow) => Some(flow),
            Served::CannotHelp(_) => None,
        })
    }

    /// Returns the grammar of a domain, or of one `flow` of it. Grammars are cached by the domain's name: call
    /// [`forget`](Self::forget) after the domain has changed.
    ///
    /// # Errors
    /// Those of [`grammar`](grammata_agents::flows::grammar) and of its compilation.
    pub fn compile(
        &mut self,
        options: &PlannerOptions,
        domain: &FlowDomain,
        flow: Option<usize>,
    ) -> Result<CompiledGrammar> {
        let PlannerOptions { level, thoughts, brackets, answers, .. } = options;
        let is_naming = *brackets == Brackets::Makers;
        let key = (domain.name.clone(), *level, *thoughts, is_naming, flow, answers.clone());
        if let Some(known) = self.compiled.get(&key) {
            return Ok(known.clone());
        }
        let grammar = grammar(domain, &options.flow_options(flow, &self.limits), *thoughts)?;
        let compiled = self.compiler.compile(&grammar)?;
        self.compiled.insert(key, compiled.clone());
        Ok(compiled)
    }

    /// Writes a plan with several sampled thoughts per call.
    fn choose(
        &mut self,
        options: &PlannerOptions,
        domain: &FlowDomain,
        compiled: &CompiledGrammar,
        flow: Option<usize>,
        prompt: &[u32],
        query: &str,
    ) -> Result<WrittenPlan> {
        let flows = options.flow_options(flow, &self.limits);
        let (thoughts, samples) = (options.thoughts, options.samples);
        let options = ChooserOptions { flows, thoughts, samples, ..ChooserOptions::default() };
        let similarity = self.similarity.as_mut().map(|one| one as &mut dyn Similarity);
        let model = &mut self.model;
        let chosen = ValidChooser { model, compiled, similarity, domain, options }.plan(prompt, query)?;
        Ok(WrittenPlan {
            text: chosen.text,
            tokens: chosen.drawn,
            forced: chosen.forced,
            passes: chosen.passes,
            ..WrittenPlan::default()
        })
    }

    /// Writes under a constraint, or freely, until the plan has ended, can no longer be parsed, or has `max_tokens`
    /// tokens or too many calls: 4,096 under a constraint from [`Level::Bounded`] on, otherwise 30.
    ///
    /// # Errors
    /// Those of the model and the constraint.
    pub fn generate(
        &mut self,
        options: &PlannerOptions,
        domain: &FlowDomain,
        sampling: SamplingParams,
        prompt: &[u32],
        constraint: Option<Box<dyn Constraint>>,
        max_tokens: usize,
    ) -> Result<WrittenPlan> {
        let end_tokens = self.end_tokens();
        // plans under the constraint are short enough without this option
        let complete = false;
        let generation = GenerationOptions::default()
            .max_tokens(max_tokens)
            .complete(complete)
            .sampling(sampling)
            .end_tokens(end_tokens);
        let model: &mut dyn Model = &mut self.model;
        let (most, most_calls) = match constraint {
            Some(_) => (MOST_DRAFTED, options.level.most_calls()),
            // whatever the level says, nothing bounds the plan
            None => (0, MOST_CALLS),
        };
        let mut decoder = Decoder::new(model, &**self.vocabulary, constraint, prompt, &generation)?;
        loop {
            match decoder.next_drafted(model, &mut ForcedDraft, most)? {
                Event::Finished(_) => break,
                Event::Token(_) => {}
                Event::Text(_) => {
                    let plan = options.parse(domain, decoder.text());
                    let is_over = plan.is_finished && options.thoughts != Thoughts::After;
                    if is_over || plan.is_broken || plan.calls.len() >= most_calls {
                        break;
                    }
                }
            }
        }
        let generation = decoder.close(model);
        let timings = generation.timings;
        let mut text = generation.text;
        let plan = options.parse(domain, &text);
        if plan.calls.len() >= most_calls {
            // the part of a token after the last call does not belong to the plan
            text.truncate(plan.length);
        }
        Ok(WrittenPlan {
            text,
            tokens: generation.tokens.len(),
            forced: timings.forced_tokens + timings.accepted_tokens,
            passes: timings.model_steps + 1,
            mask: timings.mask,
            ..WrittenPlan::default()
        })
    }
}
