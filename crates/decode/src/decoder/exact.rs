//! Exact sampling: draws texts from the model's own distribution until one of them is an output.

use super::{Decoder, State, bounds};
use crate::errors;
use crate::event::{ChosenToken, Event};
use crate::exact::{ExactStatistics, Exhaustion};
use crate::finish::{FinishReason, OutputStatus};
use crate::logits::Logits;
use crate::mask::only;
use crate::model::Model;
use crate::options::Generation;
use crate::prefix_tree::{Continuations, PrefixTree, Step};
use crate::timings::Timings;
use grammata::error::Result;
use std::time::Instant;

/// The most forced tokens that one run of the model is fed ahead, after the text of the try.
const LONGEST_CHAIN: usize = 64;

/// The position of a try in the tree of prefixes.
#[derive(Clone, Copy, Debug)]
enum Place {
    /// At a node of the tree.
    Known(usize),
    /// At a prefix without a node: the continuation of a node, by node and index. `None` is the empty prefix.
    New(Option<(usize, usize)>),
    /// At a prefix that the tree has no room for, or at an extension of such a prefix.
    Off,
}

/// The result of drawing the next token.
enum Draw {
    Token(Step),
    Refused,
    /// The logits after the prefix are not known yet.
    Unknown,
}

/// The state of exact sampling.
///
/// The live probability of a prefix is the probability, given the prefix, of the continuations that are not known to be
/// refused; it is 1 for a prefix without a node. A try begins with the live probability of the empty prefix. A draw
/// takes a uniform point below the live probability that the prefix had when it was chosen. If the live probability is
/// less by now, because the logits after the prefix became known, a point in the difference refuses the try. So
/// continuations that were known to be refused before are not drawn, those that become known refuse the try with the
/// probability that the model gives them, and outputs keep the proportions that the model gives them.
#[derive(Clone, Debug)]
pub(super) struct Exact {
    tree: PrefixTree,
    place: Place,
    /// The live probability of the prefix when it was chosen.
    entered: f64,
    /// The continuations of the current prefix, if the tree has no room for it.
    loose: Option<Continuations>,
    /// The tokens of the try, with their log-probabilities and refused masses.
    path: Vec<Step>,
    tries: usize,
    /// Tokens that the model was fed, or the prompt at the start. The model holds the first `Decoder::fed` of them.
    held: Vec<u32>,
    /// The masks of the requested rows: after the text, and after each forced token that is fed ahead.
    masks: Vec<Vec<u32>>,
}

impl Exact {
    pub(super) fn new(memory_bytes: usize, prompt: &[u32]) -> Exact {
        Exact {
            tree: PrefixTree::new(memory_bytes),
            place: Place::New(None),
            entered: 1.0,
            loose: None,
            path: Vec::new(),
            tries: 1,
            held: prompt.to_vec(),
            masks: Vec::new(),
        }
    }

    /// Moves the try back to the empty prefix and clears its tokens.
    fn begin(&mut self) {
        let root = self.tree.root();
        self.place = root.map_or(Place::New(None), Place::Known);
        self.entered = root.map_or(1.0, |root| self.tree.live(root));
        self.loose = None;
        self.path.clear();
    }

    /// Records in the tree that the prefix of the try cannot become an output. Does nothing if the prefix already has a
    /// node or the tree has no room.
    fn refuse(&mut self) {
        if let Place::New(parent) = self.place {
            self.tree.refuse(parent);
        }
    }

    /// Draws the next token. `uniform` returns random numbers in [0, 1).
    fn draw(&mut self, mut uniform: impl FnMut() -> f64) -> Draw {
        let drawn = match self.place {
            Place::Known(node) => {
                let point = uniform() * self.entered;
                if point >= self.tree.live(node) {
                    return Draw::Refused;
                }
                self.tree.draw(node, point).map(|drawn| {
                    self.entered = drawn.child.map_or(1.0, |child| self.tree.live(child));
                    self.place = drawn.child.map_or(Place::New(Some((node, drawn.place))), Place::Known);
                    drawn.step
                })
            }
            Place::New(_) | Place::Off => {
                let Some(next) = self.loose.take() else { return Draw::Unknown };
                let point = uniform() * self.entered;
                if point >= next.mass() {
                    return Draw::Refused;
                }
                self.entered = 1.0;
                next.draw(point)
            }
        };
        let Some(step) = drawn else { return Draw::Refused };
        self.path.push(step);
        Draw::Token(step)
    }

    /// Returns whether the model is known to give no output a probability.
    fn is_empty(&self) -> bool {
        self.tree.root().is_some_and(|root| self.tree.live(root) <= 0.0)
    }

    /// Records that the model held the first `length` tokens of `held` and was fed the tokens of `fed` after them.
    pub(super) fn came_first(&mut self, length: usize, fed: impl Iterator<Item = u32>) {
        self.held.truncate(length);
        self.held.extend(fed);
    }

    pub(super) fn held(&self) -> &[u32] {
        &self.held
    }

    pub(super) fn statistics(&self) -> ExactStatistics {
        let refused_mass = self.tree.root().map_or(0.0, |root| 1.0 - self.tree.live(root)).clamp(0.0, 1.0);
        ExactStatistics { tries: self.tries, prefixes: self.tree.len(), refused_mass }
    }
}

impl Decoder<'_> {
    /// Continues the try, and begins further tries, until logits are needed or the output has ended.
    pub(super) fn decide_exactly(&mut self, exact: &mut Exact) -> Result<()> {
        loop {
            if let Some(limit) = self.options.timeout.filter(|&limit| self.began.elapsed() >= limit) {
                return self.give_up(exact, Exhaustion::Time(limit));
            }
            let bounds = bounds(&self.options, self.context);
            let length = self.history.len() + self.output.tokens.len();
            if self.output.tokens.is_empty() && exact.tries == 1 {
                self.output.check_budget(self.output.budget(&bounds, length))?;
            }
            let reason = match self.output.limit(&bounds, length)? {
                Some(reason) if bounds.complete && is_prefix(&reason) => {
                    exact.refuse();
                    if !self.try_again(exact)? {
                        return Ok(());
                    }
                    continue;
                }
                Some(reason) => Some(reason),
                None => match exact.draw(|| self.sampler.uniform()) {
                    Draw::Token(step) => self.output.push(step.token, self.detokenizer, &bounds)?,
                    Draw::Unknown => return self.ask(exact),
                    Draw::Refused => {
                        if !self.try_again(exact)? {
                            return Ok(());
                        }
                        None
                    }
                },
            };
            if let Some(reason) = reason {
                self.give(exact, reason);
                return Ok(());
            }
        }
    }

    /// Begins another try. Returns false if none is begun, because no output is possible or all tries are used up; the
    /// decoder has then ended.
    fn try_again(&mut self, exact: &mut Exact) -> Result<bool> {
        let most = self.options.exact.as_ref().map_or(0, |options| options.tries);
        let exhausted = match exact.is_empty() {
            true => Some(Exhaustion::NoOutput),
            false => (exact.tries >= most).then_some(Exhaustion::Tries),
        };
        if let Some(cause) = exhausted {
            self.give_up(exact, cause)?;
            return Ok(false);
        }
        exact.tries += 1;
        exact.begin();
        self.output.restart(&self.options.stop)?;
        Ok(true)
    }

    fn give_up(&mut self, exact: &mut Exact, cause: Exhaustion) -> Result<()> {
        exact.begin();
        self.output.restart(&self.options.stop)?;
        self.end(FinishReason::Exhausted { tries: exact.tries, cause });
        Ok(())
    }

    /// Ends the decoder with the tokens and the text of the try as the output, and queues their events.
    fn give(&mut self, exact: &Exact, reason: FinishReason) {
        self.history.extend(&self.output.tokens);
        for step in &exact.path {
            let wanted = self.options.log_probabilities;
            let log_probability = wanted.then_some(step.log_probability);
            let refused_mass = self.options.refused_mass.then_some(step.refused_mass);
            let token = ChosenToken {
                id: step.token,
                forced: step.forced,
                log_probability,
                refused_mass,
                alternatives: Vec::new(),
            };
            self.log_probabilities.extend(log_probability);
            self.refused_mass.extend(refused_mass);
            self.timings.forced_tokens += usize::from(step.forced);
            self.events.push_back(Event::Token(token));
        }
        self.output.finish(&reason);
        self.show(0);
        self.end(reason);
    }

    /// Requests the logits after the text, and after each of the forced tokens that follow it, as many as there is room
    /// for. The forced tokens end before one that completes the text or that the logits lack.
    fn ask(&mut self, exact: &mut Exact) -> Result<()> {
        let start = Instant::now();
        let count = self.detokenizer.token_count();
        let mut mask = Vec::new();
        self.output.fill_mask(&mut mask, count, None)?;
        let mut tokens = [&self.history[..], &self.output.tokens].concat();
        let text = tokens.len();
        let room = self.room(exact);
        let mut ahead = self.output.constraint.as_deref().filter(|_| room > 0).map(|c| c.fork());
        exact.masks.clear();
        while let Some(ahead) = &mut ahead
            && exact.masks.len() < room
            // a mask that allows nothing ends the chain and makes the text a dead end
            && let Some(token) = only(&mask).ok().flatten()
            && (token as usize) < self.vocabulary
        {
            ahead.accept_token(token)?;
            if ahead.is_finished()? {
                break;
            }
            tokens.push(token);
            exact.masks.push(std::mem::take(&mut mask));
            mask.resize(count.div_ceil(32), 0);
            ahead.fill_mask(&mut mask)?;
        }
        self.timings.add_mask(start.elapsed());
        exact.masks.push(mask);
        let held = exact.held.get(..self.fed).unwrap_or_default();
        let same = held.iter().zip(&tokens).take_while(|(a, b)| a == b).count().min(text.saturating_sub(1));
        self.rewind = (same < self.fed).then_some(same);
        self.pending = tokens.split_off(same);
        self.drafted = exact.masks.len() - 1;
        self.state = State::Choosing;
        Ok(())
    }

    /// Returns the most forced tokens to feed ahead: so many that one more token fits into the output and the context,
    /// and at most `LONGEST_CHAIN`. 0 if the tree had no room for the current prefix, or if there are stop strings,
    /// which might end the output earlier.
    fn room(&self, exact: &Exact) -> usize {
        if matches!(exact.place, Place::Off) || !self.options.stop.is_empty() {
            return 0;
        }
        let length = self.history.len() + self.output.tokens.len();
        let context = self.context.map_or(usize::MAX, |limit| limit.saturating_sub(length));
        let output = self.options.max_tokens.saturating_sub(self.output.tokens.len());
        output.min(context).saturating_sub(1).min(LONGEST_CHAIN)
    }

    /// Adds the rows that [`ask`](Decoder::ask) requested to the tree, as far as it has room. They start at index
    /// `first` of `logits`.
    pub(super) fn take_exactly(
        &mut self,
        exact: &mut Exact,
        logits: &Logits<'_>,
        first: usize,
    ) -> Result<()> {
        let fed = std::mem::take(&mut self.pending);
        self.drafted = 0;
        exact.held.truncate(self.fed);
        exact.held.extend(&fed);
        self.fed = exact.held.len();
        self.state = State::Deciding;
        let mut place = exact.place;
        let mut buffer = Vec::new();
        for (number, mask) in std::mem::take(&mut exact.masks).iter().enumerate() {
            let row = logits.row(first + number, &mut buffer)?;
            if row.len() != self.vocabulary {
                return Err(errors::logits_length(row.len(), self.vocabulary));
            }
            let next = Continuations::new(row, mask, self.options.sampling.temperature)?;
            let has_next = next.mass() > 0.0;
            let added = match place {
                Place::New(parent) => exact.tree.insert(parent, next),
                Place::Known(_) | Place::Off => Err(next),
            };
            match added {
                Ok(node) => {
                    if number == 0 {
                        exact.place = Place::Known(node);
                    }
                    // a row that is followed by another one has the forced token as its only continuation
                    place = Place::New(Some((node, 0)));
                }
                Err(next) if number == 0 => {
                    exact.place = Place::Off;
                    exact.loose = Some(next);
                    break;
                }
                Err(_) => break,
            }
            if !has_next {
                break;
            }
        }
        Ok(())
    }

    /// Truncates the sequence of the model after [`poll`](Decoder::poll) returned
    /// [`Poll::Rewind`](crate::Poll::Rewind). Does nothing if no truncation is due.
    ///
    /// # Errors
    /// Errors of [`Model::truncate`]. The decoder then does not change.
    pub fn rewind(&mut self, model: &mut dyn Model) -> Result<()> {
        if let Some(length) = self.rewind {
            model.truncate(self.sequence, length)?;
            self.fed = length;
            self.rewind = None;
        }
        Ok(())
    }

    /// Returns the output of a decoder that samples exactly and has ended, and resets the decoder to draw another
    /// output. The tree of prefixes is kept.
    ///
    /// # Errors
    /// Errors of the constraint.
    pub(crate) fn again(&mut self) -> Result<Generation> {
        let generation = self.generation();
        if let Some(exact) = &mut self.exact {
            exact.tries = 1;
            exact.begin();
        }
        self.history.truncate(self.history.len().saturating_sub(generation.tokens.len()));
        self.output.roll_back(generation.tokens.len(), &self.options.stop)?;
        self.events.clear();
        self.timings = Timings::default();
        self.began = Instant::now();
        // the prompt was fed for the first output
        self.decoding = self.decoding.map(|_| Instant::now());
        self.state = State::Deciding;
        Ok(generation)
    }
}

/// Returns whether the limit on tokens or the context cut the output before it was a word.
fn is_prefix(reason: &FinishReason) -> bool {
    matches!(
        reason,
        FinishReason::TokenLimit { status: OutputStatus::Prefix, .. }
            | FinishReason::ContextLimit { status: OutputStatus::Prefix, .. }
    )
}
