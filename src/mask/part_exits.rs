//! The search for ways out of parts bounded in tokens.
//!
//! First a completion of the part alone is searched for: its last token ends where the part ends. If it has too many
//! tokens, the last token may instead end after the part. This depends on what follows the part, so this search over
//! tokens uses the whole stacks. A token that ends one part may end inside another, which must be left in time too.

use super::cache::mask_cache::MaskCache;
use super::completion::{Effort, unless_limited};
use crate::automaton::{Automaton, ConfigurationId, OpenPart, PartId};
use crate::error::Result;
use crate::mask::way_out::WayOut;
use crate::token_index::TokenIndex;
use crate::vocabulary::TokenId;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// The inputs of a search for ways out.
#[derive(Clone, Copy)]
pub(crate) struct PartContext<'a> {
    pub(crate) automaton: &'a Automaton,
    pub(crate) index: &'a TokenIndex,
    /// The most tokens that may begin in a part.
    pub(crate) bound: &'a dyn Fn(PartId) -> usize,
}

/// A reading between two tokens, with an open part.
#[derive(Clone, Copy)]
struct ReadingStep {
    at: ConfigurationId,
    /// The configuration of the part alone, without what follows the part.
    inside: ConfigurationId,
    /// How many more tokens may begin in the part.
    left: usize,
    /// The index of the previous reading.
    before: usize,
    /// The token that leads from the previous reading to this one.
    token: TokenId,
    /// The part that the token entered, if any.
    entered: Option<PartId>,
}

/// A node of the token trie, and the configurations there: of the reading, and of the part alone.
#[derive(Clone, Copy)]
struct TrieNode {
    node: u32,
    at: ConfigurationId,
    inside: ConfigurationId,
    /// Whether the part may have ended on the path to the node.
    has_ended: bool,
    /// A lower bound on the bytes to the end of the part.
    least: usize,
}

struct Search<'a> {
    cache: &'a mut MaskCache,
    within: PartContext<'a>,
    effort: Effort,
    reached: Vec<ReadingStep>,
    /// Per reached reading, the most tokens left in it.
    seen: FxHashMap<ConfigurationId, usize>,
    /// The number of visited nodes of the token trie, and of terminals tried.
    visited: usize,
}

impl MaskCache {
    /// A way out of the part of the reading `at`, on which at most `most` tokens begin in the part. It is searched for
    /// with increasing effort, up to `effort`. `None` if none is found.
    pub(crate) fn way_out(
        &mut self,
        within: PartContext<'_>,
        (at, part): (ConfigurationId, OpenPart),
        most: usize,
        effort: Effort,
    ) -> Result<Option<WayOut>> {
        let whole = self.whole_way_out(within, part.inside, most, effort)?;
        if let Some(way) = whole.filter(|way| way.len() <= most) {
            return Ok(Some(WayOut::new(way)));
        }
        for effort in [Effort::Short, Effort::All].into_iter().filter(|next| *next <= effort && most > 0) {
            if let Some(way) = self.way_beyond(within, (at, part), most, effort)? {
                return Ok(Some(way));
            }
        }
        Ok(None)
    }

    /// A completion of the part alone, from its configuration `inside`. It has at most `most` tokens if a completion
    /// with so few is found with `effort`. `None` if no completion is found.
    pub(crate) fn whole_way_out(
        &mut self,
        PartContext { automaton, index, .. }: PartContext<'_>,
        inside: ConfigurationId,
        most: usize,
        effort: Effort,
    ) -> Result<Option<Arc<[TokenId]>>> {
        let mut way: Option<Arc<[TokenId]>> = None;
        for next in Effort::ALL.into_iter().filter(|next| *next <= effort) {
            way = self.completion(automaton, index, inside, next)?.completions(next).next().cloned();
            if way.as_ref().is_some_and(|way| way.len() <= most) {
                break;
            }
        }
        Ok(way)
    }

    /// A way out whose last token that begins in the part may end after the part; `None` if none is found.
    fn way_beyond(
        &mut self,
        within: PartContext<'_>,
        (at, part): (ConfigurationId, OpenPart),
        most: usize,
        effort: Effort,
    ) -> Result<Option<WayOut>> {
        let key = (at, most, effort == Effort::All);
        if let Some((way, visited)) = self.parts.way_beyond(key) {
            self.add_places_searched(visited);
            return Ok(way);
        }
        let automaton = within.automaton;
        self.exchange_search_work(automaton);
        let start = ReadingStep {
            at,
            inside: part.inside,
            left: most,
            before: 0,
            token: TokenId::new(0),
            entered: None,
        };
        let seen = FxHashMap::from_iter([(at, most)]);
        let mut search = Search { cache: self, within, effort, reached: vec![start], seen, visited: 0 };
        let found = search.run();
        let visited = search.visited;
        self.exchange_search_work(automaton);
        self.add_places_searched(visited);
        // after a limit nothing is stored: another mask has a new budget of work
        let Some(way) = unless_limited(found)? else { return Ok(None) };
        self.parts.keep_way_beyond(key, (way.clone(), visited));
        Ok(way)
    }
}

impl Search<'_> {
    /// Visits readings in order of the number of tokens that lead to them, until a way out is found or the limit is
    /// reached.
    fn run(&mut self) -> Result<Option<WayOut>> {
        let mut place = 0;
        while place < self.reached.len() && self.visited <= self.limit() {
            if let Some(way) = self.by_terminals(place)? {
                return Ok(Some(way));
            }
            if let Some(way) = self.by_bytes(place)? {
                return Ok(Some(way));
            }
            place += 1;
        }
        Ok(None)
    }

    /// The maximum number of trie nodes and terminals to visit.
    fn limit(&self) -> usize {
        self.within.automaton.limits().completion_search
    }

    fn by_terminals(&mut self, place: usize) -> Result<Option<WayOut>> {
        let PartContext { automaton, index, .. } = self.within;
        let ReadingStep { at, inside, .. } = self.reached[place];
        let after = self.cache.lazy(automaton).after_terminals(at)?;
        let inside = self.cache.lazy(automaton).after_terminals(inside)?;
        for (terminal, next) in after {
            self.visited += 1;
            let inside = inside.iter().find(|(known, _)| *known == terminal);
            let Some(token) = self.cache.example(terminal, index.vocabulary()) else { continue };
            let inside = inside.map_or(ConfigurationId::DEAD, |(_, inside)| *inside);
            if let Some(way) = self.arrive(place, token, next, inside)? {
                return Ok(Some(way));
            }
        }
        Ok(None)
    }

    fn by_bytes(&mut self, place: usize) -> Result<Option<WayOut>> {
        let PartContext { automaton, index, .. } = self.within;
        let (vocabulary, heights) = (index.vocabulary(), index.trie_heights());
        let (trie, longest) = (vocabulary.trie(), (vocabulary.longest() as usize).max(1));
        let ReadingStep { at, inside, left, .. } = self.reached[place];
        // the most bytes that the tokens after the next one may have
        let later = (left - 1).saturating_mul(longest);
        let least = self.cache.least_bytes(automaton, inside)?;
        let mut open = vec![TrieNode { node: trie.root(), at, inside, has_ended: false, least }];
        while let Some(from) = open.pop() {
            for child in trie.steps(from.node) {
                self.visited += 1;
                if self.visited > self.limit() {
                    return Ok(None);
                }
                let mut lazy = self.cache.lazy(automaton);
                let at = lazy.step(from.at, child.byte)?;
                if !at.is_ordinary() {
                    continue;
                }
                let inside = match from.inside {
                    ConfigurationId::DEAD => ConfigurationId::DEAD,
                    inside => lazy.step(inside, child.byte)?,
                };
                let has_ended = from.has_ended || inside.is_ordinary() && lazy.is_accepting(inside);
                let least = match inside.is_ordinary() {
                    true => self.cache.least_bytes(automaton, inside)?,
                    false => usize::MAX,
                };
                let below = heights[child.node as usize] as usize;
                let is_far = least > later.saturating_add(below);
                if !has_ended && (is_far || self.effort == Effort::Short && least >= from.least) {
                    continue;
                }
                let token = trie.tokens(child.node).iter().find(|&&token| !vocabulary.is_eos(token));
                if let Some(&token) = token
                    && let Some(way) = match has_ended {
                        true => self.arrive(place, token, at, ConfigurationId::DEAD)?,
                        false => self.arrive(place, token, at, inside)?,
                    }
                {
                    return Ok(Some(way));
                }
                if below > 0 {
                    open.push(TrieNode { node: child.node, at, inside, has_ended, least });
                }
            }
        }
        Ok(None)
    }

    /// Adds the readings that a token leads to. Returns a way out if the token leads out of all parts, or into a part
    /// with a known completion. `inside` is the configuration of the part alone, or the dead one if the part may have
    /// ended.
    fn arrive(
        &mut self,
        place: usize,
        token: TokenId,
        at: ConfigurationId,
        inside: ConfigurationId,
    ) -> Result<Option<WayOut>> {
        let PartContext { automaton, bound, .. } = self.within;
        let left = self.reached[place].left - 1;
        let next = ReadingStep { at, inside, left, before: place, token, entered: None };
        if inside.is_ordinary() && !self.cache.tables.is_accepting(inside) {
            self.add(next);
            return Ok(None);
        }
        for reading in self.cache.readings(automaton, at)?.iter() {
            let Some(part) = reading.part else { return Ok(Some(self.way_to(next, &[]))) };
            let next = ReadingStep { at: reading.configuration, inside: part.inside, ..next };
            if !part.is_new {
                self.add(next);
                continue;
            }
            let left = bound(part.part);
            let next = ReadingStep { left, entered: Some(part.part), ..next };
            // a search for a completion switches to the budget of searches itself
            self.cache.exchange_search_work(automaton);
            let whole = self.cache.whole_way_out(self.within, part.inside, left, self.effort);
            self.cache.exchange_search_work(automaton);
            if let Some(way) = whole?.filter(|way| way.len() <= left) {
                return Ok(Some(self.way_to(next, &way)));
            }
            self.add(next);
        }
        Ok(None)
    }

    fn add(&mut self, next: ReadingStep) {
        let most = self.seen.entry(next.at).or_default();
        if next.left > *most {
            *most = next.left;
            self.reached.push(next);
        }
    }

    /// The way from the first reading to `place`, followed by the tokens `more`.
    fn way_to(&self, place: ReadingStep, more: &[TokenId]) -> WayOut {
        let mut places = vec![place];
        let mut before = place.before;
        while before > 0 {
            places.push(self.reached[before]);
            before = self.reached[before].before;
        }
        places.reverse();
        let entered =
            places.iter().zip(1..).filter_map(|(place, read)| Some((read, place.entered?))).collect();
        WayOut::through(places.iter().map(|place| place.token).chain(more.iter().copied()).collect(), entered)
    }
}
