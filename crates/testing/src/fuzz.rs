//! The bodies of the fuzz targets. They take bytes, and a panic is a finding. The targets themselves (in `fuzz/`) only
//! call these, so that tests can replay earlier findings.

use super::agreement::operations_agree;
use super::bounded_parts::{bounded_parts_agree, budgets_beside_bounded_parts_agree};
use super::budgets::walks_within_budgets;
use super::byte_tokens::BYTES;
use super::fuzz_limits::limits;
use super::generate::{Choices, GrammarShape, random_schema};
use grammata::grammar::Grammar;
use grammata::syntax::{Source, automaton_spec, gbnf, json_schema, lark, parse, regex, structural_tag};
use grammata::vocabulary::{LoadOptions, Vocabulary};
use grammata::{Compiler, ErrorKind, Result, TokenId};
use std::sync::Arc;

/// Reads a source, and walks a little through its grammar.
fn walk_source(source: &Source, choices: &mut Choices<'_>) {
    walk(parse(source).map(|parsed| parsed.grammar), choices);
}

/// Walks a little through the grammar of a front end, as `choices` decide. Since every byte has a token, no position
/// may be a dead end.
fn walk(grammar: Result<Grammar>, choices: &mut Choices<'_>) {
    let Ok(grammar) = grammar else { return };
    let Ok(compiled) = Compiler::new(Arc::clone(&BYTES)).limits(limits()).compile(&grammar) else { return };
    let mut matcher = compiled.matcher();
    for _ in 0..12 {
        let mask = match matcher.mask() {
            Ok(mask) => mask,
            Err(error) => return assert_eq!(error.kind(), ErrorKind::Limit, "{error}"),
        };
        assert!(!mask.is_empty(), "a dead end after {:?} in\n{grammar}", matcher.bytes());
        let Some(token) = mask.iter().nth(choices.below(mask.len())) else { return };
        match matcher.accept_token(token) {
            Ok(()) if token == TokenId::new(300) => return,
            Ok(()) => {}
            Err(error) => return assert_eq!(error.kind(), ErrorKind::Limit, "{error}"),
        }
    }
}

/// The text at the start of an input, up to the first invalid UTF-8, and choices read from the rest of the input, but
/// from no fewer than its last 16 bytes.
fn text(bytes: &[u8]) -> (&str, Choices<'_>) {
    let text = bytes.utf8_chunks().next().map_or("", |chunk| chunk.valid());
    (text, Choices::new(&bytes[text.len().min(bytes.len().saturating_sub(16))..]))
}

/// Fuzzes patterns in either dialect.
pub fn regex(bytes: &[u8]) {
    let Some((&first, rest)) = bytes.split_first() else { return };
    let (text, mut choices) = text(rest);
    let bit = |place: u8| first >> place & 1 == 1;
    let options = regex::Options::default()
        .dialect(if bit(0) { regex::Dialect::Ecma262 } else { regex::Dialect::Rust })
        .unicode(!bit(1))
        .case_insensitive(bit(2))
        .dot_matches_newline(bit(3))
        .ascii_classes(bit(4))
        .search(bit(5))
        .limits(limits());
    walk_source(&Source::Regex(text.to_owned(), options), &mut choices);
}

/// Fuzzes GBNF grammars.
pub fn gbnf(bytes: &[u8]) {
    let (_, mut choices) = text(bytes);
    let options = gbnf::Options::default().limits(limits());
    walk(gbnf::compile_bytes(bytes, &options).map(|compiled| compiled.grammar), &mut choices);
}

/// Fuzzes automata and context-free grammars in TOML or JSON.
pub fn automaton_spec(bytes: &[u8]) {
    let (text, mut choices) = text(bytes);
    let format = match text.starts_with('{') {
        true => automaton_spec::Format::Json,
        false => automaton_spec::Format::Toml,
    };
    let options = automaton_spec::Options::default().format(format).limits(limits());
    walk_source(&Source::Spec(text.to_owned(), options), &mut choices);
}

/// Fuzzes Lark grammars. Text after a form feed is the file `a.lark`, which the grammar may import.
pub fn lark(bytes: &[u8]) {
    let (text, mut choices) = text(bytes);
    let (own, file) = text.split_once('\x0C').unwrap_or((text, ""));
    let mut files = lark::Files::default();
    files.insert("a.lark", file);
    let options = lark::Options::default().files(files).limits(limits());
    walk_source(&Source::Lark(own.to_owned(), options), &mut choices);
}

/// Fuzzes structural tags.
pub fn structural_tag(bytes: &[u8]) {
    let (text, mut choices) = text(bytes);
    let options = structural_tag::Options::default().limits(limits());
    walk_source(&Source::StructuralTag(text.to_owned(), options), &mut choices);
}

/// Fuzzes JSON Schemas: the text itself, or a random schema if the text does not look like one.
pub fn json_schema(bytes: &[u8]) {
    let Some((&first, rest)) = bytes.split_first() else { return };
    let (text, mut choices) = text(rest);
    let options = json_schema::Options::default()
        .whitespace(match (first % 2, first / 16 % 2) {
            (0, 0) => json_schema::Whitespace::Free,
            (0, _) => json_schema::Whitespace::Short,
            _ => json_schema::Whitespace::Compact,
        })
        .spelling(json_schema::Spelling::Json)
        .unencoded(None)
        .max_digits((first / 32 % 2 == 1).then_some(3))
        .property_order(match first / 2 % 2 {
            0 => json_schema::PropertyOrder::Declared,
            _ => json_schema::PropertyOrder::Any,
        })
        .numbers(match first / 4 % 2 {
            0 => json_schema::Numbers::Any,
            _ => json_schema::Numbers::Plain,
        })
        .formats(match first / 8 % 2 {
            0 => json_schema::Formats::Assert,
            _ => json_schema::Formats::Annotate,
        })
        .documents(json_schema::Documents::default())
        .limits(limits());
    let schema = match text.starts_with('{') {
        true => text.to_owned(),
        false => random_schema(&mut choices).to_string(),
    };
    walk_source(&Source::JsonSchema(schema, options), &mut choices);
}

/// Fuzzes tokenizer files of any format.
pub fn vocabulary(bytes: &[u8]) {
    for eos in [Vec::new(), vec![TokenId::new(0)]] {
        let options = LoadOptions::default().eos(eos).limits(limits());
        if let Ok(vocabulary) = Vocabulary::from_file_bytes(bytes, &options) {
            // ids and the trie must agree
            for (id, token) in vocabulary.tokens() {
                let found = vocabulary.trie().longest_prefix(token);
                assert_eq!(found.map(|(_, length)| length), Some(token.len()), "token {id}");
            }
        }
    }
}

/// Compares operations of a matcher with the oracle, on a random grammar and vocabulary; or walks within budgets, with
/// a vocabulary of single bytes.
pub fn matcher_operations(bytes: &[u8]) {
    let Some((&first, rest)) = bytes.split_first() else { return };
    if first >= 192 {
        walks_within_budgets(rest).unwrap_or_else(|broken| panic!("{broken}"));
        return;
    }
    let (locks, members, tokens) = (first % 2 == 1, first % 4 < 2, first % 8 >= 4);
    let shape = GrammarShape { locks, members, tokens, ..GrammarShape::default() };
    if let Err(disagreement) = operations_agree(rest, &shape) {
        panic!("{disagreement}");
    }
}

/// Compares a grammar with parts bounded in tokens, characters or bytes with its oracle; or compiles such a grammar in
/// GBNF and walks it within a budget.
pub fn bounded_parts(bytes: &[u8]) {
    let Some((&first, rest)) = bytes.split_first() else { return };
    let has_tokens = first / 4 % 2 == 1;
    let agreed = match first % 4 {
        0 => bounded_parts_agree(rest, has_tokens),
        1 => budgets_beside_bounded_parts_agree(rest, has_tokens),
        2 => operations_agree(rest, &GrammarShape { bounds: true, depth: 3, ..GrammarShape::default() }),
        _ => return bounded_source(rest),
    };
    if let Err(disagreement) = agreed {
        panic!("{disagreement}");
    }
}

/// Walks a GBNF part behind a bound that the bytes choose.
fn bounded_source(bytes: &[u8]) {
    let (body, mut choices) = text(bytes);
    let kind = *choices.pick(&["max_tokens", "max_bytes", "max_chars"]);
    let source = format!("root ::= \"<\" @{kind}({}, part) [a-c]*\npart ::= {body}", choices.below(9));
    let options = gbnf::Options::default().limits(limits());
    let Ok(grammar) = gbnf::compile(&source, &options) else { return };
    let compiler = Compiler::new(Arc::clone(&BYTES)).limits(limits());
    let Ok(compiled) = compiler.compile(&grammar.grammar) else { return };
    let mut matcher = compiled.matcher();
    let Some(least) = matcher.distance().ok().and_then(|distance| distance.known()) else { return };
    let budget = least + choices.below(6);
    while !matcher.is_finished() {
        let left = budget - matcher.steps();
        let mask = match matcher.mask_within(left) {
            Ok(mask) => mask,
            Err(error) => return assert_eq!(error.kind(), ErrorKind::Limit, "{error}\n{source}"),
        };
        let token = mask.iter().nth(choices.below(mask.len()));
        let token = token.unwrap_or_else(|| panic!("a dead end after {:?} in\n{source}", matcher.bytes()));
        match matcher.accept_token(token) {
            Ok(()) => {}
            Err(error) => return assert_eq!(error.kind(), ErrorKind::Limit, "{error}\n{source}"),
        }
    }
}
