//! Changed texts of domain files, for experiments on whether guarantees follow a change. Nothing is written.

use grammata::error::Result;
use grammata::limits::Limits;
use grammata_agents::flows::FlowDomain;
use std::collections::{BTreeMap, BTreeSet};
use toml::{Table, Value};

/// A change of a domain's file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    /// No change.
    None,
    /// In each flow, the first two adjacent steps after the prelude that do not depend on each other are swapped; a
    /// flow without such steps stays as it is.
    StepsSwapped,
    /// All APIs get new names, and no aliases.
    ApisRenamed,
    /// A flow is added that has the steps of two flows, each once.
    FlowAdded,
}

impl Change {
    pub(super) const ALL: [Change; 4] =
        [Change::None, Change::StepsSwapped, Change::ApisRenamed, Change::FlowAdded];

    pub(super) fn name(self) -> &'static str {
        match self {
            Change::None => "unchanged",
            Change::StepsSwapped => "steps swapped",
            Change::ApisRenamed => "APIs renamed",
            Change::FlowAdded => "a flow added",
        }
    }

    /// Says why a domain cannot be changed in this way.
    pub(super) fn missing(self) -> &'static str {
        match self {
            Change::StepsSwapped => "no two adjacent steps of a flow can change places",
            Change::FlowAdded => "no two flows can be joined to another one",
            Change::None | Change::ApisRenamed => "the domain cannot be rewritten",
        }
    }
}

/// A changed domain.
pub(super) struct Changed {
    /// The text of its file.
    pub(super) text: String,
    pub(super) domain: FlowDomain,
    /// For an added flow, the indices of the two flows that it was joined from.
    pub(super) added_of: Option<(usize, usize)>,
}

/// Changes the file of a domain. Returns `None` if the change is not possible, for instance because no steps can be
/// swapped or no two flows can be joined.
///
/// # Errors
/// The text is not a domain, or a limit is exceeded.
pub(super) fn changed(text: &str, change: Change, limits: &Limits) -> Result<Option<Changed>> {
    let domain = FlowDomain::read(text, limits)?;
    let Ok(table) = toml::from_str::<Table>(text) else { return Ok(None) };
    Ok(match change {
        Change::None => Some(Changed { text: text.to_owned(), domain, added_of: None }),
        Change::StepsSwapped => swapped(table, limits),
        Change::ApisRenamed => read(&renamed(table, &domain), limits),
        Change::FlowAdded => with_flow(&table, &domain, limits),
    })
}

fn read(table: &Table, limits: &Limits) -> Option<Changed> {
    let text = table.to_string();
    let domain = FlowDomain::read(&text, limits).ok()?;
    Some(Changed { text, domain, added_of: None })
}

fn steps_of(table: &mut Table, flow: usize) -> Option<&mut Vec<Value>> {
    table.get_mut("flows")?.as_array_mut()?.get_mut(flow)?.get_mut("steps")?.as_array_mut()
}

fn swapped(mut table: Table, limits: &Limits) -> Option<Changed> {
    let flows = table.get("flows")?.as_array()?.len();
    let mut found = None;
    for flow in 0..flows {
        let steps = steps_of(&mut table, flow)?.len();
        // the first step is the prelude
        for place in 1..steps.saturating_sub(1) {
            steps_of(&mut table, flow)?.swap(place, place + 1);
            if let Some(changed) = read(&table, limits) {
                found = Some(changed);
                break;
            }
            steps_of(&mut table, flow)?.swap(place, place + 1);
        }
    }
    found
}

fn renamed(mut table: Table, domain: &FlowDomain) -> Table {
    let known: BTreeSet<&String> =
        domain.apis.iter().flat_map(|api| api.aliases.iter().chain([&api.name])).collect();
    // some names are prefixes of others (`Act1`, `Act10`), so masks must tell them apart
    let mut fresh = (1..).map(|number| format!("Act{number}")).filter(|name| !known.contains(name));
    let names: BTreeMap<&str, String> =
        domain.apis.iter().zip(&mut fresh).map(|(api, name)| (api.name.as_str(), name)).collect();
    let rename = |value: &mut Value| {
        if let Some(name) = value.as_str().and_then(|name| names.get(name)) {
            *value = name.as_str().into();
        }
    };
    let rename_all =
        |list: Option<&mut Value>| list.and_then(Value::as_array_mut).into_iter().flatten().for_each(rename);
    if let Some(apis) = table.get_mut("apis").and_then(Value::as_table_mut) {
        let renamed = std::mem::take(apis).into_iter().map(|(name, mut api)| {
            api.as_table_mut().map(|api| api.remove("aliases"));
            (names.get(name.as_str()).cloned().unwrap_or(name), api)
        });
        *apis = renamed.collect();
    }
    let steps = table.get_mut("steps").and_then(Value::as_table_mut);
    steps.into_iter().flatten().for_each(|(_, step)| rename_all(step.get_mut("apis")));
    rename_all(table.get_mut("allow"));
    table.get_mut("end").into_iter().for_each(rename);
    table
}

/// Adds the first flow joined from two that has plans of its own.
fn with_flow(table: &Table, domain: &FlowDomain, limits: &Limits) -> Option<Changed> {
    let count = domain.flows.len();
    let pairs = (0..count).flat_map(|first| (first + 1..count).map(move |second| (first, second)));
    pairs.into_iter().find_map(|(first, second)| {
        let mut table = table.clone();
        let flows = table.get_mut("flows")?.as_array_mut()?;
        let flow = joined(flows.get(first)?, flows.get(second)?)?;
        flows.push(flow);
        let changed = read(&table, limits)?;
        // a flow with the same plans as another one causes a warning
        let is_new = changed.domain.warnings.len() == domain.warnings.len();
        is_new.then_some(Changed { added_of: Some((first, second)), ..changed })
    })
}

/// Joins two flows: the steps of the first, and each step that only the second has, after its predecessor in the
/// second.
fn joined(first: &Value, second: &Value) -> Option<Value> {
    let mut steps = first.get("steps")?.as_array()?.clone();
    let mut at = 0;
    for step in second.get("steps")?.as_array()? {
        match steps.iter().position(|one| one == step) {
            Some(place) => at = at.max(place + 1),
            None => {
                steps.insert(at, step.clone());
                at += 1;
            }
        }
    }
    let text =
        |key: &str| Some(format!("{} and {}", first.get(key)?.as_str()?, second.get(key)?.as_str()?).into());
    let mut flow = Table::new();
    flow.insert("id".to_owned(), "added".into());
    flow.insert("intent".to_owned(), text("intent")?);
    flow.insert("steps".to_owned(), Value::Array(steps));
    let list = |flow: &Value| flow.get("assumes").and_then(Value::as_array).cloned().unwrap_or_default();
    let mut assumes = list(first);
    assumes.extend(list(second).into_iter().filter(|data| !list(first).contains(data)));
    flow.insert("assumes".to_owned(), Value::Array(assumes));
    Some(Value::Table(flow))
}
