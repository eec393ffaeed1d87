//! Distances: the smallest number of tokens and bytes from the text of a matcher to a complete text.
//!
//! The known facts about a configuration do not cover the names of objects read so far. So in a grammar with names, a
//! completion is checked against these names, and if it repeats a name in an object, another completion is searched
//! for.

use super::keys::Cursor;
use super::state::{self, Locked, Matcher};
use super::within_parts;
use crate::automaton::keys::tracker::KeyState;
use crate::automaton::{ConfigurationId, Found, Letter, Space, TerminalId, search};
use crate::error::Result;
use crate::mask::{Distance, Effort, Known, unless_limited};
use crate::vocabulary::TokenId;
use std::sync::Arc;

/// Known facts about completions from one place of a text.
pub(super) struct Ahead {
    pub(super) bytes: Distance,
    pub(super) tokens: Distance,
    /// The tokens of a known completion.
    pub(super) completion: Option<Arc<[TokenId]>>,
    /// The number of names of objects that end in the completion, or [`MANY_NAMES`].
    pub(super) names: usize,
}

/// In place of [`Ahead::names`]: the completion was searched for with the names read so far, or none is known.
const MANY_NAMES: usize = usize::MAX;

/// The longest beginning of a name that is compared with other names, in bytes.
const BEGUN: usize = 256;

/// Maximum number of places searched for the shortest completion without a repeated name. After that, any completion
/// without a repeated name will do.
const PATIENCE: usize = 32;

pub(super) fn distance(m: &mut Matcher) -> Result<Distance> {
    match state::is_bounded(m) && !m.path.has_ended() {
        true => Ok(within_parts::bounded_distances(m)?.0),
        false => Ok(ahead_of_end(m, Effort::All)?.map_or(Distance::Exact(0), |ahead| ahead.tokens)),
    }
}

pub(super) fn distance_in_bytes(m: &mut Matcher) -> Result<Distance> {
    match state::is_bounded(m) && !m.path.has_ended() {
        true => Ok(within_parts::bounded_distances(m)?.1),
        false => Ok(ahead_of_end(m, Effort::Spelled)?.map_or(Distance::Exact(0), |ahead| ahead.bytes)),
    }
}

/// Facts about completions of the text so far, ignoring bounds of parts; `None` after the end.
fn ahead_of_end(m: &mut Matcher, effort: Effort) -> Result<Option<Ahead>> {
    if m.path.has_ended() {
        return Ok(None);
    }
    m.with_lock(|locked, at| {
        let cursor = locked.cursor(at);
        locked.ahead(cursor, &[], effort)
    })
    .map(Some)
}

impl Locked<'_> {
    /// Facts about completions from a cursor that the bytes `since` lead to from the end of the path. Uses the least
    /// effort that shows that at most `most` tokens suffice, but no more than `effort`. If a limit is reached, the
    /// facts are those of less effort.
    pub(super) fn ahead_within(
        &mut self,
        at: Cursor,
        since: &[u8],
        most: usize,
        effort: Effort,
    ) -> Result<Ahead> {
        let mut ahead = Ahead::UNKNOWN;
        for next in Effort::ALL.into_iter().filter(|next| *next <= effort) {
            if ahead.tokens.known().is_some_and(|known| known <= most) {
                break;
            }
            match unless_limited(self.ahead(at, since, next))? {
                Some(found) => ahead = found,
                None => break,
            }
        }
        Ok(ahead)
    }

    /// Facts about completions from a cursor that the bytes `since` lead to from the end of the path.
    pub(super) fn ahead(&mut self, at: Cursor, since: &[u8], effort: Effort) -> Result<Ahead> {
        let (automaton, index) = (self.compiled.automaton(), self.compiled.index());
        let known = self.cache.completion(automaton, index, at.configuration, effort)?;
        let mut completions = known.completions(effort);
        if !automaton.has_names() {
            return Ok(Ahead::of(&known, completions.next().cloned(), 0));
        }
        for completion in completions {
            if let Some(names) = self.read_completion(at, since, completion)? {
                return Ok(Ahead::of(&known, Some(Arc::clone(completion)), names));
            }
        }
        match known.distance(None) {
            Distance::Unreachable => Ok(Ahead::of(&known, None, MANY_NAMES)),
            _ => self.ahead_by_names(at, since),
        }
    }

    /// The cursor after the next token of a completion, by the token's bytes, along token edges, or both; `None` if the
    /// token is not allowed or repeats a name. `text` has the bytes between the path and the token; the token's bytes
    /// are appended, up to the first that is not allowed. The number of names that end in the token is added to
    /// `names`.
    fn step_completion(
        &mut self,
        from: Cursor,
        text: &mut Vec<u8>,
        token: TokenId,
        names: &mut usize,
    ) -> Result<Option<Cursor>> {
        let vocabulary = Arc::clone(self.compiled.vocabulary());
        let bytes = vocabulary.bytes(token).unwrap_or_default();
        let mut by_bytes = Some(from).filter(|_| !bytes.is_empty());
        let mut ended = 0;
        for &byte in bytes {
            let Some(at) = by_bytes else { break };
            by_bytes = self.step(at, text, byte)?;
            text.push(byte);
            ended += by_bytes
                .map_or(0, |at| usize::from(self.cache.tables.transitions().is_named(at.configuration)));
        }
        *names += if by_bytes.is_some() { ended } else { 0 };
        self.by_id_too(from, by_bytes, token)
    }

    /// Follows a completion from a cursor that the bytes `since` lead to, with the names read so far. Returns the
    /// number of names that end in the completion, or `None` if one of its tokens is not allowed or repeats a name.
    pub(super) fn read_completion(
        &mut self,
        mut at: Cursor,
        since: &[u8],
        completion: &[TokenId],
    ) -> Result<Option<usize>> {
        let (mut text, mut names) = (since.to_vec(), 0);
        for &token in completion {
            match self.step_completion(at, &mut text, token, &mut names)? {
                Some(next) => at = next,
                None => return Ok(None),
            }
        }
        Ok(Some(names))
    }

    /// The names, as they are written, that end in a completion after the first name that ends there. `None` if names of
    /// the grammar may run out, one of these names has an escape, or the completion may have token edges.
    pub(super) fn later_names(
        &mut self,
        mut at: ConfigurationId,
        completion: &[TokenId],
    ) -> Result<Option<Vec<Vec<u8>>>> {
        let (compiled, automaton) = (self.compiled, self.compiled.automaton());
        if automaton.has_terminals() || !compiled.keys_are_unbounded() {
            return Ok(None);
        }
        let (mut text, mut names, mut is_first): (Vec<u8>, Vec<Vec<u8>>, bool) =
            (Vec::new(), Vec::new(), true);
        for &byte in
            completion.iter().flat_map(|&token| compiled.vocabulary().bytes(token).unwrap_or_default())
        {
            at = self.cache.lazy(automaton).step(at, byte)?;
            if self.cache.tables.transitions().is_named(at) && !std::mem::take(&mut is_first) {
                let begin = text.iter().rposition(|&byte| byte == b'"').filter(|_| byte == b'"');
                match begin.map(|begin| &text[begin + 1..]).filter(|name| !name.contains(&b'\\')) {
                    Some(name) => names.push(name.to_vec()),
                    None => return Ok(None),
                }
            }
            text.push(byte);
        }
        Ok(Some(names))
    }

    /// Whether none of some names, written without escapes, begins with what is written of the unfinished name at the end
    /// of the path and the bytes `since`. False if that has an escape, or is longer than [`BEGUN`] bytes.
    pub(super) fn begins_none_of(&self, names: &[Vec<u8>], since: &[u8]) -> bool {
        let text = since.iter().rev().copied().chain(self.path.backwards());
        let mut begun: Vec<u8> = text.take_while(|&byte| byte != b'"').take(BEGUN + 1).collect();
        begun.reverse();
        let is_known = begun.len() <= BEGUN && !begun.contains(&b'\\');
        is_known && names.iter().all(|name| !name.starts_with(&begun))
    }

    /// The cursors after the token edges of each terminal. After a token terminal no open object has names to remember,
    /// so the key states are [`KeyState::OUTSIDE`].
    pub(super) fn after_terminals(&mut self, at: Cursor) -> Result<Vec<(TerminalId, Cursor)>> {
        let key_state = KeyState::OUTSIDE;
        let after = self.cache.lazy(self.compiled.automaton()).after_terminals(at.configuration)?;
        Ok(after
            .into_iter()
            .map(|(terminal, configuration)| (terminal, Cursor { configuration, key_state }))
            .collect())
    }

    /// Searches for a completion that does not repeat a name in an object. If none is found within
    /// `Limits::completion_search`, or a limit is reached, the distances are unknown.
    fn ahead_by_names(&mut self, at: Cursor, since: &[u8]) -> Result<Ahead> {
        let vocabulary = Arc::clone(self.compiled.vocabulary());
        let limit = self.compiled.automaton().limits().completion_search;
        let missing = vocabulary.missing_bytes();
        let mut searched = 0;
        let limits = (PATIENCE.min(limit), limit);
        let automaton = self.compiled.automaton();
        self.cache.exchange_search_work(automaton);
        let found = search(&mut Cursors { locked: self, since, missing }, at, limits, &mut searched);
        self.cache.exchange_search_work(automaton);
        self.cache.add_places_searched(searched);
        let Some(Found::Completion(found)) = unless_limited(found)? else { return Ok(Ahead::UNKNOWN) };
        // the search merges texts that lead to the same cursor, although their names may differ, so the completion is
        // checked
        let mut text = since.to_vec();
        let mut end = Some(at);
        for &letter in &found.letters {
            let Some(at) = end else { break };
            end = match letter {
                Letter::Byte(byte) => self.step(at, &text, byte)?,
                Letter::Token(terminal) => self
                    .after_terminals(at)?
                    .into_iter()
                    .find(|(other, _)| *other == terminal)
                    .map(|(_, at)| at),
            };
            text.extend(letter.byte());
        }
        let is_word = end.is_some_and(|end| self.cache.tables.is_accepting(end.configuration));
        let tokens = self.cache.spelled(self.compiled.index(), &found.letters).filter(|_| is_word);
        Ok(Ahead {
            bytes: if is_word { Distance::AtMost(found.bytes) } else { Distance::Unknown },
            tokens: tokens.as_ref().map_or(Distance::Unknown, |tokens| Distance::AtMost(tokens.len())),
            completion: tokens.map(Arc::from),
            names: MANY_NAMES,
        })
    }
}

impl Ahead {
    /// No completion is known.
    const UNKNOWN: Ahead =
        Ahead { bytes: Distance::Unknown, tokens: Distance::Unknown, completion: None, names: MANY_NAMES };

    fn of(known: &Known, completion: Option<Arc<[TokenId]>>, names: usize) -> Ahead {
        Ahead { bytes: known.bytes, tokens: known.distance(completion.as_deref()), completion, names }
    }
}

/// The search space of cursors. Its steps are bytes that are tokens on their own, and token terminals.
struct Cursors<'a, 'b> {
    locked: &'a mut Locked<'b>,
    since: &'a [u8],
    missing: [bool; 256],
}

impl Space for Cursors<'_, '_> {
    type Vertex = Cursor;

    fn estimate(&mut self, vertex: Cursor) -> Result<u32> {
        let least = self.locked.cache.least_bytes(self.locked.compiled.automaton(), vertex.configuration)?;
        Ok(u32::try_from(least).unwrap_or(u32::MAX))
    }

    fn is_word(&self, vertex: Cursor) -> bool {
        self.locked.cache.tables.is_accepting(vertex.configuration)
    }

    fn spend(&mut self, steps: usize) -> Result<()> {
        self.locked.cache.tables.work.spend(steps)
    }

    fn next(
        &mut self,
        vertex: Cursor,
        since: &dyn Fn() -> Vec<u8>,
        next: &mut Vec<(Letter, Cursor)>,
    ) -> Result<()> {
        let automaton = self.locked.compiled.automaton();
        let products = self.locked.cache.tables.product_operands();
        let mut text = Vec::new();
        for byte in self.locked.cache.lazy(automaton).candidate_bytes(vertex.configuration).iter() {
            if self.missing[usize::from(byte)] {
                continue;
            }
            // the text read matters only at the end of an object's first name
            if vertex.key_state.is_outside() && text.is_empty() {
                let after = self.locked.cache.lazy(automaton).step(vertex.configuration, byte)?;
                if self.locked.cache.tables.transitions().is_named(after) {
                    text = [self.since, &since()].concat();
                    self.spend(text.len())?;
                }
            }
            if let Some(after) = self.locked.step(vertex, &text, byte)? {
                next.push((Letter::Byte(byte), after));
            }
        }
        let by_id = self.locked.after_terminals(vertex)?;
        next.extend(by_id.into_iter().map(|(terminal, after)| (Letter::Token(terminal), after)));
        self.locked.cache.tables.spend_on_products(products)
    }
}
