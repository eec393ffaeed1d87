//! Resolves limits on the number of occurrences of symbols, and checks the sets of set-valued symbols.

use super::document::Document;
use super::errors;
use super::place::pointer;
use super::productions::Productions;
use crate::diagnostic::excerpt;
use crate::error::{Errors, Result};
use rustc_hash::{FxHashMap, FxHashSet};

/// Maximum number of elements of a set. This bounds the work of counting subsets.
const SET_ELEMENTS: usize = 1_000;

/// The bounds on the number of occurrences of a symbol, or of all symbols of a group together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limit {
    /// The name of a symbol or a group.
    pub name: String,
    /// The counted symbols that are in use, by their indices among the spec's symbols, in ascending order.
    pub symbols: Vec<usize>,
    /// The minimum number of occurrences, 0 if it is not bounded.
    pub min: u32,
    /// The maximum number of occurrences; `None` if it is not bounded.
    pub max: Option<u32>,
}

impl Limit {
    /// Whether the limit counts a single symbol and allows it at most once.
    pub fn is_once(&self) -> bool {
        self.symbols.len() == 1 && self.max == Some(1) && self.min <= 1
    }
}

/// Resolves the limits of a document on symbols in use, in the order of the fields `at_most_once`, `exactly_once`,
/// `at_most` and `at_least`. A maximum and a minimum for one name become one limit.
///
/// # Errors
/// `automaton-spec/twice` if a group has the name of a symbol, or a name has two limits that cannot be combined;
/// `automaton-spec/undefined` for unknown names; `automaton-spec/empty-language` for crossed bounds, and for a minimum
/// on unused symbols. Up to 20 errors.
pub(super) fn resolve(document: &Document, productions: &Productions) -> Result<Vec<Limit>> {
    let names = Names::new(document)?;
    let used = productions.symbols();
    let mut limits: Vec<Limit> = Vec::new();
    let mut places: FxHashMap<&str, usize> = FxHashMap::default();
    let written = &document.limits;
    let once =
        |list: &'static str, names: &'_ [String], min: u32| -> Vec<(String, String, u32, Option<u32>)> {
            let of =
                |(i, name): (usize, &String)| (format!("/limits/{list}/{i}"), name.clone(), min, Some(1));
            names.iter().enumerate().map(of).collect()
        };
    let mut all = once("at_most_once", &written.at_most_once, 0);
    all.extend(once("exactly_once", &written.exactly_once, 1));
    let place = |list: &str, name: &str| pointer(["limits", list, name]);
    all.extend(written.at_most.0.iter().map(|(n, max)| (place("at_most", n), n.clone(), 0, Some(*max))));
    all.extend(written.at_least.0.iter().map(|(n, min)| (place("at_least", n), n.clone(), *min, None)));
    let mut errors = Errors::default();
    for (pointer, name, min, max) in &all {
        if errors.is_full() {
            break;
        }
        let Some((name, symbols)) = names.of.get_key_value(name.as_str()) else {
            errors.push(errors::undefined("name", name, pointer.clone(), names.of.keys().copied()));
            continue;
        };
        let symbols: Vec<usize> =
            symbols.iter().copied().filter(|symbol| used.binary_search(symbol).is_ok()).collect();
        if symbols.is_empty() && *min > 0 {
            errors.push(errors::required_but_unused(name, pointer.clone()));
            continue;
        }
        if let Some(&known) = places.get(name) {
            // a maximum (1 for `at_most_once`) and a minimum for one name are combined
            let limit = &mut limits[known];
            if max.is_some() || limit.min > 0 {
                errors.push(errors::limited_twice(name, pointer.clone()));
                continue;
            }
            limit.min = *min;
            if limit.max.is_some_and(|max| max < limit.min) {
                errors.push(errors::crossed_limits(name, pointer.clone()));
            }
            continue;
        }
        places.insert(name, limits.len());
        limits.push(Limit { name: (*name).to_owned(), symbols, min: *min, max: *max });
    }
    errors.finish()?;
    limits.retain(|limit| !limit.symbols.is_empty());
    Ok(limits)
}

/// The symbols that each name counts, in ascending order: a symbol itself, or the members of a group.
struct Names<'d> {
    of: FxHashMap<&'d str, Vec<usize>>,
}

impl<'d> Names<'d> {
    fn new(document: &'d Document) -> Result<Names<'d>> {
        let symbols = &document.symbols.0;
        let mut of: FxHashMap<&str, Vec<usize>> = FxHashMap::default();
        for (place, symbol) in symbols.iter().enumerate() {
            for group in &symbol.groups {
                of.entry(group).or_default().push(place);
            }
        }
        let mut seen = FxHashSet::default();
        for (place, symbol) in symbols.iter().enumerate() {
            let id = symbol.id.as_str();
            if of.contains_key(id) && seen.insert(id) {
                return Err(errors::group_is_symbol(id));
            }
            of.insert(id, vec![place]);
        }
        Ok(Names { of })
    }
}

/// Checks the sets of set-valued symbols: their elements, bounds and texts.
///
/// # Errors
/// `automaton-spec/set` for each invalid set, up to 20 errors.
pub(super) fn check_symbols(document: &Document) -> Result<()> {
    let mut errors = Errors::default();
    for symbol in &document.symbols.0 {
        let id = symbol.id.as_str();
        let Some(set) = &symbol.set else { continue };
        let distinct: FxHashSet<&str> = set.of.iter().map(String::as_str).collect();
        let wrong = if set.of.is_empty() {
            Some("a set needs elements".to_owned())
        } else if set.of.len() > SET_ELEMENTS {
            Some(format!("a set has at most {SET_ELEMENTS} elements"))
        } else if distinct.len() < set.of.len() {
            Some("an element occurs twice in a set".to_owned())
        } else if set.of.iter().any(String::is_empty) {
            Some("an element of a set has no text".to_owned())
        } else if set.min > set.max || set.max > set.of.len() {
            Some("the bounds of a set are crossed, or more than it has elements".to_owned())
        } else if symbol.text.matches("{}").count() != 1 {
            Some("the text of a set-valued symbol needs one `{}` for the set".to_owned())
        } else if let Some((name, _)) = set.aliases.iter().find(|(name, _)| set.element(name).is_none()) {
            Some(format!("`{}` has aliases and is not an element of the set", excerpt(name)))
        } else if set.aliases.iter().any(|(_, alias)| !alias.contains(char::is_alphanumeric)) {
            Some("an alias of an element of a set has no letter and no digit".to_owned())
        } else {
            None
        };
        if let Some(wrong) = wrong {
            errors.push(errors::bad_set(id, &wrong));
        }
    }
    errors.finish()
}
