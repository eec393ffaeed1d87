//! The search for a shortest completion.

use super::bounds::Estimates;
use crate::automaton::program::letter::Letter;
use crate::automaton::run::cache::Cache;
use crate::automaton::run::configuration::ConfigurationId;
use crate::automaton::run::lazy::Lazy;
use crate::collections::best_first::Frontier;
use crate::error::Result;
use crate::grammar::ByteSet;
use std::cmp::Reverse;
use std::hash::Hash;

/// Letters that complete a text to a word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Completion {
    pub(crate) letters: Vec<Letter>,
    /// The number of letters that are bytes.
    pub(crate) bytes: usize,
    /// True if no completion has fewer bytes; false if that is unknown.
    pub(crate) is_least: bool,
}

/// The result of a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    Completion(Completion),
    /// There is no completion.
    Nothing,
    /// No completion was found among the places examined; there may be one.
    GaveUp,
}

/// A graph that a search explores.
pub(crate) trait Space {
    type Vertex: Copy + Eq + Hash;

    /// A lower bound on the bytes that complete the text at a vertex to a word; 0 if the text is a word.
    fn estimate(&mut self, vertex: Self::Vertex) -> Result<u32>;

    /// Whether the text at a vertex is a word.
    fn is_word(&self, vertex: Self::Vertex) -> bool;

    /// Appends the vertices after one more letter, each with a letter that leads to it: bytes in their order, then
    /// token terminals. `since` returns the bytes from the start of the search to `vertex`.
    fn next(
        &mut self,
        vertex: Self::Vertex,
        since: &dyn Fn() -> Vec<u8>,
        next: &mut Vec<(Letter, Self::Vertex)>,
    ) -> Result<()>;

    /// Spends steps from the budget of work of the search.
    ///
    /// # Errors
    /// The limit, if fewer steps are left.
    fn spend(&mut self, steps: usize) -> Result<()>;
}

/// Steps of work per letter tried: a lookup of known places, and a place in a queue.
const WORK_PER_LETTER: usize = 4;

/// The number of operands of new product states that searches for a budget count as one step of work, in addition to
/// the steps that the searches for completions of product states count: with 20 operands these are too few.
const OPERANDS_PER_STEP: usize = 4;

/// The average number of letters per place above which a search counts the letters tried, divided by this number,
/// instead of the places examined.
const LETTERS_PER_PLACE: usize = 8;

/// A* from a place, examining at most `patience` places. Then it becomes greedy, up to `limit` places in total: places
/// with the least estimated rest come first. If places have many letters, fewer places are examined. Among equal keys,
/// the place with the longer text comes first, then the one reached first, so the result depends neither on ids nor on
/// earlier searches. `searched` counts the places and the letters tried.
///
/// # Errors
/// Errors of `space`.
pub(crate) fn search<S: Space>(
    space: &mut S,
    from: S::Vertex,
    (patience, limit): (usize, usize),
    searched: &mut usize,
) -> Result<Found> {
    let first = space.estimate(from)?;
    let mut frontier = Frontier::new(from, 0u32, (first, Reverse(0u32)));
    let (mut next, mut examined, mut tried, mut hurries) = (Vec::new(), 0, 0, false);
    while let Some(((_, Reverse(bytes)), id)) = frontier.pop() {
        let vertex = frontier.trail().place(id).0;
        // the greedy phase examines near places first and accepts long paths to them
        if !hurries && frontier.is_outdone(id) {
            continue;
        }
        if space.is_word(vertex) {
            let letters: Vec<Letter> = frontier.trail().letters(id);
            let bytes = letters.iter().filter(|letter| letter.byte().is_some()).count();
            return Ok(Found::Completion(Completion { letters, bytes, is_least: !hurries }));
        }
        examined += 1;
        *searched += 1;
        let work = examined.max(tried / LETTERS_PER_PLACE);
        if work > patience && !hurries {
            hurries = true;
            frontier.put_back((bytes.saturating_add(space.estimate(vertex)?), Reverse(bytes)), id);
            frontier.change_keys(|(sum, Reverse(bytes))| (sum.saturating_sub(bytes), Reverse(bytes)));
            continue;
        }
        if work > limit {
            return Ok(Found::GaveUp);
        }
        next.clear();
        let since = || frontier.trail().letters(id).into_iter().filter_map(Letter::byte).collect();
        space.next(vertex, &since, &mut next)?;
        space.spend(WORK_PER_LETTER * (1 + next.len()))?;
        tried += next.len();
        *searched += next.len();
        for &(letter, after) in &next {
            let bytes = bytes + u32::from(letter.byte().is_some());
            if frontier.is_cheaper(&after, bytes) {
                let left = space.estimate(after)?;
                let sum = if hurries { left } else { left.saturating_add(bytes) };
                frontier.push((sum, Reverse(bytes)), (after, bytes), id, letter);
            }
        }
    }
    Ok(if hurries { Found::GaveUp } else { Found::Nothing })
}

/// The configurations of an automaton, over the usable bytes and its token terminals.
struct Configurations<'a, 'b> {
    lazy: &'a mut Lazy<'b>,
    estimates: &'a mut Estimates,
    usable: &'a ByteSet,
}

impl Space for Configurations<'_, '_> {
    type Vertex = ConfigurationId;

    fn estimate(&mut self, vertex: ConfigurationId) -> Result<u32> {
        self.estimates.of(self.lazy, vertex)
    }

    fn is_word(&self, vertex: ConfigurationId) -> bool {
        self.lazy.is_accepting(vertex)
    }

    fn spend(&mut self, steps: usize) -> Result<()> {
        self.lazy.work.spend(steps)
    }

    fn next(
        &mut self,
        vertex: ConfigurationId,
        _: &dyn Fn() -> Vec<u8>,
        next: &mut Vec<(Letter, ConfigurationId)>,
    ) -> Result<()> {
        let products = self.lazy.product_operands();
        let bytes = self.lazy.candidate_bytes(vertex).intersection(self.usable);
        let mut known = None;
        for byte in bytes.iter() {
            if known.is_some_and(|last| byte <= last) {
                continue;
            }
            let (after, last) = self.lazy.step_run(vertex, byte)?;
            known = Some(last);
            if after.is_ordinary() {
                next.push((Letter::Byte(byte), after));
            }
        }
        for (terminal, after) in self.lazy.after_terminals(vertex)? {
            next.push((Letter::Token(terminal), after));
        }
        self.lazy.spend_on_products(products)
    }
}

impl Cache {
    /// The number of operands of all product states so far.
    pub(crate) fn product_operands(&self) -> usize {
        self.products.operand_count()
    }

    /// Spends the work of the product states that were added since there were `before` operands.
    pub(crate) fn spend_on_products(&self, before: usize) -> Result<()> {
        self.work.spend(self.product_operands().saturating_sub(before) / OPERANDS_PER_STEP)
    }
}

impl Lazy<'_> {
    /// A completion of a configuration, consisting of `usable` bytes and token terminals. It is a shortest completion
    /// if it is found within the first of the `limits`; see [`search`].
    pub(crate) fn completion(
        &mut self,
        estimates: &mut Estimates,
        from: ConfigurationId,
        usable: &ByteSet,
        limits: (usize, usize),
        searched: &mut usize,
    ) -> Result<Found> {
        search(&mut Configurations { lazy: self, estimates, usable }, from, limits, searched)
    }
}
