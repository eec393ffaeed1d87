//! Completions that masks within a budget rely on.
//!
//! After the first token of a known completion, the other tokens are a completion again, even if a search from there
//! would not find one. So a matcher carries the completion along while its tokens are accepted, and restores it on
//! rollback.

use crate::mask::TokenMask;
use crate::vocabulary::TokenId;
use std::sync::Arc;

/// The completions known at some steps, latest first.
#[derive(Clone, Debug, Default)]
pub(super) struct Promises {
    last: Option<Arc<Promise>>,
    /// The number of steps after which the last completion was left by another token or by bytes; [`usize::MAX`] while
    /// it is followed.
    followed_until: usize,
    /// The number of steps before the next token, and possible next tokens with a completion after each, sorted by
    /// token.
    leads: Option<(usize, Arc<Leads>)>,
    /// The number of steps, a budget, and the mask within it there, for queries of single tokens.
    masked: Option<Arc<(usize, usize, Arc<TokenMask>)>>,
    /// The nodes of a draft with the completions known there, and the index of the node where the matcher is.
    drafted: Option<(Arc<[Drafted]>, usize)>,
}

/// A node of a draft for which masks were computed: the promises of a matcher that has accepted the tokens from the
/// root to the node and computed the mask there.
#[derive(Debug)]
pub(super) struct Drafted {
    /// The index of the parent in the list of nodes; 0 for the root.
    pub(super) parent: usize,
    /// The token that leads from the parent to the node; `None` for the root.
    pub(super) token: Option<TokenId>,
    pub(super) promises: Promises,
}

/// A token with a completion after it.
pub(super) type Lead = (TokenId, Arc<[TokenId]>);

type Leads = [Lead];

#[derive(Debug)]
struct Promise {
    /// The number of steps of the path before the completion.
    from: usize,
    tokens: Arc<[TokenId]>,
    before: Promises,
}

/// Promises are dropped in a loop: recursion could overflow the stack.
impl Drop for Promise {
    fn drop(&mut self) {
        let mut next = self.before.last.take();
        while let Some(mut promise) = next.and_then(Arc::into_inner) {
            next = promise.before.last.take();
        }
    }
}

impl Promises {
    /// The rest of the completion that is followed, after `steps` steps; `None` if none is followed.
    pub(super) fn ahead(&self, steps: usize) -> Option<&[TokenId]> {
        let last = self.last.as_ref().filter(|_| steps <= self.followed_until)?;
        last.tokens.get(steps.checked_sub(last.from)?..)
    }

    /// Adds a completion that begins after `steps` steps.
    pub(super) fn add(&mut self, steps: usize, tokens: Arc<[TokenId]>) {
        let Promises { last, followed_until, leads: _, masked: _, drafted } = std::mem::take(self);
        let before = Promises { last, followed_until, ..Promises::default() };
        let last = Some(Arc::new(Promise { from: steps, tokens, before }));
        *self = Promises { last, followed_until: usize::MAX, leads: None, masked: None, drafted };
    }

    /// Keeps tokens that may come after `steps` steps, each with a completion after it, in addition to those already
    /// kept for `steps`. Of several completions per token the shortest is kept.
    pub(super) fn lead(&mut self, steps: usize, mut leads: Vec<(TokenId, Arc<[TokenId]>)>) {
        if let Some((_, known)) = self.leads.take_if(|(at, _)| *at == steps) {
            leads.extend_from_slice(&known);
        }
        leads.sort_unstable_by_key(|lead| (lead.0, lead.1.len()));
        leads.dedup_by_key(|lead| lead.0);
        self.leads = (!leads.is_empty()).then(|| (steps, leads.into()));
    }

    /// The completion kept for the case that `token` comes after `steps` steps, if there is one.
    pub(super) fn lead_after(&self, steps: usize, token: TokenId) -> Option<&[TokenId]> {
        let (_, leads) = self.leads.as_ref().filter(|(at, _)| *at == steps)?;
        let place = leads.binary_search_by_key(&token, |lead| lead.0).ok()?;
        Some(&leads[place].1)
    }

    /// Keeps the mask within a budget after `steps` steps.
    pub(super) fn masked(&mut self, steps: usize, budget: usize, mask: &Arc<TokenMask>) {
        self.masked = Some(Arc::new((steps, budget, Arc::clone(mask))));
    }

    /// The mask within a budget after `steps` steps, if it is the one kept last.
    pub(super) fn mask(&self, steps: usize, budget: usize) -> Option<&Arc<TokenMask>> {
        let (at, within, mask) = &**self.masked.as_ref()?;
        (*at == steps && *within == budget).then_some(mask)
    }

    /// Takes over the promises at the nodes of a draft. The first node is where the matcher is, and each node comes
    /// after its parent.
    pub(super) fn draft(&mut self, nodes: Vec<Drafted>) {
        if let Some(root) = nodes.first() {
            *self = root.promises.clone();
            self.drafted = Some((nodes.into(), 0));
        }
    }

    /// Drops the draft whose nodes' promises were taken over. The completions known at the current place stay.
    pub(super) fn forget_draft(&mut self) {
        self.drafted = None;
    }

    /// Records the step after `steps` steps: a token, or `None` for bytes.
    pub(super) fn took(&mut self, steps: usize, token: Option<TokenId>) {
        if let Some((nodes, at)) = self.drafted.take() {
            let is_next = |node: &Drafted| node.parent == at && node.token == token && token.is_some();
            if let Some(next) = (at + 1..nodes.len()).find(|&next| is_next(&nodes[next])) {
                *self = nodes[next].promises.clone();
                self.drafted = Some((nodes, next));
                return;
            }
        }
        if let Some(ahead) = self.ahead(steps)
            && (token.is_none() || ahead.first().copied() != token)
        {
            self.followed_until = steps;
        }
        if let Some((_, leads)) = self.leads.take_if(|(at, _)| *at == steps)
            && let Some(token) = token
            && let Ok(place) = leads.binary_search_by_key(&token, |lead| lead.0)
            && self.ahead(steps + 1).is_none_or(|ahead| ahead.len() > leads[place].1.len())
        {
            self.add(steps + 1, Arc::clone(&leads[place].1));
        }
        (self.leads, self.masked) = (None, None);
    }

    /// Records a rollback to `steps` steps.
    pub(super) fn rolled_back(&mut self, steps: usize) {
        (self.leads, self.masked, self.drafted) = (None, None, None);
        while let Some(last) = self.last.take_if(|last| last.from > steps) {
            *self = last.before.clone();
        }
        if steps <= self.followed_until {
            self.followed_until = usize::MAX;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(ids: &[u32]) -> Arc<[TokenId]> {
        ids.iter().copied().map(TokenId::new).collect()
    }

    #[test]
    fn a_promise_holds_as_long_as_it_is_followed_and_again_after_a_rollback() {
        let mut promises = Promises::default();
        assert_eq!(promises.ahead(0), None);
        promises.add(2, tokens(&[5, 6, 7]));
        promises.took(2, Some(TokenId::new(5)));
        assert_eq!(promises.ahead(3), Some(&*tokens(&[6, 7])));
        promises.took(3, Some(TokenId::new(9)));
        assert_eq!(promises.ahead(4), None);
        promises.add(4, tokens(&[1]));
        promises.took(4, None);
        assert_eq!(promises.ahead(5), None);
        promises.rolled_back(4);
        assert_eq!(promises.ahead(4), Some(&*tokens(&[1])));
        promises.rolled_back(3);
        assert_eq!(promises.ahead(3), Some(&*tokens(&[6, 7])));
        promises.took(3, Some(TokenId::new(6)));
        promises.took(4, Some(TokenId::new(7)));
        assert_eq!(promises.ahead(5), Some(&[][..]));
        promises.rolled_back(1);
        assert_eq!(promises.ahead(1), None);
    }

    #[test]
    fn many_promises_are_dropped_without_deep_recursion() {
        let mut promises = Promises::default();
        (0..300_000).for_each(|step| promises.add(step, tokens(&[1])));
        let fork = promises.clone();
        drop(promises);
        assert_eq!(fork.ahead(299_999).map(<[TokenId]>::len), Some(1));
    }
}
