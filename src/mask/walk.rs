//! Computing a mask: a token trie and the automaton in lockstep.

use super::allowed::Allowed;
use super::loops;
use super::token_mask::TokenMask;
use crate::automaton::{Automaton, ConfigurationId, Tables};
use crate::error::Result;
use crate::vocabulary::{TokenTrie, Vocabulary};

/// With so many children or fewer, a trie node's children are tried one by one.
const FEW_CHILDREN: usize = 8;

/// The mask of a configuration: every token whose bytes lead to a configuration that is not dead, and the
/// end-of-sequence tokens if the configuration accepts.
pub(super) fn compute(
    tables: &mut Tables,
    automaton: &Automaton,
    vocabulary: &Vocabulary,
    configuration: ConfigurationId,
) -> Result<TokenMask> {
    let mut allowed = match loops::compute(tables, automaton, vocabulary, configuration)? {
        Some(allowed) => allowed,
        None => {
            let mut allowed = Allowed::new(vocabulary.width());
            Walk::new(tables, automaton).run(vocabulary.trie(), configuration, |_| true, &mut allowed)?;
            allowed
        }
    };
    if tables.is_accepting(configuration) {
        allowed.extend(vocabulary.eos());
    }
    Ok(allowed.finish())
}

/// Walks tries and the automaton in lockstep, depth first in preorder, which is the order of the trie in memory.
pub(super) struct Walk<'a> {
    tables: &'a mut Tables,
    automaton: &'a Automaton,
    open: Vec<(u32, ConfigurationId)>,
}

impl<'a> Walk<'a> {
    pub(super) fn new(tables: &'a mut Tables, automaton: &'a Automaton) -> Walk<'a> {
        Walk { tables, automaton, open: Vec::new() }
    }

    /// Adds the tokens of `trie` that are allowed in `configuration` and begin with a byte that is `wanted`.
    pub(super) fn run(
        &mut self,
        trie: &TokenTrie,
        configuration: ConfigurationId,
        wanted: impl Fn(u8) -> bool,
        allowed: &mut Allowed,
    ) -> Result<()> {
        self.visit(trie, trie.root(), configuration, wanted)?;
        while let Some((node, configuration)) = self.open.pop() {
            allowed.extend(trie.tokens(node));
            self.visit(trie, node, configuration, |_| true)?;
        }
        Ok(())
    }

    /// Opens the children of a node that are not dead: from the configuration's bytes to the children where
    /// the bytes are fewer, from the children to the configuration elsewhere.
    fn visit(
        &mut self,
        trie: &TokenTrie,
        node: u32,
        configuration: ConfigurationId,
        wanted: impl Fn(u8) -> bool,
    ) -> Result<()> {
        let (children, bytes) = (trie.children(node), trie.child_bytes(node));
        let first = self.open.len();
        let mut from_bytes = false;
        if children.len() > FEW_CHILDREN {
            let candidates = self.tables.candidate_bytes(self.automaton, configuration);
            if candidates.len() * 4 < children.len() {
                from_bytes = true;
                for byte in candidates.iter().filter(|&byte| wanted(byte)) {
                    if let Some(child) = trie.child(node, byte) {
                        self.open_if_alive(child, configuration, byte)?;
                    }
                }
            }
        }
        if !from_bytes {
            for (&child, &byte) in children.iter().zip(bytes) {
                if wanted(byte) {
                    self.open_if_alive(child, configuration, byte)?;
                }
            }
        }
        // the last is popped first: reversed, the children come in order
        self.open[first..].reverse();
        Ok(())
    }

    fn open_if_alive(&mut self, child: u32, configuration: ConfigurationId, byte: u8) -> Result<()> {
        let next = self.tables.step(self.automaton, configuration, byte)?;
        if next != ConfigurationId::DEAD {
            self.open.push((child, next));
        }
        Ok(())
    }
}
