//! The search for a completion with fewer tokens: breadth first over configurations between tokens. Each token is
//! walked along the trie as long as its remaining bytes, and further tokens, could reach a word.

use super::{Effort, With};
use crate::automaton::{ConfigurationId, Estimates, Lazy};
use crate::collections::best_first::Frontier;
use crate::error::Result;
use crate::vocabulary::TokenId;

/// The result of a search for a completion with fewer tokens.
pub(super) enum Fewer {
    /// A completion with the fewest tokens among the paths that were searched.
    Tokens(Vec<TokenId>),
    /// No path that was searched has a completion with fewer tokens than were known.
    None,
    /// On the paths that were searched, no completion has fewer tokens than this number; those with as many or more
    /// were not all examined.
    GaveUp(usize),
}

/// Searches for a completion of at least one token, and of fewer than `most` tokens if that is given. With
/// [`Effort::Short`] it follows only paths on which the lower bound on the remaining bytes falls with each byte. It
/// gives up when more than `limit` nodes of the trie and terminals are visited; `searched` counts them.
pub(super) fn search(
    lazy: &mut Lazy<'_>,
    estimates: &mut Estimates,
    With { index, terminals }: With<'_>,
    (from, effort): (ConfigurationId, Effort),
    (most, limit): (Option<usize>, usize),
    searched: &mut usize,
) -> Result<Fewer> {
    let (vocabulary, heights) = (index.vocabulary(), index.trie_heights());
    let trie = vocabulary.trie();
    let longest = (vocabulary.longest() as usize).max(1);
    let mut frontier = Frontier::new(from, 0, 0);
    let mut visited = 0;
    while let Some((used, place)) = frontier.pop() {
        // whether a completion of `tokens` more tokens, including the current one, is short enough
        let fits = |tokens: usize| most.is_none_or(|most| used + tokens < most);
        if !fits(1) {
            return Ok(Fewer::None);
        }
        let start = frontier.trail().place(place).0;
        let products = lazy.product_operands();
        // a token read both by bytes and by id leads to the union of both results, so each may be followed alone
        let before = estimates.of(lazy, start)? as usize;
        for (terminal, next) in lazy.after_terminals(start)? {
            visited += 1;
            *searched += 1;
            let Some(token) = terminals.example(terminal, vocabulary) else { continue };
            if lazy.is_accepting(next) {
                return Ok(Fewer::Tokens(way(&frontier, place, token)));
            }
            let left = estimates.of(lazy, next)? as usize;
            let is_short = effort != Effort::Short || left <= before;
            if is_short && fits(1 + left.div_ceil(longest).max(1)) && frontier.is_cheaper(&next, used + 1) {
                frontier.push(used + 1, (next, used + 1), place, token);
            }
        }
        let mut open = vec![(trie.root(), start, before)];
        while let Some((node, at, before)) = open.pop() {
            for child in trie.steps(node) {
                visited += 1;
                *searched += 1;
                if visited > limit {
                    return Ok(Fewer::GaveUp(used + 1));
                }
                let next = lazy.step(at, child.byte)?;
                if !next.is_ordinary() {
                    continue;
                }
                let left = estimates.of(lazy, next)? as usize;
                if effort == Effort::Short && left >= before {
                    continue;
                }
                let below = heights[child.node as usize] as usize;
                if !fits(1 + left.saturating_sub(below).div_ceil(longest)) {
                    continue;
                }
                let token = trie.tokens(child.node).iter().find(|&&token| !vocabulary.is_eos(token));
                if let Some(&token) = token {
                    if lazy.is_accepting(next) {
                        return Ok(Fewer::Tokens(way(&frontier, place, token)));
                    }
                    if fits(1 + left.div_ceil(longest).max(1)) && frontier.is_cheaper(&next, used + 1) {
                        frontier.push(used + 1, (next, used + 1), place, token);
                    }
                }
                if below > 0 {
                    open.push((child.node, next, left));
                }
            }
        }
        lazy.spend_on_products(products)?;
    }
    Ok(Fewer::None)
}

/// The tokens on the path to a place, followed by `last`.
fn way(frontier: &Frontier<ConfigurationId, TokenId, usize>, place: usize, last: TokenId) -> Vec<TokenId> {
    let mut tokens = frontier.trail().letters(place);
    tokens.push(last);
    tokens
}
