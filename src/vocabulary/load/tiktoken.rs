//! tiktoken rank files: a line for each token, its bytes in base64, a space, and its rank, which is its id.
//!
//! Ids without a line are padding, unless [`LoadOptions::specials`] names them: the file itself has no
//! special tokens. Empty lines are passed over.

use super::{LoadOptions, finish};
use crate::error::Result;
use crate::limits::Limits;
use crate::vocabulary::{Vocabulary, VocabularyBuilder, errors};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;

/// Reads the content of a rank file.
///
/// # Errors
///
/// A line is not base64, a space and a number; two lines have one rank; and as for
/// [`Vocabulary::from_file`].
pub fn load(content: &[u8], options: &LoadOptions) -> Result<Vocabulary> {
    let limits = &options.limits;
    super::check_size(content.len(), limits)?;
    // each line's rank and number; the token itself is decoded again when its turn comes
    let mut ranks: Vec<(u32, u32)> = Vec::new();
    let lines: Vec<&[u8]> = content.split(|&b| b == b'\n').map(<[u8]>::trim_ascii_end).collect();
    for (number, line) in lines.iter().enumerate().filter(|(_, line)| !line.is_empty()) {
        let (encoded, rank) = split(line, number)?;
        let rank =
            std::str::from_utf8(rank).ok().and_then(|rank| rank.parse::<u32>().ok()).ok_or_else(|| {
                errors::tiktoken_line(number + 1, encoded.len() + 2, rank, "a rank is not a number")
            })?;
        if rank as usize >= limits.vocabulary_tokens {
            return Err(Limits::exceeded(
                "vocabulary_tokens",
                limits.vocabulary_tokens,
                format!("rank {rank}"),
            ));
        }
        ranks.push((rank, number as u32));
    }
    ranks.sort_unstable();
    let mut builder = VocabularyBuilder::new(limits);
    for (rank, number) in ranks {
        let (rank, number) = (rank as usize, number as usize);
        let line = lines.get(number).copied().unwrap_or_default();
        if rank < builder.len() {
            return Err(errors::tiktoken_line(number + 1, 1, line, "a line has the rank of an earlier one"));
        }
        let (encoded, _) = split(line, number)?;
        let bytes = STANDARD
            .decode(encoded)
            .map_err(|_| errors::tiktoken_line(number + 1, 1, encoded, "a token is not in base64"))?;
        if bytes.is_empty() {
            return Err(errors::tiktoken_line(number + 1, 1, line, "a token has no bytes"));
        }
        while builder.len() < rank && !builder.failed() {
            builder.push(b"");
        }
        builder.push(&bytes);
    }
    finish(builder, options)
}

/// The two halves of a line.
fn split(line: &[u8], number: usize) -> Result<(&[u8], &[u8])> {
    let space = line.iter().position(|&b| b == b' ');
    space.and_then(|at| Some((line.get(..at)?, line.get(at + 1..)?))).ok_or_else(|| {
        errors::tiktoken_line(number + 1, 1, line, "a line has no space between token and rank")
    })
}
