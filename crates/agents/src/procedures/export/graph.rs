//! A procedure's automaton in Graphviz's notation.

use crate::procedures::automaton::automaton::{Letter, StateId};
use crate::procedures::automaton::supervisor::Supervisor;
use crate::procedures::language::status::Status;
use grammata::error::Result;
use grammata::transitions::Graph;
use grammata_base::dot::{Attribute, Digraph, numbered};

/// A drawing of the states of a procedure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcedureGraph {
    /// The text in Graphviz's notation.
    pub dot: String,
    /// Whether states are left out because there are more than the bound.
    pub is_truncated: bool,
}

impl Supervisor<'_> {
    /// Returns the memory of a state as text: the nodes that are done, the values that conditions test, and bounded
    /// numbers of calls.
    pub fn state_text(&self, state: StateId) -> String {
        let (procedure, marks) = (self.procedure(), self.automaton().marks(state));
        let mut parts = Vec::new();
        for (node, done) in procedure.nodes.iter().zip(&marks.done) {
            match done {
                Status::No => {}
                Status::Ok => parts.push(node.name.clone()),
                Status::Error => parts.push(format!("{}!error", node.name)),
            }
        }
        for (register, cell) in marks.values.iter().enumerate() {
            if let Some(cell) = cell
                && let Some(value) = procedure.registers[register].cells.get(usize::from(*cell))
            {
                parts.push(format!("{} = {value}", procedure.register_name(register as u32)));
            }
        }
        let counted = procedure.nodes.iter().zip(&marks.calls).filter(|(_, calls)| **calls > 0);
        parts.extend(counted.map(|(node, calls)| format!("{} x {calls}", node.name)));
        parts.join(", ")
    }

    /// Draws at most `most` states, but always the start: those that the agent's choices within S reach with the fewest
    /// acts from the start. If the start is outside of S, it is drawn alone. States in which a closing answer may be
    /// said have a double line. Choices that do not change the state are left out.
    ///
    /// # Errors
    /// None at present.
    pub fn graph(&mut self, most: usize) -> Result<ProcedureGraph> {
        let graph: Graph<StateId, Letter> = Graph::of(self, most, |_| {})?;
        let procedure = self.procedure();
        let mut dot = Digraph::new("procedure", "LR");
        for (number, node) in graph.nodes.iter().enumerate() {
            let lines = if node.is_accepting { "2" } else { "1" };
            let text = self.state_text(node.state).replace(", ", "\n");
            let look = [
                Attribute::bare("shape", "box"),
                Attribute::bare("peripheries", lines),
                Attribute::label(&text),
            ];
            dot.node(numbered(Some(number)), &look);
        }
        for edge in graph.edges.iter().filter(|edge| edge.to != Some(edge.from)) {
            let labels: Vec<String> = edge.labels.iter().map(|letter| letter.text(procedure)).collect();
            dot.edge(numbered(Some(edge.from)), numbered(edge.to), &[Attribute::label(&labels.join("\n"))]);
        }
        if graph.is_truncated {
            dot.rest();
        }
        Ok(ProcedureGraph { dot: dot.finish(), is_truncated: graph.is_truncated })
    }
}
