//! Warnings about suspicious parts of a valid spec: states from which no word ends, unused symbols, inputs that nothing
//! produces.

use super::document::Document;
use super::errors;
use super::kind::Kind;
use super::productions::Productions;
use crate::diagnostic::Diagnostic;
use rustc_hash::FxHashSet;

/// Returns a warning about the states of a finite automaton that are reachable from the start but do not reach an
/// accepting state. `None` if there are none, or for other kinds of specs. `productions` must not be trimmed yet.
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

/// Adds a warning that lists the symbols that are in no word, if there are any. `productions` must be trimmed.
pub(super) fn unused_symbols(document: &Document, productions: &Productions, warnings: &mut Vec<Diagnostic>) {
    let used = productions.symbols();
    let symbols = document.symbols.0.iter().enumerate();
    let unused = symbols.filter(|(number, _)| used.binary_search(number).is_err());
    let mut unused = unused.map(|(_, symbol)| symbol.id.as_str()).peekable();
    if unused.peek().is_some() {
        warnings.push(errors::unused_symbols(unused));
    }
}

/// Adds a warning for each name of an input that is an output of no symbol, at its first occurrence.
pub(super) fn unmade_inputs(document: &Document, warnings: &mut Vec<Diagnostic>) {
    let symbols = &document.symbols.0;
    let mut made: FxHashSet<&str> =
        symbols.iter().flat_map(|symbol| &symbol.outputs).map(String::as_str).collect();
    for symbol in symbols {
        for (number, input) in symbol.inputs.iter().enumerate() {
            // each name is reported once
            if made.insert(input) {
                warnings.push(errors::unmade_input(&symbol.id, input, number));
            }
        }
    }
}
