//! Masks for a whole draft of speculative decoding: a row for each of its tokens, without a matcher for each.

use super::errors;
use super::matcher::Matcher;
use super::promises::Drafted;
use crate::error::Result;
use crate::vocabulary::TokenId;

/// Draft tokens as a tree. Node 0 is the root: the place where a matcher is. Every other node is a token that may follow its
/// parent's.
#[derive(Clone, Debug)]
pub struct DraftTree {
    nodes: usize,
    /// The nodes below the root, each after its parent and before its next sibling.
    visits: Vec<Visit>,
}

#[derive(Clone, Debug)]
struct Visit {
    node: usize,
    parent: usize,
    /// Tokens from the root to the node; 1 for the root's children.
    depth: usize,
    /// `None` if it is no id that a token can have.
    token: Option<TokenId>,
}

impl DraftTree {
    /// The tree that two arrays link: `first_child[n]` is the first child of node `n`, `next_sibling[n]` the next child of the
    /// same parent, and -1 stands for none. `tokens[n]` is the token of node `n`; that of the root is not read. A token that is
    /// no id of the vocabulary, such as -1, is one that no mask allows.
    ///
    /// These are the arrays `retrieve_next_token`, `retrieve_next_sibling` and `draft_tokens` of SGLang and XGrammar. Nodes that
    /// no link leads to from the root are not reached.
    ///
    /// # Errors
    /// `matcher/draft-tree` if the lengths differ or are 0, if a link leads to no node or to the root, if two links lead to one
    /// node, or if the root has a sibling. So there are no cycles below the root.
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

    /// The tree of one draft: token `i` is that of node `i + 1`, the only child of node `i`.
    pub fn chain(tokens: &[TokenId]) -> DraftTree {
        let visits = tokens.iter().enumerate().map(|(parent, &token)| Visit {
            node: parent + 1,
            parent,
            depth: parent + 1,
            token: Some(token),
        });
        DraftTree { nodes: tokens.len() + 1, visits: visits.collect() }
    }

    /// How many nodes there are, with the root: at least 1.
    #[allow(clippy::len_without_is_empty)] // there is a root
    pub fn len(&self) -> usize {
        self.nodes
    }
}

const FIRST_CHILD: &str = "first_child";
const NEXT_SIBLING: &str = "next_sibling";

impl Matcher {
    /// Writes a mask for each node of a draft tree: that of node `n` is the row that begins at `words[n * row_words]`, and has
    /// the tokens that may come after those from the root to the node. The row of the root is the mask of this place. Returns
    /// for each node whether its tokens are allowed one after the other. The matcher stays where it is.
    ///
    /// A node whose token is not allowed is not reached, nor are those below it: their rows are all 0. So are rows of nodes after
    /// an end token. Where the model turns logits of such a row into probabilities, give it other words before: no choice of
    /// them is ever accepted.
    ///
    /// # Errors
    /// `matcher/draft-rows` if there are fewer than `tree.len() * row_words` words; `mask/buffer-too-short` if a row is shorter
    /// than a mask; those of [`fill_mask`](Matcher::fill_mask). Then all rows are 0.
    pub fn fill_tree_masks(
        &mut self,
        tree: &DraftTree,
        words: &mut [u32],
        row_words: usize,
    ) -> Result<Vec<bool>> {
        let rows = rows_of(tree, words, row_words)?;
        let filled = self.fork().fill_rows(tree, rows, row_words);
        if filled.is_err() {
            rows.fill(0);
        }
        filled
    }

    /// The same with masks [within a budget](Matcher::mask_within): `budget` tokens are still to come at this place, and one fewer with
    /// each token of the draft, the end-of-sequence token not counted. A node whose token is not in its parent's row is not reached.
    /// Once the tokens of a path are accepted, there is a mask within the rest of the budget.
    ///
    /// # Errors
    /// As for [`fill_tree_masks`](Matcher::fill_tree_masks); `matcher/budget` if no completion within the budget is known here.
    pub fn fill_tree_masks_within(
        &mut self,
        tree: &DraftTree,
        budget: usize,
        words: &mut [u32],
        row_words: usize,
    ) -> Result<Vec<bool>> {
        let rows = rows_of(tree, words, row_words)?;
        let mut drafted = Vec::with_capacity(tree.len());
        let filled = self.fork().fill_rows_within(tree, budget, (&mut *rows, row_words), &mut drafted);
        match &filled {
            Ok(_) => self.promises.draft(drafted),
            Err(_) => rows.fill(0),
        }
        filled
    }

    /// Writes `draft.len() + 1` masks for a draft: the first is that of this place, row `i` that after the first `i` tokens. Returns
    /// how many tokens are allowed one after the other. The matcher stays where it is.
    ///
    /// Rows behind the first token that is not allowed are all 0.
    ///
    /// # Errors
    /// As for [`fill_tree_masks`](Matcher::fill_tree_masks).
    pub fn fill_draft_masks(
        &mut self,
        draft: &[TokenId],
        words: &mut [u32],
        row_words: usize,
    ) -> Result<usize> {
        let reached = self.fill_tree_masks(&DraftTree::chain(draft), words, row_words)?;
        Ok(reached.iter().filter(|&&reached| reached).count() - 1)
    }

    /// The same with masks [within a budget](Matcher::fill_tree_masks_within).
    ///
    /// # Errors
    /// As for [`fill_tree_masks_within`](Matcher::fill_tree_masks_within).
    pub fn fill_draft_masks_within(
        &mut self,
        draft: &[TokenId],
        budget: usize,
        words: &mut [u32],
        row_words: usize,
    ) -> Result<usize> {
        let reached = self.fill_tree_masks_within(&DraftTree::chain(draft), budget, words, row_words)?;
        Ok(reached.iter().filter(|&&reached| reached).count() - 1)
    }

    /// Fills the rows of the nodes that are reached, and ends at one of them.
    fn fill_rows(&mut self, tree: &DraftTree, rows: &mut [u32], row_words: usize) -> Result<Vec<bool>> {
        let root = self.steps();
        let place = |node: usize| node * row_words..(node + 1) * row_words;
        let mut reached = vec![false; tree.len()];
        reached[0] = true;
        self.fill_mask(&mut rows[place(0)])?;
        for &Visit { node, parent, depth, token } in &tree.visits {
            let Some(token) = token.filter(|_| reached[parent]) else { continue };
            // since the parent, only nodes below it were visited
            self.rollback(self.steps() - (root + depth - 1))?;
            reached[node] = self.try_accept(token)?;
            if reached[node] {
                self.fill_mask(&mut rows[place(node)])?;
            }
        }
        Ok(reached)
    }

    /// The same within a budget. Adds the nodes that are reached to `drafted`, and ends at one of them.
    fn fill_rows_within(
        &mut self,
        tree: &DraftTree,
        budget: usize,
        (rows, row_words): (&mut [u32], usize),
        drafted: &mut Vec<Drafted>,
    ) -> Result<Vec<bool>> {
        let root = self.steps();
        let place = |node: usize| node * row_words..(node + 1) * row_words;
        // drafts would keep each other
        self.promises.forget_draft();
        self.fill_mask_within(budget, &mut rows[place(0)])?;
        drafted.push(Drafted { parent: 0, token: None, promises: self.promises.clone() });
        // where each node stands in `drafted`
        let mut stands = vec![None; tree.len()];
        stands[0] = Some(0);
        for &Visit { node, parent, depth, token } in &tree.visits {
            let (Some(token), Some(above)) = (token, stands[parent]) else { continue };
            let row = &rows[place(parent)];
            let has = |word: &u32| word >> (token.get() % 32) & 1 == 1;
            if !row.get(token.get() as usize / 32).is_some_and(has) {
                continue;
            }
            self.rollback(self.steps() - (root + depth - 1))?;
            // a rollback forgets what is known of the next token
            self.promises.clone_from(&drafted[above].promises);
            if self.try_accept(token)? {
                self.fill_mask_within(budget.saturating_sub(depth), &mut rows[place(node)])?;
                stands[node] = Some(drafted.len());
                drafted.push(Drafted { parent: above, token: Some(token), promises: self.promises.clone() });
            }
        }
        Ok(stands.iter().map(Option::is_some).collect())
    }
}

/// The rows of a tree, all 0.
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
