//! A user played by a language model.

use super::simulation::UserScript;
use super::user::{Reply, Said, User};
use crate::plan::ModelPolicy;
use grammata::error::Result;
use grammata::grammar::Grammar;
use grammata::limits::Limits;
use grammata::mask::{CompiledGrammar, Compiler};
use grammata::syntax::regex;
use grammata::vocabulary::Vocabulary;
use grammata_agents::procedures::{one_line, spoken};
use std::fmt::Write;
use std::sync::Arc;

/// The text with which the model ends the conversation.
pub(super) const END: &str = "[END]";
/// Pattern of a message of 1 to 160 characters without square brackets, or of [`END`].
const MESSAGE: &str = r"\[END\]|[^\[\]\s\x00-\x1f]([^\[\]\n\r\x00-\x1f]{0,158}[^\[\]\s\x00-\x1f])?";
/// The maximum number of tokens of a message.
pub(super) const MOST_TOKENS: usize = 96;
/// The maximum number of lines of the conversation in a prompt.
const SHOWN: usize = 12;

/// The knowledge and goals of a user who is played by a model, and the conversation so far.
pub(super) struct Talk {
    task: String,
    open: String,
    lines: Vec<String>,
}

impl Talk {
    pub(super) fn new(script: &UserScript) -> Talk {
        Talk { task: task(script), open: script.open.clone(), lines: Vec::new() }
    }

    /// Records and returns the first message of the script.
    pub(super) fn open(&mut self) -> Reply {
        self.lines.push(format!("You: {}", one_line(&self.open)));
        Reply::text(self.open.clone())
    }

    /// Records what the agent said. Returns the prompt of the user's next message.
    pub(super) fn hear(&mut self, said: &Said<'_>) -> String {
        self.lines.push(format!("Agent: {}", one_line(said.text)));
        let mut text = self.task.clone();
        text.push_str("Conversation:\n");
        for line in &self.lines[self.lines.len().saturating_sub(SHOWN)..] {
            text.push_str(line);
            text.push('\n');
        }
        text.push_str("Your next message:");
        text
    }

    /// Converts a text of the model to a reply. An empty text and a beginning of [`END`] end the conversation.
    pub(super) fn reply(&mut self, written: &str) -> Reply {
        // a text that the bound on tokens cut may end with a space, or within `[END]`
        let text = written.trim_end().to_owned();
        if text.is_empty() || END.starts_with(&text) {
            return Reply::End;
        }
        self.lines.push(format!("You: {text}"));
        Reply::text(text)
    }
}

/// Returns the grammar of [`MESSAGE`].
pub(super) fn message(limits: &Limits) -> Result<Grammar> {
    regex::compile(&format!("^({MESSAGE})$"), &regex::Options::default().limits(limits.clone()))
}

/// A user whose messages a language model writes. The first message is that of the script. The prompt has the slots and
/// the decisions of the script. A grammar restricts a message to one line of 1 to 160 characters without square
/// brackets, or `[END]`. Replies have no `tells`, because the values that a message tells are not known.
pub struct ModelUser<'m> {
    policy: ModelPolicy<'m>,
    message: CompiledGrammar,
    talk: Talk,
}

impl std::fmt::Debug for ModelUser<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ModelUser").field("lines", &self.talk.lines).finish_non_exhaustive()
    }
}

impl<'m> ModelUser<'m> {
    /// Creates a user with the knowledge and the decisions of a script.
    ///
    /// # Errors
    /// The grammar of messages exceeds the limits.
    pub fn new(
        policy: ModelPolicy<'m>,
        vocabulary: &Arc<Vocabulary>,
        script: &UserScript,
        limits: &Limits,
    ) -> Result<ModelUser<'m>> {
        let message =
            Compiler::new(Arc::clone(vocabulary)).limits(limits.clone()).compile(&message(limits)?)?;
        Ok(ModelUser { policy, message, talk: Talk::new(script) })
    }
}

/// Returns the instructions of the prompt: the role of the user, and the slots and the decisions of a script.
fn task(script: &UserScript) -> String {
    let mut text = String::from(
        "You are a customer who talks to an agent. Write your next message in the first person, in one short sentence. Answer what \
         you are asked, and tell nothing else. Write [END] when you have what you want, or cannot get it.\nYou know:\n",
    );
    for (slot, value) in &script.slots {
        let _ = writeln!(text, "- {}: {}", slot.replace('_', " "), spoken(value));
    }
    for (slot, value) in &script.decide {
        let _ = writeln!(text, "- if you are asked about {}: {}", slot.replace('_', " "), spoken(value));
    }
    text
}

impl User for ModelUser<'_> {
    fn open(&mut self) -> Result<Reply> {
        Ok(self.talk.open())
    }

    fn reply(&mut self, said: &Said<'_>) -> Result<Reply> {
        let prompt = self.talk.hear(said);
        let written = self.policy.write(&prompt, Some(&self.message), MOST_TOKENS)?.text;
        Ok(self.talk.reply(&written))
    }
}
