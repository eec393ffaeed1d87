//! The likeliest plan by a chooser's scores: best first, or with a beam.

use super::automaton::PlanAutomaton;
use super::chooser::Chooser;
use super::errors;
use super::lookahead::Outlook;
use super::question::{Choice, Questions, ending};
use super::walk::{Plan, Step, Walk};
use crate::error::Result;

/// How plans are ranked.
#[derive(Clone, Debug)]
pub struct RankOptions {
    /// Keep so many unfinished plans of each length; without it, go on with the likeliest of all. Default: none.
    pub beam: Option<usize>,
    /// How many questions may be asked. Default: 2,000.
    pub questions: usize,
}

impl Default for RankOptions {
    fn default() -> RankOptions {
        RankOptions { beam: None, questions: 2_000 }
    }
}

/// A plan with the sum of the scores of its choices.
#[derive(Clone, Debug, PartialEq)]
pub struct Ranked {
    /// The plan.
    pub plan: Plan,
    /// The natural logarithm of how likely it is; at most 0.
    pub score: f64,
    /// How many questions were asked.
    pub questions: usize,
}

/// An unfinished plan, or a finished one.
#[derive(Clone, Debug)]
struct Open {
    walk: Walk,
    score: f64,
    ended: bool,
}

/// The likeliest plan by the scores of a chooser, among the choices that lead to finished plans. Best first, it is the
/// likeliest of all, as scores only fall; with a beam, the likeliest of those that stayed in it. What a set-valued action
/// takes is the chooser's choice, and not scored. `None`: there is no plan.
///
/// # Errors
/// `plan/no-scores`; `plan/undecided` past the number of questions; what the chooser and the templates report; limits.
pub fn likeliest(
    plans: &mut PlanAutomaton,
    chooser: &mut dyn Chooser,
    questions: &Questions,
    options: &RankOptions,
) -> Result<Option<Ranked>> {
    let mut open = vec![Open { walk: Walk::new(plans), score: 0.0, ended: false }];
    let mut finished: Option<Open> = None;
    let mut asked = 0;
    loop {
        // those that can still become the likeliest, the likeliest last
        open.retain(|one| finished.as_ref().is_none_or(|best| one.score > best.score));
        open.sort_by(|a, b| a.score.total_cmp(&b.score));
        let mut next = Vec::new();
        let expanded = match options.beam {
            None => open.split_off(open.len().saturating_sub(1)),
            Some(width) => {
                let from = open.len().saturating_sub(width.max(1));
                let kept = open.split_off(from);
                open.clear();
                kept
            }
        };
        if expanded.is_empty() {
            let plan = finished.map(|best| Ranked {
                plan: best.walk.into_plan(),
                score: best.score,
                questions: asked,
            });
            return Ok(plan);
        }
        for one in expanded {
            if one.ended {
                if finished.as_ref().is_none_or(|best| one.score > best.score) {
                    finished = Some(one);
                }
                continue;
            }
            expand(plans, chooser, questions, one, &mut asked, &mut next)?;
            if asked > options.questions {
                return Err(errors::undecided_search());
            }
        }
        open.append(&mut next);
    }
}

fn expand(
    plans: &mut PlanAutomaton,
    chooser: &mut dyn Chooser,
    questions: &Questions,
    one: Open,
    asked: &mut usize,
    next: &mut Vec<Open>,
) -> Result<()> {
    let mut choices = Vec::new();
    for offer in plans.allowed(&one.walk)? {
        let outlook = plans.outlook(offer.to)?;
        if outlook != Outlook::DeadEnd {
            let symbol = plans.spec().symbols().get(offer.action);
            let label = symbol.map(|symbol| symbol.shown().to_owned()).unwrap_or_default();
            choices.push(Choice { offer: Some(offer), label, outlook: Some(outlook), away: None });
        }
    }
    if plans.is_complete(one.walk.position().state) {
        let outlook = Some(Outlook::Open);
        choices.push(Choice { offer: None, label: ending().text, outlook, away: Some(0) });
    }
    let (scores, choices) = if choices.len() == 1 {
        (vec![0.0], choices)
    } else {
        let question = questions.ask(plans, &one.walk, choices)?;
        *asked += 1;
        (chooser.scores(&question)?, question.choices)
    };
    for (choice, score) in choices.into_iter().zip(scores) {
        let mut more = Open { walk: one.walk.clone(), score: one.score + score.min(0.0), ended: false };
        match choice.offer {
            None => more.ended = true,
            Some(offer) => {
                more.walk.push(Step::of(offer.action), offer.to);
                if let Some(question) = questions.ask_set(plans, &more.walk)? {
                    *asked += 1;
                    more.walk.set_elements(chooser.choose_set(&question)?);
                }
            }
        }
        next.push(more);
    }
    Ok(())
}
