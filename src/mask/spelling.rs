//! Checks whether a vocabulary can spell the words of a grammar.
//!
//! A byte without a token of its own is harmless where another byte will do: the mask never leads to a text that needs
//! the missing byte. It is harmful if a part of the grammar has no words without that byte.

use crate::diagnostic::{Diagnostic, excerpt_bytes};
use crate::grammar::analysis::{Analysis, productive};
use crate::grammar::{CharClass, Expression, Grammar};
use regex_syntax::utf8::Utf8Sequences;

/// The warning about the first part of a grammar that needs missing bytes, if there is one.
pub(super) fn unspellable(grammar: &Grammar, missing: &[bool; 256]) -> Option<Diagnostic> {
    if !missing.contains(&true) {
        return None;
    }
    let has = |low: u8, high: u8| (low..=high).any(|byte| !missing[usize::from(byte)]);
    let spelled = |expression: &Expression| match expression {
        Expression::Bytes(bytes) => bytes.iter().all(|&byte| has(byte, byte)),
        Expression::ByteSet(set) => set.ranges().any(|(low, high)| has(low, high)),
        Expression::Class(class) => class_is_spelled(class, has),
        _ => true,
    };
    let (all, without) = (productive(grammar), Analysis::productive_if(grammar, spelled));
    let ids = (0..grammar.expressions().len()).filter_map(crate::grammar::ExprId::new);
    let lost = ids.into_iter().find(|&id| all.holds(id) && !without.holds(id))?;
    let found = match grammar.expression(lost) {
        Expression::Bytes(bytes) => format!("the text {:?}", excerpt_bytes(bytes)),
        Expression::Class(class) => {
            let first = class.ranges().first().map_or(' ', |range| range.0);
            format!("a class of characters that begins with {first:?}")
        }
        _ => "a set of bytes".into(),
    };
    let message = "a part of the grammar needs bytes that have no token of their own: a text could get stuck";
    Some(
        Diagnostic::new("mask/missing-bytes", message)
            .at(grammar.place_of(lost))
            .found(found)
            .help("use a tokenizer with byte fallback, or keep such characters out of the grammar"),
    )
}

/// Whether the class has a character that can be spelled, and no character that can be started but not completed.
fn class_is_spelled(class: &CharClass, has: impl Fn(u8, u8) -> bool) -> bool {
    let mut any = false;
    for &(low, high) in class.ranges() {
        for sequence in Utf8Sequences::new(low, high) {
            let mut ranges = sequence.as_slice().iter();
            let begins = ranges.next().is_some_and(|range| has(range.start, range.end));
            if begins && !ranges.all(|range| has(range.start, range.end)) {
                return false;
            }
            any |= begins;
        }
    }
    any
}
