//! Masks that are computed while the model runs: the outputs are the same as without this overlap.

use crate::decode_drivers::hashed;
use crate::models::{Bytes, END, Function, TOKENS, Words};
use grammata::matcher::Constraint;
use grammata::{Diagnostic, Error, ErrorKind, Result};
use grammata_decode::{
    Decoder, ForcedDraft, Generation, GenerationOptions, NgramDraft, Request, SamplingParams, Scheduler,
    SchedulerOptions, generate, run_together, speculative,
};
use proptest::prelude::*;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

const LANGUAGES: [&[&str]; 4] = [
    &["a", "ab", "abc", "abd", "b", "bcd", "bce", "xxxxxxxy", "xxxxxxxz"],
    &["aa", "ab", "ba", "bb", "aaa", "aab", "bba", "bbb", "abab", "baba", "abba", "baab"],
    &["only one way"],
    &["", "1", "12", "123", "1234", "2", "23", "3"],
];

/// What happens while a mask is computed.
#[derive(Clone, Copy, Debug)]
enum Trouble {
    Fails,
    Panics,
    Sleeps,
}

/// Words whose mask causes trouble after a number of tokens, or never (`None`).
#[derive(Clone)]
struct Troubled {
    words: Words,
    trouble: Option<(Trouble, usize)>,
}

impl Constraint for Troubled {
    fn fill_mask(&mut self, words: &mut [u32]) -> Result<()> {
        if let Some((trouble, after)) = self.trouble
            && after == self.words.taken.len()
        {
            match trouble {
                Trouble::Fails => {
                    let cause = Diagnostic::new("test/mask", "the mask fails");
                    return Err(Error::new(ErrorKind::Limit, cause));
                }
                Trouble::Panics => panic!("the mask panics"),
                Trouble::Sleeps => std::thread::sleep(Duration::from_millis(20)),
            }
        }
        self.words.fill_mask(words)
    }

    fn mask_takes_work(&mut self) -> Result<bool> {
        self.words.mask_takes_work()
    }

    fn accept_token(&mut self, token: u32) -> Result<()> {
        self.words.accept_token(token)
    }

    fn is_accepting(&mut self) -> Result<bool> {
        self.words.is_accepting()
    }

    fn is_finished(&mut self) -> Result<bool> {
        self.words.is_finished()
    }

    fn rollback(&mut self, tokens: usize) -> Result<()> {
        self.words.rollback(tokens)
    }

    fn fork(&self) -> Box<dyn Constraint> {
        Box::new(self.clone())
    }
}

fn model(seed: u64) -> Function<impl FnMut(&[u32]) -> Vec<f32> + Send> {
    Function::new(TOKENS, move |sequence| hashed(seed, sequence))
}

#[derive(Clone, Debug)]
struct Case {
    seed: u64,
    words: &'static [&'static str],
    work: u64,
    trouble: Option<(Trouble, usize)>,
    options: GenerationOptions,
}

impl Case {
    fn constraint(&self, work: u64) -> Troubled {
        Troubled { words: Words { work, ..Words::new(self.words) }, trouble: self.trouble }
    }
}

fn case() -> impl Strategy<Value = Case> {
    let temperature = prop_oneof![Just(0.0_f32), Just(1.0), Just(3.0)];
    let trouble = proptest::option::weighted(0.2, (0..4_usize).prop_map(|after| (Trouble::Fails, after)));
    let words = (0..LANGUAGES.len()).prop_map(|at| LANGUAGES[at]);
    let scored = (any::<bool>(), any::<bool>(), prop_oneof![Just(0_usize), 1..5_usize]);
    (any::<u64>(), words, any::<u64>(), trouble, temperature, 1..16_usize, scored).prop_map(
        |(seed, words, work, trouble, temperature, max_tokens, (scored, refused, lookup))| {
            let options = GenerationOptions::default()
                .sampling(SamplingParams::default().temperature(temperature).seed(seed))
                .max_tokens(max_tokens)
                .end_tokens(vec![END])
                .complete(false)
                .overlap(true)
                .log_probabilities(scored)
                .refused_mass(refused)
                .prompt_lookup(lookup);
            Case { seed, words, work, trouble, options }
        },
    )
}

/// Returns the parts of a result that must not depend on when masks are computed. Of an error this is the code.
fn essence(result: Result<Generation>) -> std::result::Result<impl PartialEq + std::fmt::Debug, String> {
    let close = |values: Vec<f64>| values.iter().map(|v| (v * 1e9).round() as i64).collect::<Vec<_>>();
    result.map_err(|error| error.code().to_owned()).map(|g| {
        (
            g.text,
            g.tokens,
            g.finish,
            close(g.log_probabilities),
            close(g.refused_mass),
            g.timings.forced_tokens,
        )
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn one_sequence_equals_the_same_without(case in case(), failing in proptest::option::weighted(0.3, 1..6_usize)) {
        let bytes = Bytes::new();
        let (mut plain, mut over) = (model(case.seed), model(case.seed));
        let options = case.options.clone().overlap(false).prompt_lookup(0);
        let expected =
            essence(generate(&mut plain, &bytes, Some(&mut case.constraint(u64::MAX)), &[1, 2], &options));
        let outputs = [None, Some(0), Some(1)].map(|draft| {
            let mut constraint = case.constraint(case.work);
            let constraint = Some(&mut constraint as &mut dyn Constraint);
            match draft {
                None => generate(&mut over, &bytes, constraint, &[1, 2], &case.options),
                Some(0) => speculative(&mut over, &bytes, constraint, &[1, 2], &case.options, &mut ForcedDraft, 3),
                Some(_) => {
                    let mut draft = NgramDraft::default();
                    speculative(&mut over, &bytes, constraint, &[1, 2], &case.options, &mut draft, 3)
                }
            }
        });
        for output in outputs {
            prop_assert_eq!(&essence(output), &expected);
        }
        prop_assert!(over.sequences.is_empty());
        // after an error of the model, the decoder can continue
        over.failing = failing.map(|call| over.calls + call);
        let constraint: Box<dyn Constraint> = Box::new(case.constraint(case.work));
        let mut decoder = Decoder::new(&mut over, &bytes, Some(constraint), &[1, 2], &case.options).unwrap();
        let again = loop {
            match decoder.next(&mut over) {
                Ok(grammata_decode::Event::Finished(_)) => break Ok(()),
                Ok(_) => {}
                Err(error) if error.code() == "test/model" => {}
                Err(error) => break Err(error),
            }
        };
        let output = decoder.close(&mut over);
        prop_assert_eq!(&essence(again.map(|()| output)), &expected);
    }

    #[test]
    fn batches_equal_the_same_without(cases in proptest::collection::vec(case(), 1..7), batch in 1..5_usize) {
        let bytes = Bytes::new();
        let seed = cases[0].seed;
        let alone = cases.iter().map(|case| {
            let options = case.options.clone().overlap(false).prompt_lookup(0);
            essence(generate(&mut model(seed), &bytes, Some(&mut case.constraint(0)), &[3], &options))
        });
        let expected: Vec<_> = alone.collect();
        let mut over = model(seed);
        let mut decoders: Vec<Decoder<'_>> = Vec::new();
        for case in &cases {
            let constraint: Box<dyn Constraint> = Box::new(case.constraint(case.work));
            decoders.push(Decoder::new(&mut over, &bytes, Some(constraint), &[3], &case.options).unwrap());
        }
        let mut errors: Vec<Option<Error>> = cases.iter().map(|_| None).collect();
        run_together(&mut over, &mut decoders, &mut |place, event| errors[place] = event.err()).unwrap();
        for ((decoder, error), expected) in decoders.into_iter().zip(errors).zip(&expected) {
            let output = decoder.close(&mut over);
            prop_assert_eq!(&essence(error.map_or(Ok(output), Err)), expected);
        }
        let mut scheduler = Scheduler::new(&bytes, SchedulerOptions::default().batch(batch));
        let mut ids = Vec::new();
        for case in &cases {
            let constraint: Box<dyn Constraint> = Box::new(case.constraint(case.work));
            ids.push(scheduler.submit(Request::new(vec![3], Some(constraint), case.options.clone())).unwrap());
        }
        while !scheduler.is_empty() {
            for ended in scheduler.step(&mut over, &mut |_, _| {}) {
                let place = ids.iter().position(|id| *id == ended.id).unwrap();
                prop_assert_eq!(&essence(ended.result), &expected[place]);
            }
        }
        scheduler.close(&mut over);
        prop_assert!(over.sequences.is_empty());
    }
}

/// Returns a constraint of five words whose masks all take work, with or without trouble.
fn troubled(trouble: Option<(Trouble, usize)>) -> Troubled {
    Troubled { words: Words { work: u64::MAX, ..Words::new(&["aab", "aba", "abb", "bab", "bba"]) }, trouble }
}

#[test]
fn late_masks_are_counted() {
    let bytes = Bytes::new();
    let options = GenerationOptions::default().overlap(true);
    let trouble = Some((Trouble::Sleeps, 0));
    let output = generate(&mut model(1), &bytes, Some(&mut troubled(trouble)), &[1], &options).unwrap();
    assert!(output.timings.overlapped_masks > 0, "{:?}", output.timings);
    assert!(output.timings.late_masks > 0, "{:?}", output.timings);
    assert!(output.timings.mask_wait > Duration::from_millis(10), "{:?}", output.timings);
    // if the model is slow, no mask is late
    let mut slow = Function::new(TOKENS, |sequence: &[u32]| {
        std::thread::sleep(Duration::from_millis(100));
        hashed(1, sequence)
    });
    let same = generate(&mut slow, &bytes, Some(&mut troubled(None)), &[1], &options).unwrap();
    assert_eq!(same.tokens, output.tokens);
    assert_eq!((same.timings.late_masks, same.timings.mask_wait), (0, Duration::ZERO));
    assert_eq!(same.timings.overlapped_masks, output.timings.overlapped_masks);
    let none = generate(&mut model(1), &bytes, Some(&mut troubled(None)), &[1], &options.overlap(false));
    assert_eq!(none.unwrap().timings.overlapped_masks, 0);
}

#[test]
fn a_panic_of_a_mask_reaches_the_caller() {
    let (bytes, mut model) = (Bytes::new(), model(1));
    let options = GenerationOptions::default();
    for _ in 0..3 {
        let mut constraint = troubled(Some((Trouble::Panics, 1)));
        let run = || generate(&mut model, &bytes, Some(&mut constraint), &[1], &options).map(drop);
        assert!(catch_unwind(AssertUnwindSafe(run)).is_err());
    }
    // after the panics, masks are computed again
    let output = generate(&mut model, &bytes, Some(&mut troubled(None)), &[1], &options).unwrap();
    assert_eq!(output.text.len(), 3);
}
