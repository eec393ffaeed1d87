//! Scores of options by their texts.

use super::ModelPolicy;
use super::distribution::Distribution;
use super::trie::{Closing, TokenTrie};
use grammata::error::Result;
use grammata::vocabulary::TokenId;
use grammata_agents::plan::Choice;

impl ModelPolicy<'_> {
    /// Returns the natural logarithms of the probabilities of texts as a prefix of the model's answer to a prompt. With
    /// `ended`, each text is the whole answer: the model's turn ends after it.
    ///
    /// # Errors
    /// Those of the encoder or the model; `plan/model`: prompt and text exceed the context.
    pub fn log_likelihoods(&mut self, prompt: &str, texts: &[&str], ended: bool) -> Result<Vec<f64>> {
        self.session.usage.calls += 1;
        let prompt = self.encoder.prompt(prompt)?;
        let closing = if ended { Closing::Then(self.vocabulary.eos().to_vec()) } else { Closing::Any };
        self.continuations(&prompt, texts.iter().copied(), &closing)
    }

    /// Returns the natural logarithms of the probabilities of a text's tokens after a prompt, among all tokens, each
    /// given the tokens before it. The encoder tokenises the text.
    ///
    /// # Errors
    /// Those of [`log_likelihoods`](ModelPolicy::log_likelihoods).
    pub fn token_log_probabilities(&mut self, prompt: &str, text: &str) -> Result<Vec<f64>> {
        let mut tokens = self.encoder.prompt(prompt)?;
        let mut found = Vec::new();
        for token in self.encoder.answer(text)? {
            let logits = self.session.logits(&tokens)?;
            found.push(Distribution::of(logits).of_token(TokenId::new(token)));
            tokens.push(token);
        }
        Ok(found)
    }

    fn continuations<'t>(
        &mut self,
        prompt: &[u32],
        texts: impl Iterator<Item = &'t str>,
        closing: &Closing,
    ) -> Result<Vec<f64>> {
        let mut trie = TokenTrie::new();
        for text in texts {
            trie.insert(self.encoder.answer(text)?, closing.clone());
        }
        self.session.score(prompt, &trie)
    }

    /// Returns the scores of choices by their labels, normalised by length: the log-probability per byte times the mean
    /// length of the labels in bytes. Of the normalisations compared in `docs/plans.md`, the one per byte is right most
    /// often.
    pub(super) fn text_scores(&mut self, prompt: &[u32], choices: &[Choice]) -> Result<Vec<f64>> {
        let labels = || choices.iter().map(|choice| choice.label.trim());
        let scores = self.continuations(prompt, labels(), &Closing::Any)?;
        let bytes: Vec<f64> = labels().map(|label| label.len().max(1) as f64).collect();
        let mean = bytes.iter().sum::<f64>() / bytes.len() as f64;
        Ok(scores.iter().zip(bytes).map(|(score, bytes)| score / bytes * mean).collect())
    }
}
