//! The text about how a mask file was made, and what is read back from it.
//!
//! A file's fingerprint says that it is of another vocabulary, but not what differs. The end tokens are what differs most often,
//! since tokenizer files do not have them. So they are in this text. The text is not trusted: what it says is checked with the fingerprint.

use crate::vocabulary::{TokenId, Vocabulary};
use std::fmt;

/// What stands before the end tokens of the vocabulary.
const END_TOKENS: &str = "end tokens ";

/// End tokens that are read back at most.
const MOST: usize = 1_024;

/// The text for a file that is made now.
pub(crate) fn about(budget: &impl fmt::Display, vocabulary: &Vocabulary) -> String {
    format!(
        "grammata {}\nbudget {budget}\n{END_TOKENS}{}\n",
        env!("CARGO_PKG_VERSION"),
        listed(vocabulary.eos())
    )
}

/// The end tokens in such a text, rising; None if it has none, as files of earlier versions.
pub(super) fn end_tokens(about: &str) -> Option<Vec<TokenId>> {
    let list = about.lines().find_map(|line| line.strip_prefix(END_TOKENS))?;
    let ids = list.split(", ").take(MOST).filter(|id| !id.is_empty());
    let mut ids = ids.map(|id| id.parse().ok().map(TokenId::new)).collect::<Option<Vec<_>>>()?;
    ids.sort_unstable();
    ids.dedup();
    Some(ids)
}

/// Token ids as a text for people: the first of them, and the number of all if there are more.
pub fn listed(ids: &[TokenId]) -> String {
    ids.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}
