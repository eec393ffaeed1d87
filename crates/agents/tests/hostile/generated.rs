//! A thousand random inputs for all readers except that of model folders, from a fixed seed. Each input is either built
//! in a hostile shape or made from a good file by random changes.

use super::build;
use super::{Case, Kind};
use rand::prelude::*;
use rand::rngs::StdRng;
use std::fmt::Write;
use std::path::Path;

/// Added to an input's place in its row to seed its generator, so that each input can be rebuilt alone.
const SEED: u64 = 20_261_126;

/// The most bytes that an input has.
pub(super) const MOST_BYTES: usize = 1_000_000;

/// One kind of input: how many, the function that builds one, and the files that are changed to make others.
struct Row {
    kind: Kind,
    count: usize,
    build: fn(&mut StdRng) -> String,
    /// Files, and folders whose files are used, below the root of the repository.
    good: &'static [&'static str],
}

static TABLE: [Row; 12] = [
    Row {
        kind: Kind::JsonSchema,
        count: 180,
        build: build::json_schema,
        good: &[
            "grammars/person/schema.json",
            "grammars/function-call/schema.json",
            "tests/cases/json_schema",
        ],
    },
    Row {
        kind: Kind::Gbnf,
        count: 100,
        build: build::gbnf,
        good: &[
            "grammars/json/grammar.gbnf",
            "grammars/chess-game/grammar.gbnf",
            "grammars/sql-select/grammar.gbnf",
        ],
    },
    Row { kind: Kind::Regex, count: 100, build: build::regex, good: &["grammars/iso-dates/pattern.regex"] },
    Row {
        kind: Kind::Spec,
        count: 80,
        build: build::spec,
        good: &[
            "grammars/daily-plan/spec.toml",
            "grammars/cooking/spec.toml",
            "grammars/risk-management/spec.toml",
        ],
    },
    Row {
        kind: Kind::Plan,
        count: 80,
        build: build::plan,
        good: &[
            "grammars/travel/spec.toml",
            "grammars/openagi/spec.toml",
            "grammars/customer-service/spec.toml",
        ],
    },
    Row { kind: Kind::Tools, count: 120, build: build::tools, good: &["tests/cases/tools/read"] },
    Row { kind: Kind::Procedure, count: 70, build: build::procedure, good: &["grammars/procedures"] },
    Row { kind: Kind::Flow, count: 70, build: build::flow, good: &["grammars/flows", "tests/cases/flows"] },
    Row {
        kind: Kind::Tokenizer,
        count: 80,
        build: build::tokenizer,
        good: &[
            "tests/cases/vocabulary/tekken.json",
            "tests/cases/vocabulary/byte_fallback.json",
            "tests/cases/vocabulary/unigram.json",
        ],
    },
    Row {
        kind: Kind::MaskFile,
        count: 60,
        build: |_| String::new(),
        good: &["tests/data/mask_files/format-1.gmask"],
    },
    Row { kind: Kind::ChatTemplate, count: 40, build: build::template, good: &["tests/data/smollm2"] },
    Row { kind: Kind::Trace, count: 20, build: build::trace, good: &[] },
];

/// Returns the number of inputs of all rows.
pub(super) fn count() -> usize {
    TABLE.iter().map(|row| row.count).sum()
}

/// Returns every `share`-th input of each kind whose name begins with `kind`. Inputs are built lazily because they are
/// large.
pub(super) fn cases(share: usize, kind: &str) -> impl Iterator<Item = Case> {
    let rows = TABLE.iter().filter(move |row| row.kind.name().starts_with(kind));
    rows.flat_map(move |row| {
        let good = good(row.good);
        (0..row.count).step_by(share).map(move |place| case(row, &good, place))
    })
}

fn case(row: &Row, good: &[Vec<u8>], place: usize) -> Case {
    let mut rng = StdRng::seed_from_u64(SEED + place as u64);
    // half of the inputs are changed files if the row has files; mask files are always changed files
    let spoil = rng.random_bool(0.5) || row.kind == Kind::MaskFile;
    let good = good.choose(&mut rng).filter(|_| spoil);
    let mut input = Vec::new();
    // an input that is too long is rebuilt, because a truncated one would only be refused
    for _ in 0..8 {
        input = match good {
            Some(good) => spoilt(good, row.kind, &mut rng),
            None => (row.build)(&mut rng).into_bytes(),
        };
        if input.len() <= MOST_BYTES {
            break;
        }
    }
    input.truncate(MOST_BYTES);
    Case { name: format!("{:?} {place}", row.kind), kind: row.kind, input }
}

/// Returns the contents of files and of the files in folders, sorted by path. Files of 400,000 bytes or more, and those
/// that end in `.out` or `.md`, are left out.
fn good(paths: &[&str]) -> Vec<Vec<u8>> {
    let mut files = Vec::new();
    for path in paths {
        let path = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join(path);
        match std::fs::read_dir(&path) {
            Ok(entries) => files.extend(entries.flatten().map(|entry| entry.path())),
            Err(_) => files.push(path),
        }
    }
    files.retain(|file| file.is_file() && file.extension().is_none_or(|end| end != "out" && end != "md"));
    files.sort();
    let read = files.iter().filter_map(|file| std::fs::read(file).ok());
    read.filter(|content| content.len() < 400_000).collect()
}

/// Texts that are inserted at random positions.
const ATOMS: [&str; 24] = [
    "\u{0}",
    "\u{FEFF}",
    "\\ud800",
    "9223372036854775808",
    "-1",
    "1e99999999",
    "0.1",
    "\"\"",
    "[]",
    "{}",
    "null",
    "..",
    "/",
    "*",
    "\\",
    "{{",
    "%}",
    "#",
    "$ref",
    "&a *a",
    "\r\n",
    "\u{202E}",
    "é",
    "'''",
];

/// Returns a good input with up to four random changes. A mask file then gets a valid checksum with a probability of
/// 0.8.
fn spoilt(good: &[u8], kind: Kind, rng: &mut StdRng) -> Vec<u8> {
    let mut input = good.to_vec();
    for _ in 0..rng.random_range(1..=4) {
        if input.is_empty() {
            return input;
        }
        let at = rng.random_range(0..input.len());
        let end = (at + rng.random_range(1..=64)).min(input.len());
        match rng.random_range(0..if kind == Kind::MaskFile { 3 } else { 9 }) {
            // single bytes and little-endian words of a binary file, which contain lengths and offsets
            0 => input[at] = *[0, 1, 0x7F, 0x80, 0xFF, rng.random()].choose(rng).unwrap_or(&0),
            1 => {
                let value = *[0_u32, 1, 0x7FFF_FFFF, 0xFFFF_FFFF, rng.random()].choose(rng).unwrap_or(&0);
                let from = at & !3;
                for (byte, new) in input.iter_mut().skip(from).zip(value.to_le_bytes()) {
                    *byte = new;
                }
            }
            2 => input.truncate(at),
            3 => drop(input.drain(at..end)),
            4 => {
                let times = 10_usize.pow(rng.random_range(1..=4)).min(MOST_BYTES / (end - at));
                let part = input[at..end].repeat(times);
                drop(input.splice(at..at, part));
            }
            5 => {
                let atom = ATOMS.choose(rng).copied().unwrap_or_default();
                drop(input.splice(at..at, atom.bytes()));
            }
            6 => replace_number(&mut input, at, rng),
            7 => repeat_line(&mut input, at, rng),
            _ => {
                let (open, close) =
                    *[("[", "]"), ("{\"a\":", "}"), ("(", ")")].choose(rng).unwrap_or(&("[", "]"));
                let depth = 10_usize.pow(rng.random_range(1..=4));
                drop(input.splice(end..end, close.repeat(depth).into_bytes()));
                drop(input.splice(at..at, open.repeat(depth).into_bytes()));
            }
        }
    }
    if kind == Kind::MaskFile && rng.random_bool(0.8) {
        input = grammata::mask_file::resealed(input);
    }
    input
}

/// Replaces the first number at or after `at`, if there is one.
fn replace_number(input: &mut Vec<u8>, at: usize, rng: &mut StdRng) {
    let Some(from) = input.iter().skip(at).position(u8::is_ascii_digit).map(|place| at + place) else {
        return;
    };
    let length = input.iter().skip(from).take_while(|byte| byte.is_ascii_digit()).count();
    let number = ["0", "-1", "4294967296", "99999999999999999999", "1000000", "1e400", "0.5"];
    drop(input.splice(from..from + length, number.choose(rng).copied().unwrap_or_default().bytes()));
}

/// Repeats the line that contains `at`. In half of the cases the number of the copy is inserted before its first
/// letter.
fn repeat_line(input: &mut Vec<u8>, at: usize, rng: &mut StdRng) {
    let start = input[..at].iter().rposition(|&byte| byte == b'\n').map_or(0, |place| place + 1);
    let end = input[at..].iter().position(|&byte| byte == b'\n').map_or(input.len(), |place| at + place + 1);
    let line = String::from_utf8_lossy(&input[start..end]).into_owned();
    let times = 10_usize.pow(rng.random_range(1..=4)).min(MOST_BYTES / (line.len() + 8).max(1));
    let renamed = rng.random_bool(0.5);
    let mut lines = String::new();
    for copy in 0..times {
        match line.find(|c: char| c.is_ascii_alphabetic()).filter(|_| renamed) {
            Some(place) => {
                let _ = write!(lines, "{}x{copy}{}", &line[..place], &line[place..]);
            }
            None => lines.push_str(&line),
        }
    }
    drop(input.splice(end..end, lines.into_bytes()));
}
