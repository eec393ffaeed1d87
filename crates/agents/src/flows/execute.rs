//! Plans whose calls are carried out while they are written: what an API answers decides what may come next.

use super::automaton::FlowCall;
use super::domain::FlowDomain;
use super::parse::{Brackets, WrittenCall, decided_calls};
use super::text::Thoughts;
use crate::plan::{Environment, Step, observed_outcome};
use grammata::diagnostic::Place;
use grammata::error::Result;
use grammata::limits::Limits;
use grammata::mask::CompiledGrammar;
use grammata::syntax::automaton_spec::{Format, Options, Spec};
use grammata_decode::{Decoder, Event, GenerationOptions, Model};
use rustc_hash::FxHashMap;
use serde_json::{Map, Value, json};

/// A call that was carried out.
#[derive(Clone, Debug, PartialEq)]
pub struct ExecutedCall {
    /// The API, by its place among [`FlowDomain::apis`].
    pub api: usize,
    /// What it answered, by the place among its outcomes; none of an API without.
    pub outcome: Option<usize>,
    /// Values of its inputs, by the names of data: what earlier calls made, as far as they gave a value for it.
    pub arguments: Map<String, Value>,
    /// What it gave back besides. Of an object, the members that are named like what the API makes are arguments of later
    /// calls.
    pub data: Value,
}

/// The calls of a plan and an [`Environment`] that carries them out. Those of the prelude come first, if they are to be carried out
/// too ([`FlowDomain::prelude_apis`]).
#[derive(Debug)]
pub struct Execution<'d> {
    domain: &'d FlowDomain,
    /// Its symbols are the APIs, in the order of the domain.
    spec: Spec,
    calls: Vec<ExecutedCall>,
    /// Values of data with the API that made them, the latest last.
    values: Vec<(usize, usize, Value)>,
}

impl<'d> Execution<'d> {
    /// Before the first call.
    ///
    /// # Errors
    /// Limits.
    pub fn new(domain: &'d FlowDomain, limits: &Limits) -> Result<Execution<'d>> {
        let symbol = |api: &super::domain::Api| {
            let outcomes = api.outcomes.iter().map(|outcome| (outcome.name.clone(), json!({})));
            let mut symbol = json!({ "text": format!("{}()", api.name) });
            if !api.outcomes.is_empty() {
                symbol["outcomes"] = Value::Object(outcomes.collect());
            }
            (api.name.clone(), symbol)
        };
        let names: Vec<&str> = domain.apis.iter().map(|api| api.name.as_str()).collect();
        let text = json!({
            "kind": "dfa",
            "symbols": domain.apis.iter().map(symbol).collect::<Map<_, _>>(),
            "start": "plan",
            "accepting": ["plan"],
            "transitions": [{ "from": "plan", "input": names, "to": "plan" }],
        });
        let options = Options::default().format(Format::Json).limits(limits.clone());
        let spec = Spec::read(&text.to_string(), &options)?;
        Ok(Execution { domain, spec, calls: Vec::new(), values: Vec::new() })
    }

    /// The calls that were carried out.
    pub fn calls(&self) -> &[ExecutedCall] {
        &self.calls
    }

    /// Carries a call out.
    ///
    /// # Errors
    /// `environment/failed` and `environment/timeout`; `environment/forbidden` if what comes back has an outcome that the domain
    /// does not declare for the API, none of those that it declares, or facts. The calls are then as they were before.
    pub fn call(&mut self, call: &WrittenCall, environment: &mut dyn Environment) -> Result<&ExecutedCall> {
        let domain = self.domain;
        let Some(api) = domain.api(&call.name) else {
            return Err(super::errors::unknown_api(
                &call.name,
                domain.apis.iter().map(|api| api.name.as_str()),
            ));
        };
        let arguments = self.arguments(api, call);
        let step = Step { arguments: Some(Value::Object(arguments.clone())), ..Step::of(api) };
        let observation = environment.execute(&self.spec, &step)?;
        let outcome = observed_outcome(&self.spec, api, &observation).map_err(|error| {
            let place = Place::Pointer(format!("/apis/{}/outcomes", domain.apis[api].name));
            error.map(|diagnostic| diagnostic.at(place.clone()))
        })?;
        let data = observation.data;
        for made in domain.apis[api].makes(outcome) {
            if let Some(value) = data.get(&domain.data[made]) {
                self.values.push((made, api, value.clone()));
            }
        }
        self.calls.push(ExecutedCall { api, outcome, arguments, data });
        Ok(&self.calls[self.calls.len() - 1])
    }

    /// What the inputs of an API are: of the maker that the call names, else of the latest that made any one of what is asked for.
    fn arguments(&self, api: usize, call: &WrittenCall) -> Map<String, Value> {
        let domain = self.domain;
        let named: FxHashMap<&str, Option<usize>> =
            call.arguments.iter().map(|(input, maker)| (input.as_str(), domain.api(maker))).collect();
        let value = |input: &super::domain::Input| {
            let fits = |(data, maker, _): &&(usize, usize, Value)| {
                let is_asked_for = input.any_of.contains(data);
                let is_named = |data: usize| named.get(domain.data[data].as_str());
                is_asked_for
                    && match input.any_of.iter().find_map(|&data| Some((data, is_named(data)?))) {
                        Some((named, by)) => *data == named && *by == Some(*maker),
                        None => true,
                    }
            };
            let (data, _, value) = self.values.iter().rev().find(fits)?;
            Some((domain.data[*data].clone(), value.clone()))
        };
        domain.apis[api].inputs.iter().filter_map(value).collect()
    }
}

/// The most tokens of a plan by default, far more than a plan that a grammar bounds has.
const MOST_TOKENS: usize = 4096;

/// What writing a plan took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WriterUse {
    /// Tokens that were chosen, those that an answer took the place of among them.
    pub tokens: usize,
    /// Of these, tokens that were allowed alone.
    pub forced: usize,
    /// Runs of the model over one sequence.
    pub passes: usize,
}

/// Writes a plan under a mask and stops at each call that is decided, so that it can be carried out and answered.
///
/// ```
/// use grammata_decode::Model;
/// use grammata_agents::flows::{Brackets, FlowDomain, PlanWriter, Thoughts};
/// use grammata::{CompiledGrammar, Result};
///
/// /// Whatever carries calls out: gives the name of the outcome, for an API with outcomes.
/// fn run(
///     model: &mut dyn Model,
///     compiled: &CompiledGrammar,
///     domain: &FlowDomain,
///     prompt: &[u32],
///     encode: &dyn Fn(&str) -> Result<Vec<u32>>,
///     call_api: &mut dyn FnMut(&str) -> Option<String>,
/// ) -> Result<String> {
///     let mut writer = PlanWriter::new(compiled, domain, Thoughts::None, Brackets::Empty, prompt, encode);
///     while let Some(call) = writer.next_call(model)? {
///         let answer = call_api(&call.name);
///         let api = domain.apis.iter().find(|api| api.name == call.name);
///         let outcome = api.and_then(|api| api.outcomes.iter().position(|one| Some(&one.name) == answer.as_ref()));
///         if let Some(outcome) = outcome {
///             writer.answer(outcome, model);
///         }
///     }
///     Ok(writer.text())
/// }
/// ```
pub struct PlanWriter<'c> {
    compiled: &'c CompiledGrammar,
    domain: &'c FlowDomain,
    thoughts: Thoughts,
    brackets: Brackets,
    prompt: &'c [u32],
    encode: &'c dyn Fn(&str) -> Result<Vec<u32>>,
    options: GenerationOptions,
    /// The text before that of the decoder.
    before: String,
    decoder: Option<Decoder<'c>>,
    /// The calls that were given, and the byte offset behind the last of them.
    calls: usize,
    last: Option<(usize, usize)>,
    is_ended: bool,
    used: WriterUse,
}

impl std::fmt::Debug for PlanWriter<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PlanWriter").field("text", &self.text()).finish_non_exhaustive()
    }
}

impl<'c> PlanWriter<'c> {
    /// At the beginning of a plan. `compiled` is [`grammar`](super::grammar) of the same domain, thoughts and brackets; `encode`
    /// cuts a text after the prompt into tokens.
    pub fn new(
        compiled: &'c CompiledGrammar,
        domain: &'c FlowDomain,
        thoughts: Thoughts,
        brackets: Brackets,
        prompt: &'c [u32],
        encode: &'c dyn Fn(&str) -> Result<Vec<u32>>,
    ) -> PlanWriter<'c> {
        let end_tokens = compiled.vocabulary().eos().iter().map(|id| id.get()).collect();
        let options =
            GenerationOptions::default().max_tokens(MOST_TOKENS).complete(false).end_tokens(end_tokens);
        PlanWriter {
            compiled,
            domain,
            thoughts,
            brackets,
            prompt,
            encode,
            options,
            before: String::new(),
            decoder: None,
            calls: 0,
            last: None,
            is_ended: false,
            used: WriterUse::default(),
        }
    }

    /// How tokens are chosen; greedily by default.
    pub fn sampling(mut self, sampling: grammata_decode::SamplingParams) -> PlanWriter<'c> {
        self.options.sampling = sampling;
        self
    }

    /// The most tokens that are chosen; 4096 by default. A plan that is longer is cut.
    pub fn max_tokens(mut self, tokens: usize) -> PlanWriter<'c> {
        self.options.max_tokens = tokens;
        self
    }

    /// The text so far.
    pub fn text(&self) -> String {
        format!("{}{}", self.before, self.decoder.as_ref().map_or("", |decoder| decoder.text()))
    }

    /// What it took so far, but for what the current run of the model took.
    pub fn used(&self) -> WriterUse {
        self.used
    }

    /// Writes until the brackets of another call are closed, and gives it; `None` when the plan has ended.
    ///
    /// # Errors
    /// Of the model, the mask and the encoder.
    pub fn next_call(&mut self, model: &mut dyn Model) -> Result<Option<WrittenCall>> {
        loop {
            let text = self.text();
            let decided = decided_calls(&text, self.thoughts, self.brackets);
            if let Some((call, length)) = decided.into_iter().nth(self.calls) {
                self.calls += 1;
                self.last = self.domain.api(&call.name).map(|api| (api, length));
                return Ok(Some(call));
            }
            if self.is_ended || !self.go_on(model)? {
                self.close(model);
                self.is_ended = true;
                return Ok(None);
            }
        }
    }

    /// The answer of the call that was given last: what is written behind its brackets gives way to it. Nothing happens for an API
    /// without outcomes.
    pub fn answer(&mut self, outcome: usize, model: &mut dyn Model) {
        let Some((api, length)) = self.last.take() else { return };
        let call = FlowCall { api, step: None, outcome: Some(outcome) };
        let answer = call.answer(self.domain);
        if answer.is_empty() {
            return;
        }
        self.close(model);
        self.is_ended = false;
        self.before.truncate(length);
        self.before.push_str(&answer);
        // names of outcomes may begin alike: what follows the call says that its name has ended
        self.before.push_str(self.thoughts.after_answer());
    }

    /// Some more text; false at the end.
    fn go_on(&mut self, model: &mut dyn Model) -> Result<bool> {
        let decoder = match &mut self.decoder {
            Some(decoder) => decoder,
            None => {
                let max_tokens = self.options.max_tokens.saturating_sub(self.used.tokens);
                if max_tokens == 0 {
                    return Ok(false);
                }
                let mut matcher = self.compiled.matcher();
                matcher.accept_bytes(self.before.as_bytes())?;
                let mut prompt = self.prompt.to_vec();
                prompt.extend((self.encode)(&self.before)?);
                let vocabulary = &**self.compiled.vocabulary();
                let matcher = Box::new(matcher);
                let options = self.options.clone().max_tokens(max_tokens);
                let decoder = Decoder::new(model, vocabulary, Some(matcher), &prompt, &options)?;
                self.decoder.insert(decoder)
            }
        };
        loop {
            match decoder.next(model)? {
                Event::Token(_) => {}
                Event::Text(_) => return Ok(true),
                Event::Finished(_) => return Ok(false),
            }
        }
    }

    /// Keeps the text of the decoder and ends it.
    fn close(&mut self, model: &mut dyn Model) {
        let Some(decoder) = self.decoder.take() else { return };
        let generation = decoder.close(model);
        self.used.tokens += generation.tokens.len();
        self.used.forced += generation.timings.forced_tokens;
        self.used.passes +=
            generation.timings.model_steps + usize::from(generation.timings.prefill_tokens > 0);
        self.before.push_str(&generation.text);
    }
}
