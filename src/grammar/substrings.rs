//! The substrings of a sequence of chunks, as rules whose number is linear in the number of chunks.

use super::builder::GrammarBuilder;
use super::ids::{ExprId, RuleId};
use std::collections::BTreeMap;

/// A state of a suffix automaton over chunks (Blumer et al., 1985): a set of substrings that end at the same positions.
struct State {
    /// The number of chunks of the state's longest substring.
    longest: usize,
    /// The state of the longest suffix of the state's substrings that ends at more positions; `None` for the start.
    link: Option<usize>,
    next: BTreeMap<usize, usize>,
}

/// The suffix automaton of a sequence of letters, which are indices of distinct chunks. The first state is the start,
/// and every path from it spells a substring.
fn automaton(letters: &[usize]) -> Vec<State> {
    let mut states = vec![State { longest: 0, link: None, next: BTreeMap::new() }];
    let mut last = 0;
    for &letter in letters {
        let new = states.len();
        states.push(State { longest: states[last].longest + 1, link: Some(0), next: BTreeMap::new() });
        let mut at = Some(last);
        while let Some(state) = at.filter(|&state| !states[state].next.contains_key(&letter)) {
            states[state].next.insert(letter, new);
            at = states[state].link;
        }
        if let Some(state) = at {
            let known = states[state].next[&letter];
            states[new].link = Some(if states[known].longest == states[state].longest + 1 {
                known
            } else {
                let copy = states.len();
                let (link, next) = (states[known].link, states[known].next.clone());
                states.push(State { longest: states[state].longest + 1, link, next });
                let mut at = Some(state);
                while let Some(state) = at.filter(|&state| states[state].next.get(&letter) == Some(&known)) {
                    states[state].next.insert(letter, copy);
                    at = states[state].link;
                }
                states[known].link = Some(copy);
                copy
            });
        }
        last = new;
    }
    states
}

impl GrammarBuilder {
    /// The concatenation of any number of consecutive chunks of a sequence, zero included. Chunks are never split.
    /// Empty chunks are ignored.
    pub fn substrings<T: AsRef<str>>(&mut self, chunks: impl IntoIterator<Item = T>) -> ExprId {
        let mut texts: Vec<ExprId> = Vec::new();
        let mut places: BTreeMap<ExprId, usize> = BTreeMap::new();
        let mut letters = Vec::new();
        for chunk in chunks {
            if chunk.as_ref().is_empty() {
                continue;
            }
            let text = self.text(chunk.as_ref());
            if self.error().is_some() {
                return self.never();
            }
            letters.push(*places.entry(text).or_insert_with(|| {
                texts.push(text);
                texts.len() - 1
            }));
        }
        let states = automaton(&letters);
        let rules: Vec<Option<RuleId>> =
            states.iter().map(|state| (!state.next.is_empty()).then(|| self.declare("substring"))).collect();
        for (state, rule) in states.iter().zip(&rules) {
            let Some(rule) = *rule else { continue };
            let mut ways = vec![ExprId::EMPTY];
            for (&letter, &to) in &state.next {
                let rest = rules[to].map_or(ExprId::EMPTY, |rule| self.rule(rule));
                ways.push(self.sequence([texts[letter], rest]));
            }
            let body = self.choice(ways);
            self.define(rule, body);
        }
        rules[0].map_or(ExprId::EMPTY, |start| self.rule(start))
    }
}
