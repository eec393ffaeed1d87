//! A JSON Schema becomes masks for a tokenizer: `cargo run --example quick_start`.
#![allow(clippy::print_stdout)] // an example talks to its user

use grammata::syntax::json_schema::{self, JsonSchemaOptions};
use grammata::vocabulary::{LoadOptions, Vocabulary};
use grammata::{Compiler, Result};
use std::sync::Arc;

fn main() -> Result<()> {
    // the tokenizer of the model: once for each model
    let vocabulary = Vocabulary::from_file("tests/data/smollm2/tokenizer.json", &LoadOptions::default())?;
    let compiler = Compiler::new(Arc::new(vocabulary));

    // the grammar: once for each schema
    let schema = r#"{"type": "object",
                     "properties": {"answer": {"enum": ["yes", "no"]}},
                     "required": ["answer"], "additionalProperties": false}"#;
    let schema = json_schema::compile(schema, &JsonSchemaOptions::default())?;
    let compiled = compiler.compile(&schema.grammar)?;

    // a matcher: once for each sequence
    let mut matcher = compiled.matcher();
    matcher.accept_bytes(br#"{"answer": "y"#)?;
    let allowed: Vec<&[u8]> =
        matcher.mask()?.iter().filter_map(|token| compiled.vocabulary().bytes(token)).collect();
    assert_eq!(allowed, [&b"e"[..], b"es"]);
    println!("after {{\"answer\": \"y the model may write \"e\" or \"es\"");
    Ok(())
}
