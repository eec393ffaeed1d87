//! Varied texts from a seed, such as a tokenizer may meet.

use rand::prelude::*;
use rand::rngs::StdRng;

/// Alphabets by Unicode range: scripts, symbols, and characters beyond the basic plane.
const RANGES: &[(u32, u32)] = &[
    (0x20, 0x7E),       // ASCII
    (0xA0, 0xFF),       // Latin-1, which byte-level tokenizers use in place of bytes
    (0x100, 0x17F),     // Latin Extended-A, also used in place of bytes
    (0x370, 0x3FF),     // Greek
    (0x400, 0x4FF),     // Cyrillic
    (0x590, 0x5FF),     // Hebrew
    (0x600, 0x6FF),     // Arabic
    (0x900, 0x97F),     // Devanagari
    (0xE00, 0xE7F),     // Thai
    (0x1100, 0x11FF),   // Hangul letters
    (0x2000, 0x206F),   // spaces, joiners, marks of direction
    (0x3040, 0x30FF),   // Kana
    (0x4E00, 0x9FFF),   // Han
    (0xAC00, 0xD7A3),   // Hangul syllables
    (0xE000, 0xE0FF),   // private use
    (0xFFF0, 0xFFFD),   // specials
    (0x10400, 0x1044F), // Deseret
    (0x1D400, 0x1D7FF), // mathematical letters
    (0x1F300, 0x1FAFF), // emoji
    (0x20000, 0x2A6DF), // rare Han
];

const EMOJI: &[&str] = &["👩‍👩‍👧‍👦", "🏳️‍🌈", "👍🏽", "🇩🇪🇯🇵", "❤️", "1️⃣", "🧑🏿‍🚀"];

const SNIPPETS: &[&str] = &[
    "fn main() {\n    println!(\"{}\", 1 + 2);\n}\n",
    "def f(x):\n\treturn x ** 2  # square\n",
    "<div class=\"a\">\r\n  &nbsp;\r\n</div>",
    "SELECT * FROM t WHERE a <> 'b''c';",
    "{\"name\": \"Ada\", \"tags\": [\"a\", null, -1.5e+10], \"nested\": {\"\\u00e9\": true}}",
    "[[[]]],{},\"\\\\\\\"\\n\"",
    "https://example.org/?q=a%20b&c=d#e",
    "The quick brown fox doesn't jump; it's 12345678 o'clock, isn't it?",
    "  leading and trailing  ",
    "$E = mc^2$ \\frac{a}{b} €100 ½ №5 … “quoted” ‘text’",
    "<0x0A> <0x> Ġ Ċ ĉ Ã© ##ing </w>",
];

/// Returns `count` texts, which are equal for equal seeds. No text has U+2581, which Metaspace tokenizers read as a
/// space, or the name of a special token.
pub(crate) fn texts(seed: u64, count: usize) -> Vec<String> {
    let mut rng = StdRng::seed_from_u64(seed);
    (0..count).map(|_| text(&mut rng)).collect()
}

fn text(rng: &mut StdRng) -> String {
    let mut text = String::new();
    for _ in 0..rng.random_range(1..=8) {
        piece(rng, &mut text);
    }
    text
}

fn piece(rng: &mut StdRng, text: &mut String) {
    match rng.random_range(0..9) {
        0 => {
            let run = [" ", "\n", "\t", "\r\n", "\n ", "\u{A0}", "\u{3000}", " \t"].choose(rng).unwrap();
            text.push_str(&run.repeat(rng.random_range(1..40)));
        }
        1 => text.push_str(EMOJI.choose(rng).unwrap()),
        2 => text.push_str(SNIPPETS.choose(rng).unwrap()),
        3 => {
            let letter = ['a', 'e', 'o', 'क', 'q', '가'].choose(rng).unwrap();
            text.push(*letter);
            text.extend(
                (0..rng.random_range(1..5)).filter_map(|_| char::from_u32(rng.random_range(0x300..0x370))),
            );
        }
        4 => text.extend((0..rng.random_range(1..6)).map(|_| rng.random_range(0u8..0x20) as char)),
        5 => text.extend((0..rng.random_range(1..20)).map(|_| rng.random_range(b'0'..=b'9') as char)),
        6 => text.extend((0..rng.random_range(1..10)).map(|_| rng.random::<char>()).filter(|&c| c != '▁')),
        _ => {
            let &(first, last) = RANGES.choose(rng).unwrap();
            let range = rng.random_range(1..20);
            text.extend((0..range).filter_map(|_| char::from_u32(rng.random_range(first..=last))));
            text.push_str([" ", "", "\n", ", "].choose(rng).unwrap());
        }
    }
}

/// Returns `count` byte strings that are mostly not UTF-8: texts with bytes inserted or changed, or truncated texts.
pub(crate) fn broken(seed: u64, count: usize) -> Vec<Vec<u8>> {
    let mut rng = StdRng::seed_from_u64(seed);
    let mut made = Vec::new();
    for text in texts(seed, count) {
        let mut bytes = text.into_bytes();
        for _ in 0..rng.random_range(1..6) {
            let at = rng.random_range(0..=bytes.len());
            match rng.random_range(0..3) {
                0 => bytes.insert(at, rng.random()),
                1 => bytes.truncate(at),
                _ => {
                    if let Some(byte) = bytes.get_mut(at) {
                        *byte = rng.random();
                    }
                }
            }
        }
        made.push(bytes);
    }
    made
}
