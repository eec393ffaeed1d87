//! The protocol of MaskBench, for one schema and one engine, on one thread.

use super::engine::{Compiled, Engine, Refusal, Session};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// The outcome of a schema, best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Status {
    /// The schema compiles, and all its tests pass.
    Pass,
    /// The engine reports that no value satisfies the schema, and no instance is valid: that is right, too.
    Unsatisfiable,
    /// The engine refuses the schema.
    CompileError,
    /// A token of a valid instance, or its end, is not allowed, or the engine fails there with an error.
    ValidRejected,
    /// The schema took longer than the time limit.
    Timeout,
    /// The engine panicked.
    Crash,
    /// All tokens of an invalid instance are allowed, and its end is allowed, too.
    InvalidAccepted,
}

impl Status {
    /// All statuses, in the order of the report.
    pub(crate) const ALL: [Status; 7] = [
        Status::Pass,
        Status::Unsatisfiable,
        Status::CompileError,
        Status::ValidRejected,
        Status::Timeout,
        Status::Crash,
        Status::InvalidAccepted,
    ];

    /// The name in reports.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Status::Pass => "pass",
            Status::Unsatisfiable => "unsatisfiable",
            Status::CompileError => "compile_error",
            Status::ValidRejected => "valid_rejected",
            Status::Timeout => "timeout",
            Status::Crash => "crash",
            Status::InvalidAccepted => "invalid_accepted",
        }
    }
}

/// An instance as tokens, and whether the schema admits it.
#[derive(Clone, Debug)]
pub(crate) struct Tokens {
    pub(crate) valid: bool,
    pub(crate) tokens: Vec<u32>,
}

/// The settings of a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Settings {
    /// The number of passes over the tests; at least 1.
    pub(crate) repeat: usize,
    /// Whether the grammar is compiled again for each test.
    pub(crate) isolate: bool,
    /// Whether the masks of the first pass are digested.
    pub(crate) digest: bool,
    /// How long masks are computed ahead before the first mask, not timed.
    pub(crate) warm: Option<Duration>,
    /// MiB of memory that are read before each mask, not timed.
    pub(crate) sweep: usize,
    /// The longest time that a schema may take; it is checked between masks.
    pub(crate) time_limit: Duration,
}

/// The times of one token, in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Times {
    /// The time to write the mask into the caller's buffer.
    pub(crate) mask: u64,
    /// The time to check the token's bit, and to accept the token if the bit is set.
    pub(crate) commit: u64,
    /// Whether another process had computed the mask.
    pub(crate) explored: bool,
}

/// A failed test.
#[derive(Clone, Debug)]
pub(crate) struct Failure {
    /// The index among the schema's tests.
    pub(crate) test: usize,
    pub(crate) status: Status,
    /// The index of the token at which the test failed; for the end, the number of tokens.
    pub(crate) at: usize,
    pub(crate) message: String,
}

/// The results of a schema.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) status: Status,
    pub(crate) refusal: Option<Refusal>,
    pub(crate) first_part: Option<(&'static str, Duration)>,
    pub(crate) compile: Duration,
    pub(crate) first_mask: Duration,
    /// The times to make a fresh matcher for each test of the first pass, in nanoseconds.
    pub(crate) resets: Vec<u64>,
    /// The times of the tokens in the first pass over the tests.
    pub(crate) times: Vec<Times>,
    /// The number of tokens of each test that were walked over in the first pass.
    pub(crate) walked: Vec<usize>,
    /// The times of the tokens in the later passes.
    pub(crate) warm: Vec<Times>,
    pub(crate) failures: Vec<Failure>,
    /// Numbers of tests of the first pass that passed: invalid instances, then valid ones.
    pub(crate) right: [usize; 2],
    /// The number of invalid instances whose tokens were all allowed, and whose end was refused.
    pub(crate) end_refused: usize,
    pub(crate) first_mask_error: Option<String>,
    pub(crate) statistics: Value,
    /// The digest of the masks of the first pass in the order of the tests, if requested.
    pub(crate) digest: Option<Sha256>,
}

impl Outcome {
    fn new(settings: Settings) -> Outcome {
        Outcome {
            status: Status::Pass,
            refusal: None,
            first_part: None,
            compile: Duration::ZERO,
            first_mask: Duration::ZERO,
            resets: Vec::new(),
            times: Vec::new(),
            walked: Vec::new(),
            warm: Vec::new(),
            failures: Vec::new(),
            right: [0; 2],
            end_refused: 0,
            first_mask_error: None,
            statistics: Value::Null,
            digest: settings.digest.then(Sha256::new),
        }
    }

    /// Returns whether the schema compiled, so that there are masks.
    pub(crate) fn compiled(&self) -> bool {
        self.refusal.is_none() && self.first_part.is_some()
    }

    /// Returns the time to the first mask: compiling and computing the mask.
    pub(crate) fn ttfm(&self) -> Duration {
        self.compile + self.first_mask
    }

    fn fail(&mut self, test: usize, status: Status, at: usize, message: String) {
        self.status = self.status.max(status);
        self.failures.push(Failure { test, status, at, message });
    }
}

/// Compiles a schema, takes the first mask, and walks over its tests. `words` is the buffer for masks.
pub(crate) fn run(
    engine: &dyn Engine,
    schema: &str,
    tests: &[Tokens],
    settings: Settings,
    words: &mut [u32],
) -> Outcome {
    let mut outcome = Outcome::new(settings);
    let work = AssertUnwindSafe(|| protocol(engine, schema, tests, settings, words, &mut outcome));
    if let Err(panic) = catch_unwind(work) {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or(panic.downcast_ref::<&str>().copied()).unwrap_or("no message");
        outcome.fail(outcome.resets.len().saturating_sub(1), Status::Crash, 0, format!("panic: {text}"));
    }
    outcome
}

fn protocol(
    engine: &dyn Engine,
    schema: &str,
    tests: &[Tokens],
    settings: Settings,
    words: &mut [u32],
    outcome: &mut Outcome,
) {
    let begin = Instant::now();
    let deadline = begin + settings.time_limit;
    let compilation = engine.compile(schema);
    outcome.compile = begin.elapsed();
    let mut compiled = match compilation {
        Ok(compilation) => {
            outcome.first_part = Some(compilation.first_part);
            compilation.compiled
        }
        Err(refusal) => {
            let says_so =
                refusal.code.ends_with("/unsatisfiable") || refusal.code.ends_with("/empty-language");
            let is_right = says_so && tests.iter().all(|test| !test.valid);
            outcome.status = if is_right { Status::Unsatisfiable } else { Status::CompileError };
            outcome.refusal = Some(refusal);
            return;
        }
    };
    if let Some(time) = settings.warm {
        compiled.warm(time);
    }
    let mut session = compiled.session();
    let begin = Instant::now();
    let filled = session.fill_mask(words);
    outcome.first_mask = begin.elapsed();
    drop(session);
    outcome.first_mask_error = filled.err();
    for pass in 0..settings.repeat {
        for (test, tokens) in tests.iter().enumerate() {
            if settings.isolate && pass == 0 {
                match engine.compile(schema) {
                    Ok(compilation) => {
                        compiled = compilation.compiled;
                        settings.warm.iter().for_each(|&time| compiled.warm(time));
                    }
                    Err(refusal) => return outcome.fail(test, Status::ValidRejected, 0, refusal.message),
                }
            }
            let before = outcome.times.len();
            let mut walk = Walk { compiled: &*compiled, deadline, words, settings, outcome };
            let in_time = walk.run(pass, test, tokens);
            if pass == 0 {
                outcome.walked.push(outcome.times.len() - before);
            }
            if !in_time {
                return;
            }
        }
    }
    outcome.statistics = compiled.statistics();
}

/// The state of the walks over the tests of one schema.
struct Walk<'a> {
    compiled: &'a dyn Compiled,
    deadline: Instant,
    words: &'a mut [u32],
    settings: Settings,
    outcome: &'a mut Outcome,
}

/// Reads `mib` MiB, one word of each cache line.
fn sweep(mib: usize) {
    static MEMORY: OnceLock<Vec<u64>> = OnceLock::new();
    if mib > 0 {
        let memory = MEMORY.get_or_init(|| (0..(mib << 17) as u64).collect());
        std::hint::black_box(memory.iter().step_by(8).fold(0u64, |sum, &word| sum.wrapping_add(word)));
    }
}

impl Walk<'_> {
    /// Walks over one test. Returns false if the time limit is exceeded.
    fn run(&mut self, pass: usize, test: usize, tokens: &Tokens) -> bool {
        let begin = Instant::now();
        let mut session = self.compiled.session();
        if pass == 0 {
            self.outcome.resets.push(nanoseconds(begin.elapsed()));
        }
        for (at, &token) in tokens.tokens.iter().enumerate() {
            if Instant::now() > self.deadline {
                self.outcome.fail(test, Status::Timeout, at, "the time is up".to_owned());
                return false;
            }
            let stepped = self.step(&mut *session, token, pass);
            if stepped == Ok(true) {
                continue;
            }
            // only the first pass is judged
            if pass == 0 && tokens.valid {
                let message = stepped.err().unwrap_or_else(|| session.explain(token));
                self.outcome.fail(test, Status::ValidRejected, at, message);
            } else if pass == 0 {
                self.outcome.right[0] += 1;
            }
            return true;
        }
        if pass == 0 {
            self.judge_end(&mut *session, test, tokens);
        }
        true
    }

    /// Computes the mask before one token, and accepts the token if the mask allows it. Returns whether the mask allows
    /// it.
    fn step(&mut self, session: &mut dyn Session, token: u32, pass: usize) -> Result<bool, String> {
        let explored = session.is_explored();
        sweep(self.settings.sweep);
        let begin = Instant::now();
        let filled = session.fill_mask(self.words);
        let masked = Instant::now();
        let word = self.words.get(token as usize / 32).copied().unwrap_or_default();
        let allowed = filled.is_ok() && word >> (token % 32) & 1 == 1;
        let accepted = if allowed { session.accept(token) } else { Ok(()) };
        let commit = masked.elapsed();
        let times = Times { mask: nanoseconds(masked - begin), commit: nanoseconds(commit), explored };
        let all = if pass == 0 { &mut self.outcome.times } else { &mut self.outcome.warm };
        all.push(times);
        if let (0, Some(digest)) = (pass, &mut self.outcome.digest) {
            match &filled {
                Ok(()) => digest.update(bytemuck::cast_slice::<u32, u8>(self.words)),
                Err(message) => digest.update(message),
            }
        }
        filled.and(accepted).map(|()| allowed)
    }

    /// Judges a test whose tokens were all allowed: a valid instance may end there, an invalid one may not.
    fn judge_end(&mut self, session: &mut dyn Session, test: usize, tokens: &Tokens) {
        let at = tokens.tokens.len();
        let accepting = match session.is_accepting() {
            Ok(accepting) => accepting,
            Err(message) if tokens.valid => {
                return self.outcome.fail(test, Status::ValidRejected, at, message);
            }
            Err(_) => false,
        };
        match (accepting, tokens.valid) {
            (true, true) => self.outcome.right[1] += 1,
            (false, false) => {
                self.outcome.right[0] += 1;
                self.outcome.end_refused += 1;
            }
            (true, false) => {
                self.outcome.fail(test, Status::InvalidAccepted, at, "all of it is allowed".to_owned());
            }
            (false, true) => {
                self.outcome.fail(test, Status::ValidRejected, at, "the text may not end here".to_owned());
            }
        }
    }
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
