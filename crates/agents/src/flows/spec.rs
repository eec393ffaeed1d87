//! Writes a domain's plans as a plan spec: a DFA over APIs.

use super::automaton::{FlowAutomaton, FlowCall};
use super::domain::FlowDomain;
use grammata::error::Result;
use grammata::transitions::{Graph, minimize};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

/// Returns the minimal automaton as an automaton spec of kind `dfa` in JSON. Its symbols are the APIs that plans call,
/// or, for APIs with outcomes, pairs of an API and an outcome. Its words are plans after the prelude, with `, ` between
/// calls.
///
/// # Errors
/// Limits: `plan_states` bounds the states.
pub fn spec(automaton: &mut FlowAutomaton<'_>) -> Result<Value> {
    let graph = minimize(&Graph::of(automaton, usize::MAX, |_| {})?);
    let domain = automaton.domain();
    let mut symbols = Map::new();
    let mut transitions = Vec::new();
    let state = |number: usize| format!("q{number}");
    for edge in &graph.edges {
        let Some(to) = edge.to else { continue };
        let names: Vec<String> = edge.labels.iter().map(|call| name(domain, *call)).collect();
        transitions.push(json!({ "from": state(edge.from), "input": names, "to": state(to) }));
    }
    let used: BTreeSet<(usize, Option<usize>)> =
        graph.edges.iter().flat_map(|edge| &edge.labels).map(|call| (call.api, call.outcome)).collect();
    for (place, outcome) in used {
        let (api, call) = (&domain.apis[place], FlowCall { api: place, step: None, outcome });
        let data =
            |places: &[usize]| places.iter().map(|&place| domain.data[place].clone()).collect::<Vec<_>>();
        let made: Vec<usize> = api.makes(outcome).collect();
        // the other names with the answer; and all names without it, so that a plan need not say how its calls end
        let names = || std::iter::once(&api.name).chain(&api.aliases);
        let mut aliases: Vec<String> =
            api.aliases.iter().map(|alias| format!("{alias}(){}", call.answer(domain))).collect();
        aliases.extend(names().flat_map(|name| [format!("{name}()"), name.clone()]));
        aliases.retain(|alias| *alias != call.text(domain) && *alias != self::name(domain, call));
        aliases.dedup();
        symbols.insert(
            name(domain, call),
            json!({
                "text": call.text(domain),
                "label": name(domain, call),
                "outputs": data(&made),
                "aliases": aliases,
            }),
        );
    }
    let accepting = graph.nodes.iter().enumerate().filter(|(_, node)| node.is_accepting);
    let accepting: Vec<String> = accepting.map(|(number, _)| state(number)).collect();
    let states: Vec<String> = (0..graph.nodes.len()).map(state).collect();
    Ok(json!({
        "kind": "dfa",
        "name": domain.name,
        "separator": ", ",
        "symbols": symbols,
        "states": states,
        "start": state(0),
        "accepting": accepting,
        "transitions": transitions,
    }))
}

/// Returns the name of a symbol: the API's name, followed by `=outcome` if the API has outcomes.
fn name(domain: &FlowDomain, call: FlowCall) -> String {
    format!("{}{}", domain.apis[call.api].name, call.answer(domain))
}
