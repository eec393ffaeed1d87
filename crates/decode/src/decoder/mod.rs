//! The decoder: a state machine that chooses the tokens of one sequence and reports one event at a time.

use crate::choice::Chosen;
use crate::draft::{Draft, NgramDraft};
use crate::event::{ChosenToken, Event, Poll};
use crate::finish::FinishReason;
use crate::logits::Logits;
use crate::model::{Feed, Model, Rows, fork_of_beginning};
use crate::options::{Generation, GenerationOptions};
use crate::output::{Bounds, Detokenizer, Output, check_prompt};
use crate::overlap::{NextMask, Portion, feed_meanwhile};
use crate::sampler::Sampler;
use crate::scores::{Score, refused_mass_of_forced};
use crate::sequences::SequenceId;
use crate::timings::Timings;
use grammata::error::{Error, Result};
use grammata::matcher::Constraint;
use std::collections::VecDeque;
use std::time::{Duration, Instant};

mod exact;
mod masks;
mod prefill;
mod rows;

use exact::Exact;

/// The next step of a decoder.
enum State {
    /// check the limits, then take a forced token or make a mask
    Deciding,
    /// choose from logits under the mask
    Choosing,
    Ended(FinishReason),
    Failed(Error),
}

/// Chooses the tokens of one sequence of a model, under a constraint if there is one.
///
/// [`next`](Decoder::next) feeds the model whenever it must, and returns the next [`Event`]. To run several decoders on
/// one model in batches, or to run the model yourself, use [`poll`](Decoder::poll), [`feed`](Decoder::feed) and
/// [`supply`](Decoder::supply), which do not touch a model.
///
/// A token that is the only one allowed takes no run of the model of its own, unless its mask is computed during a run
/// ([`overlap`](GenerationOptions::overlap)): it is fed together with the next token that needs a run. Once the
/// constraint allows nothing more, the output ends without a further run, unless log-probabilities of forced tokens are
/// still missing. With exact sampling, forced tokens are fed as well.
///
/// An error of [`Model::feed`], [`Model::truncate`] or a draft leaves the decoder as it was. After any other error,
/// [`next`](Decoder::next) and [`poll`](Decoder::poll) return the events that are still queued, up to a token whose
/// requested log-probability is missing, and then this error at each call.
///
/// ```
/// use grammata_decode::{Decoder, Event, GenerationOptions, Model};
/// use grammata::syntax::regex;
/// use grammata::{Compiler, Result, Vocabulary};
/// use std::sync::Arc;
///
/// fn shout(model: &mut dyn Model, vocabulary: &Arc<Vocabulary>, prompt: &[u32]) -> Result<String> {
///     let grammar = regex::compile("[A-Z]{1,20}!", &regex::Options::default())?;
///     let matcher = Compiler::new(Arc::clone(vocabulary)).compile(&grammar)?.matcher();
///     let options = GenerationOptions::default();
///     let mut decoder = Decoder::new(model, &**vocabulary, Some(Box::new(matcher)), prompt, &options)?;
///     let mut text = String::new();
///     loop {
///         match decoder.next(model)? {
///             Event::Token(token) => println!("token {}", token.id),
///             Event::Text(piece) => text += &piece,
///             Event::Finished(reason) => {
///                 println!("{reason}");
///                 break;
///             }
///         }
///     }
///     decoder.close(model);
///     Ok(text)
/// }
/// ```
pub struct Decoder<'c> {
    sequence: SequenceId,
    vocabulary: usize,
    context: Option<usize>,
    detokenizer: &'c dyn Detokenizer,
    options: GenerationOptions,
    sampler: Sampler,
    output: Output<'c>,
    log_probabilities: Vec<f64>,
    refused_mass: Vec<f64>,
    state: State,
    events: VecDeque<Event>,
    mask: Vec<u32>,
    masked: bool,
    mask_time: Duration,
    /// whether masks that take work may wait for the model's run
    defers: bool,
    next_mask: NextMask,
    /// the prompt and the output; exact sampling adds the tokens only when the output is decided
    history: Vec<u32>,
    /// number of tokens of the sequence that the model holds, without rejected drafts
    fed: usize,
    /// tokens that the model was not fed yet, followed by `drafted` proposals
    pending: Vec<u32>,
    drafted: usize,
    /// number of tokens at the end of the output whose log-probability is missing
    unscored: usize,
    /// indices into `pending` of the tokens whose logits are wanted
    rows: Vec<usize>,
    /// drafts that the model was fed and that are not yet compared with chosen tokens
    ahead: VecDeque<u32>,
    /// the state of exact sampling, if it is on and there is a constraint
    exact: Option<Box<Exact>>,
    /// the length to which the sequence of the model must be truncated before its next run; `None` if it need not be
    rewind: Option<usize>,
    /// when the output was begun; the time limit counts from here
    began: Instant,
    decoding: Option<Instant>,
    timings: Timings,
}

impl std::fmt::Debug for Decoder<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Decoder")
            .field("sequence", &self.sequence)
            .field("text", &self.output.text)
            .finish_non_exhaustive()
    }
}

impl<'c> Decoder<'c> {
    /// Creates a decoder that continues `prompt` on a new sequence of `model`.
    ///
    /// # Errors
    /// `decode/empty-prompt`; `decode/prompt-too-long`; `decode/sampling`: a sampling setting is out of its range;
    /// `decode/exact-sampling`: exact sampling does not support the settings; `decode/empty-stop`: a stop string is
    /// empty; errors of the model.
    pub fn new(
        model: &mut dyn Model,
        detokenizer: &'c dyn Detokenizer,
        constraint: Option<Box<dyn Constraint + 'c>>,
        prompt: &[u32],
        options: &GenerationOptions,
    ) -> Result<Decoder<'c>> {
        Decoder::on(model, None, detokenizer, constraint, prompt, options)
    }

    /// Creates a decoder that continues `prompt` on a fork of `sequence`, which must hold only tokens with which the
    /// prompt begins, or the whole prompt and more. Only the other tokens are fed. If `sequence` holds the whole
    /// prompt, its last token is fed again.
    ///
    /// # Errors
    /// Errors of [`new`](Decoder::new).
    pub fn after(
        model: &mut dyn Model,
        sequence: SequenceId,
        detokenizer: &'c dyn Detokenizer,
        constraint: Option<Box<dyn Constraint + 'c>>,
        prompt: &[u32],
        options: &GenerationOptions,
    ) -> Result<Decoder<'c>> {
        Decoder::on(model, Some((sequence, prompt.len())), detokenizer, constraint, prompt, options)
    }

    /// Creates a decoder on a new sequence or on a fork of one. `held` is a sequence and the number of its first tokens
    /// that are also the first tokens of the prompt. That number may be larger than the sequence is long.
    pub(crate) fn on(
        model: &mut dyn Model,
        held: Option<(SequenceId, usize)>,
        detokenizer: &'c dyn Detokenizer,
        constraint: Option<Box<dyn Constraint + 'c>>,
        prompt: &[u32],
        options: &GenerationOptions,
    ) -> Result<Decoder<'c>> {
        check_prompt(prompt, model.context_length())?;
        let mut options = options.clone();
        // the refused mass of a forced token is computed from its log-probability
        options.log_probabilities |= options.refused_mass || options.alternatives > 0;
        if options.exact.is_some() {
            crate::exact::check(&options.sampling)?;
        }
        // without a constraint no try is refused
        let exact = options.exact.as_ref().filter(|_| constraint.is_some());
        let exact = exact.map(|exact| Box::new(Exact::new(exact.memory_bytes, prompt)));
        let output = Output::new(constraint, &options.stop)?;
        let mut sampler = Sampler::new(options.sampling.clone())?;
        prompt.iter().for_each(|&token| sampler.observe(token));
        let (sequence, fed) = match held {
            None => (model.open()?, 0),
            Some((held, same)) => fork_of_beginning(model, held, same.min(prompt.len().saturating_sub(1)))?,
        };
        Ok(Decoder {
            sequence,
            vocabulary: model.vocabulary_size(),
            context: model.context_length(),
            detokenizer,
            options,
            sampler,
            output,
            log_probabilities: Vec::new(),
            refused_mass: Vec::new(),
            state: State::Deciding,
            events: VecDeque::new(),
            mask: Vec::new(),
            masked: false,
            mask_time: Duration::ZERO,
            defers: false,
            next_mask: NextMask::Settled,
            history: prompt.to_vec(),
            fed,
            pending: prompt.get(fed..).unwrap_or_default().to_vec(),
            drafted: 0,
            unscored: 0,
            rows: Vec::new(),
            ahead: VecDeque::new(),
            exact,
            rewind: None,
            began: Instant::now(),
            decoding: None,
            timings: Timings::default(),
        })
    }

    /// Creates a copy of this decoder in the same state, on a fork of its sequence, with random numbers from `seed`.
    ///
    /// # Errors
    /// Errors of [`Model::fork`], or the error with which this decoder failed.
    pub fn fork(&self, model: &mut dyn Model, seed: u64) -> Result<Decoder<'c>> {
        let state = match &self.state {
            State::Deciding => State::Deciding,
            State::Choosing => State::Choosing,
            State::Ended(reason) => State::Ended(reason.clone()),
            State::Failed(error) => return Err(error.clone()),
        };
        let mut sampler = self.sampler.clone();
        sampler.reseed(seed);
        Ok(Decoder {
            sequence: model.fork(self.sequence)?,
            options: self.options.clone(),
            sampler,
            output: self.output.fork(),
            log_probabilities: self.log_probabilities.clone(),
            refused_mass: self.refused_mass.clone(),
            state,
            events: self.events.clone(),
            mask: self.mask.clone(),
            next_mask: self.next_mask.clone(),
            history: self.history.clone(),
            pending: self.pending.clone(),
            rows: self.rows.clone(),
            ahead: self.ahead.clone(),
            exact: self.exact.clone(),
            timings: self.timings.clone(),
            ..*self
        })
    }

    /// Returns the id of the sequence in the model. The sequence is open until [`close`](Decoder::close).
    pub fn sequence(&self) -> SequenceId {
        self.sequence
    }

    /// Returns the tokens generated so far, with exact sampling those of the current try. Some of their events may not
    /// have been returned yet.
    pub fn tokens(&self) -> &[u32] {
        &self.output.tokens
    }

    /// Returns the text that is certain so far, with exact sampling that of the current try. Some of its events may not
    /// have been returned yet.
    pub fn text(&self) -> &str {
        &self.output.text
    }

    /// Closes the sequence and returns the output. A decoder that has not ended returns what it has generated, with
    /// [`FinishReason::Abandoned`]; with exact sampling under a constraint, its text and tokens are then empty.
    pub fn close(mut self, model: &mut dyn Model) -> Generation {
        model.close(self.sequence);
        self.generation()
    }

    /// Returns the output like [`close`](Decoder::close), but leaves the sequence open.
    pub(crate) fn into_generation(mut self) -> Generation {
        self.generation()
    }

    /// Returns the prompt and the output so far, without the current try of exact sampling.
    pub(crate) fn history(&self) -> &[u32] {
        &self.history
    }

    /// Returns the tokens of the sequence that the model holds.
    pub(crate) fn held(&self) -> &[u32] {
        let tokens = self.exact.as_deref().map_or(&self.history[..], Exact::held);
        tokens.get(..self.fed).unwrap_or_default()
    }

    /// Moves the output out of the decoder.
    fn generation(&mut self) -> Generation {
        let finish = match &self.state {
            State::Ended(reason) => reason.clone(),
            // the tokens of an unfinished try are not part of an output
            _ if self.exact.is_some() => {
                self.output.text.clear();
                self.output.tokens.clear();
                FinishReason::Abandoned
            }
            _ => FinishReason::Abandoned,
        };
        self.timings.tokens = self.output.tokens.len();
        Generation {
            text: std::mem::take(&mut self.output.text),
            tokens: std::mem::take(&mut self.output.tokens),
            log_probabilities: std::mem::take(&mut self.log_probabilities),
            refused_mass: std::mem::take(&mut self.refused_mass),
            exact: self.exact.as_deref().map(Exact::statistics),
            finish,
            timings: std::mem::take(&mut self.timings),
        }
    }

    /// Returns the next event. `model` must be the one that the decoder was created with.
    ///
    /// # Errors
    /// Errors of the model, the constraint and the sampler. `decode/empty-mask`: the constraint allows no token that
    /// the model has. `decode/no-candidate`: no allowed token has a probability. `decode/logits`: a row from which the
    /// host chooses is not as long as the vocabulary. `decode/row-range`: the model returned too few rows.
    /// `decode/device-choice`: a device chose a token that is not allowed.
    pub fn next(&mut self, model: &mut dyn Model) -> Result<Event> {
        self.advance(model, None)
    }

    /// Returns the next event. `draft` proposes up to `most` tokens for each run that precedes a choice, and the run
    /// verifies them. Tokens are chosen from the model's logits as without drafts, so the output, sampled or greedy, is
    /// that of [`next`](Decoder::next) if logits do not depend on how many tokens a run is fed: speculative decoding
    /// (Leviathan et al. 2023). Exact sampling under a constraint takes no drafts.
    ///
    /// # Errors
    /// Errors of [`next`](Decoder::next) and of the draft.
    pub fn next_drafted(
        &mut self,
        model: &mut dyn Model,
        draft: &mut dyn Draft,
        most: usize,
    ) -> Result<Event> {
        self.advance(model, Some((draft, most)))
    }

    fn advance(
        &mut self,
        model: &mut dyn Model,
        mut draft: Option<(&mut dyn Draft, usize)>,
    ) -> Result<Event> {
        loop {
            match self.poll_ahead()? {
                Poll::Event(event) => return Ok(event),
                Poll::Feed => {}
                Poll::Rewind => {
                    self.rewind(model)?;
                    continue;
                }
            }
            match &mut draft {
                Some((draft, most)) => self.propose(*draft, *most)?,
                None => self.look_up()?,
            }
            let (feed, mask) = self.run(Portion::All);
            let (logits, time) = feed_meanwhile(model, &[feed], mask.into_iter().collect())?;
            let supplied = self.supply(&logits, 0, time);
            self.rewind(model)?;
            supplied?;
        }
    }

    /// Returns the next event, or what the caller must do with the model first. Does not use the model.
    ///
    /// # Errors
    /// Errors of the constraint. `decode/empty-mask`: the constraint allows no token that the model has. The error with
    /// which the decoder failed earlier.
    pub fn poll(&mut self) -> Result<Poll> {
        self.poll_events()
    }

    fn poll_events(&mut self) -> Result<Poll> {
        loop {
            if let Some(event) = self.ready() {
                return Ok(Poll::Event(event));
            }
            match &self.state {
                State::Deciding => {
                    let decided = match self.exact.take() {
                        None => self.decide(None),
                        Some(mut exact) => {
                            let decided = self.decide_exactly(&mut exact);
                            self.exact = Some(exact);
                            decided
                        }
                    };
                    self.fail_on(decided)?;
                }
                State::Choosing if self.rewind.is_some() => return Ok(Poll::Rewind),
                State::Ended(reason) if self.unscored == 0 => {
                    return Ok(Poll::Event(Event::Finished(reason.clone())));
                }
                State::Ended(_) if self.rewind.is_some() => return Ok(Poll::Rewind),
                State::Choosing | State::Ended(_) => {
                    self.want_rows();
                    return Ok(Poll::Feed);
                }
                State::Failed(error) => return Err(error.clone()),
            }
        }
    }

    /// Returns what to feed the model after [`poll`](Decoder::poll) returned [`Poll::Feed`].
    pub fn feed(&self) -> Feed<'_> {
        let tokens = self.pending.get(..self.fed_tokens()).unwrap_or_default();
        Feed { sequence: self.sequence, tokens, rows: Rows::At(&self.rows) }
    }

    /// Returns how many pending tokens the next run is fed.
    fn fed_tokens(&self) -> usize {
        // at the end only log-probabilities are wanted, so the last token is not fed
        self.pending.len().saturating_sub(usize::from(matches!(self.state, State::Ended(_))))
    }

    /// Returns the number of rows of logits that [`feed`](Decoder::feed) requests.
    pub fn row_count(&self) -> usize {
        self.rows.len()
    }

    /// Takes the logits that the model returned for [`feed`](Decoder::feed): [`row_count`](Decoder::row_count) rows,
    /// from index `first` of `logits` on. `time` is how long the run took.
    ///
    /// # Errors
    /// Errors of the constraint, the sampler and the device. `decode/logits`: a row from which the host chooses is not
    /// as long as the vocabulary. `decode/row-range`: `logits` has too few rows. `decode/empty-mask`,
    /// `decode/no-candidate` and `decode/device-choice` as in [`next`](Decoder::next).
    pub fn supply(&mut self, logits: &Logits<'_>, first: usize, time: Duration) -> Result<()> {
        self.supply_chosen(logits, first, time, None)
    }

    /// Like [`supply`](Decoder::supply). `chosen` is the result of [`first_choice`](Decoder::first_choice), if a device
    /// has made that choice.
    pub(crate) fn supply_chosen(
        &mut self,
        logits: &Logits<'_>,
        first: usize,
        time: Duration,
        chosen: Option<Result<Chosen>>,
    ) -> Result<()> {
        self.record(time, self.pending.len() - self.drafted);
        let supplied = self.take_rows(logits, first, chosen);
        self.fail_on(supplied)
    }

    fn fail_on(&mut self, result: Result<()>) -> Result<()> {
        if let Err(error) = &result {
            self.state = State::Failed(error.clone());
        }
        result
    }

    /// Removes and returns the oldest event. `None` if there is none, or if it is a token whose requested
    /// log-probability is still missing.
    fn ready(&mut self) -> Option<Event> {
        match self.events.front() {
            Some(Event::Token(token))
                if self.options.log_probabilities && token.log_probability.is_none() =>
            {
                None
            }
            _ => self.events.pop_front(),
        }
    }

    /// Appends `token` to the output. `score` is given if it is requested and known, `refused_mass` (the
    /// probability that the mask refused) for a chosen token if it is requested; that of a forced token is computed
    /// from its log-probability.
    fn take(
        &mut self,
        token: u32,
        forced: bool,
        score: Option<Score>,
        refused_mass: Option<f64>,
    ) -> Result<()> {
        let log_probability = score.as_ref().map(|score| score.log_probability);
        let alternatives = score.map(|score| score.alternatives).unwrap_or_default();
        let start = Instant::now();
        let shown = self.output.text.len();
        let reason = self.output.push(token, self.detokenizer, &bounds(&self.options, self.context))?;
        if self.masked {
            self.timings.add_mask(self.mask_time + start.elapsed());
        }
        self.sampler.observe(token);
        self.sampler.count(token);
        self.history.push(token);
        let of_forced =
            log_probability.filter(|_| forced && self.options.refused_mass).map(refused_mass_of_forced);
        let refused_mass = refused_mass.or(of_forced);
        if self.options.log_probabilities {
            self.log_probabilities.extend(log_probability);
            self.refused_mass.extend(refused_mass);
            self.unscored += usize::from(log_probability.is_none());
        }
        let chosen = ChosenToken { id: token, forced, log_probability, refused_mass, alternatives };
        self.events.push_back(Event::Token(chosen));
        self.show(shown);
        if self.pending.is_empty() && self.ahead.front() == Some(&token) {
            self.ahead.pop_front();
            self.fed += 1;
        } else {
            self.pending.push(token);
        }
        self.state = State::Deciding;
        if let Some(reason) = reason {
            self.end(reason);
        }
        Ok(())
    }

    fn end(&mut self, reason: FinishReason) {
        let shown = self.output.text.len();
        self.output.finish(&reason);
        self.show(shown);
        self.timings.decode = self.decoding.map(|start| start.elapsed()).unwrap_or_default();
        self.timings.tokens = self.output.tokens.len();
        self.state = State::Ended(reason);
    }

    /// Queues an event for the text from byte `from` on, unless that text is empty.
    fn show(&mut self, from: usize) {
        let piece = self.output.text.get(from..).unwrap_or_default();
        if !piece.is_empty() {
            self.events.push_back(Event::Text(piece.to_owned()));
        }
    }

    /// Adds the proposals of prompt lookup to the next run, if prompt lookup is on.
    pub(crate) fn look_up(&mut self) -> Result<()> {
        match self.options.prompt_lookup {
            0 => Ok(()),
            most => self.propose(&mut NgramDraft::default(), most),
        }
    }

    /// Adds up to `most` proposals of `draft` to the next run, but no more than the limit on tokens and the context
    /// leave room for, and none from a token on that the model does not have. Does nothing if no choice is due or the
    /// next run has proposals already, or with exact sampling under a constraint.
    fn propose(&mut self, draft: &mut dyn Draft, most: usize) -> Result<()> {
        if !matches!(self.state, State::Choosing) || self.drafted > 0 || self.exact.is_some() {
            return Ok(());
        }
        let length = self.fed + self.pending.len();
        let room = self.context.map_or(usize::MAX, |limit| limit.saturating_sub(length));
        // a run chooses one token more than it verifies
        let left = self.options.max_tokens.saturating_sub(self.output.tokens.len() + 1);
        let most = most.min(room).min(left);
        if most == 0 {
            return Ok(());
        }
        let mut constraint = self.output.constraint.as_deref().map(|constraint| constraint.fork());
        let borrowed = constraint.as_deref_mut().map(|constraint| constraint as &mut dyn Constraint);
        let proposed = draft.propose(&self.history, borrowed, most)?;
        let proposed =
            proposed.into_iter().take(most).take_while(|&token| (token as usize) < self.vocabulary);
        let before = self.pending.len();
        self.pending.extend(proposed);
        self.drafted = self.pending.len() - before;
        self.timings.drafted_tokens += self.drafted;
        self.want_rows();
        Ok(())
    }

    /// Records a run of the model in the timings. The first call ends the prefill and counts `tokens` as tokens of the
    /// prefill. Each later call counts a step of the model.
    fn record(&mut self, time: Duration, tokens: usize) {
        if self.decoding.is_none() {
            self.decoding = Some(Instant::now());
            self.timings.prefill += time;
            self.timings.prefill_tokens += tokens;
        } else {
            self.timings.model += time;
            self.timings.model_steps += 1;
        }
    }
}

fn bounds(options: &GenerationOptions, context: Option<usize>) -> Bounds<'_> {
    let GenerationOptions { max_tokens, end_tokens, complete, .. } = options;
    Bounds { tokens: *max_tokens, context, end: end_tokens, complete: *complete }
}
