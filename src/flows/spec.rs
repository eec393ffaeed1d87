//! A domain's plans as a plan spec: a DFA over APIs, for everything that reads specs.

use super::automaton::FlowAutomaton;
use crate::error::Result;
use crate::transitions::{Graph, minimize};
use rustc_hash::FxHashSet;
use serde_json::{Map, Value, json};

/// The automaton as an automaton spec of kind `dfa` in JSON. Its symbols are the APIs, its words plans after the prelude with
/// `, ` between calls; it is the least automaton.
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
        let names: Vec<&str> = edge.labels.iter().map(|call| domain.apis[call.api].name.as_str()).collect();
        transitions.push(json!({ "from": state(edge.from), "input": names, "to": state(to) }));
    }
    let used: FxHashSet<usize> =
        graph.edges.iter().flat_map(|edge| &edge.labels).map(|call| call.api).collect();
    for api in domain.apis.iter().enumerate().filter(|(place, _)| used.contains(place)).map(|(_, api)| api) {
        let data =
            |places: &[usize]| places.iter().map(|&place| domain.data[place].clone()).collect::<Vec<_>>();
        symbols.insert(
            api.name.clone(),
            json!({
                "text": format!("{}()", api.name),
                "label": api.name,
                "outputs": data(&api.outputs),
                "aliases": api.aliases.iter().map(|alias| format!("{alias}()")).collect::<Vec<_>>(),
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
