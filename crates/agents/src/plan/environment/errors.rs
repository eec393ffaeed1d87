//! The errors of environments.

use grammata::diagnostic::{Diagnostic, did_you_mean, excerpt};
use grammata::error::{Error, ErrorKind};
use grammata::syntax::automaton_spec::{Spec, Symbol, Variable};
use serde_json::Value;

fn forbidden(action: &str, found: impl AsRef<str>) -> Diagnostic {
    let message = format!("the spec does not allow the environment's answer to `{}`", excerpt(action));
    Diagnostic::new("environment/forbidden", message).found(found)
}

fn rejected(diagnostic: Diagnostic) -> Error {
    Error::new(ErrorKind::Rejected, diagnostic)
}

fn list<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let names: Vec<String> = names.into_iter().take(20).map(|name| format!("`{}`", excerpt(name))).collect();
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

pub(super) fn no_such_outcome(symbol: &Symbol, found: &str) -> Error {
    let known = symbol.outcomes.iter().map(String::as_str);
    rejected(
        forbidden(&symbol.id, format!("the outcome `{found}`"))
            .allowed(format!("the outcomes {}", list(known.clone())))
            .help(did_you_mean(
                found,
                known,
                "list the outcome in the spec, or let the environment name another one",
            )),
    )
}

pub(super) fn outcome_not_named(symbol: &Symbol) -> Error {
    rejected(
        forbidden(&symbol.id, "no outcome, or facts that leave several")
            .allowed(format!("the outcomes {}", list(symbol.outcomes.iter().map(String::as_str))))
            .help("let the environment name the outcome"),
    )
}

pub(super) fn no_such_fact<'a>(
    action: &str,
    found: &str,
    known: impl Iterator<Item = &'a str> + Clone,
) -> Error {
    rejected(
        forbidden(action, format!("the fact `{found}`"))
            .allowed(format!("the facts {}", list(known.clone())))
            .help(did_you_mean(found, known, "declare it in `facts`, or return it as `data`")),
    )
}

fn value_name(variable: &Variable, value: u32) -> String {
    match variable.values.get(value as usize).map_or("", String::as_str) {
        "" => "null".to_owned(),
        name => name.to_owned(),
    }
}

pub(super) fn no_such_value(action: &str, variable: &Variable, found: &Value) -> Error {
    let all: Vec<String> =
        (0..variable.values.len() as u32).take(20).map(|value| value_name(variable, value)).collect();
    rejected(
        forbidden(action, format!("`{}` = {found}", excerpt(&variable.name)))
            .allowed(list(all.iter().map(String::as_str)))
            .help("list the value in `facts`, or return one of these"),
    )
}

pub(super) fn fact_contradicts(
    spec: &Spec,
    symbol: &Symbol,
    variable: usize,
    found: u32,
    value: u32,
) -> Error {
    let variables = spec.facts().variables();
    let Some(variable) = variables.get(variable) else { return outcome_not_named(symbol) };
    let name = excerpt(&variable.name);
    rejected(
        forbidden(&symbol.id, format!("`{name}` = {}", value_name(variable, found)))
            .allowed(format!(
                "`{name}` = {}, by the effects of the action and its outcome",
                value_name(variable, value)
            ))
            .help("return the outcome with these effects, or change the effects"),
    )
}
