//! Letters, in which the lengths of completions are counted, and bounds that are made of them.

use super::{ByteSet, CharClass, ExprId, WordEdge, WordGraph, WordTarget};
use rustc_hash::FxHashSet;

/// The bound of expressions without a known bound.
pub(crate) const UNBOUNDED: u32 = u32::MAX;

/// The letters of completions: bytes and token terminals that one token of a vocabulary can read.
#[derive(Clone, Debug)]
pub(crate) struct Letters {
    /// Bytes that are the whole text of a token.
    pub(crate) bytes: ByteSet,
    /// Token terminals that contain a token other than end-of-sequence tokens.
    pub(crate) terminals: FxHashSet<ExprId>,
    /// The number of bytes of the longest token.
    pub(crate) longest: u32,
}

impl Letters {
    /// 1 if the byte is a letter, otherwise [`UNBOUNDED`].
    pub(crate) fn of_byte(&self, byte: u8) -> u32 {
        if self.bytes.contains(byte) { 1 } else { UNBOUNDED }
    }

    /// 1 if a byte in `low..=high` is a letter, otherwise [`UNBOUNDED`].
    pub(crate) fn of_range(&self, low: u8, high: u8) -> u32 {
        if (low..=high).any(|byte| self.bytes.contains(byte)) { 1 } else { UNBOUNDED }
    }

    /// 1 if the token terminal is a letter, otherwise [`UNBOUNDED`].
    pub(crate) fn of_terminal(&self, terminal: ExprId) -> u32 {
        if self.terminals.contains(&terminal) { 1 } else { UNBOUNDED }
    }

    pub(super) fn of_bytes(&self, bytes: &[u8]) -> u32 {
        bytes.iter().fold(0, |sum, &byte| sum.saturating_add(self.of_byte(byte)))
    }

    /// Two upper bounds in letters: on the shortest character of a class, and on the bytes of any of its characters
    /// after the first byte.
    pub(super) fn of_class(&self, class: &CharClass) -> (u32, u32) {
        let Some(&(low, _)) = class.ranges().first() else { return (UNBOUNDED, 0) };
        let last = class.ranges().last().map_or(low, |&(_, high)| high);
        let is_ascii =
            |byte: u8| class.ranges().iter().any(|&(low, high)| (low..=high).contains(&char::from(byte)));
        let continues = (0x80..=0xBF).all(|byte| self.bytes.contains(byte));
        let inside = match last.len_utf8() as u32 - 1 {
            0 => 0,
            left if continues => left,
            _ => UNBOUNDED,
        };
        if (0..0x80).any(|byte| self.bytes.contains(byte) && is_ascii(byte)) {
            return (1, inside);
        }
        (self.of_bytes(low.encode_utf8(&mut [0; 4]).as_bytes()), inside)
    }
}

/// Multiplies a number of repetitions by a bound; 0 for none, also if there is no bound.
pub(super) fn times(count: u32, each: u32) -> u32 {
    if count == 0 { 0 } else { each.saturating_mul(count) }
}

/// Computes, per node of a graph, the bound from the node to the end of a word. The result is never empty: a graph
/// without nodes gives one [`UNBOUNDED`].
pub(super) fn of_graph(graph: &WordGraph, of: impl Fn(&ExprId) -> u32, letters: &Letters) -> Vec<u32> {
    let mut least = vec![UNBOUNDED; graph.len().max(1)];
    for node in (0..graph.len()).rev() {
        let after = |edge: &WordEdge| {
            let rest = match edge.to {
                WordTarget::Node(node) => least[node as usize],
                WordTarget::Exit(exit) => of(&graph.exits()[exit as usize]),
            };
            rest.saturating_add(letters.of_range(edge.low, edge.high))
        };
        least[node] = graph.edges(node).iter().map(after).min().unwrap_or(UNBOUNDED);
    }
    least
}
