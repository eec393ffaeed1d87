//! Reading tokenizer files: the bytes of tokens, compared with the `tokenizers` crate; damaged and hostile files.

use grammata::vocabulary::load::EOS_NAMES;
use grammata::vocabulary::{LoadOptions, VocabularyBuilder};
use grammata::{ErrorKind, Limits, TokenId, Vocabulary};
use rand::prelude::*;
use rand::rngs::StdRng;
use serde::Deserialize;
use std::path::Path;

const SMOLLM2: &str = "tests/data/smollm2/tokenizer.json";
const CASES: &str = "tests/cases/vocabulary";

fn id(id: u32) -> TokenId {
    TokenId::new(id)
}

fn options() -> LoadOptions {
    LoadOptions::default()
}

fn load(content: impl AsRef<[u8]>) -> grammata::Result<Vocabulary> {
    Vocabulary::from_file_bytes(content.as_ref(), &options())
}

fn load_fixture(name: &str) -> Vocabulary {
    Vocabulary::from_file(Path::new(CASES).join(name), &options()).unwrap()
}

/// Returns a `tokenizer.json` with these parts.
fn tokenizer(model: &str, decoder: &str, added: &str) -> String {
    format!(r#"{{"added_tokens": [{added}], "decoder": {decoder}, "model": {model}}}"#)
}

mod against_the_tokenizers_crate {
    use super::*;
    use crate::texts::texts;
    use std::collections::HashSet;
    use tokenizers::{NormalizedString, Normalizer, Tokenizer};

    /// Returns the bytes of a text after the tokenizer's normalisation, with ▁ as spaces. Bytes without a token of
    /// their own are left out: BPE without an unknown token drops them, and no text has them in longer tokens.
    fn normalized(vocabulary: &Vocabulary, tokenizer: &Tokenizer, metaspace: bool, text: &str) -> Vec<u8> {
        let mut normalized = NormalizedString::from(text);
        if let Some(normalizer) = tokenizer.get_normalizer() {
            normalizer.normalize(&mut normalized).unwrap();
        }
        let text = if metaspace { normalized.get().replace('▁', " ") } else { normalized.get().to_owned() };
        let missing = vocabulary.missing_bytes();
        text.bytes().filter(|&b| !missing[b as usize]).collect()
    }

    fn spelt(vocabulary: &Vocabulary, tokenizer: &Tokenizer, text: &str) -> Vec<u8> {
        let encoding = tokenizer.encode(text, false).unwrap();
        let bytes = encoding.get_ids().iter().flat_map(|&token| {
            vocabulary.bytes(id(token)).unwrap_or_else(|| panic!("token {token} in {text:?} has no bytes"))
        });
        bytes.copied().collect()
    }

    /// Checks that the encoding of each text spells the text, and that each token's bytes equal the crate's decoding of
    /// the token.
    fn check(path: &Path) {
        let vocabulary = Vocabulary::from_file(path, &options()).unwrap();
        let tokenizer = Tokenizer::from_file(path).unwrap();
        let decoder = serde_json::to_string(&tokenizer.get_decoder().unwrap()).unwrap();
        let metaspace = decoder.contains('▁');
        for text in texts(11, 1000) {
            let spelt = spelt(&vocabulary, &tokenizer, &text);
            let wanted = normalized(&vocabulary, &tokenizer, metaspace, &text);
            assert_eq!(spelt, wanted, "{} {text:?}", path.display());
        }
        // a token in front keeps the decoder from stripping a leading space; added tokens are literal, and the crate
        // cannot show a byte that is not a character
        let front = vocabulary.encode_greedy(b"x").unwrap()[0];
        let added: HashSet<u32> = tokenizer.get_added_vocabulary().get_vocab().values().copied().collect();
        let shown = |bytes: &[u8]| bytes.len() > 1 || bytes[0] < 0x80;
        for (token, bytes) in vocabulary.tokens().filter(|&(_, bytes)| shown(bytes)) {
            if !added.contains(&token.get()) {
                let decoded = tokenizer.decode(&[front.get(), token.get()], false).unwrap();
                assert_eq!(decoded, format!("x{}", String::from_utf8_lossy(bytes)), "token {token}");
            }
        }
    }

    #[test]
    fn smollm2() {
        check(Path::new(SMOLLM2));
        // without a normalizer and a prefix, the tokens spell the text itself
        let mut whole = 0;
        let vocabulary = Vocabulary::from_file(SMOLLM2, &options()).unwrap();
        let tokenizer = Tokenizer::from_file(SMOLLM2).unwrap();
        let missing = vocabulary.missing_bytes();
        for text in texts(12, 2000).iter().filter(|text| text.bytes().all(|b| !missing[b as usize])) {
            assert_eq!(spelt(&vocabulary, &tokenizer, text), text.as_bytes());
            whole += 1;
        }
        assert!(whole > 1000, "{whole}");
    }

    #[test]
    fn byte_fallback() {
        let path = Path::new(CASES).join("byte_fallback.json");
        check(&path);
        let vocabulary = Vocabulary::from_file(&path, &options()).unwrap();
        let tokenizer = Tokenizer::from_file(&path).unwrap();
        for text in texts(13, 1000) {
            assert_eq!(spelt(&vocabulary, &tokenizer, &text), format!(" {text}").into_bytes());
        }
    }

    #[test]
    fn unigram() {
        let path = Path::new(CASES).join("unigram.json");
        let vocabulary = Vocabulary::from_file(&path, &options()).unwrap();
        let tokenizer = Tokenizer::from_file(&path).unwrap();
        for text in texts(14, 1000) {
            // Metaspace puts a space in front of a text that does not begin with one
            let wanted = if text.starts_with(' ') { text.clone() } else { format!(" {text}") };
            assert_eq!(spelt(&vocabulary, &tokenizer, &text), wanted.into_bytes());
        }
    }

    /// Checks tokenizers that cannot be part of this repository: `GRAMMATA_TOKENIZERS=DIR`, with
    /// `DIR/*/tokenizer.json`.
    #[test]
    fn real_tokenizers() {
        let default = Path::new(SMOLLM2).parent().and_then(Path::parent).unwrap().to_owned();
        let folder = std::env::var_os("GRAMMATA_TOKENIZERS").map_or(default, Into::into);
        let mut checked = 0;
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path().join("tokenizer.json");
            // the tokenizer of an embedder does not give exact bytes
            let is_embedder = path.parent().is_some_and(|folder| folder.ends_with("tiny-embedder"));
            if path.exists() && !is_embedder {
                check(&path);
                checked += 1;
            }
        }
        assert!(checked > 0);
    }
}

#[test]
fn smollm2_is_what_its_card_says() {
    let vocabulary = Vocabulary::from_file(SMOLLM2, &options()).unwrap();
    assert_eq!((vocabulary.width(), vocabulary.len(), vocabulary.mask_words()), (49152, 49152, 1536));
    assert_eq!(vocabulary.specials().len(), 17);
    assert_eq!(vocabulary.eos(), [id(0), id(2)], "<|endoftext|> and <|im_end|>");
    let given = options().eos(vec![id(2)]).width(Some(49280));
    let vocabulary = Vocabulary::from_file(SMOLLM2, &given).unwrap();
    assert_eq!((vocabulary.eos(), vocabulary.width()), (&[id(2)][..], 49280));
    assert_eq!(vocabulary.bytes(id(49279)), None);
}

#[test]
fn well_known_names_end_a_sequence() {
    for name in EOS_NAMES {
        let list = format!(r#"["a", {{"special": "<s>"}}, {{"special": "{name}"}}, "{name}"]"#);
        assert_eq!(load(list).unwrap().eos(), [id(2)], "{name}: the special token, not the text");
    }
    let all: Vec<String> = EOS_NAMES.iter().map(|name| format!(r#"{{"special": "{name}"}}"#)).collect();
    let vocabulary = load(format!(r#"["a", {}]"#, all.join(","))).unwrap();
    assert_eq!(vocabulary.eos().len(), EOS_NAMES.len());
    // `<|end|>` only ends a part of a turn, in GPT-OSS
    assert_eq!(load(r#"["a", {"special": "<|end|>"}]"#).unwrap_err().code(), "vocabulary/no-eos");
}

#[test]
fn ends_of_sequence_have_names_of_their_own() {
    let ids = |ids: [u32; 4]| ids.map(TokenId::new);
    let builder = VocabularyBuilder::from_tokens(["a", "a", "b", "c", "d"]).eos(ids([0, 1, 2, 3]));
    let vocabulary = builder.special(TokenId::new(2), "<|1|>").build().unwrap();
    let names = ids([0, 1, 2, 3]).map(|id| vocabulary.special(id).unwrap());
    assert_eq!(names, ["a", "<|1|a>", "<|1|>", "c"]);
    for (id, name) in vocabulary.specials() {
        assert_eq!(vocabulary.special_id(name), Some(id), "{name}");
    }
}

#[test]
fn specials_are_never_bytes() {
    let vocabulary = load_fixture("byte_fallback.json");
    let names: Vec<_> = vocabulary.specials().map(|(token, name)| (token.get(), name)).collect();
    assert_eq!(names, [(0, "<unk>"), (1, "<s>"), (2, "</s>")]);
    assert!(names.iter().all(|&(token, _)| vocabulary.bytes(id(token)).is_none()));
    assert_eq!(vocabulary.bytes(id(3)), Some(&[0][..]));
    assert_eq!(vocabulary.bytes(id(3 + 255)), Some(&[255][..]));
    // an added token that is not special is the bytes of its content
    let tool = vocabulary.tokens().find(|(_, bytes)| bytes == b"<tool>");
    assert!(tool.is_some());
    // a Unigram model's unknown token is special although it is not an added token
    assert_eq!(load_fixture("unigram.json").special(id(0)), Some("<unk>"));
}

#[test]
fn added_tokens() {
    let model = r#"{"type": "BPE", "vocab": {"a": 0, "▁▁": 1}, "merges": []}"#;
    let decoder = r#"{"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always"}"#;
    let added = r#"{"id": 1, "content": "▁▁"}, {"id": 2, "content": "▁x", "special": false},
                   {"id": 5, "content": "</s>", "special": true}"#;
    let vocabulary = load(tokenizer(model, decoder, added)).unwrap();
    assert_eq!(vocabulary.bytes(id(1)), Some(&b"  "[..]), "the model makes it from two spaces");
    assert_eq!(vocabulary.bytes(id(2)), Some(&b" x"[..]), "the decoder makes it");
    assert_eq!([3, 4, 5].map(|i| vocabulary.bytes(id(i))), [None; 3]);
    assert_eq!((vocabulary.width(), vocabulary.eos()), (6, &[id(5)][..]));
}

#[test]
fn without_a_decoder_the_pre_tokenizer_decides() {
    let file = |pre_tokenizer: &str, token: &str| {
        let added = r#"{"id": 9, "content": "</s>", "special": true}"#;
        let model = format!(r#"{{"type": "BPE", "vocab": {{"{token}": 0}}, "merges": []}}"#);
        let parts = tokenizer(&model, "null", added);
        parts.replacen('{', &format!(r#"{{"pre_tokenizer": {pre_tokenizer}, "#), 1)
    };
    let byte_level = r#"{"type": "Sequence", "pretokenizers": [{"type": "Digits"}, {"type": "ByteLevel"}]}"#;
    assert_eq!(load(file(byte_level, "Ġa")).unwrap().bytes(id(0)), Some(&b" a"[..]));
    let metaspace = r#"{"type": "Metaspace", "replacement": "_"}"#;
    assert_eq!(load(file(metaspace, "_a")).unwrap().bytes(id(0)), Some(&b" a"[..]));
    assert_eq!(load(file(r#"{"type": "Whitespace"}"#, "a")).unwrap_err().code(), "vocabulary/decoder");
}

#[test]
fn tekken() {
    let vocabulary = load_fixture("tekken.json");
    // 24 special ids, then the tokens up to `default_vocab_size`
    assert_eq!((vocabulary.width(), vocabulary.len(), vocabulary.eos()), (286, 286, &[id(2)][..]));
    let specials: Vec<&str> = vocabulary.specials().map(|(_, name)| name).collect();
    assert_eq!((specials.len(), &specials[3..6]), (24, &["[INST]", "[/INST]", "<SPECIAL_5>"][..]));
    for byte in 0..=255 {
        assert_eq!(vocabulary.bytes(id(24 + u32::from(byte))), Some(&[byte][..]));
    }
    assert_eq!(vocabulary.bytes(id(281)), Some("€".as_bytes()));
    assert_eq!(vocabulary.encode_greedy(b"not used").unwrap().len(), 8);
    // files up to version 7 imply special tokens that they do not list
    let text = std::fs::read_to_string(Path::new(CASES).join("tekken.json")).unwrap();
    let old = load(text.replace("special_tokens\": [", "unknown\": [")).unwrap();
    let specials: Vec<&str> = old.specials().map(|(_, name)| name).collect();
    assert_eq!((specials[9], specials[19], specials[20]), ("[TOOL_CALLS]", "[TOOL_CONTENT]", "<SPECIAL_20>"));
    assert_eq!(old.eos(), [id(2)]);
    // in a `tokenizer.json`, these members have no meaning
    let other = r#"{"config": {}, "vocab": [], "model": {"type": "BPE", "vocab": {"a": 0}, "merges": []},
        "decoder": {"type": "ByteLevel"}, "added_tokens": [{"id": 1, "content": "</s>", "special": true}]}"#;
    assert_eq!(load(other).unwrap().bytes(id(0)), Some(&b"a"[..]));
}

#[test]
fn limits_of_tekken_files() {
    let text = std::fs::read_to_string(Path::new(CASES).join("tekken.json")).unwrap();
    let refused = |from: &str, to: &str, limits: Limits| {
        let options = options().limits(limits);
        Vocabulary::from_file_bytes(text.replacen(from, to, 1).as_bytes(), &options).unwrap_err().to_string()
    };
    let size = "\"default_vocab_size\": 286";
    let error = refused(size, "\"default_vocab_size\": 4000000000", Limits::default());
    assert!(error.contains("limit/exceeded") && error.contains("vocabulary_tokens"), "{error}");
    let error = refused("", "", Limits::default().vocabulary_tokens(285));
    assert!(error.contains("limit/exceeded"), "{error}");
    let error = refused("", "", Limits::default().token_bytes(3));
    assert!(error.contains("limit/exceeded") && error.contains("token_bytes"), "{error}");
    let error = refused(
        "286, \"default_num_special_tokens\": 24",
        "1000000, \"default_num_special_tokens\": 999999",
        Limits::default(),
    );
    assert!(error.contains("vocabulary/tekken") && error.contains("allowed: at most 65536"), "{error}");
}

/// What SentencePiece decodes of a model of `sentencepiece.json`: each id after another one, and whole texts.
#[derive(Deserialize)]
struct Decoded {
    tokens: Vec<DecodedToken>,
    texts: Vec<DecodedText>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum DecodedToken {
    Text(String),
    Bytes(Vec<u8>),
    Special { special: String },
}

#[derive(Deserialize)]
struct DecodedText {
    ids: Vec<u32>,
    decoded: String,
}

#[test]
fn sentencepiece() {
    let text = std::fs::read_to_string(Path::new(CASES).join("sentencepiece.json")).unwrap();
    let models: std::collections::BTreeMap<String, Decoded> = serde_json::from_str(&text).unwrap();
    assert_eq!(models.len(), 2);
    for (name, decoded) in models {
        let vocabulary = load_fixture(&format!("{name}.model"));
        assert_eq!(vocabulary.width(), decoded.tokens.len(), "{name}");
        for (number, token) in (0..).zip(&decoded.tokens) {
            let (bytes, special) = match token {
                DecodedToken::Text(text) => (Some(text.as_bytes()), None),
                DecodedToken::Bytes(bytes) => (Some(&bytes[..]), None),
                DecodedToken::Special { special } => (None, Some(&special[..])),
            };
            assert_eq!(vocabulary.bytes(id(number)), bytes, "{name}, {number}");
            assert_eq!(vocabulary.special(id(number)), special, "{name}, {number}");
        }
        for DecodedText { ids, decoded } in decoded.texts {
            let bytes: Vec<u8> =
                ids.iter().flat_map(|&token| vocabulary.bytes(id(token)).unwrap()).copied().collect();
            // SentencePiece puts a space before a text
            assert_eq!(String::from_utf8(bytes).unwrap(), format!(" {decoded}"), "{name}");
        }
    }
    let names = |vocabulary: &Vocabulary| vocabulary.eos().to_vec();
    assert_eq!(names(&load_fixture("bpe.model")), [id(2)]);
    assert_eq!(names(&load_fixture("unigram.model")), [id(1)]);
}

#[test]
fn damaged_sentencepiece_models() {
    let whole = std::fs::read(Path::new(CASES).join("unigram.model")).unwrap();
    let piece = |text: &[u8], kind: u8| {
        let mut message = vec![0x0A, text.len() as u8];
        message.extend_from_slice(text);
        message.extend_from_slice(&[0x18, kind]);
        [&[0x0A, message.len() as u8], &message[..]].concat()
    };
    let cases: [(Vec<u8>, &str, &str); 8] = [
        ([&whole[..], &piece(b"", 1)].concat(), "vocabulary/sentencepiece", "#/pieces/180"),
        ([&whole[..], &piece(b"\xFF", 1)].concat(), "vocabulary/sentencepiece", "a piece is not UTF-8"),
        ([&whole[..], &piece(b"<0x+1>", 6)].concat(), "vocabulary/sentencepiece", "`<0x00>` to `<0xFF>`"),
        ([&whole[..], &[0x0A, 200]].concat(), "vocabulary/sentencepiece", "byte 2203"),
        ([&whole[..], &[0x0B]].concat(), "vocabulary/sentencepiece", "byte 2203"),
        ([&whole[..], &[0x10], &[0xFF; 10]].concat(), "vocabulary/sentencepiece", "byte 2203"),
        ([&whole[..], &[0x2A, 3, 0x12, 1, 7]].concat(), "vocabulary/decoder", "denormalizer_spec"),
        (piece(b"a", 1), "vocabulary/no-eos", "LoadOptions::eos"),
    ];
    for (content, code, part) in cases {
        let error = load(content).unwrap_err();
        assert_eq!(error.code(), code, "{error}");
        assert!(error.to_string().contains(part), "{error}");
    }
    let options = options().limits(Limits::default().vocabulary_tokens(179));
    assert_eq!(Vocabulary::from_file_bytes(&whole, &options).unwrap_err().code(), "limit/exceeded");
    // all files that are cut off: an error, or fewer tokens, never a panic
    for length in 0..whole.len() {
        let _ = load(&whole[..length]);
    }
    // a white space that looks like the beginning of a model
    assert_eq!(load("\n \n\t[\"a\", {\"special\": \"</s>\"}]").unwrap().width(), 2);
}

#[test]
fn tiktoken_round_trip() {
    use base64::Engine;
    let mut rng = StdRng::seed_from_u64(21);
    let tokens: Vec<Vec<u8>> =
        (0..2000).map(|_| (0..rng.random_range(1..12)).map(|_| rng.random()).collect()).collect();
    let encode = |bytes: &[u8]| base64::engine::general_purpose::STANDARD.encode(bytes);
    let mut lines: Vec<String> =
        tokens.iter().enumerate().map(|(rank, token)| format!("{} {rank}", encode(token))).collect();
    lines.shuffle(&mut rng);
    for newline in ["\n", "\r\n", "\n\n"] {
        let options = options().specials(vec![("<|endoftext|>".into(), id(2005))]);
        let vocabulary = Vocabulary::from_file_bytes(lines.join(newline).as_bytes(), &options).unwrap();
        assert_eq!((vocabulary.width(), vocabulary.eos()), (2006, &[id(2005)][..]));
        let read: Vec<_> = vocabulary.tokens().map(|(_, bytes)| bytes.to_vec()).collect();
        assert_eq!(read, tokens);
    }
}

#[test]
fn list_round_trip() {
    let tokens: [&[u8]; 6] = [b"a", b"\"\\\n", "é👍🏽".as_bytes(), b"\xFF\x00", b"", b"b"];
    let wanted = VocabularyBuilder::from_tokens(tokens).special(id(6), "</s>").eos([id(6)]).build().unwrap();
    let elements: Vec<String> = (0..7)
        .map(|i| match (wanted.bytes(id(i)).map(std::str::from_utf8), wanted.special(id(i))) {
            (Some(Ok(text)), _) => serde_json::to_string(text).unwrap(),
            (Some(Err(_)), _) => serde_json::to_string(wanted.bytes(id(i)).unwrap()).unwrap(),
            (None, Some(name)) => format!(r#"{{"special": "{name}"}}"#),
            (None, None) => "null".into(),
        })
        .collect();
    assert_eq!(load(format!("\u{FEFF} [{}]\n", elements.join(", "))).unwrap(), wanted);
}

/// A tokenizer file, and the whole text of the error that it must lead to.
#[derive(Deserialize)]
struct Case {
    name: String,
    content: String,
    error: String,
}

#[derive(Deserialize)]
struct Cases {
    case: Vec<Case>,
}

#[test]
fn damaged_and_unsupported_files() {
    let text = std::fs::read_to_string(Path::new(CASES).join("refused.toml")).unwrap();
    let cases: Cases = toml::from_str(&text).unwrap();
    let mut wrong = String::new();
    for case in &cases.case {
        let error = match load(&case.content) {
            Ok(vocabulary) => format!("{vocabulary:?}"),
            Err(error) => error.to_string(),
        };
        if error != case.error.trim_end() {
            wrong.push_str(&format!("== {}\n{error}\n", case.name));
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert!(cases.case.len() > 30);
}

#[test]
fn truncated_files_are_errors() {
    let content = std::fs::read(SMOLLM2).unwrap();
    let mut rng = StdRng::seed_from_u64(31);
    for step in 0..60 {
        let end = if step < 30 { rng.random_range(0..2000) } else { rng.random_range(0..content.len()) };
        let error = load(&content[..end]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Vocabulary, "cut off at {end}: {error}");
    }
    for name in ["byte_fallback.json", "tekken.json", "unigram.json"] {
        let content = std::fs::read(Path::new(CASES).join(name)).unwrap();
        for end in 0..content.len() {
            assert!(load(&content[..end]).is_err(), "{name} cut off at {end}");
        }
    }
}

#[test]
fn changed_bytes_never_panic() {
    let mut rng = StdRng::seed_from_u64(32);
    let mut errors = 0;
    for name in ["byte_fallback.json", "tekken.json", "unigram.json"] {
        let content = std::fs::read(Path::new(CASES).join(name)).unwrap();
        for _ in 0..2000 {
            let mut content = content.clone();
            for _ in 0..rng.random_range(1..4) {
                let at = rng.random_range(0..content.len());
                content[at] = *[rng.random(), b'"', b'{', b'[', b'9', b'}', 0xFF].choose(&mut rng).unwrap();
            }
            errors += usize::from(load(content).is_err());
        }
    }
    assert!(errors > 1000, "{errors}");
}

#[test]
fn hostile_files_are_errors() {
    let deep = 1_000_000;
    let nested = [
        "[".repeat(deep),
        r#"{"model":"#.repeat(deep),
        format!(r#"{{"decoder": {}"#, r#"{"type":"Sequence","decoders":["#.repeat(deep)),
        format!(r#"{{"model": {{"vocab": {}"#, "[".repeat(deep)),
        format!(r#"{{"unknown": {}{}}}"#, "[".repeat(deep), "]".repeat(deep)),
        r#"[{"special":"#.repeat(deep),
    ];
    for content in nested {
        assert_eq!(load(&content).unwrap_err().kind(), ErrorKind::Vocabulary, "{:.40}", content);
    }
    let many = format!(r#"[{}"a"]"#, r#""a","#.repeat(5_000_000));
    let long = format!(r#"["{}"]"#, "a".repeat(70_000));
    let growing = tokenizer(
        &format!(r#"{{"type": "BPE", "merges": [], "vocab": {{"{}": 0}}}}"#, "a".repeat(60_000)),
        &format!(
            r#"{{"type": "Replace", "pattern": {{"String": "a"}}, "content": "{}"}}"#,
            "b".repeat(1_000_000)
        ),
        "",
    );
    let far =
        tokenizer(r#"{"type":"BPE","merges":[],"vocab":{"a":4294967295}}"#, r#"{"type":"ByteLevel"}"#, "");
    for content in [many, long, growing, far, "YQ== 4294967295".to_owned()] {
        let error = load(&content).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Limit, "{error}");
    }
}

#[test]
fn the_size_of_a_file_is_limited() {
    let limits = Limits::default().tokenizer_bytes(1000);
    let small = options().limits(limits);
    let error = Vocabulary::from_file(SMOLLM2, &small).unwrap_err();
    assert!(error.to_string().contains("`Limits::tokenizer_bytes`"), "{error}");
    if Path::new("/dev/zero").exists() {
        assert_eq!(Vocabulary::from_file("/dev/zero", &small).unwrap_err().code(), "io/no-file");
    }
    assert_eq!(Vocabulary::from_file_bytes(&[b'['; 1001], &small).unwrap_err().kind(), ErrorKind::Limit);
    assert_eq!(Vocabulary::from_file("tests/no-such-file", &small).unwrap_err().kind(), ErrorKind::Io);
}

mod added_tokens {
    use super::*;
    use grammata::Compiler;
    use grammata::syntax::{gbnf, json_schema};
    use grammata::vocabulary::AddedTokens;
    use std::sync::Arc;

    /// Returns a file like that of Qwen 3: `<think>` (4) and `<tool_call>` (5) are added tokens that are not flagged as
    /// special.
    fn qwen() -> String {
        let added = |id: u32, content: &str, special: bool| {
            format!(r#"{{"id": {id}, "content": "{content}", "special": {special}}}"#)
        };
        let added =
            [added(3, "<|im_end|>", true), added(4, "<think>", false), added(5, "<tool_call>", false)];
        let model = r#"{"type": "BPE", "vocab": {"a": 0, "\"": 1, "<": 2}, "merges": []}"#;
        tokenizer(model, r#"{"type": "ByteLevel"}"#, &added.join(", "))
    }

    fn read(added: AddedTokens) -> Vocabulary {
        Vocabulary::from_file_bytes(qwen().as_bytes(), &options().added(added)).unwrap()
    }

    fn named(names: &[&str]) -> AddedTokens {
        AddedTokens::Named(names.iter().map(|&name| name.to_owned()).collect())
    }

    #[test]
    fn added_tokens_are_special_where_the_options_say_so() {
        let cases = [
            (AddedTokens::Flagged, vec![3]),
            (named(&[]), vec![3]),
            (named(&["<think>", "<|im_end|>"]), vec![3, 4]),
            (AddedTokens::Special, vec![3, 4, 5]),
        ];
        for (added, expected) in cases {
            let vocabulary = read(added.clone());
            let specials: Vec<u32> = vocabulary.specials().map(|(id, _)| id.get()).collect();
            assert_eq!(specials, expected, "{added:?}");
            assert_eq!(vocabulary.bytes(id(4)).is_some(), !expected.contains(&4));
            assert_eq!(vocabulary.eos(), [id(3)]);
        }
    }

    #[test]
    fn strings_do_not_hold_them_and_token_terminals_take_them() {
        let string = json_schema::compile(r#"{"type": "string"}"#, &json_schema::Options::default()).unwrap();
        let thought = gbnf::compile(r#"root ::= <think> "a""#, &gbnf::Options::default()).unwrap();
        for (added, in_string) in [(AddedTokens::Flagged, true), (named(&["<think>"]), false)] {
            let compiler = Compiler::new(Arc::new(read(added)));
            let mut matcher = compiler.compile(&string.grammar).unwrap().matcher();
            matcher.accept_bytes(b"\"").unwrap();
            let mask = matcher.mask().unwrap();
            assert_eq!((mask.contains(id(4)), mask.contains(id(5))), (in_string, true));
            // the text of token 4 can still be spelled, by other tokens
            assert!(mask.contains(id(2)));
            let mut matcher = compiler.compile(&thought.grammar).unwrap().matcher();
            let allowed: Vec<u32> = matcher.mask().unwrap().iter().map(TokenId::get).collect();
            assert_eq!(allowed, [4]);
        }
    }

    #[test]
    fn names_that_no_added_token_has_are_refused() {
        let options = |names| options().added(named(names));
        let error = Vocabulary::from_file_bytes(qwen().as_bytes(), &options(&["<thnk>"])).unwrap_err();
        assert_eq!((error.kind(), error.code()), (ErrorKind::Vocabulary, "vocabulary/no-added-token"));
        assert!(error.to_string().contains("did you mean `<think>`?"), "{error}");
        // a token of the model itself is not an added token
        let error = Vocabulary::from_file_bytes(qwen().as_bytes(), &options(&["a"])).unwrap_err();
        assert_eq!(error.code(), "vocabulary/no-added-token");
        let list = br#"["a", "<think>", "</s>"]"#;
        let list_options = |names| options(names).eos(vec![id(2)]);
        let error = Vocabulary::from_file_bytes(list, &list_options(&["<think>"])).unwrap_err();
        assert_eq!(error.code(), "vocabulary/no-added-token");
        assert!(Vocabulary::from_file_bytes(list, &list_options(&[])).is_ok());
    }
}
