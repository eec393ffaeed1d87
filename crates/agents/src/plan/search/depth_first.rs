//! Depth-first searches: greedy, and with backtracking as Formal-LLM (arXiv 2402.00798) publishes it.

use super::problem::Offered;
use super::{Event, Outcome, Problem, Search};
use crate::plan::automaton::Position;
use crate::plan::decision::Decision;
use crate::plan::errors;
use crate::plan::question::Choice;
use grammata::error::Result;
use rustc_hash::FxHashSet;

/// Offers only choices that lead to a finished plan, or for which the lookahead could not decide, and keeps each
/// choice. The search backtracks only from dead ends that the lookahead did not recognise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Greedy;

impl Search for Greedy {
    fn run(&self, problem: &mut Problem<'_>) -> Result<Outcome> {
        depth_first(problem, Offered::Live)
    }
}

/// Offers all choices that the automaton allows, including dead ends, and removes the last step if no choice is left.
/// Positions found to be dead ends are not entered again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backtracking;

impl Search for Backtracking {
    fn run(&self, problem: &mut Problem<'_>) -> Result<Outcome> {
        depth_first(problem, Offered::Allowed)
    }
}

/// A position on the path.
#[derive(Default)]
struct Level {
    /// The actions tried here, with their outcomes; `None` is the end.
    tried: FxHashSet<Option<(usize, Option<usize>)>>,
    /// The decisions made between the previous level and this level.
    decisions: Vec<Decision>,
    /// The natural logarithm of the probability of the choice that led here, if known.
    score: Option<f64>,
}

fn depth_first(problem: &mut Problem<'_>, offered: Offered) -> Result<Outcome> {
    let mut partial = problem.start();
    let mut levels: Vec<Level> = Vec::new();
    let mut here = Level { score: Some(0.0), ..Level::default() };
    let mut dead: FxHashSet<Position> = FxHashSet::default();
    let (mut backtracks, mut is_cut) = (0, false);
    loop {
        let is_deepest = partial.len() >= problem.options().max_steps();
        is_cut |= is_deepest;
        let mut choices = if is_deepest { Vec::new() } else { problem.choices(&partial, offered)? };
        choices.retain(|choice: &Choice| {
            let action = choice.successor.map(|next| (next.action, next.outcome));
            !here.tried.contains(&action) && choice.successor.is_none_or(|next| !dead.contains(&next.to))
        });
        if choices.is_empty() {
            dead.insert(partial.position());
            let Some(before) = levels.pop() else {
                return match is_cut {
                    true => Err(errors::exhausted_search(problem.options().max_steps())),
                    false => Ok(Outcome { backtracks, ..problem.outcome() }),
                };
            };
            partial.pop();
            here = before;
            backtracks += 1;
            problem.note(|| Event::WentBack { depth: partial.len() });
            continue;
        }
        let chosen = problem.choose(&partial, choices)?;
        here.tried.insert(chosen.choice.successor.map(|next| (next.action, next.outcome)));
        let mut next = Level { score: chosen.score, ..Level::default() };
        next.decisions.extend(chosen.decision);
        let Some(successor) = chosen.choice.successor else {
            levels.extend([here, next]);
            let score = levels.iter().map(|level| level.score).sum();
            let decisions = levels.into_iter().flat_map(|level| level.decisions).collect();
            let (plan, outcome) = (Some(partial.into_plan()), problem.outcome());
            return Ok(Outcome { plan, score, backtracks, decisions, ..outcome });
        };
        next.decisions.extend(problem.extend(&mut partial, successor)?);
        levels.push(std::mem::replace(&mut here, next));
        if let Some(step) = partial.plan().steps.last() {
            let (depth, choices) = (partial.len() - 1, chosen.choices);
            problem.note(|| Event::Took { depth, step: step.clone(), choices });
        }
    }
}
