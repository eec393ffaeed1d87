//! Continuous batching: sequences join a running batch and leave it between steps.

use super::together::{feed_together, needs_logits, supply_together};
use crate::decoder::Decoder;
use crate::errors;
use crate::event::Event;
use crate::model::Model;
use crate::options::{Generation, GenerationOptions};
use crate::output::Detokenizer;
use crate::overlap::Portion;
use crate::sequences::SequenceId;
use grammata::error::{Error, Result};
use grammata::matcher::Constraint;
use std::collections::VecDeque;
use std::time::{Duration, Instant};

grammata_base::options! {
    /// Settings of a [`Scheduler`].
    #[derive(Clone, Debug)]
    #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
    #[non_exhaustive]
    pub struct SchedulerOptions {
        /// The most sequences that run together. 16 by default; at least 1 runs.
        pub batch: usize = 16,
        /// The most requests that wait. 256 by default; more are refused.
        pub queue: usize = 256,
        /// A prompt shares the cache of another sequence if at least this many first tokens are equal, and at least 1.
        /// 16 by default: for fewer tokens, computing them again costs less than sharing, which may take a run of the
        /// model for itself.
        pub least_shared: usize = 16,
        /// The most tokens without requested logits, mostly of prompts, that a step feeds to all sequences together, so
        /// that a long prompt does not hold up other sequences. Tokens that complete a cache for sharing do not count.
        /// 512 by default; at least 1 is fed. Sequences that began earlier come first.
        pub prompt_tokens: usize = 512,
        /// The most tokens of ended sequences, in total, whose caches are kept for later prompts. The latest one is kept
        /// in any case. 8,192 by default.
        pub kept_tokens: usize = 8192,
    }
}

/// A request for an output of a [`Scheduler`].
pub struct Request<'c> {
    /// The tokens of the prompt.
    pub prompt: Vec<u32>,
    /// The constraint of the output; `None` if every text is allowed.
    pub constraint: Option<Box<dyn Constraint + 'c>>,
    /// Settings of sampling, limits, end tokens and stop strings.
    pub options: GenerationOptions,
    /// Time after submission at which the output ends with [`FinishReason::Timeout`](crate::FinishReason::Timeout), at
    /// its next token. Time in the queue counts. None by default.
    pub deadline: Option<Duration>,
}

impl<'c> Request<'c> {
    /// Creates a request without a deadline.
    pub fn new(
        prompt: Vec<u32>,
        constraint: Option<Box<dyn Constraint + 'c>>,
        options: GenerationOptions,
    ) -> Request<'c> {
        Request { prompt, constraint, options, deadline: None }
    }

    /// Sets the deadline, counted from the submission of the request.
    #[must_use]
    pub fn deadline(mut self, deadline: Duration) -> Request<'c> {
        self.deadline = Some(deadline);
        self
    }
}

impl std::fmt::Debug for Request<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Request").field("prompt", &self.prompt).finish_non_exhaustive()
    }
}

/// The number of a request of a [`Scheduler`]: later ones are greater.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RequestId(u64);

impl std::fmt::Display for RequestId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

/// The result of a request that has left a [`Scheduler`].
#[derive(Clone, Debug)]
pub struct Ended {
    /// Id of the request.
    pub id: RequestId,
    /// The output of the request, or its error. An error does not affect other requests.
    pub result: Result<Generation>,
}

/// Counters of a [`Scheduler`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SchedulerStatistics {
    /// Number of batches that the model was fed, failed ones included. Runs that complete a cache for sharing are not
    /// counted.
    pub runs: usize,
    /// Number of sequences in all batches that `runs` counts, the sum of the sizes of these batches. Divided by `runs`,
    /// it is the mean size of a batch.
    pub sequences: usize,
    /// Prompt tokens that were not fed, because another sequence held them.
    pub shared_tokens: usize,
    /// Number of times that a sequence was fed only a part of its tokens because of
    /// [`SchedulerOptions::prompt_tokens`].
    pub prompt_parts: usize,
    /// Number of batches of several sequences that failed and were then fed sequence by sequence.
    pub failed_batches: usize,
}

struct Waiting<'c> {
    id: RequestId,
    request: Request<'c>,
    submitted: Instant,
}

/// Generates outputs of one model in a batch that requests join and leave between steps. Each request has its own
/// prompt, constraint, sampling, limits and deadline. Except for time limits, the output of a request does not depend
/// on the others, unless the kernels of the model round differently in different batches.
///
/// Requests begin in the order of submission, as soon as the batch has room. A request whose deadline has passed begins
/// in the next step in any case, and ends in it. A request waits if its prompt begins like that of a running sequence
/// whose first tokens are still being fed over several steps, and later requests wait with it. Each running sequence
/// gets its logits in each step, unless [`SchedulerOptions::prompt_tokens`] is too small for the tokens that it must be
/// fed first. A prompt may share the cache of a running sequence with the same first tokens, or of an ended one. Of these
/// the latest are kept, within [`SchedulerOptions::kept_tokens`], so that several conversations can go on in turn.
///
/// Running sequences and ended ones whose caches are kept stay open until [`close`](Scheduler::close); dropping the
/// scheduler does not close them. All calls must be given the same model.
///
/// ```
/// use grammata_decode::{Detokenizer, Generation, Model, Request, Scheduler, SchedulerOptions};
///
/// fn all(model: &mut dyn Model, detokenizer: &dyn Detokenizer, requests: Vec<Request<'_>>) -> Vec<Generation> {
///     let mut scheduler = Scheduler::new(detokenizer, SchedulerOptions::default());
///     let mut requests = requests.into_iter();
///     let mut outputs = Vec::new();
///     loop {
///         // as many as the queue holds; a server would submit requests as they arrive
///         while scheduler.has_room() && let Some(request) = requests.next() {
///             scheduler.submit(request).expect("there is room");
///         }
///         if scheduler.is_empty() {
///             break;
///         }
///         for ended in scheduler.step(model, &mut |_, _| {}) {
///             match ended.result {
///                 Ok(generation) => outputs.push(generation),
///                 Err(error) => eprintln!("request {}: {error}", ended.id),
///             }
///         }
///     }
///     scheduler.close(model);
///     outputs
/// }
/// ```
pub struct Scheduler<'c> {
    detokenizer: &'c dyn Detokenizer,
    options: SchedulerOptions,
    submitted: u64,
    waiting: VecDeque<Waiting<'c>>,
    /// the ids of `decoders`, in the same order
    ids: Vec<RequestId>,
    decoders: Vec<Decoder<'c>>,
    /// the sequences of outputs that have ended and were long enough to share, the latest use last, and the tokens that
    /// each holds
    kept: Vec<(SequenceId, Vec<u32>)>,
    statistics: SchedulerStatistics,
}

impl std::fmt::Debug for Scheduler<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Scheduler")
            .field("waiting", &self.waiting.len())
            .field("running", &self.ids)
            .finish_non_exhaustive()
    }
}

impl<'c> Scheduler<'c> {
    /// Creates a scheduler without requests.
    pub fn new(detokenizer: &'c dyn Detokenizer, options: SchedulerOptions) -> Scheduler<'c> {
        Scheduler {
            detokenizer,
            options,
            submitted: 0,
            waiting: VecDeque::new(),
            ids: Vec::new(),
            decoders: Vec::new(),
            kept: Vec::new(),
            statistics: SchedulerStatistics::default(),
        }
    }

    /// Appends a request to the queue and returns its id. An error of the request itself is not returned here but by
    /// [`step`](Scheduler::step), as its result.
    ///
    /// # Errors
    /// `decode/queue-full`: [`SchedulerOptions::queue`] requests wait already.
    pub fn submit(&mut self, request: Request<'c>) -> Result<RequestId> {
        if !self.has_room() {
            return Err(errors::queue_full(self.waiting.len()));
        }
        let id = RequestId(self.submitted);
        self.submitted += 1;
        self.waiting.push_back(Waiting { id, request, submitted: Instant::now() });
        Ok(id)
    }

    /// Returns whether the queue has room for a request.
    pub fn has_room(&self) -> bool {
        self.waiting.len() < self.options.queue
    }

    /// Returns the number of requests in the queue, which have not begun.
    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// Returns the number of requests that have begun and not ended.
    pub fn running(&self) -> usize {
        self.decoders.len()
    }

    /// Returns whether no request waits or runs, so that a step would do nothing.
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty() && self.decoders.is_empty()
    }

    /// Returns the counters since the scheduler was created.
    pub fn statistics(&self) -> SchedulerStatistics {
        self.statistics
    }

    /// Ends a request early and returns what it has generated so far, with
    /// [`FinishReason::Abandoned`](crate::FinishReason::Abandoned) unless the last step completed it. Returns `None`
    /// for a request that does not run: a waiting one is removed from the queue, and an ended one is no longer known.
    pub fn cancel(&mut self, model: &mut dyn Model, id: RequestId) -> Option<Generation> {
        self.waiting.retain(|waiting| waiting.id != id);
        let place = self.ids.iter().position(|running| *running == id)?;
        self.ids.remove(place);
        Some(self.decoders.remove(place).close(model))
    }

    /// Begins waiting requests, runs the model once over the sequences that need logits, as far as
    /// [`SchedulerOptions::prompt_tokens`] permits, and returns the requests that have ended. `on_event` is called with
    /// each event and the id of its request. Beginning a request may take another run, to complete a cache for sharing.
    ///
    /// If a batch of several sequences fails, it is fed sequence by sequence, and only sequences that fail again end
    /// with an error.
    pub fn step(&mut self, model: &mut dyn Model, on_event: &mut dyn FnMut(RequestId, &Event)) -> Vec<Ended> {
        let mut ended = self.admit(model);
        // how each decoder ended; `None` if it still runs
        let mut ends: Vec<Option<Result<()>>> = self.decoders.iter().map(|_| None).collect();
        let mut places = Vec::with_capacity(self.decoders.len());
        for (place, (decoder, &id)) in self.decoders.iter_mut().zip(&self.ids).enumerate() {
            let mut failure = None;
            let polled = needs_logits(decoder, model, &mut |event| match event {
                Ok(event) => on_event(id, &event),
                Err(error) => failure = Some(error),
            });
            match polled {
                Ok(true) => places.push(place),
                Ok(false) => ends[place] = Some(failure.map_or(Ok(()), Err)),
                Err(error) => ends[place] = Some(Err(error)),
            }
        }
        let portions = self.portions(&places);
        for (place, error) in self.feed(model, &portions) {
            ends[place] = Some(Err(error));
        }
        let (ids, decoders) = (std::mem::take(&mut self.ids), std::mem::take(&mut self.decoders));
        for ((id, decoder), end) in ids.into_iter().zip(decoders).zip(ends) {
            match end {
                None => {
                    self.ids.push(id);
                    self.decoders.push(decoder);
                }
                Some(Ok(())) => ended.push(Ended { id, result: Ok(self.keep(model, decoder)) }),
                Some(Err(error)) => {
                    decoder.close(model);
                    ended.push(Ended { id, result: Err(error) });
                }
            }
        }
        ended
    }

    /// Closes the sequences that the scheduler holds open. Requests that have not ended are dropped.
    pub fn close(self, model: &mut dyn Model) {
        for decoder in self.decoders {
            decoder.close(model);
        }
        for (sequence, _) in self.kept {
            model.close(sequence);
        }
    }

    /// Begins waiting requests, in their order, while the batch has room and until one must wait for the cache of a
    /// prompt. Requests whose deadline has passed begin in any case, so that they end in this step without a run of the
    /// model. Returns the requests that cannot begin, with their errors.
    fn admit(&mut self, model: &mut dyn Model) -> Vec<Ended> {
        let mut failed = Vec::new();
        // once a request waits for room or for the cache of a prompt, later requests wait too
        let mut holds = false;
        for waiting in std::mem::take(&mut self.waiting) {
            let late = waiting.request.deadline.is_some_and(|limit| waiting.submitted.elapsed() >= limit);
            let is_full = self.decoders.len() >= self.options.batch.max(1);
            holds = holds || is_full || !late && self.is_prefix_coming(&waiting.request.prompt);
            if !late && holds {
                self.waiting.push_back(waiting);
                continue;
            }
            let id = waiting.id;
            match self.begin(model, waiting, late) {
                Ok(decoder) => {
                    self.ids.push(id);
                    self.decoders.push(decoder);
                }
                Err(error) => failed.push(Ended { id, result: Err(error) }),
            }
        }
        failed
    }

    /// Creates the decoder of a request. A late request shares no cache, because it ends before the model runs.
    fn begin(&mut self, model: &mut dyn Model, waiting: Waiting<'c>, late: bool) -> Result<Decoder<'c>> {
        let Request { prompt, constraint, mut options, deadline } = waiting.request;
        if let Some(deadline) = deadline {
            let left = deadline.saturating_sub(waiting.submitted.elapsed());
            options.timeout = Some(options.timeout.map_or(left, |timeout| timeout.min(left)));
        }
        let shared = if late { None } else { self.shared(model, &prompt) };
        let decoder = Decoder::on(model, shared, self.detokenizer, constraint, &prompt, &options)?;
        self.statistics.shared_tokens +=
            shared.map_or(0, |(_, same)| same.min(prompt.len().saturating_sub(1)));
        Ok(decoder)
    }

    /// Returns the sequence that holds the most first tokens of `prompt`, and how many; `None` if these are fewer than
    /// `least_shared`. May feed the model, to complete the cache of a running sequence.
    fn shared(&mut self, model: &mut dyn Model, prompt: &[u32]) -> Option<(SequenceId, usize)> {
        let least = self.options.least_shared.max(1);
        let running = self.likest(prompt).and_then(|place| {
            let decoder = self.decoders.get_mut(place)?;
            // if this fails, the prompt shares nothing with a running sequence
            if is_incomplete(decoder, prompt) {
                decoder.prefill(model).ok()?;
            }
            Some((decoder.sequence(), common(decoder.held(), prompt)))
        });
        let found = running.or_else(|| self.kept_for(prompt)).filter(|(_, same)| *same >= least);
        if let Some(place) =
            self.kept.iter().position(|(kept, _)| found.is_some_and(|(sequence, _)| sequence == *kept))
        {
            let used = self.kept.remove(place);
            self.kept.push(used);
        }
        found
    }

    /// Returns whether the running sequence that has most in common with `prompt` begins like it with tokens that the
    /// model does not hold yet, and feeding them takes more than one step.
    fn is_prefix_coming(&self, prompt: &[u32]) -> bool {
        let decoder = self.likest(prompt).and_then(|place| self.decoders.get(place));
        decoder.is_some_and(|decoder| {
            is_incomplete(decoder, prompt) && decoder.prefill_count() > self.options.prompt_tokens
        })
    }

    /// Returns the index of the running sequence that has the most first tokens in common with `prompt`. `None` if
    /// these are fewer than `least_shared`, or no more than a kept sequence has.
    fn likest(&self, prompt: &[u32]) -> Option<usize> {
        let same = self.decoders.iter().map(|decoder| common(decoder.history(), prompt));
        let (place, same) = same.enumerate().max_by_key(|&(_, same)| same)?;
        let kept = self.kept_for(prompt).map_or(0, |(_, same)| same);
        (same >= self.options.least_shared.max(1) && same > kept).then_some(place)
    }

    /// Returns the kept sequence that holds the most first tokens of `prompt`, and how many.
    fn kept_for(&self, prompt: &[u32]) -> Option<(SequenceId, usize)> {
        let same = self.kept.iter().map(|(sequence, tokens)| (*sequence, common(tokens, prompt)));
        same.max_by_key(|&(_, same)| same)
    }

    /// Feeds portions of decoders and supplies the decoders with logits. Returns the index and the error of each
    /// decoder that failed.
    fn feed(&mut self, model: &mut dyn Model, portions: &[(usize, Portion)]) -> Vec<(usize, Error)> {
        if portions.is_empty() {
            return Vec::new();
        }
        let Err(error) = self.feed_together(model, portions) else { return Vec::new() };
        if let [(place, _)] = portions {
            return vec![(*place, error)];
        }
        self.statistics.failed_batches += 1;
        let alone = portions.iter().map(|&portion| (portion.0, self.feed_together(model, &[portion])));
        alone.filter_map(|(place, fed)| Some((place, fed.err()?))).collect()
    }

    fn feed_together(&mut self, model: &mut dyn Model, portions: &[(usize, Portion)]) -> Result<()> {
        self.statistics.runs += 1;
        self.statistics.sequences += portions.len();
        let is_part = |portion: &&(usize, Portion)| portion.1 != Portion::All;
        self.statistics.prompt_parts += portions.iter().filter(is_part).count();
        let (logits, time) = feed_together(model, &mut self.decoders, portions)?;
        supply_together(&mut self.decoders, portions, &logits, time);
        Ok(())
    }

    /// Divides the prompt tokens of a step among the decoders at the indices `places`, in their order. Decoders for
    /// which nothing is left are omitted.
    fn portions(&self, places: &[usize]) -> Vec<(usize, Portion)> {
        let mut left = self.options.prompt_tokens.max(1);
        let mut portions = Vec::with_capacity(places.len());
        for &place in places {
            let wanted = self.decoders.get(place).map_or(0, Decoder::tokens_before_rows);
            match wanted <= left {
                true => portions.push((place, Portion::All)),
                false if left > 0 => portions.push((place, Portion::First(left))),
                false => {}
            }
            left = left.saturating_sub(wanted);
        }
        portions
    }

    /// Returns the output of a decoder that has ended. Its sequence is kept for later prompts, in place of those with
    /// whose tokens it begins, but is closed if it holds fewer than `least_shared` tokens.
    fn keep(&mut self, model: &mut dyn Model, decoder: Decoder<'c>) -> Generation {
        let held = decoder.held();
        if held.len() < self.options.least_shared {
            return decoder.close(model);
        }
        self.kept.retain(|(sequence, tokens)| {
            let is_extended = held.starts_with(tokens);
            if is_extended {
                model.close(*sequence);
            }
            !is_extended
        });
        self.kept.push((decoder.sequence(), held.to_vec()));
        let mut tokens: usize = self.kept.iter().map(|(_, tokens)| tokens.len()).sum();
        while self.kept.len() > 1 && tokens > self.options.kept_tokens {
            let (sequence, oldest) = self.kept.remove(0);
            tokens -= oldest.len();
            model.close(sequence);
        }
        decoder.into_generation()
    }
}

/// Returns whether the model does not yet hold all first tokens that the sequence of a decoder has in common with
/// `prompt`.
fn is_incomplete(decoder: &Decoder<'_>, prompt: &[u32]) -> bool {
    common(decoder.held(), prompt) < common(decoder.history(), prompt)
}

/// Returns the length of the longest common prefix of two sequences.
fn common(a: &[u32], b: &[u32]) -> usize {
    a.iter().zip(b).take_while(|(a, b)| a == b).count()
}
