//! Biases, penalties that count tokens, a least number of tokens, and alternatives.

use crate::models::{Bytes, END, Function, TOKENS, Words};
use grammata::matcher::Constraint;
use grammata_decode::{Decoder, Event, Generation, GenerationOptions, LogSoftmax, SamplingParams, generate};
use std::collections::BTreeMap;

/// Logits that fall with the distance from the letter `a`, and one of the end below those of letters.
fn row() -> Vec<f32> {
    let logit = |id: usize| -(id as f32 - f32::from(b'a')).abs();
    let mut row: Vec<f32> = (0..TOKENS).map(logit).collect();
    row[END as usize] = -2.5;
    row
}

fn made(options: &GenerationOptions, words: Option<&'static [&'static str]>) -> Generation {
    let mut model = Function::new(TOKENS, |_: &[u32]| row());
    let mut words = words.map(Words::new);
    let constraint = words.as_mut().map(|words| words as &mut dyn Constraint);
    let options = options.clone().end_tokens(vec![END]);
    generate(&mut model, &Bytes::new(), constraint, &[u32::from(b'>')], &options).unwrap()
}

fn text(sampling: SamplingParams) -> String {
    made(&GenerationOptions::default().max_tokens(6).sampling(sampling), None).text
}

#[test]
fn penalties_count_the_tokens_of_the_output() {
    let greedy = SamplingParams::greedy;
    assert_eq!(text(greedy()), "aaaaaa");
    // after the first `a` its logit is -1.5, then `` ` `` and `b` (-1), and so on
    assert_eq!(text(greedy().presence_penalty(1.5)), "a`baaa");
    // the logit of `a` falls with each time
    let counted = text(greedy().frequency_penalty(0.6));
    let mut counts: BTreeMap<u8, u32> = BTreeMap::new();
    for byte in counted.bytes() {
        let least = |byte: u8| row()[byte as usize] - 0.6 * counts.get(&byte).copied().unwrap_or(0) as f32;
        assert!((0..=127).all(|other| least(other) <= least(byte)), "{counted}");
        *counts.entry(byte).or_default() += 1;
    }
    assert!(counts.len() > 1);
}

#[test]
fn biases_are_added_and_masks_come_first() {
    let bias = |token: u8, by: f32| SamplingParams::greedy().logit_bias(vec![(u32::from(token), by)]);
    assert_eq!(text(bias(b'q', 100.0)), "qqqqqq");
    assert!(!text(bias(b'a', -100.0)).contains('a'));
    let options = GenerationOptions::default().sampling(bias(b'q', 100.0));
    // a token that the constraint does not allow stays forbidden, and a forced one is taken in spite of a bias
    assert_eq!(made(&options, Some(&["xz", "xy"])).text, "xy");
    assert_eq!(made(&GenerationOptions::default().sampling(bias(b'x', -100.0)), Some(&["xy"])).text, "xy");
    // ids that the model does not have are ignored
    assert_eq!(text(SamplingParams::greedy().logit_bias(vec![(u32::MAX, 1.0)])), "aaaaaa");
}

#[test]
fn end_tokens_wait_for_the_least_number_of_tokens() {
    let ending = SamplingParams::greedy().logit_bias(vec![(END, 50.0)]);
    let options = GenerationOptions::default().max_tokens(9).sampling(ending);
    assert_eq!(made(&options, None).text, "");
    assert_eq!(made(&options.clone().min_tokens(4), None).text, "aaaa");
    // a constraint decides where an output may end at the latest
    assert_eq!(made(&options.min_tokens(4), Some(&["b", "bb"])).text, "bb");
}

#[test]
fn settings_out_of_range_are_refused() {
    let check = |sampling: SamplingParams| sampling.check().unwrap_err().diagnostic().message().to_owned();
    for (sampling, name) in [
        (SamplingParams::greedy().frequency_penalty(2.1), "frequency_penalty"),
        (SamplingParams::greedy().presence_penalty(f32::NAN), "presence_penalty"),
        (SamplingParams::greedy().logit_bias(vec![(1, 3.0), (2, -101.0)]), "logit_bias"),
    ] {
        assert!(check(sampling).contains(name));
    }
}

#[test]
fn alternatives_are_the_most_probable_tokens_with_and_without_a_constraint() {
    let scores = LogSoftmax::of(&row());
    for words in [None, Some(&["xyz", "xyy"][..])] {
        let mut model = Function::new(TOKENS, |_: &[u32]| row());
        let constraint = words.map(|words| Box::new(Words::new(words)) as Box<dyn Constraint>);
        let options = GenerationOptions::default().max_tokens(3).alternatives(4).end_tokens(vec![END]);
        let bytes = Bytes::new();
        let mut decoder = Decoder::new(&mut model, &bytes, constraint, &[u32::from(b'>')], &options).unwrap();
        let mut seen = 0;
        loop {
            match decoder.next(&mut model).unwrap() {
                Event::Token(token) => {
                    seen += 1;
                    let ids: Vec<u32> = token.alternatives.iter().map(|&(id, _)| id).collect();
                    assert_eq!(ids, [b'a', b'`', b'b', b'_'].map(u32::from));
                    for &(id, log_probability) in &token.alternatives {
                        assert!((log_probability - scores.at(row()[id as usize])).abs() < 1e-9);
                    }
                    assert!(token.log_probability.is_some());
                }
                Event::Text(_) => {}
                Event::Finished(_) => break,
            }
        }
        assert_eq!(seen, 3);
        decoder.close(&mut model);
    }
}
