//! A policy that looks for dead ends.

use super::{Answer, FirstPolicy, Needs, Policy};
use crate::plan::question::{Choice, Question};
use grammata::error::Result;
use grammata::transitions::Completable;

/// Chooses the worst option: a dead end if one is offered, otherwise the option with the most steps left to a finished
/// plan, where an unknown number counts as the smallest; the first among equals. A question for a set is answered as by
/// [`FirstPolicy`].
#[derive(Clone, Copy, Debug, Default)]
pub struct AdversarialPolicy;

impl Policy for AdversarialPolicy {
    fn choose(&mut self, question: &Question) -> Result<Answer> {
        if question.set.is_some() {
            return FirstPolicy.choose(question);
        }
        let badness = |choice: &Choice| (choice.completable == Some(Completable::No), choice.steps_left);
        let worst = question.choices.iter().enumerate().rev().max_by_key(|(_, choice)| badness(choice));
        Ok(Answer::one(worst.map_or(0, |(place, _)| place)))
    }

    fn needs(&self) -> Needs {
        Needs { lookahead: true, ..Needs::default() }
    }
}
