//! The part of a system that is nearest to its start, as nodes and edges.

use super::{Transition, TransitionSystem};
use crate::error::Result;
use rustc_hash::FxHashMap;
use std::collections::VecDeque;
use std::hash::Hash;

/// A state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GraphNode<S> {
    /// The state; the first node's is the start.
    pub state: S,
    /// Whether a word may end there.
    pub is_accepting: bool,
}

/// All transitions from one state to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GraphEdge<L> {
    /// The node before, by its place.
    pub from: usize,
    /// The node after; `None` for one that is left out because there are too many.
    pub to: Option<usize>,
    /// Their labels, in order.
    pub labels: Vec<L>,
}

/// The states that fewest letters lead to, and the transitions from them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Graph<S, L> {
    /// In the order in which a search breadth first finds them.
    pub nodes: Vec<GraphNode<S>>,
    /// By the nodes that they leave, and then by the first of their labels.
    pub edges: Vec<GraphEdge<L>>,
    /// Whether states are left out.
    pub is_truncated: bool,
}

impl<S: Clone + Eq + Hash, L> Graph<S, L> {
    /// The graph of at most `most` states, at least the start. Transitions of a state are first put in order by `sort`.
    ///
    /// # Errors
    /// Limits of the system.
    pub fn of<T: TransitionSystem<State = S, Label = L>>(
        system: &mut T,
        most: usize,
        sort: impl Fn(&mut [Transition<S, L>]),
    ) -> Result<Graph<S, L>> {
        let start = system.start();
        let mut numbers: FxHashMap<T::State, usize> = FxHashMap::from_iter([(start.clone(), 0)]);
        let mut queue = VecDeque::from([start]);
        let mut graph = Graph { nodes: Vec::new(), edges: Vec::new(), is_truncated: false };
        let mut successors = Vec::new();
        while let Some(state) = queue.pop_front() {
            let from = graph.nodes.len();
            let mut targets: Vec<(T::State, Vec<L>)> = Vec::new();
            let mut places: FxHashMap<T::State, usize> = FxHashMap::default();
            system.successors(&state, &mut successors)?;
            sort(&mut successors);
            for Transition { label, to } in successors.drain(..) {
                let place = *places.entry(to.clone()).or_insert(targets.len());
                match targets.get_mut(place) {
                    Some((_, labels)) => labels.push(label),
                    None => targets.push((to, vec![label])),
                }
            }
            for (state, labels) in targets {
                let next = numbers.len();
                let to = match numbers.get(&state) {
                    Some(&known) => Some(known),
                    None if next >= most => {
                        graph.is_truncated = true;
                        None
                    }
                    None => {
                        numbers.insert(state.clone(), next);
                        queue.push_back(state);
                        Some(next)
                    }
                };
                graph.edges.push(GraphEdge { from, to, labels });
            }
            graph.nodes.push(GraphNode { is_accepting: system.is_accepting(&state), state });
        }
        Ok(graph)
    }
}
