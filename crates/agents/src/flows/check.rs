//! Parses and checks a domain: resolves names, and checks that each flow has a plan.

use super::automaton::FlowAutomaton;
use super::domain::{Api, Entry, Flow, FlowDomain, FlowOrder, Input, Outcome, Rounds, Step};
use super::entries::{self, Entries};
use super::errors;
use super::follow::follow;
use super::options::{FlowOptions, Within};
use super::written::{Written, WrittenApi, WrittenFlow, WrittenInput, WrittenOrder, WrittenStep};
use grammata::diagnostic::{Diagnostic, Notation, Place, Source};
use grammata::error::{ErrorKind, Errors, Result};
use grammata::limits::Limits;
use grammata_base::work::Budget;
use rustc_hash::{FxHashMap, FxHashSet};
use serde::Deserialize;

/// The maximum number of states searched to find out whether an entry of a flow is ever omitted, or an alternative ever
/// chosen.
const ENTRY_SEARCH: usize = 10_000;
/// The work bound of each search for unused entries, in steps.
const ENTRY_WORK: usize = 1_000_000;

impl FlowDomain {
    /// Parses a domain from TOML and checks that each of its flows can be followed.
    ///
    /// # Errors
    /// `flow/…` with the JSON Pointer and the line of each fault. The errors of the first stage that fails are combined
    /// into one; the stages are the names and entries, the form of the flows, and their plans. Limits.
    pub fn read(text: &str, limits: &Limits) -> Result<FlowDomain> {
        FlowDomain::read_with(text, limits, false)
    }

    /// Like [`read`](FlowDomain::read). With `allow_infeasible`, a flow that no plan can follow is a warning instead of
    /// an error, and automata leave the flow out.
    ///
    /// # Errors
    /// Those of [`read`](FlowDomain::read).
    pub fn read_with(text: &str, limits: &Limits, allow_infeasible: bool) -> Result<FlowDomain> {
        limits.check_source(text)?;
        let source = Source::new(text, Notation::Toml);
        let read = toml::from_str::<Written>(text).map_err(|cause| errors::toml(text, &cause));
        let checked = read.and_then(|written| domain(&written, limits, allow_infeasible));
        let mut domain = checked.map_err(|error| error.in_source(&source))?;
        source.locate(&mut domain.warnings);
        Ok(domain)
    }
}

/// Resolves names and checks flows.
pub(super) fn domain(written: &Written, limits: &Limits, allow_infeasible: bool) -> Result<FlowDomain> {
    let mut errors = Errors::default();
    let mut data = Data::default();
    let apis = apis(written, &mut data, &mut errors);
    let mut names: FxHashMap<String, usize> = FxHashMap::default();
    for (place, api) in apis.iter().enumerate() {
        for name in std::iter::once(&api.name).chain(&api.aliases) {
            if names.insert(name.clone(), place).is_some() {
                errors.push(errors::twice("the name of an API", name, format!("/apis/{}", api.name)));
            }
        }
    }
    let steps = steps(written, &names, &mut errors);
    let warnings = steps.iter().filter(|step| step.apis.is_empty()).map(|step| errors::empty_step(&step.id));
    let warnings = warnings.collect();
    let step_names: FxHashMap<&str, usize> =
        steps.iter().enumerate().map(|(place, step)| (step.id.as_str(), place)).collect();
    let prelude = step_names.get(written.prelude.as_str()).copied();
    if prelude.is_none() {
        let known = step_names.keys().copied();
        errors.push(errors::unknown("step", &written.prelude, "/prelude".to_owned(), known));
    }
    let end = names.get(&written.end).copied();
    if end.is_none() {
        let known = names.keys().map(String::as_str);
        errors.push(errors::unknown("API", &written.end, "/end".to_owned(), known));
    }
    let (mut allow, mut allowed) = (Vec::new(), FxHashSet::default());
    for (number, name) in written.allow.iter().enumerate() {
        let pointer = format!("/allow/{number}");
        match names.get(name) {
            Some(&api) if Some(api) == end || !allowed.insert(api) => {
                errors.push(errors::twice("an API of `allow` or the end", name, pointer))
            }
            Some(&api) => allow.push(api),
            None => errors.push(errors::unknown("API", name, pointer, names.keys().map(String::as_str))),
        }
    }
    let is_fixed =
        |api: usize| Some(api) == end || prelude.is_some_and(|prelude| steps[prelude].apis.contains(&api));
    for (place, api) in apis.iter().enumerate().filter(|(_, api)| !api.outcomes.is_empty()) {
        if is_fixed(place) {
            errors.push(errors::fixed_outcomes(&api.name));
        }
    }
    let given = written.given.iter().map(|name| data.place(name)).collect();
    let mut flows = Vec::new();
    let mut ids = FxHashSet::default();
    for (number, flow) in written.flows.iter().enumerate() {
        if errors.is_full() {
            break;
        }
        if !ids.insert(&flow.id) {
            errors.push(errors::twice("a flow", &flow.id, format!("/flows/{number}/id")));
        }
        let list = Entries { steps: &step_names, errors: &mut errors }.list(
            &flow.steps,
            &format!("/flows/{number}/steps"),
            0,
        );
        flows.push(resolved(flow, list, &mut data));
    }
    errors.finish()?;
    let name = written.name.clone();
    // both are present, because errors have ended this function otherwise
    let (prelude, end) = (prelude.unwrap_or_default(), end.unwrap_or_default());
    let mut domain =
        FlowDomain { name, apis, steps, flows, data: data.names, prelude, end, given, allow, warnings };
    check_flows(&mut domain, limits, allow_infeasible)?;
    Ok(domain)
}

/// Returns a flow whose prelude is still the first entry of its body.
fn resolved(written: &WrittenFlow, body: Vec<Entry>, data: &mut Data) -> Flow {
    let mut steps = Vec::new();
    entries::gold(&body, &mut steps);
    let order = match written.order {
        WrittenOrder::Whole => FlowOrder::Whole,
        WrittenOrder::Interleaved => FlowOrder::Interleaved,
    };
    let assumes = written.assumes.iter().map(|name| data.place(name)).collect();
    let (id, intent) = (written.id.clone(), written.intent.clone());
    Flow { id, intent, steps, body, order, assumes, is_feasible: true }
}

fn check_flows(domain: &mut FlowDomain, limits: &Limits, allow_infeasible: bool) -> Result<()> {
    let mut errors = Errors::default();
    for flow in 0..domain.flows.len() {
        if errors.is_full() {
            break;
        }
        errors.take(shape(domain, flow));
        let body = &mut domain.flows[flow].body;
        body.drain(..1.min(body.len()));
    }
    errors.finish()?;
    let mut errors = Errors::default();
    let (budget, of_warnings) = (Budget::of_compilation(limits, 0), Budget::of_compilation(limits, 0));
    for flow in 0..domain.flows.len() {
        if errors.is_full() {
            break;
        }
        let is_feasible = feasible(domain, flow, limits, &budget)
            .map_err(|error| error.or_at(&Place::Pointer(format!("/flows/{flow}"))));
        match (is_feasible, allow_infeasible) {
            (Ok(()), _) => domain.warnings.extend(unused_entries(domain, flow, limits, &of_warnings)),
            (Err(error), true) if error.kind() == ErrorKind::Grammar => {
                domain.flows[flow].is_feasible = false;
                domain.warnings.push(error.diagnostic().clone());
            }
            (Err(error), _) => errors.push(error),
        }
    }
    errors.finish()?;
    same_words(domain);
    Ok(())
}

/// Checks that the prelude is the first entry, that the end is the last API of the last entry and occurs nowhere else,
/// that each of these entries is a step carried out exactly once, and that `after` has no cycle.
fn shape(domain: &FlowDomain, number: usize) -> Result<()> {
    let flow = &domain.flows[number];
    let pointer = format!("/flows/{number}/steps");
    let is_once = |entry: Option<&Entry>| matches!(entry, Some(Entry::Step { rounds: Rounds::ONCE, .. }));
    let is_prelude = |entry: &Entry| matches!(entry, Entry::Step { step, .. } if *step == domain.prelude);
    if !is_once(flow.body.first()) || !flow.body.first().is_some_and(is_prelude) {
        return Err(errors::prelude(&flow.id, pointer));
    }
    let (last, others) = flow.body.split_last().unwrap_or((&flow.body[0], &[]));
    let of_last = match last {
        Entry::Step { step, .. } => domain.steps[*step].apis.as_slice(),
        Entry::Either(_) => &[],
    };
    let mut before = Vec::new();
    all_steps(others, &mut before);
    let calls = before.iter().flat_map(|&step| &domain.steps[step].apis);
    let early = calls.chain(of_last.split_last().map_or(&[][..], |(_, rest)| rest));
    if !is_once(Some(last))
        || of_last.last() != Some(&domain.end)
        || early.into_iter().any(|&api| api == domain.end)
    {
        let found = of_last.last().map_or("no API", |&api| domain.apis[api].name.as_str());
        return Err(errors::end(found, pointer));
    }
    if let Err(circle) = entries::ordered(&flow.body[1..]) {
        let name = |&place: &usize| match flow.body.get(place + 1) {
            Some(Entry::Step { step, .. }) => domain.steps[*step].id.as_str(),
            _ => "",
        };
        let names: Vec<&str> = circle.iter().map(name).collect();
        return Err(errors::cyclic_steps(&flow.id, &names.join(" after "), pointer));
    }
    Ok(())
}

fn all_steps(entries: &[Entry], into: &mut Vec<usize>) {
    for entry in entries {
        match entry {
            Entry::Step { step, .. } => into.push(*step),
            Entry::Either(alternatives) => alternatives.iter().for_each(|list| all_steps(list, into)),
        }
    }
}

/// Checks that some plan follows a flow.
fn feasible(domain: &FlowDomain, flow: usize, limits: &Limits, budget: &Budget) -> Result<()> {
    if domain.flows[flow].is_plain() {
        follow(domain, flow, Within::Any, budget)?;
    }
    let options = FlowOptions { flow: Some(flow), limits: limits.clone(), ..FlowOptions::default() };
    match FlowAutomaton::new(domain, options)?.is_empty() {
        false => Ok(()),
        true => {
            follow(domain, flow, Within::Any, budget)?;
            Err(errors::infeasible(&domain.flows[flow].id, format!("/flows/{flow}/steps")))
        }
    }
}

/// Returns warnings of optional steps that are never omitted and of alternatives that are never chosen, without those
/// inside of alternatives, as far as the budget suffices to find them.
fn unused_entries(domain: &FlowDomain, number: usize, limits: &Limits, budget: &Budget) -> Vec<Diagnostic> {
    let mut warnings = Vec::new();
    let copied = domain.apis.len() + domain.steps.len();
    if domain.flows[number].is_plain() || budget.spend(copied).is_err() {
        return warnings;
    }
    let limits = limits
        .clone()
        .plan_states(limits.plan_states.min(ENTRY_SEARCH))
        .compile_work(limits.compile_work.min(ENTRY_WORK));
    let flows = vec![domain.flows[number].clone()];
    let mut alone = FlowDomain { flows, warnings: Vec::new(), ..domain.clone() };
    let mut never = |place: usize, entry: Entry| {
        if budget.spend(alone.flows[0].body.len()).is_err() {
            return false;
        }
        let before = std::mem::replace(&mut alone.flows[0].body[place], entry);
        let options = FlowOptions { limits: limits.clone(), ..FlowOptions::default() };
        let automaton = FlowAutomaton::new(&alone, options);
        let work = automaton.as_ref().map_or(ENTRY_WORK, FlowAutomaton::work);
        let is_empty = automaton.is_ok_and(|automaton| automaton.is_empty());
        alone.flows[0].body[place] = before;
        budget.spend(work).is_ok() && is_empty
    };
    let flow = &domain.flows[number];
    for (place, entry) in flow.body.iter().enumerate() {
        let pointer = format!("/flows/{number}/steps/{}", place + 1);
        match entry {
            Entry::Step { step, rounds, .. } if rounds.min == 0 => {
                if never(place, Entry::Either(vec![Vec::new()])) {
                    warnings.push(errors::never_left_out(&flow.id, &domain.steps[*step].id, pointer));
                }
            }
            Entry::Either(alternatives) => {
                for (number, alternative) in alternatives.iter().enumerate() {
                    if never(place, Entry::Either(vec![alternative.clone()])) {
                        warnings.push(errors::never_taken(&flow.id, format!("{pointer}/either/{number}")));
                    }
                }
            }
            Entry::Step { .. } => {}
        }
    }
    warnings
}

/// Warns of flows with equal orders, assumed data and bodies, except for the names of steps, so that they have the
/// same plans.
fn same_words(domain: &mut FlowDomain) {
    let mut known: FxHashMap<String, usize> = FxHashMap::default();
    let mut warnings = Vec::new();
    for (number, flow) in domain.flows.iter().enumerate() {
        let mut signature = format!("{:?} {} {:?}", flow.order, flow.is_partial_order(), flow.assumes);
        sign(domain, &flow.body, &mut signature);
        match known.get(&signature) {
            Some(&first) => {
                let ids = (domain.flows[first].id.as_str(), flow.id.as_str());
                warnings.push(errors::same_words(ids, format!("/flows/{number}/steps")));
            }
            None => {
                known.insert(signature, number);
            }
        }
    }
    domain.warnings.extend(warnings);
}

/// Appends entries to a text, with the APIs of each step instead of the step.
fn sign(domain: &FlowDomain, entries: &[Entry], into: &mut String) {
    for entry in entries {
        match entry {
            Entry::Step { step, rounds, after } => {
                let of_step = (&domain.steps[*step].apis, rounds.min, rounds.max, after);
                into.push_str(&format!("{of_step:?}"));
            }
            Entry::Either(alternatives) => {
                into.push('{');
                for alternative in alternatives {
                    sign(domain, alternative, into);
                    into.push('|');
                }
                into.push('}');
            }
        }
    }
}

/// The names of data, numbered in order of appearance.
#[derive(Default)]
struct Data {
    names: Vec<String>,
    places: FxHashMap<String, usize>,
}

impl Data {
    fn place(&mut self, name: &str) -> usize {
        if let Some(&place) = self.places.get(name) {
            return place;
        }
        self.names.push(name.to_owned());
        self.places.insert(name.to_owned(), self.names.len() - 1);
        self.names.len() - 1
    }
}

fn is_name(name: &str) -> bool {
    let mut bytes = name.bytes();
    bytes.next().is_some_and(|byte| byte.is_ascii_alphabetic())
        && name.len() <= 64
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

fn apis(written: &Written, data: &mut Data, errors: &mut Errors) -> Vec<Api> {
    let mut apis = Vec::new();
    for (name, value) in &written.apis {
        if errors.is_full() {
            break;
        }
        let pointer = format!("/apis/{name}");
        let api: WrittenApi = match value.clone().try_into() {
            Ok(api) => api,
            Err(cause) => {
                errors.push(errors::value(pointer, &cause));
                continue;
            }
        };
        for name in std::iter::once(name).chain(&api.aliases).filter(|name| !is_name(name)) {
            errors.push(errors::name(name, pointer.clone()));
        }
        let mut inputs = Vec::new();
        for (number, input) in api.inputs.iter().enumerate() {
            let any_of: Vec<usize> = match input {
                WrittenInput::One(name) => vec![data.place(name)],
                WrittenInput::AnyOf(names) => names.iter().map(|name| data.place(name)).collect(),
            };
            if any_of.is_empty() {
                errors.push(errors::empty_alternatives(name, format!("{pointer}/inputs/{number}")));
            }
            inputs.push(Input { any_of });
        }
        let outputs = api.outputs.iter().map(|name| data.place(name)).collect();
        let mut outcomes = Vec::new();
        for (outcome, makes) in &api.outcomes {
            let pointer = format!("{pointer}/outcomes/{outcome}");
            if !is_name(outcome) {
                errors.push(errors::outcome_name(outcome, pointer.clone()));
            }
            match Vec::<String>::deserialize(makes.clone()) {
                Ok(makes) => outcomes.push(Outcome {
                    name: outcome.clone(),
                    outputs: makes.iter().map(|name| data.place(name)).collect(),
                }),
                Err(cause) => errors.push(errors::value(pointer, &cause)),
            }
        }
        let WrittenApi { aliases, description, .. } = api;
        apis.push(Api { name: name.clone(), aliases, inputs, outputs, outcomes, description });
    }
    apis
}

fn steps(written: &Written, names: &FxHashMap<String, usize>, errors: &mut Errors) -> Vec<Step> {
    let mut steps = Vec::new();
    for (id, value) in &written.steps {
        if errors.is_full() {
            break;
        }
        let step: WrittenStep = match value.clone().try_into() {
            Ok(step) => step,
            Err(cause) => {
                errors.push(errors::value(format!("/steps/{id}"), &cause));
                continue;
            }
        };
        let (mut apis, mut known) = (Vec::new(), FxHashSet::default());
        for (number, name) in step.apis.iter().enumerate() {
            let pointer = format!("/steps/{id}/apis/{number}");
            match names.get(name) {
                Some(&api) if !known.insert(api) => {
                    errors.push(errors::twice("an API of a step", name, pointer))
                }
                Some(&api) => apis.push(api),
                None => {
                    errors.push(errors::unknown("API", name, pointer, names.keys().map(String::as_str)));
                }
            }
        }
        steps.push(Step { id: id.clone(), text: step.text, apis });
    }
    steps
}
