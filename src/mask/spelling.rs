//! Checks whether a vocabulary can spell the words of a grammar.
//!
//! A byte without a token of its own is harmless where another byte will do: the mask never leads to a text that needs
//! the missing byte. It is harmful if a part of the grammar has no words without that byte.

use crate::diagnostic::{Diagnostic, excerpt_bytes};
use crate::grammar::analysis::{Analysis, productive};
use crate::grammar::{CharClass, Expression, Grammar};
use crate::vocabulary::{TokenId, Vocabulary};
use aho_corasick::AhoCorasick;
use regex_syntax::utf8::Utf8Sequences;

/// Maximum number of special tokens that literals are searched for; building the search may take quadratic time.
const MOST_SPECIALS: usize = 2_000;

/// The warnings about a grammar: missing bytes, for which intersections and complements are not examined, and literals
/// that spell special tokens, for which parts with labels, as of schemas and structural tags, are not examined.
pub(super) fn warnings(grammar: &Grammar, vocabulary: &Vocabulary) -> Vec<Diagnostic> {
    let missing = unspellable(grammar, &vocabulary.missing_bytes());
    missing.into_iter().chain(special_as_text(grammar, vocabulary)).collect()
}

/// The warning about the first part of a grammar that needs missing bytes, if there is one.
fn unspellable(grammar: &Grammar, missing: &[bool; 256]) -> Option<Diagnostic> {
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

/// The warning about the first literal that spells a special token, if there is one. Only names with a character other
/// than letters and digits count, since a word may happen to be the name of a token.
fn special_as_text(grammar: &Grammar, vocabulary: &Vocabulary) -> Option<Diagnostic> {
    let is_mark = |name: &str| name.len() > 2 && !name.chars().all(char::is_alphanumeric);
    let specials = vocabulary.specials().filter(|(_, name)| is_mark(name)).take(MOST_SPECIALS);
    let specials: Vec<(TokenId, &str)> = specials.collect();
    let finder = AhoCorasick::new(specials.iter().map(|(_, name)| name)).ok()?;
    let mut seen = vec![false; grammar.expressions().len()];
    let mut open = vec![grammar.rule(grammar.root()).body];
    while let Some(id) = open.pop() {
        if std::mem::replace(&mut seen[id.index()], true) {
            continue;
        }
        match grammar.expression(id) {
            Expression::Bytes(bytes) => {
                if let Some(found) = finder.find(&**bytes) {
                    let (token, name) = specials.get(found.pattern().as_usize())?;
                    let token = match name.starts_with('<') && name.ends_with('>') {
                        true => (*name).to_owned(),
                        false => format!("<[{token}]>"),
                    };
                    let message = "a literal spells a special token, but matches only text";
                    return Some(
                        Diagnostic::new("mask/special-as-text", message)
                            .at(grammar.place_of(id))
                            .found(excerpt_bytes(bytes))
                            .help(format!("to mean the token, write `{token}` without quotes")),
                    );
                }
            }
            Expression::Rule(rule) => open.push(grammar.rule(*rule).body),
            Expression::Label(..) => {}
            expression => expression.for_each_child(|child| open.push(child)),
        }
    }
    None
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
