//! Checks whether a word of a lazy rule may begin in one lexeme and end in a later one.
//!
//! The lowering builds a [`Shape`] along with each expression. [`Shapes::crossed`] computes, with a worklist, two sets
//! for each shape: the first bytes of its words, and a superset of the bytes that could continue a word of a lazy rule
//! that begins in the shape and is unfinished at the end of the shape. If the second set of one lexeme meets the first
//! set of the next one, the grammar is refused.

use super::beside::{Lazy, Lexeme};
use super::bytes::Bytes;
use crate::grammar::ByteSet;

/// A shape, as its index in [`Shapes`]. A shape says how lexemes may follow each other in an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shape(u32);

impl Shape {
    /// The shape of the empty text.
    pub(super) const EMPTY: Shape = Shape(0);
}

/// How the lexemes of a shape follow each other. `at` is the offset of the part after which another lexeme may follow;
/// for a repetition, `None` means that the body occurs at most once.
#[derive(Clone, Debug)]
enum Node {
    Leaf,
    Sequence { parts: [Shape; 2], at: usize },
    Choice(Vec<Shape>),
    Repeat { body: Shape, may_be_empty: bool, at: Option<usize> },
    Rule(Option<Shape>),
}

/// Facts about the words of a shape. During the fixed-point iteration the sets only grow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Edges {
    /// Whether the empty text may be a word.
    is_empty: bool,
    /// A superset of the first bytes of the words.
    first: ByteSet,
    /// A superset of the bytes that could continue a word of a lazy rule that begins in the shape and is unfinished at
    /// the end of the shape.
    open: ByteSet,
    /// The number of one of the lazy rules that may be unfinished at the end; `None` if there is none.
    lazy: Option<u32>,
}

impl Edges {
    /// The facts about a choice of the two.
    fn or(&self, other: &Edges) -> Edges {
        Edges {
            is_empty: self.is_empty || other.is_empty,
            first: self.first.union(&other.first),
            open: self.open.union(&other.open),
            lazy: self.lazy.or(other.lazy),
        }
    }

    /// The facts about a concatenation of the two.
    fn then(&self, next: &Edges) -> Edges {
        Edges {
            is_empty: self.is_empty && next.is_empty,
            first: if self.is_empty { self.first.union(&next.first) } else { self.first },
            open: if next.is_empty { self.open.union(&next.open) } else { next.open },
            lazy: if next.is_empty { next.lazy.or(self.lazy) } else { next.lazy },
        }
    }
}

/// A place at which a word of a lazy rule may continue from one lexeme into the next: the offset of the first of the
/// two, and the number of the lazy rule.
pub(super) struct Crossed {
    pub(super) at: usize,
    pub(super) lazy: u32,
}

/// All shapes of a grammar: their nodes, and the facts about them.
pub(super) struct Shapes {
    nodes: Vec<Node>,
    edges: Vec<Edges>,
}

impl Default for Shapes {
    fn default() -> Shapes {
        let empty = Edges { is_empty: true, ..Edges::default() };
        Shapes { nodes: vec![Node::Leaf], edges: vec![empty] }
    }
}

impl Shapes {
    fn push(&mut self, node: Node, edges: Edges) -> Shape {
        self.nodes.push(node);
        self.edges.push(edges);
        Shape(self.nodes.len() as u32 - 1)
    }

    /// A lexeme that is a lazy rule, or with which no lazy rule competes.
    pub(super) fn closed(&mut self, bytes: &Bytes) -> Shape {
        let edges = Edges { is_empty: bytes.is_empty, first: bytes.first, ..Edges::default() };
        self.push(Node::Leaf, edges)
    }

    /// A lexeme that begins where the lazy rules with the numbers `beside` may begin.
    pub(super) fn open(
        &mut self,
        bytes: &Bytes,
        lexeme: &Lexeme<'_>,
        lazies: &[Lazy<'_>],
        beside: impl IntoIterator<Item = u32>,
    ) -> Shape {
        let mut edges = Edges { is_empty: bytes.is_empty, first: bytes.first, ..Edges::default() };
        for number in beside {
            let open = after(bytes, lexeme, &lazies[number as usize]);
            if !open.is_empty() {
                edges.open = edges.open.union(&open);
                edges.lazy = edges.lazy.or(Some(number));
            }
        }
        self.push(Node::Leaf, edges)
    }

    /// Two shapes in sequence. `at` is the offset of the first.
    pub(super) fn sequence(&mut self, parts: [Shape; 2], at: usize) -> Shape {
        match parts {
            [Shape::EMPTY, other] | [other, Shape::EMPTY] => other,
            _ => self.push(Node::Sequence { parts, at }, Edges::default()),
        }
    }

    pub(super) fn choice(&mut self, ways: Vec<Shape>) -> Shape {
        match ways[..] {
            [one] => one,
            _ => self.push(Node::Choice(ways), Edges::default()),
        }
    }

    /// A shape that occurs at least `min` and at most `max` times; `None` means no bound.
    pub(super) fn repeat(&mut self, body: Shape, min: u32, max: Option<u32>, at: usize) -> Shape {
        match (body, min, max) {
            (Shape::EMPTY, ..) | (_, _, Some(0)) => Shape::EMPTY,
            (_, 1, Some(1)) => body,
            _ => {
                let at = (max != Some(1)).then_some(at);
                self.push(Node::Repeat { body, may_be_empty: min == 0, at }, Edges::default())
            }
        }
    }

    /// A rule whose body is not known yet. [`define`](Shapes::define) sets it.
    pub(super) fn rule(&mut self) -> Shape {
        self.push(Node::Rule(None), Edges::default())
    }

    pub(super) fn define(&mut self, rule: Shape, body: Shape) {
        self.nodes[rule.0 as usize] = Node::Rule(Some(body));
    }

    /// The facts about a node, computed from those about its parts; `None` for a leaf, and for a rule without a body.
    fn look(&self, node: &Node) -> Option<Edges> {
        let of = |shape: Shape| self.edges[shape.0 as usize];
        Some(match node {
            Node::Leaf | Node::Rule(None) => return None,
            Node::Sequence { parts: [first, second], .. } => of(*first).then(&of(*second)),
            Node::Choice(ways) => ways.iter().fold(Edges::default(), |all, &way| all.or(&of(way))),
            Node::Repeat { body, may_be_empty, .. } => {
                let body = of(*body);
                Edges { is_empty: body.is_empty || *may_be_empty, ..body }
            }
            Node::Rule(Some(body)) => of(*body),
        })
    }

    /// The place with the least offset at which a word of a lazy rule may continue from one lexeme into the next;
    /// `None` if there is no such place.
    pub(super) fn crossed(&mut self) -> Option<Crossed> {
        if self.edges.iter().all(|edges| edges.lazy.is_none()) {
            return None;
        }
        let mut parents = vec![Vec::new(); self.nodes.len()];
        for (parent, node) in self.nodes.iter().enumerate() {
            let parts: &[Shape] = match node {
                Node::Leaf | Node::Rule(None) => &[],
                Node::Sequence { parts, .. } => parts,
                Node::Choice(ways) => ways,
                Node::Repeat { body, .. } | Node::Rule(Some(body)) => std::slice::from_ref(body),
            };
            parts.iter().for_each(|part| parents[part.0 as usize].push(parent));
        }
        // the last node is looked at first: rules are often used before they are defined
        let mut open: Vec<usize> = (0..self.nodes.len()).collect();
        let mut is_open = vec![true; self.nodes.len()];
        while let Some(place) = open.pop() {
            is_open[place] = false;
            let Some(edges) = self.look(&self.nodes[place]) else { continue };
            if std::mem::replace(&mut self.edges[place], edges) != edges {
                for &parent in &parents[place] {
                    if !std::mem::replace(&mut is_open[parent], true) {
                        open.push(parent);
                    }
                }
            }
        }
        let crossed = self.nodes.iter().filter_map(|node| {
            let (before, after, at) = match node {
                Node::Sequence { parts: [before, after], at } => (*before, *after, *at),
                Node::Repeat { body, at: Some(at), .. } => (*body, *body, *at),
                _ => return None,
            };
            let (before, after) = (&self.edges[before.0 as usize], &self.edges[after.0 as usize]);
            let meet = !before.open.intersection(&after.first).is_empty();
            before.lazy.filter(|_| meet).map(|lazy| Crossed { at, lazy })
        });
        crossed.min_by_key(|crossed| crossed.at)
    }
}

/// A superset of the bytes that could continue, after a lexeme, a word of `lazy` that begins in the lexeme. If `lazy`
/// is any text up to a string, the beginnings of that string count; otherwise only words that begin where the lexeme
/// begins.
fn after(bytes: &Bytes, lexeme: &Lexeme<'_>, lazy: &Lazy<'_>) -> ByteSet {
    let mut next = ByteSet::default();
    let Some(trigger) = &lazy.trigger else {
        let begins = !bytes.first.intersection(&lazy.bytes.first).is_empty();
        return if begins { lazy.bytes.all } else { next };
    };
    let trigger = trigger.as_bytes();
    match lexeme {
        Lexeme::AnyText => trigger.iter().skip(1).for_each(|&byte| next.insert(byte)),
        Lexeme::Text(text) => {
            begun_at_end(text.as_bytes(), trigger)
                .into_iter()
                .for_each(|length| next.insert(trigger[length]));
        }
        Lexeme::Other => {
            for pair in trigger.windows(2) {
                let [before, byte] = *pair else { continue };
                if !bytes.all.contains(before) {
                    break;
                }
                if bytes.last.contains(before) {
                    next.insert(byte);
                }
            }
        }
    }
    next
}

/// The lengths of the proper prefixes of `trigger`, longest first, with which `text` ends (D. Knuth, J. Morris, V.
/// Pratt, 1977). The empty prefix is left out.
fn begun_at_end(text: &[u8], trigger: &[u8]) -> Vec<usize> {
    // by length of a prefix: the longest shorter prefix with which it ends
    let mut shorter = vec![0; trigger.len() + 1];
    let longer = |shorter: &[usize], mut length: usize, byte: u8| {
        loop {
            match trigger.get(length) {
                Some(&next) if next == byte => return length + 1,
                _ if length == 0 => return 0,
                _ => length = shorter[length],
            }
        }
    };
    for length in 2..=trigger.len() {
        shorter[length] = longer(&shorter, shorter[length - 1], trigger[length - 1]);
    }
    let mut length = text.iter().fold(0, |length, &byte| longer(&shorter, length, byte));
    let mut lengths = Vec::new();
    while length > 0 {
        if length < trigger.len() {
            lengths.push(length);
        }
        length = shorter[length];
    }
    lengths
}

/// Whether ignored text may contain a word of a lazy rule. `true` is only an upper bound: the answer is computed from
/// sets of bytes.
pub(super) fn may_hold(ignored: &Bytes, lazy: &Lazy<'_>) -> bool {
    match &lazy.trigger {
        Some(trigger) => trigger.bytes().all(|byte| ignored.all.contains(byte)),
        None => {
            let (first, last) = (&lazy.bytes.first, &lazy.bytes.last);
            !first.intersection(&ignored.first).is_empty() && !last.intersection(&ignored.all).is_empty()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_at_the_end_are_those_of_a_search_for_each() {
        let words: Vec<Vec<u8>> = (0..7_u32)
            .flat_map(|length| (0..1_u32 << length).map(move |bits| (length, bits)))
            .map(|(length, bits)| (0..length).map(|at| b'a' + (bits >> at & 1) as u8).collect())
            .collect();
        let mut pairs = 0;
        for trigger in words.iter().filter(|trigger| !trigger.is_empty()) {
            for text in &words {
                let expected: Vec<usize> =
                    (1..trigger.len()).rev().filter(|&length| text.ends_with(&trigger[..length])).collect();
                assert_eq!(begun_at_end(text, trigger), expected, "{text:?} {trigger:?}");
                pairs += 1;
            }
        }
        assert!(pairs > 15_000, "{pairs}");
    }
}
