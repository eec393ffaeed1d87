//! Acyclic graphs of bytes.

use super::expression::ExprId;

/// A directed acyclic graph of bytes, deterministic, whose paths go on in other expressions: the way from the first
/// node along edges to an exit, and then a word of that exit's expression. What a tree of choices and sequences
/// says in one expression a node is here one expression altogether.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct WordGraph {
    /// Where the edges of each node end.
    ends: Vec<u32>,
    edges: Vec<WordEdge>,
    exits: Box<[ExprId]>,
}

/// An edge of a [`WordGraph`]: one byte of a range, and where it leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct WordEdge {
    /// The first byte.
    pub low: u8,
    /// The last byte.
    pub high: u8,
    /// Where it leads.
    pub to: WordTarget,
}

/// Where a [`WordEdge`] leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WordTarget {
    /// To a node, by its place; it stands after the node of the edge.
    Node(u32),
    /// Out of the graph, to the expression at this place among the exits.
    Exit(u32),
}

impl WordGraph {
    /// A graph without nodes, for edges to these expressions.
    pub fn new(exits: impl IntoIterator<Item = ExprId>) -> WordGraph {
        WordGraph { ends: Vec::new(), edges: Vec::new(), exits: exits.into_iter().collect() }
    }

    /// Adds a node; its edges are sorted and disjoint. The first node is where words begin.
    pub fn push(&mut self, edges: impl IntoIterator<Item = WordEdge>) {
        self.edges.extend(edges);
        self.ends.push(self.edges.len() as u32);
    }

    /// How many nodes there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are no nodes.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The edges of a node.
    pub fn edges(&self, node: usize) -> &[WordEdge] {
        let first = if node > 0 { self.ends[node - 1] } else { 0 };
        &self.edges[first as usize..self.ends[node] as usize]
    }

    /// The expressions that paths go on in.
    pub fn exits(&self) -> &[ExprId] {
        &self.exits
    }

    /// Whether all edges are sorted, disjoint, and lead to an exit or to a later node, and all nodes and exits are reached.
    pub(super) fn is_sound(&self) -> bool {
        let mut nodes = vec![false; self.len()];
        let mut exits = vec![false; self.exits.len()];
        nodes.first_mut().into_iter().for_each(|first| *first = true);
        for node in 0..self.len() {
            let mut free = 0;
            for edge in self.edges(node) {
                let mark = match edge.to {
                    WordTarget::Node(to) if to as usize > node => nodes.get_mut(to as usize),
                    WordTarget::Node(_) => None,
                    WordTarget::Exit(exit) => exits.get_mut(exit as usize),
                };
                let Some(mark) = mark.filter(|_| free <= u32::from(edge.low) && edge.low <= edge.high) else {
                    return false;
                };
                *mark = true;
                free = u32::from(edge.high) + 1;
            }
            if free == 0 || !nodes[node] {
                return false;
            }
        }
        !nodes.is_empty() && !exits.contains(&false)
    }
}
