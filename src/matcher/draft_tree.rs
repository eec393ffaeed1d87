//! Masks for a whole draft of speculative decoding: one row per node of the draft, without a matcher per node.

use super::promises::Drafted;
use super::state::Matcher;
use super::{errors, masks, steps, within};
use crate::error::Result;
use crate::vocabulary::TokenId;

/// A tree of draft tokens. Node 0 is the root: the place of a matcher. Every other node is a token that may follow the
/// token of its parent.
#[derive(Clone, Debug)]
pub struct DraftTree {
    nodes: usize,
    /// The nodes that are linked from the root, without the root. Each comes after its parent, and its subtree before
    /// its next sibling.
    visits: Vec<Visit>,
}

#[derive(Clone, Debug)]
struct Visit {
    node: usize,
    parent: usize,
    /// Number of tokens from the root to the node; 1 for the root's children.
    depth: usize,
    /// `None` if the given number is not a `u32`: no mask allows such a token.
    token: Option<TokenId>,
}

impl DraftTree {
    /// Builds a tree from two arrays of links: `first_child[n]` is the first child of node `n`, `next_sibling[n]` the
    /// next child of the same parent, and -1 means none. `tokens[n]` is the token of node `n`; that of the root is not
    /// read. A token that is not in the vocabulary, such as -1, is a token that no mask allows.
    ///
    /// SGLang and XGrammar call these arrays `retrieve_next_token`, `retrieve_next_sibling` and `draft_tokens`. Nodes
    /// without links from the root are not reached.
    ///
    /// # Errors
    /// `matcher/draft-tree` if the lengths differ or are 0, if a link targets the root or a node that does not exist,
    /// if a negative link is not -1, if two links target one node, or if the root has a sibling. So there are no cycles
    /// below the root.
    pub fn new(first_child: &[i64], next_sibling: &[i64], tokens: &[i64]) -> Result<DraftTree> {
        let nodes = tokens.len();
        if nodes == 0 || first_child.len() != nodes || next_sibling.len() != nodes {
            return Err(errors::draft_lengths(first_child.len(), next_sibling.len(), nodes));
        }
        let mut linked = vec![false; nodes];
        let mut links = |name: &'static str, array: &[i64]| {
            let mut to = Vec::with_capacity(nodes);
            for (from, &link) in array.iter().enumerate() {
                let wrong = |what| errors::draft_link(what, (name, from, link), nodes);
                to.push(match usize::try_from(link) {
                    Err(_) if link == -1 => None,
                    Ok(0) => return Err(wrong("a link of a draft tree leads to the root")),
                    Ok(_) if name == NEXT_SIBLING && from == 0 => {
                        return Err(wrong("the root of a draft tree has a sibling"));
                    }
                    Ok(node) if node < nodes => {
                        if std::mem::replace(&mut linked[node], true) {
                            return Err(wrong("two links of a draft tree lead to one node"));
                        }
                        Some(node)
                    }
                    _ => return Err(wrong("a link of a draft tree leads to no node")),
                });
            }
            Ok(to)
        };
        let first_child = links(FIRST_CHILD, first_child)?;
        let next_sibling = links(NEXT_SIBLING, next_sibling)?;
        let token = |node: usize| u32::try_from(tokens[node]).ok().map(TokenId::new);
        let mut visits = Vec::with_capacity(nodes - 1);
        let mut open: Vec<(usize, usize, usize)> =
            first_child[0].map(|node| (node, 0, 1)).into_iter().collect();
        while let Some((node, parent, depth)) = open.pop() {
            visits.push(Visit { node, parent, depth, token: token(node) });
            open.extend(next_sibling[node].map(|sibling| (sibling, parent, depth)));
            open.extend(first_child[node].map(|child| (child, node, depth + 1)));
        }
        Ok(DraftTree { nodes, visits })
    }

    /// The tree of a linear draft: token `i` belongs to node `i + 1`, the only child of node `i`.
    pub fn chain(tokens: &[TokenId]) -> DraftTree {
        let visits = tokens.iter().enumerate().map(|(parent, &token)| Visit {
            node: parent + 1,
            parent,
            depth: parent + 1,
            token: Some(token),
        });
        DraftTree { nodes: tokens.len() + 1, visits: visits.collect() }
    }

    /// The number of nodes, including the root: at least 1.
    #[allow(clippy::len_without_is_empty)] // there is a root
    pub fn len(&self) -> usize {
        self.nodes
    }
}

const FIRST_CHILD: &str = "first_child";
const NEXT_SIBLING: &str = "next_sibling";

pub(super) fn fill_tree_masks(
    m: &mut Matcher,
    tree: &DraftTree,
    words: &mut [u32],
    row_words: usize,
) -> Result<Vec<bool>> {
    let rows = rows_of(tree, words, row_words)?;
    let filled = fill_rows(&mut m.clone(), tree, rows, row_words);
    if filled.is_err() {
        rows.fill(0);
    }
    filled
}

pub(super) fn fill_tree_masks_within(
    m: &mut Matcher,
    tree: &DraftTree,
    budget: usize,
    words: &mut [u32],
    row_words: usize,
) -> Result<Vec<bool>> {
    let rows = rows_of(tree, words, row_words)?;
    let mut drafted = Vec::with_capacity(tree.len());
    let filled = fill_rows_within(&mut m.clone(), tree, budget, (&mut *rows, row_words), &mut drafted);
    match &filled {
        Ok(_) => m.promises.draft(drafted),
        Err(_) => rows.fill(0),
    }
    filled
}

pub(super) fn fill_draft_masks(
    m: &mut Matcher,
    draft: &[TokenId],
    words: &mut [u32],
    row_words: usize,
) -> Result<usize> {
    let reached = fill_tree_masks(m, &DraftTree::chain(draft), words, row_words)?;
    Ok(reached.iter().filter(|&&reached| reached).count() - 1)
}

pub(super) fn fill_draft_masks_within(
    m: &mut Matcher,
    draft: &[TokenId],
    budget: usize,
    words: &mut [u32],
    row_words: usize,
) -> Result<usize> {
    let reached = fill_tree_masks_within(m, &DraftTree::chain(draft), budget, words, row_words)?;
    Ok(reached.iter().filter(|&&reached| reached).count() - 1)
}

/// Fills the rows of all nodes that are reached, and returns for each node whether it is reached. The matcher does
/// not return to the root.
fn fill_rows(m: &mut Matcher, tree: &DraftTree, rows: &mut [u32], row_words: usize) -> Result<Vec<bool>> {
    let root = m.path.step_count();
    let place = |node: usize| node * row_words..(node + 1) * row_words;
    let mut reached = vec![false; tree.len()];
    reached[0] = true;
    masks::fill_mask(m, &mut rows[place(0)])?;
    for &Visit { node, parent, depth, token } in &tree.visits {
        let Some(token) = token.filter(|_| reached[parent]) else { continue };
        // since the parent, only nodes below it were visited
        steps::rollback(m, m.path.step_count() - (root + depth - 1))?;
        reached[node] = steps::try_accept(m, token)?;
        if reached[node] {
            masks::fill_mask(m, &mut rows[place(node)])?;
        }
    }
    Ok(reached)
}

/// Like `fill_rows`, within a budget. Appends the nodes that are reached, with their promises, to `drafted`.
fn fill_rows_within(
    m: &mut Matcher,
    tree: &DraftTree,
    budget: usize,
    (rows, row_words): (&mut [u32], usize),
    drafted: &mut Vec<Drafted>,
) -> Result<Vec<bool>> {
    let root = m.path.step_count();
    let place = |node: usize| node * row_words..(node + 1) * row_words;
    // the new draft must not keep an earlier one in memory
    m.promises.forget_draft();
    within::fill_mask_within(m, budget, &mut rows[place(0)])?;
    drafted.push(Drafted { parent: 0, token: None, promises: m.promises.clone() });
    // the index of each node in `drafted`
    let mut stands = vec![None; tree.len()];
    stands[0] = Some(0);
    for &Visit { node, parent, depth, token } in &tree.visits {
        let (Some(token), Some(above)) = (token, stands[parent]) else { continue };
        let row = &rows[place(parent)];
        let has = |word: &u32| word >> (token.get() % 32) & 1 == 1;
        if !row.get(token.get() as usize / 32).is_some_and(has) {
            continue;
        }
        steps::rollback(m, m.path.step_count() - (root + depth - 1))?;
        // a rollback drops the completions that are known after possible next tokens
        m.promises.clone_from(&drafted[above].promises);
        if steps::try_accept(m, token)? {
            within::fill_mask_within(m, budget.saturating_sub(depth), &mut rows[place(node)])?;
            stands[node] = Some(drafted.len());
            drafted.push(Drafted { parent: above, token: Some(token), promises: m.promises.clone() });
        }
    }
    Ok(stands.iter().map(Option::is_some).collect())
}

/// The rows of a tree, set to 0.
///
/// # Errors
/// `matcher/draft-rows` if `words` is too short; then all of `words` is set to 0.
fn rows_of<'a>(tree: &DraftTree, words: &'a mut [u32], row_words: usize) -> Result<&'a mut [u32]> {
    let found = words.len();
    match tree.len().checked_mul(row_words) {
        Some(needed) if needed <= found => {
            let rows = &mut words[..needed];
            rows.fill(0);
            Ok(rows)
        }
        _ => {
            words.fill(0);
            Err(errors::draft_rows(found, tree.len(), row_words))
        }
    }
}
