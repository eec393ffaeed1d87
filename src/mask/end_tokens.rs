//! End tokens that replace those of the vocabulary.

use super::compiled::{CompiledGrammar, GivenEnds};
use super::errors;
use crate::error::Result;
use crate::vocabulary::TokenId;
use std::collections::BTreeSet;

impl CompiledGrammar {
    /// The same grammar for matchers whose texts end with the given tokens instead of the vocabulary's end-of-sequence
    /// tokens. Duplicates are allowed. The result shares tables and masks with this grammar.
    ///
    /// A mask contains a given token exactly where the text may end, and never an end-of-sequence token of the
    /// vocabulary that is not given. There is one exception: a token terminal that lists an end token by id or name
    /// accepts the token, and the text has then ended if it is a word after the token. A token terminal that contains
    /// all tokens, or all special tokens, except listed ones contains neither given tokens nor end-of-sequence tokens
    /// of the vocabulary.
    ///
    /// A given token that is ordinary text, or that a token terminal contains without listing it, is no longer text and
    /// no longer in that terminal. In this case the grammar is compiled again, without a mask file, and the vocabulary
    /// is indexed again (about 60 milliseconds for 128,000 tokens). Keep the result if you use it more than once. If a
    /// text can be spelled only with a given token, the mask is empty there; [`warnings`](CompiledGrammar::warnings)
    /// reports such texts.
    ///
    /// # Errors
    /// `mask/no-end-tokens` if no token is given; `mask/end-token-range` if an id is at or above the width of the
    /// vocabulary; if the grammar is compiled again, also those of [`Compiler::compile`](crate::Compiler::compile).
    pub fn with_end_tokens(&self, tokens: impl IntoIterator<Item = TokenId>) -> Result<CompiledGrammar> {
        let before = self.without_end_tokens();
        let vocabulary = before.vocabulary();
        let given: BTreeSet<TokenId> = tokens.into_iter().collect();
        let Some(&last) = given.last() else { return Err(errors::no_end_tokens()) };
        if last.index() >= vocabulary.width() {
            return Err(errors::end_token_range(last, vocabulary.width()));
        }
        let is_read = |&token: &TokenId| {
            vocabulary.bytes(token).is_some() || before.terminals().has_unlisted(before.grammar(), token)
        };
        let again = match given.iter().any(is_read) {
            true => {
                let other = vocabulary.with_eos(given.iter().copied(), before.automaton().limits())?;
                Some(before.compiler_for(other).compile(before.grammar())?)
            }
            false => None,
        };
        let compiled = again.as_ref().unwrap_or(&before);
        let eos = compiled.vocabulary().eos();
        Ok(compiled.with_given_ends(GivenEnds {
            added: given.iter().filter(|token| !eos.contains(token)).copied().collect(),
            removed: eos.iter().filter(|token| !given.contains(token)).copied().collect(),
            tokens: given.into_iter().collect(),
            origin: again.is_some().then(|| before.clone()),
        }))
    }
}
