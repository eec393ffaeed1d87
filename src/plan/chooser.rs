//! Choosers: who decides at a choice.

use super::errors;
use super::lookahead::Outlook;
use super::question::{Choice, Question};
use crate::error::Result;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Who decides at a choice.
pub trait Chooser {
    /// One of the choices of a question, by its place. The question has at least one, and is not for a set.
    ///
    /// # Errors
    /// The chooser fails, or has no answer.
    fn choose(&mut self, question: &Question) -> Result<usize>;

    /// Some of the choices of a question for a set, by their places in rising order.
    ///
    /// # Errors
    /// The chooser fails, or has no answer.
    fn choose_set(&mut self, question: &Question) -> Result<Vec<usize>>;

    /// How likely each choice is: natural logarithms, none above 0. Search by score needs them.
    ///
    /// # Errors
    /// `plan/no-scores`: the chooser does not weigh choices; or it fails.
    fn scores(&mut self, question: &Question) -> Result<Vec<f64>> {
        let _ = question;
        Err(errors::no_scores())
    }

    /// Whether the chooser wants to know where each choice leads.
    fn wants_outlook(&self) -> bool {
        false
    }

    /// A question with a single answer is not asked, unless the chooser wants to hear of it.
    fn wants_forced(&self) -> bool {
        false
    }
}

/// Takes the first choice, and of a set as few elements as it may.
#[derive(Clone, Copy, Debug, Default)]
pub struct FirstChooser;

impl Chooser for FirstChooser {
    fn choose(&mut self, _: &Question) -> Result<usize> {
        Ok(0)
    }

    fn choose_set(&mut self, question: &Question) -> Result<Vec<usize>> {
        Ok((0..question.set.map_or(0, |(min, _)| min)).collect())
    }

    fn scores(&mut self, question: &Question) -> Result<Vec<f64>> {
        let all = question.choices.len().max(1) as f64;
        Ok(vec![-all.ln(); question.choices.len()])
    }
}

/// Takes any choice, each as likely as the other.
#[derive(Clone, Debug)]
pub struct RandomChooser(ChaCha8Rng);

impl RandomChooser {
    /// Equal seeds choose alike.
    pub fn new(seed: u64) -> RandomChooser {
        RandomChooser(ChaCha8Rng::seed_from_u64(seed))
    }
}

impl Chooser for RandomChooser {
    fn choose(&mut self, question: &Question) -> Result<usize> {
        Ok(self.0.random_range(0..question.choices.len().max(1)))
    }

    fn choose_set(&mut self, question: &Question) -> Result<Vec<usize>> {
        let (min, max) = question.set.unwrap_or_default();
        let places: Vec<usize> = (0..question.choices.len()).collect();
        let size = self.0.random_range(min..=max.max(min));
        let mut taken: Vec<usize> = places.choose_multiple(&mut self.0, size).copied().collect();
        taken.sort_unstable();
        Ok(taken)
    }

    fn scores(&mut self, question: &Question) -> Result<Vec<f64>> {
        FirstChooser.scores(question)
    }
}

/// Takes the worst choice: one that leads to a dead end, where there is one, else the one that is furthest from a finished
/// plan.
#[derive(Clone, Copy, Debug, Default)]
pub struct WorstChooser;

impl Chooser for WorstChooser {
    fn choose(&mut self, question: &Question) -> Result<usize> {
        let badness = |choice: &Choice| (choice.outlook == Some(Outlook::DeadEnd), choice.away);
        let worst = question.choices.iter().enumerate().rev().max_by_key(|(_, choice)| badness(choice));
        Ok(worst.map_or(0, |(place, _)| place))
    }

    fn choose_set(&mut self, question: &Question) -> Result<Vec<usize>> {
        FirstChooser.choose_set(question)
    }

    fn wants_outlook(&self) -> bool {
        true
    }
}

/// Gives answers that were written down beforehand: labels, or numbers from 1 as in the question; for a set, such with
/// commas between them.
#[derive(Clone, Debug)]
pub struct ScriptedChooser {
    answers: std::vec::IntoIter<String>,
    given: usize,
}

impl ScriptedChooser {
    /// The answers, in the order of the questions.
    pub fn new(answers: impl IntoIterator<Item = String>) -> ScriptedChooser {
        ScriptedChooser { answers: answers.into_iter().collect::<Vec<_>>().into_iter(), given: 0 }
    }

    fn next(&mut self, question: &Question) -> Result<String> {
        self.given += 1;
        self.answers.next().ok_or_else(|| errors::script_ended(self.given, &question.choices))
    }
}

impl Chooser for ScriptedChooser {
    fn choose(&mut self, question: &Question) -> Result<usize> {
        let answer = self.next(question)?;
        place_of(&question.choices, &answer)
            .ok_or_else(|| errors::wrong_answer(&answer, self.given, &question.choices))
    }

    fn choose_set(&mut self, question: &Question) -> Result<Vec<usize>> {
        let answer = self.next(question)?;
        places_of(question, &answer)
            .ok_or_else(|| errors::wrong_answer(&answer, self.given, &question.choices))
    }
}

/// The choice that an answer names: its number from 1, or its label.
pub(super) fn place_of(choices: &[Choice], answer: &str) -> Option<usize> {
    let answer = answer.trim();
    match answer.parse::<usize>() {
        Ok(number) => number.checked_sub(1).filter(|&place| place < choices.len()),
        Err(_) => choices.iter().position(|choice| choice.label == answer),
    }
}

/// The choices that an answer for a set names, if it may take them.
pub(super) fn places_of(question: &Question, answer: &str) -> Option<Vec<usize>> {
    let (min, max) = question.set?;
    let answer = answer.trim();
    let mut places = Vec::new();
    if !answer.is_empty() && answer != "0" {
        for part in answer.split(',') {
            places.push(place_of(&question.choices, part)?);
        }
    }
    places.sort_unstable();
    let distinct = places.is_sorted_by(|a, b| a < b);
    (distinct && (min..=max).contains(&places.len())).then_some(places)
}
