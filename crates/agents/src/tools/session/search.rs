//! The most probable names: best-first search over the trie of their tokens.
//!
//! A greedy choice takes the first token that many names share, whatever comes of it. The sum of logarithms of probabilities only
//! falls along a name, so the first whole name that is taken from a queue of the greatest sum is the most probable of all.

use grammata::error::Result;
use grammata::vocabulary::TokenId;
use std::cmp::Ordering;
use std::collections::{BTreeMap, BinaryHeap};

/// A name that was found.
#[derive(Clone, Debug, PartialEq)]
pub struct ScoredName {
    /// Which of the names.
    pub name: usize,
    /// The natural logarithm of the probability of its tokens.
    pub log_probability: f64,
}

#[derive(Debug, Default)]
struct Node {
    /// In the order of the tokens, so that equal sums come in one order.
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

/// The `count` most probable of names, the best first. Each is the tokens that spell it where it stands, those that end it among
/// them; of names with equal tokens the first counts. The model runs at most once for each token of the names. `log_probabilities` gives, after some of these tokens, the logarithms of the
/// model's probabilities of all tokens: a token that they do not reach has none.
///
/// # Errors
/// What `log_probabilities` reports.
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
    while let Some(Open { sum, node }) = open.pop() {
        let node = &nodes[node];
        if let Some(name) = node.name {
            found.push(ScoredName { name, log_probability: sum });
        }
        if found.len() >= count {
            break;
        }
        if node.next.is_empty() {
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
