//! A policy's choice of the next step.

use super::Planner;
use crate::plan::errors;
use crate::plan::policy::{Answer, ArgumentRequest, Policy};
use crate::plan::question::{Choice, Question, Questions};
use crate::plan::step::Step;
use grammata::error::Result;
use std::fmt::Write;

impl Planner {
    /// Returns the choices offered to a policy: one for each allowed action, regardless of outcomes, and last the end
    /// of the plan, if the plan may end.
    ///
    /// # Errors
    /// Those of [`next`](Planner::next).
    pub fn choices(&mut self) -> Result<Vec<Choice>> {
        let next = self.next()?;
        let spec = self.plans.shared_spec();
        let mut choices: Vec<Choice> = Vec::with_capacity(next.actions().len() + 1);
        for successor in self.live()? {
            let left = self.plans.fewest_steps(successor.to.state)?;
            match choices.last_mut() {
                // another outcome of the same action: the best outcome counts
                Some(Choice { successor: Some(last), steps_left, .. }) if last.action == successor.action => {
                    *steps_left = (*steps_left).into_iter().chain(left).min();
                }
                _ => {
                    let symbol = spec.symbols().get(successor.action);
                    choices.push(Choice {
                        successor: Some(successor),
                        label: symbol.map_or_else(String::new, |symbol| symbol.shown().into_owned()),
                        cost: symbol.map_or(0, |symbol| symbol.cost),
                        completable: Some(self.plans.completable(successor.to)?),
                        steps_left: left,
                    });
                }
            }
        }
        if next.may_end() {
            choices.push(Choice::end());
        }
        Ok(choices)
    }

    /// Lets a policy choose the next step, the elements of its set and its arguments; returns `None` if the policy ends
    /// the plan. A single choice is taken without asking, unless the policy needs forced choices.
    ///
    /// # Errors
    /// Those of the policy and the templates; `plan/wrong-answer` or `plan/wrong-arguments` if the answer is invalid;
    /// those of [`next`](Planner::next).
    pub fn choose(&mut self, policy: &mut dyn Policy, questions: &Questions) -> Result<Option<Step>> {
        let choices = self.choices()?;
        let place = match choices.len() {
            1 if !policy.needs().forced => 0,
            _ => {
                let question =
                    questions.ask(&self.plans, &self.partial, choices.clone(), policy.needs().form)?;
                match answer(policy, &question)?.places[..] {
                    [place] => place,
                    ref places => return Err(nonsense(places, &question)),
                }
            }
        };
        let Some(successor) = choices.get(place).and_then(|choice| choice.successor) else { return Ok(None) };
        let mut step = Step::of(successor.action);
        let mut with_step = self.partial.clone();
        with_step.push(step.clone(), successor.to);
        if let Some(question) = questions.ask_set(&self.plans, &with_step)? {
            step.elements = answer(policy, &question)?.places;
            if !self.plans.takes(&step) {
                return Err(nonsense(&step.elements, &question));
            }
        }
        if self.spec().arguments_schema(step.action).is_some() {
            let text = self.argument_request(step.action, questions.task());
            let spec = self.plans.shared_spec();
            let request = ArgumentRequest { text: &text, spec: &spec, action: step.action };
            step.arguments = Some(policy.arguments(&request)?);
        }
        self.check(&step)?;
        Ok(Some(step))
    }

    /// Returns the text of a request for arguments: the task, the steps with their observations, and the schema.
    fn argument_request(&self, action: usize, task: &str) -> String {
        let spec = self.spec();
        let mut text = format!("{task}\n\n");
        for (number, (step, observation)) in (1..).zip(self.plan().steps.iter().zip(self.observations())) {
            let data =
                if observation.data.is_null() { String::new() } else { format!(" {}", observation.data) };
            let _ = writeln!(text, "{number}. {}{data}", step.line(spec));
        }
        let label =
            spec.symbols().get(action).map_or("", |symbol| symbol.label.as_deref().unwrap_or(&symbol.id));
        let schema = spec.arguments_schema(action).map(ToString::to_string).unwrap_or_default();
        let _ = write!(
            text,
            "\nWrite the arguments of \"{label}\" as JSON on one line, and nothing else. Their schema is:\n{schema}"
        );
        text
    }
}

fn answer(policy: &mut dyn Policy, question: &Question) -> Result<Answer> {
    let answer = policy.choose(question)?;
    match answer.places.iter().all(|&place| place < question.choices.len()) {
        true => Ok(answer),
        false => Err(nonsense(&answer.places, question)),
    }
}

fn nonsense(places: &[usize], question: &Question) -> grammata::Error {
    let numbers: Vec<String> = places.iter().map(|place| place.saturating_add(1).to_string()).collect();
    errors::wrong_answer(&numbers.join(", "), 1, &question.choices)
}
