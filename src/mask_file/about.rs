//! The text about how a mask file was made, and its parser.
//!
//! A file's fingerprint shows that the file is for another vocabulary, but not what differs. Most often the end tokens
//! differ, since tokenizer files do not have them. So the text lists them. The text is not trusted: an error names
//! these end tokens only if the vocabulary would have the file's fingerprint with them.

use crate::vocabulary::{TokenId, Vocabulary};
use std::fmt;

/// Prefix of the line with the vocabulary's end tokens.
const END_TOKENS: &str = "end tokens ";

/// Maximum number of end tokens parsed.
const MOST: usize = 1_024;

/// The text for a new file: the version of this crate, the budget, and the vocabulary's end tokens.
pub(crate) fn about(budget: &impl fmt::Display, vocabulary: &Vocabulary) -> String {
    format!(
        "grammata {}\nbudget {budget}\n{END_TOKENS}{}\n",
        env!("CARGO_PKG_VERSION"),
        listed(vocabulary.eos())
    )
}

/// The first [`MOST`] end tokens in the text of a file, in ascending order; `None` if the text does not list them, as
/// in files of earlier versions, or if one of them is not a number.
pub(super) fn end_tokens(about: &str) -> Option<Vec<TokenId>> {
    let list = about.lines().find_map(|line| line.strip_prefix(END_TOKENS))?;
    let ids = list.split(", ").take(MOST).filter(|id| !id.is_empty());
    let mut ids = ids.map(|id| id.parse().ok().map(TokenId::new)).collect::<Option<Vec<_>>>()?;
    ids.sort_unstable();
    ids.dedup();
    Some(ids)
}

/// Token ids in decimal, separated by a comma and a space.
pub fn listed(ids: &[TokenId]) -> String {
    ids.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}
