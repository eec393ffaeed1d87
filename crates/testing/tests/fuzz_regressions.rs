//! Runs the fuzz targets as tests: on earlier findings of fuzzing (`tests/fuzz-regressions/<target>/*`) and on some
//! random inputs.

use grammata_testing::targets::{AGENTS, TARGETS, Target};
use grammata_testing::token_indices;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use std::path::Path;

/// All targets.
fn targets() -> impl Iterator<Item = (&'static str, Target)> {
    TARGETS.into_iter().chain(AGENTS)
}

#[test]
fn what_was_found_stays_fixed() {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join("tests/fuzz-regressions");
    let mut replayed = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        if entry.file_name() == "README.md" {
            continue;
        }
        let name = entry.file_name().into_string().unwrap();
        let target = targets().find(|(target, _)| *target == name);
        let (_, target) = target.unwrap_or_else(|| panic!("there is no fuzz target {name}"));
        for file in std::fs::read_dir(entry.path()).unwrap() {
            let file = file.unwrap().path();
            eprintln!("{}", file.display());
            target(&std::fs::read(file).unwrap());
            replayed += 1;
        }
    }
    assert!(replayed > 0, "the folder of regressions is empty");
}

#[test]
fn each_target_has_a_binary() {
    let manifest = include_str!("../../../fuzz/Cargo.toml");
    for (target, _) in targets() {
        assert!(manifest.contains(&format!("name = \"{target}\"")), "{target}");
    }
    assert_eq!(manifest.matches("[[bin]]").count(), targets().count());
}

/// The seed of `token_index` must be a whole, readable index. `UPDATE_SNAPSHOTS=1` writes it again.
#[test]
fn the_seed_of_token_indices_is_an_index() {
    let path = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join("fuzz/seeds/token_index/whole");
    let seed = token_indices::seed();
    if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
        std::fs::write(&path, &seed).unwrap();
    }
    assert!(std::fs::read(&path).unwrap() == seed, "UPDATE_SNAPSHOTS=1 writes {} anew", path.display());
    assert!(token_indices::prepared(&seed[1..]).is_some());
    assert!(token_indices::prepared(&seed[1..seed.len() - 4]).is_none());
}

/// Inputs near a good index: words are changed, omitted and doubled.
#[test]
fn indices_near_a_good_one_do_no_harm() {
    let seed = token_indices::seed();
    let mut random = StdRng::seed_from_u64(38);
    let mut read = 0;
    for _ in 0..300 {
        let mut words: Vec<[u8; 4]> = seed[1..].as_chunks::<4>().0.to_vec();
        for _ in 0..random.random_range(1..4) {
            let at = random.random_range(0..words.len());
            match random.random_range(0..4) {
                0 => words[at] = random.random_range(0..16_u32).to_le_bytes(),
                1 => words[at][random.random_range(0..4)] ^= 1 << random.random_range(0..8),
                2 => words.insert(at, words[at]),
                _ => drop(words.remove(at)),
            }
        }
        let content = words.concat();
        read += usize::from(token_indices::prepared(&content).is_some());
        token_indices::token_index(&[&[0], &*content].concat());
    }
    assert!(read > 0, "all are refused");
}

/// Inputs near the seeds of targets that read protocols: lines and bytes are changed, omitted, doubled and moved.
/// `GRAMMATA_MUTANTS=N` sets their number for each target.
#[test]
fn sessions_near_the_seeds_do_no_harm() {
    const JSON: [&[u8]; 12] = [
        b"{",
        b"}",
        b"[",
        b"]",
        b",",
        b":",
        b"\"id\"",
        b"1",
        b"null",
        b"\"method\"",
        b"\"\\ud800\"",
        b"1e999",
    ];
    let count = std::env::var("GRAMMATA_MUTANTS").ok().and_then(|count| count.parse().ok()).unwrap_or(300);
    for name in ["guard", "endpoint"] {
        let (_, target) = targets().find(|(target, _)| *target == name).unwrap();
        let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join("fuzz/seeds").join(name);
        let files = std::fs::read_dir(folder).unwrap();
        let seeds: Vec<Vec<u8>> = files.map(|file| std::fs::read(file.unwrap().path()).unwrap()).collect();
        seeds.iter().for_each(|seed| target(seed));
        for number in 0..count {
            let mut random = StdRng::seed_from_u64(number);
            let mut lines: Vec<Vec<u8>> = Vec::new();
            for _ in 0..random.random_range(1..3) {
                let seed = &seeds[random.random_range(0..seeds.len())];
                lines.extend(seed.split_inclusive(|&byte| byte == b'\n').map(<[u8]>::to_vec));
            }
            for _ in 0..random.random_range(1..6) {
                let (at, other) = (random.random_range(0..lines.len()), random.random_range(0..lines.len()));
                let byte = random.random_range(0..lines[at].len().max(1));
                match random.random_range(0..7) {
                    0 if lines.len() > 1 => drop(lines.remove(at)),
                    1 => lines.insert(at, lines[other].clone()),
                    2 => lines.swap(at, other),
                    3 if byte < lines[at].len() => lines[at][byte] = random.random(),
                    4 if byte < lines[at].len() => drop(lines[at].remove(byte)),
                    5 => {
                        let line = &mut lines[at];
                        let rest = line.split_off(byte.min(line.len()));
                        line.extend_from_slice(JSON[random.random_range(0..JSON.len())]);
                        line.extend(rest);
                    }
                    _ => lines[at].truncate(byte),
                }
            }
            target(&lines.concat());
        }
    }
}

/// Fragments of the languages that the front ends read, so that random inputs get past the first byte.
const PIECES: [&str; 64] = [
    "a",
    "b*",
    "(",
    ")",
    "[a-z]",
    "|",
    "{2,3}",
    "\\d",
    "^",
    "$",
    "?",
    "root ::= ",
    "\n",
    " x ",
    "\"ab\"",
    "x ::= ",
    "{",
    "}",
    "[",
    "]",
    ":",
    ",",
    "\"type\"",
    "\"string\"",
    "\"$ref\"",
    "\"#\"",
    "1",
    "null",
    "[",
    "=",
    "YQ== 0\n",
    "\\u",
    "{{ ",
    " }}",
    "{% for m in messages %}",
    "{% endfor %}",
    "{% if ",
    " %}",
    "{% elif n %}",
    "{% endif %}",
    "{% set x = ",
    "{% set ns = namespace(x=1) %}",
    "{% set ns.x = [ns.x, ns.x] %}",
    "{% macro f(x) %}{{ f(x) }}{% endmacro %}",
    "messages",
    "ns.x",
    "x",
    "'a'",
    " ~ ",
    " + ",
    " * ",
    "|tojson",
    "|join('b')",
    "|list",
    "|replace('a', 'bb')",
    ".items()",
    ".split()",
    "[1:]",
    "f(x)",
    " in ",
    " == ",
    "9999",
    "\n---\n",
    "kind = \"dfa\"\nsymbols = [\"a\", \"b\"]\nstart = \"s\"\naccepting = [\"s\"]\ntransitions = [{ from = \"s\", input = \"a\", to = \"s\" }]\n",
];

/// `GRAMMATA_FUZZ_CASES` sets the number of inputs for each target.
#[test]
fn random_inputs_are_taken_without_panic() {
    let cases = std::env::var("GRAMMATA_FUZZ_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(300);
    for (name, target) in targets() {
        let mut random = StdRng::seed_from_u64(7);
        for case in 0..cases {
            let mut input = Vec::new();
            for _ in 0..random.random_range(0..40) {
                match random.random_range(0..8) {
                    0 => input.push(random.random()),
                    _ => input.extend_from_slice(PIECES[random.random_range(0..PIECES.len())].as_bytes()),
                }
            }
            eprintln!("{name} {case}: {:?}", input.escape_ascii().to_string());
            target(&input);
        }
    }
}
