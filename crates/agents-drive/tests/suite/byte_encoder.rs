//! A tokenizer of bytes for tests with a model.

use grammata::Result;
use grammata_agents_drive::plan::PromptEncoder;

/// Encodes each byte of a text as the token with its number.
pub(crate) struct ByteEncoder;

impl PromptEncoder for ByteEncoder {
    fn prompt(&self, question: &str) -> Result<Vec<u32>> {
        self.answer(question)
    }

    fn answer(&self, text: &str) -> Result<Vec<u32>> {
        Ok(text.bytes().map(u32::from).collect())
    }
}
