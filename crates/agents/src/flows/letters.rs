//! Calls as written in plans: with empty brackets, or with the API that made each input.

use super::automaton::{FlowAutomaton, FlowCall, FlowState};
use super::domain::FlowDomain;
use super::errors;
use super::options::{FlowOptions, Level};
use fixedbitset::FixedBitSet;
use grammata::error::Result;
use grammata::limits::{LimitKind, Limits};
use grammata::transitions::{Graph, Transition, TransitionSystem, minimize};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// The maker that is written for an input that was available before any call.
const GIVEN: &str = "given";

/// A call with its text, `Name()` or `Name(input=Maker, …)`, followed by `=outcome` if the API has outcomes.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Letter {
    pub(super) call: FlowCall,
    pub(super) text: Arc<str>,
}

impl Letter {
    /// Creates a call with empty brackets.
    pub(super) fn bare(domain: &FlowDomain, call: FlowCall) -> Letter {
        Letter { call, text: call.text(domain).into() }
    }
}

/// The id of a set of called APIs.
pub(super) type Called = usize;

/// Returns the minimal automaton of plans at a level of at least 3, over calls as written.
///
/// # Errors
/// If calls name makers, `flow/arguments` below level 4, where inputs may lack makers, and for data whose names do not
/// fit into brackets; those of [`FlowAutomaton::new`]; `plan_states` bounds the states, and the alternative texts of
/// one call.
pub(super) fn graph(domain: &FlowDomain, options: FlowOptions) -> Result<Graph<(FlowState, Called), Letter>> {
    if options.arguments && options.level < Level::Data {
        return Err(errors::arguments(options.level.number()));
    }
    let is_nameable =
        |name: &String| name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.'));
    if options.arguments
        && let Some(name) = domain.data.iter().find(|name| name.is_empty() || !is_nameable(name))
    {
        return Err(errors::data_name(name));
    }
    let limit = options.limits.plan_states;
    let automaton = FlowAutomaton::new(domain, options)?;
    let mut written = WrittenPlans {
        automaton,
        sets: vec![FixedBitSet::with_capacity(domain.apis.len())],
        numbers: FxHashMap::default(),
        seen: FxHashSet::default(),
        limit,
    };
    Ok(minimize(&Graph::of(&mut written, usize::MAX, |_| {})?))
}

/// The automaton of plans, paired with the set of called APIs if calls name makers.
struct WrittenPlans<'d> {
    automaton: FlowAutomaton<'d>,
    sets: Vec<FixedBitSet>,
    numbers: FxHashMap<FixedBitSet, Called>,
    seen: FxHashSet<(FlowState, Called)>,
    limit: usize,
}

impl WrittenPlans<'_> {
    /// Returns the set with another call added, if calls name makers and the call makes any data; otherwise the same
    /// set.
    fn with(&mut self, called: Called, call: FlowCall) -> Called {
        let api = &self.automaton.domain().apis[call.api];
        if !self.automaton.options().arguments || api.makes(call.outcome).next().is_none() {
            return called;
        }
        let mut set = self.sets[called].clone();
        set.grow_and_insert(self.place(call.api, call.outcome));
        *self.numbers.entry(set.clone()).or_insert_with(|| {
            self.sets.push(set);
            self.sets.len() - 1
        })
    }

    /// Returns the index of a call with its answer in sets of called APIs.
    fn place(&self, api: usize, outcome: Option<usize>) -> usize {
        let domain = self.automaton.domain();
        let before: usize = domain.apis[..api].iter().map(|api| api.outcomes.len().max(1)).sum();
        before + outcome.unwrap_or(0)
    }

    /// Returns the alternative texts of a call: if calls name makers, one for each choice of makers among the APIs of
    /// the prelude and those called so far. The maker of an input that none of these makes is `given`.
    fn texts(&self, call: FlowCall, called: Called) -> Result<Vec<String>> {
        let domain = self.automaton.domain();
        let api = &domain.apis[call.api];
        if !self.automaton.options().arguments || api.inputs.is_empty() {
            return Ok(vec![call.text(domain)]);
        }
        let mut texts = vec![format!("{}(", api.name)];
        for (number, input) in api.inputs.iter().enumerate() {
            let is_called = |maker: usize, answer: Option<usize>| {
                self.sets[called].contains(self.place(maker, answer))
                    || domain.prelude_apis().contains(&maker)
            };
            let mut values = Vec::new();
            for &data in &input.any_of {
                let makers = (0..domain.apis.len()).filter(|&maker| {
                    let api = &domain.apis[maker];
                    let mut answers = api.answers().filter(|&answer| is_called(maker, answer));
                    answers.any(|answer| api.makes(answer).any(|made| made == data))
                });
                values
                    .extend(makers.map(|maker| format!("{}={}", domain.data[data], domain.apis[maker].name)));
            }
            if let (true, Some(&first)) = (values.is_empty(), input.any_of.first()) {
                values.push(format!("{}={GIVEN}", domain.data[first]));
            }
            if texts.len().saturating_mul(values.len()) > self.limit {
                return Err(Limits::exceeded(LimitKind::PlanStates, self.limit, "more ways to name makers"));
            }
            let between = if number == 0 { "" } else { ", " };
            let longer = |text: &String| {
                values.iter().map(|value| format!("{text}{between}{value}")).collect::<Vec<_>>()
            };
            texts = texts.iter().flat_map(longer).collect();
        }
        let end = format!("){}", call.answer(domain));
        texts.iter_mut().for_each(|text| text.push_str(&end));
        Ok(texts)
    }
}

impl TransitionSystem for WrittenPlans<'_> {
    type State = (FlowState, Called);
    type Label = Letter;

    fn start(&self) -> Self::State {
        (self.automaton.start(), 0)
    }

    fn successors(
        &mut self,
        state: &Self::State,
        into: &mut Vec<Transition<Self::State, Letter>>,
    ) -> Result<()> {
        if self.seen.insert(*state) && self.seen.len() > self.limit {
            return Err(Limits::exceeded(LimitKind::PlanStates, self.limit, "more states of flows"));
        }
        let mut calls = Vec::new();
        self.automaton.successors(&state.0, &mut calls)?;
        for Transition { label: call, to } in calls {
            let called = self.with(state.1, call);
            for text in self.texts(call, state.1)? {
                into.push(Transition { label: Letter { call, text: text.into() }, to: (to, called) });
            }
        }
        Ok(())
    }

    fn is_accepting(&self, state: &Self::State) -> bool {
        self.automaton.is_accepting(&state.0)
    }
}

/// Returns the calls of the prelude, as written in plans.
pub fn prelude_texts(domain: &FlowDomain, has_arguments: bool) -> Vec<String> {
    let prelude = domain.prelude_apis();
    let text = |(place, &api): (usize, &usize)| {
        let api = &domain.apis[api];
        if !has_arguments {
            return format!("{}()", api.name);
        }
        let value = |input: &super::domain::Input| {
            let mut makers = prelude[..place].iter().rev();
            let made = makers.find_map(|&maker| {
                let data = input.any_of.iter().find(|data| domain.apis[maker].outputs.contains(data))?;
                Some((*data, domain.apis[maker].name.as_str()))
            });
            let (data, maker) = made.or_else(|| Some((*input.any_of.first()?, GIVEN)))?;
            Some(format!("{}={maker}", domain.data[data]))
        };
        let values: Vec<String> = api.inputs.iter().filter_map(value).collect();
        format!("{}({})", api.name, values.join(", "))
    };
    prelude.iter().enumerate().map(text).collect()
}
