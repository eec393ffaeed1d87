//! The peer: llguidance, called as its documentation says for servers, with its default slices.

use crate::engine::{Engine, Session};
use llguidance::api::TopLevelGrammar;
use llguidance::earley::SlicedBiasComputer;
use llguidance::toktrie::InferenceCapabilities;
use llguidance::{Matcher, ParserFactory};
use std::path::Path;
use toktrie_hf_tokenizers::ByteTokenizer;

/// llguidance with a tokenizer.
pub(crate) struct Llguidance(ParserFactory);

impl Llguidance {
    pub(crate) fn new(tokenizer: &Path, ends: &[u32]) -> Result<Llguidance, String> {
        let mut bytes = ByteTokenizer::from_file(tokenizer).map_err(|error| error.to_string())?;
        if !ends.is_empty() {
            bytes.set_eos_tokens(ends);
        }
        let environment = bytes.into_tok_env(None).map_err(|error| error.to_string())?;
        let slices = SlicedBiasComputer::general_slices();
        let factory = ParserFactory::new(&environment, InferenceCapabilities::default(), &slices);
        let mut factory = factory.map_err(|error| error.to_string())?;
        factory.quiet();
        Ok(Llguidance(factory))
    }
}

impl Engine for Llguidance {
    fn name(&self) -> &'static str {
        "llguidance"
    }

    fn session(&self, schema: &str) -> Result<Box<dyn Session>, String> {
        let value = serde_json::from_str(schema).map_err(|error| error.to_string())?;
        let matcher = Matcher::new(self.0.create_parser(TopLevelGrammar::from_json_schema(value)));
        match matcher.get_error() {
            Some(message) => Err(message),
            None => Ok(Box::new(matcher)),
        }
    }
}

impl Session for Matcher {
    fn fill(&mut self, words: &mut [u32]) -> Result<(), String> {
        let mask = self.compute_mask_or_eos().map_err(|error| error.to_string())?;
        words.copy_from_slice(mask.as_slice().get(..words.len()).ok_or("the mask is too short")?);
        Ok(())
    }

    fn accept(&mut self, token: u32) -> Result<(), String> {
        self.consume_token(token).map_err(|error| error.to_string())
    }

    fn reset(&mut self) -> Result<(), String> {
        Matcher::reset(self).map_err(|error| error.to_string())
    }
}
