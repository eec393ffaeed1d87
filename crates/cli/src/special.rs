//! Special tokens in texts, written by their names.

use aho_corasick::{AhoCorasick, MatchKind};
use grammata::diagnostic::{Diagnostic, Place};
use grammata::error::{Error, Result};
use grammata::matcher::Matcher;
use grammata::vocabulary::{TokenId, Vocabulary};

#[derive(Clone, Copy, Debug, clap::Args)]
pub(super) struct SpecialArgs {
    /// Take the names of special tokens, such as `<think>`, for these tokens; by default a text has none
    #[arg(long)]
    pub(super) parse_special: bool,
}

/// A part of a text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece<'t> {
    /// Where it begins.
    pub(super) start: usize,
    /// What is written: of a special token its name.
    pub(super) bytes: &'t [u8],
    /// The special token of which it is the name.
    pub(super) token: Option<TokenId>,
}

impl SpecialArgs {
    /// The parts of a text: special tokens, of names that begin at one place the longest, and what lies between.
    pub(super) fn pieces<'t>(self, vocabulary: &Vocabulary, text: &'t [u8]) -> Vec<Piece<'t>> {
        let whole = vec![Piece { start: 0, bytes: text, token: None }];
        if !self.parse_special {
            return whole;
        }
        let (ids, names): (Vec<TokenId>, Vec<&str>) =
            vocabulary.specials().filter(|(_, name)| !name.is_empty()).unzip();
        let finder = AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(names);
        let Ok(finder) = finder else { return whole };
        let (mut pieces, mut end) = (Vec::new(), 0);
        let between = |start: usize, end: usize| Piece { start, bytes: &text[start..end], token: None };
        for found in finder.find_iter(text) {
            if found.start() > end {
                pieces.push(between(end, found.start()));
            }
            let token = Some(ids[found.pattern().as_usize()]);
            pieces.push(Piece { token, ..between(found.start(), found.end()) });
            end = found.end();
        }
        if end < text.len() {
            pieces.push(between(end, text.len()));
        }
        pieces
    }

    /// Accepts a text.
    ///
    /// # Errors
    /// Those of the matcher, at the place in the text.
    pub(super) fn accept(self, matcher: &mut Matcher, text: &[u8]) -> Result<()> {
        let vocabulary = std::sync::Arc::clone(matcher.compiled().vocabulary());
        for piece in self.pieces(&vocabulary, text) {
            let before = matcher.byte_count();
            let taken = match piece.token {
                Some(token) => matcher.accept_token(token),
                None => matcher.accept_bytes(piece.bytes),
            };
            taken.map_err(|error| moved(error, before, piece.start))?;
        }
        Ok(())
    }
}

/// An error at a byte of what a matcher accepted, at the byte of the text: `start` stands for `before`.
fn moved(error: Error, before: usize, start: usize) -> Error {
    error.map(|diagnostic: Diagnostic| match diagnostic.place() {
        &Place::Byte(at) => diagnostic.at(Place::Byte(start + at.saturating_sub(before))),
        _ => diagnostic,
    })
}
