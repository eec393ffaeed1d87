//! Residuals whose tokens are nearly those of a loop to which most characters lead.
//!
//! At the beginning of the name of a further member, most first characters lead into a plain string; only prefixes of
//! declared names are distinguished. So the trie is walked with the residual and the loop in lockstep. Where both reach
//! the same configuration, the same tokens are allowed below.

use super::task::{Needs, Outcome, Strategy, Task};
use crate::automaton::ConfigurationId;
use crate::error::Result;
use crate::grammar::ByteSet;
use crate::mask::token_set::Removed;
use crate::mask::tuning::{CHILDREN_BY_THEMSELVES, MAJORITY, MANY_DISAGREEMENTS, RECONVERGING_PAIRS};
use crate::mask::walk::Walk;
use crate::mask::walk::collected::{Collected, NodeBudget};
use crate::token_index::loops::TrieId;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// The row of [`STRATEGIES`](super::STRATEGIES).
pub(super) const STRATEGY: Strategy =
    Strategy { name: "delta", needs: Needs::Base, is_budgeted: false, try_compute };

/// The configuration, other than the dead one, that the most printable ASCII characters lead to. `None` if fewer than
/// [`MAJORITY`] characters lead to it, if it is `configuration` itself or accepts, or if the first of these characters
/// does not lead from it back to itself.
pub(in crate::mask) fn base(
    walk: &mut Walk<'_>,
    configuration: ConfigurationId,
) -> Result<Option<ConfigurationId>> {
    let candidates = walk.lazy.candidate_bytes(configuration);
    if candidates.len() < MAJORITY {
        return Ok(None);
    }
    // the configurations that bytes lead to, each with the number of these bytes and one of them
    let mut counts: SmallVec<[(ConfigurationId, usize, u8); 8]> = SmallVec::new();
    let mut first = b' ';
    while let Some(byte) = (first..=b'~').find(|&byte| candidates.contains(byte)) {
        let (next, last) = walk.lazy.step_run(configuration, byte)?;
        first = last.min(b'~') + 1;
        let run = usize::from(first - byte);
        match counts.iter_mut().rev().find(|(known, ..)| *known == next) {
            Some((_, count, _)) => *count += run,
            None => counts.push((next, run, byte)),
        }
    }
    let most =
        counts.into_iter().filter(|&(next, ..)| next != ConfigurationId::DEAD).max_by_key(|most| most.1);
    let Some((next, _, byte)) = most.filter(|&(next, count, _)| count >= MAJORITY && next != configuration)
    else {
        return Ok(None);
    };
    let loops = !walk.lazy.is_accepting(next) && walk.step(next, byte)? == next;
    Ok(loops.then_some(next))
}

/// The difference between the tokens of a residual and those of its base; not applicable without a base.
pub(super) fn try_compute(walk: &mut Walk<'_>, task: &Task<'_>, budget: NodeBudget) -> Result<Outcome> {
    let Some(base) = task.base else { return Ok(Outcome::NotApplicable) };
    let trie = walk.vocabulary.trie();
    let (mut removed, mut added) = (Vec::new(), Collected::new(task.target, budget));
    let mut diverging = DivergingBytes { base, of: FxHashMap::default() };
    let loops = walk.wide(base);
    // nodes whose path is in the loop
    let mut open = vec![(trie.root(), task.configuration)];
    while let Some((node, left)) = open.pop() {
        let children = trie.steps(node);
        walk.lazy.work.spend(children.len())?;
        let bytes = match diverging.of.get(&left) {
            Some(bytes) => Some(*bytes),
            None if children.len() > CHILDREN_BY_THEMSELVES => Some(diverging.bytes(walk, left)?),
            None => None,
        };
        // if both accept the subtree as a whole, they do not differ in it
        if bytes.is_some_and(|bytes| bytes.len() >= MANY_DISAGREEMENTS)
            && walk.accepts_subtree(trie, node, left, &added)?
            && walk.accepts_subtree(trie, node, base, &added)?
        {
            continue;
        }
        let level = walk.wide(left);
        for child in children.iter().filter(|child| bytes.is_none_or(|bytes| bytes.contains(child.byte))) {
            let left = walk.step_from(left, level.as_ref(), child.byte)?;
            let right = walk.step_from(base, loops.as_ref(), child.byte)?;
            if bytes.is_none() && agree(walk, (left, right), child.byte)? {
                continue;
            }
            if right == base && left.is_ordinary() && !walk.lazy.is_accepting(left) {
                open.push((child.node, left));
                continue;
            }
            // outside of the loop the two have little in common: compute the subtree separately
            if right != ConfigurationId::DEAD {
                removed.extend(trie.subtree_tokens(child.node).iter().map(|token| token.get()));
            }
            walk.run_below(TrieId::ALL, child.node, left, &mut added)?;
        }
    }
    Ok(match Outcome::of(added, walk) {
        Outcome::Done(added) => Outcome::Relative(Removed::new(removed, walk.vocabulary.mask_words()), added),
        limit => limit,
    })
}

/// Per configuration, the bytes after which it differs from the base.
struct DivergingBytes {
    base: ConfigurationId,
    of: FxHashMap<ConfigurationId, ByteSet>,
}

impl DivergingBytes {
    fn bytes(&mut self, walk: &mut Walk<'_>, left: ConfigurationId) -> Result<ByteSet> {
        if let Some(known) = self.of.get(&left) {
            return Ok(*known);
        }
        // along a distinguished name only the next byte of the name differs
        let exception = walk.lazy.exception(left);
        let (own, others) = exception.map_or((None, left), |(own, others)| (Some(own), others));
        if let Some(own) = own {
            let bytes = self.bytes(walk, others)?.union(&ByteSet::range(own, own));
            self.of.insert(left, bytes);
            return Ok(bytes);
        }
        let mut bytes = ByteSet::EMPTY;
        let mut byte = Some(0);
        while let Some(low) = byte {
            let (pair, mut high) = walk.lazy.step_both((left, self.base), low)?;
            if low.is_ascii() {
                high = high.min(0x7F);
            }
            if !agree(walk, pair, low)? {
                bytes = bytes.union(&ByteSet::range(low, high));
            }
            byte = high.checked_add(1);
        }
        self.of.insert(left, bytes);
        Ok(bytes)
    }
}

/// Whether two configurations after a byte are the same, or, after a byte beyond ASCII, [`reconverge`].
fn agree(walk: &mut Walk<'_>, pair: (ConfigurationId, ConfigurationId), byte: u8) -> Result<bool> {
    Ok(pair.0 == pair.1 || !byte.is_ascii() && reconverge(walk, pair)?)
}

/// Whether two configurations allow the same bytes, and neither accepts, until they become the same, whatever the bytes
/// are. False if one depends on the history, or if more than [`RECONVERGING_PAIRS`] pairs would have to be examined.
fn reconverge(walk: &mut Walk<'_>, pair: (ConfigurationId, ConfigurationId)) -> Result<bool> {
    let mut pairs = vec![pair];
    let mut next = 0;
    while let Some(&(left, right)) = pairs.get(next) {
        next += 1;
        let cache = &walk.lazy.cache;
        if !left.is_ordinary()
            || !right.is_ordinary()
            || cache.is_history_dependent(left)
            || cache.is_history_dependent(right)
            || cache.is_accepting(left)
            || cache.is_accepting(right)
        {
            return Ok(false);
        }
        let mut byte = Some(0);
        while let Some(low) = byte {
            let (pair, high) = walk.lazy.step_both((left, right), low)?;
            if pair.0 != pair.1 && !pairs.contains(&pair) {
                if pairs.len() >= RECONVERGING_PAIRS {
                    return Ok(false);
                }
                pairs.push(pair);
            }
            byte = high.checked_add(1);
        }
    }
    Ok(true)
}
