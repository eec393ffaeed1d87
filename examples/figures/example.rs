//! The example of `docs/architecture.md`: a schema, a text under it, and the vocabulary.

use grammata::grammar::Grammar;
use grammata::syntax::json_schema::{self, Whitespace};
use grammata::vocabulary::{LoadOptions, Vocabulary};
use grammata::{CompiledGrammar, Compiler, TokenId};
use std::error::Error;
use std::path::Path;
use std::sync::Arc;

/// The schema of a person or a pet. `docs/architecture.md` shows the same text.
pub const SCHEMA: &str = r##"{"anyOf": [
   {"type": "object", "required": ["name", "age"], "additionalProperties": false,
    "properties": {"name": {"$ref": "#/$defs/name"}, "age": {"type": "integer", "minimum": 0}}},
   {"type": "object", "required": ["name"], "additionalProperties": false,
    "properties": {"name": {"$ref": "#/$defs/name"},
                   "tags": {"type": "array", "items": {"$ref": "#/$defs/name"}, "maxItems": 3}}}],
 "$defs": {"name": {"type": "string", "maxLength": 200}}}"##;

/// The text so far. Both alternatives of the schema are still possible after it.
pub const TEXT: &str = r#"{"name":"A"#;

/// The byte of the step that the figures show.
pub(crate) const BYTE: u8 = b'"';

/// The example, compiled.
pub(crate) struct Example {
    pub(crate) grammar: Grammar,
    pub(crate) compiled: CompiledGrammar,
    pub(crate) vocabulary: Arc<Vocabulary>,
    /// The length of the longest token in bytes. No mask depends on text beyond this length.
    pub(crate) longest: u32,
}

impl Example {
    /// Compiles the schema for SmolLM2's vocabulary, without white space between tokens of JSON.
    pub(crate) fn new() -> Result<Example, Box<dyn Error>> {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/smollm2/tokenizer.json");
        let vocabulary = Arc::new(Vocabulary::from_file(path, &LoadOptions::default())?);
        let options = json_schema::Options::default().whitespace(Whitespace::Compact);
        let grammar = json_schema::compile(SCHEMA, &options)?.grammar;
        let compiled = Compiler::new(Arc::clone(&vocabulary)).compile(&grammar)?;
        let tokens = (0..vocabulary.width() as u32).map(TokenId::new);
        let longest = tokens.filter_map(|token| vocabulary.bytes(token)).map(<[u8]>::len).max();
        let longest = longest.unwrap_or_default() as u32;
        Ok(Example { grammar, compiled, vocabulary, longest })
    }
}
