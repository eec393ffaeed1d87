//! Special tokens in texts, spelled by their names.

use aho_corasick::{AhoCorasick, MatchKind};
use grammata::diagnostic::{Diagnostic, Place};
use grammata::error::{Error, Result};
use grammata::matcher::Matcher;
use grammata::vocabulary::{TokenId, Vocabulary};

#[derive(Clone, Copy, Debug, clap::Args)]
pub(crate) struct SpecialArgs {
    /// Read the names of special tokens, such as `<think>`, as these tokens; by default a text has no special tokens
    #[arg(long)]
    pub(crate) parse_special: bool,
}

/// A part of a text: a special token, or text between special tokens.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Piece<'t> {
    /// Byte offset of its start in the text.
    pub(crate) start: usize,
    /// Its bytes; for a special token, the bytes of its name.
    pub(crate) bytes: &'t [u8],
    /// The id of the special token; `None` for text.
    pub(crate) token: Option<TokenId>,
}

impl SpecialArgs {
    /// Splits a text into special tokens and the text between them. Names are found from left to right; of several
    /// names at one place, the longest is used. Without `--parse-special` the whole text is one piece.
    pub(crate) fn pieces<'t>(self, vocabulary: &Vocabulary, text: &'t [u8]) -> Vec<Piece<'t>> {
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

    /// Accepts a text with a matcher, piece by piece. After an error the matcher has accepted a prefix of the text.
    ///
    /// # Errors
    /// Errors of the matcher, with their place in the text.
    pub(crate) fn accept(self, matcher: &mut Matcher, text: &[u8]) -> Result<()> {
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

/// Converts the byte offset of an error from that in the matcher to that in the text. Offset `before` in the matcher is
/// offset `start` in the text. Errors at other places are kept.
fn moved(error: Error, before: usize, start: usize) -> Error {
    error.map(|diagnostic: Diagnostic| match diagnostic.place() {
        &Place::Byte(at) => diagnostic.at(Place::Byte(start + at.saturating_sub(before))),
        _ => diagnostic,
    })
}
