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

/// Draws a grammar, a vocabulary and a walk. At each place the upper bound on the tokens of a completion must be a
/// potential: at least the distance found by trying all tokens, 0 only where the text is a word, and otherwise lower
/// after some token. A case without a bound at any place is undecided.
///
/// # Errors
/// A description of the first disagreement and of the case.
pub fn potentials_agree(bytes: &[u8], shape: &GrammarShape) -> Result<Outcome, String> {
    let mut choices = Choices::new(bytes);
    let grammar = random_grammar(&mut choices, shape);
    run_case(&grammar, shape, &mut choices, |case, choices| {
        let (mut matcher, mut state) = (case.compiled.matcher(), case.recogniser.start());
        let mut bounds = 0;
        for _ in 0..=choices.below(6) {
            let allowed: Vec<TokenId> = matcher.mask()?.iter().collect();
            if let Some(bound) = matcher.potential()? {
                bounds += 1;
                let fewest = decided(case.fewest_tokens(&state))?;
                let is_bound = fewest.is_some_and(|fewest| fewest <= bound);
                same(&format!("that {bound} tokens suffice, where {fewest:?} do"), is_bound, true)?;
                same("a bound of 0", bound == 0, matcher.is_accepting())?;
                let mut falls = bound == 0;
                for &token in &allowed {
                    let mut ahead = matcher.fork();
                    if !falls && ahead.accept_token(token).is_ok() && !ahead.is_finished() {
                        falls = ahead.potential()?.is_some_and(|after| after < bound);
                    }
                    falls |= bound == 1 && ahead.is_accepting();
                }
                same(&format!("that some token lowers the bound {bound}"), falls, true)?;
            }
            let token = *choices.pick(&allowed);
            let (after, by_id) = case.after_token(&state, token.get());
            let is_end = case.vocabulary.eos.contains(&token.get());
            if is_end && (!by_id || case.is_end(&after, token.get())) {
                break;
            }
            matcher.accept_token(token)?;
            state = after;
        }
        decided(Some(()).filter(|()| bounds > 0))
    })
}

/// Draws a grammar, a vocabulary, a sufficient budget, and a walk under masks within it. At one position the mask must
/// have no token but those found by trying all tokens, and queries of single tokens must agree with it; the case is
/// undecided if the mask lacks some of them. Some steps are undone and others taken; the walk must end with a word in time.
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
        let mut is_least = true;
        for step in 0..40 {
            let left = budget - matcher.steps();
            let mask = matcher.mask_within(left)?;
            let state = &states[states.len() - 1];
            if step == compared {
                let (known, truth) = (mask.iter().collect::<Vec<_>>(), tokens_within(case, state, left)?);
                let plain: Vec<TokenId> = matcher.mask()?.iter().collect();
                for token in plain {
                    let what = format!("whether {token:?} may come within {left} tokens");
                    same(&what, matcher.is_token_allowed_within(token, left)?, known.contains(&token))?;
                }
                // the bound after a token need not be the least one, so that tokens may be missing
                let wrong: Vec<TokenId> =
                    known.iter().copied().filter(|token| !truth.contains(token)).collect();
                same(&format!("wrong tokens within {left} tokens"), wrong, Vec::new())?;
                is_least = known == truth;
            }
            let allowed: Vec<TokenId> = mask.iter().collect();
            if allowed.is_empty() && matcher.is_accepting() {
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
                same("the text is a word", true, case.recogniser.is_accepting(is_word))?;
                break;
            }
            states.push(after);
            matcher.accept_token(token)?;
            if left == 1 {
                same("the text at the end of the budget is a word", matcher.is_accepting(), true)?;
                let ends: Vec<u32> = matcher.mask_within(0)?.iter().map(TokenId::get).collect();
                if case.sets.is_empty() {
                    same("the mask at the end of the budget", ends, case.vocabulary.eos.clone())?;
                }
                break;
            }
        }
        decided(Some(()).filter(|()| is_least))
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
