//! What is odd about a spec, though it has a language: states without an end, unused symbols, inputs without a maker.

use super::document::Document;
use super::errors;
use super::kind::Kind;
use super::productions::Productions;
use crate::diagnostic::Diagnostic;
use rustc_hash::FxHashSet;

/// States of a finite automaton that are reached from the start and from which no accepting state is reached.
/// `productions` are those before they are trimmed.
pub(super) fn states_without_end(document: &Document, productions: &Productions) -> Option<Diagnostic> {
    if !matches!(document.kind, Kind::Dfa | Kind::Nfa) {
        return None;
    }
    let (ends, reached) = (productions.derive(|_| true), productions.reachable());
    let states = productions.names.iter().zip(ends.iter().zip(&reached));
    let mut found = states.filter(|(_, (ends, reached))| !**ends && **reached).map(|(name, _)| name.as_str());
    let first = found.next()?;
    Some(errors::states_without_end(std::iter::once(first).chain(found)))
}

/// Symbols that are in no word.
pub(super) fn unused_symbols(document: &Document, productions: &Productions, warnings: &mut Vec<Diagnostic>) {
    let used = productions.symbols();
    let symbols = document.symbols.0.iter().enumerate();
    let unused = symbols.filter(|(number, _)| used.binary_search(number).is_err());
    let mut unused = unused.map(|(_, symbol)| symbol.id.as_str()).peekable();
    if unused.peek().is_some() {
        warnings.push(errors::unused_symbols(unused));
    }
}

/// Inputs that are among the outputs of no symbol.
pub(super) fn unmade_inputs(document: &Document, warnings: &mut Vec<Diagnostic>) {
    let symbols = &document.symbols.0;
    let mut made: FxHashSet<&str> =
        symbols.iter().flat_map(|symbol| &symbol.outputs).map(String::as_str).collect();
    for symbol in symbols {
        for (number, input) in symbol.inputs.iter().enumerate() {
            // each name once
            if made.insert(input) {
                warnings.push(errors::unmade_input(&symbol.id, input, number));
            }
        }
    }
}
