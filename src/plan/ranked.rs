//! The likeliest plan by a chooser's scores: best first, or with a beam.

use super::automaton::PlanAutomaton;
use super::chooser::Chooser;
use super::errors;
use super::lookahead::Outlook;
use super::policy::Decision;
use super::question::{Choice, Questions, ending};
use super::search::{Event, WrapUp, deepest};
use super::walk::{Plan, Step, Walk};
use crate::error::Result;
use std::sync::Arc;

/// How plans are ranked.
#[derive(Clone, Debug)]
pub struct RankOptions {
    /// The unfinished plans of each length that are kept; without it, the search goes on with the likeliest of all.
    /// Default: none.
    pub beam: Option<usize>,
    /// Questions that may be asked. Default: 2,000.
    pub questions: usize,
    /// After this many steps only what finishes the plan in the fewest steps is offered, so that plans without end come
    /// to one. Default: 100.
    pub wrap_up_after: usize,
    /// Keep what was tried. Default: false.
    pub trace: bool,
}

impl Default for RankOptions {
    fn default() -> RankOptions {
        RankOptions { beam: None, questions: 2_000, wrap_up_after: 100, trace: false }
    }
}

/// The outcome of a ranking.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ranked {
    /// The likeliest plan; `None` says that there is none.
    pub plan: Option<Plan>,
    /// The natural logarithm of its likelihood, the sum of the scores of its choices; at most 0.
    pub score: f64,
    /// Questions asked.
    pub questions: usize,
    /// The decisions that made the plan, in their order.
    pub decisions: Vec<Decision>,
    /// The unfinished plans that were extended, by their last steps, in that order, if they were to be kept.
    pub trace: Vec<Event>,
}

/// An unfinished plan, or a finished one.
#[derive(Clone, Debug)]
struct Open {
    walk: Walk,
    score: f64,
    ended: bool,
    /// The place of its last decision among those of [`Ranking`].
    decision: Option<usize>,
    /// Choices of which its last step was one.
    choices: usize,
}

/// A decision and the one before it.
struct Node {
    before: Option<usize>,
    prompt: Arc<str>,
    places: Vec<usize>,
}

/// A search: unfinished plans share the decisions that they have in common, as a tree from each to the one before it.
struct Ranking<'a> {
    plans: &'a mut PlanAutomaton,
    chooser: &'a mut dyn Chooser,
    questions: &'a Questions,
    options: &'a RankOptions,
    decisions: Vec<Node>,
    asked: usize,
    trace: Vec<Event>,
}

/// The likeliest plan by the scores of a chooser, among the choices that lead to finished plans. Best first, it is the
/// likeliest of all, as scores only fall; with a beam, the likeliest of those that stayed in it. What a set-valued action
/// takes is the chooser's choice, and not scored.
///
/// # Errors
/// `plan/no-scores`; `plan/undecided` past the number of questions, or past four times
/// [`wrap_up_after`](RankOptions::wrap_up_after) steps; what the chooser and the templates report; limits.
pub fn likeliest(
    plans: &mut PlanAutomaton,
    chooser: &mut dyn Chooser,
    questions: &Questions,
    options: &RankOptions,
) -> Result<Ranked> {
    let walk = Walk::new(plans);
    let (decisions, trace) = (Vec::new(), Vec::new());
    let ranking = Ranking { plans, chooser, questions, options, decisions, asked: 0, trace };
    ranking.run(Open { walk, score: 0.0, ended: false, decision: None, choices: 0 })
}

impl Ranking<'_> {
    fn run(mut self, start: Open) -> Result<Ranked> {
        let mut open = vec![start];
        let mut finished: Option<Open> = None;
        loop {
            // those that can still become the likeliest, the likeliest last
            open.retain(|one| finished.as_ref().is_none_or(|best| one.score > best.score));
            open.sort_by(|a, b| a.score.total_cmp(&b.score));
            let mut next = Vec::new();
            let expanded = match self.options.beam {
                None => open.split_off(open.len().saturating_sub(1)),
                Some(width) => {
                    let from = open.len().saturating_sub(width.max(1));
                    let kept = open.split_off(from);
                    open.clear();
                    kept
                }
            };
            if expanded.is_empty() {
                return Ok(self.finish(finished));
            }
            for one in expanded {
                if one.ended {
                    if finished.as_ref().is_none_or(|best| one.score > best.score) {
                        finished = Some(one);
                    }
                    continue;
                }
                self.expand(one, &mut next)?;
                if self.asked > self.options.questions {
                    return Err(errors::undecided_ranking(self.options.questions));
                }
            }
            open.append(&mut next);
        }
    }

    fn finish(self, best: Option<Open>) -> Ranked {
        let mut ranked = Ranked { questions: self.asked, trace: self.trace, ..Ranked::default() };
        let Some(best) = best else { return ranked };
        let mut at = best.decision;
        while let Some(node) = at.and_then(|at| self.decisions.get(at)) {
            ranked.decisions.push(Decision::of(node.prompt.to_string(), &node.places));
            at = node.before;
        }
        ranked.decisions.reverse();
        ranked.score = best.score;
        ranked.plan = Some(best.walk.into_plan());
        ranked
    }

    /// Extends an unfinished plan by each of its choices.
    fn expand(&mut self, one: Open, next: &mut Vec<Open>) -> Result<()> {
        if one.walk.len() >= deepest(self.options.wrap_up_after) {
            return Err(errors::undecided_search(one.walk.len()));
        }
        if let (true, Some(step)) = (self.options.trace, one.walk.plan().steps.last()) {
            let depth = one.walk.len() - 1;
            self.trace.push(Event::Took { depth, step: step.clone(), choices: one.choices });
        }
        let choices = self.choices(&one.walk)?;
        let count = choices.len();
        if count == 0 {
            return Ok(());
        }
        let (scores, choices, prompt) = if count == 1 {
            (vec![0.0], choices, None)
        } else {
            let question = self.questions.ask(self.plans, &one.walk, choices)?;
            self.asked += 1;
            (self.chooser.scores(&question)?, question.choices, Some(Arc::from(question.text)))
        };
        for (place, (choice, score)) in choices.into_iter().zip(scores).enumerate() {
            let mut more = Open { score: one.score + score.min(0.0), choices: count, ..one.clone() };
            if let Some(prompt) = &prompt {
                more.decision = self.keep(more.decision, Arc::clone(prompt), vec![place]);
            }
            match choice.offer {
                None => more.ended = true,
                Some(offer) => {
                    more.walk.push(Step::of(offer.action), offer.to);
                    if let Some(question) = self.questions.ask_set(self.plans, &more.walk)? {
                        self.asked += 1;
                        let elements = self.chooser.choose_set(&question)?;
                        more.walk.set_elements(elements.clone());
                        if more.walk.plan().steps.last().is_some_and(|step| !self.plans.takes(step)) {
                            return Err(errors::wrong_answer("a set", self.asked, &question.choices));
                        }
                        more.decision = self.keep(more.decision, question.text.into(), elements);
                    }
                }
            }
            next.push(more);
        }
        Ok(())
    }

    fn keep(&mut self, before: Option<usize>, prompt: Arc<str>, places: Vec<usize>) -> Option<usize> {
        self.decisions.push(Node { before, prompt, places });
        Some(self.decisions.len() - 1)
    }

    fn choices(&mut self, walk: &Walk) -> Result<Vec<Choice>> {
        let wrap_up = WrapUp::at(self.plans, walk, self.options.wrap_up_after)?;
        let mut choices = Vec::new();
        for offer in self.plans.allowed(walk)? {
            let outlook = self.plans.outlook(offer.to)?;
            if outlook != Outlook::DeadEnd && wrap_up.admits(self.plans, offer)? {
                let symbol = self.plans.spec().symbols().get(offer.action);
                let label = symbol.map(|symbol| symbol.shown().into_owned()).unwrap_or_default();
                choices.push(Choice { offer: Some(offer), label, outlook: Some(outlook), away: None });
            }
        }
        if self.plans.is_complete(walk.position().state) {
            let outlook = Some(Outlook::Open);
            choices.push(Choice { offer: None, label: ending().text, outlook, away: Some(0) });
        }
        Ok(choices)
    }
}
