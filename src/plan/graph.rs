//! A picture of the plan automaton: states that lead to finished plans, and the actions between them.

use super::automaton::{PlanAutomaton, PlanState, Position};
use super::lookahead::Outlook;
use super::tree::escape;
use crate::error::Result;
use rustc_hash::FxHashMap;
use std::collections::VecDeque;
use std::fmt::Write;

/// A graph in the DOT language.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanGraph {
    /// The text.
    pub dot: String,
    /// Whether there are more states than were asked for; the graph shows those nearest to the start.
    pub truncated: bool,
}

impl PlanAutomaton {
    /// Draws the states nearest to the start, `most` at most. Finished plans have a double circle; with `dead_ends`, so
    /// do dead ends have dashed ones, else they are left out.
    ///
    /// # Errors
    /// Limits.
    pub fn graph(&mut self, most: usize, dead_ends: bool) -> Result<PlanGraph> {
        let spec = self.shared_spec();
        let start = self.start().state;
        let mut numbers: FxHashMap<PlanState, usize> = FxHashMap::from_iter([(start, 0)]);
        let mut queue = VecDeque::from([start]);
        let (mut nodes, mut edges, mut truncated) = (String::new(), String::new(), false);
        while let Some(at) = queue.pop_front() {
            let number = numbers[&at];
            let dead = self.outlook(Position { state: at, cost: 0 })? == Outlook::DeadEnd;
            let shape = if self.is_complete(at) { "doublecircle" } else { "circle" };
            let style = if dead { ", style=dashed" } else { "" };
            let _ = writeln!(nodes, "  n{number} [shape={shape}, label=\"{number}\"{style}];");
            // all actions that lead to one state share an edge
            let mut targets: Vec<(PlanState, Vec<&str>)> = Vec::new();
            for edge in self.steps(at)? {
                let dead = self.outlook(Position { state: edge.to, cost: 0 })? == Outlook::DeadEnd;
                if dead && !dead_ends {
                    continue;
                }
                let members = self.codes.classes[edge.class as usize].members.iter();
                let labels =
                    members.filter_map(|&action| spec.symbols().get(action)).map(|symbol| symbol.shown());
                match targets.iter_mut().find(|(to, _)| *to == edge.to) {
                    Some((_, list)) => list.extend(labels),
                    None => targets.push((edge.to, labels.collect())),
                }
            }
            for (to, labels) in targets {
                let next = numbers.len();
                let target = match numbers.get(&to) {
                    Some(known) => format!("n{known}"),
                    None if next >= most => {
                        truncated = true;
                        "more".to_owned()
                    }
                    None => {
                        numbers.insert(to, next);
                        queue.push_back(to);
                        format!("n{next}")
                    }
                };
                let _ =
                    writeln!(edges, "  n{number} -> {target} [label=\"{}\"];", escape(&labels.join("\n")));
            }
        }
        if truncated {
            nodes.push_str("  more [shape=box, style=dashed, label=\"more\"];\n");
        }
        Ok(PlanGraph { dot: format!("digraph plans {{\n  rankdir=LR;\n{nodes}{edges}}}\n"), truncated })
    }
}
