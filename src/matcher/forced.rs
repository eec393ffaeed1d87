//! Jump-forward: bytes and tokens that every completion begins with.

use super::Matcher;
use crate::error::Result;
use crate::grammar::ByteSet;
use crate::vocabulary::TokenId;

/// No more forced bytes than this are looked for at a time.
const MOST_FORCED: usize = 1 << 16;

/// To split forced bytes into tokens, this many bytes are read at most for each of them.
const MOST_READ: usize = 256;

impl Matcher {
    /// The longest byte string (65,536 bytes at most) that every completion begins with. Empty where the
    /// text may end or where more than one byte may come.
    ///
    /// # Errors
    /// Limits.
    pub fn forced_bytes(&mut self) -> Result<Vec<u8>> {
        if self.path.has_ended() {
            return Ok(Vec::new());
        }
        self.with_cache(|with, at| {
            let automaton = with.compiled.automaton();
            let mut at = with.cursor(at);
            let mut forced = Vec::new();
            while !with.cache.tables.is_accepting(at.configuration) && forced.len() < MOST_FORCED {
                let candidates = with.cache.lazy(automaton).candidate_bytes(at.configuration);
                let mut only = None;
                for byte in candidates.iter() {
                    let next = with.step(at, &forced, byte)?;
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

    /// Tokens that spell the beginning of the [forced bytes](Matcher::forced_bytes), each the longest that
    /// fits. Where a longer token might reach past the forced bytes, the choice is left to the model: the
    /// list ends before it, so no tokenisation that a model would prefer is cut off. The tokens are not
    /// accepted.
    ///
    /// # Errors
    /// Limits.
    pub fn forced_tokens(&mut self) -> Result<Vec<TokenId>> {
        let forced = self.forced_bytes()?;
        let mut ahead = self.fork();
        ahead.accept_bytes(&forced)?;
        let nothing_follows = ahead.is_finished()?;
        let trie = self.compiled.vocabulary().trie();
        let mut tokens = Vec::new();
        let mut rest = forced.as_slice();
        // a vocabulary of tokens that go on alike for long would make the list quadratic; it may end anywhere
        let mut bytes_left = MOST_READ.saturating_mul(1 + forced.len());
        loop {
            let (mut node, mut longest, mut read) = (trie.root(), None, 0);
            while let Some(child) = rest.get(read).and_then(|&byte| trie.child(node, byte)) {
                (node, read) = (child, read + 1);
                longest = trie.tokens(node).first().map(|&token| (token, read)).or(longest);
            }
            let may_reach_past = read == rest.len() && !trie.children(node).is_empty();
            let Some((token, length)) = longest else { break };
            if read > bytes_left || may_reach_past && !nothing_follows {
                break;
            }
            bytes_left -= read;
            tokens.push(token);
            rest = &rest[length..];
        }
        Ok(tokens)
    }

    /// The bytes that may come next.
    ///
    /// # Errors
    /// Limits.
    pub fn allowed_bytes(&mut self) -> Result<ByteSet> {
        if self.path.has_ended() {
            return Ok(ByteSet::EMPTY);
        }
        self.with_cache(|with, at| {
            let mut allowed = ByteSet::EMPTY;
            let at = with.cursor(at);
            for byte in with.cache.lazy(with.compiled.automaton()).candidate_bytes(at.configuration).iter() {
                if with.step(at, &[], byte)?.is_some() {
                    allowed.insert(byte);
                }
            }
            Ok(allowed)
        })
    }
}
