//! A domain from what is written: names resolved, and each flow followed once.

use super::domain::{Api, Flow, FlowDomain, Input, Step, Written, WrittenApi, WrittenInput, WrittenStep};
use super::errors::{self, Maker};
use crate::error::{Errors, Result};
use rustc_hash::{FxHashMap, FxHashSet};

/// Resolves names and checks flows.
pub(super) fn domain(written: &Written) -> Result<FlowDomain> {
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
    let mut warnings = Vec::new();
    let steps = steps(written, &names, &mut errors);
    warnings
        .extend(steps.iter().filter(|step| step.apis.is_empty()).map(|step| errors::empty_step(&step.id)));
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
    let mut flows = Vec::new();
    let mut ids = FxHashSet::default();
    for (number, flow) in written.flows.iter().enumerate() {
        if errors.is_full() {
            break;
        }
        if !ids.insert(&flow.id) {
            errors.push(errors::twice("a flow", &flow.id, format!("/flows/{number}/id")));
        }
        let mut places = Vec::new();
        for (place, step) in flow.steps.iter().enumerate() {
            match step_names.get(step.as_str()) {
                Some(&step) => places.push(step),
                None => {
                    let pointer = format!("/flows/{number}/steps/{place}");
                    errors.push(errors::unknown("step", step, pointer, step_names.keys().copied()));
                }
            }
        }
        let assumes = flow.assumes.iter().map(|name| data.place(name)).collect();
        flows.push(Flow { id: flow.id.clone(), intent: flow.intent.clone(), steps: places, assumes });
    }
    errors.finish()?;
    let name = written.name.clone();
    // both are there: else there are errors
    let (prelude, end) = (prelude.unwrap_or_default(), end.unwrap_or_default());
    let domain = FlowDomain { name, apis, steps, flows, data: data.names, prelude, end, warnings };
    let mut errors = Errors::default();
    for flow in 0..domain.flows.len() {
        if !errors.is_full() {
            errors.take(follow(&domain, flow));
        }
    }
    errors.finish()?;
    Ok(domain)
}

/// The names of data, numbered as they come up.
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
        let WrittenApi { aliases, description, .. } = api;
        apis.push(Api { name: name.clone(), aliases, inputs, outputs, description });
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
        let mut apis = Vec::new();
        for (number, name) in step.apis.iter().enumerate() {
            let pointer = format!("/steps/{id}/apis/{number}");
            match names.get(name) {
                Some(api) if apis.contains(api) => {
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

/// Follows a flow in an order that its data allow. As data are only made and never used up, any such order will do.
fn follow(domain: &FlowDomain, number: usize) -> Result<()> {
    let flow = &domain.flows[number];
    let pointer = format!("/flows/{number}/steps");
    if flow.steps.first() != Some(&domain.prelude) {
        return Err(errors::prelude(&flow.id, pointer));
    }
    let calls: Vec<usize> =
        flow.steps.iter().flat_map(|&step| domain.steps[step].apis.iter().copied()).collect();
    if calls.iter().filter(|&&api| api == domain.end).count() != 1 || calls.last() != Some(&domain.end) {
        let found = calls.last().map_or("no API", |&api| domain.apis[api].name.as_str());
        return Err(errors::end(found, pointer));
    }
    let mut made: FxHashSet<usize> = flow.assumes.iter().copied().collect();
    for (place, &step) in flow.steps.iter().enumerate() {
        let mut open: Vec<usize> = domain.steps[step].apis.clone();
        loop {
            let served = open.iter().position(|&api| domain.is_served(api, &|data| made.contains(&data)));
            let Some(served) = served else { break };
            made.extend(domain.apis[open.remove(served)].outputs.iter().copied());
        }
        if !open.is_empty() {
            return Err(unserved(domain, number, place, &open, &made));
        }
    }
    Ok(())
}

/// Why APIs of a step cannot come: they need each other, or an input that nothing before makes.
fn unserved(
    domain: &FlowDomain,
    number: usize,
    place: usize,
    open: &[usize],
    made: &FxHashSet<usize>,
) -> crate::Error {
    let flow = &domain.flows[number];
    let pointer = format!("/flows/{number}/steps/{place}");
    let missing = |api: usize| {
        let inputs = domain.apis[api].inputs.iter();
        inputs.filter(|input| !input.any_of.iter().any(|data| made.contains(data))).collect::<Vec<_>>()
    };
    let makes =
        |api: usize, input: &Input| domain.apis[api].outputs.iter().any(|data| input.any_of.contains(data));
    // each open API needs something; if all of that is made by open ones, following makers runs into a circle
    let stuck = open.iter().find_map(|&api| {
        let input = missing(api).into_iter().find(|input| !open.iter().any(|&maker| makes(maker, input)))?;
        Some((api, input))
    });
    let name = |api: usize| domain.apis[api].name.as_str();
    let Some((api, input)) = stuck else {
        let mut path = vec![open[0]];
        loop {
            let last = path[path.len() - 1];
            let next = missing(last)
                .first()
                .and_then(|input| open.iter().copied().find(|&maker| makes(maker, input)));
            let Some(next) = next else { break };
            if let Some(from) = path.iter().position(|&api| api == next) {
                path.drain(..from);
                path.push(next);
                break;
            }
            path.push(next);
        }
        let names: Vec<&str> = path.iter().map(|&api| name(api)).collect();
        return errors::cycle(&flow.id, &names.join(" needs what is made by "), pointer);
    };
    let later = flow.steps.iter().skip(place).flat_map(|&step| domain.steps[step].apis.iter());
    let later = later.copied().find(|&maker| makes(maker, input));
    let anybody = (0..domain.apis.len()).find(|&maker| makes(maker, input));
    let maker = match (later, anybody) {
        (Some(later), _) => Maker::Later(name(later)),
        (None, Some(maker)) => Maker::Elsewhere(name(maker)),
        (None, None) => Maker::Nobody,
    };
    let wanted: Vec<&str> = input.any_of.iter().map(|&data| domain.data[data].as_str()).collect();
    errors::unprovided(&flow.id, name(api), &wanted.join(" or "), maker, pointer)
}
