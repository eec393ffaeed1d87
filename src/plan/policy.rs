//! Data to train a policy on: what was asked, what was chosen, and what the finished plan was worth (RLTF: REINFORCE on
//! valid plans only, which is all that a search under the automaton makes).

use super::chooser::Chooser;
use super::question::Question;
use crate::error::Result;
use serde_json::{Value, json};

/// One decision of a chooser.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    /// The question as it was asked.
    pub prompt: String,
    /// The answer, as the question wants it: a number, or numbers with commas between them.
    pub answer: String,
}

impl Decision {
    /// The decision for the choices of these places.
    pub(super) fn of(prompt: String, places: &[usize]) -> Decision {
        let numbers: Vec<String> = places.iter().map(|place| (place + 1).to_string()).collect();
        let answer = if numbers.is_empty() { "0".to_owned() } else { numbers.join(", ") };
        Decision { prompt, answer }
    }
}

/// A chooser whose decisions are kept.
pub struct Recorder<'c> {
    chooser: &'c mut dyn Chooser,
    /// The decisions so far.
    pub decisions: Vec<Decision>,
}

impl std::fmt::Debug for Recorder<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Recorder").field("decisions", &self.decisions).finish_non_exhaustive()
    }
}

impl<'c> Recorder<'c> {
    /// Keeps what `chooser` decides.
    pub fn new(chooser: &'c mut dyn Chooser) -> Recorder<'c> {
        Recorder { chooser, decisions: Vec::new() }
    }

    fn keep(&mut self, question: &Question, places: &[usize]) {
        self.decisions.push(Decision::of(question.text.clone(), places));
    }
}

impl Chooser for Recorder<'_> {
    fn choose(&mut self, question: &Question) -> Result<usize> {
        let place = self.chooser.choose(question)?;
        self.keep(question, &[place]);
        Ok(place)
    }

    fn choose_set(&mut self, question: &Question) -> Result<Vec<usize>> {
        let places = self.chooser.choose_set(question)?;
        self.keep(question, &places);
        Ok(places)
    }

    fn scores(&mut self, question: &Question) -> Result<Vec<f64>> {
        self.chooser.scores(question)
    }

    fn wants_outlook(&self) -> bool {
        self.chooser.wants_outlook()
    }

    fn wants_forced(&self) -> bool {
        self.chooser.wants_forced()
    }
}

/// A finished plan of a task: the decisions that made it, and its reward.
#[derive(Clone, Debug, PartialEq)]
pub struct Episode {
    /// The decisions, in order.
    pub decisions: Vec<Decision>,
    /// What the plan is worth.
    pub reward: f64,
}

/// The episodes of one task as rows for a trainer: `prompt` and `completion` (texts), `reward` of the plan, and
/// `advantage`, the reward less the mean of the task's episodes, which is REINFORCE's baseline.
pub fn policy_rows(episodes: &[Episode]) -> Vec<Value> {
    let mut rows = Vec::new();
    for episode in episodes {
        // the mean of the differences: exactly 0 where all rewards are equal, which the rounded mean of rewards is not
        let differences = episodes.iter().map(|other| episode.reward - other.reward).sum::<f64>();
        let advantage = differences / episodes.len() as f64;
        for decision in &episode.decisions {
            rows.push(json!({
                "prompt": decision.prompt,
                "completion": decision.answer,
                "reward": episode.reward,
                "advantage": advantage,
            }));
        }
    }
    rows
}
