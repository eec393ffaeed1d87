//! Finds the most probable names by best-first search over the trie of their tokens.
//!
//! A greedy search would commit to a first token that many names share. The sum of log-probabilities never increases
//! along a name, so the first complete name popped from a priority queue is the most probable.

use grammata::error::Result;
use grammata::vocabulary::TokenId;
use std::cmp::Ordering;
use std::collections::{BTreeMap, BinaryHeap};

/// A found name with its probability.
#[derive(Clone, Debug, PartialEq)]
pub struct ScoredName {
    /// The index of the name in the list that was searched.
    pub name: usize,
    /// The natural logarithm of the probability of its tokens.
    pub log_probability: f64,
}

#[derive(Debug, Default)]
struct Node {
    /// The indices of the next nodes by token.
    next: BTreeMap<u32, usize>,
    /// The name whose tokens end here.
    name: Option<usize>,
    prefix: Vec<TokenId>,
}

#[derive(Debug, PartialEq)]
struct Open {
    sum: f64,
    node: usize,
}

impl Eq for Open {}

impl PartialOrd for Open {
    fn partial_cmp(&self, other: &Open) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Open {
    fn cmp(&self, other: &Open) -> Ordering {
        self.sum.total_cmp(&other.sum).then(other.node.cmp(&self.node))
    }
}

/// Returns the `count` most probable names, the best first; fewer if there are not so many. Each name is given by the
/// tokens that spell it in its context, including those that end it. If several names have equal tokens, only the first
/// counts. `log_probabilities` returns the model's natural log-probabilities of all tokens after a prefix of a name's
/// tokens; tokens beyond the end of that list have probability 0. It is called at most once per distinct prefix.
///
/// # Errors
/// Those of `log_probabilities`.
pub fn most_probable_names(
    names: &[Vec<TokenId>],
    count: usize,
    mut log_probabilities: impl FnMut(&[TokenId]) -> Result<Vec<f32>>,
) -> Result<Vec<ScoredName>> {
    let mut nodes = vec![Node::default()];
    for (index, name) in names.iter().enumerate() {
        let mut at = 0;
        for (length, token) in (1..).zip(name) {
            at = match nodes[at].next.get(&token.get()) {
                Some(&known) => known,
                None => {
                    nodes.push(Node { prefix: name[..length].to_vec(), ..Node::default() });
                    let new = nodes.len() - 1;
                    nodes[at].next.insert(token.get(), new);
                    new
                }
            };
        }
        nodes[at].name.get_or_insert(index);
    }
    let mut found = Vec::new();
    let mut open = BinaryHeap::from([Open { sum: 0.0, node: 0 }]);
    while found.len() < count
        && let Some(Open { sum, node }) = open.pop()
    {
        let node = &nodes[node];
        if let Some(name) = node.name {
            found.push(ScoredName { name, log_probability: sum });
        }
        // a leaf needs no log-probabilities, nor does the last name
        if node.next.is_empty() || found.len() >= count {
            continue;
        }
        let scores = log_probabilities(&node.prefix)?;
        for (&token, &next) in &node.next {
            let score = scores.get(token as usize).copied().unwrap_or(f32::NEG_INFINITY);
            open.push(Open { sum: sum + f64::from(score), node: next });
        }
    }
    Ok(found)
}
