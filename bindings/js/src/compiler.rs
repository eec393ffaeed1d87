//! Compilers: sources to grammars.

use crate::border::{JsResult, Raise, to_json};
use crate::errors;
use crate::grammar::Grammar;
use crate::options::Options;
use crate::sources;
use crate::vocabulary::Vocabulary;
use grammata::syntax::{Source, parse};
use grammata::{Limits, Result};
use std::sync::Arc;
use wasm_bindgen::prelude::*;

/// Compiles grammars for one vocabulary; make one for each model. Its grammars share masks of the parts that they have
/// in common.
#[wasm_bindgen]
pub struct Compiler {
    compiler: grammata::Compiler,
    limits: Limits,
}

/// Reads a source: its text, its options, and the limits of the compiler.
type Read = fn(String, &mut Options, &Limits) -> Result<Source>;

impl Compiler {
    fn run(&self, read: Read, text: String, options: &JsValue) -> Result<Grammar> {
        let mut options = Options::of(options)?;
        let source = read(text, &mut options, &self.limits)?;
        options.finish()?;
        let parsed = parse(&source)?;
        let compiled = self.compiler.compile(&parsed.grammar)?;
        Ok(Grammar { compiled, warnings: parsed.warnings })
    }
}

/// The text of a source that is JSON: a string as it is, another value written as JSON.
fn json(what: &'static str, value: &JsValue) -> Result<String> {
    match value.as_string() {
        Some(text) => Ok(text),
        None => to_json(what, value)?.ok_or_else(|| errors::not_json(what, &"undefined")),
    }
}

#[wasm_bindgen]
impl Compiler {
    /// A compiler for a vocabulary.
    #[wasm_bindgen(constructor)]
    pub fn new(
        vocabulary: &Vocabulary,
        #[wasm_bindgen(unchecked_optional_param_type = "CompilerOptions")] options: &JsValue,
    ) -> JsResult<Compiler> {
        let mut options = Options::of(options).raise()?;
        let limits = options.limits().raise()?;
        options.finish().raise()?;
        let compiler = grammata::Compiler::new(Arc::clone(&vocabulary.vocabulary)).limits(limits.clone());
        Ok(Compiler { compiler, limits })
    }

    /// Computes the tables of the vocabulary now; otherwise the first grammar does.
    pub fn prepare(&self) -> JsResult<()> {
        self.compiler.prepare().raise()
    }

    /// Compiles a JSON Schema: an object or a text.
    #[wasm_bindgen(js_name = compileJsonSchema)]
    pub fn compile_json_schema(
        &self,
        #[wasm_bindgen(unchecked_param_type = "object | boolean | string")] schema: &JsValue,
        #[wasm_bindgen(unchecked_optional_param_type = "JsonSchemaOptions")] options: &JsValue,
    ) -> JsResult<Grammar> {
        let text = json("the schema", schema).raise()?;
        self.run(sources::json_schema, text, options).raise()
    }

    /// Compiles a regular expression that matches whole texts.
    #[wasm_bindgen(js_name = compileRegex)]
    pub fn compile_regex(
        &self,
        pattern: String,
        #[wasm_bindgen(unchecked_optional_param_type = "RegexOptions")] options: &JsValue,
    ) -> JsResult<Grammar> {
        self.run(sources::regex, pattern, options).raise()
    }

    /// Compiles a grammar in llama.cpp's notation.
    #[wasm_bindgen(js_name = compileGbnf)]
    pub fn compile_gbnf(
        &self,
        grammar: String,
        #[wasm_bindgen(unchecked_optional_param_type = "GbnfOptions")] options: &JsValue,
    ) -> JsResult<Grammar> {
        self.run(sources::gbnf, grammar, options).raise()
    }

    /// Compiles a Lark grammar.
    #[wasm_bindgen(js_name = compileLark)]
    pub fn compile_lark(
        &self,
        grammar: String,
        #[wasm_bindgen(unchecked_optional_param_type = "LarkOptions")] options: &JsValue,
    ) -> JsResult<Grammar> {
        self.run(sources::lark, grammar, options).raise()
    }

    /// Compiles a structural tag: an object or a text.
    #[wasm_bindgen(js_name = compileStructuralTag)]
    pub fn compile_structural_tag(
        &self,
        #[wasm_bindgen(unchecked_param_type = "object | string")] tag: &JsValue,
        #[wasm_bindgen(unchecked_optional_param_type = "StructuralTagOptions")] options: &JsValue,
    ) -> JsResult<Grammar> {
        let text = json("the structural tag", tag).raise()?;
        self.run(sources::structural_tag, text, options).raise()
    }

    /// The vocabulary.
    #[wasm_bindgen(getter)]
    pub fn vocabulary(&self) -> Vocabulary {
        Vocabulary { vocabulary: Arc::clone(self.compiler.vocabulary()) }
    }

    /// Drops the data that grammars share with each other.
    #[wasm_bindgen(js_name = clearCache)]
    pub fn clear_cache(&self) {
        self.compiler.clear_cache();
    }

    /// Bytes of the tables of the vocabulary.
    #[wasm_bindgen(js_name = memoryUsage)]
    pub fn memory_usage(&self) -> usize {
        self.compiler.memory_usage()
    }
}
