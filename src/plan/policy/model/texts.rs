//! Options scored by their own texts.

use super::ModelPolicy;
use super::trie::{Closing, TokenTrie};
use crate::error::Result;
use crate::plan::question::Choice;

impl ModelPolicy<'_> {
    /// The natural logarithms of the probabilities of texts as the beginning of the model's answer to a prompt. With
    /// `ended` they are its whole answer: the model's turn ends after them.
    ///
    /// # Errors
    /// The encoder or the model fails; `plan/model`: prompt and text do not fit in its context.
    pub fn log_likelihoods(&mut self, prompt: &str, texts: &[&str], ended: bool) -> Result<Vec<f64>> {
        let prompt = self.encoder.prompt(prompt)?;
        self.session.usage.calls += 1;
        let mut trie = TokenTrie::new();
        for text in texts {
            let closing = if ended { Closing::Then(self.vocabulary.eos().to_vec()) } else { Closing::Any };
            trie.insert(self.encoder.answer(text)?, closing);
        }
        self.session.score(&prompt, &trie)
    }

    pub(super) fn text_scores(&mut self, prompt: &[u32], choices: &[Choice]) -> Result<Vec<f64>> {
        let mut trie = TokenTrie::new();
        for choice in choices {
            trie.insert(self.encoder.answer(choice.label.trim())?, Closing::Any);
        }
        self.session.score(prompt, &trie)
    }
}
