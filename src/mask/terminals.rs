//! The token terminals of a grammar, resolved for a vocabulary.

use super::errors;
use super::token_set::TokenSet;
use crate::automaton::TerminalId;
use crate::collections::heap::map_bytes;
use crate::error::Result;
use crate::grammar::{ExprId, Expression, Grammar, TokenScope, TokenSelector, TokenTerminal};
use crate::vocabulary::{TokenId, Vocabulary};
use crate::work::Budget;
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// Sets of more tokens than this are stored as bits.
const FEW: usize = 64;

/// The tokens of each token terminal, by the expression of the terminal.
#[derive(Debug, Default)]
pub(crate) struct Terminals {
    sets: FxHashMap<ExprId, Tokens>,
}

/// A non-empty set of tokens.
#[derive(Debug)]
enum Tokens {
    /// The ids, sorted.
    Few(Box<[u32]>),
    /// One bit per id of the vocabulary.
    Many(Arc<[u32]>),
}

impl Tokens {
    fn of(words: Vec<u32>) -> Option<Tokens> {
        let count: u32 = words.iter().map(|word| word.count_ones()).sum();
        if count as usize > FEW {
            return Some(Tokens::Many(words.into()));
        }
        let ones = |(place, &word): (usize, &u32)| {
            (0..32).filter(move |bit| word >> bit & 1 == 1).map(move |bit| place as u32 * 32 + bit)
        };
        let few: Box<[u32]> = words.iter().enumerate().flat_map(ones).collect();
        (!few.is_empty()).then_some(Tokens::Few(few))
    }

    fn contains(&self, token: u32) -> bool {
        match self {
            Tokens::Few(ids) => ids.binary_search(&token).is_ok(),
            Tokens::Many(words) => words.get(token as usize / 32).is_some_and(|w| w >> (token % 32) & 1 == 1),
        }
    }
}

impl Terminals {
    /// The terminals that can be part of a completion: those with an [example](Terminals::example) that is not an
    /// end-of-sequence token.
    pub(super) fn usable(&self, vocabulary: &Vocabulary) -> FxHashSet<ExprId> {
        let usable =
            |id: &&ExprId| self.example_of(**id, vocabulary).is_some_and(|token| !vocabulary.is_eos(token));
        self.sets.keys().filter(usable).copied().collect()
    }

    /// Resolves all terminals that the root of a grammar reaches. End-of-sequence tokens, both those of the vocabulary
    /// and `ends`, are only in terminals that list them.
    ///
    /// # Errors
    /// `mask/unknown-token` if the vocabulary has no token of a name, `mask/token-range` if an id is at or above the
    /// width of the vocabulary, or `mask/no-tokens` if a terminal has no token; `limit/exceeded` if `compile_work` is
    /// exceeded. The error has the rule and the label of the terminal.
    pub(super) fn resolve(
        grammar: &Grammar,
        vocabulary: &Vocabulary,
        ends: &[TokenId],
        budget: &Budget,
    ) -> Result<Terminals> {
        let mut terminals = Terminals::default();
        if !grammar.expressions().iter().any(|expression| matches!(expression, Expression::Token(_))) {
            return Ok(terminals);
        }
        let mut resolver = Resolver { vocabulary, ends, budget, all: None, special: None };
        for (id, expression) in grammar.reached() {
            if let Expression::Token(terminal) = expression {
                let tokens = resolver.tokens(terminal);
                let tokens = tokens.map_err(|error| error.or_at(&grammar.place_of(id)))?;
                terminals.sets.insert(id, tokens);
            }
        }
        Ok(terminals)
    }

    /// Whether a terminal contains a token.
    pub(crate) fn has(&self, terminal: TerminalId, token: TokenId) -> bool {
        self.sets.get(&terminal.expression()).is_some_and(|tokens| tokens.contains(token.get()))
    }

    /// Whether some terminal contains the token without listing it: as one of all tokens, or of all special tokens,
    /// except listed ones.
    pub(super) fn has_unlisted(&self, grammar: &Grammar, token: TokenId) -> bool {
        self.sets.iter().any(|(&terminal, tokens)| {
            let is_listed = match grammar.expression(terminal) {
                Expression::Token(terminal) => terminal.scope() == TokenScope::Listed,
                _ => false,
            };
            !is_listed && tokens.contains(token.get())
        })
    }

    /// A token of a terminal, for completions: among its [`FEW`] lowest ids the first that is not an end-of-sequence
    /// token, otherwise the lowest id. `None` if the terminal was not resolved.
    pub(crate) fn example(&self, terminal: TerminalId, vocabulary: &Vocabulary) -> Option<TokenId> {
        self.example_of(terminal.expression(), vocabulary)
    }

    fn example_of(&self, terminal: ExprId, vocabulary: &Vocabulary) -> Option<TokenId> {
        let (mut first, mut example) = (None, None);
        let mut see = |token: TokenId| {
            first = first.or(Some(token));
            if example.is_none() && !vocabulary.is_eos(token) {
                example = Some(token);
            }
        };
        match self.sets.get(&terminal)? {
            Tokens::Few(ids) => ids.iter().for_each(|&id| see(TokenId::new(id))),
            Tokens::Many(words) => {
                let bits = |(place, &word): (usize, &u32)| {
                    (0..32).filter(move |bit| word >> bit & 1 == 1).map(move |bit| place as u32 * 32 + bit)
                };
                // only the first `FEW` ids are examined, which bounds the time
                words.iter().enumerate().flat_map(bits).take(FEW).for_each(|id| see(TokenId::new(id)));
            }
        }
        example.or(first)
    }

    /// The only token of a terminal; `None` if the terminal has several, or was not resolved.
    pub(crate) fn only(&self, terminal: TerminalId) -> Option<TokenId> {
        match self.sets.get(&terminal.expression()) {
            Some(Tokens::Few(ids)) if ids.len() == 1 => ids.first().map(|&id| TokenId::new(id)),
            _ => None,
        }
    }

    /// Calls `each` for every token of a terminal, in order of the ids.
    pub(crate) fn each(&self, terminal: TerminalId, mut each: impl FnMut(TokenId)) {
        match self.sets.get(&terminal.expression()) {
            Some(Tokens::Few(ids)) => ids.iter().for_each(|&id| each(TokenId::new(id))),
            Some(Tokens::Many(words)) => {
                for (place, &word) in words.iter().enumerate() {
                    let bits = (0..32).filter(|bit| word >> bit & 1 == 1);
                    bits.for_each(|bit| each(TokenId::new(place as u32 * 32 + bit)));
                }
            }
            None => {}
        }
    }

    /// Adds the tokens of a terminal to a set.
    pub(super) fn add_to(&self, terminal: TerminalId, allowed: &mut TokenSet) {
        match self.sets.get(&terminal.expression()) {
            Some(Tokens::Few(ids)) => ids.iter().for_each(|&id| allowed.push(id)),
            Some(Tokens::Many(words)) => allowed.unite(TokenSet::of_words(Arc::clone(words))),
            None => {}
        }
    }

    /// Bytes on the heap.
    pub(super) fn memory_usage(&self) -> usize {
        let of = |tokens: &Tokens| match tokens {
            Tokens::Few(ids) => ids.len() * 4,
            Tokens::Many(words) => words.len() * 4,
        };
        self.sets.values().map(of).sum::<usize>() + map_bytes(&self.sets)
    }
}

struct Resolver<'a> {
    vocabulary: &'a Vocabulary,
    ends: &'a [TokenId],
    budget: &'a Budget,
    /// All tokens that the vocabulary uses except end-of-sequence tokens, computed on demand.
    all: Option<Vec<u32>>,
    /// The special tokens among `all`, computed on demand.
    special: Option<Vec<u32>>,
}

impl Resolver<'_> {
    fn tokens(&mut self, terminal: &TokenTerminal) -> Result<Tokens> {
        let mut words = match terminal.scope() {
            TokenScope::Listed => vec![0; self.vocabulary.mask_words()],
            TokenScope::AllBut => self.all().to_vec(),
            TokenScope::SpecialBut => self.special().to_vec(),
        };
        self.budget.spend(words.len())?;
        let is_listed = terminal.scope() == TokenScope::Listed;
        let mut set = |id: u32| {
            let (word, bit) = (&mut words[id as usize / 32], 1 << (id % 32));
            *word = if is_listed { *word | bit } else { *word & !bit };
        };
        for selector in terminal.listed() {
            match selector {
                &TokenSelector::Ids { first, last } => {
                    if last as usize >= self.vocabulary.width() {
                        return Err(errors::token_range(first, last, self.vocabulary.width()));
                    }
                    self.budget.spend((last - first) as usize)?;
                    (first..=last).for_each(&mut set);
                }
                TokenSelector::Name(name) => {
                    self.budget.spend(1 + self.vocabulary.specials().len())?;
                    match self.vocabulary.special_id(name) {
                        Some(special) => set(special.get()),
                        None => {
                            let tokens = self.vocabulary.spelled(name.as_bytes());
                            if tokens.is_empty() {
                                return Err(errors::unknown_token(name, self.vocabulary));
                            }
                            tokens.iter().for_each(|token| set(token.get()));
                        }
                    }
                }
            }
        }
        Tokens::of(words).ok_or_else(|| errors::no_tokens(terminal))
    }

    fn all(&mut self) -> &[u32] {
        let Resolver { vocabulary, ends, .. } = *self;
        self.all.get_or_insert_with(|| {
            let tokens = vocabulary.tokens().map(|(id, _)| id);
            words_of(vocabulary, ends, tokens.chain(vocabulary.specials().map(|(id, _)| id)))
        })
    }

    fn special(&mut self) -> &[u32] {
        let Resolver { vocabulary, ends, .. } = *self;
        self.special
            .get_or_insert_with(|| words_of(vocabulary, ends, vocabulary.specials().map(|(id, _)| id)))
    }
}

/// The bits of some tokens, without the end-of-sequence tokens of the vocabulary and without `ends`.
fn words_of(vocabulary: &Vocabulary, ends: &[TokenId], tokens: impl Iterator<Item = TokenId>) -> Vec<u32> {
    let mut words = vec![0; vocabulary.mask_words()];
    tokens.for_each(|token| words[token.index() / 32] |= 1 << (token.get() % 32));
    vocabulary
        .eos()
        .iter()
        .chain(ends)
        .for_each(|token| words[token.index() / 32] &= !(1 << (token.get() % 32)));
    words
}
