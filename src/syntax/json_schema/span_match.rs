//! Matching one concrete text with a small regular grammar.

use crate::grammar::{ExprId, Expression, Grammar};
use fixedbitset::FixedBitSet;

/// Table entries that one match may fill.
const MAX_WORK: usize = 1 << 26;

/// Whether the grammar describes `text`; `None` if finding out costs too much. A table of which expression
/// spans from where to where, filled bottom-up: operands precede their expressions. Rules start with no spans
/// and take those of their bodies, until none is new; so there must be no complement of a rule.
pub(super) fn matches(grammar: &Grammar, text: &str) -> Option<bool> {
    let width = text.len() + 1;
    let cells = grammar.expressions().len().saturating_mul(width).saturating_mul(width);
    let mut rules = vec![vec![FixedBitSet::with_capacity(width); width]; grammar.rules().len()];
    let mut work = 0;
    loop {
        work += cells;
        if work > MAX_WORK {
            return None;
        }
        let mut table: Vec<Vec<FixedBitSet>> = Vec::with_capacity(grammar.expressions().len());
        for expression in grammar.expressions() {
            let spans = spans(expression, &table, &rules, text)?;
            table.push(spans);
        }
        let found: Vec<_> = grammar.rules().iter().map(|rule| table[rule.body.index()].clone()).collect();
        let root = found[grammar.root().index()][0].contains(text.len());
        // what is found stays found
        if root || found == rules || grammar.rules().len() == 1 {
            return Some(root);
        }
        rules = found;
    }
}

/// For every start, the ends of the spans that the expression describes.
fn spans(
    expression: &Expression,
    table: &[Vec<FixedBitSet>],
    rules: &[Vec<FixedBitSet>],
    text: &str,
) -> Option<Vec<FixedBitSet>> {
    let bytes = text.as_bytes();
    let width = bytes.len() + 1;
    let of = |id: &ExprId| &table[id.index()];
    let mut out = vec![FixedBitSet::with_capacity(width); width];
    for start in 0..width {
        let ends = &mut out[start];
        match expression {
            Expression::Empty => ends.insert(start),
            Expression::Never => {}
            Expression::Bytes(literal) if bytes[start..].starts_with(literal) => {
                ends.insert(start + literal.len());
            }
            Expression::ByteSet(set) if bytes.get(start).is_some_and(|&b| set.contains(b)) => {
                ends.insert(start + 1);
            }
            Expression::Class(class) => {
                let next = text.get(start..).and_then(|rest| rest.chars().next());
                if let Some(c) = next.filter(|&c| class.contains(c)) {
                    ends.insert(start + c.len_utf8());
                }
            }
            Expression::Bytes(_) | Expression::ByteSet(_) => {}
            Expression::Sequence(list) => {
                let mut at = FixedBitSet::with_capacity(width);
                at.insert(start);
                for part in list {
                    at = follow(&at, of(part), width);
                }
                *ends = at;
            }
            Expression::Choice(list) => list.iter().for_each(|part| ends.union_with(&of(part)[start])),
            Expression::Repeat { body, min, max } => *ends = repeated(start, of(body), *min, *max, width),
            Expression::Intersection(list) => {
                ends.insert_range(start..);
                list.iter().for_each(|part| ends.intersect_with(&of(part)[start]));
            }
            Expression::Complement(body) => {
                ends.insert_range(start..);
                ends.difference_with(&of(body)[start]);
            }
            Expression::Label(_, body) => *ends = of(body)[start].clone(),
            Expression::Rule(rule) => *ends = rules[rule.index()][start].clone(),
            Expression::Members(_) => return None,
        }
    }
    Some(out)
}

fn follow(from: &FixedBitSet, spans: &[FixedBitSet], width: usize) -> FixedBitSet {
    let mut to = FixedBitSet::with_capacity(width);
    from.ones().for_each(|at| to.union_with(&spans[at]));
    to
}

/// The ends after `min` to `max` bodies. Counting stops where it changes nothing any more.
fn repeated(start: usize, body: &[FixedBitSet], min: u32, max: Option<u32>, width: usize) -> FixedBitSet {
    let mut at = FixedBitSet::with_capacity(width);
    at.insert(start);
    let mut count = 0;
    while count < min {
        let next = follow(&at, body, width);
        count += 1;
        if next == at {
            count = min;
        }
        at = next;
    }
    let mut all = at.clone();
    while max.is_none_or(|max| count < max) {
        at = follow(&at, body, width);
        count += 1;
        let before = all.count_ones(..);
        all.union_with(&at);
        if all.count_ones(..) == before {
            break;
        }
    }
    all
}
