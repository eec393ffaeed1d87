//! Merges several domains into one.

use super::domain::FlowDomain;
use super::written::Written;
use super::{check, errors};
use grammata::error::{Errors, Result};
use grammata::limits::{LimitKind, Limits};
use rustc_hash::FxHashSet;
use serde::Deserialize;
use toml::{Table, Value};

/// How equal names of merged domains are treated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Names {
    /// Equal names mean the same thing, so the domains must declare them equally.
    Shared,
    /// The names of a domain's APIs, steps, flows and data are prefixed by the name of the domain (with `_` for
    /// characters other than ASCII letters and digits) and `__`, except the end, and the prelude with its APIs and
    /// their data.
    Apart,
}

impl FlowDomain {
    /// Merges the APIs, steps and flows of several domains, given as TOML. The domains have the same prelude and the
    /// same name for the end. The merged end requires any one of the data that their ends require.
    ///
    /// # Errors
    /// Those of [`read_with`](FlowDomain::read_with) for each domain and for the merged domain; `flow/api-redefined` if
    /// domains declare a name differently; `flow/twice` if two domains have the same name; `flow/value` if there are no
    /// texts; the limit `source_bytes` on all texts together.
    pub fn merge(
        texts: &[&str],
        names: Names,
        limits: &Limits,
        allow_infeasible: bool,
    ) -> Result<FlowDomain> {
        let mut parts = Vec::with_capacity(texts.len());
        let mut bytes = 0usize;
        for text in texts {
            bytes = bytes.saturating_add(text.len());
            if bytes > limits.source_bytes {
                return Err(Limits::exceeded(
                    LimitKind::SourceBytes,
                    limits.source_bytes,
                    "domains of more bytes",
                ));
            }
            // reports the faults of the domain, with their places
            let domain = FlowDomain::read_with(text, limits, allow_infeasible)?;
            let table: Table = toml::from_str(text).map_err(|cause| errors::toml(text, &cause))?;
            parts.push(Part { domain, table });
        }
        let mut errors = Errors::default();
        let mut ids = FxHashSet::default();
        for part in &parts {
            if !ids.insert(part.domain.name.clone()) {
                errors.push(errors::twice("a domain", &part.domain.name, "/name".to_owned()));
            }
        }
        let mut merged = Table::new();
        for part in &parts {
            let renaming = Renaming::new(&part.domain, names);
            add(&mut merged, renaming.table(&part.table), &part.domain, &mut errors);
        }
        errors.finish()?;
        let written = Written::deserialize(Value::Table(merged))
            .map_err(|cause| errors::value(String::new(), &cause))?;
        check::domain(&written, limits, allow_infeasible)
    }
}

struct Part {
    domain: FlowDomain,
    table: Table,
}

/// The renaming of a domain's names.
struct Renaming {
    /// The prefix; `None` if names are shared.
    before: Option<String>,
    /// The names of APIs, steps and data that are not changed.
    kept: FxHashSet<String>,
}

impl Renaming {
    fn new(domain: &FlowDomain, names: Names) -> Renaming {
        let is_part = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
        let before: String = domain.name.chars().map(is_part).collect();
        let mut kept = FxHashSet::default();
        let prelude = &domain.steps[domain.prelude];
        kept.insert(prelude.id.clone());
        for api in prelude.apis.iter().map(|&api| &domain.apis[api]) {
            kept.extend(api.aliases.iter().cloned().chain([api.name.clone()]));
            let inputs = api.inputs.iter().flat_map(|input| &input.any_of);
            kept.extend(inputs.chain(&api.outputs).map(|&data| domain.data[data].clone()));
        }
        let end = &domain.apis[domain.end];
        kept.extend(end.aliases.iter().cloned().chain([end.name.clone()]));
        Renaming { before: (names == Names::Apart).then(|| format!("{before}__")), kept }
    }

    fn name(&self, name: &str) -> String {
        match &self.before {
            Some(before) if !self.kept.contains(name) => format!("{before}{name}"),
            _ => name.to_owned(),
        }
    }

    fn table(&self, written: &Table) -> Table {
        let mut renamed = written.clone();
        for (key, value) in renamed.iter_mut() {
            match key.as_str() {
                "given" | "allow" => self.list(value),
                "prelude" | "end" => self.text(value),
                "apis" => self.entries(value, &["inputs", "outputs", "aliases"]),
                "steps" => self.entries(value, &["apis"]),
                "flows" => value.as_array_mut().into_iter().flatten().for_each(|flow| self.flow(flow)),
                _ => {}
            }
        }
        renamed
    }

    fn text(&self, value: &mut Value) {
        if let Value::String(name) = value {
            *name = self.name(name);
        }
    }

    /// Renames the names in a list and in its nested lists.
    fn list(&self, value: &mut Value) {
        for one in value.as_array_mut().into_iter().flatten() {
            match one {
                Value::Array(inner) => inner.iter_mut().for_each(|one| self.text(one)),
                one => self.text(one),
            }
        }
    }

    /// Renames the entries of a table, and the names in their lists.
    fn entries(&self, value: &mut Value, lists: &[&str]) {
        let Some(table) = value.as_table_mut() else { return };
        *table = std::mem::take(table)
            .into_iter()
            .map(|(name, mut entry)| {
                for list in lists {
                    if let Some(names) = entry.get_mut(*list) {
                        self.list(names);
                    }
                }
                let outcomes = entry.get_mut("outcomes").and_then(Value::as_table_mut);
                outcomes.into_iter().flatten().for_each(|(_, made)| self.list(made));
                (self.name(&name), entry)
            })
            .collect();
    }

    fn flow(&self, flow: &mut Value) {
        if let Some(id) = flow.get_mut("id") {
            self.text(id);
        }
        if let Some(assumes) = flow.get_mut("assumes") {
            self.list(assumes);
        }
        // nested entries; their depth was checked when the domain was read
        let mut open: Vec<&mut Value> = flow.get_mut("steps").into_iter().collect();
        while let Some(entry) = open.pop() {
            match entry {
                Value::String(_) => self.text(entry),
                Value::Array(entries) => open.extend(entries.iter_mut()),
                Value::Table(table) => {
                    for (key, value) in table.iter_mut() {
                        match key.as_str() {
                            "step" => self.text(value),
                            "after" => self.list(value),
                            "either" => open.push(value),
                            _ => {}
                        }
                    }
                }
                _ => {}
            }
        }
    }
}

fn add(merged: &mut Table, part: Table, domain: &FlowDomain, errors: &mut Errors) {
    if merged.is_empty() {
        *merged = part;
        return;
    }
    let end = domain.apis[domain.end].name.as_str();
    for (key, value) in part {
        match (merged.get_mut(&key), value) {
            (Some(Value::Table(known)), Value::Table(new)) => {
                for (name, entry) in new {
                    let both =
                        known.get_mut(&name).map(|old| *old == entry || name == end && any_of(old, &entry));
                    match both {
                        None => drop(known.insert(name, entry)),
                        Some(true) => {}
                        Some(false) => {
                            let what = if key == "apis" { "an API" } else { "a step" };
                            errors.push(errors::redefined(
                                what,
                                &name,
                                &domain.name,
                                format!("/{key}/{name}"),
                            ));
                        }
                    }
                }
            }
            (Some(Value::Array(known)), Value::Array(new)) if key == "flows" => known.extend(new),
            // names in `given` and `allow`, which domains may share
            (Some(Value::Array(known)), Value::Array(new)) => {
                for name in new {
                    if !known.contains(&name) {
                        known.push(name);
                    }
                }
            }
            (Some(Value::String(name)), Value::String(new)) if key == "name" => {
                name.push_str(" and ");
                name.push_str(&new);
            }
            (Some(Value::String(known)), Value::String(new)) if key == "prelude" || key == "end" => {
                if *known != new {
                    let what = format!("the {key}");
                    errors.push(errors::redefined(&what, &new, &domain.name, format!("/{key}")));
                }
            }
            (Some(_), _) => {}
            (None, value) => drop(merged.insert(key, value)),
        }
    }
}

/// Merges two ends into one that requires any one of their data. Returns whether that is possible: each of them
/// requires exactly one input, and they are equal otherwise.
fn any_of(known: &mut Value, new: &Value) -> bool {
    let without_inputs = |api: &Value| {
        let mut api = api.clone();
        api.as_table_mut().and_then(|api| api.remove("inputs"));
        api
    };
    let needs = |api: &Value| -> Option<Vec<Value>> {
        match api.get("inputs").and_then(Value::as_array).map(Vec::as_slice) {
            Some([Value::Array(any_of)]) => Some(any_of.clone()),
            Some([one]) => Some(vec![one.clone()]),
            _ => None,
        }
    };
    let (Some(mut any), Some(more)) = (needs(known), needs(new)) else { return false };
    if without_inputs(known) != without_inputs(new) {
        return false;
    }
    more.into_iter().for_each(|one| {
        if !any.contains(&one) {
            any.push(one);
        }
    });
    if let Some(known) = known.as_table_mut() {
        known.insert("inputs".to_owned(), Value::Array(vec![Value::Array(any)]));
    }
    true
}
