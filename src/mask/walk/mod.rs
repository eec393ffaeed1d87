//! Walks over a token trie and the automaton in lockstep.

pub(in crate::mask) mod collected;
pub(in crate::mask) mod partitions;
pub(in crate::mask) mod sweep;
pub(in crate::mask) mod whole_subtree;

use super::token_set::TokenSet;
use crate::automaton::{ConfigurationId, Dense, Lazy, Transitions};
use crate::error::Result;
use crate::mask::tuning::{CHILDREN_ONE_BY_ONE, TOKENS_AFTER_QUOTE};
use crate::token_index::TokenIndex;
use crate::token_index::loops::{LoopLanguage, TrieId};
use crate::vocabulary::{ChildStep, EndingTokens, TokenTrie, Vocabulary};
use collected::{Collected, EnteredString, TrieScope};
use smallvec::SmallVec;
use sweep::WideConfigurations;
use whole_subtree::SubtreeAcceptance;

/// A walk over tries, depth first in preorder, which is the order of the trie in memory.
pub(super) struct Walk<'a> {
    pub(super) lazy: Lazy<'a>,
    /// The transitions of the tables of `lazy`, borrowed for the whole walk.
    transitions: &'a Transitions,
    /// The last row used: adjacent nodes mostly have the same configuration.
    last_row: Option<(ConfigurationId, Dense<'a>)>,
    /// The configurations looked up so far after which many bytes are possible.
    pub(super) levels: WideConfigurations<'a>,
    pub(super) index: &'a TokenIndex,
    pub(super) vocabulary: &'a Vocabulary,
    /// Reached nodes, each with the configuration there.
    open: Vec<(u32, ConfigurationId)>,
    /// Known numbers of characters that configurations allow, for subtrees accepted as a whole.
    pub(super) acceptance: SubtreeAcceptance,
}

impl<'a> Walk<'a> {
    pub(super) fn new(lazy: Lazy<'a>, transitions: &'a Transitions, index: &'a TokenIndex) -> Walk<'a> {
        Walk {
            lazy,
            transitions,
            last_row: None,
            levels: WideConfigurations::default(),
            index,
            vocabulary: index.vocabulary(),
            open: Vec::new(),
            acceptance: SubtreeAcceptance::default(),
        }
    }

    pub(super) fn step(&mut self, configuration: ConfigurationId, byte: u8) -> Result<ConfigurationId> {
        self.lazy.step(configuration, byte)
    }

    /// Adds the tokens of a trie that are allowed in `configuration` and begin with a byte that is `wanted`.
    pub(super) fn run(
        &mut self,
        id: TrieId,
        configuration: ConfigurationId,
        wanted: impl Fn(u8) -> bool,
        out: &mut Collected,
    ) -> Result<()> {
        let trie = self.index.trie_of(id);
        self.visit((id, trie), trie.root(), configuration, wanted, out)?;
        self.finish((id, trie), out)
    }

    /// Adds the tokens that begin in a loop and leave it, and are allowed in `configuration`.
    pub(super) fn run_escaping(
        &mut self,
        language: &LoopLanguage,
        configuration: ConfigurationId,
        out: &mut Collected,
    ) -> Result<()> {
        for escaping in language.escaping.into_iter().flatten() {
            self.run(escaping, configuration, |_| true, out)?;
        }
        Ok(())
    }

    /// Adds the tokens that do not begin in a loop and are allowed in `configuration`.
    pub(super) fn run_outside(
        &mut self,
        language: &LoopLanguage,
        configuration: ConfigurationId,
        out: &mut Collected,
    ) -> Result<()> {
        self.run(TrieId::ALL, configuration, |byte| !language.first_bytes[usize::from(byte)], out)
    }

    /// Adds the allowed tokens that end at a node or below it, given the configuration at the node.
    pub(super) fn run_below(
        &mut self,
        id: TrieId,
        node: u32,
        configuration: ConfigurationId,
        out: &mut Collected,
    ) -> Result<()> {
        match configuration {
            ConfigurationId::DEAD => Ok(()),
            ConfigurationId::UNKNOWN => {
                out.leave_unknown(self.index.trie_of(id), node);
                Ok(())
            }
            _ => {
                out.tokens.extend(self.index.trie_of(id).tokens(node));
                self.run_from(id, node, configuration, out)
            }
        }
    }

    /// Adds the allowed tokens that end below a node, given the configuration at the node.
    pub(super) fn run_from(
        &mut self,
        id: TrieId,
        node: u32,
        configuration: ConfigurationId,
        out: &mut Collected,
    ) -> Result<()> {
        let trie = self.index.trie_of(id);
        self.come_to(id, trie, node, configuration, out);
        self.finish((id, trie), out)
    }

    fn finish(&mut self, trie: (TrieId, &TokenTrie), out: &mut Collected) -> Result<()> {
        while let Some((node, configuration)) = self.open.pop() {
            self.lazy.work.spend(1)?;
            if trie.0 == TrieId::ALL && self.accepts_subtree(trie.1, node, configuration, out)? {
                out.tokens.extend(trie.1.tokens_below(node));
                continue;
            }
            match self.level(trie.1, node, configuration) {
                Some(level) => self.sweep(trie, node, level, out)?,
                None => self.visit(trie, node, configuration, |_| true, out)?,
            }
            if let Some(limit) = out.limit(&self.lazy) {
                self.open.clear();
                out.give_up(limit);
            }
            if out.tokens.is_large() {
                out.tokens.compact(self.vocabulary.width());
            }
        }
        Ok(())
    }

    /// The row of a configuration with its successors; `None` if the configuration allows a single byte and has no row.
    #[inline(always)]
    pub(super) fn row(&mut self, configuration: ConfigurationId) -> Option<Dense<'a>> {
        match self.last_row {
            Some((of, row)) if of == configuration => return Some(row),
            _ => {}
        }
        let row = self.transitions.dense(self.lazy.row(configuration)?, self.lazy.automaton);
        self.last_row = Some((configuration, row));
        Some(row)
    }

    /// Steps from a node to its children whose byte is `wanted` and allowed. It iterates over the bytes that the
    /// configuration allows if they are few compared with the children, otherwise over the children.
    fn visit(
        &mut self,
        trie: (TrieId, &TokenTrie),
        node: u32,
        configuration: ConfigurationId,
        wanted: impl Fn(u8) -> bool,
        out: &mut Collected,
    ) -> Result<()> {
        let children = trie.1.steps(node);
        self.lazy.work.spend(children.len())?;
        let row = self.row(configuration);
        if row.is_none()
            && let Some(only) = self.lazy.only_byte(configuration)
        {
            if wanted(only) && self.lazy.is_doubtful(configuration) {
                self.try_byte(trie, children, configuration, only, out)?;
            } else if wanted(only) {
                self.run_literal(trie, children, configuration, out)?;
            }
            return Ok(());
        }
        if children.len() > CHILDREN_ONE_BY_ONE {
            let candidates = self.lazy.candidate_bytes(configuration);
            if candidates.len() * 4 < children.len() {
                for byte in candidates.iter().filter(|&byte| wanted(byte)) {
                    self.try_byte(trie, children, configuration, byte, out)?;
                }
                return Ok(());
            }
        }
        for child in children {
            let known = row.and_then(|row| row.step(self.lazy.automaton, child.byte));
            let next = match known {
                _ if !wanted(child.byte) => continue,
                Some(next) => next,
                None => self.step(configuration, child.byte)?,
            };
            self.reach(trie, child, next, out);
        }
        Ok(())
    }

    /// Follows a sequence of states that allow one byte each. If not all bytes of the sequence can be read in the trie,
    /// no configurations are created.
    fn run_literal<'t>(
        &mut self,
        trie: (TrieId, &'t TokenTrie),
        mut children: &'t [ChildStep],
        configuration: ConfigurationId,
        out: &mut Collected,
    ) -> Result<()> {
        let mut read: SmallVec<[u8; 32]> = SmallVec::new();
        let mut literal =
            self.lazy.only_state(configuration).and_then(|state| self.lazy.automaton.literal(state));
        while let Some((byte, next)) = literal {
            let Ok(place) = children.binary_search_by_key(&byte, |child| child.byte) else { return Ok(()) };
            let child = &children[place];
            read.push(byte);
            literal = next.and_then(|next| self.lazy.automaton.literal(next));
            if literal.is_none() {
                let mut at = configuration;
                for &byte in &read {
                    at = self.step(at, byte)?;
                }
                self.reach(trie, child, at, out);
                return Ok(());
            }
            add_tokens(child.tokens(trie.1), &mut out.tokens);
            children = trie.1.steps(child.node);
        }
        Ok(())
    }

    fn try_byte(
        &mut self,
        trie: (TrieId, &TokenTrie),
        children: &[ChildStep],
        configuration: ConfigurationId,
        byte: u8,
        out: &mut Collected,
    ) -> Result<()> {
        if let Ok(place) = children.binary_search_by_key(&byte, |child| child.byte) {
            let next = self.step(configuration, byte)?;
            self.reach(trie, &children[place], next, out);
        }
        Ok(())
    }

    /// Adds the tokens that end at a child and queues the child. A dead configuration adds nothing; an unknown one
    /// records that the tokens through the child depend on the history.
    #[inline]
    fn reach(
        &mut self,
        (id, trie): (TrieId, &TokenTrie),
        child: &ChildStep,
        configuration: ConfigurationId,
        out: &mut Collected,
    ) {
        if !configuration.is_ordinary() {
            if configuration == ConfigurationId::UNKNOWN {
                out.leave_unknown(trie, child.node);
            }
            return;
        }
        add_tokens(child.tokens(trie), &mut out.tokens);
        if child.is_leaf {
            return;
        }
        if child.byte == b'"' && trie.subtree_tokens(child.node).len() >= TOKENS_AFTER_QUOTE {
            let scope = TrieScope { trie: id, node: child.node };
            out.entered.push(EnteredString { scope, configuration });
        } else {
            self.come_to(id, trie, child.node, configuration, out);
        }
    }

    #[inline]
    pub(super) fn come_to(
        &mut self,
        id: TrieId,
        trie: &TokenTrie,
        node: u32,
        configuration: ConfigurationId,
        out: &mut Collected,
    ) {
        if out.target.notes_returns() && self.lazy.is_accepting(configuration) {
            out.continue_below(id, trie, node);
        }
        self.open.push((node, configuration));
    }
}

/// Adds the tokens that end at a node.
#[inline]
pub(super) fn add_tokens(tokens: EndingTokens<'_>, allowed: &mut TokenSet) {
    match tokens {
        EndingTokens::None => {}
        EndingTokens::One(token) => allowed.push(token),
        EndingTokens::Several(tokens) => allowed.extend(tokens),
    }
}
