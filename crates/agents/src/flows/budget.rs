//! Plans within a token budget: tokens after which a plan could not be finished in time are masked.

use super::completions::Completions;
use super::domain::FlowDomain;
use super::errors;
use super::options::FlowOptions;
use super::text::Thoughts;
use grammata::error::Result;
use grammata::mask::CompiledGrammar;
use grammata::matcher::{Constraint, Matcher};
use grammata::vocabulary::{TokenId, Vocabulary};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// The maximum number of allowed tokens that are tried one by one near the end of the budget. If more are allowed
/// there, or if no tried token lets the plan end in time, the mask has only the token that finishes the plan soonest,
/// or the end-of-sequence tokens if the plan is complete.
const MOST_TRIED: usize = 256;

/// A matcher of [`grammar`](super::grammar) that reserves enough tokens to finish the plan: whichever allowed tokens
/// are chosen, the plan ends within the budget. Near the end of the budget, thoughts are shortened before plans are.
#[derive(Debug)]
pub struct WithinBudget {
    matcher: Matcher,
    shared: Arc<Shared>,
    left: usize,
}

#[derive(Debug)]
struct Shared {
    completions: Completions,
    /// The token of each text that is a single token.
    tokens: FxHashMap<Box<[u8]>, u32>,
    longest: usize,
    eos: Vec<u32>,
    /// If more tokens than this are left, each token that the grammar allows is allowed: the rest suffices to finish
    /// the turn with one token per byte, and then the plan with the longest of the short ends.
    safe: usize,
}

impl WithinBudget {
    /// Creates a matcher for plans of `domain` at level 3 or above with at most `tokens` tokens. `compiled` must be the
    /// grammar of these plans.
    ///
    /// # Errors
    /// `flow/budget` if the plan with the fewest bytes needs more tokens (the error has their number), or if the
    /// vocabulary cannot spell some end of a plan; those of [`grammar`](super::grammar).
    pub fn new(
        compiled: &CompiledGrammar,
        domain: &FlowDomain,
        options: &FlowOptions,
        thoughts: Thoughts,
        tokens: usize,
    ) -> Result<WithinBudget> {
        let completions = Completions::new(domain, options, thoughts)?;
        let mut shared = Shared::new(completions, compiled.vocabulary());
        let longest_end = shared.longest_end();
        let least = shared.rest(&[]).map(|rest| rest.len());
        match (least, longest_end) {
            (Some(least), Some(longest)) if least <= tokens => {
                shared.safe = longest + shared.completions.longest_turn() + 8;
                Ok(WithinBudget { matcher: compiled.matcher(), shared: Arc::new(shared), left: tokens })
            }
            _ => Err(errors::budget(tokens, least)),
        }
    }

    /// Returns the number of tokens left.
    pub fn left(&self) -> usize {
        self.left
    }
}

impl Shared {
    fn new(completions: Completions, vocabulary: &Vocabulary) -> Shared {
        let mut tokens = FxHashMap::default();
        let mut longest = 0;
        for id in 0..vocabulary.width() as u32 {
            if let Some(bytes) = vocabulary.bytes(TokenId::new(id)).filter(|bytes| !bytes.is_empty()) {
                longest = longest.max(bytes.len());
                tokens.entry(bytes.into()).or_insert(id);
            }
        }
        let eos = vocabulary.eos().iter().map(|id| id.get()).collect();
        Shared { completions, tokens, longest, eos, safe: usize::MAX }
    }

    /// Returns the greatest number of tokens of a short end of a plan; `None` if some end cannot be spelled.
    fn longest_end(&self) -> Option<usize> {
        let mut most = 0;
        for end in self.completions.ends() {
            most = most.max(self.spell(end.as_bytes())?.len());
        }
        Some(most)
    }

    /// Returns tokens that finish a plan which begins with `text`; `None` if no plan does, or if the vocabulary cannot
    /// spell its end.
    fn rest(&self, text: &[u8]) -> Option<Vec<u32>> {
        self.spell(&self.completions.of(text)?)
    }

    /// Returns the fewest tokens that spell a text; `None` if the vocabulary cannot spell it.
    fn spell(&self, text: &[u8]) -> Option<Vec<u32>> {
        // for each position, the minimum number of tokens up to the position, the last of these tokens, and its start
        let mut best: Vec<Option<(usize, u32, usize)>> = vec![None; text.len() + 1];
        for end in 1..=text.len() {
            for start in end.saturating_sub(self.longest)..end {
                let count = match start {
                    0 => 0,
                    _ => match best[start] {
                        Some((count, ..)) => count,
                        None => continue,
                    },
                };
                if best[end].is_some_and(|(least, ..)| least <= count + 1) {
                    continue;
                }
                if let Some(&token) = self.tokens.get(&text[start..end]) {
                    best[end] = Some((count + 1, token, start));
                }
            }
        }
        let (mut spelled, mut end) = (Vec::new(), text.len());
        while end > 0 {
            let (_, token, start) = best[end]?;
            spelled.push(token);
            end = start;
        }
        spelled.reverse();
        Some(spelled)
    }
}

impl Constraint for WithinBudget {
    fn fill_mask(&mut self, words: &mut [u32]) -> Result<()> {
        self.matcher.fill_mask(words)?;
        if self.left > self.shared.safe {
            return Ok(());
        }
        let text = self.matcher.bytes();
        let set = |words: &[u32]| -> Vec<u32> {
            let bits = words.iter().enumerate().flat_map(|(place, &word)| {
                (0..32).filter(move |bit| word >> bit & 1 == 1).map(move |bit| (place * 32 + bit) as u32)
            });
            bits.collect()
        };
        let allowed = set(words);
        let vocabulary = Arc::clone(self.matcher.compiled().vocabulary());
        // many tokens result in the same end
        let mut lengths: FxHashMap<Vec<u8>, Option<usize>> = FxHashMap::default();
        let can_finish = |token: &u32| {
            let bytes = vocabulary.bytes(TokenId::new(*token)).unwrap_or_default();
            let end = self.shared.completions.of(&[text.as_slice(), bytes].concat());
            let length = end.and_then(|end| {
                let count = |end: &Vec<u8>| self.shared.spell(end).map(|spelled| spelled.len());
                *lengths.entry(end).or_insert_with_key(count)
            });
            self.shared.eos.contains(token) || length.is_some_and(|length| length < self.left)
        };
        let mut kept: Vec<u32> = match allowed.len() <= MOST_TRIED {
            true => allowed.into_iter().filter(can_finish).collect(),
            false => Vec::new(),
        };
        if kept.is_empty() {
            // the token that finishes the plan soonest, or the end-of-sequence tokens if the plan is complete
            let rest = self.shared.rest(&text).unwrap_or_default();
            kept = rest.first().map_or_else(|| self.shared.eos.clone(), |&first| vec![first]);
        }
        words.fill(0);
        for token in kept {
            if let Some(word) = words.get_mut(token as usize / 32) {
                *word |= 1 << (token % 32);
            }
        }
        Ok(())
    }

    fn accept_token(&mut self, token: u32) -> Result<()> {
        self.matcher.accept_token(TokenId::new(token))?;
        self.left = self.left.saturating_sub(1);
        Ok(())
    }

    fn is_accepting(&mut self) -> Result<bool> {
        Ok(self.matcher.is_accepting())
    }

    fn is_finished(&mut self) -> Result<bool> {
        Ok(self.matcher.is_finished())
    }

    fn rollback(&mut self, tokens: usize) -> Result<()> {
        self.matcher.rollback(tokens)?;
        self.left += tokens;
        Ok(())
    }

    fn fork(&self) -> Box<dyn Constraint> {
        let (matcher, shared, left) = (self.matcher.fork(), Arc::clone(&self.shared), self.left);
        Box::new(WithinBudget { matcher, shared, left })
    }
}
