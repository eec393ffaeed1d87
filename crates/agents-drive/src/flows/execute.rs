//! Plans whose calls are executed while they are generated: the answer of an API decides which calls may follow.

use grammata::diagnostic::Place;
use grammata::error::Result;
use grammata::limits::Limits;
use grammata::mask::CompiledGrammar;
use grammata::syntax::automaton_spec::{Format, Options, Spec};
use grammata_agents::flows::{
    Api, Brackets, FlowCall, FlowDomain, Input, Thoughts, WrittenCall, decided_calls, unknown_api,
};
use grammata_agents::plan::{Environment, Step, observed_outcome};
use grammata_decode::{Decoder, Event, GenerationOptions, Model};
use rustc_hash::FxHashMap;
use serde_json::{Map, Value, json};

/// An executed call.
#[derive(Clone, Debug, PartialEq)]
pub struct ExecutedCall {
    /// The API, as an index into [`FlowDomain::apis`].
    pub api: usize,
    /// The answer, as an index into the API's outcomes; `None` for an API without outcomes.
    pub outcome: Option<usize>,
    /// The values of the inputs for which earlier calls returned values, by the names of the data.
    pub arguments: Map<String, Value>,
    /// The data of the observation. If it is an object, its members that have the names of data which the API makes are
    /// values for arguments of later calls.
    pub data: Value,
}

/// The calls of a plan, executed in an [`Environment`]. If the calls of the prelude ([`FlowDomain::prelude_apis`]) are
/// to be executed as well, they come first.
#[derive(Debug)]
pub struct Execution<'d> {
    domain: &'d FlowDomain,
    /// A spec whose symbols are the APIs, in the order of the domain.
    spec: Spec,
    calls: Vec<ExecutedCall>,
    /// Values of data with the API that made each, the latest last.
    values: Vec<(usize, usize, Value)>,
}

impl<'d> Execution<'d> {
    /// Creates an execution without calls.
    ///
    /// # Errors
    /// Limits.
    pub fn new(domain: &'d FlowDomain, limits: &Limits) -> Result<Execution<'d>> {
        let symbol = |api: &Api| {
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

    /// Returns the calls executed so far, in order.
    pub fn calls(&self) -> &[ExecutedCall] {
        &self.calls
    }

    /// Executes a call, and returns it with its outcome and data.
    ///
    /// # Errors
    /// `flow/unknown-name` if the domain has no such API; those of the environment, such as `environment/failed` and
    /// `environment/timeout`;
    /// `environment/forbidden` if the observation has facts, or an outcome that the domain does not declare for the
    /// API, or lacks an outcome although the domain declares several. After an error the calls are unchanged.
    pub fn call(&mut self, call: &WrittenCall, environment: &mut dyn Environment) -> Result<&ExecutedCall> {
        let domain = self.domain;
        let Some(api) = domain.api(&call.name) else {
            return Err(unknown_api(&call.name, domain.apis.iter().map(|api| api.name.as_str())));
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

    /// Returns the values of an API's inputs: from the maker that the call names for the input; if the call names none,
    /// from the latest call that made any of the accepted data. Inputs without a value are left out.
    fn arguments(&self, api: usize, call: &WrittenCall) -> Map<String, Value> {
        let domain = self.domain;
        let named: FxHashMap<&str, Option<usize>> =
            call.arguments.iter().map(|(input, maker)| (input.as_str(), domain.api(maker))).collect();
        let value = |input: &Input| {
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

/// The default maximum number of tokens of a plan, more than plans bounded by a grammar usually have.
const MOST_TOKENS: usize = 4096;

/// The cost of writing a plan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WriterUse {
    /// The number of tokens that were chosen, including those that an answer replaced.
    pub tokens: usize,
    /// The number of these tokens that were the only allowed ones.
    pub forced: usize,
    /// The number of runs of the model over one sequence.
    pub passes: usize,
}

/// Writes a plan under a mask and stops at each call that is decided, so that the caller can execute and answer the
/// call.
///
/// ```
/// use grammata_decode::Model;
/// use grammata_agents::flows::{Brackets, FlowDomain, Thoughts};
/// use grammata_agents_drive::flows::PlanWriter;
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
    /// The text before the text of the current decoder.
    before: String,
    decoder: Option<Decoder<'c>>,
    /// The number of calls returned so far.
    calls: usize,
    /// The API of the last returned call, and the byte offset after its brackets; `None` once it is answered.
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
    /// Creates a writer at the start of a plan. `compiled` is [`grammar`](grammata_agents::flows::grammar) of the same domain, thoughts
    /// and brackets; `encode` tokenises a text after the prompt.
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

    /// Sets how tokens are sampled; greedy by default.
    pub fn sampling(mut self, sampling: grammata_decode::SamplingParams) -> PlanWriter<'c> {
        self.options.sampling = sampling;
        self
    }

    /// Sets the maximum number of tokens; 4096 by default. Longer plans are truncated.
    pub fn max_tokens(mut self, tokens: usize) -> PlanWriter<'c> {
        self.options.max_tokens = tokens;
        self
    }

    /// Returns the text so far, without the prompt.
    pub fn text(&self) -> String {
        format!("{}{}", self.before, self.decoder.as_ref().map_or("", |decoder| decoder.text()))
    }

    /// Returns the cost so far, without the text that the current decoder has generated since the last answer.
    pub fn used(&self) -> WriterUse {
        self.used
    }

    /// Generates text until the brackets of another call are closed, and returns the call; `None` if the plan has ended
    /// or has the maximum number of tokens.
    ///
    /// # Errors
    /// Those of the model, the mask and the encoder.
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

    /// Sets the answer of the last returned call, replacing any text after its brackets. Does nothing if the API has no
    /// such outcome, or if the call was answered before.
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
        // one outcome's name may be a prefix of another's: the text after the call marks the end of the name
        self.before.push_str(self.thoughts.after_answer());
    }

    /// Generates some more text. Returns false if the plan or the token bound has ended.
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

    /// Closes the decoder, and keeps its text and its cost.
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
