//! What the generation loop asks of a constraint.

use crate::error::Result;

/// What the generation loop asks of a constraint (the matcher implements it).
pub trait Constraint {
    /// Writes one bit per token id (bit i of word i/32), 1 = allowed.
    ///
    /// # Errors
    /// A buffer too short for the vocabulary, or a limit that was exceeded.
    fn fill_mask(&mut self, words: &mut [u32]) -> Result<()>;

    /// Moves past `token`.
    ///
    /// # Errors
    /// The token is not allowed here, or a limit was exceeded; the constraint stays where it was.
    fn accept_token(&mut self, token: u32) -> Result<()>;

    /// What was accepted so far is a word of the grammar.
    ///
    /// # Errors
    /// A limit was exceeded.
    fn is_accepting(&mut self) -> Result<bool>;

    /// Only the end of sequence may follow (or it has been taken).
    ///
    /// # Errors
    /// A limit was exceeded.
    fn is_finished(&mut self) -> Result<bool>;
}
