//! Steps that explain a rejection by an error.

use super::open_parts::Parts;
use super::state::Matcher;
use super::{errors, explain, parts, steps};
use crate::error::{Error, Result};
use crate::grammar::Expression;
use crate::vocabulary::TokenId;
use std::sync::Arc;

/// The error `matcher/part-bound` for a rejected input, if the bound of a part is the reason; otherwise `None`.
/// `accept` repeats the input on a matcher without bounds.
pub(super) fn refusal_of_part(
    m: &mut Matcher,
    accept: impl FnOnce(&mut Matcher) -> Result<bool>,
) -> Result<Option<Error>> {
    let open = parts::with_readings(m, |_, readings| {
        let open = readings.iter().find_map(|reading| reading.open.as_ref());
        Ok(open.map(|open| (open.part, open.left)))
    })?;
    let Some(open) = open else { return Ok(None) };
    let mut unbounded = m.clone();
    unbounded.parts = Parts::free();
    if !accept(&mut unbounded)? {
        return Ok(None);
    }
    let grammar = m.compiled.grammar();
    let part = open.and_then(|(part, left)| match grammar.expression(part.expression()) {
        &Expression::MaxTokens { body, most } => match grammar.expression(body) {
            Expression::Rule(rule) => Some((&*grammar.rule(*rule).name, most, left)),
            _ => None,
        },
        _ => None,
    });
    Ok(Some(errors::part_bound(part, m.path.byte_count())))
}

pub(super) fn accept_token(m: &mut Matcher, token: TokenId) -> Result<()> {
    match steps::try_accept(m, token)? {
        true => Ok(()),
        false => Err(refusal(m, token)?),
    }
}

pub(super) fn accept_bytes(m: &mut Matcher, bytes: &[u8]) -> Result<()> {
    match steps::try_accept_bytes(m, bytes)? {
        true => Ok(()),
        false => Err(refusal_of_text(m, bytes)?),
    }
}

/// The error of rejected bytes: `matcher/part-bound` if the bound of a part is the reason, otherwise
/// `matcher/ended` after the end of the text, otherwise `matcher/rejected`.
fn refusal_of_text(m: &mut Matcher, bytes: &[u8]) -> Result<Error> {
    if let Some(error) = refusal_of_part(m, |matcher| steps::try_accept_bytes(matcher, bytes))? {
        return Ok(error);
    }
    refusal_by_grammar(m, bytes)
}

/// Explains why bytes are rejected: after the end of the text, or by the grammar.
fn refusal_by_grammar(m: &mut Matcher, bytes: &[u8]) -> Result<Error> {
    match m.path.has_ended() {
        true => Ok(errors::after_end(m.path.byte_count())),
        false => Ok(errors::rejected(&explain::explain(m, bytes)?)),
    }
}

/// The error of a token that [`try_accept`](Matcher::try_accept) has rejected at this place.
fn refusal(m: &mut Matcher, token: TokenId) -> Result<Error> {
    if let Some(error) = refusal_of_part(m, |matcher| steps::try_accept(matcher, token))? {
        return Ok(error);
    }
    let vocabulary = Arc::clone(m.compiled.vocabulary());
    if m.compiled.is_end(token) {
        return refusal_by_grammar(m, b"");
    }
    if m.compiled.automaton().has_terminals() && steps::has_token_edges(m)? {
        return Ok(errors::rejected_token(&vocabulary, token, &explain::explain_token(m, token)?));
    }
    match vocabulary.bytes(token) {
        Some(bytes) => {
            if let Some(error) = refusal_of_part(m, |matcher| steps::try_accept_bytes(matcher, bytes))? {
                return Ok(error);
            }
            match m.path.has_ended() {
                true => Ok(errors::after_end(m.path.byte_count())),
                false => Ok(errors::rejected_token(&vocabulary, token, &explain::explain(m, bytes)?)),
            }
        }
        None => Ok(errors::not_text(&vocabulary, token, m.path.byte_count())),
    }
}
