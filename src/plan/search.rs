//! From choice to choice to a finished plan: without dead ends, or with backtracking as published.

use super::automaton::{PlanAutomaton, Position};
use super::chooser::Chooser;
use super::errors;
use super::lookahead::Outlook;
use super::question::{Choice, Questions, ending};
use super::walk::{Offer, Plan, Step, Walk};
use crate::error::Result;
use rustc_hash::FxHashSet;

/// How a search goes on.
#[derive(Clone, Debug)]
pub struct SearchOptions {
    /// Offer all that the automaton allows, dead ends included, and go back where one is met. Without it only what
    /// leads to a finished plan is offered. Default: false.
    pub backtracking: bool,
    /// After so many steps only what finishes the plan in the fewest steps is offered, so that plans without end come
    /// to one. Default: 100.
    pub wrap_up_after: usize,
    /// Keep what was tried. Default: false.
    pub trace: bool,
}

impl Default for SearchOptions {
    fn default() -> SearchOptions {
        SearchOptions { backtracking: false, wrap_up_after: 100, trace: false }
    }
}

/// What happened in a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A step was taken, out of so many choices.
    Took {
        /// How many steps were there before.
        depth: usize,
        /// The step.
        step: Step,
        /// Between how many.
        choices: usize,
    },
    /// Nothing led on: the last step was taken back.
    WentBack {
        /// How many steps are left.
        depth: usize,
    },
}

/// The outcome of a search.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// The plan; `None` says that there is none.
    pub plan: Option<Plan>,
    /// How many questions were asked.
    pub questions: usize,
    /// How often a step was taken back.
    pub backtracks: usize,
    /// What was tried, if it was to be kept.
    pub trace: Vec<Event>,
}

/// Steps of an unfinished plan, at most: four times `wrap_up_after`, so that backtracking ends.
pub(super) fn deepest(wrap_up_after: usize) -> usize {
    wrap_up_after.saturating_mul(4).max(16)
}

/// Past `wrap_up_after` steps, the fewest steps that are missing, if they are known: only an action with fewer missing after
/// it is offered.
#[derive(Clone, Copy, Debug)]
pub(super) struct WrapUp(Option<u64>);

impl WrapUp {
    pub(super) fn at(plans: &mut PlanAutomaton, walk: &Walk, wrap_up_after: usize) -> Result<WrapUp> {
        let due = walk.len() >= wrap_up_after;
        Ok(WrapUp(if due { plans.fewest_steps(walk.position().state)? } else { None }))
    }

    pub(super) fn admits(self, plans: &mut PlanAutomaton, offer: Offer) -> Result<bool> {
        let Some(fewest) = self.0 else { return Ok(true) };
        Ok(plans.fewest_steps(offer.to.state)?.is_some_and(|next| next < fewest))
    }
}

struct Search<'a> {
    plans: &'a mut PlanAutomaton,
    chooser: &'a mut dyn Chooser,
    questions: &'a Questions,
    options: &'a SearchOptions,
    walk: Walk,
    /// Per step and the next: the actions tried there, `None` being the end.
    tried: Vec<FxHashSet<Option<usize>>>,
    dead: FxHashSet<Position>,
    cut: bool,
    outcome: Outcome,
}

/// Lets a chooser make a plan.
///
/// # Errors
/// What the chooser and the templates report; `plan/undecided` if all that could be tried failed and some was cut off;
/// limits.
pub fn search(
    plans: &mut PlanAutomaton,
    chooser: &mut dyn Chooser,
    questions: &Questions,
    options: &SearchOptions,
) -> Result<Outcome> {
    let walk = Walk::new(plans);
    let search = Search {
        plans,
        chooser,
        questions,
        options,
        walk,
        tried: vec![FxHashSet::default()],
        dead: FxHashSet::default(),
        cut: false,
        outcome: Outcome::default(),
    };
    search.run()
}

impl Search<'_> {
    fn run(mut self) -> Result<Outcome> {
        loop {
            let choices = self.choices()?;
            if choices.is_empty() {
                self.dead.insert(self.walk.position());
                if !self.go_back() {
                    return if self.cut {
                        Err(errors::undecided_search(deepest(self.options.wrap_up_after)))
                    } else {
                        Ok(self.outcome)
                    };
                }
                continue;
            }
            let count = choices.len();
            let Some(choice) = self.decide(choices)? else { continue };
            if let Some(tried) = self.tried.last_mut() {
                tried.insert(choice.offer.map(|offer| offer.action));
            }
            let Some(Offer { action, to }) = choice.offer else {
                self.outcome.plan = Some(self.walk.into_plan());
                return Ok(self.outcome);
            };
            let depth = self.walk.len();
            self.walk.push(Step::of(action), to);
            self.choose_elements()?;
            self.tried.push(FxHashSet::default());
            if let (true, Some(step)) = (self.options.trace, self.walk.plan().steps.last()) {
                self.outcome.trace.push(Event::Took { depth, step: step.clone(), choices: count });
            }
        }
    }

    /// What may be chosen here and was not tried.
    fn choices(&mut self) -> Result<Vec<Choice>> {
        let at = self.walk.position();
        let complete = self.plans.is_complete(at.state);
        if self.walk.len() >= deepest(self.options.wrap_up_after) {
            self.cut = true;
            return Ok(Vec::new());
        }
        let wrap_up = WrapUp::at(self.plans, &self.walk, self.options.wrap_up_after)?;
        let mut choices = Vec::new();
        let tried = self.tried.last().cloned().unwrap_or_default();
        for offer in self.plans.allowed(&self.walk)? {
            if tried.contains(&Some(offer.action)) || self.dead.contains(&offer.to) {
                continue;
            }
            let wanted = !self.options.backtracking || self.chooser.wants_outlook();
            let outlook = if wanted { Some(self.plans.outlook(offer.to)?) } else { None };
            if !self.options.backtracking && outlook == Some(Outlook::DeadEnd) {
                continue;
            }
            if !wrap_up.admits(self.plans, offer)? {
                continue;
            }
            let symbol = self.plans.spec().symbols().get(offer.action);
            let label = symbol.map(|symbol| symbol.shown().into_owned()).unwrap_or_default();
            let away = match self.chooser.wants_outlook() {
                true => self.plans.fewest_steps(offer.to.state)?,
                false => None,
            };
            choices.push(Choice { offer: Some(offer), label, outlook, away });
        }
        if complete && !tried.contains(&None) {
            let outlook = Some(Outlook::Open);
            choices.push(Choice { offer: None, label: ending().text, outlook, away: Some(0) });
        }
        Ok(choices)
    }

    fn decide(&mut self, mut choices: Vec<Choice>) -> Result<Option<Choice>> {
        if choices.len() == 1 && !self.chooser.wants_forced() {
            return Ok(choices.pop());
        }
        let mut question = self.questions.ask(self.plans, &self.walk, choices)?;
        self.outcome.questions += 1;
        let place = self.chooser.choose(&question)?;
        if place >= question.choices.len() {
            return Err(errors::wrong_answer(
                &(place + 1).to_string(),
                self.outcome.questions,
                &question.choices,
            ));
        }
        Ok(Some(question.choices.swap_remove(place)))
    }

    /// Has the elements of the last step chosen, if it is set-valued.
    fn choose_elements(&mut self) -> Result<()> {
        let Some(question) = self.questions.ask_set(self.plans, &self.walk)? else { return Ok(()) };
        self.outcome.questions += 1;
        let elements = self.chooser.choose_set(&question)?;
        self.walk.set_elements(elements);
        match self.walk.plan().steps.last() {
            Some(step) if !self.plans.takes(step) => {
                Err(errors::wrong_answer("a set", self.outcome.questions, &question.choices))
            }
            _ => Ok(()),
        }
    }

    fn go_back(&mut self) -> bool {
        if self.walk.pop().is_none() {
            return false;
        }
        self.tried.pop();
        self.outcome.backtracks += 1;
        if self.options.trace {
            self.outcome.trace.push(Event::WentBack { depth: self.walk.len() });
        }
        true
    }
}
