//! Chooses among valid plans. Several thoughts with their calls are sampled under the mask for each call, and scored. A
//! flow is chosen by the similarity of its intent and steps to the query.

use super::similarity::{Similarity, similar};
use grammata::error::Result;
use grammata::mask::CompiledGrammar;
use grammata::transitions::{Transition, TransitionSystem};
use grammata_agents::flows::{
    Brackets, FlowAutomaton, FlowCall, FlowDomain, FlowOptions, FlowState, ParsedPlan, Thoughts, WrittenCall,
    parse_with,
};
use grammata_decode::{Decoder, Event, FinishReason, GenerationOptions, Model, SamplingParams};

/// The text that is compared with a query to choose a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IntentText {
    /// The intent.
    Intent,
    /// The intent and the texts of the steps after the prelude, as one text.
    WithSteps,
    /// The intent and the text of each step after the prelude, compared separately; the similarity is the mean.
    MeanOfSteps,
}

/// Returns the similarity of a query to each flow of a domain, in the order of the flows.
///
/// # Errors
/// Those of [`similar`].
pub fn intent_similarities(
    domain: &FlowDomain,
    query: &str,
    text: IntentText,
    similarity: &mut dyn Similarity,
) -> Result<Vec<f64>> {
    let mut found = Vec::with_capacity(domain.flows.len());
    for flow in &domain.flows {
        let steps: Vec<&str> =
            flow.steps.iter().skip(1).map(|&step| domain.steps[step].text.as_str()).collect();
        found.push(match text {
            IntentText::Intent => similar(similarity, query, &flow.intent)?,
            IntentText::WithSteps => {
                similar(similarity, query, &format!("{}: {}", flow.intent, steps.join(", ")))?
            }
            IntentText::MeanOfSteps => {
                let mut sum = similar(similarity, query, &flow.intent)?;
                for step in &steps {
                    sum += similar(similarity, query, step)?;
                }
                sum / (steps.len() + 1) as f64
            }
        });
    }
    Ok(found)
}

/// Whether a domain serves a query, and with which flow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Served {
    /// The flow most similar to the query, by index.
    By(usize),
    /// No flow is similar enough, so the plan is the prelude and the end. Holds the greatest similarity, if there are
    /// flows.
    CannotHelp(Option<f64>),
}

/// Returns the flow with the greatest similarity (the first among equals), if that is at least the threshold. Without a
/// threshold, any similarity suffices.
pub fn serving_flow(similarities: &[f64], threshold: Option<f64>) -> Served {
    let all = similarities.iter().copied().enumerate();
    let best = all.reduce(|best, one| if one.1 > best.1 { one } else { best });
    match best {
        Some((flow, found)) if threshold.is_none_or(|least| found >= least) => Served::By(flow),
        best => Served::CannotHelp(best.map(|(_, found)| found)),
    }
}

grammata_base::options! {
    /// The score of a thought: (1 - λ) p + λ (a step + c input + d description). The terms are FLAP's similarities.
    /// FLAP's term for APIs is omitted, because it is equal for all thoughts under a mask.
    #[derive(Clone, Copy, Debug, PartialEq)]
    #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
    #[non_exhaustive]
    pub struct ThoughtScore {
        /// The weight a of the similarity between thought and step. Default: 1.
        pub step_weight: f64 = 1.0,
        /// The weight c of the similarity between thought and query. Default: 1.
        pub input_weight: f64 = 1.0,
        /// The weight d of the similarity between thought and description of the API. Default: 1.
        pub description_weight: f64 = 1.0,
        /// The factor of the step being executed. Default: 1.
        pub alpha_current: f64 = 1.0,
        /// The factor of any other step. Default: 0.5.
        pub alpha_followed: f64 = 0.5,
        /// The share λ of the similarities compared with the model's probability. Default: 0.7.
        pub lambda: f64 = 0.7,
    }
}

/// Returns (1 - λ) `probability` + λ `heuristic`.
pub fn mixed(lambda: f64, probability: f64, heuristic: f64) -> f64 {
    (1.0 - lambda) * probability + lambda * heuristic
}

grammata_base::options! {
    /// Settings of [`ValidChooser`].
    #[derive(Clone, Debug)]
    #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
    #[non_exhaustive]
    pub struct ChooserOptions {
        /// The plans that are allowed.
        pub flows: FlowOptions,
        /// The text that is written with calls. Default: free thoughts.
        pub thoughts: Thoughts = Thoughts::Free,
        /// The number of thoughts with calls that are sampled per call. 1, the default, and 0 are greedy, without
        /// scores.
        pub samples: usize = 1,
        /// The temperature of sampling. Default: 0.8.
        pub temperature: f32 = 0.8,
        /// The seed of sampling. Default: 0.
        pub seed: u64,
        /// How thoughts are scored.
        pub score: ThoughtScore,
        /// The maximum number of tokens of a plan. Default: 2048.
        pub max_tokens: usize = 2048,
    }
}

/// The plan that was chosen, with statistics.
#[derive(Clone, Debug)]
pub struct ChosenPlan {
    /// The text after the prompt.
    pub text: String,
    /// The calls of the text.
    pub plan: ParsedPlan,
    /// The number of tokens of the plan.
    pub tokens: usize,
    /// The number of tokens that were chosen without the model, because they were the only allowed ones.
    pub forced: usize,
    /// The number of tokens sampled for thoughts and calls, including discarded ones; 0 if greedy.
    pub drawn: usize,
    /// The number of runs of the model over one sequence.
    pub passes: usize,
    /// Why generation ended.
    pub finish: FinishReason,
}

/// Generates plans under a mask, call by call.
pub struct ValidChooser<'a> {
    /// The model.
    pub model: &'a mut dyn Model,
    /// The compiled [`grammar`](grammata_agents::flows::grammar) of the same domain and options.
    pub compiled: &'a CompiledGrammar,
    /// The similarity that scores thoughts. `None` takes the sample with the greatest mean probability per token.
    pub similarity: Option<&'a mut dyn Similarity>,
    /// The domain.
    pub domain: &'a FlowDomain,
    /// The settings.
    pub options: ChooserOptions,
}

impl std::fmt::Debug for ValidChooser<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ValidChooser").field("options", &self.options).finish_non_exhaustive()
    }
}

/// The position of the plan in the automaton.
struct At<'d> {
    automaton: FlowAutomaton<'d>,
    state: FlowState,
    /// The steps that the last call may carry out.
    current: Vec<usize>,
    calls: usize,
}

impl ValidChooser<'_> {
    /// Generates the plan for `query` after `prompt`.
    ///
    /// # Errors
    /// Those of the model, the mask, the automaton and the similarity.
    pub fn plan(&mut self, prompt: &[u32], query: &str) -> Result<ChosenPlan> {
        let greedy = self.options.samples <= 1;
        let temperature = if greedy { 0.0 } else { self.options.temperature };
        let options = GenerationOptions::default()
            .max_tokens(self.options.max_tokens)
            .complete(false)
            .sampling(SamplingParams::default().temperature(temperature).seed(self.options.seed))
            .end_tokens(self.compiled.vocabulary().eos().iter().map(|id| id.get()).collect())
            .log_probabilities(!greedy);
        let compiled = self.compiled;
        let vocabulary = &**compiled.vocabulary();
        let matcher = Box::new(compiled.matcher());
        let mut decoder = Decoder::new(self.model, vocabulary, Some(matcher), prompt, &options)?;
        let mut used = Use::default();
        let written = match greedy {
            true => {
                let done = to_end(&mut decoder, self.model);
                done.map(|()| decoder)
            }
            false => self.by_calls(decoder, query, &mut used),
        };
        let decoder = written?;
        let generation = decoder.close(self.model);
        used.add(&generation.timings);
        let plan = self.parsed(&generation.text);
        Ok(ChosenPlan {
            tokens: generation.tokens.len(),
            forced: generation.timings.forced_tokens,
            drawn: used.tokens,
            passes: used.passes,
            text: generation.text,
            plan,
            finish: generation.finish,
        })
    }

    fn parsed(&self, text: &str) -> ParsedPlan {
        let brackets = if self.options.flows.arguments { Brackets::Makers } else { Brackets::Empty };
        parse_with(text, &self.domain.apis[self.domain.end].name, self.options.thoughts, brackets)
    }

    /// Samples several continuations for each call, and continues with the one of the highest score.
    fn by_calls<'c>(&mut self, first: Decoder<'c>, query: &str, used: &mut Use) -> Result<Decoder<'c>> {
        let automaton = FlowAutomaton::new(self.domain, self.options.flows.clone())?;
        let state = automaton.start();
        let mut at = At { automaton, state, current: vec![self.domain.prelude], calls: 0 };
        let mut decoder = first;
        let mut seed = self.options.seed;
        loop {
            decoder.prefill(self.model)?;
            let mut best: Option<(f64, Decoder<'c>)> = None;
            for _ in 0..self.options.samples {
                seed = seed.wrapping_add(1);
                let mut fork = decoder.fork(self.model, seed)?;
                let before = fork.tokens().len();
                let log_probability = self.draw_call(&mut fork, at.calls)?;
                used.tokens += fork.tokens().len() - before;
                let mean = (log_probability / (fork.tokens().len() - before).max(1) as f64).exp();
                let found = self.score(&mut at, &fork, mean, query)?;
                match &best {
                    Some((greatest, _)) if *greatest >= found => used.add(&fork.close(self.model).timings),
                    _ => {
                        if let Some((_, worse)) = best.replace((found, fork)) {
                            used.add(&worse.close(self.model).timings);
                        }
                    }
                }
            }
            let Some((_, chosen)) = best else { return Ok(decoder) };
            decoder.close(self.model);
            decoder = chosen;
            let plan = self.parsed(decoder.text());
            self.follow(&mut at, &plan)?;
            let is_over = plan.is_finished || plan.calls.len() <= at.calls.saturating_sub(1);
            if is_over {
                to_end(&mut decoder, self.model)?;
                return Ok(decoder);
            }
        }
    }

    /// Samples until one more call is complete or generation ends, and returns the sum of the log-probabilities.
    fn draw_call(&mut self, decoder: &mut Decoder<'_>, calls: usize) -> Result<f64> {
        let mut sum = 0.0;
        loop {
            match decoder.next(self.model)? {
                Event::Token(token) => sum += token.log_probability.unwrap_or_default(),
                Event::Text(_) => {
                    if self.parsed(decoder.text()).calls.len() > calls {
                        return Ok(sum);
                    }
                }
                Event::Finished(_) => return Ok(sum),
            }
        }
    }

    /// Returns the score (1 - λ) p + λ (a step + c input + d description) of the last call. `mean` is p, and the whole
    /// score if there is no similarity or no new call. The score of an API that the domain lacks is (1 - λ) p.
    fn score(&mut self, at: &mut At<'_>, decoder: &Decoder<'_>, mean: f64, query: &str) -> Result<f64> {
        let plan = self.parsed(decoder.text());
        let options = self.options.score;
        let (Some(similarity), Some(WrittenCall { thought, name, .. })) =
            (&mut self.similarity, plan.calls.get(at.calls))
        else {
            return Ok(mean);
        };
        let similarity: &mut dyn Similarity = *similarity;
        let Some(api) = self.domain.api(name) else { return Ok(mixed(options.lambda, mean, 0.0)) };
        let steps = at.automaton.options_of(at.state)?;
        let steps =
            steps.into_iter().find(|one| one.call.api == api).map(|one| one.steps).unwrap_or_default();
        let mut step_term: f64 = 0.0;
        for step in steps {
            let alpha =
                if at.current.contains(&step) { options.alpha_current } else { options.alpha_followed };
            step_term = step_term.max(alpha * similar(similarity, thought, &self.domain.steps[step].text)?);
        }
        let input = similar(similarity, thought, query)?;
        let description = similar(similarity, thought, &self.domain.apis[api].description)?;
        let heuristic = options.step_weight * step_term
            + options.input_weight * input
            + options.description_weight * description;
        Ok(mixed(options.lambda, mean, heuristic))
    }

    /// Advances past the new calls of a plan.
    fn follow(&self, at: &mut At<'_>, plan: &ParsedPlan) -> Result<()> {
        for call in plan.calls.iter().skip(at.calls) {
            let Some(api) = self.domain.api(&call.name) else { break };
            let options = at.automaton.options_of(at.state)?;
            let mut transitions = Vec::new();
            at.automaton.successors(&at.state, &mut transitions)?;
            let outcomes = &self.domain.apis[api].outcomes;
            let answer = outcomes.iter().position(|one| Some(&one.name) == call.outcome.as_ref());
            let is_call = |next: &&Transition<FlowState, FlowCall>| {
                next.label.api == api && (answer.is_none() || next.label.outcome == answer)
            };
            let Some(next) = transitions.iter().find(is_call) else { break };
            let taken = options.into_iter().find(|one| one.call.api == api);
            at.current = taken.map(|one| one.steps).unwrap_or_default();
            at.state = next.to;
        }
        at.calls = plan.calls.len();
        Ok(())
    }
}

/// The tokens and runs used for sampling.
#[derive(Default)]
struct Use {
    tokens: usize,
    passes: usize,
}

impl Use {
    fn add(&mut self, timings: &grammata_decode::Timings) {
        self.passes += timings.model_steps + usize::from(timings.prefill_tokens > 0);
    }
}

fn to_end(decoder: &mut Decoder<'_>, model: &mut dyn Model) -> Result<()> {
    loop {
        if let Event::Finished(_) = decoder.next(model)? {
            return Ok(());
        }
    }
}
