//! Continuations of a prompt as a token trie, so that common prefixes are fed to a model once.

use super::distribution::Distribution;
use grammata::vocabulary::TokenId;
use std::collections::BTreeMap;

/// What must follow a continuation to count as the whole answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Closing {
    /// Anything.
    Any,
    /// The next token is one of the listed tokens.
    Then(Vec<TokenId>),
    /// The next token is none of the listed tokens.
    Unless(Vec<TokenId>),
}

impl Closing {
    fn log_probability(&self, next: &Distribution<'_>) -> f64 {
        match self {
            Closing::Any => 0.0,
            Closing::Then(tokens) => next.of_any(tokens.iter().copied()),
            Closing::Unless(tokens) => {
                let others = 1.0 - next.of_any(tokens.iter().copied()).exp();
                others.max(f64::MIN_POSITIVE).ln()
            }
        }
    }
}

#[derive(Debug, Default)]
struct Node {
    /// The child nodes by token. They are sorted, so that the order of the continuations does not affect the
    /// computation.
    children: BTreeMap<u32, usize>,
    /// The continuations that end here, as numbers in order of insertion, each with what must follow it.
    ends: Vec<(usize, Closing)>,
}

/// A trie of continuations. Node 0 is the end of the prompt.
#[derive(Debug)]
pub(super) struct TokenTrie {
    nodes: Vec<Node>,
    count: usize,
}

/// The tokens to feed from a node up to the next branch.
#[derive(Debug)]
pub(super) struct Chain {
    pub(super) tokens: Vec<u32>,
    /// The node after each token.
    pub(super) nodes: Vec<usize>,
}

impl TokenTrie {
    pub(super) const ROOT: usize = 0;

    pub(super) fn new() -> TokenTrie {
        TokenTrie { nodes: vec![Node::default()], count: 0 }
    }

    /// Adds a continuation. Continuations are numbered from 0 in order of insertion.
    pub(super) fn insert(&mut self, tokens: impl IntoIterator<Item = u32>, closing: Closing) {
        let mut at = TokenTrie::ROOT;
        for token in tokens {
            let new = self.nodes.len();
            let Some(node) = self.nodes.get_mut(at) else { return };
            at = *node.children.entry(token).or_insert(new);
            if at == new {
                self.nodes.push(Node::default());
            }
        }
        if let Some(node) = self.nodes.get_mut(at) {
            node.ends.push((self.count, closing));
            self.count += 1;
        }
    }

    /// Returns whether the distribution of the token after `node` is needed.
    pub(super) fn is_asked(&self, node: usize) -> bool {
        self.nodes.get(node).is_some_and(|node| {
            !node.children.is_empty() || node.ends.iter().any(|(_, closing)| *closing != Closing::Any)
        })
    }

    /// Returns the tokens to feed to get all distributions needed from `node` on, which follows `token`, up to the next
    /// node that does not have exactly one child.
    fn chain(&self, token: u32, node: usize) -> Chain {
        let mut chain = Chain { tokens: Vec::new(), nodes: Vec::new() };
        let (mut token, mut at) = (token, node);
        while self.is_asked(at) {
            chain.tokens.push(token);
            chain.nodes.push(at);
            match self.nodes.get(at).map(|node| &node.children) {
                Some(children) if children.len() == 1 => {
                    let Some((&next, &child)) = children.first_key_value() else { break };
                    (token, at) = (next, child);
                }
                _ => break,
            }
        }
        chain
    }

    /// Returns the chains that begin after a node.
    pub(super) fn chains(&self, node: usize) -> impl Iterator<Item = Chain> + '_ {
        let children = self.nodes.get(node).into_iter().flat_map(|node| &node.children);
        children.map(|(&token, &child)| self.chain(token, child)).filter(|chain| !chain.tokens.is_empty())
    }

    /// Returns the number of tokens of the longest path.
    pub(super) fn depth(&self) -> usize {
        let mut depths = vec![0_usize; self.nodes.len()];
        // children have greater indices than their parents
        for (place, node) in self.nodes.iter().enumerate() {
            let below = depths.get(place).map_or(0, |depth| depth + 1);
            for child in node.children.values() {
                if let Some(depth) = depths.get_mut(*child) {
                    *depth = below;
                }
            }
        }
        depths.into_iter().max().unwrap_or(0)
    }
}

/// The natural logarithms of the probabilities of the nodes and continuations of a trie, as they become known.
#[derive(Debug)]
pub(super) struct Scores<'t> {
    trie: &'t TokenTrie,
    nodes: Vec<f64>,
    continuations: Vec<f64>,
}

impl<'t> Scores<'t> {
    pub(super) fn new(trie: &'t TokenTrie) -> Scores<'t> {
        let mut scores = Scores {
            trie,
            nodes: vec![0.0; trie.nodes.len()],
            continuations: vec![f64::NEG_INFINITY; trie.count],
        };
        scores.end(TokenTrie::ROOT, |closing| if *closing == Closing::Any { 0.0 } else { f64::NEG_INFINITY });
        scores
    }

    fn end(&mut self, node: usize, closed: impl Fn(&Closing) -> f64) {
        let before = self.nodes.get(node).copied().unwrap_or(f64::NEG_INFINITY);
        for (continuation, closing) in self.trie.nodes.get(node).into_iter().flat_map(|node| &node.ends) {
            if let Some(score) = self.continuations.get_mut(*continuation) {
                *score = before + closed(closing);
            }
        }
    }

    /// Records the logits of the token after a node.
    pub(super) fn visit(&mut self, node: usize, logits: &[f32]) {
        let next = Distribution::of(logits);
        self.end(node, |closing| closing.log_probability(&next));
        let before = self.nodes.get(node).copied().unwrap_or(f64::NEG_INFINITY);
        for (&token, &child) in self.trie.nodes.get(node).into_iter().flat_map(|node| &node.children) {
            if let Some(score) = self.nodes.get_mut(child) {
                *score = before + next.of_token(TokenId::new(token));
            }
            if !self.trie.is_asked(child) {
                self.end(child, |_| 0.0);
            }
        }
    }

    /// Returns whether the tokens up to a node are known to have probability 0, so that every continuation after it has
    /// probability 0 as well. True for a node that does not exist.
    pub(super) fn is_impossible(&self, node: usize) -> bool {
        self.nodes.get(node).is_none_or(|&score| score == f64::NEG_INFINITY)
    }

    /// Returns the scores of the continuations, in order of insertion.
    pub(super) fn into_continuations(self) -> Vec<f64> {
        self.continuations
    }
}
