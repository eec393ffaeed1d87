//! The language model that the generation loop drives.

use crate::error::Result;

/// A causal language model with a cache: one sequence, fed from left to right.
pub trait LanguageModel {
    /// Number of logits a step gives; ids of this many tokens and more do not exist for the model. May be larger than
    /// the tokenizer's vocabulary (models pad it) or smaller.
    fn vocabulary_size(&self) -> usize;

    /// The most tokens a sequence may have, if the model says so.
    fn context_length(&self) -> Option<usize>;

    /// Number of tokens of the sequence so far.
    fn length(&self) -> usize;

    /// Appends `tokens` (a prompt, or the token just chosen) and gives the logits of what follows the last one,
    /// [`vocabulary_size`](LanguageModel::vocabulary_size) of them.
    ///
    /// # Errors
    /// No tokens, a token the model does not have, a sequence longer than the context, or a failure of the model. The
    /// sequence is then as it was.
    fn step(&mut self, tokens: &[u32]) -> Result<&[f32]>;

    /// Forgets all but the first `length` tokens.
    ///
    /// # Errors
    /// `length` is more than the sequence has, or a failure of the model.
    fn truncate(&mut self, length: usize) -> Result<()>;

    /// Forgets all tokens.
    ///
    /// # Errors
    /// A failure of the model.
    fn reset(&mut self) -> Result<()> {
        self.truncate(0)
    }
}
