//! Matching of a concrete text with a regular grammar: which spans of the text each expression describes, computed on
//! demand.

use crate::grammar::{ExprId, Expression, Grammar};
use fixedbitset::FixedBitSet;
use rustc_hash::FxHashMap;

/// Bound on the number of expressions with a start that a match examines, times the length of the text.
const MAX_WORK: usize = 1 << 24;
/// Greatest nesting depth of expressions.
const MAX_DEPTH: usize = 300;

/// Whether the grammar describes `text`, and the number of steps of work: sets of ends made, by 64 bytes of text.
/// `None` if the match would be too expensive.
pub(in crate::syntax::json_schema) fn matches(grammar: &Grammar, text: &str) -> (Option<bool>, usize) {
    let mut spans = Spans { grammar, text, known: FxHashMap::default(), made: 0 };
    let ends = spans.ends(grammar.rule(grammar.root()).body, 0, 0);
    let steps = spans.made.saturating_mul(1 + text.len() / 64);
    (ends.map(|ends| ends.contains(text.len())), steps)
}

struct Spans<'m> {
    grammar: &'m Grammar,
    text: &'m str,
    /// For an expression and a start, the ends of the spans that it describes.
    known: FxHashMap<(ExprId, usize), FixedBitSet>,
    /// Number of sets made so far, also of those known before.
    made: usize,
}

impl Spans<'_> {
    fn none(&self) -> FixedBitSet {
        FixedBitSet::with_capacity(self.text.len() + 1)
    }

    fn one(&self, end: usize) -> FixedBitSet {
        let mut ends = self.none();
        ends.insert(end);
        ends
    }

    fn ends(&mut self, id: ExprId, start: usize, depth: usize) -> Option<FixedBitSet> {
        self.made += 1;
        if let Some(known) = self.known.get(&(id, start)) {
            return Some(known.clone());
        }
        if depth > MAX_DEPTH
            || self.known.len() * (self.text.len() + 1) > MAX_WORK
            || self.made.saturating_mul(1 + self.text.len() / 64) > MAX_WORK
        {
            return None;
        }
        let ends = self.find(id, start, depth + 1)?;
        self.known.insert((id, start), ends.clone());
        Some(ends)
    }

    fn find(&mut self, id: ExprId, start: usize, depth: usize) -> Option<FixedBitSet> {
        let (grammar, text) = (self.grammar, self.text);
        let rest = &text.as_bytes()[start..];
        let up_to = |length: Option<usize>| length.map_or_else(|| self.none(), |n| self.one(start + n));
        Some(match grammar.expression(id) {
            Expression::Empty => self.one(start),
            Expression::Never => self.none(),
            Expression::Bytes(literal) => up_to(rest.starts_with(literal).then_some(literal.len())),
            Expression::ByteSet(set) => up_to(rest.first().filter(|&&b| set.contains(b)).map(|_| 1)),
            Expression::Class(class) => {
                let next = text.get(start..).and_then(|rest| rest.chars().next());
                up_to(next.filter(|&c| class.contains(c)).map(char::len_utf8))
            }
            Expression::Sequence(list) => {
                let mut at = self.one(start);
                for &part in list {
                    at = self.follow(&at, part, depth)?;
                }
                at
            }
            Expression::Choice(list) => {
                let mut ends = self.none();
                for &part in list {
                    ends.union_with(&self.ends(part, start, depth)?);
                }
                ends
            }
            &Expression::Repeat { body, min, max } => self.repeated(start, body, (min, max), depth)?,
            Expression::Intersection(list) => {
                let mut ends = self.none();
                ends.insert_range(start..);
                for &part in list {
                    ends.intersect_with(&self.ends(part, start, depth)?);
                }
                ends
            }
            &Expression::Complement(body) => {
                let mut ends = self.none();
                ends.insert_range(start..);
                ends.difference_with(&self.ends(body, start, depth)?);
                ends
            }
            &(Expression::Label(_, body) | Expression::Name(body, _)) => self.ends(body, start, depth)?,
            // formats that nest have rules
            Expression::Rule(rule) => self.ends(grammar.rule(*rule).body, start, depth)?,
            Expression::Members(_)
            | Expression::MaxTokens { .. }
            | Expression::WordGraph(_)
            | Expression::Distinct(_)
            | Expression::Token(_) => return None,
        })
    }

    fn follow(&mut self, from: &FixedBitSet, part: ExprId, depth: usize) -> Option<FixedBitSet> {
        let mut to = self.none();
        for at in from.ones() {
            to.union_with(&self.ends(part, at, depth)?);
        }
        Some(to)
    }

    /// Returns the ends after `min` to `max` repetitions of the body. Counting stops when nothing changes any more.
    fn repeated(
        &mut self,
        start: usize,
        body: ExprId,
        (min, max): (u32, Option<u32>),
        depth: usize,
    ) -> Option<FixedBitSet> {
        let mut at = self.one(start);
        let mut count = 0;
        while count < min {
            let next = self.follow(&at, body, depth)?;
            count += 1;
            if next == at {
                count = min;
            }
            at = next;
        }
        let mut all = at.clone();
        while max.is_none_or(|max| count < max) {
            at = self.follow(&at, body, depth)?;
            count += 1;
            let before = all.count_ones(..);
            all.union_with(&at);
            if all.count_ones(..) == before {
                break;
            }
        }
        Some(all)
    }
}
