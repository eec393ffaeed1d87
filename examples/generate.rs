//! A language model on ONNX Runtime under a grammar: `cargo run --release --features ort --example generate`
//! (after `cargo xtask setup`).
#![allow(clippy::print_stdout)] // an example talks to its user

use grammata::decode::ort::{ModelOptions, OrtModel};
use grammata::decode::{GenerationOptions, Message, ModelFolder, PromptTokenizer, generate};
use grammata::syntax::regex;
use grammata::vocabulary::{LoadOptions, TokenId, Vocabulary};
use grammata::{Compiler, Limits};
use std::path::Path;
use std::sync::Arc;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let limits = Limits::default();
    let folder = ModelFolder::open(Path::new(".models/smollm2"), &limits)?;
    let options = ModelOptions { context_length: folder.context_length, ..ModelOptions::default() };
    let mut model = OrtModel::load(&folder.model, &options)?;

    let tokenizer = PromptTokenizer::from_file(&folder.tokenizer, &limits)?;
    let template = folder.template.ok_or("the model has no chat template")?;
    let question = "What is the capital of France?";
    let prompt = tokenizer.encode(&template.render(&[Message::user(question)], true)?, false)?;

    let eos = folder.end_tokens.iter().map(|&id| TokenId::new(id)).collect();
    let vocabulary =
        Vocabulary::from_file(&folder.tokenizer, &LoadOptions { eos, ..LoadOptions::default() })?;
    let grammar = regex::compile("It is [A-Z][a-z]{2,20}[.]", &regex::Options::default())?;
    let compiled = Compiler::new(Arc::new(vocabulary)).compile(&grammar)?;

    let mut matcher = compiled.matcher();
    let options = GenerationOptions { end_tokens: folder.end_tokens, ..GenerationOptions::default() };
    let vocabulary = compiled.vocabulary();
    let generation = generate(
        &mut model,
        &**vocabulary,
        Some(&mut matcher),
        &prompt,
        &options,
        &mut |piece| print!("{piece}"), // each piece of text as soon as it is certain
    )?;
    println!("\n[{}]\n[{}]", generation.finish, generation.timings);
    Ok(())
}
