//! A language model on ONNX Runtime under a grammar: `cargo run --profile quick --features ort --example generate`
//! (after `cargo xtask setup`).
#![allow(clippy::print_stdout)] // an example prints its results

use grammata::syntax::regex;
use grammata::vocabulary::{LoadOptions, TokenId, Vocabulary};
use grammata::{Compiler, Limits};
use grammata_decode::ort::{ModelOptions, OrtModel};
use grammata_decode::{Decoder, Event, GenerationOptions, Message, ModelFolder, PromptTokenizer};
use std::path::Path;
use std::sync::Arc;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let limits = Limits::default();
    let folder = ModelFolder::open(Path::new(".models/smollm2"), &limits)?;
    let options = ModelOptions::default().context_length(folder.context_length);
    let mut model = OrtModel::load(&folder.model, &options)?;

    let tokenizer = PromptTokenizer::from_file(&folder.tokenizer, &limits)?;
    let template = folder.template.ok_or("the model has no chat template")?;
    let question = "What is the capital of France?";
    let prompt = tokenizer.encode(&template.render(&[Message::user(question)], true)?, false)?;

    let eos = folder.end_tokens.iter().map(|&id| TokenId::new(id)).collect();
    let vocabulary = Vocabulary::from_file(&folder.tokenizer, &LoadOptions::default().eos(eos))?;
    let grammar = regex::compile("It is [A-Z][a-z]{2,20}[.]", &regex::Options::default())?;
    let compiled = Compiler::new(Arc::new(vocabulary)).compile(&grammar)?;

    let options = GenerationOptions::default().end_tokens(folder.end_tokens);
    let (vocabulary, matcher) = (&**compiled.vocabulary(), Box::new(compiled.matcher()));
    let mut decoder = Decoder::new(&mut model, vocabulary, Some(matcher), &prompt, &options)?;
    loop {
        match decoder.next(&mut model)? {
            Event::Text(piece) => print!("{piece}"), // as soon as it is certain
            Event::Token(_) => {}
            Event::Finished(_) => break,
        }
    }
    let generation = decoder.close(&mut model);
    println!("\n[{}]\n[{}]", generation.finish, generation.timings);
    Ok(())
}
