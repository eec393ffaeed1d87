//! Steps over tokens and bytes that the grammar may reject. A rejection is a return value here, not an error with an
//! explanation. Known results are read without a lock, others are computed under the engine's lock.

use super::open_parts::Parts;
use super::path::{Destination, Path};
use super::promises::Promises;
use super::state::{self, Matcher};
use super::{errors, explored, keys, parts};
use crate::automaton::Facts;
use crate::error::Result;
use crate::mask::{CompiledGrammar, NameEnds};
use crate::vocabulary::TokenId;
use std::sync::Arc;

pub(super) fn try_accept(m: &mut Matcher, token: TokenId) -> Result<bool> {
    let steps = m.path.step_count();
    let taken = step_by(m, token)?;
    if taken {
        m.promises.took(steps, Some(token));
    }
    Ok(taken)
}

pub(super) fn accept_tokens(m: &mut Matcher, tokens: &[TokenId]) -> Result<usize> {
    let mut ahead = m.clone();
    for (count, &token) in tokens.iter().enumerate() {
        if !try_accept(&mut ahead, token)? {
            *m = ahead;
            return Ok(count);
        }
    }
    *m = ahead;
    Ok(tokens.len())
}

pub(super) fn validate_tokens(m: &Matcher, tokens: &[TokenId]) -> Result<usize> {
    accept_tokens(&mut m.clone(), tokens)
}

pub(super) fn accepts_prefix(m: &mut Matcher, bytes: &[u8]) -> Result<bool> {
    if m.path.has_ended() {
        return Ok(false);
    }
    if state::is_bounded(m) {
        return step_over(&mut m.clone(), bytes);
    }
    match known_run(&m.compiled, &m.path, bytes) {
        Some((None, _)) => return Ok(false),
        Some((Some(_), names)) if names.is_empty() && m.path.key_state().is_outside() => {
            return Ok(true);
        }
        _ => {}
    }
    step_over(&mut m.clone(), bytes)
}

pub(super) fn try_accept_bytes(m: &mut Matcher, bytes: &[u8]) -> Result<bool> {
    let steps = m.path.step_count();
    let took = step_over(m, bytes)?;
    if took {
        m.promises.took(steps, None);
    }
    Ok(took)
}

/// Accepts a token if it is allowed, without updating the completions carried along. Returns whether it was
/// accepted.
fn step_by(m: &mut Matcher, token: TokenId) -> Result<bool> {
    if !state::is_bounded(m) {
        return step_unbounded(m, token);
    }
    let vocabulary = std::sync::Arc::clone(m.compiled.vocabulary());
    let bytes = vocabulary.bytes(token);
    parts::step_bounded(m, bytes, Some(token), |matcher| step_unbounded(matcher, token))
}

/// Like `step_by`, ignoring bounds of parts.
fn step_unbounded(m: &mut Matcher, token: TokenId) -> Result<bool> {
    let is_eos = m.compiled.is_end(token);
    if m.compiled.automaton().has_terminals() && has_token_edges(m)? {
        if explored::accept_by_id(&m.compiled, &mut m.path, token) {
            return Ok(true);
        }
        return Ok(
            m.with_lock(|locked, at| locked.accept_token(at, token))? || is_eos && state::accept_end(m)
        );
    }
    if is_eos {
        return Ok(state::accept_end(m));
    }
    let vocabulary = m.compiled.vocabulary();
    let Some(bytes) = vocabulary.bytes(token) else { return Ok(false) };
    if accept_known(&m.compiled, &mut m.path, bytes) {
        return Ok(true);
    }
    // the clone keeps the bytes alive while the matcher is borrowed for the lock; the cases above do not need it
    let vocabulary = std::sync::Arc::clone(vocabulary);
    match vocabulary.bytes(token) {
        Some(bytes) => step_over_unbounded(m, bytes),
        None => Ok(false),
    }
}

/// Whether token edges leave the configuration: a token terminal may come next. False after the end.
pub(super) fn has_token_edges(m: &mut Matcher) -> Result<bool> {
    Ok(!m.path.has_ended() && facts(m)?.has_tokens)
}

/// Accepts a token if token edges take it, ignoring bounds of parts. Returns whether token edges took it.
pub(super) fn takes_by_id(m: &mut Matcher, token: TokenId) -> Result<bool> {
    if !has_token_edges(m)? {
        return Ok(false);
    }
    let mut ahead = m.clone();
    let took = ahead.with_lock(|locked, at| locked.accept_token(at, token))? && ahead.path.came_by_id();
    if took {
        *m = ahead;
    }
    Ok(took)
}

/// Accepts bytes as one step if they are allowed, without updating the completions carried along. Returns whether
/// they were accepted.
pub(super) fn step_over(m: &mut Matcher, bytes: &[u8]) -> Result<bool> {
    match state::is_bounded(m) && !m.path.has_ended() {
        true => parts::step_bounded(m, Some(bytes), None, |matcher| step_over_unbounded(matcher, bytes)),
        false => step_over_unbounded(m, bytes),
    }
}

/// Like `step_over`, ignoring bounds of parts.
pub(super) fn step_over_unbounded(m: &mut Matcher, bytes: &[u8]) -> Result<bool> {
    Ok(!m.path.has_ended()
        && (accept_known(&m.compiled, &mut m.path, bytes)
            || m.with_lock(|locked, at| locked.accept(at, bytes))?))
}

pub(super) fn rollback(m: &mut Matcher, steps: usize) -> Result<()> {
    if steps > m.path.step_count() {
        return Err(errors::rollback_too_far(steps, m.path.step_count()));
    }
    m.path.pop(steps);
    m.promises.rolled_back(m.path.step_count());
    m.parts.rolled_back(m.path.step_count());
    Ok(())
}

pub(super) fn reset(m: &mut Matcher) {
    m.path = m.path.emptied();
    m.promises = Promises::default();
    m.parts = Parts::default();
}

/// The facts about the configuration after the last step, from the mask file, the published tables or the engine.
pub(super) fn facts(m: &mut Matcher) -> Result<Facts> {
    if let Some(facts) = explored::facts(&m.compiled, &m.path) {
        return Ok(facts);
    }
    let snapshot = m.compiled.snapshot();
    match snapshot.facts(m.path.at()) {
        Some(facts) => Ok(facts),
        None => m.with_lock(|locked, at| Ok(locked.cache.tables.transitions().facts(at))),
    }
}

pub(super) fn is_token_allowed(m: &mut Matcher, token: TokenId) -> Result<bool> {
    if m.path.has_ended() {
        return Ok(false);
    }
    if state::is_bounded(m) || m.compiled.automaton().has_terminals() && has_token_edges(m)? {
        return try_accept(&mut m.clone(), token);
    }
    let vocabulary = Arc::clone(m.compiled.vocabulary());
    if m.compiled.is_end(token) {
        return Ok(state::is_accepting(m));
    }
    let Some(bytes) = vocabulary.bytes(token) else { return Ok(false) };
    if m.path.key_state().is_outside() {
        let known = known_run(&m.compiled, &m.path, bytes);
        if let Some((end, names)) = known
            && (end.is_none() || names.is_empty())
        {
            return Ok(end.is_some());
        }
    }
    m.with_lock(|locked, at| locked.run(locked.cursor(at), bytes).map(|end| end.is_some()))
}

/// Whether a token is an end-of-sequence token that ends the text here. If token edges take the token, the text may
/// continue instead.
pub(super) fn ends_text(m: &mut Matcher, token: TokenId) -> Result<bool> {
    let mut ahead = m.clone();
    Ok(m.compiled.is_end(token) && try_accept(&mut ahead, token)? && ahead.path.has_ended())
}

/// Follows bytes from the end of a path without the engine's lock, ignoring names read so far. Returns `None` if the
/// result is not known. Otherwise returns the destination, which is `None` if the bytes are not allowed, and the
/// indices of the bytes that end names.
pub(super) fn known_run(
    compiled: &CompiledGrammar,
    path: &Path,
    bytes: &[u8],
) -> Option<(Option<Destination>, NameEnds)> {
    if let Some(run) = explored::run(compiled, path, bytes) {
        return Some(run);
    }
    let snapshot = compiled.snapshot();
    let (end, names) = snapshot.run(compiled.automaton(), path.at(), bytes)?;
    let reached = (!end.is_dead()).then(|| Destination { at: end, base: snapshot.base_state(end) });
    Some((reached, names))
}

/// Accepts bytes as one step if their destination is known without the engine's lock. If the result is false, the
/// engine may still accept the bytes.
pub(super) fn accept_known(compiled: &CompiledGrammar, path: &mut Path, bytes: &[u8]) -> bool {
    if path.has_ended() {
        return false;
    }
    let Some((Some(end), names)) = known_run(compiled, path, bytes) else { return false };
    let key_state = path.key_state();
    let key_state = match key_state.is_outside() && names.is_empty() {
        true => Some(key_state),
        false => keys::place_after(compiled, path, bytes, &names),
    };
    if let Some(key_state) = key_state {
        path.push(bytes, end, key_state);
    }
    key_state.is_some()
}
