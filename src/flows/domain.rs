//! Domains: APIs, steps and flows, as they are read.

use super::{check, errors};
use crate::diagnostic::{Diagnostic, Notation, Source};
use crate::error::Result;
use crate::limits::Limits;
use serde::Deserialize;

/// What an API needs: any one of some data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    /// Places among [`FlowDomain::data`], at least one.
    pub any_of: Vec<usize>,
}

/// An API.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Api {
    /// Its name.
    pub name: String,
    /// Other names of it.
    pub aliases: Vec<String>,
    /// What it needs: each of the inputs.
    pub inputs: Vec<Input>,
    /// What it makes, by places among [`FlowDomain::data`].
    pub outputs: Vec<usize>,
    /// One line for a prompt.
    pub description: String,
}

/// A step: an instruction that is carried out by APIs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// Its id.
    pub id: String,
    /// The instruction.
    pub text: String,
    /// The APIs that carry it out, in the order of the gold plan, by their places.
    pub apis: Vec<usize>,
}

/// A flow: the steps that serve an intent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flow {
    /// Its id.
    pub id: String,
    /// What a customer wants.
    pub intent: String,
    /// The steps in order, by their places; the first is the prelude.
    pub steps: Vec<usize>,
    /// Data taken to be there from the start, by places.
    pub assumes: Vec<usize>,
}

/// A domain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowDomain {
    /// Its name.
    pub name: String,
    /// The APIs, in the order of the file.
    pub apis: Vec<Api>,
    /// The steps, in the order of the file.
    pub steps: Vec<Step>,
    /// The flows, in the order of the file.
    pub flows: Vec<Flow>,
    /// The names of data, in the order in which they come up.
    pub data: Vec<String>,
    /// The step that every plan begins with.
    pub prelude: usize,
    /// The API that ends a plan.
    pub end: usize,
    /// What is odd but does no harm.
    pub warnings: Vec<Diagnostic>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Written {
    #[allow(dead_code)] // whoever reads the file looks at it first
    kind: String,
    #[serde(default)]
    pub(super) name: String,
    #[allow(dead_code)] // for people
    #[serde(default)]
    description: String,
    #[allow(dead_code)] // for people
    #[serde(default)]
    source: String,
    pub(super) prelude: String,
    pub(super) end: String,
    pub(super) apis: toml::Table,
    pub(super) steps: toml::Table,
    pub(super) flows: Vec<WrittenFlow>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WrittenApi {
    #[serde(default)]
    pub(super) inputs: Vec<WrittenInput>,
    #[serde(default)]
    pub(super) outputs: Vec<String>,
    #[allow(dead_code)] // a truth value that no API needs
    returns: Option<String>,
    #[serde(default)]
    pub(super) description: String,
    #[serde(default)]
    pub(super) aliases: Vec<String>,
}

#[derive(Deserialize)]
#[serde(untagged)]
pub(super) enum WrittenInput {
    One(String),
    AnyOf(Vec<String>),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WrittenStep {
    pub(super) text: String,
    pub(super) apis: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WrittenFlow {
    pub(super) id: String,
    pub(super) intent: String,
    pub(super) steps: Vec<String>,
    #[serde(default)]
    pub(super) assumes: Vec<String>,
}

impl FlowDomain {
    /// Reads a domain from TOML and checks that each of its flows can be followed.
    ///
    /// # Errors
    /// `flow/…`, with the JSON Pointer and the line of what is wrong, all errors of the file together; limits.
    pub fn read(text: &str, limits: &Limits) -> Result<FlowDomain> {
        limits.check_source(text)?;
        let source = Source::new(text, Notation::Toml);
        let read = toml::from_str::<Written>(text).map_err(|cause| errors::toml(text, &cause));
        let mut domain =
            read.and_then(|written| check::domain(&written)).map_err(|e| e.in_source(&source))?;
        source.locate(&mut domain.warnings);
        Ok(domain)
    }

    /// The API of a name or an alias.
    pub fn api(&self, name: &str) -> Option<usize> {
        self.apis.iter().position(|api| api.name == name || api.aliases.iter().any(|alias| alias == name))
    }

    /// The flow of an id.
    pub fn flow(&self, id: &str) -> Option<usize> {
        self.flows.iter().position(|flow| flow.id == id)
    }

    /// The APIs of the prelude.
    pub fn prelude_apis(&self) -> &[usize] {
        self.steps.get(self.prelude).map_or(&[], |step| &step.apis)
    }

    /// The APIs of a flow in the order of its gold plan, without those of the prelude.
    pub fn gold(&self, flow: usize) -> Vec<usize> {
        let steps = self.flows.get(flow).map_or(&[][..], |flow| &flow.steps);
        let steps = steps.iter().skip(1).filter_map(|&step| self.steps.get(step));
        steps.flat_map(|step| step.apis.iter().copied()).collect()
    }

    /// Pairs of an API that makes something and one that needs it (the API graph).
    pub fn dependencies(&self) -> Vec<(usize, usize)> {
        let mut pairs = Vec::new();
        for (maker, made) in self.apis.iter().enumerate() {
            for (user, api) in self.apis.iter().enumerate() {
                let needs = |output: &usize| api.inputs.iter().any(|input| input.any_of.contains(output));
                if made.outputs.iter().any(needs) {
                    pairs.push((maker, user));
                }
            }
        }
        pairs
    }

    /// Whether the data that are made serve all inputs of an API.
    pub(super) fn is_served(&self, api: usize, made: &dyn Fn(usize) -> bool) -> bool {
        self.apis[api].inputs.iter().all(|input| input.any_of.iter().any(|&data| made(data)))
    }
}
