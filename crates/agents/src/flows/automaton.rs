//! The plans of a domain as an automaton over APIs, at one of five levels of strictness.
//!
//! At levels 3 and 4, a state counts the calls of each API. At levels 5 and 6, a state is a set of
//! [places](super::places): the subset construction over the plan's possible positions in each flow. Places from which
//! the end cannot be reached are omitted, so every state at these levels can be completed.

use super::domain::{Entry, FlowDomain};
use super::errors;
use super::follow::follow;
use super::options::{FlowOptions, Level, Within};
use super::places::{LOOKUPS, PlaceId, Places};
use fixedbitset::FixedBitSet;
use grammata::error::Result;
use grammata::limits::{LimitKind, Limits};
use grammata::transitions::{Transition, TransitionSystem};
use grammata_base::work::Budget;
use rustc_hash::{FxHashMap, FxHashSet};

/// A call, which is a letter of the automaton.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FlowCall {
    /// The API, as an index into [`FlowDomain::apis`].
    pub api: usize,
    /// The step that the call carries out, as an index into [`FlowDomain::steps`]. `None` without
    /// [`FlowOptions::by_step`], below level 5, and for a call that `allow` permits.
    pub step: Option<usize>,
    /// The answer, as an index into the API's outcomes; `None` for an API without outcomes.
    pub outcome: Option<usize>,
}

impl FlowCall {
    /// Returns the text of the call: `Name()`, followed by `=outcome` if the API has outcomes.
    pub fn text(&self, domain: &FlowDomain) -> String {
        let api = &domain.apis[self.api];
        format!("{}(){}", api.name, self.answer(domain))
    }

    /// Returns `=outcome`, or an empty text without an outcome.
    pub fn answer(&self, domain: &FlowDomain) -> String {
        let outcome = self.outcome.and_then(|outcome| domain.apis[self.api].outcomes.get(outcome));
        outcome.map(|outcome| format!("={}", outcome.name)).unwrap_or_default()
    }
}

/// The id of a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FlowState(pub(super) u32);

/// The content of a state.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Content {
    /// The plan has ended.
    Ended,
    /// Any call is allowed, and the plan may end.
    Free,
    /// The number of calls of each API ([`UNBOUNDED`] for a called API without a bound), and at level 4 the data that
    /// answers of APIs with outcomes made.
    Uses(Box<[u32]>, FixedBitSet),
    /// The possible places of the plan, in increasing order.
    Places(Vec<PlaceId>),
}

/// Marks the bound of an API that may be called any number of times.
const UNBOUNDED: u32 = u32::MAX;

/// An allowed next call, with the steps that it may carry out and the flows to which it may belong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Feasible {
    /// The call.
    pub call: FlowCall,
    /// The steps that the call can carry out, by index; empty if the call carries out no step.
    pub steps: Vec<usize>,
    /// The flows to which the call may belong, by index.
    pub flows: Vec<usize>,
}

/// The automaton of a domain's plans after the prelude. States are constructed on demand.
#[derive(Debug)]
pub struct FlowAutomaton<'d> {
    domain: &'d FlowDomain,
    options: FlowOptions,
    /// The flows that a plan may follow.
    flows: Vec<usize>,
    /// The maximum number of calls of each API at levels 3 and 4; empty at other levels.
    most: Vec<u32>,
    /// The data available after the prelude at levels 3 and 4.
    given: FixedBitSet,
    /// The places that were found; `None` at levels other than 5 and 6.
    places: Option<Places<'d>>,
    contents: Vec<Content>,
    /// If APIs have outcomes: the states from which a plan can be finished whatever the APIs answer.
    open: Option<FixedBitSet>,
    ids: FxHashMap<Content, FlowState>,
    /// Memory of the lists in `contents` and `ids`, in bytes.
    bytes: usize,
    /// The work budget for computing successors of states.
    work: Budget,
    /// The states whose share of the work budget was spent.
    expanded: FixedBitSet,
}

impl<'d> FlowAutomaton<'d> {
    /// Creates the automaton of a domain.
    ///
    /// # Errors
    /// - `flow/unknown-name` if the domain does not have the flow of the options.
    /// - `flow/level` for level 1, whose letters are not the domain's APIs.
    /// - `flow/intents` if there are more intents than feasible flows that the options allow (one intent is always
    ///   allowed), or no intents.
    /// - `flow/unprovided-input` and `flow/cyclic-dependency` if APIs in declared order lack data, at levels 5 and 6.
    /// - `flow/unanswered` if, because of some answer of an API, no plan can be finished whatever the APIs answer.
    /// - Limits.
    pub fn new(domain: &'d FlowDomain, options: FlowOptions) -> Result<FlowAutomaton<'d>> {
        let flows: Vec<usize> = match options.flow {
            Some(flow) if flow >= domain.flows.len() => {
                return Err(errors::unknown_flow(flow));
            }
            Some(flow) => vec![flow],
            None => (0..domain.flows.len()).collect(),
        };
        let flows: Vec<usize> = flows.into_iter().filter(|&flow| domain.flows[flow].is_feasible).collect();
        if options.level == Level::Format {
            return Err(errors::level(1));
        }
        if options.intents == 0 || options.intents > flows.len().max(1) {
            return Err(errors::intents(options.intents, flows.len()));
        }
        if options.within == Within::Declared && options.level >= Level::Apis {
            let budget = Budget::of_compilation(&options.limits, 0);
            flows.iter().try_for_each(|&flow| follow(domain, flow, Within::Declared, &budget))?;
        }
        let is_of_uses = matches!(options.level, Level::Bounded | Level::Data);
        let mut automaton = FlowAutomaton {
            domain,
            most: if is_of_uses { most(domain, &flows, &options)? } else { Vec::new() },
            given: domain.given_after_prelude(if is_of_uses { &flows } else { &[] }),
            work: Budget::of_compilation(&options.limits, 0),
            expanded: FixedBitSet::new(),
            flows,
            options,
            places: None,
            contents: Vec::new(),
            open: None,
            ids: FxHashMap::default(),
            bytes: 0,
        };
        let start = match automaton.options.level {
            Level::Format | Level::Names => Content::Free,
            Level::Bounded | Level::Data => Content::Uses(
                vec![0; domain.apis.len()].into(),
                FixedBitSet::with_capacity(domain.data.len()),
            ),
            Level::Apis | Level::Steps => {
                let (places, starts) = Places::new(domain, &automaton.flows, &automaton.options)?;
                automaton.places = Some(places);
                Content::Places(starts)
            }
        };
        automaton.intern(start)?;
        if domain.has_outcomes() {
            automaton.find_open()?;
        }
        Ok(automaton)
    }

    /// Returns the domain whose plans the automaton accepts.
    pub fn domain(&self) -> &'d FlowDomain {
        self.domain
    }

    /// Returns the options with which the automaton was created.
    pub fn options(&self) -> &FlowOptions {
        &self.options
    }

    /// Returns the flows that a plan in a state may be following, by index; at levels 2 to 4 and after the end, all
    /// feasible flows of the options.
    pub fn flows(&self, state: FlowState) -> Vec<usize> {
        match (self.content(state), &self.places) {
            (Content::Places(places), Some(known)) => {
                let mut flows: Vec<usize> = places.iter().map(|&place| known.flow(place)).collect();
                flows.sort_unstable();
                flows.dedup();
                flows
            }
            _ => self.flows.clone(),
        }
    }

    /// Returns the allowed APIs, if the level is 3, no API has outcomes and no API may be called more than once.
    pub(super) fn at_most_once(&self) -> Option<Vec<usize>> {
        let is_once = self.options.level == Level::Bounded
            && !self.domain.has_outcomes()
            && self.most.iter().all(|&most| most <= 1);
        is_once.then(|| (0..self.most.len()).filter(|&api| self.most[api] == 1).collect())
    }

    /// Returns the work spent so far, in steps.
    pub(super) fn work(&self) -> usize {
        let of_places = self.places.as_ref().map_or(0, Places::work);
        usize::try_from(self.work.spent() + of_places).unwrap_or(usize::MAX)
    }

    /// Returns whether there is no plan at levels 5 and 6; false at other levels.
    pub(super) fn is_empty(&self) -> bool {
        matches!(self.content(FlowState(0)), Content::Places(places) if places.is_empty())
    }

    /// Returns the allowed calls in ascending order, with the steps that each may carry out and the flows to which it
    /// may belong.
    ///
    /// # Errors
    /// Limits.
    pub fn options_of(&mut self, state: FlowState) -> Result<Vec<Feasible>> {
        let mut found: Vec<Feasible> = Vec::new();
        let (Content::Places(places), Some(known)) = (self.content(state).clone(), &mut self.places) else {
            let mut transitions = Vec::new();
            self.successors(&state, &mut transitions)?;
            let of_call = |transition: Transition<FlowState, FlowCall>| {
                let has = |step: &usize| self.domain.steps[*step].apis.contains(&transition.label.api);
                let steps: Vec<usize> = (0..self.domain.steps.len()).filter(has).collect();
                let has =
                    |flow: &usize| self.domain.flows[*flow].steps.iter().any(|step| steps.contains(step));
                let flows = self.flows.iter().copied().filter(has).collect();
                Feasible { call: transition.label, steps: steps.clone(), flows }
            };
            return Ok(transitions.into_iter().map(of_call).collect());
        };
        let mut places_of: FxHashMap<FlowCall, usize> = FxHashMap::default();
        for place in places {
            for one in known.moves(place)? {
                let step = one.step().filter(|_| self.options.by_step);
                let call = FlowCall { api: one.api(), step, outcome: one.outcome() };
                let at = *places_of.entry(call).or_insert_with(|| {
                    found.push(Feasible { call, steps: Vec::new(), flows: Vec::new() });
                    found.len() - 1
                });
                found[at].steps.extend(one.step());
                found[at].flows.push(one.flow());
            }
        }
        for one in &mut found {
            [&mut one.steps, &mut one.flows].into_iter().for_each(|list| {
                list.sort_unstable();
                list.dedup();
            });
        }
        found.sort_by_key(|one| one.call);
        if self.open.is_some() {
            let mut transitions = Vec::new();
            self.successors(&state, &mut transitions)?;
            let taken: FxHashSet<FlowCall> = transitions.iter().map(|next| next.label).collect();
            found.retain(|one| taken.contains(&one.call));
        }
        Ok(found)
    }

    fn content(&self, state: FlowState) -> &Content {
        &self.contents[state.0 as usize]
    }

    fn intern(&mut self, content: Content) -> Result<FlowState> {
        if let Some(&id) = self.ids.get(&content) {
            return Ok(id);
        }
        let limit = self.options.limits.plan_states;
        if self.contents.len() >= limit {
            return Err(Limits::exceeded(LimitKind::PlanStates, limit, "more states of flows"));
        }
        self.bytes += match &content {
            Content::Uses(uses, made) => 2 * (4 * uses.len() + made.len() / 8),
            Content::Places(places) => 2 * 4 * places.len(),
            Content::Ended | Content::Free => 0,
        };
        self.options.limits.check_states_bytes(self.bytes)?;
        let id = FlowState(self.contents.len() as u32);
        self.contents.push(content.clone());
        self.ids.insert(content, id);
        Ok(id)
    }

    /// Returns the states after each allowed call and answer, in the order of the file.
    fn after_uses(
        &self,
        uses: &[u32],
        answered: &FixedBitSet,
        is_first: bool,
    ) -> Result<Vec<(FlowCall, Content)>> {
        let mut made = self.given.clone();
        made.union_with(answered);
        for (api, _) in uses.iter().enumerate().filter(|(_, uses)| **uses > 0) {
            self.domain.apis[api].outputs.iter().for_each(|&data| made.insert(data));
        }
        let mut after = Vec::new();
        for api in 0..self.domain.apis.len() {
            let is_open = self.most[api] == UNBOUNDED || uses[api] < self.most[api];
            let (is_served, lookups) = match self.options.level < Level::Data {
                true => (true, 0),
                false => self.domain.is_served_of(api, &made),
            };
            if is_first {
                self.work.spend(lookups / LOOKUPS)?;
            }
            if !is_open || !is_served {
                continue;
            }
            for outcome in self.domain.apis[api].answers() {
                self.options.limits.check_states_bytes(after.len().saturating_mul(uses.len() * 4))?;
                if is_first {
                    self.work.spend(uses.len() / LOOKUPS)?;
                }
                let content = match api == self.domain.end {
                    true => Content::Ended,
                    false => {
                        let mut uses: Box<[u32]> = uses.into();
                        uses[api] = if self.most[api] == UNBOUNDED { UNBOUNDED } else { uses[api] + 1 };
                        let mut answered = answered.clone();
                        if outcome.is_some() && self.options.level >= Level::Data {
                            self.domain.apis[api].makes(outcome).for_each(|data| answered.insert(data));
                        }
                        Content::Uses(uses, answered)
                    }
                };
                after.push((FlowCall { api, step: None, outcome }, content));
            }
        }
        Ok(after)
    }

    /// Returns the states after each call and answer, including those from which no plan can be finished.
    fn after(&mut self, state: &FlowState) -> Result<Vec<Transition<FlowState, FlowCall>>> {
        self.expanded.grow(self.contents.len());
        let is_first = !self.expanded.put(state.0 as usize);
        let after = match self.content(*state).clone() {
            Content::Ended => Vec::new(),
            Content::Free => {
                let apis = self.domain.apis.iter().enumerate();
                let calls = apis.flat_map(|(api, one)| {
                    one.answers().map(move |outcome| FlowCall { api, step: None, outcome })
                });
                calls.map(|call| (call, Content::Free)).collect()
            }
            Content::Uses(uses, answered) => self.after_uses(&uses, &answered, is_first)?,
            Content::Places(places) => self.after_places(&places, is_first)?,
        };
        after
            .into_iter()
            .map(|(label, content)| Ok(Transition { label, to: self.intern(content)? }))
            .collect()
    }

    /// Returns whether the answer of a call is consistent with the answers known in advance.
    fn is_expected(&self, call: FlowCall) -> bool {
        let mut known = self.options.answers.iter().filter(|(api, _)| *api == call.api);
        call.outcome.is_none() || known.all(|&(_, outcome)| call.outcome == Some(outcome))
    }

    /// Finds the greatest set of states that calls cannot leave, whatever the APIs answer, and in which the end is
    /// reachable (Ramadge and Wonham 1987).
    ///
    /// # Errors
    /// `flow/unanswered` if the start is not in the set because of an answer; limits.
    fn find_open(&mut self) -> Result<()> {
        let mut after: Vec<Vec<Transition<FlowState, FlowCall>>> = Vec::new();
        let mut transitions = 0;
        while after.len() < self.contents.len() {
            after.push(self.after(&FlowState(after.len() as u32))?);
            transitions += after[after.len() - 1].len();
            self.charge(transitions * (size_of::<Transition<FlowState, FlowCall>>() + size_of::<usize>()))?;
        }
        let mut open = FixedBitSet::with_capacity(after.len());
        open.insert_range(..);
        let mut first_lost = None;
        loop {
            self.work.spend((after.len() + transitions) / LOOKUPS)?;
            // backwards from the ends, along calls whose answers all stay in the set
            let mut before: Vec<Vec<usize>> = vec![Vec::new(); after.len()];
            for (state, next) in after.iter().enumerate().filter(|(state, _)| open.contains(*state)) {
                for answers in next.chunk_by(is_same_call) {
                    let label = answers[0].label;
                    // transitions and outcomes are both in the order of the file
                    let mut of_call = answers.iter().peekable();
                    let lost = self.domain.apis[label.api].answers().find(|outcome| {
                        let answer = of_call.next_if(|one| one.label.outcome == *outcome);
                        answer.is_none_or(|one| !open.contains(one.to.0 as usize))
                    });
                    match lost {
                        None => answers.iter().for_each(|one| before[one.to.0 as usize].push(state)),
                        Some(outcome) => _ = first_lost.get_or_insert((label.api, outcome)),
                    }
                }
            }
            let mut reach = FixedBitSet::with_capacity(after.len());
            let mut ends: Vec<usize> = (0..after.len())
                .filter(|&state| open.contains(state) && self.is_accepting(&FlowState(state as u32)))
                .collect();
            while let Some(state) = ends.pop() {
                if !reach.put(state) {
                    ends.extend(&before[state]);
                }
            }
            if reach == open {
                break;
            }
            open = reach;
        }
        if !open.contains(0)
            && let Some((api, Some(outcome))) = first_lost
        {
            let api = &self.domain.apis[api];
            return Err(errors::unanswered(&api.name, &api.outcomes[outcome].name));
        }
        self.open = Some(open);
        Ok(())
    }

    fn after_places(&mut self, places: &[PlaceId], is_first: bool) -> Result<Vec<(FlowCall, Content)>> {
        let mut after: FxHashMap<FlowCall, Option<Vec<PlaceId>>> = FxHashMap::default();
        let Some(known) = &mut self.places else { return Ok(Vec::new()) };
        for &place in places {
            let moves = known.moves(place)?;
            if is_first {
                self.work.spend(1 + moves.len() / LOOKUPS)?;
            }
            for one in moves {
                let step = one.step().filter(|_| self.options.by_step);
                let call = FlowCall { api: one.api(), step, outcome: one.outcome() };
                let places = after.entry(call).or_insert_with(|| one.to().map(|_| Vec::new()));
                if let (Some(places), Some(to)) = (places, one.to()) {
                    places.push(to);
                }
            }
        }
        let mut after: Vec<(FlowCall, Content)> = after
            .into_iter()
            .map(|(call, places)| match places {
                None => (call, Content::Ended),
                Some(mut places) => {
                    places.sort_unstable();
                    places.dedup();
                    (call, Content::Places(places))
                }
            })
            .collect();
        after.sort_unstable_by_key(|(call, _)| *call);
        Ok(after)
    }
}

/// Returns whether two transitions are answers of the same call.
fn is_same_call(a: &Transition<FlowState, FlowCall>, b: &Transition<FlowState, FlowCall>) -> bool {
    (a.label.api, a.label.step) == (b.label.api, b.label.step)
}

/// Returns the maximum number of calls of each API at levels 3 and 4: the greatest number of calls in any `intents`
/// flows together, but at least one; one for the end, and none for the APIs of the prelude. An API of `allow` may be
/// called once more than in the flows, as at levels 5 and 6.
fn most(domain: &FlowDomain, flows: &[usize], options: &FlowOptions) -> Result<Vec<u32>> {
    let mut by_api: Vec<Vec<u32>> = vec![Vec::new(); domain.apis.len()];
    let mut work = options.limits.plan_states;
    for &flow in flows {
        for (api, uses) in uses(domain, &domain.flows[flow].body, &options.limits, &mut work)? {
            by_api[api].push(uses);
        }
    }
    let mut extra = vec![0u32; domain.apis.len()];
    domain.allow.iter().for_each(|&api| extra[api] = 1);
    let of_api = |(api, mut uses): (usize, Vec<u32>)| {
        uses.sort_unstable_by(|a, b| b.cmp(a));
        let together =
            uses.iter().take(options.intents).fold(extra[api], |sum, &uses| sum.saturating_add(uses));
        if api == domain.end { 1 } else { together.max(1) }
    };
    let mut most: Vec<u32> = by_api.into_iter().enumerate().map(of_api).collect();
    domain.prelude_apis().iter().for_each(|&api| most[api] = extra[api]);
    Ok(most)
}

/// Returns the maximum number of calls of each API in a list of entries.
fn uses(
    domain: &FlowDomain,
    entries: &[Entry],
    limits: &Limits,
    work: &mut usize,
) -> Result<FxHashMap<usize, u32>> {
    let mut found: FxHashMap<usize, u32> = FxHashMap::default();
    let mut add = |api: usize, count: u32| {
        let uses = found.entry(api).or_default();
        *uses = uses.saturating_add(count);
    };
    for entry in entries {
        match entry {
            Entry::Step { step, rounds, .. } => {
                let apis = &domain.steps[*step].apis;
                let exceeded =
                    || Limits::exceeded(LimitKind::PlanStates, limits.plan_states, "more calls in flows");
                *work = work.checked_sub(apis.len() + 1).ok_or_else(exceeded)?;
                apis.iter().for_each(|&api| add(api, rounds.max.unwrap_or(UNBOUNDED)));
            }
            Entry::Either(alternatives) => {
                let mut most: FxHashMap<usize, u32> = FxHashMap::default();
                for alternative in alternatives {
                    for (api, count) in uses(domain, alternative, limits, work)? {
                        let most = most.entry(api).or_default();
                        *most = count.max(*most);
                    }
                }
                most.into_iter().for_each(|(api, count)| add(api, count));
            }
        }
    }
    Ok(found)
}

impl TransitionSystem for FlowAutomaton<'_> {
    type State = FlowState;
    type Label = FlowCall;

    fn start(&self) -> FlowState {
        FlowState(0)
    }

    fn successors(
        &mut self,
        state: &FlowState,
        into: &mut Vec<Transition<FlowState, FlowCall>>,
    ) -> Result<()> {
        let mut all = self.after(state)?;
        if let Some(open) = &self.open {
            let mut taken = Vec::with_capacity(all.len());
            for answers in all.chunk_by(is_same_call) {
                let finished = answers.iter().filter(|one| open.contains(one.to.0 as usize)).count();
                let is_taken = finished == self.domain.apis[answers[0].label.api].answers().count();
                taken.extend(answers.iter().map(|one| is_taken && self.is_expected(one.label)));
            }
            let mut taken = taken.into_iter();
            all.retain(|_| taken.next().unwrap_or_default());
        }
        into.append(&mut all);
        Ok(())
    }

    fn charge(&mut self, held: usize) -> Result<()> {
        self.options.limits.check_held_bytes(held)
    }

    fn has_outcomes(&self) -> bool {
        self.domain.has_outcomes()
    }

    fn action(&self, label: &FlowCall) -> Option<usize> {
        label.outcome.map(|_| label.api)
    }

    fn is_accepting(&self, state: &FlowState) -> bool {
        matches!(self.content(*state), Content::Ended | Content::Free)
    }
}
