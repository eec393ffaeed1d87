//! Free text in specs: a symbol that spells any text, or any text up to one of some strings.

use crate::grammar::{ExprId, FreeText, GrammarBuilder};
use serde::Deserialize;

/// Free text that a symbol spells; see [`FreeText`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SymbolFreeText {
    /// A text ends where one of these strings has come for the first time, the string included. Without any it may end after
    /// every character.
    pub until: Vec<String>,
    /// Strings that are not in a text.
    pub without: Vec<String>,
    /// At most this many characters come.
    pub max_chars: Option<u32>,
    /// At most this many bytes come, in UTF-8.
    pub max_bytes: Option<u32>,
    /// At most this many tokens begin in it.
    pub max_tokens: Option<u32>,
}

impl SymbolFreeText {
    /// Builds the expression of the texts.
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
