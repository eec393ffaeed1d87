//! Bounds on the letters that turn any prefix of a name of an object into a name that differs from others.
//!
//! A prefix of a name is extended to a repetition without an upper bound, the *loop*. Each round of the loop makes the
//! name longer, so after some number of rounds the name differs from all others. Then the name is completed.

use super::letters::{Letters, UNBOUNDED, of_graph, times};
use super::{ExprId, Expression, Grammar, Names};

/// The most bytes of a JSON string that spell one character: a pair of escaped surrogates.
pub(crate) const LONGEST_CHARACTER: u32 = 12;

/// How often the loops of rules are passed on to references to the rules.
const PASSES: usize = 2;

/// A bound on the letters within which any prefix of a name can become a name that differs from others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct EndlessNames {
    /// The part that does not depend on the number of other names; [`UNBOUNDED`] if there is no bound.
    pub(crate) base: u32,
    /// The part that is counted once for each of the other names, and once more.
    pub(crate) each: u32,
}

impl EndlessNames {
    /// No bound is known.
    pub(crate) const UNKNOWN: EndlessNames = EndlessNames { base: UNBOUNDED, each: 0 };

    /// The most letters from within a name to the end of a name that differs from `others` names; `None` if unknown.
    /// Each round of a loop makes the name longer, so for some number of rounds up to `others` its length differs from
    /// all of them.
    pub(crate) fn letters(self, others: u32) -> Option<u32> {
        let letters = self.base.saturating_add(self.each.saturating_mul(others.saturating_add(1)));
        Some(letters).filter(|&letters| letters < UNBOUNDED)
    }

    /// A bound for the names of both.
    pub(crate) fn max(self, other: EndlessNames) -> EndlessNames {
        EndlessNames { base: self.base.max(other.base), each: self.each.max(other.each) }
    }
}

/// The loop that every prefix of a word of an expression reaches.
#[derive(Clone, Copy)]
struct Loop {
    /// Upper bounds in letters: from any prefix to the loop, of the rounds that make the word longer by a character,
    /// and from the loop to the end of a word.
    to: u32,
    each: u32,
    end: u32,
}

impl Loop {
    fn max(self, other: Loop) -> Loop {
        Loop { to: self.to.max(other.to), each: self.each.max(other.each), end: self.end.max(other.end) }
    }
}

/// The bound for all names among the `reached` expressions that the grammar declares to be endless. `words` and
/// `inside` have, per expression, the letters of the shortest word and those that complete any prefix.
pub(super) fn endless_names(
    grammar: &Grammar,
    reached: &[ExprId],
    letters: &Letters,
    (words, inside): (&[u32], &[u32]),
) -> EndlessNames {
    let is_endless = |id: &&ExprId| matches!(grammar.expression(**id), Expression::Name(_, Names::Endless));
    let names: Vec<ExprId> = reached.iter().filter(is_endless).copied().collect();
    if names.is_empty() {
        return EndlessNames::default();
    }
    let mut loops: Vec<Option<Loop>> = vec![None; grammar.expressions().len()];
    for _ in 0..PASSES {
        // operands have smaller ids than the expressions that contain them
        for (place, expression) in grammar.expressions().iter().enumerate() {
            loops[place] = loop_of(grammar, expression, letters, (words, inside), &loops);
        }
    }
    let bound = |id: &ExprId| match loops[id.index()] {
        Some(Loop { to, each, end }) => EndlessNames { base: to.saturating_add(end), each },
        None => EndlessNames::UNKNOWN,
    };
    names.iter().map(bound).fold(EndlessNames::default(), EndlessNames::max)
}

fn loop_of(
    grammar: &Grammar,
    expression: &Expression,
    letters: &Letters,
    (words, inside): (&[u32], &[u32]),
    loops: &[Option<Loop>],
) -> Option<Loop> {
    let of = |id: &ExprId| loops[id.index()];
    let word = |id: &ExprId| words[id.index()];
    match expression {
        &Expression::Repeat { body, min, max: None } => {
            let each = match word(&body) {
                0 | UNBOUNDED => return None,
                // a repeated byte is a character, or half of one after a backslash
                1 => 2,
                letters => letters.saturating_add(LONGEST_CHARACTER - 1),
            };
            let to = inside[body.index()].saturating_add(times(min, word(&body)));
            Some(Loop { to, each, end: 0 })
        }
        Expression::Sequence(parts) => {
            let place = parts.iter().rposition(|part| of(part).is_some())?;
            let (before, after) = (&parts[..place], &parts[place + 1..]);
            // within what follows the loop there is no way back, so it may have only one letter, the closing quote
            let end = after.iter().map(word).fold(0, u32::saturating_add);
            if end > 1 || after.iter().any(|part| inside[part.index()] > 0) {
                return None;
            }
            let mut all = of(&parts[place])?;
            let mut to = all.to;
            let mut rest = 0u32;
            for part in before.iter().rev() {
                to = to.max(inside[part.index()].saturating_add(rest).saturating_add(all.to));
                rest = rest.saturating_add(word(part));
            }
            all.to = to.max(rest.saturating_add(all.to));
            Some(Loop { end: all.end.saturating_add(end), ..all })
        }
        Expression::Choice(parts) => {
            let mut all = parts.iter().map(of);
            let first = all.next()??;
            all.try_fold(first, |most, other| Some(most.max(other?)))
        }
        Expression::Rule(rule) => of(&grammar.rule(*rule).body),
        Expression::Label(_, body) | Expression::Name(body, _) => of(body),
        Expression::WordGraph(graph) => {
            // a word that ends in the graph has no prefix from which the graph does not lead on
            let is_empty = |exit: &&ExprId| matches!(grammar.expression(**exit), Expression::Empty);
            let mut exits = graph.exits().iter().filter(|exit| !is_empty(exit)).map(of);
            let first = exits.next()??;
            let all = exits.try_fold(first, |most, other| Some(most.max(other?)))?;
            let to_exit = |id: &ExprId| of(id).map_or(UNBOUNDED, |_| 0);
            let nodes = of_graph(graph, to_exit, letters).into_iter().max().unwrap_or(0);
            Some(Loop { to: all.to.saturating_add(nodes), ..all })
        }
        _ => None,
    }
}
