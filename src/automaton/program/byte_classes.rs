//! Classes of bytes that the automaton does not distinguish.

use crate::grammar::{ExprId, Expression, Grammar};
use regex_syntax::utf8::Utf8Sequences;

/// A partition of the 256 bytes into runs of consecutive bytes.
#[derive(Clone, Debug)]
pub(in crate::automaton) struct ByteClasses {
    class: [u8; 256],
    representatives: Vec<u8>,
}

impl ByteClasses {
    #[inline]
    pub(in crate::automaton) fn get(&self, byte: u8) -> usize {
        usize::from(self.class[usize::from(byte)])
    }

    pub(in crate::automaton) fn len(&self) -> usize {
        self.representatives.len()
    }

    pub(in crate::automaton) fn representatives(&self) -> &[u8] {
        &self.representatives
    }
}

/// Collects the bytes at which classes begin.
#[derive(Debug)]
pub(in crate::automaton) struct ClassBuilder {
    starts: [bool; 256],
    /// Per expression, whether `reach` has examined it.
    seen: Vec<bool>,
}

impl ClassBuilder {
    pub(in crate::automaton) fn new(grammar: &Grammar) -> ClassBuilder {
        let mut starts = [false; 256];
        starts[0] = true;
        ClassBuilder { starts, seen: vec![false; grammar.expressions().len()] }
    }

    /// Separates `low..=high` from all other bytes.
    fn add(&mut self, low: u8, high: u8) {
        self.starts[usize::from(low)] = true;
        // after the last byte this wraps to the first class
        self.starts[usize::from(high.wrapping_add(1))] = true;
    }

    /// Separates the bytes that an expression distinguishes, or any expression that it contains or reaches through
    /// rules.
    pub(in crate::automaton) fn reach(&mut self, grammar: &Grammar, expression: ExprId) {
        let mut open = Vec::with_capacity(64);
        open.push(expression);
        while let Some(id) = open.pop() {
            if std::mem::replace(&mut self.seen[id.index()], true) {
                continue;
            }
            let expression = grammar.expression(id);
            match expression {
                Expression::Bytes(bytes) => bytes.iter().for_each(|&byte| self.add(byte, byte)),
                Expression::ByteSet(set) => set.ranges().for_each(|(low, high)| self.add(low, high)),
                Expression::Class(class) => {
                    for &(low, high) in class.ranges() {
                        for sequence in Utf8Sequences::new(low, high) {
                            sequence.as_slice().iter().for_each(|range| self.add(range.start, range.end));
                        }
                    }
                }
                Expression::WordGraph(graph) => {
                    graph.all_edges().iter().for_each(|edge| self.add(edge.low, edge.high));
                }
                Expression::Members(list) => {
                    for member in &list.members {
                        member.key.iter().for_each(|&byte| self.add(byte, byte));
                    }
                }
                Expression::Rule(rule) => open.push(grammar.rule(*rule).body),
                _ => {}
            }
            expression.for_each_child(|child| open.push(child));
        }
    }

    pub(in crate::automaton) fn build(&self) -> ByteClasses {
        let mut class = [0; 256];
        let mut representatives = Vec::with_capacity(self.starts.iter().filter(|start| **start).count());
        for byte in 0..=255u8 {
            if self.starts[usize::from(byte)] {
                representatives.push(byte);
            }
            class[usize::from(byte)] = (representatives.len() - 1) as u8;
        }
        ByteClasses { class, representatives }
    }
}
