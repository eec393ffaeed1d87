//! A picture of the plan automaton: states that lead to finished plans, and the actions between them.

use super::automaton::{PlanAutomaton, PlanState, Position};
use super::lookahead::Completable;
use super::partial::Successor;
use super::tree::escape;
use crate::error::Result;
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::fmt::Write;

/// States whose least cost is computed, at most: some seconds.
const MOST_STATES: usize = 200_000;

/// A graph in the DOT language.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanGraph {
    /// The text.
    pub dot: String,
    /// Whether there are more states than were asked for; the graph shows those nearest to the start.
    pub truncated: bool,
}

impl PlanAutomaton {
    /// Draws the states nearest to the start, `most` at most. Finished plans have a double circle. Dead ends are left out,
    /// or with `dead_ends` have a dashed one. With `max_cost`, a state is reached at its least cost: it is a dead end, and
    /// a step from it is left out, if that holds at this cost, and so at every other.
    ///
    /// # Errors
    /// Limits.
    pub fn graph(&mut self, most: usize, dead_ends: bool) -> Result<PlanGraph> {
        let spec = self.shared_spec();
        let costs = self.least_costs_to()?;
        let at_least_cost =
            |state: PlanState| Position { state, cost: costs.get(&state).copied().unwrap_or(0) };
        let start = self.start().state;
        let mut numbers: FxHashMap<PlanState, usize> = FxHashMap::from_iter([(start, 0)]);
        let mut queue = VecDeque::from([start]);
        let (mut nodes, mut edges, mut truncated) = (String::new(), String::new(), false);
        while let Some(at) = queue.pop_front() {
            let number = numbers[&at];
            let dead = self.completable(at_least_cost(at))? == Completable::No;
            let shape = if self.is_complete(at) { "doublecircle" } else { "circle" };
            let style = if dead { ", style=dashed" } else { "" };
            let _ = writeln!(nodes, "  n{number} [shape={shape}, label=\"{number}\"{style}];");
            // all actions that lead to one state share an edge
            let mut targets: Vec<(PlanState, Vec<String>)> = Vec::new();
            for edge in self.steps(at)? {
                let cost = at_least_cost(at).cost.saturating_add(self.cost(edge.class));
                let dead = self.completable(Position { state: edge.to, cost })? == Completable::No;
                if !self.affordable(cost) || dead && !dead_ends {
                    continue;
                }
                let outcome = self.outcome(edge);
                let members = self.codes.classes[edge.class as usize].members.iter();
                let labels =
                    members.map(|&action| Successor { action, outcome, to: self.start() }.label(&spec));
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

    /// For each state, the least cost at which it is reached (Dijkstra 1959); empty without `max_cost`, where costs do not
    /// matter. States past [`MOST_STATES`] are missing.
    fn least_costs_to(&mut self) -> Result<FxHashMap<PlanState, u64>> {
        let mut costs: FxHashMap<PlanState, u64> = FxHashMap::default();
        if self.spec.max_cost().is_none() {
            return Ok(costs);
        }
        let start = self.start();
        costs.insert(start.state, start.cost);
        let mut open = BinaryHeap::from([(Reverse(start.cost), start.state)]);
        while let Some((Reverse(cost), at)) = open.pop() {
            if cost > costs[&at] {
                continue;
            }
            for edge in self.steps(at)? {
                let through = cost.saturating_add(self.cost(edge.class));
                let shorter = costs.get(&edge.to).is_none_or(|&known| through < known);
                if self.affordable(through) && shorter {
                    costs.insert(edge.to, through);
                    open.push((Reverse(through), edge.to));
                }
            }
            if costs.len() > MOST_STATES {
                break;
            }
        }
        Ok(costs)
    }
}
