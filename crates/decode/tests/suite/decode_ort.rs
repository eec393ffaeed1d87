//! The ONNX Runtime driver on a tiny decoder (`tests/data/tiny-decoder`). Needs the library: `cargo xtask setup`.
#![cfg(feature = "ort")]

use grammata::Limits;
use grammata_decode::ort::{Device, KvCacheShape, LogitsPositions, ModelOptions, OrtModel};
use grammata_decode::{Feed, Message, Model, ModelFolder, PromptTokenizer, Rows, SequenceId};
use std::path::PathBuf;

fn data(name: &str) -> PathBuf {
    PathBuf::from(crate::ROOT).join("tests/data/tiny-decoder").join(name)
}

fn one_thread() -> ModelOptions {
    ModelOptions::default().threads(1).context_length(Some(128))
}

/// Loads a model of the test data. Without ONNX Runtime this fails with an error that says what to run.
fn load(name: &str) -> OrtModel {
    OrtModel::load(&data(name), &one_thread()).unwrap_or_else(|error| panic!("{error}"))
}

/// A model with one open sequence.
struct One {
    model: OrtModel,
    sequence: SequenceId,
}

impl One {
    fn of(mut model: OrtModel) -> One {
        let sequence = model.open().unwrap();
        One { model, sequence }
    }

    /// Feeds tokens, and returns the logits after the last one.
    fn step(&mut self, tokens: &[u32]) -> grammata::Result<Vec<f32>> {
        let feed = Feed { sequence: self.sequence, tokens, rows: Rows::Last };
        Ok(self.model.feed(&[feed])?.row(0, &mut vec![])?.to_vec())
    }

    fn truncate(&mut self, length: usize) -> grammata::Result<()> {
        self.model.truncate(self.sequence, length)
    }

    fn length(&self) -> usize {
        self.model.length(self.sequence).unwrap()
    }
}

fn one(name: &str) -> One {
    One::of(load(name))
}

fn refused(name: &str) -> grammata::Error {
    OrtModel::load(&data(name), &one_thread()).expect_err("the driver cannot run this model")
}

#[derive(serde::Deserialize)]
struct Expected {
    tokens: Vec<u32>,
    logits: Vec<Vec<f64>>,
}

fn expected() -> Expected {
    serde_json::from_str(&std::fs::read_to_string(data("expected.json")).unwrap()).unwrap()
}

#[track_caller]
fn assert_close(found: &[f32], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len());
    for (token, (found, expected)) in found.iter().zip(expected).enumerate() {
        assert!(
            (f64::from(*found) - expected).abs() < tolerance,
            "logit {token}: {found}, expected {expected}"
        );
    }
}

#[test]
fn the_form_is_read_from_the_model() {
    let model = load("model.onnx");
    let form = model.signature();
    assert_eq!((form.layers(), form.vocabulary, form.position_ids, form.half_logits), (2, 320, true, false));
    assert!(form.cache.iter().all(|p| *p == KvCacheShape { heads: 2, size: 8, half: false }));
    assert!(form.any_batch);
    assert_eq!((model.vocabulary_size(), model.context_length()), (320, Some(128)));
    assert_eq!(model.device(), Device::Cpu);
    assert!(model.notices().is_empty());
    assert_eq!(form.logits, LogitsPositions::All);
    assert_eq!(load("model-last.onnx").signature().logits, LogitsPositions::Last);
    assert_eq!(load("model-keep.onnx").signature().logits, LogitsPositions::Kept);
    let half = load("model-f16.onnx");
    assert!(!half.signature().position_ids && half.signature().half_logits && half.signature().cache[3].half);
}

#[test]
fn a_prompt_at_once_gives_the_pinned_logits() {
    let Expected { tokens, logits } = expected();
    for length in 1..=tokens.len() {
        assert_close(&one("model.onnx").step(&tokens[..length]).unwrap(), &logits[length - 1], 1e-4);
    }
}

#[test]
fn token_by_token_gives_the_same() {
    let Expected { tokens, logits } = expected();
    let mut model = one("model.onnx");
    for (i, &token) in tokens.iter().enumerate() {
        assert_close(&model.step(&[token]).unwrap(), &logits[i], 1e-4);
        assert_eq!(model.length(), i + 1);
    }
    // feeding several tokens at once gives the same logits as feeding one by one
    model.truncate(0).unwrap();
    for (start, end) in [(0, 4), (4, 5), (5, 9), (9, 10)] {
        assert_close(&model.step(&tokens[start..end]).unwrap(), &logits[end - 1], 1e-4);
    }
}

#[test]
fn half_precision_is_near() {
    let Expected { tokens, logits } = expected();
    let mut model = one("model-f16.onnx");
    assert_close(&model.step(&tokens[..4]).unwrap(), &logits[3], 2e-2);
    for i in 4..tokens.len() {
        assert_close(&model.step(&tokens[i..=i]).unwrap(), &logits[i], 2e-2);
    }
    model.truncate(5).unwrap();
    assert_close(&model.step(&tokens[5..7]).unwrap(), &logits[6], 2e-2);
}

#[test]
fn truncation_forgets_the_rest() {
    let Expected { tokens, logits } = expected();
    let mut model = one("model.onnx");
    model.step(&tokens[..6]).unwrap();
    model.step(&[7, 8, 9]).unwrap();
    model.truncate(6).unwrap();
    assert_eq!(model.length(), 6);
    assert_close(&model.step(&tokens[6..]).unwrap(), &logits[9], 1e-4);
    model.truncate(3).unwrap();
    model.truncate(3).unwrap();
    assert_close(&model.step(&tokens[3..8]).unwrap(), &logits[7], 1e-4);
    assert_eq!(model.truncate(9).unwrap_err().code(), "decode/truncate");
    model.truncate(0).unwrap();
    assert_eq!(model.length(), 0);
    assert_close(&model.step(&tokens[..1]).unwrap(), &logits[0], 1e-4);
}

#[test]
fn wrong_steps_leave_the_sequence_as_it_was() {
    let Expected { tokens, logits } = expected();
    let mut model = one("model.onnx");
    model.step(&tokens[..3]).unwrap();
    assert_eq!(model.step(&[]).unwrap_err().code(), "decode/no-tokens");
    assert_eq!(model.step(&[5, 320]).unwrap_err().code(), "decode/token-range");
    assert_eq!(model.step(&[u32::MAX]).unwrap_err().code(), "decode/token-range");
    assert_eq!(model.step(&[1; 126]).unwrap_err().code(), "decode/context");
    // a model can be moved to another thread
    fn may_move(_: &impl Send) {}
    may_move(&model.model);
    // a context that is longer than the model's tables, so that ONNX Runtime itself fails
    let options = one_thread().context_length(Some(500));
    let mut long = One::of(OrtModel::load(&data("model.onnx"), &options).unwrap());
    long.step(&tokens[..3]).unwrap();
    assert_eq!(long.step(&[1; 200]).unwrap_err().code(), "decode/model-run");
    for model in [&mut model, &mut long] {
        assert_eq!(model.length(), 3);
        assert_close(&model.step(&tokens[3..5]).unwrap(), &logits[4], 1e-4);
    }
}

#[test]
fn models_of_another_form_are_refused() {
    let table = [
        ("no-cache", "the model has no key-value cache"),
        ("extra-input", "the model has an unknown input `encoder_hidden_states`"),
        ("no-logits", "the model has no output `logits`"),
        ("no-present", "the model has no output `present.0.key`"),
        ("open-shape", "the input `past_key_values.0.key` has another shape"),
        ("flat-logits", "the output `logits` has another shape"),
    ];
    for (name, message) in table {
        let error = refused(&format!("wrong/{name}.onnx"));
        assert_eq!((error.code(), error.diagnostic().message()), ("decode/model-signature", message));
        assert!(error.diagnostic().allowed_text().is_some_and(|t| t.contains("past_key_values.N.key")));
    }
    assert_eq!(
        refused("wrong/no-cache.onnx").diagnostic().found_text(),
        Some("inputs input_ids, attention_mask; outputs logits")
    );
}

#[test]
fn files_that_are_no_models_are_refused() {
    assert_eq!(refused("config.json").code(), "decode/model-file");
    assert_eq!(refused("nothing.onnx").code(), "io/file");
    let whole = std::fs::read(data("model.onnx")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cut.onnx");
    for length in [0, 1, 1000, whole.len() / 2, whole.len() - 1] {
        std::fs::write(&path, &whole[..length]).unwrap();
        let error = OrtModel::load(&path, &one_thread()).expect_err("a cut file");
        assert!(["decode/model-file", "decode/model-signature"].contains(&error.code()), "{length}: {error}");
    }
}

#[test]
fn without_cuda_the_processor_is_used_and_a_notice_says_so() {
    let options = one_thread().device(Device::Cuda(99));
    let model = OrtModel::load(&data("model.onnx"), &options).unwrap();
    assert_eq!(model.device(), Device::Cpu);
    assert_eq!(model.notices().iter().map(|n| n.code()).collect::<Vec<_>>(), ["decode/no-cuda"]);
    let Expected { tokens, logits } = expected();
    assert_close(&One::of(model).step(&tokens).unwrap(), &logits[9], 1e-4);
}

#[test]
fn the_folder_holds_a_tokenizer_and_a_template() {
    let limits = Limits::default();
    let folder = ModelFolder::open(&data(""), &limits).unwrap();
    assert_eq!((folder.end_tokens, folder.context_length), (vec![2], Some(128)));
    let tokenizer = PromptTokenizer::from_file(&folder.tokenizer, &limits).unwrap();
    let prompt = folder.template.unwrap().render(&[Message::user("the é")], true).unwrap();
    assert_eq!(prompt, "<|im_start|>user\nthe é<|im_end|>\n<|im_start|>assistant\n");
    let tokens = tokenizer.encode(&prompt, false).unwrap();
    let special: Vec<u32> = tokens.iter().copied().filter(|&t| t < 3).collect();
    assert_eq!(special, [1, 2, 1]);
    assert_eq!(tokenizer.token_id("<|im_end|>"), Some(2));
    assert!(tokens.iter().all(|&t| t < 320));
    assert_eq!(one("model.onnx").step(&tokens).unwrap().len(), 320);
    let error = PromptTokenizer::from_file(&data("config.json"), &limits).unwrap_err();
    assert_eq!(error.code(), "decode/tokenizer");
    let small = limits.tokenizer_bytes(100);
    assert_eq!(
        PromptTokenizer::from_file(&data("tokenizer.json"), &small).unwrap_err().code(),
        "limit/exceeded"
    );
}

/// The library is looked up once in a process, so each case runs this test program again as a process of its own.
#[test]
fn a_missing_library_says_what_to_run() {
    let folder = tempfile::tempdir().unwrap();
    let garbage = folder.path().join("libonnxruntime.so");
    std::fs::write(&garbage, b"no library").unwrap();
    let cases = [
        (PathBuf::from("/no/such/libonnxruntime.so"), "decode/ort-missing"),
        (garbage, "decode/ort-unusable"),
    ];
    for (path, code) in cases {
        let output = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "decode_ort::the_form_is_read_from_the_model", "--nocapture"])
            .env("ORT_DYLIB_PATH", path)
            .output()
            .unwrap();
        let said =
            String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout);
        assert!(!output.status.success(), "{said}");
        assert!(said.contains(code) && said.contains("run `cargo xtask setup`"), "{said}");
    }
}
