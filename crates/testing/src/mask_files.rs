//! Tests with mask files: engines that start from one, and files with false content.

use super::byte_tokens::BYTES;
use super::fuzz_limits::limits;
use super::generate::Choices;
use super::outcome::Step;
use grammata::explore::ExploreBudget;
use grammata::grammar::Grammar;
use grammata::mask_file::{ArchiveBuilder, MaskArchive, resealed};
use grammata::syntax::{Source, gbnf, parse};
use grammata::{CompiledGrammar, Compiler, MaskFile, TokenId, Vocabulary};
use sha2::{Digest, Sha256};
use std::sync::{Arc, LazyLock};

/// The same grammar, started from a verified mask file for which a few positions along some of the documents were
/// explored.
pub(super) fn loaded(
    compiled: &CompiledGrammar,
    documents: &[Vec<u32>],
    choices: &mut Choices<'_>,
) -> Step<CompiledGrammar> {
    let limits = compiled.automaton().limits().clone();
    let compiler = Compiler::new(Arc::clone(compiled.vocabulary())).limits(limits);
    let budget = ExploreBudget::default().states(1 + choices.below(32)).work(1 << (4 + choices.below(12)));
    let tokens = |document: &Vec<u32>| document.iter().copied().map(TokenId::new).collect();
    let documents: Vec<Vec<TokenId>> = documents.iter().take(choices.below(4)).map(tokens).collect();
    let file = Arc::new(compiler.compile(compiled.grammar())?.explore(&budget, &documents)?);
    compiler.load(Arc::clone(&file))?.verify_masks()?;
    Ok(compiler.load(file)?.with_end_tokens(compiled.end_tokens().iter().copied())?)
}

/// Grammars that together have most kinds of expressions.
fn grammars() -> Vec<Grammar> {
    let schemas = [
        r#"{"type": "object", "properties": {"a": {"enum": ["x", 1]}, "b": {"type": "array", "items":
            {"type": "number"}, "uniqueItems": true}}, "required": ["a"]}"#,
        r#"{"type": "object", "additionalProperties": {"type": "string", "pattern": "^[a-c]+$",
            "maxLength": 9}, "minProperties": 1}"#,
        r#"{"allOf": [{"type": "string", "pattern": "ab"}, {"type": "string", "not": {"const": "xab"}}]}"#,
    ];
    let schemas = schemas.map(|schema| parse(&Source::json_schema(schema)).map(|parsed| parsed.grammar));
    let tokens = r#"root ::= "a"* ( <[97]> "b" | <[98-101]> | ![1] ) <[300]>?"#;
    let tokens = gbnf::compile(tokens, &gbnf::Options::default()).map(|compiled| compiled.grammar);
    schemas.into_iter().chain([tokens]).filter_map(Result::ok).collect()
}

/// The [`grammars`], made once.
static GRAMMARS: LazyLock<Vec<Grammar>> = LazyLock::new(grammars);

/// A mask file for each of the [`grammars`].
static FILES: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    let compiler = Compiler::new(Arc::clone(&BYTES));
    let budget = ExploreBudget::default().states(60);
    let file = |grammar: &Grammar| compiler.compile(grammar)?.explore(&budget, &[]);
    let files = GRAMMARS.iter().filter_map(|grammar| file(grammar).ok());
    files.map(|file| file.as_bytes().to_vec()).collect()
});

/// An archive of the mask files.
static ARCHIVE: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let mut builder = ArchiveBuilder::new(&BYTES, &limits());
    for (id, file) in FILES.iter().enumerate() {
        let added =
            MaskFile::from_bytes(&file[..]).and_then(|file| builder.add(format!("grammar {id}"), &file));
        added.unwrap_or_else(|e| unreachable!("a good file: {e}"));
    }
    builder.set_token_index(INDEX.clone()).unwrap();
    builder.to_bytes()
});

/// The token index of the vocabulary of the mask files.
static INDEX: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let index = Compiler::new(Arc::clone(&BYTES)).token_index();
    index.unwrap_or_else(|e| unreachable!("a good vocabulary: {e}"))
});

/// Fuzzes mask files, archives of them and token indices, and makes some masks with them. The input is either the file
/// itself, or changes to some words of a good file whose checksums are then corrected.
pub fn mask_file(bytes: &[u8]) {
    let Some((&first, rest)) = bytes.split_first() else { return };
    let mut choices = Choices::new(rest);
    let good = match first % 8 {
        which @ 0..4 => FILES.get(usize::from(which)),
        4 | 5 => Some(&*ARCHIVE),
        6 => return index_that_lies(&mut choices),
        _ => None,
    };
    let file = good.map_or_else(|| rest.to_vec(), |good| changed(good, &mut choices));
    if let Ok(file) = MaskFile::from_bytes(&file[..]) {
        return walk(file, &mut choices);
    }
    let Ok(archive) = MaskArchive::from_bytes(file) else { return };
    let _ = (archive.check(), archive.contents());
    let names: Vec<String> = archive.names().filter_map(Result::ok).take(8).collect();
    let found = match names.get(choices.below(names.len() + 1)) {
        Some(name) => archive.get(name),
        None => GRAMMARS.first().map_or(Ok(None), |grammar| archive.of_grammar(grammar)),
    };
    let Ok(Some(file)) = found else { return };
    // a file taken from the archive is valid, or the error is noticed
    let alone = MaskFile::from_bytes(file.as_bytes());
    match alone {
        Ok(alone) if choices.below(2) == 0 => walk(alone, &mut choices),
        _ => walk(file, &mut choices),
    }
}

/// The length in bytes of the digest at the start of a token index.
pub(super) const DIGEST: usize = 32;

/// Puts the right digest in front of the contents of a token index for a vocabulary.
pub(super) fn with_digest(vocabulary: &Vocabulary, content: &[u8]) -> Vec<u8> {
    let digest = Sha256::new().chain_update(vocabulary.fingerprint()).chain_update(content).finalize();
    [&digest[..], content].concat()
}

/// Tests a token index with some words changed and a right digest: masks may be wrong, but nothing worse may happen.
pub(super) fn index_that_lies(choices: &mut Choices<'_>) {
    let mut index = changed_words(&INDEX, choices);
    if let Some((_, content)) = index.split_at_checked(DIGEST) {
        index = with_digest(&BYTES, content);
    }
    let compiler = Compiler::new(Arc::clone(&BYTES)).limits(limits());
    if compiler.prepare_from(&index).is_err() {
        return;
    }
    let Some(grammar) = GRAMMARS.get(choices.below(GRAMMARS.len())) else { return };
    if let Ok(compiled) = compiler.compile(grammar) {
        walk_through(&compiled, choices);
    }
}

/// A good file with some words changed and its checksums corrected.
fn changed(good: &[u8], choices: &mut Choices<'_>) -> Vec<u8> {
    resealed(changed_words(good, choices))
}

/// A good file with some words changed and perhaps its end cut off, without corrected checksums.
fn changed_words(good: &[u8], choices: &mut Choices<'_>) -> Vec<u8> {
    /// The first bytes, which contain most of the data by which other parts are found.
    const BEGINNING: usize = 2048;
    let mut file = good.to_vec();
    for _ in 0..1 + choices.below(6) {
        let reach = if choices.below(2) == 0 { file.len() } else { file.len().min(BEGINNING) };
        let at = choices.below(reach / 4) * 4;
        let word = u32::from_le_bytes([file[at], file[at + 1], file[at + 2], file[at + 3]]);
        let changed = match choices.below(6) {
            0 => word.wrapping_add(1),
            1 => word.wrapping_sub(1),
            2 => choices.below(256) as u32,
            3 => u32::MAX - choices.below(4) as u32,
            4 => word ^ 1 << choices.below(32),
            _ => word.rotate_left(8),
        };
        file[at..at + 4].copy_from_slice(&changed.to_le_bytes());
    }
    if choices.below(8) == 0 {
        file.truncate(choices.below(file.len()));
    }
    file
}

/// Makes some masks with a file whose content may be false.
fn walk(file: MaskFile, choices: &mut Choices<'_>) {
    let _ = (file.check(), file.contents(), file.about());
    let Ok(compiled) = Compiler::new(Arc::clone(&BYTES)).limits(limits()).load(file) else { return };
    walk_through(&compiled, choices);
    let _ = compiled.verify_masks();
}

/// Makes some masks with a loaded grammar.
pub(super) fn walk_through(compiled: &CompiledGrammar, choices: &mut Choices<'_>) {
    let mut matcher = compiled.matcher();
    for _ in 0..24 {
        // answers from a forged file may be wrong; they only have to be answers
        let Ok(mask) = matcher.mask() else { return };
        let allowed: Vec<TokenId> = mask.iter().collect();
        let Some(&token) = allowed.get(choices.below(allowed.len().max(1))) else { return };
        match choices.below(8) {
            0 => drop(matcher.explain(b"a")),
            1 => drop(matcher.distance()),
            2 => drop(matcher.rollback(1)),
            3 => drop(matcher.forced_tokens()),
            _ if matcher.accept_token(token).is_err() => return,
            _ => {}
        }
    }
}
