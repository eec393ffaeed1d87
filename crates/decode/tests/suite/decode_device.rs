//! Decoding with logits and caches on the device, compared with logits on the host. In these tests the CPU runs the
//! graphs of the device; `cargo xtask device-check` runs them on a real device.
#![cfg(feature = "ort")]

use grammata::syntax::regex;
use grammata::vocabulary::{LoadOptions, TokenId, Vocabulary};
use grammata::{Compiler, Result};
use grammata_decode::ort::{Copied, Device, ModelOptions, OrtModel};
use grammata_decode::{
    Choice, Decoder, Event, Feed, Generation, GenerationOptions, Logits, Model, NgramDraft, Rows,
    SamplingParams, run_together, speculative,
};
use std::path::PathBuf;
use std::sync::Arc;

#[path = "../../benches/support/sequences.rs"]
mod sequences;

use sequences::check_sequences;

const END: u32 = 2;

fn data(name: &str) -> PathBuf {
    PathBuf::from(crate::ROOT).join("tests/data/tiny-decoder").join(name)
}

fn load(name: &str, on_device: bool) -> OrtModel {
    let options = ModelOptions::default().threads(1).context_length(Some(128)).on_device(Some(on_device));
    OrtModel::load(&data(name), &options).unwrap_or_else(|error| panic!("{error}"))
}

fn vocabulary() -> Arc<Vocabulary> {
    let options = LoadOptions::default().eos(vec![TokenId::new(END)]);
    Arc::new(Vocabulary::from_file(data("tokenizer.json"), &options).unwrap())
}

fn samplings() -> Vec<SamplingParams> {
    let sampled = SamplingParams::default().temperature(0.9);
    vec![
        SamplingParams::greedy(),
        SamplingParams::greedy().repetition_penalty(1.5).repetition_window(5),
        sampled.clone().seed(3),
        sampled.clone().seed(4).top_k(7),
        sampled.clone().seed(5).top_p(0.8),
        sampled.seed(6).min_p(0.1).top_p(0.95).repetition_penalty(1.2),
    ]
}

/// Generates with each of six samplings under two patterns, after prompts of different lengths, in one batch.
fn together(model: &mut OrtModel, log_probabilities: bool) -> Vec<Generation> {
    let vocabulary = vocabulary();
    let compiler = Compiler::new(Arc::clone(&vocabulary));
    let mut decoders = Vec::new();
    for (number, sampling) in samplings().into_iter().cycle().take(12).enumerate() {
        let pattern =
            ["(the|a|in)( [a-z]{1,5}){2,6}\\.", r#"\{"n": -?[0-9]{1,8}, "on": (true|false)\}"#][number / 6];
        let grammar = regex::compile(pattern, &regex::Options::default()).unwrap();
        let matcher = compiler.compile(&grammar).unwrap().matcher();
        let prompt: Vec<u32> = (0..3 + 2 * number as u32 % 7).map(|i| 40 + i * 3 + number as u32).collect();
        let options = GenerationOptions::default()
            .max_tokens(40)
            .end_tokens(vec![END])
            .sampling(sampling)
            .log_probabilities(log_probabilities);
        decoders.push(Decoder::new(model, &*vocabulary, Some(Box::new(matcher)), &prompt, &options).unwrap());
    }
    let mut failed = Vec::new();
    let mut on_event = |_: usize, event: Result<Event>| failed.extend(event.err());
    run_together(model, &mut decoders, &mut on_event).unwrap();
    assert!(failed.is_empty(), "{failed:?}");
    decoders.into_iter().map(|decoder| decoder.close(model)).collect()
}

fn assert_equal(found: &[Generation], expected: &[Generation]) {
    for (found, expected) in found.iter().zip(expected) {
        assert_eq!((&found.text, &found.tokens), (&expected.text, &expected.tokens));
        assert!(!found.text.is_empty());
        for (a, b) in found.log_probabilities.iter().zip(&expected.log_probabilities) {
            assert!((a - b).abs() < 1e-3, "{a} {b}");
        }
    }
}

#[test]
fn a_device_generates_what_the_host_generates() {
    for name in ["model.onnx", "model-last.onnx", "model-keep.onnx"] {
        let (mut device, mut host) = (load(name, true), load(name, false));
        assert_equal(&together(&mut device, true), &together(&mut host, true));
    }
}

#[test]
fn only_tokens_come_back() {
    let mut model = load("model.onnx", true);
    let generated = together(&mut model, false);
    let Copied { chosen, choices, tokens, logits, .. } = model.copied();
    // eight bytes are copied for each choice; forced tokens need no choice
    let count = generated.iter().map(|g| (g.tokens.len() - g.timings.forced_tokens) as u64).sum::<u64>();
    assert!(chosen >= count * 8 && chosen <= count * 8 * 2, "{chosen} for {count}");
    assert!(choices > 0 && tokens > 0);
    // the check for padding at load time copies eleven rows of 320 logits
    assert_eq!(logits, 11 * 320 * 4);
}

#[test]
fn sequences_on_a_device_are_those_fed_from_scratch() {
    for (name, tolerance) in
        [("model.onnx", 1e-4), ("model-keep.onnx", 1e-4), ("model-last.onnx", 1e-4), ("model-f16.onnx", 2e-2)]
    {
        for seed in 0..3 {
            let report = check_sequences(Device::Cpu, &data(name), seed).unwrap();
            assert!(report.rows > 200 && report.notices.is_empty(), "{report:?}");
            assert!(report.difference < tolerance, "{name}: {report:?}");
        }
    }
}

#[test]
fn speculation_on_a_device_gives_the_same_text() {
    let vocabulary = vocabulary();
    let grammar = regex::compile("(ab|the |x){3,20}", &regex::Options::default()).unwrap();
    let compiled = Compiler::new(Arc::clone(&vocabulary)).compile(&grammar).unwrap();
    let prompt: Vec<u32> = (0..12).map(|i| 60 + i % 4).collect();
    for sampling in samplings() {
        let options = GenerationOptions::default().max_tokens(30).end_tokens(vec![END]).sampling(sampling);
        let mut texts = Vec::new();
        for on_device in [false, true] {
            let mut model = load("model.onnx", on_device);
            let mut matcher = compiled.matcher();
            let mut draft = NgramDraft::default();
            let constraint = Some(&mut matcher as &mut dyn grammata::matcher::Constraint);
            let generation =
                speculative(&mut model, &*vocabulary, constraint, &prompt, &options, &mut draft, 4);
            texts.push(generation.unwrap().tokens);
        }
        assert_eq!(texts[0], texts[1]);
    }
}

#[test]
fn a_choice_without_a_token_is_an_error_of_its_own() {
    let mut model = load("model.onnx", true);
    let sequence = model.open().unwrap();
    let logits = model.feed(&[Feed { sequence, tokens: &[1, 2, 3], rows: Rows::Last }]).unwrap();
    let Logits::Device(device) = logits else { panic!("the logits were copied") };
    let sampling = SamplingParams::default().temperature(1.0);
    let choose = |row, mask: Option<&'static [u32]>| Choice {
        row,
        mask,
        sampling: &sampling,
        penalised: &[],
        uniform: 0.5,
        scored: false,
    };
    let chosen =
        device.choose(&[choose(0, Some(&[0, 0, 2])), choose(0, Some(&[])), choose(0, None)]).unwrap();
    assert_eq!(chosen[0].as_ref().unwrap().token, 65);
    assert_eq!(chosen[1].as_ref().unwrap_err().code(), "decode/empty-mask");
    assert!(chosen[2].is_ok());
    // a mask that allows only tokens beyond the last logit allows nothing
    let long: &'static [u32] = &[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1];
    let chosen = device.choose(&[choose(0, Some(long))]).unwrap();
    assert_eq!(chosen[0].as_ref().unwrap_err().code(), "decode/empty-mask");
    assert_eq!(device.choose(&[choose(1, None)]).unwrap_err().code(), "decode/row-range");
}
