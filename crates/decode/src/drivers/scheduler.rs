//! Continuous batching: sequences join a running batch and leave it between steps.

use super::together::{needs_logits, supply_together};
use crate::constraint::Constraint;
use crate::decoder::Decoder;
use crate::errors;
use crate::event::Event;
use crate::model::{Feed, Model};
use crate::options::{Generation, GenerationOptions};
use crate::output::Detokenizer;
use crate::sequences::SequenceId;
use grammata::error::{Error, Result};
use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// Settings of a [`Scheduler`].
#[derive(Clone, Debug)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(default, deny_unknown_fields)
)]
#[non_exhaustive]
pub struct SchedulerOptions {
    /// The most sequences that run together. 16 by default; at least 1 runs.
    pub batch: usize,
    /// The most requests that wait. 256 by default; more are refused.
    pub queue: usize,
    /// A prompt that begins with at least this many tokens of another sequence shares its cache. 16 by default: fewer
    /// are computed again at less cost than the run of their own that sharing takes.
    pub least_shared: usize,
}

impl Default for SchedulerOptions {
    fn default() -> SchedulerOptions {
        SchedulerOptions { batch: 16, queue: 256, least_shared: 16 }
    }
}

grammata_base::setters!(SchedulerOptions { batch: usize, queue: usize, least_shared: usize });

/// An output that a [`Scheduler`] is to make.
pub struct Request<'c> {
    /// The tokens of the prompt.
    pub prompt: Vec<u32>,
    /// The constraint, if there is one.
    pub constraint: Option<Box<dyn Constraint + 'c>>,
    /// Sampling, limits and ends.
    pub options: GenerationOptions,
    /// Ends the output after this much time from its submission, waiting included. None by default.
    pub deadline: Option<Duration>,
}

impl<'c> Request<'c> {
    /// A request without a deadline.
    pub fn new(
        prompt: Vec<u32>,
        constraint: Option<Box<dyn Constraint + 'c>>,
        options: GenerationOptions,
    ) -> Request<'c> {
        Request { prompt, constraint, options, deadline: None }
    }

    /// The same with a deadline.
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

/// A request that has left a [`Scheduler`].
#[derive(Clone, Debug)]
pub struct Ended {
    /// Which one.
    pub id: RequestId,
    /// The output, or why there is none. The error of one request does not touch the others.
    pub result: Result<Generation>,
}

/// What a [`Scheduler`] has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SchedulerStatistics {
    /// Runs of the model.
    pub runs: usize,
    /// Sequences of all runs together; divided by `runs`, the mean batch.
    pub sequences: usize,
    /// Prompt tokens that were not fed, because another sequence held them.
    pub shared_tokens: usize,
    /// Batches that failed and were fed sequence by sequence.
    pub failed_batches: usize,
}

struct Waiting<'c> {
    id: RequestId,
    request: Request<'c>,
    submitted: Instant,
}

/// Makes outputs of one model in a batch that requests join and leave between steps: each has its own prompt,
/// constraint, sampling, limits and deadline. The output of a request does not depend on the others, but for the
/// rounding of a model whose kernels depend on the batch.
///
/// Requests begin in the order of submission, as soon as the batch has room, and each sequence that runs gets a token
/// in each step. A prompt that begins like a running sequence, or like the latest one that has ended, shares its
/// cache.
///
/// The sequences of the model stay open until [`close`](Scheduler::close). All calls take the same model.
///
/// ```
/// use grammata_decode::{Detokenizer, Generation, Model, Request, Scheduler, SchedulerOptions};
///
/// fn all(model: &mut dyn Model, detokenizer: &dyn Detokenizer, requests: Vec<Request<'_>>) -> Vec<Generation> {
///     let mut scheduler = Scheduler::new(detokenizer, SchedulerOptions::default());
///     let mut requests = requests.into_iter();
///     let mut outputs = Vec::new();
///     loop {
///         // as many as may wait; a server would submit requests as they come
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
    /// the requests of `decoders`, in the same order
    ids: Vec<RequestId>,
    decoders: Vec<Decoder<'c>>,
    /// the sequence of the latest output that ended, and its tokens
    kept: Option<(SequenceId, Vec<u32>)>,
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
    /// A scheduler without requests.
    pub fn new(detokenizer: &'c dyn Detokenizer, options: SchedulerOptions) -> Scheduler<'c> {
        Scheduler {
            detokenizer,
            options,
            submitted: 0,
            waiting: VecDeque::new(),
            ids: Vec::new(),
            decoders: Vec::new(),
            kept: None,
            statistics: SchedulerStatistics::default(),
        }
    }

    /// Puts a request at the end of the queue. Its faults are the result of the request, not of this call.
    ///
    /// # Errors
    /// `decode/queue-full`: as many requests wait as may.
    pub fn submit(&mut self, request: Request<'c>) -> Result<RequestId> {
        if !self.has_room() {
            return Err(errors::queue_full(self.waiting.len()));
        }
        let id = RequestId(self.submitted);
        self.submitted += 1;
        self.waiting.push_back(Waiting { id, request, submitted: Instant::now() });
        Ok(id)
    }

    /// Whether another request may wait.
    pub fn has_room(&self) -> bool {
        self.waiting.len() < self.options.queue
    }

    /// Number of requests that wait.
    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// Number of sequences that run.
    pub fn running(&self) -> usize {
        self.decoders.len()
    }

    /// Whether no request waits or runs.
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty() && self.decoders.is_empty()
    }

    /// What was done so far.
    pub fn statistics(&self) -> SchedulerStatistics {
        self.statistics
    }

    /// Ends a request early and gives what there is of its output, with
    /// [`FinishReason::Abandoned`](crate::FinishReason::Abandoned) unless the last step completed it. `None` if it
    /// does not run: it waited, or had ended.
    pub fn cancel(&mut self, model: &mut dyn Model, id: RequestId) -> Option<Generation> {
        self.waiting.retain(|waiting| waiting.id != id);
        let place = self.ids.iter().position(|running| *running == id)?;
        self.ids.remove(place);
        Some(self.decoders.remove(place).close(model))
    }

    /// Lets waiting requests join, runs the model once over all sequences that need logits, and gives the requests
    /// that have ended. `on_event` gets each event of each request.
    ///
    /// A batch that the model refuses is fed sequence by sequence, and only sequences that are then refused fail.
    pub fn step(&mut self, model: &mut dyn Model, on_event: &mut dyn FnMut(RequestId, &Event)) -> Vec<Ended> {
        let mut ended = self.admit(model);
        // of each decoder, how it ended
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
        for (place, error) in self.feed(model, &places) {
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

    /// Closes all sequences of the model. Requests that have not ended are dropped.
    pub fn close(self, model: &mut dyn Model) {
        for decoder in self.decoders {
            decoder.close(model);
        }
        if let Some((sequence, _)) = self.kept {
            model.close(sequence);
        }
    }

    /// Begins waiting requests while there is room. Those whose deadline is over begin too, so that they end in this
    /// step without a run of the model. Gives those that cannot begin.
    fn admit(&mut self, model: &mut dyn Model) -> Vec<Ended> {
        let mut failed = Vec::new();
        for waiting in std::mem::take(&mut self.waiting) {
            let late = waiting.request.deadline.is_some_and(|limit| waiting.submitted.elapsed() >= limit);
            if !late && self.decoders.len() >= self.options.batch.max(1) {
                self.waiting.push_back(waiting);
                continue;
            }
            let id = waiting.id;
            match self.begin(model, waiting) {
                Ok(decoder) => {
                    self.ids.push(id);
                    self.decoders.push(decoder);
                }
                Err(error) => failed.push(Ended { id, result: Err(error) }),
            }
        }
        failed
    }

    fn begin(&mut self, model: &mut dyn Model, waiting: Waiting<'c>) -> Result<Decoder<'c>> {
        let Request { prompt, constraint, mut options, deadline } = waiting.request;
        if let Some(deadline) = deadline {
            let left = deadline.saturating_sub(waiting.submitted.elapsed());
            options.timeout = Some(options.timeout.map_or(left, |timeout| timeout.min(left)));
        }
        let shared = self.shared(model, &prompt);
        let decoder = Decoder::on(model, shared, self.detokenizer, constraint, &prompt, &options)?;
        self.statistics.shared_tokens +=
            shared.map_or(0, |(_, same)| same.min(prompt.len().saturating_sub(1)));
        Ok(decoder)
    }

    /// The sequence that holds the most tokens that `prompt` begins with, and how many.
    fn shared(&mut self, model: &mut dyn Model, prompt: &[u32]) -> Option<(SequenceId, usize)> {
        let least = self.options.least_shared.max(1);
        let kept = self.kept.as_ref().map(|(sequence, tokens)| (*sequence, common(tokens, prompt)));
        let same = |decoder: &Decoder<'_>| common(decoder.history(), prompt);
        let running = self.decoders.iter_mut().max_by_key(|decoder| same(decoder));
        let running = running.filter(|decoder| {
            let same = same(decoder);
            same >= least && kept.is_none_or(|(_, kept)| same > kept)
        });
        let running = running.and_then(|decoder| {
            // without it the prompt is fed again
            if common(decoder.held(), prompt) < same(decoder) {
                decoder.prefill(model).ok()?;
            }
            Some((decoder.sequence(), common(decoder.held(), prompt)))
        });
        running.or(kept).filter(|(_, same)| *same >= least)
    }

    /// Feeds the decoders at `places` and supplies them. Gives those that failed.
    fn feed(&mut self, model: &mut dyn Model, places: &[usize]) -> Vec<(usize, Error)> {
        if places.is_empty() {
            return Vec::new();
        }
        let Err(error) = self.feed_together(model, places) else { return Vec::new() };
        if let [place] = places {
            return vec![(*place, error)];
        }
        self.statistics.failed_batches += 1;
        let alone = places.iter().map(|&place| (place, self.feed_together(model, &[place])));
        alone.filter_map(|(place, fed)| Some((place, fed.err()?))).collect()
    }

    fn feed_together(&mut self, model: &mut dyn Model, places: &[usize]) -> Result<()> {
        let decoders = places.iter().filter_map(|&place| self.decoders.get(place));
        let batch: Vec<Feed<'_>> = decoders.map(Decoder::feed).collect();
        self.statistics.runs += 1;
        self.statistics.sequences += batch.len();
        let start = Instant::now();
        let logits = model.feed(&batch)?;
        let time = start.elapsed();
        supply_together(&mut self.decoders, places, &logits, time)
    }

    /// The output of a decoder, whose sequence is kept for prompts that begin like it.
    fn keep(&mut self, model: &mut dyn Model, decoder: Decoder<'c>) -> Generation {
        let held = decoder.held();
        if held.len() < self.options.least_shared {
            return decoder.close(model);
        }
        let kept = (decoder.sequence(), held.to_vec());
        if let Some((before, _)) = self.kept.replace(kept) {
            model.close(before);
        }
        decoder.into_generation()
    }
}

/// Number of tokens that two sequences begin with alike.
fn common(a: &[u32], b: &[u32]) -> usize {
    a.iter().zip(b).take_while(|(a, b)| a == b).count()
}
