//! Embedders: the ONNX Runtime driver on tiny sentence encoders (`tests/data/tiny-embedder`), folders, and
//! all-MiniLM-L6-v2, compared with the vectors of another implementation (`tests/data/minilm`). The tests need ONNX
//! Runtime and the model: `cargo xtask setup`.

use grammata::{Limits, Place};
use grammata_decode::EmbedderFolder;
use std::path::{Path, PathBuf};

fn data(name: &str) -> PathBuf {
    PathBuf::from(crate::ROOT).join("tests/data").join(name)
}

/// Returns a folder with an empty model, an empty tokenizer and the given files.
fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in [("model.onnx", ""), ("tokenizer.json", "{}")].iter().chain(files) {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    folder
}

#[test]
fn a_folder_says_how_much_of_a_text_is_read() {
    let config = |n: &str| format!("{{\"max_position_embeddings\": {n}}}");
    let own = |n: &str| format!("{{\"max_seq_length\": {n}}}");
    let table = [
        (None, None, 512),
        (Some(config("128")), None, 128),
        (None, Some(own("256")), 256),
        (Some(config("512")), Some(own("256")), 256),
        (Some(config("128")), Some(own("256")), 128),
        (Some(config("512")), Some(own("null")), 512),
        (Some(config("1000000000")), None, 8192),
    ];
    for (config, own, expected) in table {
        let files = [("config.json", &config), ("sentence_bert_config.json", &own)];
        let files: Vec<(&str, &str)> =
            files.iter().filter_map(|(name, text)| Some((*name, text.as_deref()?))).collect();
        let folder = folder(&files);
        let found = EmbedderFolder::open(folder.path(), &Limits::default()).unwrap();
        assert_eq!(found.max_tokens, expected, "{files:?}");
    }
}

#[test]
fn wrong_folders_are_refused_with_their_place() {
    let (own, pooling) = ("sentence_bert_config.json", "1_Pooling/config.json");
    let table = [
        (own, r#"{"max_seq_length": 0}"#, "decode/settings", "/max_seq_length"),
        (own, r#"{"max_seq_length": "many"}"#, "decode/settings", "/max_seq_length"),
        (own, r#"{"max_seq_length": -1}"#, "decode/settings", "/max_seq_length"),
        (
            pooling,
            r#"{"pooling_mode_mean_tokens": false}"#,
            "decode/embedder-pooling",
            "/pooling_mode_mean_tokens",
        ),
        (
            pooling,
            r#"{"pooling_mode_mean_tokens": true, "pooling_mode_max_tokens": true}"#,
            "decode/embedder-pooling",
            "/pooling_mode_max_tokens",
        ),
        (pooling, r#"{"pooling_mode": "cls"}"#, "decode/embedder-pooling", "/pooling_mode"),
    ];
    for (name, text, code, pointer) in table {
        let folder = folder(&[(name, text)]);
        let error = EmbedderFolder::open(folder.path(), &Limits::default()).unwrap_err();
        let place = Place::Pointer(pointer.to_owned());
        assert_eq!((error.code(), error.diagnostic().place()), (code, &place), "{text}");
        assert!(error.diagnostic().file().is_some_and(|file| file.ends_with(name)), "{text}");
        assert!(error.diagnostic().help_text().is_some(), "{text}");
    }
    let mean = r#"{"word_embedding_dimension": 8, "pooling_mode_cls_token": false, "pooling_mode_mean_tokens": true}"#;
    let accepted = [mean, r#"{"pooling_mode": "mean"}"#, "{}"];
    for text in accepted {
        let folder = folder(&[(pooling, text)]);
        assert!(EmbedderFolder::open(folder.path(), &Limits::default()).is_ok(), "{text}");
    }
    let empty = tempfile::tempdir().unwrap();
    let error = EmbedderFolder::open(empty.path(), &Limits::default()).unwrap_err();
    assert_eq!(error.code(), "decode/model-folder");
    let error = EmbedderFolder::open(Path::new("no/such/folder"), &Limits::default()).unwrap_err();
    assert_eq!(error.code(), "decode/model-folder");
}

/// Tests of the driver on ONNX Runtime.
#[cfg(feature = "ort")]
mod driver {
    use super::data;
    use grammata::{Limits, Place};
    use grammata_decode::EmbedderFolder;
    use grammata_decode::ort::{Device, EmbedderOptions, OrtEmbedder};
    use grammata_embeddings::{Embedder, Embeddings, Truncation};
    use std::path::PathBuf;

    #[derive(serde::Deserialize)]
    struct Tiny {
        max_tokens: usize,
        texts: Vec<TinyText>,
    }

    #[derive(serde::Deserialize)]
    struct TinyText {
        text: String,
        tokens: usize,
        vector: Vec<f64>,
        without_types: Vec<f64>,
    }

    fn tiny() -> Tiny {
        let path = data("tiny-embedder/expected.json");
        serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
    }

    fn options(batch: usize) -> EmbedderOptions {
        EmbedderOptions::default().threads(1).batch(batch)
    }

    fn tiny_folder(name: &str) -> EmbedderFolder {
        let file = |name: &str| data("tiny-embedder").join(name);
        EmbedderFolder { model: file(name), tokenizer: file("tokenizer.json"), max_tokens: 12 }
    }

    /// Loads an encoder of the test data. Without ONNX Runtime this fails with an error that says what to run.
    fn load(name: &str, batch: usize) -> OrtEmbedder {
        OrtEmbedder::load(&tiny_folder(name), &options(batch)).unwrap_or_else(|error| panic!("{error}"))
    }

    #[track_caller]
    fn assert_row(found: Option<&[f32]>, expected: &[f64], tolerance: f64, text: &str) {
        let found = found.unwrap_or_else(|| panic!("no vector of {text:?}"));
        for (place, (&found, expected)) in found.iter().zip(expected).enumerate() {
            assert!(
                (f64::from(found) - expected).abs() < tolerance,
                "{text:?}, coordinate {place}: {found}, expected {expected}"
            );
        }
        let norm: f64 = found.iter().map(|&x| f64::from(x).powi(2)).sum();
        assert!((norm - 1.0).abs() < 1e-6, "{text:?}: {norm}");
    }

    #[test]
    fn tiny_encoders_give_the_pinned_vectors_in_every_batch() {
        let Tiny { max_tokens, texts } = tiny();
        let list: Vec<&str> = texts.iter().map(|text| text.text.as_str()).collect();
        let cut: Vec<Truncation> = (0..)
            .zip(&texts)
            .filter(|(_, text)| text.tokens > max_tokens)
            .map(|(index, text)| Truncation { text: index, tokens: text.tokens, kept: max_tokens })
            .collect();
        assert_eq!(cut.len(), 2, "one text has as many tokens as are read, the next one more");
        for (name, tolerance) in [("tokens.onnx", 1e-5), ("pooled.onnx", 1e-5), ("half.onnx", 2e-3)] {
            for batch in [0, 1, 2, 5, 100] {
                let mut embedder = load(name, batch);
                assert_eq!((embedder.dimension(), embedder.max_tokens()), (8, Some(12)));
                assert_eq!((embedder.device(), embedder.notices().len()), (Device::Cpu, 0));
                let found = embedder.embed(&list).unwrap();
                assert_eq!((found.len(), found.dimension()), (list.len(), 8));
                assert_eq!(found.truncated(), cut, "{name}");
                for (index, text) in texts.iter().enumerate() {
                    let expected = if name == "pooled.onnx" { &text.without_types } else { &text.vector };
                    assert_row(found.row(index), expected, tolerance, &text.text);
                }
            }
        }
    }

    #[test]
    fn more_texts_than_are_tokenized_at_once_keep_their_order() {
        let Tiny { texts, .. } = tiny();
        // at most 4,096 texts are tokenized in one step
        let numbers: Vec<usize> = (0..10_000).map(|i| (i * i + i / 7) % texts.len()).collect();
        let list: Vec<&str> = numbers.iter().map(|&number| texts[number].text.as_str()).collect();
        let found = load("tokens.onnx", 64).embed(&list).unwrap();
        assert_eq!(found.len(), list.len());
        for (index, &number) in numbers.iter().enumerate() {
            assert_row(found.row(index), &texts[number].vector, 1e-5, &texts[number].text);
        }
        let cut: Vec<usize> = (0..list.len()).filter(|&index| texts[numbers[index]].tokens > 12).collect();
        assert!(found.truncated().iter().map(|truncation| truncation.text).eq(cut));
    }

    #[test]
    fn nothing_to_embed_gives_nothing() {
        let found = load("tokens.onnx", 16).embed(&[]).unwrap();
        assert_eq!((found.len(), found.dimension(), found.truncated().len()), (0, 8, 0));
    }

    #[test]
    fn a_vector_that_is_not_finite_is_an_error_of_its_text() {
        let mut embedder = load("tokens.onnx", 16);
        let error = embedder.embed(&["the cat", "a dog", "a broken tree"]).unwrap_err();
        assert_eq!(error.code(), "decode/embedding-not-finite");
        assert_eq!(error.diagnostic().place(), &Place::Pointer("/2".to_owned()));
        // a failed call has no effect on the next one
        assert!(embedder.embed(&["the cat"]).is_ok());
    }

    #[test]
    fn limits_hold() {
        let limits = Limits::default().embedding_texts(2).embedding_text_bytes(7);
        let options = options(16).limits(limits);
        let mut embedder = OrtEmbedder::load(&tiny_folder("tokens.onnx"), &options).unwrap();
        assert!(embedder.embed(&["the cat", "a"]).is_ok());
        for texts in [&["a", "the cats"][..], &["a"; 3]] {
            assert_eq!(embedder.embed(texts).unwrap_err().code(), "limit/exceeded", "{texts:?}");
        }
        let small = Limits::default().tokenizer_bytes(100);
        let options = options.limits(small);
        let error = OrtEmbedder::load(&tiny_folder("tokens.onnx"), &options).unwrap_err();
        assert_eq!(error.code(), "limit/exceeded");
    }

    #[test]
    fn models_of_another_form_are_refused() {
        let table = [
            ("no-mask", "the model has no input `attention_mask`"),
            ("extra-input", "the model has an unknown input `position_ids`"),
            ("no-output", "the model has no output of an embedder"),
            ("open-size", "the output `last_hidden_state` is of another type or shape"),
            ("flat", "the output `sentence_embedding` is of another type or shape"),
            ("float-mask", "the input `attention_mask` is of another type"),
        ];
        for (name, message) in table {
            let error =
                OrtEmbedder::load(&tiny_folder(&format!("wrong/{name}.onnx")), &options(16)).unwrap_err();
            assert_eq!((error.code(), error.diagnostic().message()), ("decode/embedder-interface", message));
            assert!(error.diagnostic().help_text().is_some());
        }
        let mut other = load("wrong/other-size.onnx", 16);
        assert_eq!(other.embed(&["the cat"]).unwrap_err().code(), "decode/embedder-interface");
        let decoder = EmbedderFolder { model: data("tiny-decoder/model.onnx"), ..tiny_folder("tokens.onnx") };
        let error = OrtEmbedder::load(&decoder, &options(16)).unwrap_err();
        assert_eq!(error.code(), "decode/embedder-interface");
        let no_room = EmbedderFolder { max_tokens: 2, ..tiny_folder("tokens.onnx") };
        let error = OrtEmbedder::load(&no_room, &options(16)).unwrap_err();
        assert_eq!(error.code(), "decode/embedder-max-tokens");
        let missing = EmbedderFolder { model: PathBuf::from("no/such.onnx"), ..tiny_folder("tokens.onnx") };
        assert_eq!(OrtEmbedder::load(&missing, &options(16)).unwrap_err().code(), "io/file");
        // the tokenizer has more tokens than the model
        let words =
            EmbedderFolder { tokenizer: data("tiny-decoder/tokenizer.json"), ..tiny_folder("tokens.onnx") };
        let mut embedder = OrtEmbedder::load(&words, &options(16)).unwrap();
        assert_eq!(embedder.embed(&["hello"]).unwrap_err().code(), "decode/model-run");
        assert_eq!(embedder.embed(&[""]).unwrap_err().code(), "decode/no-tokens");
    }

    #[test]
    fn the_fingerprint_is_that_of_the_files_and_the_maximum() {
        let of = |folder: &EmbedderFolder| {
            let mut embedder = OrtEmbedder::load(folder, &options(16)).unwrap();
            let first = embedder.fingerprint().unwrap();
            assert_eq!(embedder.fingerprint().unwrap(), first);
            first
        };
        let tokens = of(&tiny_folder("tokens.onnx"));
        assert_eq!(of(&tiny_folder("tokens.onnx")), tokens);
        assert_ne!(of(&tiny_folder("pooled.onnx")), tokens);
        assert_ne!(of(&EmbedderFolder { max_tokens: 11, ..tiny_folder("tokens.onnx") }), tokens);
    }

    #[derive(serde::Deserialize)]
    struct Reference {
        texts: Vec<ReferenceText>,
        cosines: Vec<Vec<f64>>,
    }

    #[derive(serde::Deserialize)]
    struct ReferenceText {
        text: String,
        tokens: usize,
        vector: Vec<f64>,
    }

    fn minilm(batch: usize) -> OrtEmbedder {
        let folder = PathBuf::from(crate::ROOT).join(".models/minilm");
        let help = "`cargo xtask setup` fetches the embedder that this test needs";
        let folder =
            EmbedderFolder::open(&folder, &Limits::default()).unwrap_or_else(|e| panic!("{help}: {e}"));
        assert_eq!(folder.max_tokens, 256);
        OrtEmbedder::load(&folder, &options(batch)).unwrap_or_else(|error| panic!("{error}"))
    }

    fn largest_difference(first: &Embeddings, second: &Embeddings) -> f32 {
        let pairs = first.values().iter().zip(second.values());
        pairs.map(|(x, y)| (x - y).abs()).fold(0.0, f32::max)
    }

    #[test]
    fn minilm_gives_the_reference_vectors_and_cosines() {
        let path = data("minilm/expected.json");
        let Reference { texts, cosines } =
            serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
        assert!(texts.len() >= 20);
        let list: Vec<&str> = texts.iter().map(|text| text.text.as_str()).collect();
        let mut embedder = minilm(16);
        let found = embedder.embed(&list).unwrap();
        assert_eq!((found.len(), found.dimension()), (list.len(), 384));
        for (index, text) in texts.iter().enumerate() {
            let short: String = text.text.chars().take(40).collect();
            assert_row(found.row(index), &text.vector, 5e-6, &short);
            let cut = found.truncated().iter().find(|truncation| truncation.text == index);
            let expected = Truncation { text: index, tokens: text.tokens, kept: 256 };
            assert_eq!(cut, Some(&expected).filter(|_| text.tokens > 256), "{short}");
        }
        for (i, row) in cosines.iter().enumerate() {
            for (j, expected) in row.iter().enumerate() {
                let cosine = found.cosine(i, j).unwrap();
                assert!((cosine - expected).abs() < 2e-5, "{i}, {j}: {cosine}, expected {expected}");
            }
        }

        // texts alone, in reverse order, and next to a longer text have the same vectors within rounding
        let mut alone = Embeddings::new(384);
        for text in &list {
            alone.push(embedder.embed(&[text]).unwrap().row(0).unwrap()).unwrap();
        }
        assert!(largest_difference(&found, &alone) < 2e-6, "{}", largest_difference(&found, &alone));
        let reversed: Vec<&str> = list.iter().rev().copied().collect();
        let reversed = embedder.embed(&reversed).unwrap();
        let back = Embeddings::from_rows(384, reversed.rows().rev()).unwrap();
        assert!(largest_difference(&found, &back) < 2e-6, "{}", largest_difference(&found, &back));
    }
}
