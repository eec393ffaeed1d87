//! Jump-forward: bytes and tokens that every completion begins with.

use super::keys::Cursor;
use super::state::{self, Locked, Matcher};
use super::{masks, refusals, steps};
use crate::error::Result;
use crate::grammar::ByteSet;
use crate::vocabulary::TokenId;

/// Maximum number of forced bytes returned. Forced tokens are no longer extended once there are this many.
const MOST_FORCED: usize = 1 << 16;

/// Maximum number of bytes read, per forced byte plus one, to split forced bytes into tokens.
const MOST_READ: usize = 256;

pub(super) fn forced_bytes(m: &mut Matcher) -> Result<Vec<u8>> {
    // a bounded part may not have enough tokens left for the bytes that its grammar forces
    if m.path.has_ended() || state::is_bounded(m) {
        return Ok(Vec::new());
    }
    m.with_lock(|locked, at| {
        let automaton = locked.compiled.automaton();
        let mut at = locked.cursor(at);
        let mut forced = Vec::new();
        let may_branch = |locked: &Locked<'_>, at: Cursor| {
            let transitions = locked.cache.tables.transitions();
            transitions.is_accepting(at.configuration) || transitions.has_tokens(at.configuration)
        };
        while !may_branch(locked, at) && forced.len() < MOST_FORCED {
            let candidates = locked.cache.lazy(automaton).candidate_bytes(at.configuration);
            let mut only = None;
            for byte in candidates.iter() {
                let next = locked.step(at, &forced, byte)?;
                if let Some(next) = next
                    && only.replace((byte, next)).is_some()
                {
                    return Ok(forced);
                }
            }
            let Some((byte, next)) = only else { break };
            forced.push(byte);
            at = next;
        }
        Ok(forced)
    })
}

pub(super) fn forced_tokens(m: &mut Matcher) -> Result<Vec<TokenId>> {
    if state::is_bounded(m) {
        return Ok(Vec::new());
    }
    let has_terminals = m.compiled.automaton().has_terminals();
    let mut ahead = m.clone();
    let mut tokens = Vec::new();
    while tokens.len() < MOST_FORCED && !ahead.path.has_ended() {
        let forced = forced_bytes(&mut ahead)?;
        let is_whole = spell_forced(&ahead, &forced, &mut tokens)?;
        if !has_terminals || !is_whole {
            break;
        }
        refusals::accept_bytes(&mut ahead, &forced)?;
        let Some(token) = forced_terminal(&mut ahead)? else { break };
        refusals::accept_token(&mut ahead, token)?;
        tokens.push(token);
    }
    Ok(tokens)
}

/// The only token that may come next, if it is a token of a token terminal, the text may not end, and no byte may
/// come next.
fn forced_terminal(m: &mut Matcher) -> Result<Option<TokenId>> {
    if !steps::has_token_edges(m)? || state::is_accepting(m) || !allowed_bytes(m)?.is_empty() {
        return Ok(None);
    }
    m.with_lock(|locked, at| {
        let terminals = locked.cache.lazy(locked.compiled.automaton()).terminals(at);
        let mut tokens = terminals.iter().map(|&terminal| locked.compiled.terminals().only(terminal));
        let first = tokens.next().flatten();
        Ok(first.filter(|_| tokens.all(|token| token == first)))
    })
}

/// Appends the tokens that spell forced bytes, up to the first choice; returns whether they spell all of them.
fn spell_forced(m: &Matcher, forced: &[u8], tokens: &mut Vec<TokenId>) -> Result<bool> {
    let mut ahead = m.clone();
    refusals::accept_bytes(&mut ahead, forced)?;
    // at a token edge no longer token can follow
    let nothing_follows = state::is_finished(&ahead)
        || m.compiled.automaton().has_terminals() && allowed_bytes(&mut ahead)?.is_empty();
    let trie = m.compiled.vocabulary().trie();
    let mut rest = forced;
    // bounds the work for vocabularies with many long common prefixes, where it would be quadratic; the list may
    // end anywhere
    let mut bytes_left = MOST_READ.saturating_mul(1 + forced.len());
    while !rest.is_empty() {
        let (mut node, mut longest, mut read) = (trie.root(), None, 0);
        while let Some(child) = rest.get(read).and_then(|&byte| trie.child(node, byte)) {
            (node, read) = (child, read + 1);
            longest = trie.tokens(node).first().map(|&token| (token, read)).or(longest);
        }
        let may_reach_past = read == rest.len() && trie.children(node).len() > 0;
        let Some((token, length)) = longest else { break };
        if read > bytes_left || may_reach_past && !nothing_follows {
            break;
        }
        bytes_left -= read;
        tokens.push(token);
        rest = &rest[length..];
    }
    Ok(rest.is_empty())
}

pub(super) fn greedy_forced_tokens(m: &mut Matcher) -> Result<Vec<TokenId>> {
    let forced = forced_bytes(m)?;
    let trie = m.compiled.vocabulary().trie();
    let ends = m.compiled.end_tokens();
    let is_text = |token: &&TokenId| !ends.contains(token);
    let mut tokens = Vec::new();
    let mut rest = &forced[..];
    // the list may end anywhere; see `spell_forced`
    let mut bytes_left = MOST_READ.saturating_mul(1 + forced.len());
    let mut last = trie.root();
    while !rest.is_empty() {
        let (mut node, mut longest, mut read) = (trie.root(), None, 0);
        while let Some(child) = rest.get(read).and_then(|&byte| trie.child(node, byte)) {
            (node, read) = (child, read + 1);
            longest = trie.tokens(node).iter().find(is_text).map(|&token| (token, read, node)).or(longest);
        }
        let Some((token, length, end)) = longest.filter(|_| read <= bytes_left) else { break };
        bytes_left -= read;
        tokens.push(token);
        last = end;
        rest = &rest[length..];
    }
    if !tokens.is_empty() && trie.tokens_below(last).iter().any(|token| is_text(&token)) {
        tokens.pop();
    }
    Ok(tokens)
}

pub(super) fn mask_takes_work(m: &mut Matcher) -> Result<bool> {
    if m.path.has_ended() || masks::knows_mask(m) {
        return Ok(false);
    }
    m.with_lock(|locked, at| {
        let at = locked.cursor(at);
        let candidates = locked.cache.lazy(locked.compiled.automaton()).candidate_bytes(at.configuration);
        let mut allowed = 0;
        for byte in candidates.iter() {
            allowed += usize::from(locked.step(at, &[], byte)?.is_some());
            if allowed > 1 {
                return Ok(true);
            }
        }
        Ok(false)
    })
}

pub(super) fn allowed_bytes(m: &mut Matcher) -> Result<ByteSet> {
    if m.path.has_ended() {
        return Ok(ByteSet::EMPTY);
    }
    m.with_lock(|locked, at| {
        let mut allowed = ByteSet::EMPTY;
        let at = locked.cursor(at);
        for byte in locked.cache.lazy(locked.compiled.automaton()).candidate_bytes(at.configuration).iter() {
            if locked.step(at, &[], byte)?.is_some() {
                allowed.insert(byte);
            }
        }
        Ok(allowed)
    })
}
