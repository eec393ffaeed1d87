//! Computing a mask: a token trie and the automaton in lockstep.

use super::allowed::Allowed;
use super::loops;
use super::token_mask::TokenMask;
use crate::automaton::{Automaton, ConfigurationId, Tables};
use crate::error::Result;
use crate::vocabulary::loops::{NOWHERE, continues};
use crate::vocabulary::{TokenTrie, Vocabulary};
use rustc_hash::FxHashMap;

/// With so many children or fewer, a trie node's children are tried one by one.
const FEW_CHILDREN: usize = 8;

/// Subtrees of fewer tokens are walked even where the configuration loops.
const FEW_TOKENS: usize = 32;

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
            let mut walk = Walk::new(tables, automaton);
            walk.over_loops = Some((vocabulary, FxHashMap::default()));
            walk.run(vocabulary.trie(), configuration, |_| true, &mut allowed)?;
            allowed
        }
    };
    if tables.is_accepting(configuration) {
        allowed.extend(vocabulary.eos());
    }
    Ok(allowed.finish())
}

/// A trie node that is reached, the configuration there, and the node's depth.
#[derive(Clone, Copy)]
struct Open {
    node: u32,
    depth: u32,
    configuration: ConfigurationId,
}

/// Per configuration met on large subtrees: from which byte on tokens are inside the loop that it is in.
type LoopsMet<'v> = FxHashMap<ConfigurationId, Option<&'v [u8]>>;

/// Walks tries and the automaton in lockstep, depth first in preorder, which is the order of the trie in memory.
pub(super) struct Walk<'a> {
    tables: &'a mut Tables,
    automaton: &'a Automaton,
    open: Vec<Open>,
    /// For the trie of all tokens: where a walk comes into a loop, subtrees are not walked but looked up.
    over_loops: Option<(&'a Vocabulary, LoopsMet<'a>)>,
}

impl<'a> Walk<'a> {
    pub(super) fn new(tables: &'a mut Tables, automaton: &'a Automaton) -> Walk<'a> {
        Walk { tables, automaton, open: Vec::new(), over_loops: None }
    }

    /// Adds the tokens of `trie` that are allowed in `configuration` and begin with a byte that is `wanted`.
    pub(super) fn run(
        &mut self,
        trie: &TokenTrie,
        configuration: ConfigurationId,
        wanted: impl Fn(u8) -> bool,
        allowed: &mut Allowed,
    ) -> Result<()> {
        self.visit(trie, Open { node: trie.root(), depth: 0, configuration }, wanted)?;
        while let Some(at) = self.open.pop() {
            allowed.extend(trie.tokens(at.node));
            match self.loop_at(trie, at)? {
                Some((vocabulary, inside_from)) => self.look_up(vocabulary, inside_from, at, allowed)?,
                None => self.visit(trie, at, |_| true)?,
            }
        }
        Ok(())
    }

    /// Opens the children of a node that are not dead: from the configuration's bytes to the children where
    /// the bytes are fewer, from the children to the configuration elsewhere.
    fn visit(&mut self, trie: &TokenTrie, at: Open, wanted: impl Fn(u8) -> bool) -> Result<()> {
        let (children, bytes) = (trie.children(at.node), trie.child_bytes(at.node));
        let first = self.open.len();
        let mut from_bytes = false;
        if children.len() > FEW_CHILDREN {
            let candidates = self.tables.candidate_bytes(self.automaton, at.configuration);
            if candidates.len() * 4 < children.len() {
                from_bytes = true;
                for byte in candidates.iter().filter(|&byte| wanted(byte)) {
                    if let Some(child) = trie.child(at.node, byte) {
                        self.open_if_alive(child, at, byte)?;
                    }
                }
            }
        }
        if !from_bytes {
            for (&child, &byte) in children.iter().zip(bytes) {
                if wanted(byte) {
                    self.open_if_alive(child, at, byte)?;
                }
            }
        }
        // the last is popped first: reversed, the children come in order
        self.open[first..].reverse();
        Ok(())
    }

    fn open_if_alive(&mut self, node: u32, parent: Open, byte: u8) -> Result<()> {
        let configuration = self.tables.step(self.automaton, parent.configuration, byte)?;
        if configuration != ConfigurationId::DEAD {
            self.open.push(Open { node, depth: parent.depth + 1, configuration });
        }
        Ok(())
    }

    /// The loop that a node's configuration is in, if its subtree is large enough for that to matter.
    fn loop_at(&mut self, trie: &TokenTrie, at: Open) -> Result<Option<(&'a Vocabulary, &'a [u8])>> {
        let Some((vocabulary, met)) = &mut self.over_loops else { return Ok(None) };
        let vocabulary: &'a Vocabulary = vocabulary;
        if trie.subtree_places(at.node).len() < FEW_TOKENS {
            return Ok(None);
        }
        let inside_from = match met.get(&at.configuration) {
            Some(&known) => known,
            None => {
                let found = loops::loop_of(self.tables, self.automaton, vocabulary, at.configuration)?;
                met.insert(at.configuration, found);
                found
            }
        };
        Ok(inside_from.map(|inside_from| (vocabulary, inside_from)))
    }

    /// Adds the allowed tokens below a node whose configuration is in a loop: those that are inside from there on,
    /// and of the others those that are accepted byte by byte.
    fn look_up(
        &mut self,
        vocabulary: &Vocabulary,
        inside_from: &[u8],
        at: Open,
        allowed: &mut Allowed,
    ) -> Result<()> {
        let trie = vocabulary.trie();
        let tokens = trie.subtree_tokens(trie.root());
        for (&child, &byte) in trie.children(at.node).iter().zip(trie.child_bytes(at.node)) {
            for place in trie.subtree_places(child) {
                let token = tokens[place];
                let from = inside_from[place];
                let inside = !continues(byte) && from != NOWHERE && u32::from(from) <= at.depth;
                if inside || self.accepts(vocabulary, token, at)? {
                    allowed.extend(&[token]);
                }
            }
        }
        Ok(())
    }

    fn accepts(&mut self, vocabulary: &Vocabulary, token: crate::TokenId, at: Open) -> Result<bool> {
        let mut configuration = at.configuration;
        for &byte in vocabulary.bytes(token).unwrap_or_default().iter().skip(at.depth as usize) {
            configuration = self.tables.step(self.automaton, configuration, byte)?;
            if configuration == ConfigurationId::DEAD {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
