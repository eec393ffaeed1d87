//! The peer llguidance, used as its documentation recommends for servers, with its default slices.

use super::engine::{Compilation, Compiled, Engine, Refusal, Session};
use llguidance::api::TopLevelGrammar;
use llguidance::earley::SlicedBiasComputer;
use llguidance::toktrie::{InferenceCapabilities, TokEnv};
use llguidance::{Matcher, ParserFactory};
use serde_json::{Value, json};
use std::path::Path;
use std::time::Instant;
use toktrie_hf_tokenizers::ByteTokenizer;

/// The engine llguidance for one tokenizer.
pub(crate) struct Llguidance {
    factory: ParserFactory,
    environment: TokEnv,
}

impl Llguidance {
    /// Loads a tokenizer. If `eos` is empty, the tokenizer's own end-of-sequence ids are used.
    pub(crate) fn new(tokenizer: &Path, eos: &[u32]) -> Result<Llguidance, String> {
        let mut bytes = ByteTokenizer::from_file(tokenizer).map_err(|e| e.to_string())?;
        if !eos.is_empty() {
            bytes.set_eos_tokens(eos);
        }
        let environment = bytes.into_tok_env(None).map_err(|e| e.to_string())?;
        let slices = SlicedBiasComputer::general_slices();
        let factory = ParserFactory::new(&environment, InferenceCapabilities::default(), &slices);
        let mut factory = factory.map_err(|e| e.to_string())?;
        factory.quiet();
        Ok(Llguidance { factory, environment })
    }
}

impl Engine for Llguidance {
    fn name(&self) -> &'static str {
        "llguidance"
    }

    fn mask_words(&self) -> usize {
        self.environment.tok_trie().vocab_size().div_ceil(32)
    }

    fn compile(&self, schema: &str) -> Result<Compilation, Refusal> {
        let begin = Instant::now();
        let value: Value = serde_json::from_str(schema).map_err(|e| refusal(e.to_string()))?;
        let first_part = ("json_parse_us", begin.elapsed());
        let parser = self.factory.create_parser(TopLevelGrammar::from_json_schema(value));
        let matcher = Matcher::new(parser);
        if let Some(message) = matcher.get_error() {
            return Err(refusal(message));
        }
        let compiled = Template { matcher, environment: self.environment.clone() };
        Ok(Compilation { compiled: Box::new(compiled), first_part })
    }
}

/// Makes a refusal of an error message. llguidance's errors have no codes; the first 60 characters distinguish them.
fn refusal(message: String) -> Refusal {
    let line = message.lines().next().unwrap_or_default();
    let keyword = line.chars().take(60).collect();
    Refusal { code: "llguidance".to_owned(), keyword, message }
}

/// A matcher from which the walks are cloned. A deep clone has its own lexer tables.
struct Template {
    matcher: Matcher,
    environment: TokEnv,
}

impl Compiled for Template {
    fn session(&self) -> Box<dyn Session> {
        Box::new(Walk { matcher: self.matcher.deep_clone(), environment: self.environment.clone() })
    }

    fn statistics(&self) -> Value {
        json!({})
    }
}

struct Walk {
    matcher: Matcher,
    environment: TokEnv,
}

impl Session for Walk {
    fn fill_mask(&mut self, words: &mut [u32]) -> Result<(), String> {
        let mask = self.matcher.compute_mask_or_eos().map_err(|e| e.to_string())?;
        let computed = mask.as_slice().get(..words.len()).ok_or("the mask is too short")?;
        words.copy_from_slice(computed);
        Ok(())
    }

    fn accept(&mut self, token: u32) -> Result<(), String> {
        self.matcher.consume_token(token).map_err(|e| e.to_string())
    }

    fn is_accepting(&mut self) -> Result<bool, String> {
        self.matcher.is_accepting().map_err(|e| e.to_string())
    }

    fn explain(&mut self, _token: u32) -> String {
        match self.matcher.compute_mask_or_eos() {
            Ok(mask) => format!("allowed: {}", self.environment.tok_trie().token_set_dbg(&mask)),
            Err(error) => error.to_string(),
        }
    }
}
