//! The supervised procedure as a spec of plans: a finite automaton over its states.

use crate::procedures::automaton::automaton::{Letter, StateId};
use crate::procedures::automaton::supervisor::Supervisor;
use grammata::error::Result;
use grammata::transitions::Graph;
use serde_json::{Value, json};

impl Supervisor<'_> {
    /// Writes a spec of the kind `dfa`. Its symbols are acts with their outcomes, and its states are the start and
    /// those that choices within S reach from it. Its words are sessions after which a closing answer may be said (all
    /// sessions, if the procedure has no closing answer). Every command of plans reads it.
    ///
    /// # Errors
    /// None at present.
    pub fn spec(&mut self) -> Result<Value> {
        let graph: Graph<StateId, Letter> = Graph::of(self, usize::MAX, |_| {})?;
        let procedure = self.procedure();
        let name = |state: usize| format!("s{state}");
        let mut symbols: Vec<String> = Vec::new();
        let mut transitions = Vec::with_capacity(graph.edges.len());
        for edge in &graph.edges {
            let Some(to) = edge.to else { continue };
            for letter in &edge.labels {
                let symbol = letter.text(procedure);
                transitions.push(json!({ "from": name(edge.from), "input": symbol, "to": name(to) }));
                symbols.push(symbol);
            }
        }
        symbols.sort();
        symbols.dedup();
        let accepting = graph.nodes.iter().enumerate().filter(|(_, node)| node.is_accepting);
        Ok(json!({
            "kind": "dfa",
            "name": procedure.name(),
            "description": procedure.description(),
            "symbols": symbols,
            "separator": "\n",
            "start": name(0),
            "accepting": accepting.map(|(state, _)| name(state)).collect::<Vec<_>>(),
            "transitions": transitions,
        }))
    }
}
