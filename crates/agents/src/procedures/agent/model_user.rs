//! A user played by a language model.

use super::simulation::UserScript;
use super::user::{Reply, Said, User};
use crate::plan::policy::ModelPolicy;
use crate::procedures::conversation::fill::{one_line, spoken};
use grammata::error::Result;
use grammata::limits::Limits;
use grammata::mask::{CompiledGrammar, Compiler};
use grammata::syntax::regex;
use grammata::vocabulary::Vocabulary;
use std::fmt::Write;
use std::sync::Arc;

/// The text with which the model leaves.
const END: &str = "[END]";
/// A message of the user, or its end.
const MESSAGE: &str = r"\[END\]|[^\[\]\s\x00-\x1f]([^\[\]\n\r\x00-\x1f]{0,158}[^\[\]\s\x00-\x1f])?";
/// The most tokens of a message.
const MOST_TOKENS: usize = 96;
/// The most lines of the conversation in a prompt.
const SHOWN: usize = 12;

/// A user whose messages a model writes. The first message is that of the script; the model also sees what the script's
/// user knows and wants. Under a grammar a message is one line of 1 to 160 characters without brackets, or the end. The
/// values that a message tells are not known.
pub struct ModelUser<'m> {
    policy: ModelPolicy<'m>,
    message: CompiledGrammar,
    task: String,
    open: String,
    lines: Vec<String>,
}

impl std::fmt::Debug for ModelUser<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ModelUser").field("lines", &self.lines).finish_non_exhaustive()
    }
}

impl<'m> ModelUser<'m> {
    /// Creates a user with the aims of a script.
    ///
    /// # Errors
    /// The grammar of messages exceeds the limits.
    pub fn new(
        policy: ModelPolicy<'m>,
        vocabulary: &Arc<Vocabulary>,
        script: &UserScript,
        limits: &Limits,
    ) -> Result<ModelUser<'m>> {
        let options = regex::Options::default().limits(limits.clone());
        let grammar = regex::compile(&format!("^({MESSAGE})$"), &options)?;
        let message = Compiler::new(Arc::clone(vocabulary)).limits(limits.clone()).compile(&grammar)?;
        let (task, open) = (task(script), script.open.clone());
        Ok(ModelUser { policy, message, task, open, lines: Vec::new() })
    }

    fn prompt(&self) -> String {
        let mut text = self.task.clone();
        text.push_str("Conversation:\n");
        for line in &self.lines[self.lines.len().saturating_sub(SHOWN)..] {
            text.push_str(line);
            text.push('\n');
        }
        text.push_str("Your next message:");
        text
    }
}

/// Returns the instructions of the user.
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
        self.lines.push(format!("You: {}", one_line(&self.open)));
        Ok(Reply::text(self.open.clone()))
    }

    fn reply(&mut self, said: &Said<'_>) -> Result<Reply> {
        self.lines.push(format!("Agent: {}", one_line(said.text)));
        let prompt = self.prompt();
        let written = self.policy.write(&prompt, Some(&self.message), MOST_TOKENS)?.text;
        // a message cut by the bound on tokens may end with a blank, or inside the end marker
        let text = written.trim_end().to_owned();
        if text.is_empty() || END.starts_with(&text) {
            return Ok(Reply::End);
        }
        self.lines.push(format!("You: {text}"));
        Ok(Reply::text(text))
    }
}
