//! Free text in specs: a symbol that spells any text, or any text up to the first occurrence of a string.

use crate::grammar::{ExprId, FreeText, GrammarBuilder};
use serde::Deserialize;

/// Free text that a symbol spells, in UTF-8; see [`FreeText`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SymbolFreeText {
    /// A text ends with the first occurrence of one of these strings, the string included. Without strings, it may end
    /// after every character, also at its beginning.
    pub until: Vec<String>,
    /// Strings that the text does not contain.
    pub without: Vec<String>,
    /// The maximum number of characters of the text; no bound by default.
    pub max_chars: Option<u32>,
    /// The maximum number of bytes of the text in UTF-8; no bound by default.
    pub max_bytes: Option<u32>,
    /// The maximum number of tokens that begin in the text; no bound by default.
    pub max_tokens: Option<u32>,
}

impl SymbolFreeText {
    /// Builds the expression of the texts. Invalid strings and bounds are errors of the builder.
    pub(super) fn words(&self, g: &mut GrammarBuilder) -> ExprId {
        let nothing = g.empty();
        let triggers = self.until.iter().map(|string| (string.as_str().into(), nothing)).collect();
        let forbidden = self.without.iter().map(|string| string.as_str().into()).collect();
        let end = self.until.is_empty().then_some(nothing);
        let mut words = g.free_text(&FreeText { triggers, forbidden, end });
        if let Some(most) = self.max_chars {
            words = g.max_chars(words, most);
        }
        if let Some(most) = self.max_bytes {
            words = g.max_bytes(words, most);
        }
        if let Some(most) = self.max_tokens {
            words = g.max_tokens(words, most);
        }
        words
    }
}
