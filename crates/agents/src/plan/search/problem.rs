//! The input of a search: a plan automaton, a policy, and the questions to the policy.

use super::{Event, Outcome, SearchOptions};
use crate::plan::automaton::PlanAutomaton;
use crate::plan::decision::Decision;
use crate::plan::errors;
use crate::plan::partial::{PartialPlan, Successor};
use crate::plan::policy::{Answer, Policy};
use crate::plan::question::{Choice, Question, Questions};
use crate::plan::step::Step;
use grammata::error::Result;
use grammata::transitions::Completable;

/// A spec's automaton, a policy and the bounds of a search. A problem counts the questions and keeps the trace.
pub struct Problem<'a> {
    plans: &'a mut PlanAutomaton,
    policy: &'a mut dyn Policy,
    questions: &'a Questions,
    options: &'a SearchOptions,
    asked: usize,
    trace: Vec<Event>,
}

impl std::fmt::Debug for Problem<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Problem").field("asked", &self.asked).finish_non_exhaustive()
    }
}

/// Which choices are offered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offered {
    /// All that the automaton allows, including dead ends.
    Allowed,
    /// The choices that lead to a finished plan, or for which the lookahead could not decide.
    Live,
}

impl<'a> Problem<'a> {
    /// Creates the problem of finding a plan of a spec with a policy.
    pub fn new(
        plans: &'a mut PlanAutomaton,
        policy: &'a mut dyn Policy,
        questions: &'a Questions,
        options: &'a SearchOptions,
    ) -> Problem<'a> {
        Problem { plans, policy, questions, options, asked: 0, trace: Vec::new() }
    }

    /// Returns the automaton of the spec.
    pub fn plans(&mut self) -> &mut PlanAutomaton {
        self.plans
    }

    /// Returns the bounds of the search.
    pub fn options(&self) -> &SearchOptions {
        self.options
    }

    /// Creates an empty partial plan.
    pub fn start(&self) -> PartialPlan {
        PartialPlan::new(self.plans)
    }

    /// Returns the choices after a partial plan, in the spec's order, with the end last.
    ///
    /// # Errors
    /// Limits.
    pub fn choices(&mut self, at: &PartialPlan, offered: Offered) -> Result<Vec<Choice>> {
        let state = at.position().state;
        let is_due = at.len() >= self.options.max_free_steps;
        let distance = if is_due { self.plans.distance_left(state)? } else { None };
        let lookahead = self.policy.needs().lookahead;
        let mut choices = Vec::new();
        for successor in self.plans.allowed(at)? {
            let known = match offered == Offered::Live || lookahead {
                true => Some(self.plans.completable(successor.to)?),
                false => None,
            };
            if offered == Offered::Live && known == Some(Completable::No) {
                continue;
            }
            // after the free steps, keep only choices that bring the end nearer
            if let Some(distance) = distance
                && self.plans.distance_left(successor.to.state)?.is_none_or(|left| left >= distance)
            {
                continue;
            }
            let steps_left = match lookahead {
                true => self.plans.fewest_steps(successor.to.state)?,
                false => None,
            };
            choices.push(self.choice(successor, known, steps_left));
        }
        if self.plans.is_complete(state) {
            choices.push(Choice::end());
        }
        Ok(choices)
    }

    fn choice(
        &self,
        successor: Successor,
        completable: Option<Completable>,
        steps_left: Option<u64>,
    ) -> Choice {
        let symbol = self.plans.spec().symbols().get(successor.action);
        let label = successor.label(self.plans.spec());
        let cost = symbol.map_or(0, |symbol| symbol.cost);
        Choice { successor: Some(successor), label, cost, completable, steps_left }
    }

    /// Lets the policy choose. A single choice is taken without asking, unless the policy needs forced choices.
    ///
    /// # Errors
    /// `plan/wrong-answer`: the answer is not one of the choices, or there are no choices; `plan/budget-exhausted`;
    /// those of the policy and the templates.
    pub fn choose(&mut self, at: &PartialPlan, mut choices: Vec<Choice>) -> Result<Chosen> {
        if choices.len() == 1 && !self.policy.needs().forced {
            let choice = choices.swap_remove(0);
            return Ok(Chosen { choice, choices: 1, score: Some(0.0), decision: None });
        }
        let mut question = self.questions.ask(self.plans, at, choices, self.policy.needs().form)?;
        let answer = self.answer(&question)?;
        let [place] = answer.places[..] else { return Err(self.nonsense(&answer, &question)) };
        let choices = question.choices.len();
        let decision = Some(Decision::of(&question, at.len(), &answer));
        let choice = question.choices.swap_remove(place);
        Ok(Chosen { choice, choices, score: answer.log_probability, decision })
    }

    /// Returns the scores of the choices, with the question if one was asked.
    ///
    /// # Errors
    /// `plan/bad-scores`: the number of scores differs from the number of choices, or one is not a number;
    /// `plan/no-scores`; `plan/budget-exhausted`; those of the policy and the templates.
    pub fn scores(&mut self, at: &PartialPlan, choices: Vec<Choice>) -> Result<Scored> {
        if choices.len() == 1 && !self.policy.needs().forced {
            return Ok(Scored { choices, scores: vec![0.0], question: None });
        }
        let question = self.questions.ask(self.plans, at, choices, self.policy.needs().form)?;
        self.count()?;
        let scores = self.policy.scores(&question)?;
        if scores.len() != question.choices.len() || scores.iter().any(|score| score.is_nan()) {
            return Err(errors::bad_scores(scores.len(), question.choices.len()));
        }
        Ok(Scored { choices: question.choices.clone(), scores, question: Some(question) })
    }

    /// Appends a step, and lets the policy choose the elements of its set. Returns the decision on the set, if there
    /// was one.
    ///
    /// # Errors
    /// Those of [`choose`](Problem::choose).
    pub fn extend(&mut self, partial: &mut PartialPlan, successor: Successor) -> Result<Option<Decision>> {
        partial.push(Step::of(successor.action).with_outcome(successor.outcome), successor.to);
        let Some(question) = self.questions.ask_set(self.plans, partial)? else { return Ok(None) };
        let answer = self.answer(&question)?;
        partial.set_elements(answer.places.clone());
        match partial.plan().steps.last() {
            Some(step) if !self.plans.takes(step) => Err(self.nonsense(&answer, &question)),
            _ => Ok(Some(Decision::of(&question, partial.len() - 1, &answer))),
        }
    }

    fn answer(&mut self, question: &Question) -> Result<Answer> {
        self.count()?;
        let answer = self.policy.choose(question)?;
        match answer.places.iter().all(|&place| place < question.choices.len()) {
            true => Ok(answer),
            false => Err(self.nonsense(&answer, question)),
        }
    }

    fn nonsense(&self, answer: &Answer, question: &Question) -> grammata::Error {
        let numbers: Vec<String> =
            answer.places.iter().map(|place| place.saturating_add(1).to_string()).collect();
        errors::wrong_answer(&numbers.join(", "), self.asked, &question.choices)
    }

    fn count(&mut self) -> Result<()> {
        self.asked += 1;
        match self.asked > self.options.max_questions {
            true => Err(errors::exhausted_questions(self.options.max_questions)),
            false => Ok(()),
        }
    }

    /// Appends an event to the trace, if a trace is kept.
    pub fn note(&mut self, event: impl FnOnce() -> Event) {
        if self.options.trace {
            self.trace.push(event());
        }
    }

    /// Creates an outcome without a plan, with the counts and the trace so far.
    pub fn outcome(&mut self) -> Outcome {
        Outcome { questions: self.asked, trace: std::mem::take(&mut self.trace), ..Outcome::default() }
    }
}

/// A choice that a policy made.
#[derive(Clone, Debug)]
pub struct Chosen {
    /// The choice.
    pub choice: Choice,
    /// The number of choices offered.
    pub choices: usize,
    /// The natural logarithm of the choice's probability under the policy, if known; 0 for an only choice.
    pub score: Option<f64>,
    /// The decision; `None` if no question was asked.
    pub decision: Option<Decision>,
}

/// Choices with their scores.
#[derive(Clone, Debug)]
pub struct Scored {
    /// The choices.
    pub choices: Vec<Choice>,
    /// The natural logarithm of the probability of each.
    pub scores: Vec<f64>,
    /// The question; `None` if none was asked.
    pub question: Option<Question>,
}
