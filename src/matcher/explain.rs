//! Finds out where a text leaves the grammar, and what was expected there, by rule and label.

use super::explanation::{Expectation, Explanation, LITERAL};
use super::state::{Locked, Matcher};
use super::steps;
use crate::error::Result;
use crate::grammar::{ByteSet, Expression, Owners};
use crate::vocabulary::TokenId;

/// Maximum number of bytes shown before the place of a rejection.
const TAIL: usize = 32;

/// The most bytes of a state whose literals are looked for.
const LITERALS: usize = 16;

/// Returns bytes as a literal: the longest prefix that is text, if it has more than one byte and is no part of a
/// number.
fn literal(bytes: &[u8]) -> Option<String> {
    let text = bytes.utf8_chunks().next()?.valid();
    let is_number = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    (text.len() > 1 && !is_number).then(|| text.to_owned())
}

/// Returns whether a byte is one of three successive digits that are allowed. Then it is a digit of a number or a date,
/// and the same text follows each of them.
fn is_digit_of_range(byte: u8, bytes: &ByteSet) -> bool {
    let is_allowed = |digit: u8| digit.is_ascii_digit() && bytes.contains(digit);
    let begins = |first: u8| (first..first.saturating_add(3)).all(is_allowed);
    (byte.saturating_sub(2)..=byte).any(begins)
}

pub(super) fn explain(m: &mut Matcher, bytes: &[u8]) -> Result<Explanation> {
    m.with_lock(|locked, at| {
        let mut at = locked.cursor(at);
        let mut fine = 0;
        for &byte in bytes {
            let Some(next) = locked.step(at, &bytes[..fine], byte)? else { break };
            (at, fine) = (next, fine + 1);
        }
        let mut open = ByteSet::EMPTY;
        for byte in 0..=255 {
            if locked.step(at, &bytes[..fine], byte)?.is_some() {
                open.insert(byte);
            }
        }
        let Locked { compiled, cache, path, .. } = locked;
        let (automaton, at) = (compiled.automaton(), at.configuration);
        let mut expected: Vec<Expectation> = Vec::new();
        let grammar = compiled.grammar();
        let owners = Owners::new(grammar);
        for (state, wanted) in cache.lazy(automaton).wanted_bytes(at) {
            let scope = automaton.scope(state);
            let is_ignored = owners.is_ignored(grammar, scope.rule, scope.label);
            let (rule, label) = owners.of(scope.rule, scope.label);
            let rule = grammar.rule(rule).name.to_string();
            let label = label.map(|label| grammar.label(label).to_string());
            let bytes: ByteSet = wanted.iter().filter(|&b| open.contains(b)).collect();
            // a class has many bytes, a choice of literals few
            let is_class = bytes.len() > LITERALS;
            let (mut literals, mut others) = (Vec::new(), ByteSet::EMPTY);
            for byte in bytes.iter() {
                let is_alone = !is_class && !is_digit_of_range(byte, &bytes);
                match is_alone.then(|| literal(&automaton.spelled(state, byte, LITERAL))).flatten() {
                    Some(text) => literals.push(text),
                    None => others.insert(byte),
                }
            }
            let mut terminals = Vec::new();
            if let Some(terminal) = automaton.terminal(state)
                && let Expression::Token(terminal) = grammar.expression(terminal.expression())
            {
                terminals.push(terminal.to_string());
            }
            let known = expected
                .iter_mut()
                .find(|e| e.rule == rule && e.label == label && e.is_ignored == is_ignored);
            match known {
                Some(known) => {
                    known.bytes = known.bytes.union(&bytes);
                    known.others = known.others.union(&others);
                    known.literals.append(&mut literals);
                    terminals.retain(|terminal| !known.terminals.contains(terminal));
                    known.terminals.append(&mut terminals);
                }
                None if bytes.is_empty() && terminals.is_empty() => {}
                None => {
                    expected.push(Expectation {
                        rule,
                        label,
                        bytes,
                        literals,
                        others,
                        is_ignored,
                        terminals,
                    });
                }
            }
        }
        for expectation in &mut expected {
            expectation.literals.sort_unstable();
            expectation.literals.dedup();
        }
        expected.sort_by_key(|expectation| expectation.is_ignored);
        let before = bytes[..fine].iter().rev().copied().chain(path.backwards());
        let mut tail: Vec<u8> = before.take(TAIL).collect();
        tail.reverse();
        Ok(Explanation {
            position: path.byte_count() + fine,
            found: bytes.get(fine).copied(),
            tail,
            viable: fine == bytes.len(),
            may_end: cache.tables.is_accepting(at),
            expected,
        })
    })
}

pub(super) fn explain_token(m: &mut Matcher, token: TokenId) -> Result<Explanation> {
    let mut ahead = m.clone();
    if m.compiled.automaton().has_terminals() && steps::takes_by_id(&mut ahead, token)? {
        return explain(&mut ahead, b"");
    }
    let vocabulary = std::sync::Arc::clone(m.compiled.vocabulary());
    explain(m, vocabulary.bytes(token).unwrap_or_default())
}
