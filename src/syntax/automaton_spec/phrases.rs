//! Phrases: lines of written plans that mean several steps, or none.

use super::errors;
use super::place::pointer;
use super::symbol::{Symbol, Symbols};
use crate::error::{Errors, Result};
use rustc_hash::FxHashMap;

/// A line of a written plan that means several steps, or none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Phrase {
    /// The line. `{}` in it is replaced by a subset of the set of the only set-valued step; without a set-valued step
    /// it is a text like others.
    pub text: String,
    /// The steps in order of execution, as indices into the spec's symbols; empty for a note, which is not a step.
    pub steps: Vec<usize>,
}

/// A phrase as written.
#[derive(Clone, Debug, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Phrase")]
pub(super) struct WrittenPhrase {
    /// A line of a written plan. `{}` in it is replaced by a subset if one of the steps is set-valued.
    text: String,
    /// The names of the steps that the line means, in order of execution; empty if it is a note.
    #[serde(default)]
    steps: Vec<String>,
}

/// Resolves the names of the phrases' steps.
///
/// # Errors
/// `automaton-spec/undefined` for unknown names; `automaton-spec/phrase` for a text without letters and digits, for
/// steps with arguments, for several set-valued steps, and for a set-valued step if the text does not have `{}` once.
/// Up to 20 errors.
pub(super) fn resolve(
    written: &[WrittenPhrase],
    symbols: &Symbols,
    numbers: &FxHashMap<&str, usize>,
) -> Result<Vec<Phrase>> {
    let mut errors = Errors::default();
    let mut phrases = Vec::with_capacity(written.len());
    for (number, written) in written.iter().enumerate() {
        let number = number.to_string();
        let mut steps = Vec::with_capacity(written.steps.len());
        for (place, name) in written.steps.iter().enumerate() {
            match numbers.get(name.as_str()) {
                Some(&step) => steps.push(step),
                None => errors.push(errors::undefined(
                    "symbol",
                    name,
                    pointer(["phrases", &number, "steps", &place.to_string()]),
                    numbers.keys().copied(),
                )),
            }
        }
        let of_steps = || steps.iter().filter_map(|&step| symbols.0.get(step));
        if let Some(wrong) = wrong(&written.text, of_steps) {
            errors.push(errors::bad_phrase(wrong, pointer(["phrases", &number])));
        }
        phrases.push(Phrase { text: written.text.clone(), steps });
    }
    errors.finish()?;
    Ok(phrases)
}

/// Returns why a phrase with these steps cannot be read; `None` if it can.
fn wrong<'s, I: Iterator<Item = &'s Symbol>>(text: &str, symbols: impl Fn() -> I) -> Option<&'static str> {
    let sets = symbols().filter(|symbol| symbol.set.is_some()).count();
    if !text.contains(char::is_alphanumeric) {
        return Some("the text of a phrase has no letter and no digit");
    }
    if symbols().any(|symbol| symbol.arguments.is_some()) {
        return Some("a step of a phrase has arguments, which the phrase cannot say");
    }
    if sets > 1 {
        return Some("several steps of a phrase are set-valued");
    }
    (sets == 1 && text.matches("{}").count() != 1)
        .then_some("the text of a phrase with a set-valued step needs one `{}` for the set")
}
