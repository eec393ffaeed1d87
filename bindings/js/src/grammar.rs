//! Grammars compiled for a vocabulary.

use crate::border::{self, JsResult, Raise, fields};
use crate::errors;
use crate::matcher::Matcher;
use crate::numbers;
use crate::options::{Options, TextOrNames};
use crate::vocabulary::Vocabulary;
use crate::words;
use grammata::matcher::EventMatcher;
use grammata::{CompiledGrammar, Diagnostic, Result, TokenId};
use js_sys::{Array, BigInt};
use serde_json::Value;
use std::sync::Arc;
use wasm_bindgen::prelude::*;

/// A grammar compiled for a vocabulary. Any number of matchers may use it.
#[wasm_bindgen]
pub struct Grammar {
    pub(crate) compiled: CompiledGrammar,
    /// Warnings of the front end.
    pub(crate) warnings: Vec<Diagnostic>,
}

impl Grammar {
    fn new_matcher(&self, options: &JsValue) -> Result<EventMatcher> {
        let mut options = Options::of(options)?;
        let compiled = match options.ids("endTokens")? {
            None => self.compiled.clone(),
            Some(ids) => self.compiled.with_end_tokens(ids.into_iter().map(TokenId::new))?,
        };
        let events = options.text_or_names("events")?;
        options.finish()?;
        match events {
            None => Ok(compiled.matcher().into()),
            Some(TextOrNames::Text(name)) if name == "json" => Ok(compiled.json_events()),
            Some(TextOrNames::Text(name)) => {
                Err(errors::option("events", &name, "\"json\", or an array of names of rules"))
            }
            Some(TextOrNames::Names(rules)) => {
                let rules: Vec<&str> = rules.iter().map(String::as_str).collect();
                compiled.rule_events(&rules)?.matcher()
            }
        }
    }
}

#[wasm_bindgen]
impl Grammar {
    /// A matcher at the beginning of a text.
    pub fn matcher(
        &self,
        #[wasm_bindgen(unchecked_optional_param_type = "MatcherOptions")] options: &JsValue,
    ) -> JsResult<Matcher> {
        Ok(Matcher::new(self.new_matcher(options).raise()?))
    }

    /// The vocabulary that the grammar was compiled for.
    #[wasm_bindgen(getter)]
    pub fn vocabulary(&self) -> Vocabulary {
        Vocabulary { vocabulary: Arc::clone(self.compiled.vocabulary()) }
    }

    /// Warnings of the source, and of compiling it for the vocabulary.
    #[wasm_bindgen(getter, unchecked_return_type = "Diagnostic[]")]
    pub fn warnings(&self) -> JsValue {
        let mut all = self.warnings.clone();
        all.extend(self.compiled.warnings());
        border::warnings(&all)
    }

    /// The number of words of the grammar; `undefined` if there are infinitely many.
    pub fn count(&self) -> JsResult<Option<BigInt>> {
        let Some(digits) = words::count(&self.compiled).raise()? else { return Ok(None) };
        BigInt::new(&JsValue::from_str(&digits)).map(Some).map_err(JsValue::from)
    }

    /// The words of the grammar after the first `offset`, at most `limit` of them (100): those of a finite language in
    /// order of bytes, those of an infinite one by length and then in order of bytes. A word is bytes, or, if it has
    /// token terminals, an array of bytes and of the terminals as the grammar writes them.
    #[wasm_bindgen(unchecked_return_type = "Word[]")]
    pub fn enumerate(
        &self,
        #[wasm_bindgen(unchecked_optional_param_type = "EnumerateOptions")] options: &JsValue,
    ) -> JsResult<Array> {
        let mut options = Options::of(options).raise()?;
        let limit = options.count("limit").raise()?.unwrap_or(100);
        let offset = options.count("offset").raise()?.unwrap_or(0);
        options.finish().raise()?;
        let list = words::enumerate(&self.compiled, limit as usize, offset as usize).raise()?;
        Ok(words::array(&self.compiled, list))
    }

    /// Random words, in the form of `enumerate`. Equal seeds give equal words.
    #[wasm_bindgen(unchecked_return_type = "Word[]")]
    pub fn sample(
        &self,
        count: Option<f64>,
        #[wasm_bindgen(unchecked_optional_param_type = "SampleOptions")] options: &JsValue,
    ) -> JsResult<Array> {
        let count = numbers::count("count", count, 1).raise()?;
        let mut options = Options::of(options).raise()?;
        let seed = options.count("seed").raise()?.unwrap_or(0);
        let most = options.count("maxBytes").raise()?.unwrap_or(200);
        let is_uniform = options.flag("uniform", false).raise()?;
        options.finish().raise()?;
        let list = words::sample(&self.compiled, count, seed, most as usize, is_uniform).raise()?;
        Ok(words::array(&self.compiled, list))
    }

    /// Sizes and counts of the grammar's tables.
    #[wasm_bindgen(unchecked_return_type = "GrammarStatistics")]
    pub fn statistics(&self) -> JsValue {
        let found = self.compiled.statistics();
        border::from_json(&fields([
            ("states", Value::from(found.states)),
            ("configurations", found.configurations.into()),
            ("masksComputed", found.masks_computed.into()),
            ("resets", found.resets.into()),
            ("automatonBytes", found.automaton_bytes.into()),
            ("cacheBytes", found.cache_bytes.into()),
        ]))
    }

    /// Bytes of the automaton, its grammar, and the tables and masks computed so far.
    #[wasm_bindgen(js_name = memoryUsage)]
    pub fn memory_usage(&self) -> usize {
        self.compiled.memory_usage()
    }
}
