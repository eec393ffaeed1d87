//! Token terminals: sets of tokens, described without a vocabulary.

use std::fmt::{self, Write};

/// A set of tokens, as described by the author of a grammar. A [`Compiler`](crate::Compiler) resolves it for its
/// vocabulary.
///
/// A token of the set is identified by its id, whatever its bytes are; only token terminals can express special tokens.
/// If nothing is `listed`, the set is empty ([`TokenScope::Listed`]) or has all tokens of its [`TokenScope`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TokenTerminal {
    scope: TokenScope,
    /// Sorted; ranges of ids are disjoint and not adjacent.
    listed: Box<[TokenSelector]>,
}

/// How the list of a [`TokenTerminal`] is used. An end-of-sequence token is in a set only if the scope is `Listed` and
/// the list selects it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TokenScope {
    /// Exactly the listed tokens, end-of-sequence tokens included.
    Listed,
    /// All tokens that the vocabulary uses, except the listed and the end-of-sequence tokens.
    AllBut,
    /// All special tokens, except the listed and the end-of-sequence tokens.
    SpecialBut,
}

/// An element of the list of a [`TokenTerminal`].
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TokenSelector {
    /// The ids from `first` to `last`, both included.
    Ids {
        /// The least id of the range, included.
        first: u32,
        /// The greatest id of the range, included.
        last: u32,
    },
    /// The special token of this name; if there is none, the ordinary tokens with this text.
    Name(Box<str>),
}

impl TokenTerminal {
    /// A set of tokens. The list is sorted, duplicates are dropped, and ranges of ids that overlap or are adjacent are
    /// merged. A range with crossed ends is empty and dropped.
    pub fn new(scope: TokenScope, listed: impl IntoIterator<Item = TokenSelector>) -> TokenTerminal {
        let mut sorted: Vec<TokenSelector> = listed.into_iter().collect();
        sorted.sort_unstable();
        let mut all: Vec<TokenSelector> = Vec::with_capacity(sorted.len());
        for selector in sorted {
            match (all.last_mut(), &selector) {
                (_, TokenSelector::Ids { first, last }) if first > last => {}
                (Some(TokenSelector::Ids { last, .. }), TokenSelector::Ids { first, last: end })
                    if *first <= last.saturating_add(1) =>
                {
                    *last = *end.max(last);
                }
                (Some(before), _) if *before == selector => {}
                _ => all.push(selector),
            }
        }
        TokenTerminal { scope, listed: all.into() }
    }

    /// The set that [`TokenSelector::Name`] selects for this name.
    pub fn named(name: impl Into<Box<str>>) -> TokenTerminal {
        TokenTerminal::new(TokenScope::Listed, [TokenSelector::Name(name.into())])
    }

    /// The set of the token with this id.
    pub fn id(id: u32) -> TokenTerminal {
        TokenTerminal::new(TokenScope::Listed, [TokenSelector::Ids { first: id, last: id }])
    }

    /// How [`listed`](TokenTerminal::listed) is used: as the set itself or as exceptions.
    pub fn scope(&self) -> TokenScope {
        self.scope
    }

    /// The listed tokens: ranges of ids in ascending order, then names in ascending order.
    pub fn listed(&self) -> &[TokenSelector] {
        &self.listed
    }

    /// Whether the set is empty for every vocabulary.
    pub fn is_empty(&self) -> bool {
        self.scope == TokenScope::Listed && self.listed.is_empty()
    }

    /// Whether the list is in the form that [`new`](TokenTerminal::new) produces.
    pub(super) fn is_canonical(&self) -> bool {
        *self == TokenTerminal::new(self.scope, self.listed.iter().cloned())
    }

    /// Size of the list on the heap, in bytes.
    pub(super) fn memory_usage(&self) -> usize {
        let name = |selector: &TokenSelector| match selector {
            TokenSelector::Name(name) => name.len(),
            TokenSelector::Ids { .. } => 0,
        };
        size_of_val(&*self.listed) + self.listed.iter().map(name).sum::<usize>()
    }
}

/// The notation of GBNF: `<think>`, `<[1000]>`, `!<[0-9,12]>`, `<"[INST]","a",[7]>`; `!special<…>` for all special
/// tokens except the listed ones.
impl fmt::Display for TokenTerminal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.scope {
            TokenScope::Listed => "",
            TokenScope::AllBut => "!",
            TokenScope::SpecialBut => "!special",
        })?;
        if let [TokenSelector::Name(name)] = &*self.listed
            && let Some(inner) = name.strip_prefix('<').and_then(|name| name.strip_suffix('>'))
            && !inner.starts_with(['[', '"'])
            && !inner.contains(|c: char| c == '>' || c.is_control())
        {
            return f.write_str(name);
        }
        f.write_char('<')?;
        let ids =
            self.listed.iter().take_while(|selector| matches!(selector, TokenSelector::Ids { .. })).count();
        for (place, selector) in self.listed.iter().enumerate() {
            match selector {
                TokenSelector::Ids { first, last } => {
                    f.write_char(if place == 0 { '[' } else { ',' })?;
                    if first == last {
                        write!(f, "{first}")?
                    } else {
                        write!(f, "{first}-{last}")?
                    }
                    if place + 1 == ids {
                        f.write_char(']')?;
                    }
                }
                TokenSelector::Name(name) => {
                    if place > 0 {
                        f.write_char(',')?;
                    }
                    write!(f, "\"{}\"", name.escape_debug())?;
                }
            }
        }
        f.write_char('>')
    }
}
