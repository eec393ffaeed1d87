//! A drawing of a flow automaton in Graphviz's notation, with the position of a plan.

use super::automaton::{FlowAutomaton, FlowCall, FlowState};
use grammata::error::Result;
use grammata::transitions::{Graph, TransitionSystem};
use grammata_base::dot::{Attribute, Digraph, numbered};
use rustc_hash::FxHashSet;

/// A drawing of the states of a domain's plans.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowPicture {
    /// The text in Graphviz's notation.
    pub dot: String,
    /// Whether states are left out because there are more than the bound.
    pub is_truncated: bool,
}

impl FlowAutomaton<'_> {
    /// Draws at most `most` states. A node is a state, labelled with the flows that are possible in it, or with their
    /// number if there are more than three. An arrow shows the calls that lead from one state to the next. The path of
    /// the plan `calls` (indices of APIs) is red, its last state is filled, and the calls that are allowed there are
    /// green. If an API has outcomes, the path follows its first allowed answer. The path stops before a call that is
    /// not allowed.
    ///
    /// # Errors
    /// Limits of the automaton.
    pub fn picture(&mut self, calls: &[usize], most: usize) -> Result<FlowPicture> {
        let (mut way, mut passed) = (vec![self.start()], FxHashSet::default());
        for &call in calls {
            let last = way[way.len() - 1];
            let mut transitions = Vec::new();
            self.successors(&last, &mut transitions)?;
            let Some(next) = transitions.iter().find(|next| next.label.api == call) else { break };
            passed.insert((last, next.to));
            way.push(next.to);
        }
        let at = way[way.len() - 1];
        let graph: Graph<FlowState, FlowCall> = Graph::of(self, most, |_| {})?;
        let domain = self.domain();
        let mut dot = Digraph::new("flow", "LR");
        for (number, node) in graph.nodes.iter().enumerate() {
            let flows: Vec<&str> = match node.is_accepting {
                true => vec!["end"],
                false => self.flows(node.state).iter().map(|&flow| domain.flows[flow].id.as_str()).collect(),
            };
            let text = if flows.len() > 3 { format!("{} flows", flows.len()) } else { flows.join("\n") };
            let lines = if node.is_accepting { "2" } else { "1" };
            let mut look = vec![Attribute::bare("shape", "box"), Attribute::bare("peripheries", lines)];
            if node.state == at {
                look.extend([Attribute::bare("style", "filled"), Attribute::quoted("fillcolor", "gold")]);
            }
            if way.contains(&node.state) {
                look.push(Attribute::quoted("color", "red"));
            }
            look.push(Attribute::label(&text));
            dot.node(numbered(Some(number)), &look);
        }
        for edge in &graph.edges {
            let names: Vec<String> =
                edge.labels.iter().map(|call| call.text(domain).replacen("()", "", 1)).collect();
            let from = graph.nodes[edge.from].state;
            let to = edge.to.map(|to| graph.nodes[to].state);
            let color = match to {
                Some(to) if passed.contains(&(from, to)) => Some("red"),
                _ if from == at => Some("green"),
                _ => None,
            };
            let text = names.join("\n");
            let mut look = vec![Attribute::label(&text)];
            look.extend(color.map(|color| Attribute::quoted("color", color)));
            dot.edge(numbered(Some(edge.from)), numbered(edge.to), &look);
        }
        if graph.is_truncated {
            dot.rest();
        }
        Ok(FlowPicture { dot: dot.finish(), is_truncated: graph.is_truncated })
    }
}
