//! A JSON Schema becomes masks for a tokenizer: `cargo run --example quick_start`.

use grammata::syntax::json_schema;
use grammata::vocabulary::{LoadOptions, Vocabulary};
use grammata::{Compiler, Result};
use std::sync::Arc;

fn main() -> Result<()> {
    // once a model
    let vocabulary = Vocabulary::from_file("tests/data/smollm2/tokenizer.json", &LoadOptions::default())?;
    let compiler = Compiler::new(Arc::new(vocabulary));
    // once a schema
    let schema =
        r#"{"type": "object", "required": ["answer"], "properties": {"answer": {"enum": ["yes", "no"]}}}"#;
    let grammar = json_schema::compile(schema, &json_schema::Options::default())?.grammar;
    let compiled = compiler.compile(&grammar)?;
    // once a sequence
    let mut matcher = compiled.matcher();
    matcher.accept_bytes(br#"{"answer": "y"#)?; // what the model has written
    let allowed: Vec<_> = matcher.mask()?.iter().filter_map(|id| compiled.vocabulary().bytes(id)).collect();
    assert_eq!(allowed, [&b"e"[..], b"es"]); // what may come next
    Ok(())
}
