//! A user whose messages a chat model writes.

use super::model_user::{END, MOST_TOKENS, Talk, message};
use super::simulation::UserScript;
use super::user::{Reply, Said, User};
use crate::chat::{self, Chat, Form, Request};
use grammata::error::Result;
use grammata::grammar::Grammar;
use grammata::limits::Limits;
use grammata_agents::procedures::{one_line, word_error};

/// A user whose messages a chat model writes: a server or a command. Prompts and messages have the form of a
/// [`ModelUser`](super::ModelUser). If an answer is not a message, the model is asked once more; a second such answer
/// is an error (`chat/refused`). An answer that contains `[END]` ends the conversation.
pub struct ChatUser<'m> {
    model: &'m mut dyn Chat,
    message: Grammar,
    limits: Limits,
    talk: Talk,
}

impl std::fmt::Debug for ChatUser<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ChatUser").field("usage", &self.model.usage()).finish_non_exhaustive()
    }
}

impl<'m> ChatUser<'m> {
    /// Creates a user with the knowledge and the decisions of a script.
    ///
    /// # Errors
    /// The grammar of messages exceeds the limits.
    pub fn new(model: &'m mut dyn Chat, script: &UserScript, limits: &Limits) -> Result<ChatUser<'m>> {
        Ok(ChatUser { model, message: message(limits)?, limits: limits.clone(), talk: Talk::new(script) })
    }
}

impl User for ChatUser<'_> {
    fn open(&mut self) -> Result<Reply> {
        Ok(self.talk.open())
    }

    fn reply(&mut self, said: &Said<'_>) -> Result<Reply> {
        let request = Request::new(self.talk.hear(said), Form::Text, MOST_TOKENS as u32);
        let (grammar, limits) = (&self.message, &self.limits);
        let written = chat::ask(self.model, request, |answer| {
            let text = one_line(&answer.text);
            if text.contains(END) {
                return Ok(Ok(END.to_owned()));
            }
            Ok(match word_error(grammar, limits, &text)? {
                None => Ok(text),
                Some(wrong) => {
                    Err(format!("a message is one line of 1 to 160 characters without brackets: {wrong}"))
                }
            })
        })?;
        Ok(self.talk.reply(&written))
    }
}
