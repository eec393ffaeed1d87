//! Walking the trie straight through memory.
//!
//! Where many bytes may come most of the trie is walked, and what that takes is the time that memory needs. The nodes are in
//! preorder, so going through them one after the other is the walk; of the path to each only the configurations are kept.

use super::allowed::Allowed;
use super::walk::{MANY_TOKENS, Walk, add_tokens};
use crate::automaton::{ConfigurationId, Dense};
use crate::error::Result;
use crate::vocabulary::loops::TrieId;
use crate::vocabulary::{Node, TokenTrie};
use smallvec::{SmallVec, smallvec};

/// With so many bytes that may come, a configuration is worth it.
const WIDE: usize = 32;

/// Smaller subtrees are not.
const SMALLEST: u32 = 16;

/// A configuration on the way to a node, and its successors.
#[derive(Clone, Copy)]
pub(super) struct Level<'a> {
    configuration: ConfigurationId,
    row: Dense<'a>,
}

impl<'a> Walk<'a> {
    /// How to go straight through what is below a node, if that is worth it.
    pub(super) fn level(
        &mut self,
        trie: &TokenTrie,
        node: u32,
        configuration: ConfigurationId,
    ) -> Option<Level<'a>> {
        let known = &trie.nodes()[node as usize];
        match known.end - node >= SMALLEST && known.depth < Node::DEEP - 1 {
            true => self.wide(configuration),
            false => None,
        }
    }

    /// The successors of a configuration, if many bytes may come.
    fn wide(&mut self, configuration: ConfigurationId) -> Option<Level<'a>> {
        if let Some(known) = self.wide.get(&configuration) {
            return known.map(|row| Level { configuration, row });
        }
        let is_wide = self.tables.candidate_bytes(self.automaton, configuration).len() >= WIDE;
        let row = if is_wide { self.row(configuration) } else { None };
        self.wide.insert(configuration, row);
        row.map(|row| Level { configuration, row })
    }

    /// Adds the tokens that end below a node and are allowed, where a configuration is reached at the node. Where few bytes
    /// may come, nodes are left for later.
    pub(super) fn sweep(
        &mut self,
        (id, trie): (TrieId, &TokenTrie),
        node: u32,
        level: Level<'a>,
        allowed: &mut Allowed,
    ) -> Result<()> {
        let nodes = trie.nodes();
        let top = nodes[node as usize].depth;
        let end = nodes[node as usize].end;
        // by depth; below that of a node, those of the nodes before it: siblings often lead to the same configuration
        let mut levels: SmallVec<[Level<'a>; 24]> = smallvec![level];
        let mut at = node + 1;
        while at < end {
            let known = &nodes[at as usize];
            let depth = usize::from(known.depth - top);
            let above = levels[depth - 1];
            let next = match above.row.step(self.automaton, known.byte) {
                Some(next) => next,
                None => self.step(above.configuration, known.byte)?,
            };
            if next <= ConfigurationId::UNSURE {
                if next == ConfigurationId::UNSURE {
                    self.leave_unsure(id, at);
                }
                at = known.end;
                continue;
            }
            add_tokens(trie.tokens_at(at, known), allowed);
            at += 1;
            if known.end == at {
                continue;
            }
            let node = at - 1;
            if known.byte == b'"' && trie.subtree_tokens(node).len() >= MANY_TOKENS {
                self.entered.push((id, node, next));
                at = known.end;
                continue;
            }
            self.return_below(id, trie, node, next);
            if self.is_over() {
                return Ok(());
            }
            let level = match levels.get(depth) {
                _ if next == above.configuration => Some(above),
                Some(&before) if next == before.configuration => Some(before),
                _ => self.wide(next),
            };
            match level.filter(|_| known.depth < Node::DEEP - 1) {
                Some(level) => {
                    if id == TrieId::ALL && self.takes_whole(trie, node, next)? {
                        allowed.extend(trie.tokens_below(node));
                        at = known.end;
                    } else {
                        levels.truncate(depth);
                        levels.push(level);
                    }
                }
                None => {
                    self.leave_for_later(node, next);
                    at = known.end;
                }
            }
            if allowed.are_many() {
                allowed.settle(self.vocabulary.width());
            }
        }
        Ok(())
    }
}
