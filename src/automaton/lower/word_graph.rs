//! Lowering of word graphs: one state per node.
//!
//! A node with one edge of its own and a fallback becomes a `ByteOr` state, if the state of the fallback is a `Bytes`
//! state.

use super::Lowering;
use super::task::Task;
use crate::automaton::program::ids::StateId;
use crate::automaton::program::state::State;
use crate::grammar::{ExprId, Expression, WordEdge, WordGraph, WordTarget};
use smallvec::SmallVec;

impl<'g> Lowering<'g> {
    /// Whether an exit is built: it has words other than the empty one.
    fn is_built(&self, exit: ExprId) -> bool {
        self.kept.productive.holds(exit) && *self.grammar.expression(exit) != Expression::Empty
    }

    pub(in crate::automaton) fn begin_word_graph(
        &mut self,
        id: ExprId,
        graph: &'g WordGraph,
        next: StateId,
        scope: u32,
    ) {
        self.push_task(Task::WordGraphEnd { expression: id, next, scope });
        for &expression in graph.exits().iter().rev() {
            if self.is_built(expression) {
                self.push_task(Task::OrEmpty { expression, next });
                self.push_task(Task::Build { expression, next, scope });
            }
        }
    }

    pub(in crate::automaton) fn end_word_graph(&mut self, id: ExprId, next: StateId) {
        let Expression::WordGraph(graph) = self.grammar.expression(id) else { return };
        let built = graph.exits().iter().filter(|&&exit| self.is_built(exit)).count();
        let mut built = self.results_of(built).into_iter();
        let mut exit = |&exit: &ExprId| match *self.grammar.expression(exit) {
            Expression::Empty => Some(next),
            _ if self.is_built(exit) => built.next(),
            _ => None,
        };
        let exits: SmallVec<[Option<StateId>; 4]> = graph.exits().iter().map(&mut exit).collect();
        let mut nodes: SmallVec<[Option<StateId>; 64]> = SmallVec::from_elem(None, graph.len());
        let mut edges: SmallVec<[(u8, u8, StateId); 32]> = SmallVec::new();
        // later nodes first, because edges lead to them
        for node in (0..graph.len()).rev() {
            let target = |edge: &WordEdge| match edge.to {
                WordTarget::Node(to) => nodes[to as usize],
                WordTarget::Exit(exit) => exits[exit as usize],
            };
            let otherwise = graph.otherwise(node).and_then(|node| nodes[node]);
            let own = graph.own_edges(node);
            if let (&[WordEdge { low: byte, .. }], Some(otherwise)) = (own, otherwise)
                && let (Some(next), State::Bytes { .. }) = (target(&own[0]), self.state(otherwise))
            {
                nodes[node] = Some(self.add_state(State::ByteOr { byte, next, otherwise }));
                continue;
            }
            if own.is_empty() {
                nodes[node] = otherwise;
                continue;
            }
            edges.clear();
            for edge in &*graph.edges(node) {
                let Some(target) = target(edge) else { continue };
                match edges.last_mut() {
                    Some((_, high, same)) if *same == target && *high + 1 == edge.low => *high = edge.high,
                    _ => edges.push((edge.low, edge.high, target)),
                }
            }
            if !edges.is_empty() {
                nodes[node] = Some(self.byte_ranges(&edges));
            }
        }
        let state = nodes.first().copied().flatten().unwrap_or_else(|| self.split(&[]));
        self.push_result(state);
    }
}
