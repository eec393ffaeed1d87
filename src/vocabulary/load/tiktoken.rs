//! tiktoken rank files. Each line has a token's bytes in base64, a space, and its rank, which is its id.
//!
//! Ids without a line are padding, unless [`LoadOptions::specials`] names them; the file itself has no special tokens.
//! A line with `=` in place of base64 is an unused id, too: Whisper's `multilingual.tiktoken` ends with `= 50256`.
//! Lines that are empty or consist of white space are skipped.

use super::{LoadOptions, finish_without_added};
use crate::error::Result;
use crate::limits::{LimitKind, Limits};
use crate::vocabulary::{Vocabulary, VocabularyBuilder, errors};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;

/// Reads the content of a rank file.
///
/// # Errors
///
/// `vocabulary/tiktoken` if a line is not base64, a space and a number, if a token has no bytes, or if two lines have
/// the same rank. And the errors of [`Vocabulary::from_file`].
pub fn load(content: &[u8], options: &LoadOptions) -> Result<Vocabulary> {
    let limits = &options.limits;
    super::check_size(content.len(), limits)?;
    // rank, line number and offset of each line; the token is decoded in the second pass, in the order of ranks
    let mut ranks: Vec<(u32, u32, usize)> = Vec::new();
    for (number, start, line) in lines(content) {
        let (encoded, rank) = split(line, number)?;
        let rank =
            std::str::from_utf8(rank).ok().and_then(|rank| rank.parse::<u32>().ok()).ok_or_else(|| {
                errors::tiktoken_line(number + 1, encoded.len() + 2, rank, "a rank is not a number")
            })?;
        if rank as usize >= limits.vocabulary_tokens || ranks.len() >= limits.vocabulary_tokens {
            let found = format!("rank {rank} in line {}", number + 1);
            return Err(Limits::exceeded(LimitKind::VocabularyTokens, limits.vocabulary_tokens, found));
        }
        ranks.push((rank, number as u32, start));
    }
    ranks.sort_unstable();
    let mut builder = VocabularyBuilder::new(limits);
    for (rank, number, start) in ranks {
        let (rank, number) = (rank as usize, number as usize);
        let line = content.get(start..).and_then(|rest| lines(rest).next()).unwrap_or_default().2;
        if rank < builder.len() {
            return Err(errors::tiktoken_line(number + 1, 1, line, "a line has the rank of an earlier one"));
        }
        let (encoded, _) = split(line, number)?;
        let bytes = STANDARD
            .decode(if encoded == b"=" { b"" } else { encoded })
            .map_err(|_| errors::tiktoken_line(number + 1, 1, encoded, "a token is not in base64"))?;
        if bytes.is_empty() && encoded != b"=" {
            return Err(errors::tiktoken_line(number + 1, 1, line, "a token has no bytes"));
        }
        while builder.len() < rank && !builder.failed() {
            builder.push(b"");
        }
        builder.push(&bytes);
    }
    check_ends(builder.len(), options)?;
    finish_without_added(builder, options)
}

/// Fails if the ids that end a sequence lie past the `ranks` of the file, and the options name neither these ids nor a
/// width: the ends of a rank file are special tokens, which it does not contain.
fn check_ends(ranks: usize, options: &LoadOptions) -> Result<()> {
    let specials = options.specials.iter().map(|(_, id)| id.index() + 1);
    let size = specials.chain(options.width).fold(ranks, usize::max);
    match options.eos.iter().find(|id| id.index() >= size) {
        Some(&id) if options.width.is_none() => Err(errors::eos_past_ranks(id, ranks)),
        _ => Ok(()),
    }
}

/// The lines that are not empty after removal of trailing white space, each with its number (from 0, counting all
/// lines) and the offset of its start.
fn lines(content: &[u8]) -> impl Iterator<Item = (usize, usize, &[u8])> {
    let starts = content.split_inclusive(|&b| b == b'\n').scan(0, |start, line| {
        let at = *start;
        *start += line.len();
        Some((at, line.trim_ascii_end()))
    });
    starts
        .enumerate()
        .filter(|(_, (_, line))| !line.is_empty())
        .map(|(number, (at, line))| (number, at, line))
}

/// Splits a line at its first space; fails if it has none.
fn split(line: &[u8], number: usize) -> Result<(&[u8], &[u8])> {
    let space = line.iter().position(|&b| b == b' ');
    space.and_then(|at| Some((line.get(..at)?, line.get(at + 1..)?))).ok_or_else(|| {
        errors::tiktoken_line(number + 1, 1, line, "a line has no space between token and rank")
    })
}
