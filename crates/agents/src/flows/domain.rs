//! Domains: APIs, steps and flows, with resolved names.

use super::errors;
use fixedbitset::FixedBitSet;
use grammata::diagnostic::Diagnostic;
use grammata::error::Result;
use std::cell::Cell;

/// An input of an API, which any one of several data satisfies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    /// Indices into [`FlowDomain::data`], at least one.
    pub any_of: Vec<usize>,
}

/// A possible answer of an API.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The name of the answer, in the form of an API's name.
    pub name: String,
    /// The data that the API makes with this answer, in addition to its own outputs, as indices into
    /// [`FlowDomain::data`].
    pub outputs: Vec<usize>,
}

/// An API.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Api {
    /// The name of the API.
    pub name: String,
    /// Alternative names.
    pub aliases: Vec<String>,
    /// The inputs; all of them are required.
    pub inputs: Vec<Input>,
    /// The outputs, as indices into [`FlowDomain::data`].
    pub outputs: Vec<usize>,
    /// The possible answers, of which the environment chooses one; empty if the answer does not matter.
    pub outcomes: Vec<Outcome>,
    /// A one-line description for a prompt.
    pub description: String,
}

impl Api {
    /// Returns the data that the API makes with an answer; with `None`, those that it makes with any answer.
    pub fn makes(&self, outcome: Option<usize>) -> impl Iterator<Item = usize> + '_ {
        let answers = self.outcomes.iter().enumerate();
        let answers = answers.filter(move |(number, _)| outcome.is_none_or(|outcome| outcome == *number));
        self.outputs.iter().copied().chain(answers.flat_map(|(_, answer)| answer.outputs.iter().copied()))
    }

    /// Returns the possible answers of a call; a single `None` if the API has no outcomes.
    pub(super) fn answers(&self) -> impl Iterator<Item = Option<usize>> + use<> {
        let none = self.outcomes.is_empty().then_some(None);
        none.into_iter().chain((0..self.outcomes.len()).map(Some))
    }
}

/// A step: an instruction that APIs carry out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The id of the step.
    pub id: String,
    /// The instruction.
    pub text: String,
    /// The APIs that carry out the step, by index, in the order of the gold plan.
    pub apis: Vec<usize>,
}

/// How often a step is carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rounds {
    /// The minimum number of rounds; 0 if the step is optional.
    pub min: u32,
    /// The maximum number of rounds; `None` is unbounded.
    pub max: Option<u32>,
}

impl Rounds {
    /// Exactly once.
    pub const ONCE: Rounds = Rounds { min: 1, max: Some(1) };
}

/// An entry of the body of a flow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry {
    /// A step, carried out for a number of consecutive rounds.
    Step {
        /// The step, as an index into [`FlowDomain::steps`].
        step: usize,
        /// The number of rounds.
        rounds: Rounds,
        /// The entries of the body that precede the entry, by index; `None` if the file has no `after`.
        after: Option<Vec<usize>>,
    },
    /// Alternatives: one of several lists of entries, each in order.
    Either(Vec<Vec<Entry>>),
}

/// Whether steps of a flow that `after` does not order may be mixed in a plan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FlowOrder {
    /// A step that has begun is completed before another begins.
    #[default]
    Whole,
    /// The APIs of different steps may alternate.
    Interleaved,
}

/// A flow: the steps that serve an intent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flow {
    /// The id of the flow.
    pub id: String,
    /// The customer's intent.
    pub intent: String,
    /// The steps of the gold plan in order, by index; the first is the prelude. Optional steps are included, repeated
    /// steps occur as often as required but at least once and at most 64 times, and of alternatives the first is taken.
    pub steps: Vec<usize>,
    /// The entries after the prelude.
    pub body: Vec<Entry>,
    /// Whether steps that `after` does not order may be mixed in a plan.
    pub order: FlowOrder,
    /// Data assumed to be available from the start, by index.
    pub assumes: Vec<usize>,
    /// Whether some plan follows the flow; false only in domains parsed with `allow_infeasible`.
    pub is_feasible: bool,
}

impl Flow {
    /// Returns whether `after` orders the steps (a partial order); otherwise the list does.
    pub fn is_partial_order(&self) -> bool {
        self.body.iter().any(|entry| matches!(entry, Entry::Step { after: Some(_), .. }))
    }

    /// Returns whether every entry is a step that occurs exactly once: nothing is optional, repeated or alternative.
    pub(super) fn is_plain(&self) -> bool {
        self.body.iter().all(|entry| matches!(entry, Entry::Step { rounds: Rounds::ONCE, .. }))
    }
}

/// A domain of customer care: APIs, steps and flows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowDomain {
    /// The name of the domain.
    pub name: String,
    /// The APIs, in the order of the file.
    pub apis: Vec<Api>,
    /// The steps, in the order of the file.
    pub steps: Vec<Step>,
    /// The flows, in the order of the file.
    pub flows: Vec<Flow>,
    /// The names of data, in order of appearance.
    pub data: Vec<String>,
    /// The index of the first step of every plan.
    pub prelude: usize,
    /// The API that ends a plan, by index.
    pub end: usize,
    /// Data available from the start in all flows, by index.
    pub given: Vec<usize>,
    /// APIs that may be called at any time before the end, each once, outside of steps.
    pub allow: Vec<usize>,
    /// Warnings about the file, which do not prevent its use.
    pub warnings: Vec<Diagnostic>,
}

impl FlowDomain {
    /// Returns the index of the API with a name or alias.
    pub fn api(&self, name: &str) -> Option<usize> {
        self.apis.iter().position(|api| api.name == name || api.aliases.iter().any(|alias| alias == name))
    }

    /// Returns the index of the flow with an id.
    pub fn flow(&self, id: &str) -> Option<usize> {
        self.flows.iter().position(|flow| flow.id == id)
    }

    /// Returns the APIs of the prelude, by index.
    pub fn prelude_apis(&self) -> &[usize] {
        self.steps.get(self.prelude).map_or(&[], |step| &step.apis)
    }

    /// Returns the APIs of a flow in the order of its gold plan, by index, without the prelude; empty for unknown
    /// flows.
    pub fn gold(&self, flow: usize) -> Vec<usize> {
        let steps = self.flows.get(flow).map_or(&[][..], |flow| &flow.steps);
        let steps = steps.iter().skip(1).filter_map(|&step| self.steps.get(step));
        steps.flat_map(|step| step.apis.iter().copied()).collect()
    }

    /// Returns the API graph: pairs of an API that makes a datum and an API that can use it as an input.
    pub fn dependencies(&self) -> Vec<(usize, usize)> {
        let mut pairs = Vec::new();
        for (maker, made) in self.apis.iter().enumerate() {
            for (user, api) in self.apis.iter().enumerate() {
                let needs = |output: &usize| api.inputs.iter().any(|input| input.any_of.contains(output));
                if made.makes(None).any(|output| needs(&output)) {
                    pairs.push((maker, user));
                }
            }
        }
        pairs
    }

    /// Parses an answer `API=outcome` into the indices of the API and the outcome.
    ///
    /// # Errors
    /// `flow/answer` if the domain has no API of this name, or the API has no such outcome. Aliases are not accepted.
    pub fn answer(&self, written: &str) -> Result<(usize, usize)> {
        let all = self.apis.iter().enumerate().flat_map(|(place, api)| {
            let named = move |outcome: &Outcome| format!("{}={}", api.name, outcome.name);
            api.outcomes.iter().map(named).enumerate().map(move |(number, name)| ((place, number), name))
        });
        let all: Vec<((usize, usize), String)> = all.collect();
        let found = all.iter().find(|(_, name)| name == written);
        found.map(|(answer, _)| *answer).ok_or_else(|| {
            errors::answer(written, &all.iter().map(|(_, name)| name.clone()).collect::<Vec<_>>())
        })
    }

    /// Returns whether some API has outcomes, so that its answer decides which calls may follow.
    pub fn has_outcomes(&self) -> bool {
        self.apis.iter().any(|api| !api.outcomes.is_empty())
    }

    /// Returns the data available after the prelude for plans of these flows.
    pub(super) fn given_after_prelude(&self, flows: &[usize]) -> FixedBitSet {
        let mut given = FixedBitSet::with_capacity(self.data.len());
        let made = self.prelude_apis().iter().flat_map(|&api| &self.apis[api].outputs);
        let assumed = flows.iter().flat_map(|&flow| &self.flows[flow].assumes);
        made.chain(assumed).chain(&self.given).for_each(|&data| given.insert(data));
        given
    }

    /// Adds the data that an API can use as inputs.
    pub(super) fn add_inputs(&self, api: usize, into: &mut FixedBitSet) {
        let inputs = self.apis[api].inputs.iter().flat_map(|input| &input.any_of);
        inputs.for_each(|&data| into.insert(data));
    }

    /// Returns whether the available data satisfy all inputs of an API. `made` says whether a datum is available.
    pub fn is_served(&self, api: usize, made: &dyn Fn(usize) -> bool) -> bool {
        self.apis[api].inputs.iter().all(|input| input.any_of.iter().any(|&data| made(data)))
    }

    /// Returns whether the available data satisfy all inputs of an API, and the number of lookups in the data.
    pub(super) fn is_served_of(&self, api: usize, made: &FixedBitSet) -> (bool, usize) {
        let lookups = Cell::new(0);
        let is_served = self.is_served(api, &|data| {
            lookups.set(lookups.get() + 1);
            made.contains(data)
        });
        (is_served, lookups.get())
    }
}
