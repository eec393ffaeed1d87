//! Tokenisation of prompts.

use grammata::error::Result;
#[cfg(feature = "huggingface")]
use {
    super::errors,
    grammata_decode::{ChatTemplate, Message, PromptTokenizer},
};

/// The tokens of a prompt.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Encoded {
    /// The tokens that depend only on the instruction.
    pub constant: Vec<u32>,
    /// The tokens after `constant`, up to where the model begins to write.
    pub rest: Vec<u32>,
}

/// Tokenises prompts for a model.
pub trait Encoder {
    /// Tokenises an instruction and the text `rest` after it. `rest` contains requests and descriptions of tools, so
    /// nothing in it may become a special token.
    ///
    /// # Errors
    /// The tokenizer or the chat template fails.
    fn encode(&self, instruction: &str, rest: &str) -> Result<Encoded>;
}

/// The placeholder for the user's message while a chat template is rendered, a text that no template contains on its
/// own.
#[cfg(feature = "huggingface")]
const PLACE: &str = "\u{F8FF}the user's message\u{F8FF}";

/// Tokenises with a tokenizer and the model's chat template, if the model has one.
///
/// The chat template is rendered with a placeholder for the user's message. So special tokens of the template are
/// recognised, and special tokens spelled in a request or a description are not.
#[cfg(feature = "huggingface")]
#[derive(Clone, Debug)]
pub struct TokenizerEncoder {
    tokenizer: PromptTokenizer,
    template: Option<ChatTemplate>,
}

#[cfg(feature = "huggingface")]
impl TokenizerEncoder {
    /// Creates an encoder. Without a chat template, the instruction and the rest form one text, separated by a line
    /// feed.
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
