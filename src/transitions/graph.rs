//! The states of a system closest to its start, as nodes and edges.

use super::{Transition, TransitionSystem};
use crate::error::Result;
use rustc_hash::FxHashMap;
use std::collections::VecDeque;
use std::hash::Hash;

/// A state of a [`Graph`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GraphNode<S> {
    /// The state; the first node holds the start.
    pub state: S,
    /// Whether a word may end in the state.
    pub is_accepting: bool,
}

/// All transitions from one state to one other state, or back to itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GraphEdge<L> {
    /// The index of the source node in [`Graph::nodes`].
    pub from: usize,
    /// The index of the target node in [`Graph::nodes`]; `None` if the target was left out because of the bound.
    pub to: Option<usize>,
    /// The labels, in the order of the sorted transitions.
    pub labels: Vec<L>,
}

/// The states that are reached from the start with the fewest letters, and their transitions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Graph<S, L> {
    /// The states in breadth-first order.
    pub nodes: Vec<GraphNode<S>>,
    /// The edges, ordered by source node, then by their first label.
    pub edges: Vec<GraphEdge<L>>,
    /// Whether states were left out because of the bound.
    pub is_truncated: bool,
}

impl<S: Clone + Eq + Hash, L> Graph<S, L> {
    /// The graph of at most `most` states, and at least the start. `sort` orders the transitions of a state before they
    /// are followed.
    ///
    /// # Errors
    /// Errors of the system, for instance an exceeded limit.
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
