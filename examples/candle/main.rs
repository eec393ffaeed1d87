//! Generates JSON under a schema with a GGUF model of the Llama family.
//!
//! In this folder: `cargo run --release -- MODEL.gguf tokenizer.json schema.json PROMPT MAX_TOKENS`

use candle_core::Device;
use candle_core::quantized::gguf_file;
use candle_transformers::generation::LogitsProcessor;
use candle_transformers::models::quantized_llama::ModelWeights;
use grammata::Compiler;
use grammata::syntax::json_schema;
use grammata::vocabulary::{LoadOptions, Vocabulary};
use grammata_candle::{Error, generate};
use std::sync::Arc;
use tokenizers::Tokenizer;

const USAGE: &str = "usage: grammata-candle MODEL.gguf tokenizer.json schema.json PROMPT MAX_TOKENS";

fn main() -> Result<(), Error> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [model, tokenizer, schema, prompt, max_tokens] = &arguments[..] else { return Err(USAGE.into()) };

    let vocabulary = Vocabulary::from_file(tokenizer, &LoadOptions::default())?;
    let schema = json_schema::compile(&std::fs::read_to_string(schema)?, &json_schema::Options::default())?;
    let grammar = Compiler::new(Arc::new(vocabulary)).compile(&schema.grammar)?;

    let mut file = std::fs::File::open(model)?;
    let content = gguf_file::Content::read(&mut file)?;
    let mut model = ModelWeights::from_gguf(content, &mut file, &Device::Cpu)?;
    let prompt = Tokenizer::from_file(tokenizer)?.encode(prompt.as_str(), true)?;

    let mut sampler = LogitsProcessor::new(0, None, None);
    println!("{}", generate(&mut model, &grammar, &mut sampler, prompt.get_ids(), max_tokens.parse()?)?);
    Ok(())
}
