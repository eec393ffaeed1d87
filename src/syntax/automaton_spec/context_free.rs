//! Converts context-free rules to productions.

use super::document::Document;
use super::errors;
use super::finite::symbol_names;
use super::productions::{Item, Productions};
use crate::diagnostic::Diagnostic;
use crate::error::{Errors, Result};
use crate::limits::Limits;
use rustc_hash::FxHashMap;

/// Converts the rules of a `cfg` to productions. A nonterminal gets its number at the first rule for it.
///
/// # Errors
/// `automaton-spec/missing` without a start; `automaton-spec/twice` for a head that is a symbol;
/// `automaton-spec/undefined`; `automaton-spec/unproductive` for each head that derives no word; up to 20 errors;
/// `limit/exceeded`.
pub(super) fn productions(
    document: &Document,
    limits: &Limits,
    warnings: &mut Vec<Diagnostic>,
) -> Result<Productions> {
    let rules = document.rules.as_ref().map(|rules| rules.0.as_slice()).unwrap_or_default();
    let start = document.start()?;
    let symbols = document.symbol_numbers();
    let mut out = Productions::new(limits);
    let mut heads: FxHashMap<&str, usize> = FxHashMap::default();
    let mut errors = Errors::default();
    for rule in rules {
        let head = rule.head.as_str();
        if !heads.contains_key(head) {
            if symbols.contains_key(head) {
                errors.push(errors::head_is_symbol(head, &rule.pointer));
            }
            heads.insert(head, out.nonterminal(head.to_owned())?);
        }
    }
    for rule in rules.iter() {
        if errors.is_full() {
            break;
        }
        let mut body = Vec::with_capacity(rule.body.len());
        for name in &rule.body {
            if errors.is_full() {
                break;
            }
            let head = heads.get(name.as_str()).map(|&head| Item::Nonterminal(head));
            let item = head.or_else(|| symbols.get(name.as_str()).map(|&symbol| Item::symbol(symbol)));
            let all = out.names.iter().map(String::as_str).chain(symbol_names(document));
            let undefined = || errors::undefined("name", name, rule.pointer.clone(), all);
            body.extend(errors.take(item.ok_or_else(undefined)));
        }
        if let Some(&head) = heads.get(rule.head.as_str()) {
            out.production(head, body)?;
        }
    }
    let names = out.names.iter().map(String::as_str);
    match heads.get(start) {
        Some(&head) => out.start = head,
        None => errors.push(errors::undefined("head", start, "/start".to_owned(), names)),
    }
    errors.finish()?;
    let derives = out.derive(|_| true);
    let mut errors = Errors::default();
    for (name, _) in out.names.iter().zip(&derives).filter(|(_, derives)| !**derives) {
        errors.push(errors::unproductive(name));
    }
    errors.finish()?;
    let reached = out.reachable();
    let unreached = out.names.iter().zip(&reached).filter(|(_, reached)| !**reached);
    let mut unreached = unreached.map(|(name, _)| name.as_str()).peekable();
    if unreached.peek().is_some() {
        warnings.push(errors::unreachable_rules(unreached));
    }
    Ok(out)
}
