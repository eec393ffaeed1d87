//! Jump-forward: bytes and tokens that every completion begins with.

use super::Matcher;
use crate::error::Result;
use crate::grammar::ByteSet;
use crate::vocabulary::TokenId;

/// No more forced bytes than this are looked for at a time.
const MOST_FORCED: usize = 1 << 16;

impl Matcher {
    /// The longest byte string (65,536 bytes at most) that every completion begins with. Empty where the
    /// text may end or where more than one byte may come.
    ///
    /// # Errors
    /// Limits.
    pub fn forced_bytes(&mut self) -> Result<Vec<u8>> {
        if self.has_ended() {
            return Ok(Vec::new());
        }
        self.with_engine(|with, at| {
            let automaton = with.compiled.automaton();
            let mut at = with.cursor(at);
            let mut forced = Vec::new();
            while !with.engine.tables.is_accepting(at.configuration) && forced.len() < MOST_FORCED {
                let candidates = with.engine.tables.candidate_bytes(automaton, at.configuration);
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
        let vocabulary = self.compiled.vocabulary();
        let trie = vocabulary.trie();
        let mut tokens = Vec::new();
        let mut rest = forced.as_slice();
        while let Some((token, length)) = trie.longest_prefix(rest) {
            let mut node = Some(trie.root());
            for &byte in rest {
                node = node.and_then(|node| trie.child(node, byte));
            }
            let may_reach_past = node.is_some_and(|node| !trie.children(node).is_empty());
            if may_reach_past && !nothing_follows {
                break;
            }
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
        if self.has_ended() {
            return Ok(ByteSet::EMPTY);
        }
        self.with_engine(|with, at| {
            let mut allowed = ByteSet::EMPTY;
            let at = with.cursor(at);
            for byte in with.engine.tables.candidate_bytes(with.compiled.automaton(), at.configuration).iter()
            {
                if with.step(at, &[], byte)?.is_some() {
                    allowed.insert(byte);
                }
            }
            Ok(allowed)
        })
    }
}
