//! Counters and times of the server, in the text format of Prometheus.

use grammata_decode::{Generation, SchedulerStatistics};
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::Registry;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

/// A place of the protocol, and the status of an answer.
#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
pub(crate) struct Answered {
    pub(crate) path: &'static str,
    pub(crate) status: u16,
}

type Seconds = Counter<f64, AtomicU64>;

#[derive(Debug)]
pub(crate) struct Metrics {
    registry: Registry,
    pub(crate) answered: Family<Answered, Counter>,
    pub(crate) cancelled: Counter,
    pub(crate) first_token: Histogram,
    pub(crate) prompt_tokens: Counter,
    generated_tokens: Counter,
    mask_seconds: Seconds,
    model_seconds: Seconds,
    step_seconds: Seconds,
    running: Gauge,
    waiting: Gauge,
    shared_tokens: Gauge,
}

impl Metrics {
    pub(crate) fn new() -> Metrics {
        let mut registry = Registry::with_prefix("grammata");
        let metrics = Metrics {
            answered: Family::default(),
            cancelled: Counter::default(),
            // 1 ms to 65 s
            first_token: Histogram::new(exponential_buckets(0.001, 2.0, 17)),
            prompt_tokens: Counter::default(),
            generated_tokens: Counter::default(),
            mask_seconds: Seconds::default(),
            model_seconds: Seconds::default(),
            step_seconds: Seconds::default(),
            running: Gauge::default(),
            waiting: Gauge::default(),
            shared_tokens: Gauge::default(),
            registry: Registry::default(),
        };
        registry.register("answers", "Answers by place and status", metrics.answered.clone());
        registry.register("cancelled", "Outputs whose client left before the end", metrics.cancelled.clone());
        let first = "Seconds from a request to its first token, the queue included";
        registry.register("first_token_seconds", first, metrics.first_token.clone());
        registry.register("prompt_tokens", "Tokens of prompts", metrics.prompt_tokens.clone());
        registry.register("generated_tokens", "Tokens of outputs", metrics.generated_tokens.clone());
        registry.register("mask_seconds", "Seconds in masks", metrics.mask_seconds.clone());
        registry.register(
            "model_seconds",
            "Seconds that outputs waited for the model",
            metrics.model_seconds.clone(),
        );
        registry.register(
            "step_seconds",
            "Seconds of the thread of the model in steps",
            metrics.step_seconds.clone(),
        );
        registry.register("running", "Outputs that are being generated", metrics.running.clone());
        registry.register("waiting", "Outputs that wait for their beginning", metrics.waiting.clone());
        let shared = "Tokens of prompts that another sequence held, so that they were not computed again";
        registry.register("shared_tokens", shared, metrics.shared_tokens.clone());
        Metrics { registry, ..metrics }
    }

    /// Records a step of the scheduler.
    pub(crate) fn stepped(
        &self,
        time: Duration,
        running: usize,
        waiting: usize,
        counts: SchedulerStatistics,
    ) {
        self.step_seconds.inc_by(time.as_secs_f64());
        for (gauge, value) in
            [(&self.running, running), (&self.waiting, waiting), (&self.shared_tokens, counts.shared_tokens)]
        {
            gauge.set(i64::try_from(value).unwrap_or(i64::MAX));
        }
    }

    /// Records an output that has ended.
    pub(crate) fn generated(&self, generation: &Generation) {
        self.generated_tokens.inc_by(generation.tokens.len() as u64);
        self.mask_seconds.inc_by(generation.timings.mask.as_secs_f64());
        self.model_seconds.inc_by((generation.timings.model + generation.timings.prefill).as_secs_f64());
    }

    /// Writes all figures.
    pub(crate) fn text(&self) -> String {
        let mut text = String::new();
        match encode(&mut text, &self.registry) {
            Ok(()) => text,
            Err(std::fmt::Error) => String::new(),
        }
    }
}
