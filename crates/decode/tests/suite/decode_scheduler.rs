//! Continuous batching: in every schedule, the output of a request equals its output alone.

use crate::decode_drivers::hashed;
use crate::models::{Bytes, END, Function, TOKENS, Words};
use grammata::matcher::Constraint;
use grammata_decode::{
    Event, ExactSampling, FinishReason, Generation, GenerationOptions, Model, Request, RequestId,
    SamplingParams, Scheduler, SchedulerOptions, generate,
};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::time::Duration;

const LANGUAGES: [&[&str]; 4] = [
    &["a", "ab", "abc", "abd", "b", "bcd", "bce", "xxxxxxxy", "xxxxxxxz"],
    &["aa", "ab", "ba", "bb", "aaa", "aab", "bba", "bbb", "abab", "baba", "abba", "baab"],
    &["only one way"],
    &["", "1", "12", "123", "1234", "2", "23", "3"],
];

const SEED: u64 = 11;

fn model() -> Function<impl FnMut(&[u32]) -> Vec<f32> + Send> {
    Function::new(TOKENS, |sequence| hashed(SEED, sequence))
}

/// The parts of a request, which is built twice: for the scheduler, and to be generated alone.
#[derive(Clone, Debug)]
struct Spec {
    prompt: Vec<u32>,
    words: Option<&'static [&'static str]>,
    /// Which masks take work, as in [`Words::work`].
    work: u64,
    options: GenerationOptions,
}

impl Spec {
    fn request(&self) -> Request<'static> {
        let words = self.words.map(|words| Words { work: self.work, ..Words::new(words) });
        let constraint = words.map(|words| Box::new(words) as Box<dyn Constraint>);
        Request::new(self.prompt.clone(), constraint, self.options.clone())
    }

    fn alone(&self) -> Generation {
        let mut words = self.words.map(Words::new);
        let constraint = words.as_mut().map(|words| words as &mut dyn Constraint);
        let options = self.options.clone().prompt_lookup(0).overlap(false);
        generate(&mut model(), &Bytes::new(), constraint, &self.prompt, &options).unwrap()
    }
}

/// Returns random prompts: a common prefix of 0, 3 or 20 tokens, followed by one to three random tokens out of four.
fn prompt() -> impl Strategy<Value = Vec<u32>> {
    let begin = prop_oneof![Just(0_u32), Just(3), Just(20)];
    (begin, proptest::collection::vec(0..4_u32, 1..4))
        .prop_map(|(begin, rest)| (40..40 + begin).chain(rest).collect())
}

fn spec() -> impl Strategy<Value = Spec> {
    let words = proptest::option::weighted(0.8, (0..LANGUAGES.len()).prop_map(|at| LANGUAGES[at]));
    let temperature = prop_oneof![Just(0.0_f32), Just(1.0), Just(3.0)];
    let work = prop_oneof![Just(0), any::<u64>()];
    let lookup = prop_oneof![Just(0), 0..5_usize];
    (prompt(), words, temperature, any::<u64>(), 8..16_usize, any::<bool>(), any::<bool>(), (work, lookup))
        .prop_map(
            |(prompt, words, temperature, seed, max_tokens, log_probabilities, exact, (work, lookup))| {
                let sampling = SamplingParams::default().temperature(temperature).seed(seed);
                let exact = (exact && temperature > 0.0).then(|| ExactSampling::default().tries(50));
                let options = GenerationOptions::default()
                    .sampling(sampling)
                    .exact(exact)
                    .max_tokens(max_tokens)
                    .end_tokens(vec![END])
                    .complete(false)
                    .prompt_lookup(lookup)
                    .overlap(true)
                    .log_probabilities(log_probabilities);
                Spec { prompt, words, work, options }
            },
        )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn random_schedules_equal_requests_alone(
        specs in proptest::collection::vec((spec(), 0..4_usize, proptest::option::weighted(0.1, 0..6_usize)), 1..12),
        batch in 1..6_usize,
        least_shared in prop_oneof![Just(1_usize), Just(16), Just(1_000)],
        prompt_tokens in prop_oneof![0..3_usize, 3..25_usize, Just(512)],
        kept_tokens in prop_oneof![Just(0_usize), 10..80_usize, Just(8_192)],
        failing in proptest::option::weighted(0.3, 1..20_usize),
    ) {
        let (bytes, mut model) = (Bytes::new(), model());
        model.failing = failing;
        let options = SchedulerOptions::default()
            .batch(batch)
            .least_shared(least_shared)
            .prompt_tokens(prompt_tokens)
            .kept_tokens(kept_tokens);
        let mut scheduler = Scheduler::new(&bytes, options);
        let mut coming = specs.iter();
        let mut next = coming.next();
        let mut submitted: BTreeMap<RequestId, (&Spec, Option<usize>)> = BTreeMap::new();
        let mut texts: BTreeMap<RequestId, (String, Vec<u32>)> = BTreeMap::new();
        let (mut wait, mut ended) = (0, 0);
        while next.is_some() || !scheduler.is_empty() {
            while let Some((spec, pause, cancelled)) = next && wait == 0 {
                submitted.insert(scheduler.submit(spec.request()).unwrap(), (spec, *cancelled));
                wait = *pause;
                next = coming.next();
            }
            wait = wait.saturating_sub(1);
            for (id, (spec, left)) in &mut submitted {
                *left = left.and_then(|left| left.checked_sub(1));
                if *left == Some(0) {
                    *left = None;
                    if let Some(cancelled) = scheduler.cancel(&mut model, *id) {
                        let alone = spec.alone();
                        // the last step may already have completed the output
                        let is_whole = (&cancelled.finish, &cancelled.tokens) == (&alone.finish, &alone.tokens);
                        prop_assert!(is_whole || cancelled.finish == FinishReason::Abandoned);
                        prop_assert!(alone.tokens.starts_with(&cancelled.tokens));
                    }
                }
            }
            let left = scheduler.step(&mut model, &mut |id, event| {
                let (text, tokens) = texts.entry(id).or_default();
                match event {
                    Event::Text(piece) => text.push_str(piece),
                    Event::Token(token) => tokens.push(token.id),
                    Event::Finished(_) => {}
                }
            });
            prop_assert!(scheduler.running() <= batch);
            for one in left {
                ended += 1;
                let generation = match one.result {
                    Ok(generation) => generation,
                    Err(error) => {
                        // the model failed although the request was fed alone
                        prop_assert_eq!(error.code(), "test/model");
                        prop_assert!(failing.is_some());
                        continue;
                    }
                };
                let alone = submitted[&one.id].0.alone();
                prop_assert_eq!(&generation.tokens, &alone.tokens);
                prop_assert_eq!(&generation.finish, &alone.finish);
                prop_assert_eq!(&generation.log_probabilities, &alone.log_probabilities);
                let told = texts.remove(&one.id).unwrap_or_default();
                prop_assert_eq!(told, (generation.text, generation.tokens));
            }
        }
        prop_assert!(ended <= specs.len());
        scheduler.close(&mut model);
        prop_assert!(model.sequences.is_empty(), "sequences are open");
    }
}

fn words(words: &[&str], prompt: &[u32]) -> Request<'static> {
    let options = GenerationOptions::default().end_tokens(vec![END]);
    Request::new(prompt.to_vec(), Some(Box::new(Words::new(words))), options)
}

/// Runs a scheduler until it is empty. Returns the text or the error code of each request, by its id.
fn run(scheduler: &mut Scheduler<'_>, model: &mut dyn Model) -> BTreeMap<String, Result<String, String>> {
    let mut results = BTreeMap::new();
    while !scheduler.is_empty() {
        for ended in scheduler.step(model, &mut |_, _| {}) {
            let result = ended.result.map(|generation| generation.text);
            results.insert(ended.id.to_string(), result.map_err(|error| error.code().to_owned()));
        }
    }
    results
}

#[test]
fn a_failing_request_fails_alone() {
    let (bytes, mut model) = (Bytes::new(), model());
    let mut scheduler = Scheduler::new(&bytes, SchedulerOptions::default());
    let mut stuck = Words::new(&["ab"]);
    stuck.taken = vec![1];
    scheduler.submit(words(&["first"], &[1])).unwrap();
    // the model does not have this token, and refuses the whole batch
    scheduler.submit(words(&["yes", "no"], &[1, 9_999])).unwrap();
    scheduler.submit(Request::new(vec![1], Some(Box::new(stuck)), GenerationOptions::default())).unwrap();
    scheduler.submit(words(&["a"], &[])).unwrap();
    scheduler.submit(words(&["last1", "last2"], &[2])).unwrap();
    let results = run(&mut scheduler, &mut model);
    let of = |number: &str| results[number].clone();
    assert_eq!(of("0"), Ok("first".to_owned()));
    assert_eq!(of("1"), Err("decode/token-range".to_owned()));
    assert_eq!(of("2"), Err("decode/empty-mask".to_owned()));
    assert_eq!(of("3"), Err("decode/empty-prompt".to_owned()));
    assert!(of("4").unwrap().starts_with("last"));
    assert_eq!(scheduler.statistics().failed_batches, 1);
    scheduler.close(&mut model);
    assert!(model.sequences.is_empty());
}

#[test]
fn a_full_queue_refuses_and_keeps_its_order() {
    let (bytes, mut model) = (Bytes::new(), model());
    let mut scheduler = Scheduler::new(&bytes, SchedulerOptions::default().batch(2).queue(3));
    for number in 0..3 {
        scheduler.submit(words(&["xa", "xb"], &[number])).unwrap();
    }
    let error = scheduler.submit(words(&["xa"], &[9])).unwrap_err();
    assert_eq!(error.code(), "decode/queue-full");
    assert!(error.to_string().contains("`queue` of `SchedulerOptions`"), "{error}");
    let mut begun = Vec::new();
    scheduler.step(&mut model, &mut |id, _| begun.push(id));
    assert_eq!((scheduler.running(), scheduler.waiting()), (2, 1));
    assert!(scheduler.has_room());
    let mut order = Vec::new();
    while !scheduler.is_empty() {
        order
            .extend(scheduler.step(&mut model, &mut |_, _| {}).into_iter().map(|ended| ended.id.to_string()));
    }
    assert_eq!(order, ["0", "1", "2"]);
    scheduler.close(&mut model);
}

#[test]
fn a_deadline_counts_the_wait() {
    let (bytes, mut model) = (Bytes::new(), model());
    let mut scheduler = Scheduler::new(&bytes, SchedulerOptions::default().batch(1));
    scheduler.submit(words(&["long text one", "long text two"], &[1])).unwrap();
    scheduler.submit(words(&["ab", "cd"], &[1]).deadline(Duration::ZERO)).unwrap();
    let generous = scheduler.submit(words(&["ab", "cd"], &[1]).deadline(Duration::from_secs(600))).unwrap();
    let ended = scheduler.step(&mut model, &mut |_, _| {});
    assert_eq!(ended.len(), 1, "the late request ends while the batch is full");
    let generation = ended[0].result.clone().unwrap();
    assert!(matches!(generation.finish, FinishReason::Timeout { .. }));
    assert_eq!((generation.text.as_str(), model.calls), ("", 1));
    let results = run(&mut scheduler, &mut model);
    assert_eq!(results[&generous.to_string()].as_ref().unwrap().len(), 2);
    scheduler.close(&mut model);
}

/// Samples of one prompt: the prompt is fed once, and a later turn of the conversation feeds only its new tokens.
#[test]
fn prefixes_are_fed_once() {
    let (bytes, mut model) = (Bytes::new(), model());
    let mut scheduler = Scheduler::new(&bytes, SchedulerOptions::default());
    let prompt: Vec<u32> = (0..100).collect();
    for _ in 0..5 {
        scheduler.submit(words(&["xa", "xb", "y"], &prompt)).unwrap();
    }
    run(&mut scheduler, &mut model);
    assert_eq!(scheduler.statistics().shared_tokens, 4 * 99);
    let fed: usize = model.fed.iter().map(Vec::len).sum();
    assert!(fed < 99 + 5 * 3, "{fed} tokens fed");
    model.fed.clear();
    let turn: Vec<u32> = prompt.iter().copied().chain([7; 20]).collect();
    scheduler.submit(words(&["z", "w"], &turn)).unwrap();
    run(&mut scheduler, &mut model);
    assert_eq!(model.fed[0].len(), 20);
    scheduler.close(&mut model);
    assert!(model.sequences.is_empty());
}

/// A long prompt is fed in parts, while a running sequence still gets a token in each step.
#[test]
fn a_long_prompt_is_fed_in_parts() {
    let (bytes, mut model) = (Bytes::new(), model());
    let options = SchedulerOptions::default().prompt_tokens(10);
    let mut scheduler = Scheduler::new(&bytes, options);
    let short = Request::new(vec![1], None, GenerationOptions::default().max_tokens(12));
    scheduler.submit(short).unwrap();
    scheduler.step(&mut model, &mut |_, _| {});
    let prompt: Vec<u32> = (0..65).map(|at| at % 7).collect();
    let long = scheduler.submit(words(&["a", "b"], &prompt)).unwrap();
    // a request with the same prompt waits for the cache of the first one
    let same = scheduler.submit(words(&["c", "d"], &prompt)).unwrap();
    let mut began = BTreeMap::new();
    for step in 0..12 {
        model.fed.clear();
        scheduler.step(&mut model, &mut |id, event| {
            if let Event::Token(_) = event {
                began.entry(id).or_insert(step);
            }
        });
        let most = model.fed.iter().map(Vec::len).max().unwrap_or(0);
        assert!(most <= 11, "step {step}: {most} tokens fed");
        let running = model.fed.iter().filter(|tokens| tokens.len() == 1).count();
        assert!(running >= 1 || step == 11, "step {step}: the short sequence is held up");
    }
    // six steps feed parts; the seventh feeds the rest and both last tokens, and the step after it reports the choices
    assert_eq!((began[&long], began[&same]), (7, 7));
    assert_eq!(scheduler.statistics().prompt_parts, 6);
    assert_eq!(scheduler.statistics().shared_tokens, 64);
    run(&mut scheduler, &mut model);
    scheduler.close(&mut model);
    assert!(model.sequences.is_empty());
}

/// On ONNX Runtime, where the sequences of a batch differ in length, the outputs of a schedule equal those of requests
/// alone.
#[cfg(feature = "ort")]
#[test]
fn schedules_of_a_network_equal_requests_alone() {
    use grammata_decode::ort::{ModelOptions, OrtModel};
    let load = || {
        let path = std::path::PathBuf::from(crate::ROOT).join("tests/data/tiny-decoder/model.onnx");
        let options = ModelOptions::default().threads(1).context_length(Some(128));
        OrtModel::load(&path, &options).unwrap_or_else(|error| panic!("{error}"))
    };
    let bytes = Bytes::new();
    let request = |number: u64| {
        let begin = (0..20).map(|at| (at * at * 7 + 5) % 320);
        let prompt: Vec<u32> = begin.chain((0..number as u32 % 4).map(|at| at * 31)).collect();
        let temperature = if number.is_multiple_of(3) { 0.0 } else { 1.0 };
        let sampling = SamplingParams::default().temperature(temperature).seed(number);
        let options = GenerationOptions::default().sampling(sampling).max_tokens(4 + number as usize % 9);
        Request::new(prompt, None, options)
    };
    let (mut model, mut alone) = (load(), load());
    let mut scheduler = Scheduler::new(&bytes, SchedulerOptions::default().batch(3));
    let mut outputs = BTreeMap::new();
    for number in 0..10 {
        scheduler.submit(request(number)).unwrap();
        for ended in scheduler.step(&mut model, &mut |_, _| {}) {
            outputs.insert(ended.id.to_string(), ended.result.unwrap().tokens);
        }
    }
    while !scheduler.is_empty() {
        for ended in scheduler.step(&mut model, &mut |_, _| {}) {
            outputs.insert(ended.id.to_string(), ended.result.unwrap().tokens);
        }
    }
    assert!(scheduler.statistics().shared_tokens > 100, "{:?}", scheduler.statistics());
    scheduler.close(&mut model);
    for number in 0..10 {
        let Request { prompt, options, .. } = request(number);
        let expected = generate(&mut alone, &bytes, None, &prompt, &options).unwrap();
        assert_eq!(outputs[&number.to_string()], expected.tokens, "request {number}");
    }
}
