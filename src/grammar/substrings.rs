//! The substrings of a sequence of chunks, as rules whose number is linear in the number of chunks.

use super::builder::GrammarBuilder;
use super::ids::{ExprId, RuleId};
use crate::error::Result;
use crate::work::Budget;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::collections::BTreeMap;

/// Steps of work for a state or an edge of the automaton, and for the rule and the expressions made of it.
const STEPS: usize = 6;
/// Maximum number of edges of a state in a sorted list; more are in a tree.
const FEW: usize = 8;

/// The edges of a state by letter, in ascending order. Most states have one or two.
#[derive(Clone)]
enum Edges {
    Few(SmallVec<[(u32, u32); 2]>),
    Many(BTreeMap<u32, u32>),
}

impl Edges {
    fn get(&self, letter: u32) -> Option<u32> {
        match self {
            Edges::Few(list) => list.iter().find(|(known, _)| *known == letter).map(|&(_, to)| to),
            Edges::Many(tree) => tree.get(&letter).copied(),
        }
    }

    fn set(&mut self, letter: u32, to: u32) {
        match self {
            Edges::Many(tree) => _ = tree.insert(letter, to),
            Edges::Few(list) => match list.binary_search_by_key(&letter, |&(known, _)| known) {
                Ok(place) => list[place].1 = to,
                Err(place) if list.len() < FEW => list.insert(place, (letter, to)),
                Err(_) => {
                    let mut tree: BTreeMap<u32, u32> = list.iter().copied().collect();
                    tree.insert(letter, to);
                    *self = Edges::Many(tree);
                }
            },
        }
    }

    fn len(&self) -> usize {
        match self {
            Edges::Few(list) => list.len(),
            Edges::Many(tree) => tree.len(),
        }
    }

    fn for_each(&self, mut visit: impl FnMut(u32, u32)) {
        match self {
            Edges::Few(list) => list.iter().for_each(|&(letter, to)| visit(letter, to)),
            Edges::Many(tree) => tree.iter().for_each(|(&letter, &to)| visit(letter, to)),
        }
    }
}

/// A state of a suffix automaton over chunks (Blumer et al., 1985): a set of substrings that end at the same positions.
struct State {
    /// The number of chunks of the state's longest substring.
    longest: u32,
    /// The state of the longest suffix of the state's substrings that ends at more positions; `None` for the start.
    link: Option<u32>,
    next: Edges,
}

impl State {
    fn new(longest: u32, link: Option<u32>) -> State {
        State { longest, link, next: Edges::Few(SmallVec::new()) }
    }
}

/// The suffix automaton of a sequence of letters, which are indices of distinct chunks. The first state is the start,
/// and every path from it spells a substring. The number of states and edges is linear in the number of letters.
fn automaton(letters: &[u32], work: &Budget) -> Result<Vec<State>> {
    let mut states = vec![State::new(0, None)];
    let mut last = 0;
    for &letter in letters {
        work.spend(STEPS)?;
        let new = states.len() as u32;
        states.push(State::new(states[last as usize].longest + 1, Some(0)));
        let mut at = Some(last);
        while let Some(state) = at.filter(|&state| states[state as usize].next.get(letter).is_none()) {
            work.spend(STEPS)?;
            states[state as usize].next.set(letter, new);
            at = states[state as usize].link;
        }
        if let Some((state, known)) =
            at.and_then(|state| Some((state, states[state as usize].next.get(letter)?)))
        {
            let longest = states[state as usize].longest + 1;
            let link = if states[known as usize].longest == longest {
                known
            } else {
                let copy = states.len() as u32;
                let original = &states[known as usize];
                work.spend(STEPS * (1 + original.next.len()))?;
                states.push(State { longest, link: original.link, next: original.next.clone() });
                let mut at = Some(state);
                while let Some(state) = at.filter(|&at| states[at as usize].next.get(letter) == Some(known)) {
                    work.spend(1)?;
                    states[state as usize].next.set(letter, copy);
                    at = states[state as usize].link;
                }
                states[known as usize].link = Some(copy);
                copy
            };
            states[new as usize].link = Some(link);
        }
        last = new;
    }
    Ok(states)
}

impl GrammarBuilder {
    /// The concatenation of any number of consecutive chunks of a sequence, zero included. Chunks are never split.
    /// Empty chunks are ignored.
    pub fn substrings<T: AsRef<str>>(&mut self, chunks: impl IntoIterator<Item = T>) -> ExprId {
        let mut texts: Vec<ExprId> = Vec::new();
        let mut places: FxHashMap<ExprId, u32> = FxHashMap::default();
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
                texts.len() as u32 - 1
            }));
        }
        let states = match automaton(&letters, self.work()) {
            Ok(states) => states,
            Err(error) => {
                self.fail(error);
                return self.never();
            }
        };
        let rules: Vec<Option<RuleId>> = states
            .iter()
            .map(|state| (state.next.len() > 0).then(|| self.declare_generated("substring")))
            .collect();
        for (state, rule) in states.iter().zip(&rules) {
            let Some(rule) = *rule else { continue };
            let mut ways = vec![ExprId::EMPTY];
            state.next.for_each(|letter, to| {
                let rest = rules[to as usize].map_or(ExprId::EMPTY, |rule| self.rule(rule));
                ways.push(self.sequence([texts[letter as usize], rest]));
            });
            if self.error().is_some() {
                return self.never();
            }
            let body = self.choice(ways);
            self.define(rule, body);
        }
        rules[0].map_or(ExprId::EMPTY, |start| self.rule(start))
    }
}
