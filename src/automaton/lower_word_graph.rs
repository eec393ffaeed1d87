//! Lowering of word graphs: a state a node.

use super::lower::Lowering;
use super::state::StateId;
use super::task::Task;
use crate::grammar::{ExprId, Expression, WordGraph, WordTarget};

impl<'g> Lowering<'g> {
    /// The exits that are built: they have words other than the empty one.
    fn is_built(&self, exit: ExprId) -> bool {
        self.productive.holds(exit) && *self.grammar.expression(exit) != Expression::Empty
    }

    pub(super) fn begin_word_graph(&mut self, id: ExprId, graph: &'g WordGraph, next: StateId, scope: u32) {
        self.push_task(Task::WordGraphEnd { expression: id, next, scope });
        for &expression in graph.exits().iter().rev() {
            if self.is_built(expression) {
                self.push_task(Task::OrEmpty { expression, next });
                self.push_task(Task::Build { expression, next, scope });
            }
        }
    }

    pub(super) fn end_word_graph(&mut self, id: ExprId, next: StateId) {
        let Expression::WordGraph(graph) = self.grammar.expression(id) else { return };
        let built = graph.exits().iter().filter(|&&exit| self.is_built(exit)).count();
        let mut built = self.results_of(built).into_iter();
        let mut exit = |&exit: &ExprId| match *self.grammar.expression(exit) {
            Expression::Empty => Some(next),
            _ if self.is_built(exit) => built.next(),
            _ => None,
        };
        let exits: Vec<Option<StateId>> = graph.exits().iter().map(&mut exit).collect();
        let mut nodes: Vec<Option<StateId>> = vec![None; graph.len()];
        let mut edges: Vec<(u8, u8, StateId)> = Vec::new();
        // later nodes first: edges lead to them
        for node in (0..graph.len()).rev() {
            edges.clear();
            for edge in graph.edges(node) {
                let target = match edge.to {
                    WordTarget::Node(to) => nodes[to as usize],
                    WordTarget::Exit(exit) => exits[exit as usize],
                };
                let Some(target) = target else { continue };
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
