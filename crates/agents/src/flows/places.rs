//! The positions of plans in flows at levels 5 and 6: a nondeterministic automaton over APIs. Its subsets are the
//! states of [`FlowAutomaton`](super::FlowAutomaton).

use super::domain::{FlowDomain, FlowOrder};
use super::options::{FlowOptions, Level, Within};
use super::program::Program;
use fixedbitset::FixedBitSet;
use grammata::error::Result;
use grammata::limits::{LimitKind, Limits};
use grammata_base::work::Budget;
use rustc_hash::FxHashMap;
use std::cell::Cell;
use std::sync::Arc;

/// The position of a thread of a program.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum At {
    Waiting,
    /// Inside a position: some of its APIs were called. `done` has their indices in the position.
    Inside {
        occurrence: u32,
        done: Box<[u32]>,
    },
    /// After a position that other positions may follow.
    After(u32),
    /// Nothing may follow.
    Closed,
}

/// The number of lookups of threads, APIs and data that count as one step of work.
pub(super) const LOOKUPS: usize = 64;

/// A position of a plan in a flow.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Place {
    flow: usize,
    /// The flows whose bodies are finished, in increasing order.
    finished: Vec<usize>,
    threads: Box<[At]>,
    /// The APIs of `allow` that were called, as increasing indices into `allow`.
    used: Box<[u32]>,
    /// The available data; in the last flow of a plan, only those that may still be used.
    made: FixedBitSet,
}

impl Place {
    /// Returns the memory of the lists of the place, in bytes.
    fn bytes(&self) -> usize {
        let done = |at: &At| if let At::Inside { done, .. } = at { 4 * done.len() } else { 0 };
        let threads: usize = self.threads.iter().map(|at| size_of::<At>() + done(at)).sum();
        threads + 8 * self.finished.len() + 4 * self.used.len() + self.made.len() / 8
    }
}

/// A move whose target has no id yet: the API, its step, its answer, and the target (`None` at the end of the plan).
type Found = (usize, Option<usize>, Option<usize>, Option<Place>);

/// The moves from a place, before their targets have ids.
#[derive(Default)]
struct Moves {
    found: Vec<Found>,
    /// The memory of the targets in `found`, in bytes.
    bytes: usize,
}

/// The id of a place.
pub(super) type PlaceId = u32;

/// A move of the nondeterministic automaton. There may be millions of moves, so ids have 32 bits, and [`NONE`] marks a
/// missing id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Move {
    api: u32,
    step: u32,
    outcome: u32,
    flow: u32,
    to: PlaceId,
}

const NONE: u32 = u32::MAX;

impl Move {
    pub(super) fn api(&self) -> usize {
        self.api as usize
    }

    /// Returns the step that the call carries out; `None` for an API of `allow`.
    pub(super) fn step(&self) -> Option<usize> {
        (self.step != NONE).then_some(self.step as usize)
    }

    /// Returns the answer of the API; `None` for an API without outcomes.
    pub(super) fn outcome(&self) -> Option<usize> {
        (self.outcome != NONE).then_some(self.outcome as usize)
    }

    /// Returns the flow to which the call belongs.
    pub(super) fn flow(&self) -> usize {
        self.flow as usize
    }

    /// Returns the target; `None` at the end of the plan.
    pub(super) fn to(&self) -> Option<PlaceId> {
        (self.to != NONE).then_some(self.to)
    }
}

/// The places found so far.
#[derive(Debug)]
pub(super) struct Places<'d> {
    domain: &'d FlowDomain,
    flows: Vec<usize>,
    within: Within,
    intents: usize,
    programs: FxHashMap<usize, Program>,
    /// Data that the end and the APIs of `allow` can use.
    always: FixedBitSet,
    limits: Limits,
    all: Vec<Place>,
    ids: FxHashMap<Place, PlaceId>,
    moves: Vec<Option<Arc<[Move]>>>,
    /// Memory of the programs, of the lists in the places and their ids, and of the moves, in bytes.
    bytes: usize,
    /// The work budget for moves and the lookups that find them.
    work: Budget,
    /// The lookups since the last step of work.
    lookups: Cell<usize>,
    /// The places from which the end is reachable; `None` if it is reachable from all.
    live: Option<FixedBitSet>,
}

impl<'d> Places<'d> {
    pub(super) fn new(
        domain: &'d FlowDomain,
        flows: &[usize],
        options: &FlowOptions,
    ) -> Result<(Places<'d>, Vec<PlaceId>)> {
        let (mut programs, mut bytes) = (FxHashMap::default(), 0);
        for &flow in flows {
            let program = Program::new(domain, flow, options.level, &options.limits)?;
            bytes += program.bytes;
            options.limits.check_states_bytes(bytes)?;
            programs.insert(flow, program);
        }
        let mut always = FixedBitSet::with_capacity(domain.data.len());
        domain.allow.iter().chain([&domain.end]).for_each(|&api| domain.add_inputs(api, &mut always));
        let can_die = flows.iter().any(|&flow| can_die(domain, flow, options.level));
        let mut places = Places {
            domain,
            flows: flows.to_vec(),
            within: options.within,
            intents: options.intents,
            programs,
            always,
            limits: options.limits.clone(),
            all: Vec::new(),
            ids: FxHashMap::default(),
            moves: Vec::new(),
            bytes,
            work: Budget::of_compilation(&options.limits, 0),
            lookups: Cell::new(0),
            live: None,
        };
        let mut starts = Vec::new();
        for &flow in flows {
            let given = domain.given_after_prelude(&[]);
            let start = places.begin(flow, Vec::new(), Box::default(), given);
            starts.push(places.intern(start)?);
        }
        if can_die {
            places.find_live()?;
            starts.retain(|&start| places.is_live(start));
        }
        Ok((places, starts))
    }

    /// Returns the work spent so far, in steps.
    pub(super) fn work(&self) -> u64 {
        self.work.spent()
    }

    pub(super) fn flow(&self, place: PlaceId) -> usize {
        self.all[place as usize].flow
    }

    fn is_live(&self, place: PlaceId) -> bool {
        self.live.as_ref().is_none_or(|live| live.contains(place as usize))
    }

    /// Returns the moves from a place that end the plan or lead to places from which the end is reachable.
    pub(super) fn moves(&mut self, place: PlaceId) -> Result<Vec<Move>> {
        let moves = self.all_moves(place)?;
        Ok(moves.iter().filter(|one| one.to().is_none_or(|to| self.is_live(to))).copied().collect())
    }

    /// Returns the place before the first API of a flow.
    fn begin(&self, flow: usize, finished: Vec<usize>, used: Box<[u32]>, mut made: FixedBitSet) -> Place {
        self.domain.flows[flow].assumes.iter().for_each(|&data| made.insert(data));
        let threads = self.programs.get(&flow).map_or(&[][..], |program| &program.threads);
        let threads = threads.iter().map(|_| At::Waiting).collect();
        Place { flow, finished, threads, used, made }
    }

    fn intern(&mut self, mut place: Place) -> Result<PlaceId> {
        if place.finished.len() + 1 >= self.intents {
            self.keep_useful(&mut place)?;
        }
        if let Some(&id) = self.ids.get(&place) {
            return Ok(id);
        }
        let limit = self.limits.plan_states;
        if self.all.len() >= limit {
            return Err(Limits::exceeded(LimitKind::PlanStates, limit, "more states of flows"));
        }
        self.bytes = self.bytes.saturating_add(2 * place.bytes());
        self.limits.check_states_bytes(self.bytes)?;
        let id = self.all.len() as PlaceId;
        self.all.push(place.clone());
        self.moves.push(None);
        self.ids.insert(place, id);
        Ok(id)
    }

    /// Removes the data that no API from a place on can use.
    fn keep_useful(&self, place: &mut Place) -> Result<()> {
        let mut useless: Vec<usize> = place.made.difference(&self.always).collect();
        if let Some(program) = self.programs.get(&place.flow) {
            for (thread, at) in program.threads.iter().zip(&place.threads) {
                if useless.is_empty() {
                    break;
                }
                self.spend_lookups(useless.len() + 1)?;
                let needs = match at {
                    At::Waiting => &thread.needs,
                    At::Inside { occurrence, .. } => &program.occurrences[*occurrence as usize].needs,
                    At::After(occurrence) => &program.occurrences[*occurrence as usize].needs_after,
                    At::Closed => continue,
                };
                useless.retain(|&data| !needs.contains(data));
            }
        }
        useless.into_iter().for_each(|data| place.made.set(data, false));
        Ok(())
    }

    /// Returns the moves from a place, including those to places from which the end is not reachable.
    fn all_moves(&mut self, id: PlaceId) -> Result<Arc<[Move]>> {
        if let Some(known) = &self.moves[id as usize] {
            return Ok(Arc::clone(known));
        }
        let place = self.all[id as usize].clone();
        let mut found = Moves::default();
        self.of_threads(&place, &mut found)?;
        self.spend_lookups(self.domain.allow.len())?;
        for (number, &api) in self.domain.allow.iter().enumerate() {
            let number = number as u32;
            if place.used.binary_search(&number).is_err() && self.is_served(api, &place)? {
                let mut next = place.clone();
                let mut used = std::mem::take(&mut next.used).into_vec();
                used.push(number);
                used.sort_unstable();
                next.used = used.into();
                self.push(api, None, next, &mut found)?;
            }
        }
        if self.is_complete(&place) {
            if place.finished.len() + 1 < self.intents {
                let mut finished = place.finished.clone();
                finished.push(place.flow);
                finished.sort_unstable();
                for &flow in self.flows.iter().filter(|flow| !finished.contains(flow)) {
                    let start = self.begin(flow, finished.clone(), place.used.clone(), place.made.clone());
                    self.of_threads(&start, &mut found)?;
                }
            } else if self.is_served(self.domain.end, &place)? {
                let steps = &self.domain.flows[place.flow].steps;
                found.found.push((self.domain.end, steps.last().copied(), None, None));
            }
        }
        let found = found.found;
        self.bytes = self.bytes.saturating_add(found.len() * size_of::<Move>());
        self.limits.check_states_bytes(self.bytes)?;
        let mut moves = Vec::with_capacity(found.len());
        for (api, step, outcome, to) in found {
            let flow = to.as_ref().map_or(place.flow, |to| to.flow) as u32;
            let to = to.map_or(Ok(NONE), |to| self.intern(to))?;
            let number = |place: Option<usize>| place.map_or(NONE, |place| place as u32);
            let (step, outcome) = (number(step), number(outcome));
            moves.push(Move { api: api as u32, step, outcome, flow, to });
        }
        let moves: Arc<[Move]> = moves.into();
        self.moves[id as usize] = Some(Arc::clone(&moves));
        Ok(moves)
    }

    fn is_served(&self, api: usize, place: &Place) -> Result<bool> {
        let (is_served, lookups) = self.domain.is_served_of(api, &place.made);
        self.spend_lookups(lookups)?;
        Ok(is_served)
    }

    /// Spends the work for a number of lookups.
    fn spend_lookups(&self, count: usize) -> Result<()> {
        let lookups = self.lookups.get().saturating_add(count);
        self.lookups.set(lookups % LOOKUPS);
        self.work.spend(lookups / LOOKUPS)
    }

    /// Adds a call with each of its answers; the target includes the data that the call makes.
    fn push(&self, api: usize, step: Option<usize>, place: Place, found: &mut Moves) -> Result<()> {
        let bytes = size_of::<Found>() + place.bytes();
        for outcome in self.domain.apis[api].answers() {
            found.bytes = found.bytes.saturating_add(bytes);
            self.limits.check_states_bytes(found.bytes)?;
            self.work.spend(1)?;
            self.spend_lookups(bytes / size_of::<At>())?;
            let mut place = place.clone();
            self.domain.apis[api].makes(outcome).for_each(|data| place.made.insert(data));
            found.found.push((api, step, outcome, Some(place)));
        }
        Ok(())
    }

    fn is_complete(&self, place: &Place) -> bool {
        let program = self.programs.get(&place.flow);
        program.is_some_and(|program| {
            (0..place.threads.len()).all(|thread| is_finished(program, thread, &place.threads[thread]))
        })
    }

    fn of_threads(&self, place: &Place, found: &mut Moves) -> Result<()> {
        let Some(program) = self.programs.get(&place.flow) else { return Ok(()) };
        self.spend_lookups(place.threads.len())?;
        let inside = place.threads.iter().position(|at| matches!(at, At::Inside { .. }));
        for (number, (thread, at)) in program.threads.iter().zip(&place.threads).enumerate() {
            if program.is_whole && inside.is_some_and(|inside| inside != number) {
                continue;
            }
            match at {
                At::Inside { occurrence, done } => {
                    self.in_position(place, (number, &[]), *occurrence, done, found)?
                }
                At::After(before) => {
                    for &next in &program.occurrences[*before as usize].follow {
                        self.in_position(place, (number, &[]), next, &[], found)?;
                    }
                }
                At::Waiting => {
                    let is_open = |&before: &usize| !is_finished(program, before, &place.threads[before]);
                    let open = thread.before.iter().position(is_open);
                    self.spend_lookups(open.unwrap_or(thread.before.len()))?;
                    if open.is_some() {
                        continue;
                    }
                    for &first in &thread.first {
                        self.in_position(place, (number, &thread.before), first, &[], found)?;
                    }
                }
                At::Closed => {}
            }
        }
        Ok(())
    }

    /// Adds the calls that are allowed at a position of a thread. The position's APIs at the indices `done` were called
    /// already. Each call closes the threads `before`.
    fn in_position(
        &self,
        place: &Place,
        (thread, before): (usize, &[usize]),
        occurrence: u32,
        done: &[u32],
        found: &mut Moves,
    ) -> Result<()> {
        let Some(program) = self.programs.get(&place.flow) else { return Ok(()) };
        let position = &program.occurrences[occurrence as usize];
        self.spend_lookups(position.apis.len())?;
        for (number, &(api, step)) in position.apis.iter().enumerate() {
            let is_turn = match self.within {
                Within::Declared => number == done.len(),
                Within::Any => done.binary_search(&(number as u32)).is_err(),
            };
            if !is_turn || !self.is_served(api, place)? {
                continue;
            }
            let mut next = place.clone();
            before.iter().for_each(|&before| next.threads[before] = At::Closed);
            let mut done = done.to_vec();
            done.push(number as u32);
            done.sort_unstable();
            next.threads[thread] = match done.len() == position.apis.len() {
                false => At::Inside { occurrence, done: done.into() },
                true if position.follow.is_empty() => At::Closed,
                true => At::After(occurrence),
            };
            self.push(api, Some(step), next, found)?;
        }
        Ok(())
    }

    /// Finds all places, and, searching backwards, those from which the end is reachable.
    fn find_live(&mut self) -> Result<()> {
        let mut before: Vec<Vec<PlaceId>> = Vec::new();
        let mut open: Vec<PlaceId> = Vec::new();
        let mut place = 0;
        while place < self.all.len() {
            let moves = self.all_moves(place as PlaceId)?;
            before.resize_with(self.all.len(), Vec::new);
            for one in moves.iter() {
                match one.to() {
                    Some(to) => before[to as usize].push(place as PlaceId),
                    None => open.push(place as PlaceId),
                }
            }
            place += 1;
        }
        let mut live = FixedBitSet::with_capacity(self.all.len());
        while let Some(place) = open.pop() {
            if !live.put(place as usize) {
                open.extend(before.get(place as usize).into_iter().flatten());
            }
        }
        self.live = Some(live);
        Ok(())
    }
}

fn is_finished(program: &Program, thread: usize, at: &At) -> bool {
    match at {
        At::Waiting => program.threads[thread].is_nullable,
        At::Inside { .. } => false,
        At::After(occurrence) => program.occurrences[*occurrence as usize].is_last,
        At::Closed => true,
    }
}

/// Returns whether a plan of a feasible flow may reach a place where no call can follow. Data are made and never
/// consumed, so that requires a choice, or a step that has begun and waits for data of another step that may not begin
/// before it is completed.
fn can_die(domain: &FlowDomain, flow: usize, level: Level) -> bool {
    let flow = &domain.flows[flow];
    let is_long = |step: &&usize| domain.steps[**step].apis.len() > 1;
    let waits = || {
        level == Level::Steps
            && flow.is_partial_order()
            && flow.order == FlowOrder::Whole
            && flow.steps.iter().skip(1).filter(is_long).count() > 0
    };
    !flow.is_plain() || domain.has_outcomes() || waits()
}
