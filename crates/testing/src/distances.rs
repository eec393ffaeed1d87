//! Compares distances to the end, and masks within budgets, with exhaustive search.

use super::agreement::{Case, run_case};
use super::earley::State;
use super::generate::{Choices, GrammarShape, random_grammar};
use super::outcome::{Outcome, Step, Stop, decided, same};
use grammata::mask::Distance;
use grammata::{Matcher, TokenId};

/// Draws a grammar, a vocabulary and a walk. At its start and at one later position, the distances must be those found
/// by trying all bytes and all tokens.
///
/// # Errors
/// A description of the first disagreement and of the case.
pub fn distances_agree(bytes: &[u8], shape: &GrammarShape) -> Result<Outcome, String> {
    let mut choices = Choices::new(bytes);
    let grammar = random_grammar(&mut choices, shape);
    run_case(&grammar, shape, &mut choices, |case, choices| {
        let (mut matcher, mut state) = (case.compiled.matcher(), case.recogniser.start());
        let mut taken = Vec::new();
        compare(case, &mut matcher, &state, &taken)?;
        for _ in 0..=choices.below(6) {
            let allowed: Vec<TokenId> = matcher.mask()?.iter().collect();
            let token = *choices.pick(&allowed);
            let (after, by_id) = case.after_token(&state, token.get());
            let is_end = case.vocabulary.eos.contains(&token.get());
            if is_end && (!by_id || case.is_end(&after, token.get())) {
                break;
            }
            matcher.accept_token(token)?;
            taken.push(token);
            state = after;
        }
        compare(case, &mut matcher, &state, &taken)
    })
}

fn compare(case: &Case<'_>, matcher: &mut Matcher, state: &State, taken: &[TokenId]) -> Step {
    // ask a fork that has computed no mask, and then a fork that has computed one
    let mut fork = case.compiled.matcher();
    match case.sets.is_empty() {
        true => fork.accept_bytes(&matcher.bytes())?,
        false => taken.iter().try_for_each(|&token| fork.accept_token(token))?,
    }
    let tokens = (0..case.vocabulary.width as u32 + 2).map(TokenId::new);
    let before: Vec<bool> =
        tokens.clone().map(|token| fork.is_token_allowed(token)).collect::<grammata::Result<_>>()?;
    let mask = matcher.mask()?;
    for (token, before) in tokens.zip(before) {
        same(
            "may come",
            (before, matcher.is_token_allowed(token)?),
            (mask.contains(token), mask.contains(token)),
        )?;
    }
    // to the oracle, a token matched by its id is one symbol and not a byte
    if case.sets.is_empty() {
        let least = decided(case.recogniser.completion(state))?.map(|completion| completion.len());
        agree("bytes", matcher.distance_in_bytes()?, least)?;
    }
    let fewest = decided(case.fewest_tokens(state))?;
    agree("tokens", matcher.distance()?, fewest)
}

/// Checks that a known distance is true, and exact unless a search reached its limit.
fn agree(what: &str, known: Distance, truth: Option<usize>) -> Step {
    match (known, truth) {
        (Distance::Exact(known), Some(truth)) if known == truth => Ok(()),
        (Distance::Unreachable, None) => Ok(()),
        (Distance::AtMost(known), Some(truth)) if known >= truth => Err(Stop::Undecided),
        (Distance::Unknown, _) => Err(Stop::Undecided),
        _ => Err(Stop::Disagreement(format!(
            "the distance in {what}: the engine says {known:?}, the oracle {truth:?}"
        ))),
    }
}

/// Draws a grammar, a vocabulary, a sufficient budget, and a walk under masks within it. At one position the mask must
/// be that found by trying all tokens; some steps are undone and others taken; the walk must end with a word in time.
///
/// # Errors
/// A description of the first disagreement and of the case.
pub fn budgets_agree(bytes: &[u8], shape: &GrammarShape) -> Result<Outcome, String> {
    let mut choices = Choices::new(bytes);
    let grammar = random_grammar(&mut choices, shape);
    run_case(&grammar, shape, &mut choices, |case, choices| {
        let mut matcher = case.compiled.matcher();
        let Distance::Exact(least) = matcher.distance()? else { return Err(Stop::Undecided) };
        if let Some(less) = least.checked_sub(1) {
            let code = matcher.mask_within(less).err().map(|error| error.code());
            same("a budget too small", code, Some("matcher/budget"))?;
        }
        let budget = least + [0, 0, 1, 2, 3, 5, 1 << 40][choices.below(7)];
        let compared = choices.below(4);
        let mut states = vec![case.recogniser.start()];
        for step in 0..40 {
            let left = budget - matcher.steps();
            let mask = matcher.mask_within(left)?;
            let state = &states[states.len() - 1];
            if step == compared {
                let (known, truth) = (mask.iter().collect::<Vec<_>>(), tokens_within(case, state, left)?);
                let plain: Vec<TokenId> = matcher.mask()?.iter().collect();
                for token in plain {
                    let may_come = matcher.is_token_allowed_within(token, left)?;
                    let what = || format!("whether {token:?} may come within {left} tokens");
                    if known.contains(&token) {
                        same(&what(), may_come, true)?;
                    } else if may_come {
                        same(&what(), may_come, truth.contains(&token))?;
                    }
                }
                let counts = case.compiled.statistics();
                if known != truth && known.iter().all(|token| truth.contains(token)) {
                    // tokens whose distance is not exact may be allowed too
                    let inexact = counts.distances_at_most + counts.distances_unknown > 0;
                    decided(Some(()).filter(|()| !inexact))?;
                }
                same(&format!("the mask within {left} tokens"), known, truth)?;
            }
            let allowed: Vec<TokenId> = mask.iter().collect();
            if allowed.is_empty() && left == 0 {
                // here every end token is part of the text
                return same("that a text cannot end", allowed, tokens_within(case, state, left)?);
            }
            if allowed.is_empty() {
                return Err(Stop::Disagreement(format!("no token within {left} tokens")));
            }
            if matcher.steps() > 0 && choices.below(6) == 0 {
                matcher.rollback(1)?;
                states.pop();
                continue;
            }
            let token = *choices.pick(&allowed);
            let (after, by_id) = case.after_token(state, token.get());
            if case.vocabulary.eos.contains(&token.get()) && (!by_id || case.is_end(&after, token.get())) {
                let is_word = if by_id { &after } else { state };
                return same("the text is a word", true, case.recogniser.is_accepting(is_word));
            }
            states.push(after);
            matcher.accept_token(token)?;
            if left == 1 {
                same("the text at the end of the budget is a word", matcher.is_accepting(), true)?;
                let ends: Vec<u32> = matcher.mask_within(0)?.iter().map(TokenId::get).collect();
                if case.sets.is_empty() {
                    same("the mask at the end of the budget", ends, case.vocabulary.eos.clone())?;
                }
                return Ok(());
            }
        }
        Ok(())
    })
}

/// The tokens after which a word is reachable within the budget, found by trying each.
fn tokens_within(case: &Case<'_>, state: &State, budget: usize) -> Step<Vec<TokenId>> {
    let mut within = Vec::new();
    for id in 0..case.vocabulary.width as u32 {
        let is_text = case.vocabulary.tokens.get(id as usize).is_some_and(Option::is_some);
        let (after, by_id) = case.after_token(state, id);
        let is_within = match budget > 0 && (is_text || by_id) {
            _ if case.vocabulary.eos.contains(&id) && !by_id => case.recogniser.is_accepting(state),
            // an end token of a token terminal is part of the text, except where it ends a complete one
            false if by_id && case.is_end(&after, id) => case.recogniser.is_accepting(state),
            true if decided(case.recogniser.is_viable(&after))? => {
                decided(case.fewest_tokens(&after))?.is_some_and(|fewest| fewest < budget)
            }
            _ => false,
        };
        within.extend(is_within.then_some(TokenId::new(id)));
    }
    Ok(within)
}
