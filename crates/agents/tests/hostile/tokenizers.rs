//! Tokenizer files that are malformed or built to take much time or memory.

use super::{Case, Kind, family};
use serde_json::json;

const KIND: Kind = Kind::Tokenizer;

/// Returns a pseudo-random number for a place (the mixing function of SplitMix64).
fn scrambled(place: usize) -> u64 {
    let mut x = (place as u64).wrapping_add(0x9E37_79B9_7F4A_7C15);
    x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ (x >> 31)
}

/// Returns a token of `length` hexadecimal digits, which differs between places if it is long enough.
fn token(place: usize, length: usize) -> String {
    let mut text = String::with_capacity(length + 16);
    let mut part = 0;
    while text.len() < length {
        text.push_str(&format!("{:016x}", scrambled(place * 64 + part)));
        part += 1;
    }
    text.truncate(length);
    text
}

/// Returns a file in the format of the library `tokenizers`, with a byte-level BPE vocabulary whose ids count from 0.
fn huggingface(tokens: impl Iterator<Item = String>, merges: Vec<String>) -> String {
    let vocabulary: serde_json::Map<String, serde_json::Value> =
        tokens.enumerate().map(|(id, token)| (token, json!(id))).collect();
    json!({
        "version": "1.0", "truncation": null, "padding": null, "added_tokens": [],
        "normalizer": null, "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false},
        "post_processor": null, "decoder": {"type": "ByteLevel"},
        "model": {"type": "BPE", "vocab": vocabulary, "merges": merges}
    })
    .to_string()
}

fn list(tokens: impl Iterator<Item = String>) -> String {
    serde_json::Value::from(tokens.collect::<Vec<_>>()).to_string()
}

/// Returns all inputs that are tokenizer files.
pub(super) fn cases() -> Vec<Case> {
    let bytes = || (b'!'..=b'~').map(|byte| char::from(byte).to_string());
    let whole = huggingface(bytes(), Vec::new());
    let counts = [100, 1_000, 10_000, 100_000, 300_000, 1_000_000];
    let mut all = vec![
        family(KIND, "list of tokens of 24 bytes", &counts, |n| list((0..n).map(|i| token(i, 24)))),
        family(KIND, "list of tokens of 700 bytes", &[100, 1_000, 10_000, 20_000], |n| {
            list((0..n).map(|i| token(i, 700)))
        }),
        family(KIND, "list of tokens of 60,000 bytes", &[1, 10, 100, 250], |n| {
            list((0..n).map(|i| token(i, 60_000)))
        }),
        family(
            KIND,
            "list of one token of a length",
            &[65_535, 65_536, 65_537, 1_000_000, 10_000_000],
            |n| list(std::iter::once("x".repeat(n))),
        ),
        family(KIND, "list of prefixes", &[100, 1_000, 5_000], |n| list((1..n).map(|i| "x".repeat(i)))),
        family(KIND, "list of equal tokens", &[2, 1_000, 100_000], |n| {
            list((0..n).map(|_| "same".to_owned()))
        }),
        family(KIND, "list of empty tokens", &[1, 100_000], |n| list((0..n).map(|_| String::new()))),
        family(KIND, "nested brackets", &[10, 1_000, 100_000, 1_000_000], |n| "[".repeat(n)),
        family(KIND, "nested objects", &[10, 1_000, 100_000], |n| "{\"a\":".repeat(n)),
        family(KIND, "BPE", &[1_000, 30_000, 200_000], |n| {
            huggingface(bytes().chain((0..n).map(|i| token(i, 12))), Vec::new())
        }),
        family(KIND, "BPE with merges of nothing", &[1, 1_000, 50_000], |n| {
            huggingface(bytes(), (0..n).map(|i| format!("{} {}", token(i, 8), token(i + 1, 8))).collect())
        }),
        family(KIND, "BPE with merges in a circle", &[2, 100], |n| {
            huggingface(bytes(), (0..n).map(|_| "a b".to_owned()).collect())
        }),
        family(KIND, "truncated", &[1, 2, 10, 50, 100, 200, 400, 700], |n| {
            whole[..n.min(whole.len())].to_owned()
        }),
        family(KIND, "ids with gaps", &[1_000, 1_000_000, 4_000_000, 4_294_967_295], |n| {
            whole.replacen(":0,", &format!(":{n},"), 1)
        }),
        family(KIND, "ids below zero or beyond", &[0, 1, 2, 3], |n| {
            whole.replacen(":0,", [":-1,", ":1e3,", ":0.5,", ":99999999999999999999,"][n], 1)
        }),
        family(KIND, "tiktoken", &[100, 10_000, 100_000, 300_000], |n| {
            (0..n).map(|i| format!("{} {i}\n", base64(token(i, 12).as_bytes()))).collect()
        }),
        family(KIND, "tiktoken with a bad line", &[0, 1, 2, 3, 4], |n| {
            let bad = ["!!!! 1", "YQ==", "YQ== x", "YQ== -1", "YQ== 4294967296"][n];
            format!("YWI= 0\n{bad}\n")
        }),
        family(KIND, "not text", &[1, 100, 100_000], |n| "\u{0}\u{FFFD}\u{1}".repeat(n)),
    ];
    let types = ["Unigram", "WordPiece", "WordLevel", "BPE", "nothing", ""];
    all.push(family(KIND, "model of a type", &[0, 1, 2, 3, 4, 5], |n| {
        whole.replacen("\"BPE\"", &format!("\"{}\"", types[n]), 1)
    }));
    let parts = ["null", "[]", "{}", "0", "\"x\"", "true", "[[[[[[[[1]]]]]]]]"];
    for part in ["vocab", "merges"] {
        all.push(family(KIND, &format!("{part} of another type"), &[0, 1, 2, 3, 4, 5, 6], |n| {
            let model = match part {
                "vocab" => format!("{{\"type\":\"BPE\",\"vocab\":{},\"merges\":[]}}", parts[n]),
                _ => format!("{{\"type\":\"BPE\",\"vocab\":{{\"a\":0}},\"merges\":{}}}", parts[n]),
            };
            format!("{{\"version\":\"1.0\",\"model\":{model}}}")
        }));
    }
    for part in ["decoder", "pre_tokenizer", "normalizer", "added_tokens"] {
        all.push(family(KIND, &format!("{part} of another type"), &[0, 1, 2, 3, 4, 5, 6], |n| {
            format!(
                "{{\"version\":\"1.0\",\"{part}\":{},\"model\":{{\"type\":\"BPE\",\"vocab\":{{\"a\":0}},\"merges\":[]}}}}",
                parts[n]
            )
        }));
    }
    all.into_iter().flatten().collect()
}

/// Encodes bytes in Base64 with padding (RFC 4648, section 4).
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let bits =
            chunk.iter().fold(0_u32, |bits, &byte| bits << 8 | u32::from(byte)) << (8 * (3 - chunk.len()));
        for place in 0..4 {
            let digit = DIGITS[(bits >> (18 - 6 * place)) as usize & 63];
            text.push(if place <= chunk.len() { char::from(digit) } else { '=' });
        }
    }
    text
}
