//! Walking a token trie and the automaton in lockstep.

use super::allowed::Allowed;
use crate::automaton::{Automaton, ConfigurationId, Tables};
use crate::error::Result;
use crate::vocabulary::loops::TrieId;
use crate::vocabulary::{TokenTrie, Vocabulary};

/// With so many children or fewer, a trie node's children are tried one by one.
const FEW_CHILDREN: usize = 24;

/// A part that may return at more places than this is not kept by itself.
const MOST_RETURNS: usize = 1 << 13;

/// A place where a part has returned and a token goes on: the next byte, and the node that it leads to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Return {
    pub(super) byte: u8,
    pub(super) trie: TrieId,
    pub(super) node: u32,
}

/// A walk over tries, depth first in preorder, which is the order of the trie in memory.
pub(super) struct Walk<'a> {
    pub(super) tables: &'a mut Tables,
    pub(super) automaton: &'a Automaton,
    pub(super) vocabulary: &'a Vocabulary,
    /// Nodes that are reached, with the configuration there.
    open: Vec<(u32, ConfigurationId)>,
    /// Where accepting configurations are met, if that is asked for.
    pub(super) returns: Option<Vec<Return>>,
}

impl<'a> Walk<'a> {
    pub(super) fn new(
        tables: &'a mut Tables,
        automaton: &'a Automaton,
        vocabulary: &'a Vocabulary,
    ) -> Walk<'a> {
        Walk { tables, automaton, vocabulary, open: Vec::new(), returns: None }
    }

    pub(super) fn step(&mut self, configuration: ConfigurationId, byte: u8) -> Result<ConfigurationId> {
        self.tables.step(self.automaton, configuration, byte)
    }

    /// Whether the returns are too many to be kept.
    pub(super) fn returns_everywhere(&self) -> bool {
        self.returns.as_ref().is_some_and(|returns| returns.len() > MOST_RETURNS)
    }

    /// Says that the part may return anywhere.
    pub(super) fn return_everywhere(&mut self) {
        if let Some(returns) = &mut self.returns {
            returns.resize(MOST_RETURNS + 1, Return { byte: 0, trie: TrieId::ALL, node: 0 });
        }
    }

    /// Adds the tokens of a trie that are allowed in `configuration` and begin with a byte that is `wanted`.
    pub(super) fn run(
        &mut self,
        id: TrieId,
        configuration: ConfigurationId,
        wanted: impl Fn(u8) -> bool,
        allowed: &mut Allowed,
    ) -> Result<()> {
        let trie = self.vocabulary.trie_of(id);
        self.visit((id, trie), trie.root(), configuration, wanted, allowed)?;
        self.finish((id, trie), allowed)
    }

    /// Adds the tokens that end at a node or below it and are allowed, where `configuration` is reached at the
    /// node.
    pub(super) fn run_below(
        &mut self,
        id: TrieId,
        node: u32,
        configuration: ConfigurationId,
        allowed: &mut Allowed,
    ) -> Result<()> {
        let trie = self.vocabulary.trie_of(id);
        self.reach((id, trie), node, configuration, allowed);
        self.finish((id, trie), allowed)
    }

    fn finish(&mut self, trie: (TrieId, &TokenTrie), allowed: &mut Allowed) -> Result<()> {
        while let Some((node, configuration)) = self.open.pop() {
            self.visit(trie, node, configuration, |_| true, allowed)?;
            if self.returns_everywhere() {
                self.open.clear();
            }
        }
        Ok(())
    }

    /// Goes from a node to its children that are not dead: from the configuration's bytes to the children where
    /// the bytes are fewer, from the children to the configuration elsewhere.
    fn visit(
        &mut self,
        trie: (TrieId, &TokenTrie),
        node: u32,
        configuration: ConfigurationId,
        wanted: impl Fn(u8) -> bool,
        allowed: &mut Allowed,
    ) -> Result<()> {
        let (children, bytes) = (trie.1.children(node), trie.1.child_bytes(node));
        if let Some(only) = self.tables.only_byte(self.automaton, configuration) {
            if wanted(only)
                && let Some(child) = trie.1.child(node, only)
            {
                let next = self.step(configuration, only)?;
                self.reach(trie, child, next, allowed);
            }
            return Ok(());
        }
        if children.len() > FEW_CHILDREN {
            let candidates = self.tables.candidate_bytes(self.automaton, configuration);
            if candidates.len() * 4 < children.len() {
                for byte in candidates.iter().filter(|&byte| wanted(byte)) {
                    if let Some(child) = trie.1.child(node, byte) {
                        let next = self.step(configuration, byte)?;
                        self.reach(trie, child, next, allowed);
                    }
                }
                return Ok(());
            }
        }
        for (&child, &byte) in children.iter().zip(bytes) {
            if wanted(byte) {
                let next = self.step(configuration, byte)?;
                self.reach(trie, child, next, allowed);
            }
        }
        Ok(())
    }

    /// Comes to a node, unless the configuration there is dead.
    fn reach(
        &mut self,
        (id, trie): (TrieId, &TokenTrie),
        node: u32,
        configuration: ConfigurationId,
        allowed: &mut Allowed,
    ) {
        if configuration == ConfigurationId::DEAD {
            return;
        }
        allowed.extend(trie.tokens(node));
        if trie.is_leaf(node) {
            return;
        }
        if let Some(returns) = &mut self.returns
            && self.tables.is_accepting(configuration)
        {
            let children = trie.child_bytes(node).iter().zip(trie.children(node));
            returns.extend(children.map(|(&byte, &node)| Return { byte, trie: id, node }));
        }
        self.open.push((node, configuration));
    }
}
