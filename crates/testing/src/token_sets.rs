//! Computes the tokens of token terminals naively, asking for each id of the vocabulary.

use super::generate::RandomVocabulary;
use grammata::grammar::{ExprId, Expression, Grammar, TokenScope, TokenSelector, TokenTerminal};
use std::collections::{BTreeMap, BTreeSet};

/// The tokens of each token terminal of a grammar.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TokenSets(BTreeMap<ExprId, BTreeSet<u32>>);

impl TokenSets {
    /// Finds the tokens of all terminals of a grammar.
    ///
    /// # Errors
    /// The possible error codes, one of which must result from compiling the grammar for the vocabulary.
    pub fn of(grammar: &Grammar, vocabulary: &RandomVocabulary) -> Result<TokenSets, Vec<&'static str>> {
        let (mut sets, mut errors) = (BTreeMap::new(), Vec::new());
        for (index, expression) in grammar.expressions().iter().enumerate() {
            if let (Expression::Token(terminal), Some(id)) = (expression, ExprId::new(index)) {
                match tokens(terminal, vocabulary) {
                    Ok(tokens) => drop(sets.insert(id, tokens)),
                    Err(error) => errors.push(error),
                }
            }
        }
        if errors.is_empty() { Ok(TokenSets(sets)) } else { Err(errors) }
    }

    /// Whether a terminal contains a token.
    pub fn has(&self, terminal: ExprId, token: u32) -> bool {
        self.0.get(&terminal).is_some_and(|set| set.contains(&token))
    }

    /// The ids of the tokens of a terminal, in increasing order.
    pub fn tokens(&self, terminal: ExprId) -> Vec<u32> {
        self.0.get(&terminal).into_iter().flatten().copied().collect()
    }

    /// Whether there are no terminals.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

fn tokens(terminal: &TokenTerminal, vocabulary: &RandomVocabulary) -> Result<BTreeSet<u32>, &'static str> {
    let names = |name: &str, id: u32| vocabulary.names.iter().any(|(of, other)| *of == id && other == name);
    let spells = |name: &str, id: u32| {
        vocabulary.tokens.get(id as usize).is_some_and(|token| token.as_deref() == Some(name.as_bytes()))
    };
    let all = 0..vocabulary.width as u32;
    for selector in terminal.listed() {
        match selector {
            TokenSelector::Ids { last, .. } if *last as usize >= vocabulary.width => {
                return Err("mask/token-range");
            }
            TokenSelector::Name(name) if !all.clone().any(|id| names(name, id) || spells(name, id)) => {
                return Err("mask/unknown-token");
            }
            _ => {}
        }
    }
    let is_listed = |id: u32| {
        terminal.listed().iter().any(|selector| match selector {
            TokenSelector::Ids { first, last } => (*first..=*last).contains(&id),
            TokenSelector::Name(name) if all.clone().any(|id| names(name, id)) => names(name, id),
            TokenSelector::Name(name) => spells(name, id),
        })
    };
    let is_text = |id: u32| vocabulary.tokens.get(id as usize).is_some_and(Option::is_some);
    let is_end = |id: u32| vocabulary.eos.contains(&id);
    let is_special = |id: u32| is_end(id) || vocabulary.names.iter().any(|(of, _)| *of == id);
    let set: BTreeSet<u32> = all
        .clone()
        .filter(|&id| match terminal.scope() {
            TokenScope::Listed => is_listed(id),
            TokenScope::AllBut => (is_text(id) || is_special(id)) && !is_end(id) && !is_listed(id),
            TokenScope::SpecialBut => is_special(id) && !is_end(id) && !is_listed(id),
        })
        .collect();
    if set.is_empty() { Err("mask/no-tokens") } else { Ok(set) }
}
