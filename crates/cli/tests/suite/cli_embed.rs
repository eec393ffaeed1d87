//! `grammata embed` on the tiny sentence encoders.
#![cfg(feature = "ort")]

use crate::cli::{json, out, refused, run};
use std::path::Path;

/// Returns a folder with a tiny encoder that reads at most 12 tokens of a text.
fn model() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let data = Path::new(crate::ROOT).join("tests/data/tiny-embedder");
    std::fs::copy(data.join("tokens.onnx"), folder.path().join("model.onnx")).unwrap();
    std::fs::copy(data.join("tokenizer.json"), folder.path().join("tokenizer.json")).unwrap();
    std::fs::write(folder.path().join("sentence_bert_config.json"), r#"{"max_seq_length": 12}"#).unwrap();
    folder
}

fn arguments<'a>(model: &'a tempfile::TempDir, more: &[&'a str]) -> Vec<&'a str> {
    let all = ["embed", "--threads", "1", "--embedder", model.path().to_str().unwrap()];
    all.iter().chain(more).copied().collect()
}

fn expected(text: &str) -> Vec<f64> {
    let path = Path::new(crate::ROOT).join("tests/data/tiny-embedder/expected.json");
    let all: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let found = all["texts"].as_array().unwrap().iter().find(|entry| entry["text"] == text).unwrap();
    found["vector"].as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect()
}

#[test]
fn each_text_is_a_line_with_its_vector() {
    let model = model();
    let file = model.path().join("texts.txt");
    // more texts than one batch has; the last one is too long
    let long = "a cat or a dog or a cat or a dog or";
    let lines: Vec<&str> = std::iter::repeat_n("a dog ran", 299).chain([long]).collect();
    std::fs::write(&file, lines.join("\n")).unwrap();
    let run = run(&arguments(&model, &["red", "--texts", file.to_str().unwrap()]));
    assert_eq!(run.code, 0, "{}", run.err);
    let found: Vec<serde_json::Value> =
        run.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(found.len(), 301);
    for (line, text) in found.iter().zip(std::iter::once(&"red").chain(&lines)) {
        assert_eq!(line["text"], *text);
        assert_eq!(line["tokens"].as_u64(), Some(14).filter(|_| *text == long));
        let vector: Vec<f64> =
            line["vector"].as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect();
        assert_eq!(vector.len(), 8);
        if *text != long {
            assert!(vector.iter().zip(expected(text)).all(|(x, y)| (x - y).abs() < 1e-5), "{text}");
        }
    }
    assert!(run.err.contains("warning[cli/text-cut]") && run.err.contains("#/300"), "{}", run.err);
}

#[test]
fn similar_texts_come_first() {
    let model = model();
    let texts = ["red", "a dog ran", "über 猫", "red", "\u{1b}[31m"];
    let cosine = |text: &str| -> f64 { expected("red").iter().zip(expected(text)).map(|(x, y)| x * y).sum() };
    let written = out(0, &arguments(&model, &[&texts[..], &["--similarity"]].concat()));
    let first = written.lines().next().unwrap();
    assert_eq!(first, " 1.0000  \"red\"");
    assert_eq!(written.lines().count(), 4);
    assert!(!written.contains('\u{1b}'));
    let found =
        json(0, &arguments(&model, &["red", "a dog ran", "über 猫", "--similarity", "--output-format=json"]));
    let mut last = f64::INFINITY;
    for line in found["similarities"].as_array().unwrap() {
        let similarity = line["similarity"].as_f64().unwrap();
        assert!((similarity - cosine(line["text"].as_str().unwrap())).abs() < 1e-5, "{line}");
        assert!(similarity <= last, "{found}");
        last = similarity;
    }
}

#[test]
fn what_cannot_be_embedded_is_refused() {
    let model = model();
    let file = model.path().join("texts.txt");
    std::fs::write(&file, "red\n".repeat(270) + "broken\n").unwrap();
    // vectors that were computed before the error are written
    let run_of_file = run(&arguments(&model, &["--texts", file.to_str().unwrap()]));
    assert_eq!((run_of_file.code, run_of_file.out.lines().count()), (2, 256));
    for part in ["error[decode/embedding-not-finite]", "#/270"] {
        assert!(run_of_file.err.contains(part), "{}", run_of_file.err);
    }
    let found = json(
        4,
        &arguments(&model, &["red", "--output-format=json", "--set-limit", "embedding_text_bytes=2"]),
    );
    assert_eq!(found["diagnostics"][0]["code"], "limit/exceeded", "{found}");
    let error = refused("cli/no-model", &["embed", "red", "--embedder", "no/such/folder"]);
    assert!(error.contains("model.onnx and tokenizer.json"), "{error}");
    refused("decode/embedder-interface", &["embed", "red", "--embedder", "tests/data/tiny-decoder"]);
    assert_eq!(run(&arguments(&model, &[])).code, 2);
}
