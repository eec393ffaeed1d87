//! Checks of texts against grammars.

use grammata::automaton::{Automaton, Cache, ConfigurationId, Lazy};
use grammata::error::Result;
use grammata::grammar::Grammar;
use grammata::limits::Limits;

/// Returns the length in bytes of the longest prefix that begins a word of an automaton, or `None` if the text is a
/// word. The result is the length of the text if only the end of a word is missing.
///
/// # Errors
/// Limits.
pub(in crate::procedures) fn wrong_byte(run: &mut Lazy<'_>, text: &str) -> Result<Option<usize>> {
    let mut at = run.start()?;
    for (place, &byte) in text.as_bytes().iter().enumerate() {
        at = run.step(at, byte)?;
        if at == ConfigurationId::DEAD {
            return Ok(Some(place));
        }
    }
    Ok((!run.is_accepting(at)).then_some(text.len()))
}

/// Returns why a text is not a word of a grammar: up to 40 characters before the error and up to 40 after. Returns
/// `None` if the text is a word.
///
/// # Errors
/// Limits.
pub fn word_error(grammar: &Grammar, limits: &Limits, text: &str) -> Result<Option<String>> {
    let automaton = Automaton::new(grammar, limits)?;
    let mut tables = Cache::new();
    let mut run = Lazy::new(&automaton, &mut tables);
    let Some(place) = wrong_byte(&mut run, text)? else { return Ok(None) };
    let place = text.floor_char_boundary(place);
    let (good, bad) = text.split_at(place);
    let start = good.char_indices().rev().take(40).last().map_or(0, |(at, _)| at);
    let bad: String = bad.chars().take(40).collect();
    let good = good.get(start..).unwrap_or_default();
    Ok(Some(match bad.as_str() {
        "" => format!("it ends too early, after `{good}`"),
        bad => format!("`{bad}` may not come after `{good}`"),
    }))
}
