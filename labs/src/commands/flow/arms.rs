//! Methods of making plans that experiments compare.

use crate::flap::{FlapDecoder, FlapOptions};
use grammata::error::Result;
use grammata::limits::Limits;
use grammata_agents::flows::{FlowDomain, Thoughts};
use grammata_agents_drive::flows::{
    EmbeddedSimilarity, FlowPlanner, FlowPrompt, PlannerOptions, PromptEncoder, WrittenPlan,
};
use grammata_cli::cmd::flow::model::Loaded;
use grammata_decode::{
    BeamOptions, Feed, FinishReason, LogSoftmax, Model, Rows, SamplingParams, SequenceId, beam_search,
};
use std::time::Instant;

/// A method of making a plan.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Method {
    /// Under a grammar.
    Valid,
    /// Without a grammar: the most probable token.
    Greedy,
    /// Without a grammar: nucleus sampling with top-p 0.9 at temperature 1.
    Nucleus,
    /// Without a grammar: beam search of width 3 that repeats no sequence of 10 tokens.
    Beam,
    /// The published decoder.
    Flap(FlapOptions),
}

/// A method with its name and its options.
#[derive(Clone, Debug)]
pub(super) struct Arm {
    pub(super) name: String,
    pub(super) method: Method,
    pub(super) options: PlannerOptions,
}

/// A planner that can use all methods.
pub(super) struct Maker<'m> {
    planner: FlowPlanner<'m>,
    limits: Limits,
}

impl<'m> Maker<'m> {
    pub(super) fn new(loaded: &'m mut Loaded, limits: &Limits) -> Maker<'m> {
        Maker { planner: loaded.planner(limits), limits: limits.clone() }
    }

    /// The similarity of texts, if an embedder was loaded.
    pub(super) fn similarity(&mut self) -> Option<&mut EmbeddedSimilarity<'m>> {
        self.planner.similarity.as_mut()
    }

    /// Compiles the grammar of an arm for a domain `times` times, starting from the domain's file, and returns the
    /// seconds of each time. Cached grammars are dropped before and after. For an arm without a grammar it does nothing
    /// and returns an empty list.
    pub(super) fn compile_times(
        &mut self,
        text: &str,
        arm: &Arm,
        flow: Option<usize>,
        times: usize,
    ) -> Result<Vec<f64>> {
        let Method::Valid = arm.method else { return Ok(Vec::new()) };
        let mut found = Vec::with_capacity(times);
        for _ in 0..times {
            self.planner.forget();
            let start = Instant::now();
            let domain = FlowDomain::read(text, &self.limits)?;
            self.planner.compile(&arm.options, &domain, flow)?;
            found.push(start.elapsed().as_secs_f64());
        }
        self.planner.forget();
        Ok(found)
    }

    /// Returns the log-probability of each flow's intent after a prompt that asks for it, divided by its length in
    /// bytes and multiplied by the mean length of the intents.
    pub(super) fn intent_likelihoods(&mut self, domain: &FlowDomain, query: &str) -> Result<Vec<f64>> {
        let all: Vec<usize> = (0..domain.flows.len()).collect();
        let mut prompt = FlowPrompt::new(domain, &all, query, Thoughts::None, &self.limits)?;
        prompt.answer = "The customer wants to".to_owned();
        let encoder: &dyn PromptEncoder = self.planner.encoder;
        let prompt = encoder.prompt(&prompt)?;
        let mut found = Vec::with_capacity(all.len());
        let texts: Vec<String> = domain.flows.iter().map(|flow| format!(" {}", flow.intent)).collect();
        let mean = texts.iter().map(String::len).sum::<usize>() as f64 / texts.len().max(1) as f64;
        for text in &texts {
            let tokens = encoder.text(text)?;
            let sequence = self.planner.model.open()?;
            let scored = self.log_probability(sequence, &prompt, &tokens);
            self.planner.model.close(sequence);
            found.push(scored? / text.len().max(1) as f64 * mean);
        }
        Ok(found)
    }

    fn log_probability(&mut self, sequence: SequenceId, prompt: &[u32], tokens: &[u32]) -> Result<f64> {
        let fed = [prompt, tokens.get(..tokens.len().saturating_sub(1)).unwrap_or_default()].concat();
        let places: Vec<usize> = (prompt.len() - 1..fed.len()).collect();
        let logits = self.planner.model.feed(&[Feed { sequence, tokens: &fed, rows: Rows::At(&places) }])?;
        let mut sum = 0.0;
        let mut buffer = Vec::new();
        for (row, &token) in tokens.iter().enumerate() {
            let row = logits.row(row, &mut buffer)?;
            let logit = row.get(token as usize).copied().unwrap_or(f32::NEG_INFINITY);
            sum += LogSoftmax::of(row).at(logit);
        }
        Ok(sum)
    }

    /// Makes a plan for a query by an arm. `flow` is the flow that serves the query.
    pub(super) fn make(
        &mut self,
        arm: &Arm,
        domain: &FlowDomain,
        flow: usize,
        query: &str,
    ) -> Result<WrittenPlan> {
        let (start, options) = (Instant::now(), &arm.options);
        if arm.method == Method::Valid {
            return self.planner.write(options, domain, flow, query);
        }
        let (prompt, _) = self.planner.prompt(options, domain, flow, query)?;
        let nucleus = SamplingParams::default().temperature(1.0).top_p(0.9);
        let mut free = |sampling| {
            self.planner.generate(options, domain, sampling, &prompt, None, FlowPlanner::MOST_TOKENS)
        };
        let written = match arm.method {
            Method::Nucleus => free(nucleus)?,
            Method::Valid | Method::Greedy => free(SamplingParams::default())?,
            Method::Beam => self.beam(domain, &prompt)?,
            Method::Flap(options) => self.flap(domain, options, &prompt, query)?,
        };
        Ok(WrittenPlan { time: start.elapsed(), ..written })
    }

    fn beam(&mut self, domain: &FlowDomain, prompt: &[u32]) -> Result<WrittenPlan> {
        let end = format!("{}()", domain.apis[domain.end].name);
        let options = BeamOptions::default()
            .width(3)
            .max_tokens(FlowPlanner::MOST_TOKENS)
            .end_tokens(self.planner.end_tokens())
            .stop(vec![end.clone()])
            .no_repeat(10);
        let FlowPlanner { model, vocabulary, .. } = &mut self.planner;
        let found = beam_search(model, &***vocabulary, None, prompt, &options)?;
        let Some(best) = found.into_iter().next() else { return Ok(WrittenPlan::default()) };
        let is_stopped = matches!(best.finish, FinishReason::StopString { .. });
        let text = if is_stopped { best.text + &end } else { best.text };
        let tokens = best.tokens.len();
        Ok(WrittenPlan { text, tokens, passes: tokens * 3, ..WrittenPlan::default() })
    }

    fn flap(
        &mut self,
        domain: &FlowDomain,
        options: FlapOptions,
        prompt: &[u32],
        query: &str,
    ) -> Result<WrittenPlan> {
        let end_tokens = &self.planner.end_tokens();
        let FlowPlanner { model, similarity, vocabulary, .. } = &mut self.planner;
        let Some(similarity) = similarity else {
            return Err(crate::commands::errors::needs_embedder());
        };
        let detokenizer = &***vocabulary;
        let mut decoder = FlapDecoder { model, detokenizer, end_tokens, similarity, domain, options };
        let plan = decoder.plan(prompt, query)?;
        Ok(WrittenPlan {
            text: plan.text,
            tokens: plan.tokens,
            passes: plan.passes,
            ..WrittenPlan::default()
        })
    }
}
