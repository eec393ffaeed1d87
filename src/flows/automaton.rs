//! The plans of a domain as an automaton over APIs, at one of six levels of strictness.
//!
//! Data are made and never used up, so what may come never becomes less because of what came: every state of a flow that can
//! be followed at all can be completed, and no search for dead ends is needed.

use super::domain::FlowDomain;
use super::errors;
use crate::error::Result;
use crate::limits::Limits;
use crate::transitions::{Transition, TransitionSystem};
use fixedbitset::FixedBitSet;
use rustc_hash::FxHashMap;

/// What a plan keeps; each level is a sub-language of the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// 3: no API more often than once or than a flow has it, the end last.
    Bounded,
    /// 4: also each call after what makes its inputs.
    Data,
    /// 5: the APIs of one flow, as often as it has them.
    Apis,
    /// 6: the steps of one flow, one after the other.
    Steps,
}

impl Level {
    /// The level of a number, 3 to 6.
    ///
    /// # Errors
    /// `flow/infinite-level` for others.
    pub fn of(number: u8) -> Result<Level> {
        match number {
            3 => Ok(Level::Bounded),
            4 => Ok(Level::Data),
            5 => Ok(Level::Apis),
            6 => Ok(Level::Steps),
            other => Err(errors::infinite(other)),
        }
    }
}

/// The order of the APIs of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Within {
    /// Any that the data allow.
    Any,
    /// That of the file.
    Declared,
}

/// Which plans.
#[derive(Clone, Debug)]
pub struct FlowOptions {
    /// The level; 6 by default.
    pub level: Level,
    /// The order in a step; any by default.
    pub within: Within,
    /// The flow, or any of them, which is the default.
    pub flow: Option<usize>,
    /// `plan_states` bounds the states.
    pub limits: Limits,
}

impl Default for FlowOptions {
    fn default() -> FlowOptions {
        FlowOptions { level: Level::Steps, within: Within::Any, flow: None, limits: Limits::default() }
    }
}

/// The id of a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FlowState(pub(super) u32);

/// What a state is made of.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Content {
    /// The plan has ended.
    Ended,
    /// Flows that are still possible, and how often each API came.
    Uses { flows: Vec<usize>, uses: Box<[u8]> },
    /// Per flow that is still possible: its step, and which of its APIs came, in rising order of flows.
    Steps(Vec<Place>),
}

/// A place in a flow.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Place {
    flow: usize,
    step: usize,
    /// The APIs of the step that came, by their places in it.
    done: Vec<usize>,
}

/// The automaton of a domain's plans after the prelude. Its letters are APIs, by their places.
#[derive(Debug)]
pub struct FlowAutomaton<'d> {
    domain: &'d FlowDomain,
    options: FlowOptions,
    flows: Vec<usize>,
    /// Per flow and API, the greatest number of times it may come.
    most: Vec<Vec<u8>>,
    /// Per flow, the data that are there after the prelude; at levels 3 and 4 those of all possible flows.
    given: Vec<FixedBitSet>,
    contents: Vec<Content>,
    ids: FxHashMap<Content, FlowState>,
}

impl<'d> FlowAutomaton<'d> {
    /// The automaton of a domain.
    ///
    /// # Errors
    /// `flow/unknown-name` if there is no such flow; limits.
    pub fn new(domain: &'d FlowDomain, options: FlowOptions) -> Result<FlowAutomaton<'d>> {
        let flows: Vec<usize> = match options.flow {
            Some(flow) if flow >= domain.flows.len() => {
                return Err(errors::unknown("flow", &flow.to_string(), "/flows".to_owned(), []));
            }
            Some(flow) => vec![flow],
            None => (0..domain.flows.len()).collect(),
        };
        let together = options.level <= Level::Data;
        let uses = |flow: usize| {
            let mut uses = vec![0u8; domain.apis.len()];
            domain.gold(flow).into_iter().for_each(|api| uses[api] = uses[api].saturating_add(1));
            uses
        };
        let given = |flows: &[usize]| {
            let mut given = FixedBitSet::with_capacity(domain.data.len());
            let prelude = domain.prelude_apis().iter().flat_map(|&api| &domain.apis[api].outputs);
            let assumed = flows.iter().flat_map(|&flow| &domain.flows[flow].assumes);
            prelude.chain(assumed).for_each(|&data| given.insert(data));
            given
        };
        let per_flow = 0..domain.flows.len();
        let most: Vec<Vec<u8>> = match together {
            false => per_flow.clone().map(uses).collect(),
            true => {
                let mut all = vec![1u8; domain.apis.len()];
                for &flow in &flows {
                    all.iter_mut().zip(uses(flow)).for_each(|(all, own)| *all = (*all).max(own));
                }
                domain.prelude_apis().iter().for_each(|&api| all[api] = 0);
                vec![all; domain.flows.len()]
            }
        };
        let given = per_flow.map(|flow| if together { given(&flows) } else { given(&[flow]) }).collect();
        let mut automaton = FlowAutomaton {
            domain,
            options,
            flows,
            most,
            given,
            contents: Vec::new(),
            ids: FxHashMap::default(),
        };
        let start = automaton.first();
        automaton.intern(start)?;
        Ok(automaton)
    }

    /// The domain.
    pub fn domain(&self) -> &'d FlowDomain {
        self.domain
    }

    fn first(&self) -> Content {
        match self.options.level {
            Level::Steps => {
                let first = |&flow: &usize| self.entered(flow, 1);
                Content::Steps(self.flows.iter().map(first).collect())
            }
            Level::Bounded | Level::Data => {
                Content::Uses { flows: self.flows[..1.min(self.flows.len())].to_vec(), uses: self.unused() }
            }
            Level::Apis => Content::Uses { flows: self.flows.clone(), uses: self.unused() },
        }
    }

    fn unused(&self) -> Box<[u8]> {
        vec![0; self.domain.apis.len()].into()
    }

    /// The place before a step; steps without APIs are passed.
    fn entered(&self, flow: usize, mut step: usize) -> Place {
        let steps = &self.domain.flows[flow].steps;
        while steps.get(step).is_some_and(|&step| self.domain.steps[step].apis.is_empty()) {
            step += 1;
        }
        Place { flow, step, done: Vec::new() }
    }

    fn intern(&mut self, content: Content) -> Result<FlowState> {
        if let Some(&id) = self.ids.get(&content) {
            return Ok(id);
        }
        let limit = self.options.limits.plan_states;
        if self.contents.len() >= limit {
            return Err(Limits::exceeded("plan_states", limit, "more states of flows"));
        }
        let id = FlowState(self.contents.len() as u32);
        self.contents.push(content.clone());
        self.ids.insert(content, id);
        Ok(id)
    }

    /// The states after each API that may come, in the order of the file.
    fn after_uses(&self, flows: &[usize], uses: &[u8]) -> Vec<(usize, Content)> {
        let mut made: Vec<FixedBitSet> = flows.iter().map(|&flow| self.given[flow].clone()).collect();
        for (api, _) in uses.iter().enumerate().filter(|(_, uses)| **uses > 0) {
            let outputs = &self.domain.apis[api].outputs;
            made.iter_mut().for_each(|made| outputs.iter().for_each(|&data| made.insert(data)));
        }
        let mut after = Vec::new();
        for api in 0..self.domain.apis.len() {
            let is_end = api == self.domain.end;
            let may_come = |(flow, made): &(&usize, &FixedBitSet)| {
                let most = &self.most[**flow];
                let others_are_done = || {
                    let mut others = (0..uses.len()).filter(|&other| other != self.domain.end);
                    others.all(|other| uses[other] == most[other])
                };
                uses[api] < most[api]
                    && (self.options.level < Level::Data
                        || self.domain.is_served(api, &|data| made.contains(data)))
                    && (!is_end || self.options.level < Level::Apis || others_are_done())
            };
            let left: Vec<usize> = flows.iter().zip(&made).filter(may_come).map(|(&flow, _)| flow).collect();
            if left.is_empty() {
                continue;
            }
            let content = match is_end {
                true => Content::Ended,
                false => {
                    let mut uses: Box<[u8]> = uses.into();
                    uses[api] += 1;
                    Content::Uses { flows: left, uses }
                }
            };
            after.push((api, content));
        }
        after
    }

    fn after_steps(&self, places: &[Place]) -> Vec<(usize, Content)> {
        let mut after: Vec<(usize, Vec<Place>)> = Vec::new();
        for place in places {
            let flow = &self.domain.flows[place.flow];
            let Some(&step) = flow.steps.get(place.step) else { continue };
            let apis = &self.domain.steps[step].apis;
            let made = self.made(place);
            for (number, &api) in apis.iter().enumerate() {
                let is_turn = match self.options.within {
                    Within::Declared => number == place.done.len(),
                    Within::Any => !place.done.contains(&number),
                };
                // the end is the last API of all
                let is_early = api == self.domain.end && place.done.len() + 1 < apis.len();
                if !is_turn || is_early || !self.domain.is_served(api, &|data| made.contains(data)) {
                    continue;
                }
                let mut next = place.clone();
                next.done.push(number);
                next.done.sort_unstable();
                if next.done.len() == apis.len() {
                    next = self.entered(place.flow, place.step + 1);
                }
                match after.iter_mut().find(|(known, _)| *known == api) {
                    Some((_, places)) => places.push(next),
                    None => after.push((api, vec![next])),
                }
            }
        }
        after.sort_by_key(|(api, _)| *api);
        let content = |(api, places)| match api == self.domain.end {
            true => (api, Content::Ended),
            false => (api, Content::Steps(places)),
        };
        after.into_iter().map(content).collect()
    }

    /// The data that are there at a place.
    fn made(&self, place: &Place) -> FixedBitSet {
        let mut made = self.given[place.flow].clone();
        let steps = &self.domain.flows[place.flow].steps;
        let before = steps.iter().take(place.step).flat_map(|&step| &self.domain.steps[step].apis);
        let here = steps.get(place.step).map_or(&[][..], |&step| &self.domain.steps[step].apis);
        let here = place.done.iter().filter_map(|&number| here.get(number));
        for &api in before.chain(here) {
            self.domain.apis[api].outputs.iter().for_each(|&data| made.insert(data));
        }
        made
    }
}

impl TransitionSystem for FlowAutomaton<'_> {
    type State = FlowState;
    type Label = usize;

    fn start(&self) -> FlowState {
        FlowState(0)
    }

    fn successors(&mut self, state: &FlowState, into: &mut Vec<Transition<FlowState, usize>>) -> Result<()> {
        let after = match &self.contents[state.0 as usize] {
            Content::Ended => Vec::new(),
            Content::Uses { flows, uses } => self.after_uses(flows, uses),
            Content::Steps(places) => self.after_steps(places),
        };
        for (api, content) in after {
            let to = self.intern(content)?;
            into.push(Transition { label: api, to });
        }
        Ok(())
    }

    fn is_accepting(&self, state: &FlowState) -> bool {
        self.contents[state.0 as usize] == Content::Ended
    }
}
