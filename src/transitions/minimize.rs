//! Minimisation of an automaton whose states can be listed.

use super::graph::{Graph, GraphEdge, GraphNode};
use rustc_hash::FxHashMap;
use std::hash::Hash;

/// The class of a state, and the classes that its labels lead to.
type Signature<'l, L> = (usize, Vec<(&'l L, usize)>);

/// The minimal automaton of a graph that is not truncated. States with equal languages are merged into the one with the
/// least number (Moore 1956: classes are split until the states of a class have equal edges). The start keeps number 0.
/// The result is minimal if every state reaches an accepting state, since dead ends are not removed, and if any two
/// labels are equal or have no letter in common, since labels are compared as wholes.
pub fn minimize<S: Clone, L: Clone + Eq + Hash + Ord>(graph: &Graph<S, L>) -> Graph<S, L> {
    let mut edges: Vec<Vec<(&L, usize)>> = vec![Vec::new(); graph.nodes.len()];
    for edge in &graph.edges {
        if let Some(to) = edge.to {
            edges[edge.from].extend(edge.labels.iter().map(|label| (label, to)));
        }
    }
    edges.iter_mut().for_each(|edges| edges.sort_unstable());
    let mut class: Vec<usize> = graph.nodes.iter().map(|node| usize::from(node.is_accepting)).collect();
    let mut classes = 0;
    loop {
        let mut known: FxHashMap<Signature<'_, L>, usize> = FxHashMap::default();
        let mut next = Vec::with_capacity(class.len());
        for (state, edges) in edges.iter().enumerate() {
            let signature = edges.iter().map(|&(label, to)| (label, class[to])).collect();
            let new = known.len();
            next.push(*known.entry((class[state], signature)).or_insert(new));
        }
        class = next;
        if known.len() == classes {
            break;
        }
        classes = known.len();
    }
    // classes are numbered by their first states, so the start's class is 0
    let mut nodes: Vec<GraphNode<S>> = Vec::with_capacity(classes);
    let mut kept: Vec<GraphEdge<L>> = Vec::new();
    for (state, node) in graph.nodes.iter().enumerate() {
        if class[state] != nodes.len() {
            continue;
        }
        let from = nodes.len();
        nodes.push(node.clone());
        let mut targets: Vec<(usize, Vec<L>)> = Vec::new();
        for &(label, to) in &edges[state] {
            match targets.iter_mut().find(|(known, _)| *known == class[to]) {
                Some((_, labels)) => labels.push(label.clone()),
                None => targets.push((class[to], vec![label.clone()])),
            }
        }
        kept.extend(targets.into_iter().map(|(to, labels)| GraphEdge { from, to: Some(to), labels }));
    }
    Graph { nodes, edges: kept, is_truncated: graph.is_truncated }
}
