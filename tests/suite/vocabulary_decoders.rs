//! Decoders of tokenizers: the bytes of each id and of sequences of ids, compared with the `tokenizers` crate.

use grammata::vocabulary::LoadOptions;
use grammata::{TokenId, Vocabulary};
use rand::prelude::*;
use rand::rngs::StdRng;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use tokenizers::Tokenizer;

fn step(kind: &str) -> Value {
    json!({ "type": kind })
}

fn replace(pattern: &str, content: &str) -> Value {
    json!({"type": "Replace", "pattern": {"String": pattern}, "content": content})
}

fn metaspace(mark: &str) -> Value {
    json!({"type": "Metaspace", "replacement": mark, "prepend_scheme": "always", "split": false})
}

fn byte_level() -> Value {
    json!({"type": "ByteLevel", "add_prefix_space": true, "trim_offsets": true, "use_regex": true})
}

fn sequence(steps: Vec<Value>) -> Value {
    json!({"type": "Sequence", "decoders": steps})
}

fn strip() -> Value {
    json!({"type": "Strip", "content": " ", "start": 1, "stop": 0})
}

/// Decoders that map each token to bytes independently, and decoders that do not.
fn decoders() -> (Vec<Value>, Vec<Value>) {
    let exact = vec![
        byte_level(),
        metaspace("▁"),
        metaspace("_"),
        sequence(vec![byte_level()]),
        sequence(vec![replace("▁", " "), byte_level()]),
        sequence(vec![replace("▁", " "), step("ByteFallback"), step("Fuse")]),
        sequence(vec![replace("▁", " "), step("ByteFallback"), step("Fuse"), strip()]),
        sequence(vec![replace("a", "▁"), replace("▁", "bb"), step("Fuse")]),
        sequence(vec![metaspace("▁"), step("ByteFallback")]),
        sequence(vec![step("ByteFallback"), metaspace("_")]),
        sequence(vec![step("ByteFallback"), replace("a", ""), step("Fuse")]),
    ];
    let inexact = vec![
        sequence(vec![step("ByteFallback"), metaspace("▁")]),
        sequence(vec![step("ByteFallback"), replace("▁", " "), step("Fuse")]),
        sequence(vec![step("ByteFallback"), replace("ab", "c")]),
        sequence(vec![step("ByteFallback"), byte_level()]),
        sequence(vec![step("Fuse"), replace("▁", " ")]),
        json!({"type": "WordPiece", "prefix": "##", "cleanup": true}),
        json!({"type": "BPEDecoder", "suffix": "</w>"}),
    ];
    (exact, inexact)
}

/// Normalizers, which the library applies to added tokens.
fn normalizers() -> Vec<Value> {
    let mark = json!({"type": "Replace", "pattern": {"String": " "}, "content": "▁"});
    let prepend = json!({"type": "Prepend", "prepend": "▁"});
    vec![
        Value::Null,
        json!({"type": "NFC"}),
        prepend.clone(),
        json!({"type": "Sequence", "normalizers": [prepend, mark]}),
        json!({"type": "Sequence", "normalizers": [{"type": "Lowercase"}, {"type": "Strip", "strip_left": true, "strip_right": false}]}),
        json!({"type": "ByteLevel"}),
        json!({"type": "Replace", "pattern": {"String": "a"}, "content": "▁b"}),
    ]
}

/// Returns a `tokenizer.json` with this decoder, and with random tokens and added tokens. Token 0 is `x`.
fn file(decoder: &Value, rng: &mut StdRng) -> Value {
    const PARTS: [&str; 20] = [
        "a", "b", "x", "_", " ", "▁", "Ġ", "ü", "ï", "é", "Ã", "¼", "€", "日", "👍", "<", ">", "<0x41>",
        "<0xE2>", "\n",
    ];
    let mut text = |most: usize| -> String {
        (0..rng.random_range(1..=most)).map(|_| PARTS[rng.random_range(0..PARTS.len())]).collect()
    };
    let bytes = (0..=255u8).map(|byte| format!("<0x{byte:02X}>"));
    let mut own: Vec<String> = ["x".to_owned()].into_iter().chain(bytes).collect();
    own.extend((0..30).map(|_| text(4)));
    let mut seen = BTreeSet::new();
    own.retain(|token| seen.insert(token.clone()));
    let mut added: Vec<String> = ["für", "naïve", "x▁y", "<think>", "</s>"].map(str::to_owned).into();
    added.extend((0..20).map(|_| text(5)));
    // an added token may also be one of the model
    added.push(own[rng.random_range(300.min(own.len() - 1)..own.len())].clone());
    let mut seen_added = BTreeSet::new();
    // the first token must keep its text, without a space in front
    added.retain(|token| token != "x" && seen_added.insert(token.clone()));
    let mut next = own.len();
    let added: Vec<Value> = added
        .iter()
        .map(|content| {
            let id = own.iter().position(|token| token == content).unwrap_or_else(|| {
                next += 1;
                next - 1
            });
            let special = content == "</s>" || (rng.random_bool(0.2) && content != "x");
            json!({"id": id, "content": content, "single_word": false, "lstrip": false, "rstrip": false,
                   "normalized": rng.random_bool(0.5), "special": special})
        })
        .collect();
    let vocab: serde_json::Map<String, Value> =
        own.iter().enumerate().map(|(id, token)| (token.clone(), json!(id))).collect();
    let model = json!({"type": "BPE", "vocab": vocab, "merges": [],
        "byte_fallback": decoder.to_string().contains("ByteFallback")});
    let normalizers = normalizers();
    let normalizer = &normalizers[rng.random_range(0..normalizers.len())];
    json!({"version": "1.0", "truncation": null, "padding": null, "added_tokens": added, "normalizer": normalizer,
           "pre_tokenizer": null, "post_processor": null, "decoder": decoder, "model": model})
}

fn load(file: &Value) -> grammata::Result<Vocabulary> {
    Vocabulary::from_file_bytes(file.to_string().as_bytes(), &LoadOptions::default())
}

/// `GRAMMATA_CASES` is the number of tokenizers of each decoder.
#[test]
fn each_id_is_decoded_as_by_the_library() {
    let cases = std::env::var("GRAMMATA_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(20);
    let mut rng = StdRng::seed_from_u64(61);
    let (exact, inexact) = decoders();
    for decoder in &inexact {
        let error = load(&file(decoder, &mut rng)).unwrap_err();
        assert_eq!(error.code(), "vocabulary/decoder", "{decoder}: {error}");
    }
    let (mut ids, mut sequences) = (0, 0);
    for decoder in exact.iter().flat_map(|decoder| std::iter::repeat_n(decoder, cases)) {
        let file = file(decoder, &mut rng);
        let vocabulary = load(&file).unwrap();
        let library = Tokenizer::from_bytes(file.to_string()).unwrap();
        assert_eq!(vocabulary.len(), library.get_vocab_size(true), "{file}");
        // a token in front, since decoders drop a space of the first one
        let front = 0;
        let ordinary: Vec<u32> =
            (0..vocabulary.len() as u32).filter(|&id| vocabulary.bytes(TokenId::new(id)).is_some()).collect();
        let compare = |tokens: &[u32]| {
            let all: Vec<u32> = [front].into_iter().chain(tokens.iter().copied()).collect();
            let decoded = library.decode(&all, false).unwrap();
            let bytes: Vec<u8> =
                all.iter().flat_map(|&id| vocabulary.bytes(TokenId::new(id)).unwrap()).copied().collect();
            // the library has other replacement characters in byte fallback
            match String::from_utf8(bytes) {
                Ok(text) => assert_eq!(decoded, text, "{tokens:?} {decoder} {}", file["normalizer"]),
                Err(_) => assert!(decoded.contains('\u{FFFD}'), "{tokens:?} {decoded:?} {decoder}"),
            }
        };
        for &id in &ordinary {
            compare(&[id]);
            ids += 1;
        }
        for _ in 0..50 {
            let tokens: Vec<u32> = (0..4).map(|_| ordinary[rng.random_range(0..ordinary.len())]).collect();
            compare(&tokens);
            sequences += 1;
        }
        // the bytes of the mark, one by one
        if decoder.to_string().contains("ByteFallback") {
            let bytes = "▁€".bytes().map(|byte| format!("<0x{byte:02X}>"));
            let tokens: Vec<u32> = bytes.filter_map(|token| library.token_to_id(&token)).collect();
            if tokens.iter().all(|id| ordinary.contains(id)) {
                compare(&tokens);
            }
        }
    }
    assert!(ids > 300 * cases * exact.len() / 2 && sequences == 50 * cases * exact.len());
}

/// A file without a decoder: the library cannot decode it, and added tokens are their content.
#[test]
fn added_tokens_without_a_decoder_are_literal() {
    let mut file = file(&byte_level(), &mut StdRng::seed_from_u64(3));
    file["decoder"] = Value::Null;
    file["pre_tokenizer"] = byte_level();
    let vocabulary = load(&file).unwrap();
    let added = file["added_tokens"].as_array().unwrap();
    let id = added.iter().find(|token| token["content"] == "für").unwrap()["id"].as_u64().unwrap() as u32;
    assert_eq!(vocabulary.bytes(TokenId::new(id)), Some("für".as_bytes()));
}

#[test]
fn a_list_of_pieces_without_a_type_is_a_unigram_model() {
    let added = r#"[{"id": 0, "content": "</s>", "special": true}]"#;
    let file = format!(
        r#"{{"added_tokens": {added}, "decoder": {{"type": "Metaspace", "replacement": "▁"}},
            "model": {{"unk_id": 1, "vocab": [["</s>", 0.0], ["<unk>", 0.0], ["▁the", -2.5], ["a", -3.0]]}}}}"#
    );
    let vocabulary = Vocabulary::from_file_bytes(file.as_bytes(), &LoadOptions::default()).unwrap();
    let bytes = |id| vocabulary.bytes(TokenId::new(id));
    assert_eq!([bytes(0), bytes(1), bytes(2), bytes(3)], [None, None, Some(&b" the"[..]), Some(&b"a"[..])]);
    assert_eq!(vocabulary.special(TokenId::new(1)), Some("<unk>"));
}

mod rank_files {
    use super::*;

    fn load(text: &str, options: &LoadOptions) -> grammata::Result<Vocabulary> {
        Vocabulary::from_file_bytes(text.as_bytes(), options)
    }

    fn options(eos: &[u32]) -> LoadOptions {
        LoadOptions::default().eos(eos.iter().copied().map(TokenId::new).collect())
    }

    #[test]
    fn a_line_without_bytes_is_an_unused_id() {
        let named = options(&[3]).specials(vec![("<|endoftext|>".into(), TokenId::new(3))]);
        for text in ["YQ== 0\nYg== 1\n= 2\n", "= 2\nYg== 1\nYQ== 0"] {
            let vocabulary = load(text, &named).unwrap();
            assert_eq!(vocabulary.bytes(TokenId::new(1)), Some(&b"b"[..]));
            assert_eq!((vocabulary.bytes(TokenId::new(2)), vocabulary.width()), (None, 4));
        }
        for text in ["YQ== 0\n== 1\n", "YQ== 0\n 1\n", "YQ== 0\n=x 1\n"] {
            assert_eq!(load(text, &named).unwrap_err().code(), "vocabulary/tiktoken", "{text}");
        }
    }

    #[test]
    fn ends_past_the_ranks_need_a_width_or_a_name() {
        let text = "YQ== 0\nYg== 1\n";
        let error = load(text, &options(&[5])).unwrap_err();
        assert_eq!(error.code(), "vocabulary/eos-range");
        let message = error.to_string();
        for part in ["5, 2 ranks", "LoadOptions::width", "LoadOptions::specials", "config.json"] {
            assert!(message.contains(part), "{message}");
        }
        assert_eq!(load(text, &options(&[5]).width(Some(8))).unwrap().width(), 8);
        let named = options(&[5]).specials(vec![("<|eot|>".into(), TokenId::new(5))]);
        assert_eq!(load(text, &named).unwrap().eos(), [TokenId::new(5)]);
        assert_eq!(load(text, &options(&[1])).unwrap().eos(), [TokenId::new(1)]);
        // a width that is too small is still an error about the range
        assert_eq!(load(text, &options(&[5]).width(Some(4))).unwrap_err().code(), "vocabulary/eos-range");
    }
}
