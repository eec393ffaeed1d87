//! Masks that are computed ahead of time: `cargo run --example mask_files`.
#![allow(clippy::print_stdout)] // an example prints its results

use grammata::explore::ExploreBudget;
use grammata::grammar::Grammar;
use grammata::mask_file::{ArchiveBuilder, MaskArchive};
use grammata::syntax::json_schema;
use grammata::vocabulary::{LoadOptions, Vocabulary};
use grammata::{CompiledGrammar, Compiler, Limits, MaskFile, Result};
use std::sync::Arc;

/// What was explored ahead of time, read in another process.
fn ahead_of_time(compiler: &Compiler, grammar: &Grammar) -> Result<()> {
    let path = std::env::temp_dir().join(format!("answer-{}.gmask", std::process::id()));
    // once, before anything is served; documents that were written before say where to look first
    compiler.compile(grammar)?.explore(&ExploreBudget::default(), &[])?.save(&path)?;
    // in each process
    let compiled = compiler.load(MaskFile::open(&path, &Limits::default())?)?;
    let mut matcher = compiled.matcher();
    assert!(matcher.is_explored());
    println!("{} tokens may come first", matcher.mask()?.len());
    std::fs::remove_file(&path).map_err(|cause| grammata::Error::io(&path, &cause))
}

/// Without a file: explored on a thread of its own while the prompt is prefilled.
fn while_prefilling(
    compiler: &Compiler,
    grammar: &Grammar,
    prefill: impl FnOnce(),
) -> Result<CompiledGrammar> {
    let compiled = compiler.compile(grammar)?;
    let warm = compiled.warm(ExploreBudget::default());
    prefill();
    let (places, masks) = warm.cancel();
    println!("{places} places and {masks} masks are there before they are needed");
    Ok(compiled)
}

/// Many grammars in one archive: each is found by its name or by the grammar itself, and none is read before.
fn archived(compiler: &Compiler, grammars: &[(&str, &Grammar)]) -> Result<()> {
    let path = std::env::temp_dir().join(format!("answers-{}.gmasks", std::process::id()));
    let mut builder = ArchiveBuilder::new(compiler.vocabulary(), &Limits::default());
    for (name, grammar) in grammars {
        builder.add(*name, &compiler.compile(grammar)?.explore(&ExploreBudget::default(), &[])?)?;
    }
    builder.save(&path)?;
    let archive = MaskArchive::open(&path, &Limits::default())?;
    for (name, grammar) in grammars {
        let file = archive.get(name)?.or(archive.of_grammar(grammar)?);
        let loaded = file.map(|file| compiler.load(file)).transpose()?;
        println!("{name}: {}", loaded.is_some_and(|loaded| loaded.matcher().is_explored()));
    }
    std::fs::remove_file(&path).map_err(|cause| grammata::Error::io(&path, &cause))
}

fn main() -> Result<()> {
    let vocabulary = Vocabulary::from_file("tests/data/smollm2/tokenizer.json", &LoadOptions::default())?;
    let compiler = Compiler::new(Arc::new(vocabulary));
    let schema =
        r#"{"type": "object", "required": ["answer"], "properties": {"answer": {"enum": ["yes", "no"]}}}"#;
    let grammar = json_schema::compile(schema, &json_schema::Options::default())?.grammar;
    ahead_of_time(&compiler, &grammar)?;
    archived(&compiler, &[("answer", &grammar)])?;
    let prefill = || std::thread::sleep(std::time::Duration::from_millis(20));
    while_prefilling(&compiler, &grammar, prefill)?;
    Ok(())
}
