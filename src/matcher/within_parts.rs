//! Budgets of a whole text together with bounds of parts.
//!
//! Known completions of configurations ignore the tokens left for a part. So a completion is assembled from such
//! completions and from ways out of parts, and a fork of the matcher accepts each of its tokens: the result keeps all
//! bounds, though it need not be the shortest.

use super::open_parts::BoundedReading;
use super::promises::Lead;
use super::state::{self, Locked, Matcher};
use super::sufficient::unless_too_large;
use super::token_groups::Alike;
use super::{part_potential, parts, steps};
use crate::error::Result;
use crate::mask::{Distance, Effort, TokenMask};
use crate::vocabulary::TokenId;
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// Maximum number of pieces of an assembled completion.
const PIECES: usize = 64;

/// Maximum number of tokens of one mask after which completions are searched for. Further tokens that would need a
/// search are forbidden.
const COMPLETIONS: usize = 1 << 10;

/// In place of a reading's index: a group of the configuration of the whole text, formed with the names of objects.
const NAMES: usize = usize::MAX;

/// A class of tokens with the same continuations.
struct Class {
    tokens: Vec<TokenId>,
    /// Whether the tokens end within a name of an object; the names may differ.
    is_in_name: bool,
}

/// The next piece of a completion.
enum Piece {
    /// Nothing: the text may end.
    End,
    /// Tokens that leave the open part.
    WayOut(Arc<[TokenId]>),
    /// Tokens to the end, which bounds of parts may interrupt.
    Rest(Arc<[TokenId]>),
}

/// What is known after a token.
pub(super) enum AfterToken {
    /// The token is not allowed, or a limit was reached.
    Refused,
    /// No completion is known that is short enough.
    Unknown,
    /// A bound shows that there is one, and that it need not be carried along.
    Bound,
    /// A completion that is short enough.
    Completion(Arc<[TokenId]>),
}

/// A completion that keeps the bounds of parts, if one is found: the first with at most `most` tokens, otherwise
/// the shortest found.
pub(super) fn bounded_completion(m: &Matcher, most: usize) -> Result<Option<Arc<[TokenId]>>> {
    let mut shortest: Option<Vec<TokenId>> = None;
    for effort in Effort::ALL {
        for leaves_first in [false, true] {
            let fewer = shortest.as_ref().map(Vec::len);
            shortest = put_together(m, effort, leaves_first, fewer)?.or(shortest);
            if shortest.as_ref().is_some_and(|tokens| tokens.len() <= most) {
                return Ok(shortest.map(Arc::from));
            }
        }
    }
    Ok(shortest.map(Arc::from))
}

/// Assembles a completion, with fewer than `fewer` tokens if that is given, otherwise with at most
/// `Limits::completion_search` tokens. With `leaves_first`, an open part is left before anything else.
fn put_together(
    m: &Matcher,
    effort: Effort,
    leaves_first: bool,
    fewer: Option<usize>,
) -> Result<Option<Vec<TokenId>>> {
    let most = fewer.map_or(m.compiled.automaton().limits().completion_search, |fewer| fewer - 1);
    let (mut ahead, mut tokens) = (m.clone(), Vec::new());
    let mut leaves = leaves_first;
    for _ in 0..PIECES {
        let (piece, is_way) = match piece(&mut ahead, effort, leaves)? {
            Some(Piece::End) => return Ok(Some(tokens)),
            Some(Piece::WayOut(way)) => (way, true),
            Some(Piece::Rest(rest)) => (rest, false),
            None => return Ok(None),
        };
        let mut accepted = accept_some(&mut ahead, &piece)?;
        tokens.extend_from_slice(&piece[..accepted]);
        if accepted == 0 && !is_way && leaves {
            // a token that ends inside a part may leave too few tokens for that part; of its single bytes, read as
            // tokens, one begins where the part does
            let vocabulary = m.compiled.vocabulary();
            let bytes = piece.first().and_then(|&token| vocabulary.bytes(token)).unwrap_or_default();
            let single: Vec<TokenId> =
                bytes.chunks(1).map_while(|byte| vocabulary.spelled(byte).first()).copied().collect();
            accepted = accept_some(&mut ahead, &single)?;
            tokens.extend_from_slice(&single[..accepted]);
        }
        if tokens.len() > most || accepted == 0 && leaves {
            return Ok(None);
        }
        // if a bound interrupted the rest, the part is left next
        leaves = leaves_first || accepted < piece.len();
    }
    Ok(None)
}

/// Accepts the longest allowed prefix of `tokens` and returns its length.
fn accept_some(m: &mut Matcher, tokens: &[TokenId]) -> Result<usize> {
    for (count, &token) in tokens.iter().enumerate() {
        if !steps::try_accept(m, token)? {
            return Ok(count);
        }
    }
    Ok(tokens.len())
}

/// The next piece of a completion, if one is known. With `leaves`, an open part is left first.
fn piece(m: &mut Matcher, effort: Effort, leaves: bool) -> Result<Option<Piece>> {
    let piece = parts::with_readings(m, |locked, readings| locked.piece_of(readings, effort, leaves))?;
    match piece {
        Some(piece) => Ok(piece),
        None if state::is_accepting(m) => Ok(Some(Piece::End)),
        None => {
            let rest = m.with_lock(|locked, at| {
                let from = locked.cursor(at);
                Ok(locked.ahead(from, &[], effort)?.completion)
            })?;
            Ok(rest.map(Piece::Rest))
        }
    }
}

/// Whether a completion after a token that keeps the bounds of parts and has at most `most` tokens is known.
pub(super) fn after_bounded(m: &mut Matcher, token: TokenId, most: usize) -> Result<AfterToken> {
    let mut ahead = m.clone();
    if !unless_too_large(steps::try_accept(&mut ahead, token))?.unwrap_or_default() {
        return Ok(AfterToken::Refused);
    }
    if part_potential::ends_within(&mut ahead, most)? {
        return Ok(AfterToken::Bound);
    }
    let completion = unless_too_large(bounded_completion(&ahead, most))?.flatten();
    let completion = completion.filter(|completion| completion.len() <= most);
    Ok(completion.map_or(AfterToken::Unknown, AfterToken::Completion))
}

/// The [mask within a budget](Matcher::mask_within) where bounds of parts matter, if `rest` tokens may come after
/// the next one. `plain` is the mask without the budget. Also returns tokens with a completion after each, for the
/// allowed tokens after which no bound shows that there is one.
pub(super) fn bounded_mask_within(
    m: &mut Matcher,
    plain: &Arc<TokenMask>,
    rest: usize,
) -> Result<(Arc<TokenMask>, Vec<Lead>)> {
    if let Some(found) = mask_of_only_reading(m, plain, rest)? {
        return Ok(found);
    }
    let classes = parts::with_readings(m, |locked, readings| locked.classes(readings, plain))?;
    let (mut allowed, mut leads) = (Vec::new(), Vec::new());
    let mut looked_for = 0;
    for Class { tokens, is_in_name } in classes.unwrap_or_default() {
        let mut known = AfterToken::Refused;
        for token in tokens {
            // different prefixes of names may require different ends
            if is_in_name || matches!(known, AfterToken::Refused) {
                looked_for += 1;
                if looked_for > COMPLETIONS {
                    break;
                }
                known = after_bounded(m, token, rest)?;
            }
            match &known {
                AfterToken::Refused => continue,
                AfterToken::Unknown if is_in_name => continue,
                AfterToken::Unknown => break,
                AfterToken::Bound => {}
                AfterToken::Completion(completion) => leads.push((token, Arc::clone(completion))),
            }
            allowed.push(token);
        }
    }
    allowed.extend(ends(m)?);
    Ok((Arc::new(TokenMask::of(&allowed, m.compiled.vocabulary().width())), leads))
}

/// The end tokens that end the text here.
fn ends(m: &mut Matcher) -> Result<Vec<TokenId>> {
    let mut ends = Vec::new();
    if state::is_accepting(m) {
        for end in m.compiled.end_tokens().to_vec() {
            ends.extend(steps::ends_text(m, end)?.then_some(end));
        }
    }
    Ok(ends)
}

/// As [`bounded_mask_within`], if the text has only one reading and no names need
/// be tracked: then the kept groups of the reading's tokens are the classes.
fn mask_of_only_reading(
    m: &mut Matcher,
    plain: &Arc<TokenMask>,
    rest: usize,
) -> Result<Option<(Arc<TokenMask>, Vec<Lead>)>> {
    let found = parts::with_readings(m, |locked, readings| match readings {
        [only] if !locked.compiled.automaton().has_names() => {
            let from = locked.cache.id(only.at)?;
            let groups = locked.part_groups(from)?;
            let others = locked.other_bits(from, &groups)?;
            let next = only.open.as_ref().and_then(|open| open.way_left().first()).copied();
            Ok(Some((groups, others, next)))
        }
        _ => Ok(None),
    })?;
    let Some((groups, others, next)) = found.flatten() else { return Ok(None) };
    let bits = plain.to_bits();
    let listed = groups.iter().map(|(_, tokens)| match tokens {
        Some(tokens) => tokens.clone(),
        None => others.iter_ones().map(|token| TokenId::new(token as u32)).collect(),
    });
    // only the next token of the way out is known to follow it
    let only_next = next.into_iter().collect();
    let classes = listed.map(|mut tokens: Vec<TokenId>| {
        tokens.retain(|&token| Some(token) != next);
        tokens
    });
    let (mut allowed, mut leads, mut are_all) = (Vec::new(), Vec::new(), true);
    for mut tokens in classes.chain([only_next]) {
        tokens.retain(|token| bits[token.index()]);
        let (mut known, mut refused) = (AfterToken::Refused, 0);
        for &token in tokens.iter().take(COMPLETIONS) {
            known = after_bounded(m, token, rest)?;
            if !matches!(known, AfterToken::Refused) {
                break;
            }
            refused += 1;
        }
        tokens.drain(..refused);
        are_all &= refused == 0;
        match known {
            AfterToken::Refused | AfterToken::Unknown => are_all &= tokens.is_empty(),
            AfterToken::Bound => allowed.extend(tokens),
            AfterToken::Completion(completion) => {
                leads.extend(tokens.iter().map(|&token| (token, Arc::clone(&completion))));
                allowed.extend(tokens);
            }
        }
    }
    if are_all {
        return Ok(Some((Arc::clone(plain), leads)));
    }
    allowed.extend(ends(m)?);
    Ok(Some((Arc::new(TokenMask::of(&allowed, m.compiled.vocabulary().width())), leads)))
}

/// The distances to the end, first in tokens, then in bytes, where bounds of parts matter.
pub(super) fn bounded_distances(m: &mut Matcher) -> Result<(Distance, Distance)> {
    let Some(completion) = bounded_completion(m, 0)? else {
        return Ok((Distance::Unknown, Distance::Unknown));
    };
    let mut ahead = m.clone();
    accept_some(&mut ahead, &completion)?;
    let bytes = ahead.path.byte_count() - m.path.byte_count();
    // bounds only remove completions, so a lower bound without them still holds
    let (least_tokens, least_bytes) = m.with_lock(|locked, at| {
        let (automaton, index) = (locked.compiled.automaton(), locked.compiled.index());
        let known = locked.cache.completion(automaton, index, at, Effort::All)?;
        Ok((known.least_tokens, known.bytes))
    })?;
    let tokens = match completion.len() {
        tokens if tokens <= least_tokens => Distance::Exact(tokens),
        tokens => Distance::AtMost(tokens),
    };
    let bytes = match least_bytes {
        Distance::Exact(least) if bytes <= least => Distance::Exact(bytes),
        _ => Distance::AtMost(bytes),
    };
    Ok((tokens, bytes))
}

impl Locked<'_> {
    fn piece_of(
        &mut self,
        readings: &[BoundedReading],
        effort: Effort,
        leaves: bool,
    ) -> Result<Option<Piece>> {
        if readings.iter().any(|reading| reading.at.is_accepting()) {
            return Ok(Some(Piece::End));
        }
        if leaves && readings.iter().all(|reading| reading.open.is_some()) {
            let ways = readings.iter().filter_map(|reading| reading.open.as_ref());
            let shortest = ways.map(|open| open.way_left()).min_by_key(|way| way.len());
            return Ok(shortest.map(|way| Piece::WayOut(way.into())));
        }
        let (automaton, index) = (self.compiled.automaton(), self.compiled.index());
        let mut shortest: Option<Arc<[TokenId]>> = None;
        for reading in readings.iter().filter(|reading| !leaves || reading.open.is_none()) {
            let at = self.cache.id(reading.at)?;
            let known = self.cache.completion(automaton, index, at, effort)?;
            if let Some(completion) = known.completions(effort).next()
                && shortest.as_ref().is_none_or(|shortest| completion.len() < shortest.len())
            {
                shortest = Some(Arc::clone(completion));
            }
        }
        Ok(shortest.map(Piece::Rest))
    }

    /// The tokens of a mask, grouped by the configurations that they lead to in each reading and by the names they
    /// contain.
    fn classes(&mut self, readings: &[BoundedReading], plain: &TokenMask) -> Result<Vec<Class>> {
        let plain = plain.to_bits();
        let trie = self.compiled.vocabulary().trie();
        let mut in_names: FxHashSet<usize> = FxHashSet::default();
        let mut places: FxHashMap<TokenId, Vec<(usize, usize)>> = FxHashMap::default();
        for (number, reading) in readings.iter().enumerate() {
            let from = self.cache.id(reading.at)?;
            let groups = self.part_groups(from)?;
            for (group, (_, tokens)) in groups.iter().enumerate() {
                let others = match tokens {
                    None => self.other_tokens(from, &groups)?,
                    Some(_) => Vec::new(),
                };
                for &token in tokens.as_ref().unwrap_or(&others).iter().filter(|token| plain[token.index()]) {
                    places.entry(token).or_default().push((number, group));
                }
            }
            // only the next token of the way out is known to follow it
            if let Some(next) = reading.open.as_ref().and_then(|open| open.way_left().first()) {
                places.entry(*next).or_default().push((number, usize::MAX));
            }
        }
        if self.compiled.automaton().has_names() {
            let at = self.path.find(self.compiled, self.cache)?;
            let from = self.cursor(self.cache.id(at)?);
            let (groups, _) =
                self.groups(trie, from, Self::step, |token| plain[token.index()], usize::MAX)?;
            for (group, Alike { at, tokens }) in groups.into_iter().enumerate() {
                if at.key_state.in_name().is_some() {
                    in_names.insert(group);
                }
                for token in tokens {
                    places.entry(token).or_default().push((NAMES, group));
                }
            }
        }
        let mut by_places: Vec<(Vec<(usize, usize)>, TokenId)> =
            places.into_iter().map(|(token, places)| (places, token)).collect();
        by_places.sort_unstable();
        let classes = by_places.chunk_by(|a, b| a.0 == b.0);
        let is_in_name = |class: &[(Vec<(usize, usize)>, TokenId)]| {
            class[0].0.iter().any(|(number, group)| *number == NAMES && in_names.contains(group))
        };
        let class = |class: &[(Vec<(usize, usize)>, TokenId)]| Class {
            is_in_name: is_in_name(class),
            tokens: class.iter().map(|(_, token)| *token).collect(),
        };
        Ok(classes.map(class).collect())
    }
}
