//! The progress of a plan in the graphs of APIs and steps, and what these graphs permit next.

use fixedbitset::FixedBitSet;
use grammata::error::Result;
use grammata_agents::flows::FlowDomain;
use grammata_agents_drive::flows::{Similarity, nearest};

/// The progress of a plan in the graphs of a domain, as the decoder infers it from thoughts. An API is permitted if it
/// was not called and each of its inputs was made by a call, is given, or is assumed by a flow. A step is permitted if
/// it is under execution, or if it was not executed and its predecessor in some flow was executed or is under
/// execution. Steps with equal texts are one step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlapProgress<'d> {
    domain: &'d FlowDomain,
    /// For each step, the first step with the same text.
    nodes: Vec<usize>,
    apis: FixedBitSet,
    steps: FixedBitSet,
    current: usize,
    followed: Vec<usize>,
}

impl<'d> FlapProgress<'d> {
    /// Creates the progress after the prelude's calls, with its step under execution.
    pub fn new(domain: &'d FlowDomain) -> FlapProgress<'d> {
        let node = |step: &grammata_agents::flows::Step| {
            domain.steps.iter().position(|other| other.text == step.text).unwrap_or_default()
        };
        let mut apis = FixedBitSet::with_capacity(domain.apis.len());
        domain.prelude_apis().iter().for_each(|&api| apis.insert(api));
        FlapProgress {
            domain,
            nodes: domain.steps.iter().map(node).collect(),
            apis,
            steps: FixedBitSet::with_capacity(domain.steps.len()),
            current: domain.prelude,
            followed: (0..domain.flows.len()).collect(),
        }
    }

    /// Returns the domain whose APIs and steps are followed.
    pub fn domain(&self) -> &'d FlowDomain {
        self.domain
    }

    /// The step under execution: the nearest step of the last thought, or at first the prelude.
    pub fn current(&self) -> usize {
        self.current
    }

    /// The followed flows: those that contain all steps of the thoughts so far, at first all flows. When no flow is
    /// left, the flows that contain the last step are followed from there.
    pub fn followed(&self) -> &[usize] {
        &self.followed
    }

    /// Whether an API was called.
    pub fn is_called(&self, api: usize) -> bool {
        self.apis.contains(api)
    }

    /// Whether an API is permitted.
    pub fn permits_api(&self, api: usize) -> bool {
        let domain = self.domain;
        let is_made = |data: usize| {
            let by_call = self.apis.ones().any(|called| domain.apis[called].outputs.contains(&data));
            by_call
                || domain.given.contains(&data)
                || domain.flows.iter().any(|flow| flow.assumes.contains(&data))
        };
        !self.is_called(api) && domain.is_served(api, &is_made)
    }

    /// The permitted APIs, in the order of the file.
    pub fn permitted_apis(&self) -> Vec<usize> {
        (0..self.domain.apis.len()).filter(|&api| self.permits_api(api)).collect()
    }

    /// Whether a step is permitted.
    pub fn permits_step(&self, step: usize) -> bool {
        let node = self.nodes[step];
        if node == self.nodes[self.current] {
            return true;
        }
        let came = |step: usize| {
            self.steps.contains(self.nodes[step]) || self.nodes[step] == self.nodes[self.current]
        };
        let follows = |flow: &grammata_agents::flows::Flow| {
            flow.steps.windows(2).any(|pair| self.nodes[pair[1]] == node && came(pair[0]))
        };
        !self.steps.contains(node) && self.domain.flows.iter().any(follows)
    }

    /// The permitted steps, in the order of the file.
    pub fn permitted_steps(&self) -> Vec<usize> {
        (0..self.domain.steps.len()).filter(|&step| self.permits_step(step)).collect()
    }

    /// Whether a step is in a followed flow.
    pub fn is_followed(&self, step: usize) -> bool {
        self.followed.iter().any(|&flow| self.has(flow, step))
    }

    fn has(&self, flow: usize, step: usize) -> bool {
        self.domain.flows[flow].steps.iter().any(|&other| self.nodes[other] == self.nodes[step])
    }

    /// Returns the step whose text is nearest to a thought, and their similarity.
    ///
    /// # Errors
    /// Errors of the similarity.
    pub fn nearest_step(&self, thought: &str, similarity: &mut dyn Similarity) -> Result<(usize, f64)> {
        let steps = self.domain.steps.iter().enumerate().map(|(place, step)| (place, step.text.as_str()));
        Ok(nearest(similarity, thought, steps)?.unwrap_or_default())
    }

    /// Records a call of `name` with a thought whose nearest step is `step`. The step is then under execution, and the
    /// previous step, if it is a different one, counts as executed. The API counts as called if the domain has it.
    pub fn take(&mut self, step: usize, name: &str) {
        if let Some(api) = self.domain.api(name) {
            self.apis.insert(api);
        }
        if self.nodes[step] != self.nodes[self.current] {
            self.steps.insert(self.nodes[self.current]);
            self.current = step;
        }
        let mut followed = self.followed.clone();
        followed.retain(|&flow| self.has(flow, step));
        if followed.is_empty() {
            followed = (0..self.domain.flows.len()).filter(|&flow| self.has(flow, step)).collect();
        }
        self.followed = followed;
    }
}
