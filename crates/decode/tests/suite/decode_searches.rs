//! Beam search, best-of and speculation with a tiny decoder on ONNX Runtime under compiled grammars. The results are
//! compared with the references of `decode_drivers`, which feed every prefix from scratch and have the language as a
//! list of words.
#![cfg(feature = "ort")]

use crate::decode_drivers::{Expected, Reference, assert_same, of_generation};
use grammata::matcher::Constraint;
use grammata::syntax::regex;
use grammata::vocabulary::{LoadOptions, TokenId, Vocabulary};
use grammata::{Compiler, Matcher};
use grammata_decode::ort::{ModelOptions, OrtModel};
use grammata_decode::{
    BeamOptions, Draft, Feed, ForcedDraft, GenerationOptions, Model, NgramDraft, Rows, SamplingParams,
    beam_search, best_of, generate, speculative,
};
use std::path::PathBuf;
use std::sync::Arc;

const CONTEXT: usize = 128;
const END: u32 = 2;

fn data(name: &str) -> PathBuf {
    PathBuf::from(crate::ROOT).join("tests/data/tiny-decoder").join(name)
}

fn load(name: &str, max_batch: usize, on_device: bool) -> OrtModel {
    let options = ModelOptions::default()
        .threads(1)
        .context_length(Some(CONTEXT))
        .max_batch(max_batch)
        .on_device(Some(on_device));
    OrtModel::load(&data(name), &options).unwrap_or_else(|error| panic!("{error}"))
}

fn vocabulary() -> Arc<Vocabulary> {
    let options = LoadOptions::default().eos(vec![TokenId::new(END)]);
    Arc::new(Vocabulary::from_file(data("tokenizer.json"), &options).unwrap())
}

fn matcher(vocabulary: &Arc<Vocabulary>, pattern: &str) -> Matcher {
    let grammar = regex::compile(pattern, &regex::Options::default()).unwrap();
    Compiler::new(Arc::clone(vocabulary)).compile(&grammar).unwrap().matcher()
}

/// Returns a reference that takes the logits from the model, and feeds every sequence from scratch.
fn reference(vocabulary: &Vocabulary, words: &[String]) -> Reference<'static> {
    let mut model = load("model.onnx", 1, false);
    let logits = move |tokens: &[u32]| {
        let sequence = model.open().unwrap();
        let feed = Feed { sequence, tokens, rows: Rows::Last };
        let row = model.feed(&[feed]).unwrap().row(0, &mut vec![]).unwrap().to_vec();
        model.close(sequence);
        row
    };
    let bytes = |id: u32| vocabulary.bytes(TokenId::new(id)).unwrap_or_default().to_vec();
    Reference {
        end: END,
        bytes: (0..320).map(bytes).collect(),
        words: words.iter().map(|word| word.as_bytes().to_vec()).collect(),
        logits: Box::new(logits),
        context: CONTEXT,
    }
}

/// Returns patterns with all their words. Tokens of more than one byte (`the`, `ing`, `true`) give a text several
/// spellings.
fn languages() -> Vec<(&'static str, Vec<String>)> {
    let words = |all: &[&str]| all.iter().map(|&word| word.to_owned()).collect::<Vec<String>>();
    let pairs = ["a", "e", "i", "o"].map(|a| ["n", "nd", "r", "ring"].map(|b| format!("th{a}{b}")));
    vec![
        ("yes|no|perhaps|not|nothing", words(&["yes", "no", "perhaps", "not", "nothing"])),
        ("th[aeio](n|nd|r|ring)", pairs.concat()),
        (
            r#"\{"(a|the)": ?(true|false|null)\}"#,
            ["a", "the"]
                .iter()
                .flat_map(|name| ["true", "false", "null"].map(|value| (name, value)))
                .flat_map(|(name, value)| {
                    [format!("{{\"{name}\":{value}}}"), format!("{{\"{name}\": {value}}}")]
                })
                .collect(),
        ),
    ]
}

fn prompts() -> [Vec<u32>; 2] {
    [vec![1, 72, 101, 108, 108, 111], (0..40).map(|i| (i * i + 11) % 320).collect()]
}

#[test]
fn a_beam_of_width_4_is_that_of_the_reference() {
    let vocabulary = vocabulary();
    for (pattern, words) in languages() {
        let mut reference = reference(&vocabulary, &words);
        let matcher = matcher(&vocabulary, pattern);
        for prompt in prompts() {
            for length_exponent in [0.0, 1.0] {
                let expected = reference.beams(&prompt, 4, length_exponent, 30);
                for (max_batch, on_device) in [(32, false), (1, false), (3, true)] {
                    let mut model = load("model.onnx", max_batch, on_device);
                    let options = BeamOptions::default()
                        .length_exponent(length_exponent)
                        .max_tokens(30)
                        .end_tokens(vec![END]);
                    let found =
                        beam_search(&mut model, &*vocabulary, Some(&matcher), &prompt, &options).unwrap();
                    assert_eq!(found.len(), 4);
                    assert!(found.iter().all(|hypothesis| words.contains(&hypothesis.text)), "{found:?}");
                    let of = |h: &grammata_decode::Hypothesis| Expected {
                        tokens: h.tokens.clone(),
                        log_probability: h.log_probability,
                        finish: Some(h.finish.clone()),
                    };
                    assert_same(&found.iter().map(of).collect::<Vec<_>>(), &expected, 1e-4);
                }
            }
        }
    }
}

#[test]
fn the_best_of_8_is_that_of_the_reference() {
    let vocabulary = vocabulary();
    for (pattern, words) in languages() {
        let mut reference = reference(&vocabulary, &words);
        let matcher = matcher(&vocabulary, pattern);
        for (prompt, seed) in prompts().iter().zip([1, 77]) {
            let expected = reference.best_of(prompt, seed, 1.5, 30, 8, 1.0);
            for max_batch in [32, 1] {
                let mut model = load("model.onnx", max_batch, false);
                let sampling = SamplingParams::default().temperature(1.5).seed(seed);
                let options =
                    GenerationOptions::default().max_tokens(30).sampling(sampling).end_tokens(vec![END]);
                let found =
                    best_of(&mut model, &*vocabulary, Some(&matcher), prompt, &options, 8, 1.0).unwrap();
                assert_same(&found.iter().map(of_generation).collect::<Vec<_>>(), &expected, 1e-4);
            }
        }
    }
}

/// A draft that knows the output.
struct Known {
    /// number of tokens of the prompt
    prompt: usize,
    output: Vec<u32>,
    /// Every token whose place in the output is a multiple of this number is wrong.
    wrong: usize,
}

impl Draft for Known {
    fn propose(
        &mut self,
        tokens: &[u32],
        _: Option<&mut dyn Constraint>,
        most: usize,
    ) -> grammata::Result<Vec<u32>> {
        let proposed = (1..).zip(&self.output).skip(tokens.len() - self.prompt).take(most);
        let token =
            |(place, &token): (usize, &u32)| if place % self.wrong == 0 { (token + 1) % 320 } else { token };
        Ok(proposed.map(token).collect())
    }
}

#[test]
fn speculative_output_is_greedy_output() {
    let vocabulary = vocabulary();
    let patterns =
        [Some(r#"\{"name": "[a-z ]{1,40}", "the": (true|false)(, "and": \[(1|2|, ){1,9}\])?\}"#), None];
    let mut model = load("model.onnx", 32, false);
    for (pattern, prompt) in
        patterns.into_iter().flat_map(|pattern| prompts().map(|prompt| (pattern, prompt)))
    {
        for temperature in [0.0, 1.0] {
            let sampling = SamplingParams::default().temperature(temperature);
            let options =
                GenerationOptions::default().max_tokens(60).sampling(sampling).end_tokens(vec![END]);
            let start = || pattern.map(|pattern| matcher(&vocabulary, pattern));
            let mut constraint = start();
            let constraint = constraint.as_mut().map(|c| c as &mut dyn Constraint);
            let plain = generate(&mut model, &*vocabulary, constraint, &prompt, &options).unwrap();
            let known = |wrong| Known { prompt: prompt.len(), output: plain.tokens.clone(), wrong };
            let (mut right, mut part) = (known(usize::MAX), known(3));
            let drafts: [(&str, &mut dyn Draft); 4] = [
                ("n-grams", &mut NgramDraft::default()),
                ("forced", &mut ForcedDraft),
                ("all right", &mut right),
                ("a third wrong", &mut part),
            ];
            for (name, draft) in drafts {
                for most in [1, 4, 16] {
                    let mut constraint = start();
                    let constraint = constraint.as_mut().map(|c| c as &mut dyn Constraint);
                    let found =
                        speculative(&mut model, &*vocabulary, constraint, &prompt, &options, draft, most);
                    let found = found.unwrap();
                    assert_eq!(found.tokens, plain.tokens, "{name}, {most}");
                    assert_eq!((found.text, found.finish), (plain.text.clone(), plain.finish.clone()));
                    let timings = found.timings;
                    if name == "all right" {
                        assert_eq!(timings.accepted_tokens, timings.drafted_tokens, "{timings:?}");
                        assert!(timings.model_steps <= plain.timings.model_steps / (most + 1) + 4);
                    }
                }
            }
        }
    }
}

#[test]
fn a_full_context_in_the_middle_ends_all_searches() {
    let vocabulary = vocabulary();
    let long = matcher(&vocabulary, "[a-z]{300}");
    let prompt: Vec<u32> = (0..120).map(|i| 3 + i % 90).collect();
    let mut model = load("model.onnx", 32, false);
    let beam = BeamOptions::default().end_tokens(vec![END]).complete(false);
    let found = beam_search(&mut model, &*vocabulary, Some(&long), &prompt, &beam).unwrap();
    assert!(found.iter().all(|h| h.tokens.len() == 8 && h.finish.to_string().contains("context of 128")));
    let sampling = SamplingParams::default().temperature(1.0);
    let options = GenerationOptions::default().sampling(sampling).end_tokens(vec![END]).complete(false);
    let found = best_of(&mut model, &*vocabulary, Some(&long), &prompt, &options, 4, 0.0).unwrap();
    assert!(found.iter().all(|g| g.tokens.len() == 8 && g.finish.to_string().contains("context of 128")));
    let mut draft = NgramDraft::default();
    let mut constraint = long.fork();
    let found =
        speculative(&mut model, &*vocabulary, Some(&mut constraint), &prompt, &options, &mut draft, 16)
            .unwrap();
    assert!(found.tokens.len() == 8 && found.finish.to_string().contains("context of 128"));
}

#[test]
fn a_matcher_is_a_constraint() {
    let vocabulary = vocabulary();
    let mut matcher = matcher(&vocabulary, "the (yes|no|none)!");
    let constraint: &mut dyn Constraint = &mut matcher;
    let mask = |constraint: &mut dyn Constraint| {
        let mut words = vec![0; 10];
        constraint.fill_mask(&mut words).unwrap();
        words
    };
    let start = mask(constraint);
    let forced = constraint.forced_tokens().unwrap();
    let text: Vec<u8> =
        forced.iter().flat_map(|&t| vocabulary.bytes(TokenId::new(t)).unwrap_or_default().to_vec()).collect();
    assert!(!text.is_empty() && b"the ".starts_with(&text), "{text:?}");
    forced.iter().for_each(|&token| constraint.accept_token(token).unwrap());
    let after = mask(constraint);
    assert_ne!(after, start);
    let mut fork = constraint.fork();
    constraint.rollback(forced.len()).unwrap();
    assert_eq!(mask(constraint), start);
    assert_eq!(mask(&mut *fork), after, "a fork stays where it is");
    assert!(fork.rollback(forced.len() + 1).is_err());
    assert_eq!(mask(&mut *fork), after);
}

#[test]
fn a_beam_repeats_no_sequence_of_the_length_that_it_is_told() {
    let vocabulary = vocabulary();
    let mut model = load("model.onnx", 32, false);
    let repeats = |tokens: &[u32], length: usize| {
        let windows: Vec<&[u32]> = tokens.windows(length).collect();
        (1..windows.len()).any(|at| windows[..at].contains(&windows[at]))
    };
    let prompt = &prompts()[0];
    let mut with = |no_repeat: usize| {
        let options = BeamOptions::default().max_tokens(40).no_repeat(no_repeat);
        beam_search(&mut model, &*vocabulary, None, prompt, &options).unwrap()
    };
    let whole = |tokens: &[u32]| [prompt, tokens].concat();
    // the prompt has two equal tokens; with `no_repeat(1)` no token may occur twice, and none of the prompt's tokens at
    // all
    assert!(with(0).iter().any(|hypothesis| repeats(&whole(&hypothesis.tokens), 2)), "nothing to forbid");
    for hypothesis in with(2) {
        assert!(!repeats(&whole(&hypothesis.tokens), 2), "{hypothesis:?}");
    }
    for hypothesis in with(1) {
        assert!(!repeats(&hypothesis.tokens, 1), "{hypothesis:?}");
        assert!(hypothesis.tokens.iter().all(|token| !prompt.contains(token)), "{hypothesis:?}");
    }
    // if the constraint forces a repetition, nothing is left; hypotheses that must be complete may repeat
    let matcher = matcher(&vocabulary, "(xyxyxy){9}");
    let options = BeamOptions::default().no_repeat(2).complete(false);
    let error = beam_search(&mut model, &*vocabulary, Some(&matcher), prompt, &options).unwrap_err();
    assert_eq!(error.code(), "decode/empty-mask");
    let options = options.complete(true);
    for hypothesis in beam_search(&mut model, &*vocabulary, Some(&matcher), prompt, &options).unwrap() {
        assert_eq!(hypothesis.text, "xyxyxy".repeat(9));
    }
}
