//! Walking a token trie and the automaton in lockstep.

pub(in crate::mask) mod partitions;
pub(in crate::mask) mod sweep;
pub(in crate::mask) mod whole_subtree;

use super::token_set::TokenSet;
use crate::automaton::{ConfigurationId, Dense, Lazy, Transitions};
use crate::error::Result;
use crate::token_index::loops::{LoopLanguage, TrieId};
use crate::vocabulary::{ChildStep, EndingTokens, TokenTrie, Vocabulary};
use smallvec::SmallVec;
use sweep::Levels;
use whole_subtree::SubtreeAcceptance;

/// With this many children or fewer, a trie node's children are tried one by one.
const FEW_CHILDREN: usize = 24;

/// A part that may return at more places than this is not kept by itself.
const MAX_CONTINUATIONS: usize = 1 << 13;

/// Below a node of this many tokens it is profitable to look whether they are known.
pub(super) const MANY_TOKENS: usize = 32;

/// A place where a part has returned and a token goes on: the next byte, and the node that it leads to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Continuation {
    pub(super) byte: u8,
    pub(super) trie: TrieId,
    pub(super) node: u32,
}

/// A configuration, and whether the part must not return.
pub(super) type Inside = (ConfigurationId, bool);

/// A walk over tries, depth first in preorder, which is the order of the trie in memory.
pub(super) struct Walk<'a> {
    pub(super) lazy: Lazy<'a>,
    /// Those of the tables.
    transitions: &'a Transitions,
    /// The last row asked for: next to each other stand mostly nodes of one configuration.
    last_row: Option<(ConfigurationId, Dense<'a>)>,
    /// Configurations after which many bytes may come.
    pub(super) levels: Levels<'a>,
    pub(super) vocabulary: &'a Vocabulary,
    /// Nodes that are reached, with the configuration there.
    open: Vec<(u32, ConfigurationId)>,
    /// Those at which a string may begin: what follows is known from elsewhere, maybe.
    pub(super) entered: Vec<(TrieId, u32, ConfigurationId)>,
    /// Where accepting configurations are met, if that is asked for.
    pub(super) continuations: Option<Vec<Continuation>>,
    /// Tokens that lead through [`ConfigurationId::UNKNOWN`].
    pub(super) unknown: Vec<u32>,
    /// Where most characters lead.
    pub(super) acceptance: SubtreeAcceptance,
    /// The tokens inside strings that are allowed in a configuration whose mask has to be begun anew, and whether the part must
    /// not return there.
    pub(super) inside: Option<(Inside, TokenSet)>,
    /// This many nodes may be traversed before the walk is given up; see [`is_over`](Walk::is_over).
    pub(super) nodes_left: u32,
    /// Whether it is not given up for its length once the part returns elsewhere than after a quote: then there is no
    /// other way to find all places.
    goes_on: bool,
    /// Whether it has.
    returns_inside: bool,
    /// How often completions had become longer when the walk began, if it is of no use once they do so again.
    pub(super) radius_epoch: Option<usize>,
}

impl<'a> Walk<'a> {
    pub(super) fn new(lazy: Lazy<'a>, transitions: &'a Transitions, vocabulary: &'a Vocabulary) -> Walk<'a> {
        Walk {
            lazy,
            transitions,
            last_row: None,
            levels: Levels::default(),
            vocabulary,
            open: Vec::new(),
            entered: Vec::new(),
            continuations: None,
            unknown: Vec::new(),
            acceptance: SubtreeAcceptance::default(),
            inside: None,
            nodes_left: u32::MAX,
            goes_on: false,
            returns_inside: false,
            radius_epoch: None,
        }
    }

    pub(super) fn step(&mut self, configuration: ConfigurationId, byte: u8) -> Result<ConfigurationId> {
        self.lazy.step(configuration, byte)
    }

    /// What [`inside`](Walk::inside) is known of.
    pub(super) fn inside_of(&self, configuration: ConfigurationId) -> Inside {
        (configuration, self.continuations.is_some())
    }

    /// Whether the returns are too many to be kept.
    pub(super) fn too_many_continuations(&self) -> bool {
        self.continuations.as_ref().is_some_and(|continuations| continuations.len() > MAX_CONTINUATIONS)
    }

    /// It takes a history to know of the tokens from a node on.
    pub(super) fn leave_unknown(&mut self, id: TrieId, node: u32) {
        let tokens = self.vocabulary.trie_of(id).subtree_tokens(node);
        self.unknown.extend(tokens.iter().map(|token| token.get()));
    }

    /// Says that the part may return anywhere.
    pub(super) fn continue_everywhere(&mut self) {
        if let Some(continuations) = &mut self.continuations {
            continuations.resize(MAX_CONTINUATIONS + 1, Continuation { byte: 0, trie: TrieId::ALL, node: 0 });
        }
    }

    /// Says that the part may return at these places.
    pub(super) fn continue_at(&mut self, places: &[Continuation]) {
        if let Some(continuations) = &mut self.continuations {
            continuations.extend_from_slice(places);
        }
    }

    /// Says that the part may return at these nodes of the trie of all tokens.
    pub(super) fn continue_at_nodes(&mut self, nodes: &[u32]) {
        if let Some(continuations) = &mut self.continuations {
            let trie = self.vocabulary.trie();
            continuations.extend(nodes.iter().map(|&node| Continuation {
                byte: trie.byte(node),
                trie: TrieId::ALL,
                node,
            }));
        }
    }

    /// Adds the tokens of a trie that are allowed in `configuration` and begin with a byte that is `wanted`.
    pub(super) fn run(
        &mut self,
        id: TrieId,
        configuration: ConfigurationId,
        wanted: impl Fn(u8) -> bool,
        allowed: &mut TokenSet,
    ) -> Result<()> {
        let trie = self.vocabulary.trie_of(id);
        self.visit((id, trie), trie.root(), configuration, wanted, allowed)?;
        self.finish((id, trie), allowed)
    }

    /// Adds the tokens that begin in a loop and leave it, and are allowed in `configuration`.
    pub(super) fn run_escaping(
        &mut self,
        language: &LoopLanguage,
        configuration: ConfigurationId,
        allowed: &mut TokenSet,
    ) -> Result<()> {
        for escaping in language.escaping.into_iter().flatten() {
            self.run(escaping, configuration, |_| true, allowed)?;
        }
        Ok(())
    }

    /// Adds the tokens that end at a node or below it and are allowed, where `configuration` is reached at the
    /// node.
    pub(super) fn run_below(
        &mut self,
        id: TrieId,
        node: u32,
        configuration: ConfigurationId,
        allowed: &mut TokenSet,
    ) -> Result<()> {
        match configuration {
            ConfigurationId::DEAD => Ok(()),
            ConfigurationId::UNKNOWN => {
                self.leave_unknown(id, node);
                Ok(())
            }
            _ => {
                allowed.extend(self.vocabulary.trie_of(id).tokens(node));
                self.run_from(id, node, configuration, allowed)
            }
        }
    }

    /// Adds the tokens that end below a node, where `configuration` is reached.
    pub(super) fn run_from(
        &mut self,
        id: TrieId,
        node: u32,
        configuration: ConfigurationId,
        allowed: &mut TokenSet,
    ) -> Result<()> {
        let trie = self.vocabulary.trie_of(id);
        self.come_to(id, trie, node, configuration);
        self.finish((id, trie), allowed)
    }

    fn finish(&mut self, trie: (TrieId, &TokenTrie), allowed: &mut TokenSet) -> Result<()> {
        while let Some((node, configuration)) = self.open.pop() {
            self.lazy.work.spend(1)?;
            if trie.0 == TrieId::ALL && self.accepts_subtree(trie.1, node, configuration)? {
                allowed.extend(trie.1.tokens_below(node));
                continue;
            }
            match self.level(trie.1, node, configuration) {
                Some(level) => self.sweep(trie, node, level, allowed)?,
                None => self.visit(trie, node, configuration, |_| true, allowed)?,
            }
            if self.is_over() {
                self.open.clear();
                self.entered.clear();
            }
            if allowed.is_large() {
                allowed.compact(self.vocabulary.width());
            }
        }
        Ok(())
    }

    /// Sets how many nodes may be traversed, and whether it [goes on](Walk::goes_on) all the same.
    pub(super) fn limit(&mut self, nodes: u32, goes_on: bool) {
        (self.nodes_left, self.goes_on, self.returns_inside) = (nodes, goes_on, false);
    }

    /// Whether it will be given up if it takes more nodes.
    pub(super) fn is_limited(&self) -> bool {
        self.nodes_left > 0 && self.nodes_left <= self.vocabulary.trie().node_count() as u32
    }

    /// Whether it takes more nodes than it may.
    pub(super) fn is_over_budget(&self) -> bool {
        self.nodes_left == 0 && !(self.goes_on && self.returns_inside)
    }

    /// Whether what is found is of no use.
    #[inline]
    pub(super) fn is_over(&self) -> bool {
        self.is_over_budget()
            || self.too_many_continuations()
            || self.radius_epoch.is_some_and(|before| before != self.lazy.radius_epoch())
    }

    /// The row of a configuration; none if it waits for one byte.
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

    /// Goes from a node to its children that are not dead: from the configuration's bytes to the children where
    /// the bytes are fewer, from the children to the configuration elsewhere.
    fn visit(
        &mut self,
        trie: (TrieId, &TokenTrie),
        node: u32,
        configuration: ConfigurationId,
        wanted: impl Fn(u8) -> bool,
        allowed: &mut TokenSet,
    ) -> Result<()> {
        let children = trie.1.steps(node);
        self.lazy.work.spend(children.len())?;
        let row = self.row(configuration);
        if row.is_none()
            && let Some(only) = self.lazy.only_byte(configuration)
        {
            if wanted(only) && self.lazy.is_doubtful(configuration) {
                self.try_byte(trie, children, configuration, only, allowed)?;
            } else if wanted(only) {
                self.run_literal(trie, children, configuration, allowed)?;
            }
            return Ok(());
        }
        if children.len() > FEW_CHILDREN {
            let candidates = self.lazy.candidate_bytes(configuration);
            if candidates.len() * 4 < children.len() {
                for byte in candidates.iter().filter(|&byte| wanted(byte)) {
                    self.try_byte(trie, children, configuration, byte, allowed)?;
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
            self.reach(trie, child, next, allowed);
        }
        Ok(())
    }

    /// Goes along single bytes, for most of which no configuration is made: whoever reads them all makes it.
    fn run_literal<'t>(
        &mut self,
        trie: (TrieId, &'t TokenTrie),
        mut children: &'t [ChildStep],
        configuration: ConfigurationId,
        allowed: &mut TokenSet,
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
                self.reach(trie, child, at, allowed);
                return Ok(());
            }
            add_tokens(child.tokens(trie.1), allowed);
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
        allowed: &mut TokenSet,
    ) -> Result<()> {
        if let Ok(place) = children.binary_search_by_key(&byte, |child| child.byte) {
            let next = self.step(configuration, byte)?;
            self.reach(trie, &children[place], next, allowed);
        }
        Ok(())
    }

    /// Reaches a child, unless the configuration there is dead.
    #[inline]
    fn reach(
        &mut self,
        (id, trie): (TrieId, &TokenTrie),
        child: &ChildStep,
        configuration: ConfigurationId,
        allowed: &mut TokenSet,
    ) {
        if !configuration.is_ordinary() {
            if configuration == ConfigurationId::UNKNOWN {
                self.leave_unknown(id, child.node);
            }
            return;
        }
        add_tokens(child.tokens(trie), allowed);
        if child.is_leaf {
            return;
        }
        if child.byte == b'"' && trie.subtree_tokens(child.node).len() >= MANY_TOKENS {
            self.entered.push((id, child.node, configuration));
        } else {
            self.come_to(id, trie, child.node, configuration);
        }
    }

    #[inline]
    pub(super) fn come_to(
        &mut self,
        id: TrieId,
        trie: &TokenTrie,
        node: u32,
        configuration: ConfigurationId,
    ) {
        self.continue_below(id, trie, node, configuration);
        self.leave_for_later(node, configuration);
    }

    pub(super) fn leave_for_later(&mut self, node: u32, configuration: ConfigurationId) {
        self.open.push((node, configuration));
    }

    /// Notes that the part returns at a node if it does.
    #[inline]
    pub(super) fn continue_below(
        &mut self,
        id: TrieId,
        trie: &TokenTrie,
        node: u32,
        configuration: ConfigurationId,
    ) {
        if let Some(continuations) = &mut self.continuations
            && self.lazy.is_accepting(configuration)
        {
            self.returns_inside |= trie.byte(node) != b'"';
            continuations.extend(trie.steps(node).iter().map(|child| Continuation {
                byte: child.byte,
                trie: id,
                node: child.node,
            }));
        }
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
