//! Walks of the trie in memory order.
//!
//! If many bytes are possible, most of the trie is walked, and the cost is that of reading memory. The nodes are stored
//! in preorder, so a sweep visits them in memory order. For the path to the current node only the configurations are
//! kept.

use super::Walk;
use super::collected::{Collected, EnteredString, TrieScope};
use crate::automaton::{ConfigurationId, Dense};
use crate::error::Result;
use crate::mask::tuning::{LEVEL_SLOTS, SWEEP_BYTES, SWEEP_DEPTH, SWEEP_NODES, TOKENS_AFTER_QUOTE};
use crate::token_index::loops::TrieId;
use crate::token_index::tuning::LARGE_SUBTREE;
use crate::vocabulary::{EndingTokens, Node, TokenTrie};
use rustc_hash::FxHashMap;

/// A configuration with its successors, after which at least [`SWEEP_BYTES`] bytes are possible.
#[derive(Clone, Copy, Debug)]
pub(in crate::mask) struct WideConfiguration<'a> {
    /// The successors of the configuration, by byte.
    row: Dense<'a>,
    configuration: ConfigurationId,
    is_accepting: bool,
}

/// The configurations looked up so far.
#[derive(Debug, Default)]
pub(in crate::mask) struct WideConfigurations<'a> {
    /// Configurations after which many bytes are possible; `None` for others.
    known: FxHashMap<ConfigurationId, Option<WideConfiguration<'a>>>,
    /// A small cache: the last wide configuration that was looked up, for each value of the low bits of the id.
    at_hand: Vec<Option<WideConfiguration<'a>>>,
    /// A reused buffer for a path.
    path: Vec<WideConfiguration<'a>>,
}

impl<'a> Walk<'a> {
    /// The configuration to sweep the subtree of a node with; `None` if a sweep does not pay off, because the subtree
    /// is small or too deep, or few bytes are possible.
    pub(in crate::mask) fn level(
        &mut self,
        trie: &TokenTrie,
        node: u32,
        configuration: ConfigurationId,
    ) -> Option<WideConfiguration<'a>> {
        let known = &trie.nodes()[node as usize];
        match known.end - node >= SWEEP_NODES && known.depth < Node::DEEP - 1 {
            true => self.wide(configuration),
            false => None,
        }
    }

    /// The configuration with its successors, if at least [`SWEEP_BYTES`] bytes are possible.
    pub(in crate::mask) fn wide(&mut self, configuration: ConfigurationId) -> Option<WideConfiguration<'a>> {
        let place = configuration.index() % LEVEL_SLOTS;
        if let Some(&Some(at_hand)) = self.levels.at_hand.get(place)
            && at_hand.configuration == configuration
        {
            return Some(at_hand);
        }
        let level = match self.levels.known.get(&configuration) {
            Some(known) => *known,
            None => self.new_level(configuration),
        };
        if level.is_some() {
            self.levels.at_hand.resize(LEVEL_SLOTS, None);
            self.levels.at_hand[place] = level;
        }
        level
    }

    fn new_level(&mut self, configuration: ConfigurationId) -> Option<WideConfiguration<'a>> {
        let is_wide = self.lazy.candidate_bytes(configuration).len() >= SWEEP_BYTES;
        let row = if is_wide { self.row(configuration) } else { None };
        let is_accepting = self.lazy.is_accepting(configuration);
        let level = row.map(|row| WideConfiguration { row, configuration, is_accepting });
        self.levels.known.insert(configuration, level);
        level
    }

    /// The configuration after a byte.
    #[inline]
    pub(in crate::mask) fn step_on(
        &mut self,
        at: &WideConfiguration<'a>,
        byte: u8,
    ) -> Result<ConfigurationId> {
        match at.row.step(self.lazy.automaton, byte) {
            Some(known) => Ok(known),
            None => self.step(at.configuration, byte),
        }
    }

    /// The configuration after a byte. `level` is the configuration `at` with its successors, if they are available.
    #[inline]
    pub(in crate::mask) fn step_from(
        &mut self,
        at: ConfigurationId,
        level: Option<&WideConfiguration<'a>>,
        byte: u8,
    ) -> Result<ConfigurationId> {
        match level {
            Some(level) => self.step_on(level, byte),
            None => self.step(at, byte),
        }
    }

    /// Adds the allowed tokens that end below a node, given the configuration at the node. Nodes where few bytes are
    /// possible are queued instead.
    pub(in crate::mask) fn sweep(
        &mut self,
        trie: (TrieId, &TokenTrie),
        node: u32,
        level: WideConfiguration<'a>,
        out: &mut Collected,
    ) -> Result<()> {
        let mut path = std::mem::take(&mut self.levels.path);
        path.resize(SWEEP_DEPTH, level);
        path[0] = level;
        let done = self.sweep_along(&mut path, trie, node, out);
        self.levels.path = path;
        done
    }

    /// The sweep itself. `path` has room for the configurations on a path by depth, starting with that of the node.
    /// Entries deeper than the current node are those of earlier nodes: siblings often lead to the same configuration.
    fn sweep_along(
        &mut self,
        path: &mut [WideConfiguration<'a>],
        (id, trie): (TrieId, &TokenTrie),
        node: u32,
        out: &mut Collected,
    ) -> Result<()> {
        let (automaton, nodes) = (self.lazy.automaton, trie.nodes());
        let Node { depth: top, end, .. } = nodes[node as usize];
        let deepest = usize::from(Node::DEEP - 1 - top).min(path.len());
        let path = &mut path[..deepest];
        let is_all = id == TrieId::ALL;
        let mut at = self.take_leaves(trie, node, &path[0], out)?;
        let mut gone = 0;
        while at < end {
            gone += 1;
            let known = &nodes[at as usize];
            let depth = usize::from(known.depth - top);
            let above = &path[depth - 1];
            let next = match above.row.step(automaton, known.byte) {
                Some(next) => next,
                None => {
                    let next = self.step(above.configuration, known.byte)?;
                    if out.limit(&self.lazy).is_some() {
                        break;
                    }
                    next
                }
            };
            if !next.is_ordinary() {
                if next == ConfigurationId::UNKNOWN {
                    out.leave_unknown(trie, at);
                }
                at = known.end;
                continue;
            }
            let tokens = trie.tokens_at(at, known);
            if let EndingTokens::Several(tokens) = tokens {
                out.tokens.extend(tokens);
            } else {
                out.tokens.push_if(matches!(tokens, EndingTokens::One(_)), known.token);
            }
            // rare checks are made only at large subtrees, to keep the loop tight
            let is_large = known.end - at >= LARGE_SUBTREE;
            if is_large && known.byte == b'"' && trie.subtree_tokens(at).len() >= TOKENS_AFTER_QUOTE {
                let scope = TrieScope { trie: id, node: at };
                out.entered.push(EnteredString { scope, configuration: next });
                at = known.end;
                continue;
            }
            if path.get(depth).is_none_or(|level| level.configuration != next) {
                let level = match next == above.configuration {
                    true => Some(*above),
                    false => self.wide(next),
                };
                match (path.get_mut(depth), level) {
                    (Some(place), Some(level)) => *place = level,
                    _ => {
                        self.come_to(id, trie, at, next, out);
                        at = known.end;
                        continue;
                    }
                }
            }
            let level = &path[depth];
            if level.is_accepting {
                out.continue_below(id, trie, at);
            }
            if is_large {
                self.lazy.work.spend(gone as usize)?;
                out.spend(std::mem::take(&mut gone));
                if out.limit(&self.lazy).is_some() {
                    break;
                }
                if out.tokens.is_large() {
                    out.tokens.compact(self.vocabulary.width());
                }
                if is_all && self.accepts_subtree(trie, at, next, out)? {
                    out.tokens.extend(trie.tokens_below(at));
                    at = known.end;
                    continue;
                }
            }
            at = match known.has_leaves() {
                true => self.take_leaves(trie, at, level, out)?,
                false => at + 1,
            };
        }
        out.spend(gone);
        self.lazy.work.spend(gone as usize)
    }

    /// Adds the allowed tokens of the leaves that are stored directly after a node, and returns the node after these
    /// leaves.
    #[inline]
    fn take_leaves(
        &mut self,
        trie: &TokenTrie,
        node: u32,
        level: &WideConfiguration<'a>,
        out: &mut Collected,
    ) -> Result<u32> {
        let (leaves, end) = trie.leaves(node);
        for (leaf, at) in leaves.iter().zip(node + 1..) {
            let next = self.step_on(level, leaf.byte)?;
            if next == ConfigurationId::UNKNOWN {
                out.leave_unknown(trie, at);
            }
            out.tokens.push_if(next.is_ordinary(), leaf.token);
        }
        Ok(end)
    }
}
