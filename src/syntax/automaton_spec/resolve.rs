//! Resolves the requirements and effects of a spec: names become variables, and invalid rules are errors.

use super::document::{Direction, Document};
use super::facts::{About, ActionRules, Assignment, FALSE, Facts, OutcomeRules, Variable};
use super::formula::{Formula, WrittenAtom, parse};
use super::place::pointer;
use super::rule_errors as errors;
use super::rules::{WrittenEffects, WrittenFact, WrittenRequires, WrittenRules, WrittenValue};
use crate::diagnostic::Diagnostic;
use crate::error::{Errors, Result};
use crate::limits::{LimitKind, Limits};
use rustc_hash::{FxHashMap, FxHashSet};

/// Maximum number of combinations of values that are tried to find out whether a formula can hold.
const MOST_VALUATIONS: usize = 1 << 16;
/// Maximum number of values of a fact.
const MOST_VALUES: usize = 1_000;

/// What a name in a formula or an effect refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Meaning<'d> {
    /// The symbol with this index.
    Action(usize),
    /// The group with this name.
    Group(&'d str),
    /// The flag or fact with this variable.
    Fact(usize),
}

/// The state of resolving the rules of a document.
struct Resolver<'d> {
    document: &'d Document,
    meanings: FxHashMap<&'d str, Meaning<'d>>,
    /// The symbols of each group.
    groups: FxHashMap<&'d str, Vec<usize>>,
    /// The actions that some effect clears.
    cleared: FxHashSet<usize>,
    variables: Vec<Variable>,
    /// The variables of the actions that have one, by action.
    of_action: FxHashMap<usize, usize>,
    /// The variables of the groups that have one, by group.
    of_group: FxHashMap<&'d str, usize>,
    errors: Errors,
}

/// Resolves the facts, requirements and effects of a document. `used` has the indices of the symbols in use, in
/// ascending order.
///
/// # Errors
/// `automaton-spec/…` for invalid facts, formulas, effects and rules, up to 20 errors; `limit/exceeded` for a formula
/// of more than `formula_bytes`.
pub(super) fn resolve(
    document: &Document,
    used: &[usize],
    limits: &Limits,
    warnings: &mut Vec<Diagnostic>,
) -> Result<Facts> {
    let mut resolver = Resolver::new(document);
    let rules = resolver.rules(limits);
    let Resolver { variables, mut errors, .. } = resolver;
    let mut facts = Facts { is_read: vec![false; variables.len()], variables, rules };
    let read = used.iter().flat_map(|&action| facts.rules(action).requires.atoms());
    for (variable, _) in read.collect::<Vec<_>>() {
        facts.is_read[variable] = true;
    }
    for (action, rules) in facts.rules.iter().enumerate() {
        let id = document.symbols.0[action].id.as_str();
        if document.direction == Direction::Backward
            && let Some(found) = not_backward(&facts, rules)
        {
            errors.push(errors::not_backward(id, found));
        } else if never_holds(&facts, &rules.requires) {
            let text = facts.text(&rules.requires);
            errors.push(errors::contradiction(&text, pointer(["symbols", id, "requires"])));
        }
    }
    if document.limits.max_cost.is_some() && facts.has_outcomes() {
        errors.push(errors::cost_of_outcomes());
    }
    errors.finish()?;
    warn(document, &facts, warnings);
    Ok(facts)
}

impl<'d> Resolver<'d> {
    fn new(document: &'d Document) -> Resolver<'d> {
        let symbols = &document.symbols.0;
        let mut groups: FxHashMap<&str, Vec<usize>> = FxHashMap::default();
        for (place, symbol) in symbols.iter().enumerate() {
            for group in &symbol.groups {
                groups.entry(group).or_default().push(place);
            }
        }
        let mut meanings: FxHashMap<&str, Meaning<'_>> =
            groups.keys().map(|&group| (group, Meaning::Group(group))).collect();
        meanings.extend(symbols.iter().enumerate().map(|(i, s)| (s.id.as_str(), Meaning::Action(i))));
        let mut resolver = Resolver {
            document,
            meanings,
            groups,
            cleared: FxHashSet::default(),
            variables: Vec::new(),
            of_action: FxHashMap::default(),
            of_group: FxHashMap::default(),
            errors: Errors::default(),
        };
        for (name, fact) in &document.facts.0 {
            resolver.declare(name, fact);
        }
        // names that some `set` makes true or false are flags even if they are not declared
        for (name, value) in all_effects(document).flat_map(|effects| &effects.set.0) {
            let is_new = !resolver.meanings.contains_key(name.as_str());
            if is_new && matches!(value, WrittenValue::Flag(_)) {
                resolver.declare(name, &WrittenFact::default());
            }
        }
        resolver
    }

    /// Adds the variable of a declared flag or fact; an invalid declaration is recorded as an error.
    fn declare(&mut self, name: &'d str, fact: &WrittenFact) {
        let place = pointer(["facts", name]);
        if self.meanings.contains_key(name) {
            self.errors.push(errors::fact_is_symbol(name, place));
            return;
        }
        let wrong = |found: &str, place: String| errors::bad_fact(name, found, place);
        let (values, initial) = match (&fact.values, &fact.initial) {
            (None, None) => (vec![FALSE.to_owned(), "true".to_owned()], 0),
            (None, Some(WrittenValue::Flag(initial))) => {
                (vec![FALSE.to_owned(), "true".to_owned()], u32::from(*initial))
            }
            (None, Some(WrittenValue::Name(_))) => {
                self.errors.push(wrong("a flag is `true` or `false` at the start", place));
                return;
            }
            (Some(values), initial) => {
                let distinct: FxHashSet<&str> = values.iter().map(String::as_str).collect();
                if values.is_empty() || distinct.contains("") || distinct.len() < values.len() {
                    self.errors.push(wrong("its values must be distinct texts, at least one", place));
                    return;
                }
                if values.len() > MOST_VALUES {
                    self.errors.push(wrong(&format!("it has more than {MOST_VALUES} values"), place));
                    return;
                }
                let position = match initial {
                    None => Some(0),
                    Some(WrittenValue::Name(name)) => {
                        values.iter().position(|value| value == name).map(|place| place + 1)
                    }
                    Some(WrittenValue::Flag(_)) => None,
                };
                let Some(position) = position else {
                    self.errors.push(wrong("its value at the start is none of its values", place));
                    return;
                };
                (std::iter::once(String::new()).chain(values.iter().cloned()).collect(), position as u32)
            }
        };
        self.meanings.insert(name, Meaning::Fact(self.variables.len()));
        self.variables.push(Variable { name: name.to_owned(), about: About::Fact, values, initial });
    }

    /// Resolves the rules of all actions, in the order of the symbols.
    fn rules(&mut self, limits: &Limits) -> Vec<ActionRules> {
        let document = self.document;
        for effects in all_effects(document) {
            for name in effects.clear.iter().flat_map(|names| &names.0) {
                if let Some(&Meaning::Action(action)) = self.meanings.get(name.as_str()) {
                    self.cleared.insert(action);
                }
            }
        }
        let mut all: Vec<ActionRules> = Vec::with_capacity(document.symbols.0.len());
        for (symbol, written) in document.symbols.0.iter().zip(&document.symbols.1) {
            let place = pointer(["symbols", &symbol.id, "requires"]);
            let requires = match &written.requires {
                None => Formula::always(),
                Some(_) if self.errors.is_full() => Formula::always(),
                Some(WrittenRequires::Text(text)) => self.formula(text, &place, limits),
                Some(WrittenRequires::List(list)) => self.listed(list, &place),
            };
            all.push(ActionRules { requires, ..ActionRules::default() });
        }
        // effects are resolved last, when it is known which actions and groups have variables
        for ((rules, written), (action, symbol)) in
            all.iter_mut().zip(&document.symbols.1).zip(document.symbols.0.iter().enumerate())
        {
            rules.assigns.extend(self.of_action.get(&action).map(|&variable| (variable, 1)));
            let of_groups = symbol.groups.iter().filter_map(|group| self.of_group.get(group.as_str()));
            rules.assigns.extend(of_groups.map(|&variable| (variable, 1)));
            let place = pointer(["symbols", &symbol.id, "effects"]);
            let own = self.assignments(&written.effects, &place);
            rules.assigns.extend(own);
            for (name, effects) in &written.outcomes.0 {
                let place = pointer(["symbols", &symbol.id, "outcomes", name]);
                let assigns = self.assignments(effects, &place);
                rules.outcomes.push(OutcomeRules { name: name.clone(), assigns });
            }
        }
        all
    }

    /// Resolves a requirement that is written as a formula. Returns the true formula after an error.
    fn formula(&mut self, text: &str, place: &str, limits: &Limits) -> Formula {
        if text.len() > limits.formula_bytes {
            let limit = limits.formula_bytes;
            let error = Limits::exceeded(LimitKind::FormulaBytes, limit, format!("{} bytes", text.len()));
            self.errors.push(error.or_at(&crate::Place::Pointer(place.to_owned())));
            return Formula::always();
        }
        match parse(text, |atom| self.atom(atom, place)) {
            Ok(formula) => formula.unwrap_or_default(),
            Err(fault) => {
                self.errors.push(errors::formula(&fault, place.to_owned()));
                Formula::always()
            }
        }
    }

    /// Resolves a requirement that is written as a list. Names that are invalid are left out after an error.
    fn listed(&mut self, list: &[Vec<String>], place: &str) -> Formula {
        let mut all = Vec::new();
        for (number, names) in list.iter().enumerate() {
            let place = format!("{place}/{number}");
            if names.is_empty() {
                self.errors.push(errors::any_of_nothing(place));
                continue;
            }
            let mut any = Vec::new();
            for name in names {
                let atom = WrittenAtom { name: name.clone(), compared: None, character: 1 };
                any.extend(self.atom(&atom, &place));
            }
            all.push(Formula::any(any));
        }
        Formula::all(all)
    }

    /// The formula that a name and its comparison mean. `None` after an error was recorded: the name or the comparison
    /// is invalid, or there are too many errors.
    fn atom(&mut self, atom: &WrittenAtom, place: &str) -> Option<Formula> {
        if self.errors.is_full() {
            return None;
        }
        let WrittenAtom { name, compared, character } = atom;
        let Some(&meaning) = self.meanings.get(name.as_str()) else {
            self.undefined(name, place.to_owned());
            return None;
        };
        let fact = match (meaning, compared) {
            (Meaning::Fact(fact), _) => fact,
            (Meaning::Action(_) | Meaning::Group(_), Some((value, _))) => {
                self.errors.push(errors::compared_action(name, value, *character, place.to_owned()));
                return None;
            }
            (Meaning::Action(action), None) => return Some(Formula::is(self.action(action), 1)),
            (Meaning::Group(group), None) => return Some(self.group(group)),
        };
        let variable = &self.variables[fact];
        let formula = match compared {
            // the name of a fact alone means that the fact has a value
            None if variable.is_boolean() => Formula::is(fact, 1),
            None => Formula::is(fact, 0).negated(),
            Some((value, is_equal)) => {
                let Some(number) =
                    variable.values.iter().position(|known| known == value && !known.is_empty())
                else {
                    let values = variable.values.clone();
                    self.errors.push(errors::no_such_value(name, value, &values, place.to_owned()));
                    return None;
                };
                let is = Formula::is(fact, number as u32);
                if *is_equal { is } else { is.negated() }
            }
        };
        Some(formula)
    }

    fn undefined(&mut self, name: &str, place: String) {
        let mut known: Vec<&str> = self.meanings.keys().copied().collect();
        known.sort_unstable();
        self.errors.push(super::errors::undefined("action, group, flag or fact", name, place, known));
    }

    /// The variable that says whether an action was carried out; created on first use.
    fn action(&mut self, action: usize) -> usize {
        let next = self.variables.len();
        let variable = *self.of_action.entry(action).or_insert(next);
        if variable == next {
            let name = self.document.symbols.0[action].id.clone();
            self.variables.push(boolean(name, About::Action(action)));
        }
        variable
    }

    /// The formula that says whether some action of a group was carried out.
    fn group(&mut self, group: &'d str) -> Formula {
        let members = self.groups.get(group).cloned().unwrap_or_default();
        // if an action of the group may be cleared, the group needs a variable for each of its actions
        if members.iter().any(|action| self.cleared.contains(action)) {
            return Formula::any(members.into_iter().map(|action| Formula::is(self.action(action), 1)));
        }
        let next = self.variables.len();
        let variable = *self.of_group.entry(group).or_insert(next);
        if variable == next {
            self.variables.push(boolean(group.to_owned(), About::Group));
        }
        Formula::is(variable, 1)
    }

    /// Resolves the effects of an action or of one of its outcomes. Invalid assignments are recorded as errors.
    fn assignments(&mut self, effects: &WrittenEffects, place: &str) -> Vec<Assignment> {
        let mut found = Vec::new();
        let mut seen: FxHashSet<&str> = FxHashSet::default();
        for (name, value) in &effects.set.0 {
            let place = format!("{place}/set");
            if self.errors.is_full() {
                break;
            }
            if !seen.insert(name) {
                self.errors.push(errors::set_twice(name, place.clone()));
            }
            let fact = match self.meanings.get(name.as_str()) {
                Some(&Meaning::Fact(fact)) => fact,
                Some(_) => {
                    self.errors.push(errors::sets_action(name, place));
                    continue;
                }
                None => {
                    self.undefined(name, place);
                    continue;
                }
            };
            let variable = &self.variables[fact];
            let number = match value {
                WrittenValue::Flag(value) if variable.is_boolean() => Some(u32::from(*value)),
                WrittenValue::Name(value) => {
                    let known = |known: &String| known == value && !known.is_empty();
                    variable.values.iter().position(known).map(|number| number as u32)
                }
                WrittenValue::Flag(_) => None,
            };
            match number {
                Some(number) => found.push((fact, number)),
                None => {
                    let value = match value {
                        WrittenValue::Flag(value) => value.to_string(),
                        WrittenValue::Name(value) => value.clone(),
                    };
                    let values = variable.values.clone();
                    self.errors.push(errors::no_such_value(name, &value, &values, place));
                }
            }
        }
        for name in effects.clear.iter().flat_map(|names| &names.0) {
            let place = format!("{place}/clear");
            if self.errors.is_full() {
                break;
            }
            if !seen.insert(name) {
                self.errors.push(errors::set_twice(name, place.clone()));
            }
            match self.meanings.get(name.as_str()) {
                Some(&Meaning::Fact(fact)) => found.push((fact, 0)),
                // an action has a variable only if a formula names it; otherwise clearing has no effect
                Some(Meaning::Action(action)) => {
                    found.extend(self.of_action.get(action).map(|&variable| (variable, 0)));
                }
                Some(Meaning::Group(_)) => self.errors.push(errors::clears_group(name, place)),
                None => self.undefined(name, place),
            }
        }
        found
    }
}

fn boolean(name: String, about: About) -> Variable {
    Variable { name, about, values: vec![FALSE.to_owned(), "true".to_owned()], initial: 0 }
}

/// All effects of a document: those of symbols and of their outcomes.
fn all_effects(document: &Document) -> impl Iterator<Item = &WrittenEffects> {
    document.symbols.1.iter().flat_map(effects_of)
}

fn effects_of(rules: &WrittenRules) -> impl Iterator<Item = &WrittenEffects> {
    std::iter::once(&rules.effects).chain(rules.outcomes.0.iter().map(|(_, effects)| effects))
}

/// The field of an action's rules that is not supported in backward direction; `None` if all are supported.
fn not_backward(facts: &Facts, rules: &ActionRules) -> Option<&'static str> {
    let is_action = |variable: usize| matches!(facts.variables[variable].about, About::Action(_));
    let is_plain = |formula: &Formula| {
        let mut atoms = formula.atoms();
        let (first, more) = (atoms.next(), atoms.next());
        first.is_some_and(|(variable, _)| is_action(variable))
            && more.is_none()
            && formula.negated_variables().is_empty()
    };
    if !rules.requires.conjuncts().iter().all(is_plain) {
        return Some("requires");
    }
    if !rules.outcomes.is_empty() {
        return Some("outcomes");
    }
    rules.assigns.iter().any(|&(variable, value)| !is_action(variable) || value != 1).then_some("effects")
}

/// Whether a formula is false for all values of its variables. `false` if trying all values is too much work.
fn never_holds(facts: &Facts, formula: &Formula) -> bool {
    let mut variables: Vec<usize> = formula.atoms().map(|(variable, _)| variable).collect();
    variables.sort_unstable();
    variables.dedup();
    let sizes: Vec<u32> = variables.iter().map(|&v| facts.variables[v].values.len() as u32).collect();
    let total = sizes
        .iter()
        .try_fold(1usize, |all, &size| all.checked_mul(size as usize).filter(|&all| all <= MOST_VALUATIONS));
    // the work is the number of combinations times the size of the formula
    let Some(total) = total.filter(|total| total * (formula.atoms().count() + 1) <= 64 * MOST_VALUATIONS)
    else {
        return false;
    };
    (0..total).all(|mut number| {
        let values: FxHashMap<usize, u32> = variables
            .iter()
            .zip(&sizes)
            .map(|(&variable, &size)| {
                let value = (number % size as usize) as u32;
                number /= size as usize;
                (variable, value)
            })
            .collect();
        !formula.holds(|variable| values.get(&variable).copied().unwrap_or_default())
    })
}

/// Warns about values of facts and flags that formulas compare with, that are not initial, and that nothing assigns;
/// and about declared facts that no formula reads and no effect assigns.
fn warn(document: &Document, facts: &Facts, warnings: &mut Vec<Diagnostic>) {
    let mut given: FxHashSet<(usize, u32)> = FxHashSet::default();
    for rules in &facts.rules {
        let outcomes = rules.outcomes.iter().flat_map(|outcome| &outcome.assigns);
        given.extend(rules.assigns.iter().chain(outcomes).copied());
    }
    let mut seen: FxHashSet<(usize, u32)> = FxHashSet::default();
    for (rules, symbol) in facts.rules.iter().zip(&document.symbols.0) {
        for (variable, value) in rules.requires.atoms() {
            let Variable { name, about, values, initial } = &facts.variables[variable];
            let never = value != *initial && !given.contains(&(variable, value));
            if *about == About::Fact && never && seen.insert((variable, value)) {
                let value = (values[0] != FALSE).then(|| values[value as usize].as_str());
                let place = pointer(["symbols", &symbol.id, "requires"]);
                warnings.push(errors::never_given(name, value, place));
            }
        }
    }
    let read: FxHashSet<usize> =
        facts.rules.iter().flat_map(|rules| rules.requires.atoms()).map(|(variable, _)| variable).collect();
    for (number, (name, _)) in document.facts.0.iter().enumerate() {
        let is_given = given.iter().any(|&(variable, _)| variable == number);
        if !read.contains(&number) && !is_given {
            warnings.push(errors::unused_fact(name));
        }
    }
}
