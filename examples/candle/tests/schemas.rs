//! Outputs of SmolLM2 under 20 schemas. `GRAMMATA_GGUF` names the model.

use candle_core::Device;
use candle_core::quantized::gguf_file;
use candle_transformers::generation::LogitsProcessor;
use candle_transformers::models::quantized_llama::ModelWeights;
use grammata::Compiler;
use grammata::syntax::json_schema;
use grammata::vocabulary::{LoadOptions, Vocabulary};
use grammata_candle::generate;
use serde_json::Value;
use std::sync::Arc;
use tokenizers::Tokenizer;

const TOKENIZER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data/smollm2/tokenizer.json");
const SCHEMAS: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../bindings/python/hosts/llama_cpp/schemas.jsonl");
const MAX_TOKENS: usize = 64;

#[test]
fn outputs_are_complete_and_valid_within_their_budget() {
    let path = std::env::var("GRAMMATA_GGUF").expect("GRAMMATA_GGUF must name SmolLM2's GGUF file");
    let mut file = std::fs::File::open(path).unwrap();
    let content = gguf_file::Content::read(&mut file).unwrap();
    let mut model = ModelWeights::from_gguf(content, &mut file, &Device::Cpu).unwrap();
    let tokenizer = Tokenizer::from_file(TOKENIZER).unwrap();
    let compiler =
        Compiler::new(Arc::new(Vocabulary::from_file(TOKENIZER, &LoadOptions::default()).unwrap()));

    let lines = std::fs::read_to_string(SCHEMAS).unwrap();
    let mut count = 0;
    for line in lines.lines() {
        let schema: Value = serde_json::from_str(line).unwrap();
        let validator = jsonschema::options().should_validate_formats(true).build(&schema).unwrap();
        let compiled = json_schema::compile(line, &json_schema::Options::default()).unwrap();
        let grammar = compiler.compile(&compiled.grammar).unwrap();
        let prompt = format!("<|im_start|>user\nWrite JSON for {line}<|im_end|>\n<|im_start|>assistant\n");
        let prompt = tokenizer.encode(prompt, true).unwrap();
        for temperature in [None, Some(1.0)] {
            let mut sampler = LogitsProcessor::new(7, temperature, None);
            let text = generate(&mut model, &grammar, &mut sampler, prompt.get_ids(), MAX_TOKENS).unwrap();
            let value: Value = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
            assert!(validator.is_valid(&value), "{text}\n{line}");
            count += 1;
        }
    }
    assert_eq!(count, 40);
}
