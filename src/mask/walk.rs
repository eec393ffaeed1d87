//! Computing a mask: the token trie and the automaton in lockstep.

use super::token_mask::TokenMask;
use crate::automaton::{Automaton, ConfigurationId, Tables};
use crate::error::Result;
use crate::vocabulary::Vocabulary;

/// With so many children or fewer, a trie node's children are tried one by one.
const FEW_CHILDREN: usize = 4;

/// The mask of a configuration: every token whose bytes lead to a configuration that is not dead, and the
/// end-of-sequence tokens if the configuration accepts.
pub(super) fn compute(
    tables: &mut Tables,
    automaton: &Automaton,
    vocabulary: &Vocabulary,
    configuration: ConfigurationId,
) -> Result<TokenMask> {
    let trie = vocabulary.trie();
    let mut allowed: Vec<u32> = Vec::new();
    let mut open = vec![(trie.root(), configuration)];
    while let Some((node, configuration)) = open.pop() {
        let mut visit = |tables: &mut Tables, child: u32, byte: u8| -> Result<()> {
            let next = tables.step(automaton, configuration, byte)?;
            if next != ConfigurationId::DEAD {
                allowed.extend(trie.tokens(child).iter().map(|token| token.get()));
                if !trie.children(child).is_empty() {
                    open.push((child, next));
                }
            }
            Ok(())
        };
        let children = trie.children(node);
        if children.len() > FEW_CHILDREN {
            let candidates = tables.candidate_bytes(automaton, configuration);
            if candidates.len() * 4 < children.len() {
                for byte in candidates.iter() {
                    if let Some(child) = trie.child(node, byte) {
                        visit(tables, child, byte)?;
                    }
                }
                continue;
            }
        }
        for &child in children {
            visit(tables, child, trie.byte(child))?;
        }
    }
    if tables.is_accepting(configuration) {
        allowed.extend(vocabulary.eos().iter().map(|token| token.get()));
    }
    Ok(TokenMask::from_ids(allowed, vocabulary.width()))
}
