//! Jump-forward: bytes and tokens that every completion begins with.

use super::keys::Cursor;
use super::matcher::{Locked, Matcher};
use crate::error::Result;
use crate::grammar::ByteSet;
use crate::vocabulary::TokenId;

/// Maximum number of forced bytes returned. Forced tokens are no longer extended once there are this many.
const MOST_FORCED: usize = 1 << 16;

/// Maximum number of bytes read, per forced byte plus one, to split forced bytes into tokens.
const MOST_READ: usize = 256;

impl Matcher {
    /// The longest byte string (at most 65,536 bytes) that every completion begins with. It is empty if the text may
    /// end or has ended, if more than one byte or a token of a token terminal may come next, or if a part [bounded in
    /// tokens](crate::grammar::GrammarBuilder::max_tokens) is open or may follow.
    ///
    /// # Errors
    /// `limit/exceeded` if a limit such as `mask_work` or `cache_bytes` is exceeded.
    pub fn forced_bytes(&mut self) -> Result<Vec<u8>> {
        // a bounded part may not have enough tokens left for the bytes that its grammar forces
        if self.path.has_ended() || self.is_bounded() {
            return Ok(Vec::new());
        }
        self.with_lock(|locked, at| {
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

    /// Tokens that spell a prefix of the [forced bytes](Matcher::forced_bytes), each the longest that fits, and tokens
    /// of token terminals if nothing else may come. If a longer token might reach beyond the forced bytes, the list
    /// ends before it, so that the model is free to choose its preferred tokenisation. The list may also end early to
    /// bound the work, and is empty if a part bounded in tokens is open or may follow. The tokens are not accepted.
    ///
    /// # Errors
    /// `limit/exceeded` if a limit such as `mask_work` or `cache_bytes` is exceeded.
    pub fn forced_tokens(&mut self) -> Result<Vec<TokenId>> {
        if self.is_bounded() {
            return Ok(Vec::new());
        }
        let has_terminals = self.compiled.automaton().has_terminals();
        let mut ahead = self.fork();
        let mut tokens = Vec::new();
        while tokens.len() < MOST_FORCED && !ahead.path.has_ended() {
            let forced = ahead.forced_bytes()?;
            let is_whole = ahead.spell_forced(&forced, &mut tokens)?;
            if !has_terminals || !is_whole {
                break;
            }
            ahead.accept_bytes(&forced)?;
            let Some(token) = ahead.forced_terminal()? else { break };
            ahead.accept_token(token)?;
            tokens.push(token);
        }
        Ok(tokens)
    }

    /// The only token that may come next, if it is a token of a token terminal, the text may not end, and no byte may
    /// come next.
    fn forced_terminal(&mut self) -> Result<Option<TokenId>> {
        if !self.has_token_edges()? || self.is_accepting() || !self.allowed_bytes()?.is_empty() {
            return Ok(None);
        }
        self.with_lock(|locked, at| {
            let terminals = locked.cache.lazy(locked.compiled.automaton()).terminals(at);
            let mut tokens = terminals.iter().map(|&terminal| locked.compiled.terminals().only(terminal));
            let first = tokens.next().flatten();
            Ok(first.filter(|_| tokens.all(|token| token == first)))
        })
    }

    /// Appends the tokens that spell forced bytes, up to the first choice; returns whether they spell all of them.
    fn spell_forced(&self, forced: &[u8], tokens: &mut Vec<TokenId>) -> Result<bool> {
        let mut ahead = self.fork();
        ahead.accept_bytes(forced)?;
        // at a token edge no longer token can follow
        let nothing_follows = ahead.is_finished()
            || self.compiled.automaton().has_terminals() && ahead.allowed_bytes()?.is_empty();
        let trie = self.compiled.vocabulary().trie();
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

    /// Whether the next mask is not known yet and is likely to allow several tokens: two different bytes may come next.
    /// Computing such a mask may take long. It can be computed while a language model runs, because no token is forced.
    /// False after the end.
    ///
    /// # Errors
    /// `limit/exceeded` if a limit such as `mask_work` or `cache_bytes` is exceeded.
    pub fn mask_takes_work(&mut self) -> Result<bool> {
        if self.path.has_ended() || self.knows_mask() {
            return Ok(false);
        }
        self.with_lock(|locked, at| {
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

    /// The bytes that may come next, ignoring bounds of parts in tokens. Empty after the end.
    ///
    /// # Errors
    /// `limit/exceeded` if a limit such as `mask_work` or `cache_bytes` is exceeded.
    pub fn allowed_bytes(&mut self) -> Result<ByteSet> {
        if self.path.has_ended() {
            return Ok(ByteSet::EMPTY);
        }
        self.with_lock(|locked, at| {
            let mut allowed = ByteSet::EMPTY;
            let at = locked.cursor(at);
            for byte in
                locked.cache.lazy(locked.compiled.automaton()).candidate_bytes(at.configuration).iter()
            {
                if locked.step(at, &[], byte)?.is_some() {
                    allowed.insert(byte);
                }
            }
            Ok(allowed)
        })
    }
}
