//! Prompts to tokens.

use grammata::error::Result;
#[cfg(feature = "huggingface")]
use {
    crate::retrieval::errors,
    grammata_decode::{ChatTemplate, Message, PromptTokenizer},
};

/// The tokens of a prompt.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Encoded {
    /// Tokens that depend on the instruction alone.
    pub constant: Vec<u32>,
    /// The tokens after them, up to where the model is to write.
    pub rest: Vec<u32>,
}

/// Writes prompts in the tokens of a model.
pub trait Encoder {
    /// The tokens of an instruction and what follows it. The latter holds requests and descriptions of tools: nothing in it
    /// may become a special token.
    ///
    /// # Errors
    /// The tokenizer or the chat template fails.
    fn encode(&self, instruction: &str, rest: &str) -> Result<Encoded>;
}

/// Placeholder for the user's message while a chat template is rendered; no template writes it by itself.
#[cfg(feature = "huggingface")]
const PLACE: &str = "\u{F8FF}the user's message\u{F8FF}";

/// Encodes with a tokenizer and, if the model has one, its chat template.
///
/// The chat template is rendered with a placeholder for the user's message, so that special tokens of the template are
/// recognised and those that a request or a description spells are not.
#[cfg(feature = "huggingface")]
#[derive(Clone, Debug)]
pub struct TokenizerEncoder {
    tokenizer: PromptTokenizer,
    template: Option<ChatTemplate>,
}

#[cfg(feature = "huggingface")]
impl TokenizerEncoder {
    /// An encoder; without a chat template the instruction and the rest are one text, a line end between them.
    pub fn new(tokenizer: PromptTokenizer, template: Option<ChatTemplate>) -> TokenizerEncoder {
        TokenizerEncoder { tokenizer, template }
    }
}

#[cfg(feature = "huggingface")]
impl Encoder for TokenizerEncoder {
    fn encode(&self, instruction: &str, rest: &str) -> Result<Encoded> {
        let Some(template) = &self.template else {
            let constant = self.tokenizer.encode(&format!("{instruction}\n"), true)?;
            return Ok(Encoded { constant, rest: self.tokenizer.encode_literal(rest)? });
        };
        let system = (!instruction.is_empty()).then(|| Message::system(instruction));
        let messages: Vec<Message> = system.into_iter().chain([Message::user(PLACE)]).collect();
        let text = template.render(&messages, true)?;
        let (before, after) = text.split_once(PLACE).ok_or_else(errors::user_message)?;
        let constant = self.tokenizer.encode(before, false)?;
        let mut tokens = self.tokenizer.encode_literal(rest)?;
        tokens.extend(self.tokenizer.encode(after, false)?);
        Ok(Encoded { constant, rest: tokens })
    }
}
