//! Compares the masks of draft trees with a fork for each node.

use super::agreement::run_case;
use super::generate::{Choices, GrammarShape, random_grammar};
use super::outcome::{Outcome, Step, Stop, same};
use grammata::matcher::DraftTree;
use grammata::{Matcher, TokenId, TokenMask};

/// Draws a grammar, a vocabulary, a position in a text and a tree of tokens after it. The rows of the tree must be the
/// masks of forks that accepted the tokens one by one, and the matcher must not have moved.
///
/// # Errors
/// A description of the first disagreement and of the case.
pub fn tree_masks_agree(bytes: &[u8], shape: &GrammarShape) -> Result<Outcome, String> {
    let mut choices = Choices::new(bytes);
    let grammar = random_grammar(&mut choices, shape);
    run_case(&grammar, shape, &mut choices, |case, choices| {
        let mut matcher = case.compiled.matcher();
        for _ in 0..choices.below(4) {
            let allowed: Vec<TokenId> = matcher.mask()?.iter().collect();
            if allowed.is_empty() {
                break;
            }
            matcher.accept_token(*choices.pick(&allowed))?;
        }
        compare(&mut matcher, choices)?;
        within(&mut matcher, choices)
    })
}

/// A tree under construction: for each node its token, its links and a fork that has accepted the tokens up to it.
#[derive(Default)]
struct Grown {
    tokens: Vec<i64>,
    first_child: Vec<i64>,
    next_sibling: Vec<i64>,
    forks: Vec<Option<Matcher>>,
}

impl Grown {
    fn push(&mut self, token: i64, fork: Option<Matcher>) {
        self.tokens.push(token);
        self.first_child.push(-1);
        self.next_sibling.push(-1);
        self.forks.push(fork);
    }
}

fn compare(matcher: &mut Matcher, choices: &mut Choices<'_>) -> Step {
    let width = matcher.compiled().vocabulary().width();
    let before = (matcher.bytes(), matcher.steps(), matcher.mask()?);
    let mut tree = Grown::default();
    tree.push(i64::MIN, Some(matcher.fork()));
    for node in 1..1 + choices.below(12) {
        let parent = choices.below(node);
        let mut fork = tree.forks[parent].clone();
        let allowed: Vec<TokenId> = match &mut fork {
            Some(fork) => fork.mask()?.iter().collect(),
            None => Vec::new(),
        };
        let token = match choices.below(8) {
            0 => choices.below(width + 2) as i64 - 1,
            1 => i64::from(u32::MAX) + 1,
            _ if allowed.is_empty() => 0,
            _ => i64::from(choices.pick(&allowed).get()),
        };
        let taken = match (&mut fork, u32::try_from(token)) {
            (Some(fork), Ok(token)) => fork.try_accept(TokenId::new(token))?,
            _ => false,
        };
        tree.push(token, fork.filter(|_| taken));
        // insert the new child first, or after the first
        match usize::try_from(tree.first_child[parent]) {
            Ok(first) if choices.chance(50) => {
                tree.next_sibling[node] = std::mem::replace(&mut tree.next_sibling[first], node as i64);
            }
            _ => tree.next_sibling[node] = std::mem::replace(&mut tree.first_child[parent], node as i64),
        }
    }
    let made = DraftTree::new(&tree.first_child, &tree.next_sibling, &tree.tokens)?;
    let row_words = width.div_ceil(32) + choices.below(2);
    let mut rows = vec![u32::MAX; tree.tokens.len() * row_words + 1];
    let reached = matcher.fill_tree_masks(&made, &mut rows, row_words)?;
    let expected: Vec<bool> = tree.forks.iter().map(Option::is_some).collect();
    same("the nodes that are reached", reached, expected)?;
    for (node, fork) in tree.forks.iter_mut().enumerate() {
        let mut expected = vec![0; row_words];
        if let Some(fork) = fork {
            fork.mask()?.write_to(&mut expected)?;
        }
        same(&format!("the row of node {node}"), &rows[node * row_words..][..row_words], &expected[..])?;
    }
    same("what is behind the rows", rows.last(), Some(&u32::MAX))?;
    same("the matcher after a tree", (matcher.bytes(), matcher.steps(), matcher.mask()?), before)?;
    chain(matcher, &tree, row_words, choices)
}

/// Checks a draft of the first tokens of a tree, in the order of its nodes: the rows must be the masks of a fork up to
/// the first token that is refused, and zero after it.
fn chain(matcher: &mut Matcher, tree: &Grown, row_words: usize, choices: &mut Choices<'_>) -> Step {
    let ids = tree.tokens.iter().skip(1).filter_map(|&token| u32::try_from(token).ok()).map(TokenId::new);
    let draft: Vec<TokenId> = ids.take(choices.below(6)).collect();
    let mut rows = vec![u32::MAX; (draft.len() + 1) * row_words];
    let count = matcher.fill_draft_masks(&draft, &mut rows, row_words)?;
    same("the tokens of a draft", count, matcher.validate_tokens(&draft)?)?;
    let mut fork = matcher.fork();
    for (place, row) in rows.chunks(row_words).enumerate() {
        let mut expected = vec![0; row_words];
        if place <= count {
            let mask: std::sync::Arc<TokenMask> = fork.mask()?;
            mask.write_to(&mut expected)?;
        }
        if place < count {
            fork.accept_token(draft[place])?;
        }
        same(&format!("row {place} of a draft"), row, &expected[..])?;
    }
    Ok(())
}

/// Checks a draft within a budget: its rows must be the masks of a fork that computed each mask on its way. Then the
/// draft is accepted without masks in between, and a mask must exist at its end.
fn within(matcher: &mut Matcher, choices: &mut Choices<'_>) -> Step {
    let row_words = matcher.compiled().vocabulary().width().div_ceil(32);
    let least = matcher.distance()?.known().unwrap_or(4);
    let budget = least + choices.below(6);
    let mut draft: Vec<TokenId> = Vec::new();
    let mut fork = matcher.fork();
    let mut expected = Vec::new();
    let mut accepted = Vec::new();
    for place in 0..1 + choices.below(5) {
        let mut row = vec![0; row_words];
        let Some(mask) = found(fork.mask_within(budget.saturating_sub(place)))? else {
            if place > 0 {
                return Err(Stop::Disagreement(format!("no mask within {budget} less {place} tokens")));
            }
            let mut rows = vec![u32::MAX; row_words];
            let filled = found(matcher.fill_draft_masks_within(&[], budget, &mut rows, row_words))?;
            same("a draft without a completion", filled, None)?;
            return same("the rows", rows, row);
        };
        mask.write_to(&mut row)?;
        expected.push(row);
        let allowed: Vec<TokenId> = mask.iter().collect();
        if allowed.is_empty() {
            break;
        }
        let token = *choices.pick(&allowed);
        fork.accept_token(token)?;
        draft.push(token);
        accepted.push(token);
    }
    // the last row is the one after the last token
    accepted.truncate(expected.len().saturating_sub(1));
    let mut rows = vec![u32::MAX; (accepted.len() + 1) * row_words];
    let count = matcher.fill_draft_masks_within(&accepted, budget, &mut rows, row_words)?;
    same("the tokens of a draft within a budget", count, accepted.len())?;
    same(
        "the rows of a draft within a budget",
        rows.chunks(row_words).map(<[u32]>::to_vec).collect::<Vec<_>>(),
        expected,
    )?;
    let mut taken = matcher.fork();
    for &token in &accepted {
        taken.accept_token(token)?;
    }
    if found(taken.mask_within(budget.saturating_sub(accepted.len())))?.is_none() {
        return Err(Stop::Disagreement("a draft within a budget leads to no mask".to_owned()));
    }
    Ok(())
}

/// The result within a budget; `None` if no completion is known within it.
fn found<T>(result: grammata::Result<T>) -> Step<Option<T>> {
    match result {
        Err(error) if error.diagnostic().code() == "matcher/budget" => Ok(None),
        result => Ok(Some(result?)),
    }
}
