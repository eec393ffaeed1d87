//! Acyclic graphs of bytes.

use super::class::ByteSet;
use super::ids::ExprId;
use rustc_hash::FxHashMap;
use std::borrow::Cow;
use std::hash::{Hash, Hasher};

/// A deterministic, directed acyclic graph of bytes whose paths continue in other expressions. A word follows edges
/// from the first node to an exit and continues with a word of that exit's expression. A tree of choices and sequences
/// would need an expression per node; the graph is one expression.
///
/// A node may name a fallback node: bytes that none of its own edges read follow the fallback's edges. So each of many
/// trie nodes that differ in one byte needs only one edge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WordGraph {
    /// Per node, the end of its own edges, and its fallback node (0: none).
    nodes: Vec<(u32, u32)>,
    edges: Vec<WordEdge>,
    exits: Box<[ExprId]>,
}

/// An edge of a [`WordGraph`]: a range of bytes and its target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct WordEdge {
    /// The first byte, included in the range.
    pub low: u8,
    /// The last byte, included in the range.
    pub high: u8,
    /// The node or exit after any byte of the range.
    pub to: WordTarget,
}

/// The target of a [`WordEdge`]: another node, or an exit that ends the path in the graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WordTarget {
    /// A node, by index; it comes after the node of the edge.
    Node(u32),
    /// An exit, by its index in the list of exits.
    Exit(u32),
}

impl Hash for WordGraph {
    fn hash<H: Hasher>(&self, state: &mut H) {
        // graphs are large: hash one number per node and edge
        self.exits.hash(state);
        self.nodes
            .iter()
            .for_each(|&(end, otherwise)| state.write_u64(u64::from(end) << 32 | u64::from(otherwise)));
        for &WordEdge { low, high, to } in &self.edges {
            let (out, to) = match to {
                WordTarget::Node(node) => (0, node),
                WordTarget::Exit(exit) => (1, exit),
            };
            state.write_u64(u64::from(to) << 32 | out << 16 | u64::from(high) << 8 | u64::from(low));
        }
    }
}

impl WordGraph {
    /// A graph without nodes, whose edges may lead to these exits.
    pub fn new(exits: impl IntoIterator<Item = ExprId>) -> WordGraph {
        WordGraph { nodes: Vec::new(), edges: Vec::new(), exits: exits.into_iter().collect() }
    }

    /// Reserves memory for at least this many more nodes and edges.
    pub fn reserve(&mut self, nodes: usize, edges: usize) {
        self.nodes.reserve(nodes);
        self.edges.reserve(edges);
    }

    /// A copy of the graph whose edges lead to these exits instead, by index.
    pub fn with_exits(&self, exits: Box<[ExprId]>) -> WordGraph {
        WordGraph { exits, ..self.clone() }
    }

    /// Adds a node; its edges must be sorted and disjoint. Words begin at the first node. `otherwise` is the fallback:
    /// a later node without a fallback of its own; the node's own edges must then be of one byte each. Only
    /// [`is_sound`](WordGraph::is_sound) checks this.
    pub fn push(&mut self, edges: impl IntoIterator<Item = WordEdge>, otherwise: Option<u32>) {
        self.edges.extend(edges);
        self.nodes.push((self.edges.len() as u32, otherwise.unwrap_or(0)));
    }

    /// The number of nodes; a sound graph has at least one.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether every node has an edge or a fallback. In a graph whose edges lead to later nodes or exits, every path
    /// can then be continued to an exit.
    pub fn is_trim(&self) -> bool {
        (0..self.len()).all(|node| !self.own_edges(node).is_empty() || self.otherwise(node).is_some())
    }

    /// Whether the graph has no nodes, and so no words.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// The edges of a node, without the edges of its fallback.
    pub fn own_edges(&self, node: usize) -> &[WordEdge] {
        let first = if node > 0 { self.nodes[node - 1].0 } else { 0 };
        &self.edges[first as usize..self.nodes[node].0 as usize]
    }

    /// The own edges of all nodes, in the order of the nodes.
    pub fn all_edges(&self) -> &[WordEdge] {
        &self.edges
    }

    /// The fallback of a node; `None` if it has none.
    pub fn otherwise(&self, node: usize) -> Option<usize> {
        Some(self.nodes[node].1 as usize).filter(|&otherwise| otherwise > 0)
    }

    /// All edges of a node, sorted and disjoint: its own edges, and the edges of its fallback for the remaining bytes.
    pub fn edges(&self, node: usize) -> Cow<'_, [WordEdge]> {
        let own = self.own_edges(node);
        let Some(otherwise) = self.otherwise(node) else { return own.into() };
        let mut all = Vec::with_capacity(own.len() + self.own_edges(otherwise).len() + 4);
        let mut own = own.iter().copied().peekable();
        for &WordEdge { low, high, to } in self.own_edges(otherwise) {
            let mut low = u32::from(low);
            while let Some(own) = own.next_if(|own| own.low <= high) {
                if low < u32::from(own.low) {
                    all.push(WordEdge { low: low as u8, high: own.low - 1, to });
                }
                all.push(own);
                low = low.max(u32::from(own.low) + 1);
            }
            if low <= u32::from(high) {
                all.push(WordEdge { low: low as u8, high, to });
            }
        }
        all.extend(own);
        all.into()
    }

    /// The expressions in which paths continue.
    pub fn exits(&self) -> &[ExprId] {
        &self.exits
    }

    /// Whether the graph has a node and: the edges of each node are sorted, disjoint, and lead to an exit or to a later
    /// node; edges of a node with a fallback read one byte each; no fallback has a fallback; every node can be left;
    /// and all nodes and exits are reachable.
    pub fn is_sound(&self) -> bool {
        let mut reached = vec![false; self.len()];
        let mut exits = vec![false; self.exits.len()];
        // per fallback, the bytes that every node with this fallback reads itself
        let mut hidden: FxHashMap<usize, ByteSet> = FxHashMap::default();
        reached.first_mut().into_iter().for_each(|first| *first = true);
        for node in 0..self.len() {
            let covered = match hidden.get(&node) {
                _ if reached[node] => ByteSet::EMPTY,
                Some(hidden) => *hidden,
                None => return false,
            };
            let otherwise = self.otherwise(node);
            let (mut free, mut own, mut any) = (0, ByteSet::EMPTY, false);
            for edge in self.own_edges(node) {
                let one_byte = edge.low == edge.high;
                if free > u32::from(edge.low) || edge.low > edge.high || otherwise.is_some() && !one_byte {
                    return false;
                }
                free = u32::from(edge.high) + 1;
                if otherwise.is_some() {
                    own.insert(edge.low);
                }
                let mark = match edge.to {
                    WordTarget::Node(to) if to as usize > node => reached.get_mut(to as usize),
                    WordTarget::Node(_) => None,
                    WordTarget::Exit(exit) => exits.get_mut(exit as usize),
                };
                let Some(mark) = mark else { return false };
                let seen = covered.is_empty() || !ByteSet::range(edge.low, edge.high).is_subset(&covered);
                *mark |= seen;
                any |= seen;
            }
            if let Some(otherwise) = otherwise {
                if otherwise <= node || otherwise >= self.len() || self.otherwise(otherwise).is_some() {
                    return false;
                }
                let hidden = hidden.entry(otherwise).or_insert(ByteSet::FULL);
                *hidden = hidden.intersection(&own);
                any = true;
            }
            if !any {
                return false;
            }
        }
        !reached.is_empty() && !exits.contains(&false)
    }
}
