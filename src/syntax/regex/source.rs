//! A pattern in its original form and as regex-syntax reads it, with a map from offsets in the second to offsets in the
//! first.

use crate::diagnostic::Place;
use regex_syntax::ast::Span;
use std::borrow::Cow;

/// A pattern. `text` is what regex-syntax reads: the original pattern, or its translation.
pub(super) struct Source<'p> {
    pub(super) original: &'p str,
    pub(super) text: Cow<'p, str>,
    /// Pairs of byte offsets (translated, original) in increasing order, empty if the pattern is not translated.
    /// Offsets between two pairs belong to the construct that begins at the first.
    map: Vec<(usize, usize)>,
}

impl<'p> Source<'p> {
    pub(super) fn verbatim(pattern: &'p str) -> Source<'p> {
        Source { original: pattern, text: Cow::Borrowed(pattern), map: Vec::new() }
    }

    pub(super) fn rewritten(original: &'p str, text: String, map: Vec<(usize, usize)>) -> Source<'p> {
        Source { original, text: Cow::Owned(text), map }
    }

    /// The place in the original pattern of a byte offset in the translated text.
    pub(super) fn place(&self, offset: usize) -> Place {
        Place::in_text(self.original, self.original_offset(offset))
    }

    /// The part of the original pattern that a span of the translated text came from.
    pub(super) fn written(&self, span: &Span) -> &'p str {
        if let Cow::Borrowed(text) = self.text {
            return text.get(span.start.offset..span.end.offset).unwrap_or("");
        }
        let start = self.original_offset(span.start.offset);
        let after = self.map.partition_point(|&(rewritten, _)| rewritten < span.end.offset);
        let end = self.map.get(after).map_or(self.original.len(), |&(_, original)| original);
        self.original.get(start..end.max(start)).unwrap_or("")
    }

    /// Converts a byte offset in the translated text to the offset of its construct in the original pattern. The result
    /// is exact if the pattern is not translated.
    pub(super) fn original_offset(&self, offset: usize) -> usize {
        if matches!(self.text, Cow::Borrowed(_)) {
            return offset;
        }
        let after = self.map.partition_point(|&(rewritten, _)| rewritten <= offset);
        after.checked_sub(1).and_then(|i| self.map.get(i)).map_or(0, |&(_, original)| original)
    }
}
