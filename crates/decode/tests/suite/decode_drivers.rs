//! Beam search, best-of and speculative decoding, compared with references that feed every prefix from scratch, compute
//! their own softmax, and have the language as a list of words.

use crate::models::{Bytes, END, Function, TOKENS, Words};
use grammata::matcher::Constraint;
use grammata_decode::{
    BeamOptions, Decoder, Draft, Event, FinishReason, ForcedDraft, Generation, GenerationOptions, NgramDraft,
    OutputStatus, SamplingParams, beam_search, best_of, generate, run_together, speculative,
};
use proptest::prelude::*;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};

/// Returns the logits after a sequence.
pub(crate) type LogitsOf<'a> = Box<dyn FnMut(&[u32]) -> Vec<f32> + Send + 'a>;

/// A reference: the token that ends a sequence, the bytes of each token, the words of the language, the logits after a
/// sequence, and the context length.
pub(crate) struct Reference<'a> {
    pub(crate) end: u32,
    pub(crate) bytes: Vec<Vec<u8>>,
    pub(crate) words: Vec<Vec<u8>>,
    pub(crate) logits: LogitsOf<'a>,
    pub(crate) context: usize,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Expected {
    pub(crate) tokens: Vec<u32>,
    pub(crate) log_probability: f64,
    pub(crate) finish: Option<FinishReason>,
}

impl Reference<'_> {
    fn text(&self, tokens: &[u32]) -> Vec<u8> {
        tokens.iter().filter(|&&t| t != self.end).flat_map(|&t| self.bytes[t as usize].clone()).collect()
    }

    fn is_word(&self, text: &[u8]) -> bool {
        self.words.iter().any(|word| word == text)
    }

    /// Returns the tokens that extend the text to a prefix of a word, and the end token if the text is a word.
    pub(crate) fn allowed(&self, tokens: &[u32]) -> Vec<u32> {
        let text = self.text(tokens);
        let follows = |token: &u32| {
            if *token == self.end {
                return self.is_word(&text);
            }
            let longer = [&text[..], &self.bytes[*token as usize]].concat();
            longer.len() > text.len() && self.words.iter().any(|word| word.starts_with(&longer))
        };
        (0..self.bytes.len() as u32).filter(follows).collect()
    }

    pub(crate) fn finish(&self, tokens: &[u32], prompt: usize, most: usize) -> Option<FinishReason> {
        if tokens.last() == Some(&self.end) {
            return Some(FinishReason::EndOfSequence);
        }
        let text = self.text(tokens);
        let longer = self.words.iter().any(|word| word.len() > text.len() && word.starts_with(&text));
        if self.is_word(&text) && !longer {
            return Some(FinishReason::Complete);
        }
        let status = if self.is_word(&text) { OutputStatus::Word } else { OutputStatus::Prefix };
        if tokens.len() == most {
            return Some(FinishReason::TokenLimit { limit: most, status });
        }
        let limit = self.context;
        (prompt + tokens.len() == limit).then_some(FinishReason::ContextLimit { limit, status })
    }

    /// Returns the logits after a sequence, and the logarithm of the sum of their exponentials.
    fn row(&mut self, prompt: &[u32], tokens: &[u32]) -> (Vec<f32>, f64) {
        let row = (self.logits)(&[prompt, tokens].concat());
        let sum: f64 = row.iter().map(|&logit| f64::from(logit).exp()).sum();
        (row, sum.ln())
    }

    pub(crate) fn beams(
        &mut self,
        prompt: &[u32],
        width: usize,
        exponent: f64,
        most: usize,
    ) -> Vec<Expected> {
        let score = |e: &Expected| e.log_probability / (e.tokens.len().max(1) as f64).powf(exponent);
        let finish = self.finish(&[], prompt.len(), most);
        let mut beams = vec![Expected { tokens: vec![], log_probability: 0.0, finish }];
        while beams.iter().any(|beam| beam.finish.is_none()) {
            // ended hypotheses come first, so that the stable sort ranks them before others with the same score
            let (mut next, live): (Vec<Expected>, Vec<Expected>) =
                beams.into_iter().partition(|beam| beam.finish.is_some());
            for beam in live {
                let (row, sum) = self.row(prompt, &beam.tokens);
                for token in self.allowed(&beam.tokens) {
                    let tokens = [&beam.tokens[..], &[token]].concat();
                    let log_probability = beam.log_probability + f64::from(row[token as usize]) - sum;
                    let finish = self.finish(&tokens, prompt.len(), most);
                    next.push(Expected { tokens, log_probability, finish });
                }
            }
            next.sort_by(|a, b| score(b).total_cmp(&score(a)));
            next.truncate(width);
            beams = next;
        }
        beams
    }

    /// Returns one sample at a temperature; at temperature 0, the most probable token is chosen at each step.
    pub(crate) fn sample(&mut self, prompt: &[u32], seed: u64, temperature: f64, most: usize) -> Expected {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut sampled = Expected { tokens: vec![], log_probability: 0.0, finish: None };
        loop {
            sampled.finish = self.finish(&sampled.tokens, prompt.len(), most);
            if sampled.finish.is_some() {
                return sampled;
            }
            let (row, sum) = self.row(prompt, &sampled.tokens);
            let allowed = self.allowed(&sampled.tokens);
            let logit = |token: u32| f64::from(row[token as usize]);
            let mut token = allowed[0];
            if temperature == 0.0 {
                allowed.iter().for_each(|&t| token = if logit(t) > logit(token) { t } else { token });
            } else if allowed.len() > 1 {
                let weights: Vec<f64> = allowed.iter().map(|&t| (logit(t) / temperature).exp()).collect();
                let unit = (random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
                let mut left = unit * weights.iter().sum::<f64>();
                let place = weights.iter().position(|weight| {
                    left -= weight;
                    left < 0.0
                });
                token = allowed[place.unwrap_or(allowed.len() - 1)];
            }
            sampled.log_probability += logit(token) - sum;
            sampled.tokens.push(token);
        }
    }

    /// Returns `count` samples with the seeds from `seed` on, the best score first. A score is the log-probability,
    /// divided by the number of tokens to the power of `exponent`.
    pub(crate) fn best_of(
        &mut self,
        prompt: &[u32],
        seed: u64,
        temperature: f64,
        most: usize,
        count: usize,
        exponent: f64,
    ) -> Vec<Expected> {
        let score = |e: &Expected| e.log_probability / (e.tokens.len().max(1) as f64).powf(exponent);
        let seeds = seed..seed + count as u64;
        let mut all: Vec<Expected> = seeds.map(|seed| self.sample(prompt, seed, temperature, most)).collect();
        all.sort_by(|a, b| score(b).total_cmp(&score(a)));
        all
    }
}

#[track_caller]
pub(crate) fn assert_same(found: &[Expected], expected: &[Expected], tolerance: f64) {
    let short =
        |all: &[Expected]| all.iter().map(|e| (e.tokens.clone(), e.finish.clone())).collect::<Vec<_>>();
    assert_eq!(short(found), short(expected));
    for (found, expected) in found.iter().zip(expected) {
        assert!(
            (found.log_probability - expected.log_probability).abs() < tolerance,
            "{found:?}, {expected:?}"
        );
    }
}

pub(crate) fn of_generation(generation: &Generation) -> Expected {
    Expected {
        tokens: generation.tokens.clone(),
        log_probability: generation.log_probability(),
        finish: Some(generation.finish.clone()),
    }
}

/// Returns logits from 0 to below 6 that depend on every token of the sequence.
pub(crate) fn hashed(seed: u64, sequence: &[u32]) -> Vec<f32> {
    let mix = |hash: u64, next: u64| (hash ^ next).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29);
    let hash = sequence.iter().fold(seed, |hash, &token| mix(hash, u64::from(token) + 1));
    (0..TOKENS as u64).map(|token| (mix(mix(hash, token), 7) >> 40) as f32 / (1 << 24) as f32 * 6.0).collect()
}

fn model(seed: u64, context: usize) -> Function<impl FnMut(&[u32]) -> Vec<f32> + Send> {
    let mut model = Function::new(TOKENS, move |sequence| hashed(seed, sequence));
    model.context = Some(context);
    model
}

fn reference(seed: u64, words: &[&str], context: usize) -> Reference<'static> {
    Reference {
        end: END,
        bytes: (0..=255).map(|byte| vec![byte]).chain([vec![]]).collect(),
        words: words.iter().map(|word| word.as_bytes().to_vec()).collect(),
        logits: Box::new(move |sequence| hashed(seed, sequence)),
        context,
    }
}

const LANGUAGES: [&[&str]; 5] = [
    &["a", "ab", "abc", "abd", "b", "bcd", "bce", "xxxxxxxy", "xxxxxxxz"],
    &["aa", "ab", "ba", "bb", "aaa", "aab", "bba", "bbb", "abab", "baba", "abba", "baab"],
    &["", "1", "12", "123", "1234", "2", "23", "3"],
    &["only one way"],
    &["{\"a\":1}", "{\"a\":2}", "{\"b\":1}", "{\"b\":12}", "{}"],
];

fn seed_and_language() -> impl Strategy<Value = (u64, &'static [&'static str])> {
    (any::<u64>(), (0..LANGUAGES.len()).prop_map(|language| LANGUAGES[language]))
}

fn limits() -> impl Strategy<Value = (usize, usize)> {
    (prop_oneof![3 => Just(50_usize), 1 => 0..6_usize], prop_oneof![3 => Just(100_usize), 1 => 3..9_usize])
}

const PROMPT: [u32; 2] = [62, 62];

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn beams_are_those_of_the_reference(
        (seed, words) in seed_and_language(),
        (max_tokens, context) in limits(),
        width in 1..7_usize,
        length_exponent in prop_oneof![Just(0.0), Just(1.0), Just(0.5)],
    ) {
        let mut model = model(seed, context);
        let options =
            BeamOptions::default().width(width).length_exponent(length_exponent).max_tokens(max_tokens).end_tokens(vec![END]);
        let constraint = Words::new(words);
        let found = beam_search(&mut model, &Bytes::new(), Some(&constraint), &PROMPT, &options).unwrap();
        prop_assert!(model.sequences.is_empty());
        let expected = reference(seed, words, context).beams(&PROMPT, width, length_exponent, max_tokens);
        for hypothesis in &found {
            let text = hypothesis.tokens.iter().filter(|&&t| t != END).map(|&t| t as u8).collect();
            prop_assert_eq!(&hypothesis.text, &String::from_utf8(text).unwrap());
            let length = hypothesis.tokens.len().max(1) as f64;
            prop_assert_eq!(hypothesis.score, hypothesis.log_probability / length.powf(length_exponent));
        }
        let found: Vec<Expected> = found
            .into_iter()
            .map(|h| Expected { tokens: h.tokens, log_probability: h.log_probability, finish: Some(h.finish) })
            .collect();
        assert_same(&found, &expected, 1e-9);
    }

    #[test]
    fn a_wide_beam_finds_every_word(seed: u64) {
        let words = LANGUAGES[1];
        let options =
            BeamOptions::default().width(40).max_tokens(9).end_tokens(vec![END]);
        let constraint = Words::new(words);
        let found = beam_search(&mut model(seed, 99), &Bytes::new(), Some(&constraint), &PROMPT, &options).unwrap();
        let mut texts: Vec<&str> = found.iter().map(|hypothesis| hypothesis.text.as_str()).collect();
        texts.sort_unstable();
        let mut all = words.to_vec();
        all.sort_unstable();
        prop_assert_eq!(texts, all);
        prop_assert!(found.is_sorted_by(|a, b| a.log_probability >= b.log_probability));
    }

    #[test]
    fn the_best_samples_are_those_of_the_reference(
        (seed, words) in seed_and_language(),
        (max_tokens, context) in limits(),
        temperature in prop_oneof![Just(1.0_f32), Just(0.5), Just(2.0)],
        exponent in prop_oneof![Just(0.0), Just(1.0)],
    ) {
        let seed = seed >> 8;
        let mut model = model(seed, context);
        let sampling = SamplingParams::default().temperature(temperature).seed(seed);
        let options = GenerationOptions::default().max_tokens(max_tokens).sampling(sampling).end_tokens(vec![END]);
        let constraint = Words::new(words);
        let found = best_of(&mut model, &Bytes::new(), Some(&constraint), &PROMPT, &options, 8, exponent).unwrap();
        prop_assert!(model.sequences.is_empty());
        let found: Vec<Expected> = found.iter().map(of_generation).collect();
        let mut reference = reference(seed, words, context);
        let expected = reference.best_of(&PROMPT, seed, f64::from(temperature), max_tokens, 8, exponent);
        assert_same(&found, &expected, 1e-9);
    }

    #[test]
    fn drafts_change_nothing_but_the_number_of_runs(
        (seed, words) in seed_and_language(),
        (max_tokens, context) in limits(),
        temperature in prop_oneof![Just(0.0_f32), Just(1.0)],
        log_probabilities: bool,
        constrained: bool,
        most in 1..6_usize,
        (right, stray) in (0..100_u64, any::<u64>()),
    ) {
        let sampling = SamplingParams::default().temperature(temperature).seed(seed);
        let options = GenerationOptions::default().max_tokens(max_tokens.min(20)).sampling(sampling).end_tokens(vec![END]).log_probabilities(log_probabilities);
        let (mut one, mut two) = (Words::new(words), Words::new(words));
        let plain = {
            let constraint = constrained.then_some(&mut one as &mut dyn Constraint);
            generate(&mut model(seed, context), &Bytes::new(), constraint, &PROMPT, &options).unwrap()
        };
        let mut target = model(seed, context);
        let mut draft = Oracle { tokens: plain.tokens.clone(), right, random: stray };
        let drafted = {
            let constraint = constrained.then_some(&mut two as &mut dyn Constraint);
            speculative(&mut target, &Bytes::new(), constraint, &PROMPT, &options, &mut draft, most).unwrap()
        };
        prop_assert!(target.sequences.is_empty());
        prop_assert_eq!((&drafted.tokens, &drafted.text, &drafted.finish), (&plain.tokens, &plain.text, &plain.finish));
        prop_assert_eq!(&drafted.log_probabilities, &plain.log_probabilities);
        prop_assert_eq!(one.taken, two.taken);
        prop_assert!(drafted.timings.accepted_tokens <= drafted.timings.drafted_tokens);
        if log_probabilities {
            prop_assert_eq!(plain.log_probabilities.len(), plain.tokens.len());
            if constrained {
                let sum = reference(seed, words, context).sample(&PROMPT, seed, f64::from(temperature), max_tokens.min(20));
                assert_same(&[of_generation(&drafted)], &[sum], 1e-9);
            }
        }
        // a draft that is always right saves runs of the model
        if right == 99 && !constrained && plain.tokens.len() > 2 {
            prop_assert!(drafted.timings.model_steps < plain.timings.model_steps);
        }
    }
}

/// A draft that proposes the tokens of a generation without drafts, some of them replaced at random.
pub(crate) struct Oracle {
    pub(crate) tokens: Vec<u32>,
    /// How many of 99 proposed tokens are right, on average.
    pub(crate) right: u64,
    pub(crate) random: u64,
}

impl Draft for Oracle {
    fn propose(
        &mut self,
        tokens: &[u32],
        _: Option<&mut dyn Constraint>,
        most: usize,
    ) -> grammata::Result<Vec<u32>> {
        let rest = self.tokens.get(tokens.len() - PROMPT.len()..).unwrap_or_default();
        let mut proposed: Vec<u32> = rest.iter().copied().take(most).collect();
        for token in &mut proposed {
            self.random = self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            if (self.random >> 33) % 99 >= self.right {
                *token = (self.random >> 40) as u32 % 300;
            }
        }
        Ok(proposed)
    }
}

#[test]
fn failures_close_every_sequence() {
    let constraint = Words::new(LANGUAGES[1]);
    let beam = BeamOptions::default().end_tokens(vec![END]);
    let sampling = SamplingParams::default().temperature(1.0);
    let options = GenerationOptions::default().sampling(sampling).end_tokens(vec![END]);
    for failing in 1..4 {
        let failing_model = || {
            let mut model = model(5, 99);
            model.failing = Some(failing);
            model
        };
        let mut model = failing_model();
        let error = beam_search(&mut model, &Bytes::new(), Some(&constraint), &PROMPT, &beam).unwrap_err();
        assert_eq!((error.code(), model.sequences.len()), ("test/model", 0));
        let mut model = failing_model();
        let error =
            best_of(&mut model, &Bytes::new(), Some(&constraint), &PROMPT, &options, 8, 0.0).unwrap_err();
        assert_eq!((error.code(), model.sequences.len()), ("test/model", 0));
        let mut model = failing_model();
        let unconstrained = options.clone().max_tokens(9);
        let error = generate(&mut model, &Bytes::new(), None, &PROMPT, &unconstrained).unwrap_err();
        assert_eq!((error.code(), model.sequences.len()), ("test/model", 0));
    }
}

#[test]
fn after_a_failure_of_the_model_a_decoder_goes_on() {
    let options = GenerationOptions::default().max_tokens(12).log_probabilities(true).end_tokens(vec![END]);
    let expected = generate(&mut model(9, 99), &Bytes::new(), None, &PROMPT, &options).unwrap();
    for failing in 1..8 {
        for drafted in [false, true] {
            let mut model = model(9, 99);
            model.failing = Some(failing);
            let bytes = Bytes::new();
            let mut draft = Oracle { tokens: expected.tokens.clone(), right: 70, random: failing as u64 };
            let mut decoder = Decoder::new(&mut model, &bytes, None, &PROMPT, &options).unwrap();
            let mut failures = 0;
            loop {
                let event = match drafted {
                    true => decoder.next_drafted(&mut model, &mut draft, 3),
                    false => decoder.next(&mut model),
                };
                match event {
                    Ok(Event::Finished(_)) => break,
                    Ok(_) => {}
                    Err(error) => {
                        assert_eq!(error.code(), "test/model");
                        failures += 1;
                    }
                }
            }
            assert!(failures == 1 || drafted);
            let generation = decoder.close(&mut model);
            assert_eq!(generation.tokens, expected.tokens);
            assert_eq!(generation.log_probabilities, expected.log_probabilities);
        }
    }
}

#[test]
fn decoders_in_batches_equal_decoders_alone() {
    let bytes = Bytes::new();
    let mut model = model(3, 17);
    let cases: Vec<(&[&str], Vec<u32>, GenerationOptions)> = LANGUAGES
        .iter()
        .enumerate()
        .map(|(i, &words)| {
            let sampling = SamplingParams::default().temperature(1.0).seed(i as u64);
            let log_probabilities = i % 2 == 0;
            let options = GenerationOptions::default()
                .sampling(sampling)
                .end_tokens(vec![END])
                .log_probabilities(log_probabilities);
            // the context of the last request is full before its word ends
            (words, vec![7; 1 + 2 * i], options)
        })
        .collect();
    let mut decoders: Vec<Decoder<'_>> = cases
        .iter()
        .map(|(words, prompt, options)| {
            let constraint: Box<dyn Constraint> = Box::new(Words::new(words));
            Decoder::new(&mut model, &bytes, Some(constraint), prompt, options).unwrap()
        })
        .collect();
    // a request that fails because nothing continues the tokens that its constraint has accepted
    let mut stuck = Words::new(&["ab"]);
    stuck.taken = vec![1];
    decoders.push(
        Decoder::new(&mut model, &bytes, Some(Box::new(stuck)), &[7], &GenerationOptions::default()).unwrap(),
    );
    let mut last = vec![None; decoders.len()];
    run_together(&mut model, &mut decoders, &mut |place, event| last[place] = Some(event)).unwrap();
    assert_eq!(last.pop().unwrap().unwrap().unwrap_err().code(), "decode/empty-mask");
    let calls = model.calls;
    let together: Vec<Generation> = decoders.into_iter().map(|decoder| decoder.close(&mut model)).collect();
    assert!(model.sequences.is_empty());
    let mut alone_calls = 0;
    let mut full = 0;
    for (((words, prompt, options), together), last) in cases.iter().zip(&together).zip(last) {
        let mut alone = self::model(3, 17);
        let mut constraint = Words::new(words);
        let generation = generate(&mut alone, &bytes, Some(&mut constraint), prompt, options).unwrap();
        assert_eq!((&together.tokens, &together.finish), (&generation.tokens, &generation.finish));
        assert_eq!(together.log_probabilities, generation.log_probabilities);
        assert_eq!(last, Some(Ok(Event::Finished(generation.finish.clone()))));
        full += usize::from(matches!(generation.finish, FinishReason::ContextLimit { .. }));
        alone_calls = alone_calls.max(alone.calls);
    }
    assert_eq!(full, 1, "one context is full in the middle, and the others go on");
    assert_eq!(calls, alone_calls, "as many runs as the longest takes alone");
}

#[test]
fn drafts_of_each_kind() {
    let words = Words::new(&["ab", "ac"]);
    let propose = |draft: &mut dyn Draft, tokens: &[u32], constraint: Option<&Words>, most: usize| {
        let mut constraint = constraint.cloned();
        let constraint = constraint.as_mut().map(|c| c as &mut dyn Constraint);
        draft.propose(tokens, constraint, most).unwrap()
    };
    let ngram = &mut NgramDraft::default();
    assert_eq!(propose(ngram, &[1, 2, 3, 4, 1, 2, 3], None, 9), [4, 1, 2, 3]);
    assert_eq!(propose(ngram, &[1, 2, 3, 4, 1, 2, 3], None, 2), [4, 1]);
    assert_eq!(propose(ngram, &[9, 2, 5, 8, 2, 6, 7, 2], None, 1), [6], "the latest occurrence");
    assert_eq!(propose(ngram, &[5, 5, 5], None, 4), [5], "an occurrence may overlap the end");
    for none in [&[][..], &[1], &[1, 2, 3]] {
        assert!(propose(ngram, none, None, 3).is_empty());
    }
    let (a, b, x) = (u32::from(b'a'), u32::from(b'b'), u32::from(b'x'));
    assert_eq!(propose(ngram, &[x, a, b, x, x], Some(&words), 3), [] as [u32; 0]);
    assert_eq!(propose(ngram, &[x, a, b, a, x], Some(&words), 3), [a, b]);
    // a constraint that does not report forced tokens
    assert!(propose(&mut ForcedDraft, &[x], Some(&words), 3).is_empty());
}

#[test]
fn settings_of_beams_are_checked() {
    let of = |options: BeamOptions| {
        beam_search(&mut model(1, 9), &Bytes::new(), None, &PROMPT, &options).map(|_| ()).unwrap_err()
    };
    assert_eq!(of(BeamOptions::default().width(0)).code(), "decode/beam");
    assert_eq!(of(BeamOptions::default().length_exponent(f64::NAN)).code(), "decode/beam");
    assert_eq!(of(BeamOptions::default().stop(vec![String::new()])).code(), "decode/empty-stop");
    let long = beam_search(&mut model(1, 2), &Bytes::new(), None, &PROMPT, &BeamOptions::default());
    assert_eq!(long.unwrap_err().code(), "decode/prompt-too-long");
}

#[test]
fn a_stop_string_ends_a_hypothesis() {
    let words = Words::new(&["one stop here", "one go on", "two stop"]);
    let options = BeamOptions::default().width(8).stop(vec![" stop".to_owned()]).end_tokens(vec![END]);
    let found = beam_search(&mut model(2, 99), &Bytes::new(), Some(&words), &PROMPT, &options).unwrap();
    let mut texts: Vec<(String, bool)> =
        found.into_iter().map(|h| (h.text, matches!(h.finish, FinishReason::StopString { .. }))).collect();
    texts.sort();
    assert_eq!(texts, [("one".to_owned(), true), ("one go on".to_owned(), false), ("two".to_owned(), true)]);
}

#[test]
fn dead_ends_are_errors_only_where_nothing_is_left() {
    // after "a" all logits are NaN; after "b" they are finite
    let mut model = Function::new(TOKENS, |sequence: &[u32]| {
        let dead = sequence.last() == Some(&u32::from(b'a'));
        vec![if dead { f32::NAN } else { 1.0 }; TOKENS]
    });
    let options = BeamOptions::default().end_tokens(vec![END]);
    let both = Words::new(&["ax", "ay", "bx", "by"]);
    let found = beam_search(&mut model, &Bytes::new(), Some(&both), &PROMPT, &options).unwrap();
    assert_eq!(found.iter().map(|h| h.text.as_str()).collect::<Vec<_>>(), ["bx", "by"]);
    let dead = Words::new(&["ax", "ay"]);
    let error = beam_search(&mut model, &Bytes::new(), Some(&dead), &PROMPT, &options).unwrap_err();
    assert_eq!((error.code(), model.sequences.len()), ("decode/no-candidate", 0));
}
