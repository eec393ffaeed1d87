//! Finds the sets of patterns that match a common string, by a search in the product of the patterns' automata.
//!
//! The automaton of a pattern is that of its partial derivatives (V. Antimirov, *Partial derivatives of regular
//! expressions and finite automaton constructions*, 1996). A state of the product is reached by a string; it has, for
//! each pattern, the expressions of the ways in which the string may continue to a match.

use super::cubes::Outcomes;
use super::exclusive::MOST;
use crate::collections::interner::Interner;
use crate::error::Result;
use crate::grammar::{CharClass, ExprId, Expression, GrammarBuilder};
use crate::syntax::json_schema::strings::formats::Side;
use crate::syntax::json_schema::strings::string_test::{self, StringTest};
use crate::work::Budget;
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

/// Greatest number of states of the product that the search examines.
const MAX_STATES: usize = 1 << 13;
/// Greatest number of continuations of one state. A state has one for most patterns.
const MAX_TERMS: usize = 1 << 10;
/// Greatest number of steps of the search: pairs of a range of characters and a continuation, and operands and bytes of
/// the expressions that it makes.
const MAX_STEPS: usize = 1 << 22;
/// Greatest nesting depth of expressions.
const MAX_DEPTH: usize = 200;

/// A state: a pattern with one of its continuations, sorted.
type State = Vec<(u8, ExprId)>;

/// The first characters of the words of an expression, each with the expression of the text after them.
type Steps = Rc<[(CharClass, ExprId)]>;

/// Returns the sets of patterns, as bit sets, that match a string which the other patterns do not match; also the empty
/// set and the sets of one pattern, whether or not there are such strings. `None` if there are more than [`MOST`] sets,
/// or if the search would take too long.
pub(super) fn sets(patterns: &[&str], work: &Budget) -> Result<Option<Vec<Outcomes>>> {
    if patterns.len() > Outcomes::BITS as usize {
        return Ok(None);
    }
    let mut sets: FxHashSet<Outcomes> = (0..patterns.len()).map(|at| 1 << at).collect();
    let mut product = Product::default();
    let Some(start) = patterns.iter().map(|pattern| product.start(pattern)).collect::<Option<Vec<_>>>()
    else {
        return Ok(None);
    };
    let start = start.into_iter().enumerate().map(|(at, id)| (at as u8, id)).collect();
    let mut states: Interner<State> = Interner::default();
    states.intern(start);
    let (mut next, mut steps) = (0, 0);
    while next < states.len() as u32 {
        let state = states.get(next).clone();
        next += 1;
        let (Some(matching), Some(found)) = (product.matching(&state), product.after(&state)) else {
            return Ok(None);
        };
        if matching.count_ones() > 1 {
            sets.insert(matching);
        }
        let bounds = bounds(&found);
        let cost = (1 + bounds.len()).saturating_mul(1 + found.len()) + std::mem::take(&mut product.size);
        steps += cost;
        if sets.len() >= MOST || states.len() > MAX_STATES || found.len() > MAX_TERMS || steps > MAX_STEPS {
            return Ok(None);
        }
        work.spend(cost)?;
        let mut seen = FxHashSet::default();
        for first in bounds {
            let after: State = product.state(found.iter().filter(|step| step.1.contains(first)));
            // with one pattern left, no further set of several patterns is found
            if after.iter().any(|term| term.0 != after[0].0) && seen.insert(after.clone()) {
                states.intern(after);
            }
        }
    }
    let mut sets: Vec<Outcomes> = sets.into_iter().collect();
    sets.push(0);
    sets.sort_unstable();
    Ok(Some(sets))
}

/// Returns the first character of each largest range of characters that all steps treat alike.
fn bounds(steps: &[(u8, CharClass, ExprId)]) -> Vec<char> {
    let ranges = steps.iter().flat_map(|(_, class, _)| class.ranges());
    // a range of characters ends before the surrogates or after them
    let after = |high: char| char::from_u32(high as u32 + 1).or((high == '\u{d7ff}').then_some('\u{e000}'));
    let mut bounds: Vec<char> = ranges.flat_map(|&(low, high)| [Some(low), after(high)]).flatten().collect();
    bounds.sort_unstable();
    bounds.dedup();
    bounds
}

#[derive(Default)]
struct Product {
    g: GrammarBuilder,
    /// Operands and bytes of the expressions made since the last state.
    size: usize,
    steps: FxHashMap<ExprId, Option<Steps>>,
    nullable: FxHashMap<ExprId, Option<bool>>,
}

impl Product {
    /// Returns the expression of the strings that a pattern matches; `None` if the pattern is invalid.
    fn start(&mut self, pattern: &str) -> Option<ExprId> {
        let spell = &mut |g: &mut GrammarBuilder, class: &CharClass| g.char_class(class.clone());
        let test = StringTest::Pattern(pattern);
        string_test::lower(&mut self.g, test, Side::Around, "", spell).ok()?
    }

    /// Returns the patterns that match the strings of a state.
    fn matching(&mut self, state: &State) -> Option<Outcomes> {
        state.iter().try_fold(0, |all, &(at, id)| Some(all | Outcomes::from(self.is_nullable(id, 0)?) << at))
    }

    /// Returns the steps from a state.
    fn after(&mut self, state: &State) -> Option<Vec<(u8, CharClass, ExprId)>> {
        let mut all = Vec::new();
        for &(at, id) in state {
            let steps = self.steps(id, 0)?;
            all.extend(steps.iter().map(|(class, rest)| (at, class.clone(), *rest)));
            if all.len() > MAX_TERMS {
                return None;
            }
        }
        Some(all)
    }

    /// Returns the state after some steps. If a pattern matches whatever follows, its other continuations are dropped.
    fn state<'s>(&mut self, steps: impl Iterator<Item = &'s (u8, CharClass, ExprId)>) -> State {
        let any = self.g.char_class(CharClass::any());
        let any = self.g.star(any);
        let mut state: State = steps.map(|&(at, _, rest)| (at, rest)).collect();
        let done: Outcomes = state.iter().filter(|term| term.1 == any).fold(0, |all, term| all | 1 << term.0);
        state.retain(|&(at, rest)| rest == any || done >> at & 1 == 0);
        state.sort_unstable();
        state.dedup();
        state
    }

    /// Whether an expression has the empty word; `None` if it is of a kind that patterns do not have, or nested too
    /// deep.
    fn is_nullable(&mut self, id: ExprId, depth: usize) -> Option<bool> {
        if let Some(&known) = self.nullable.get(&id) {
            return known;
        }
        if depth > MAX_DEPTH {
            return None;
        }
        let expression = self.g.expression(id).clone();
        let answer = match expression {
            Expression::Empty => Some(true),
            Expression::Never | Expression::Bytes(_) | Expression::Class(_) => Some(false),
            Expression::Sequence(parts) => self.all_nullable(&parts, depth),
            Expression::Choice(parts) => {
                let mut answers = parts.iter().map(|&part| self.is_nullable(part, depth + 1));
                answers.try_fold(false, |any, answer| Some(any | answer?))
            }
            Expression::Repeat { min: 0, .. } => Some(true),
            Expression::Repeat { body, .. } | Expression::Label(_, body) => self.is_nullable(body, depth + 1),
            Expression::Rule(rule) => self.g.body(rule).and_then(|body| self.is_nullable(body, depth + 1)),
            _ => None,
        };
        self.nullable.insert(id, answer);
        answer
    }

    fn all_nullable(&mut self, parts: &[ExprId], depth: usize) -> Option<bool> {
        for &part in parts {
            if !self.is_nullable(part, depth + 1)? {
                return Some(false);
            }
        }
        Some(true)
    }

    /// Returns the steps from an expression; `None` as in [`is_nullable`](Product::is_nullable), or if there are too
    /// many.
    fn steps(&mut self, id: ExprId, depth: usize) -> Option<Steps> {
        if let Some(known) = self.steps.get(&id) {
            return known.clone();
        }
        if depth > MAX_DEPTH {
            return None;
        }
        let steps = self.find_steps(id, depth).map(Steps::from);
        self.steps.insert(id, steps.clone());
        steps
    }

    fn find_steps(&mut self, id: ExprId, depth: usize) -> Option<Vec<(CharClass, ExprId)>> {
        let mut all = Vec::new();
        match self.g.expression(id).clone() {
            Expression::Empty | Expression::Never => {}
            Expression::Bytes(bytes) => {
                let text = std::str::from_utf8(&bytes).ok()?;
                let first = text.chars().next()?;
                self.size += bytes.len();
                let rest = self.g.text(&text[first.len_utf8()..]);
                all.push((CharClass::new([(first, first)]), rest));
            }
            Expression::Class(class) => all.push((class, self.g.empty())),
            Expression::Sequence(parts) => {
                for (at, &part) in parts.iter().enumerate() {
                    for (class, rest) in self.steps(part, depth + 1)?.iter() {
                        self.grow(all.len(), &[&[*rest], &parts[at + 1..]])?;
                        let after = parts[at + 1..].iter().copied();
                        all.push((class.clone(), self.g.sequence([*rest].into_iter().chain(after))));
                    }
                    if !self.is_nullable(part, depth + 1)? {
                        break;
                    }
                }
            }
            Expression::Choice(parts) => {
                for part in parts {
                    let steps = self.steps(part, depth + 1)?;
                    self.grow(all.len() + steps.len(), &[])?;
                    all.extend(steps.iter().cloned());
                }
            }
            Expression::Repeat { body, min, max } => {
                let again = self.g.repeat(body, min.saturating_sub(1), max.map(|max| max.saturating_sub(1)));
                for (class, rest) in self.steps(body, depth + 1)?.iter() {
                    self.grow(all.len(), &[&[*rest, again]])?;
                    all.push((class.clone(), self.g.sequence([*rest, again])));
                }
            }
            Expression::Label(_, body) => return Some(self.steps(body, depth + 1)?.to_vec()),
            Expression::Rule(rule) => {
                let body = self.g.body(rule)?;
                return Some(self.steps(body, depth + 1)?.to_vec());
            }
            _ => return None,
        }
        Some(all)
    }

    /// Counts the operands of a new sequence, and the bytes that it may join; `None` if these or the number of steps
    /// from an expression are too many, or if the limits of the builder are reached.
    fn grow(&mut self, steps: usize, operands: &[&[ExprId]]) -> Option<()> {
        let bytes = |id: &ExprId| match self.g.expression(*id) {
            Expression::Bytes(bytes) => bytes.len(),
            _ => 0,
        };
        // only the first operands of two lists become neighbours
        let size = operands.iter().map(|list| list.len() + list.first().map_or(0, bytes)).sum::<usize>();
        self.size += 1 + size;
        (steps <= MAX_TERMS && self.size <= MAX_STEPS && self.g.error().is_none()).then_some(())
    }
}
