//! A drawing of the determinised automaton: its configurations as a graph in the DOT language.

use super::configurations::{Configurations, LetterSet};
use super::words::terminal_text;
use crate::automaton::program::automaton::Automaton;
use crate::diagnostic::excerpt;
use crate::dot::{Attribute, Digraph, numbered};
use crate::error::Result;
use crate::grammar::{ByteSet, Grammar, Owners};
use crate::transitions;

/// A graph in the DOT language.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Graph {
    /// The graph as DOT text.
    pub dot: String,
    /// Whether there are more configurations than requested. The graph then shows the configurations closest to the
    /// start, and a dashed node for the others.
    pub truncated: bool,
}

/// Draws the configurations closest to the start, at most `max_configurations`, but always the start. Accepting
/// configurations have a double circle; edges show up to five ranges of bytes, then token terminals; nodes name up to
/// four rules that wait for a byte or a token.
///
/// # Errors
/// Limits: `cache_bytes` and `lockstep_search`; errors of deferred lowering.
pub fn dot(automaton: &Automaton, grammar: &Grammar, max_configurations: usize) -> Result<Graph> {
    let mut configurations = Configurations::new(automaton)?;
    let graph = transitions::Graph::of(&mut configurations, max_configurations, |transitions| {
        transitions.sort_by_key(|transition| {
            let first = transition.label.bytes.iter().next();
            (first.is_none(), first, transition.label.terminals.first().copied())
        });
    })?;
    let owners = Owners::new(grammar);
    let mut dot = Digraph::new("automaton", "LR");
    for (number, node) in graph.nodes.iter().enumerate() {
        let mut rules: Vec<&str> = Vec::new();
        for state in configurations.tables.states(node.state.configuration) {
            let (rule, _) = owners.of(automaton.scope(state).rule, None);
            let name = &*grammar.rule(rule).name;
            if !rules.contains(&name) && rules.len() < 4 {
                rules.push(name);
            }
        }
        let shape = if node.is_accepting { "doublecircle" } else { "circle" };
        let label = printable(&format!("{number} {}", rules.join(" ")));
        let look = [Attribute::bare("shape", shape), Attribute::label(label.trim_end())];
        dot.node(numbered(Some(number)), &look);
    }
    if graph.is_truncated {
        dot.rest();
    }
    for edge in &graph.edges {
        let label = printable(&show(grammar, &edge.labels));
        dot.edge(numbered(Some(edge.from)), numbered(edge.to), &[Attribute::label(&label)]);
    }
    Ok(Graph { dot: dot.finish(), truncated: graph.is_truncated })
}

/// Bytes as at most five ranges: printable ASCII other than spaces literally, other bytes in hexadecimal, and `...` for
/// further ranges; then token terminals.
fn show(grammar: &Grammar, labels: &[LetterSet]) -> String {
    let bytes = labels.iter().fold(ByteSet::EMPTY, |all, label| all.union(&label.bytes));
    let one = |byte: u8| match byte {
        b'!'..=b'~' => char::from(byte).to_string(),
        _ => format!("{byte:02X}"),
    };
    let ranges = bytes.ranges().collect::<Vec<_>>();
    let mut parts: Vec<String> = ranges
        .iter()
        .take(5)
        .map(|&(low, high)| if low == high { one(low) } else { format!("{}-{}", one(low), one(high)) })
        .collect();
    if ranges.len() > 5 {
        parts.push("...".into());
    }
    let terminals = labels.iter().flat_map(|label| &label.terminals);
    parts.extend(terminals.map(|&terminal| excerpt(&terminal_text(grammar, terminal))));
    parts.join(" ")
}

/// A text with control characters removed.
fn printable(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).collect()
}
