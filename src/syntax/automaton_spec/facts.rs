//! Facts: the variables of the formulas of a spec, and the changes that actions and their outcomes make.
//!
//! All of it is *variables* with finitely many values: whether an action, or one of a group, was carried out; flags;
//! and facts that have one of several values, or none. A requirement is a formula over variables; an effect is a list
//! of assignments of constants.

use super::formula::Formula;

/// The meaning of a variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum About {
    /// Whether the action with this index among the symbols was carried out.
    Action(usize),
    /// Whether an action of the group was carried out.
    Group,
    /// A flag or a fact.
    Fact,
}

/// A variable of the formulas of a spec.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// The name of the action, group, flag or fact.
    pub name: String,
    /// The meaning of the variable.
    pub about: About,
    /// The names of its values, in the order of their numbers from 0: `false` and `true`; for a fact with values, the
    /// empty text (no value) and then the values.
    pub values: Vec<String>,
    /// The number of its initial value.
    pub initial: u32,
}

impl Variable {
    /// Whether its values are exactly false and true.
    pub fn is_boolean(&self) -> bool {
        self.about != About::Fact || self.values.len() == 2 && self.values[0] == FALSE
    }
}

/// The name of a boolean variable's value 0.
pub(super) const FALSE: &str = "false";

/// An assignment: the number of a variable and the number of its new value.
pub type Assignment = (usize, u32);

/// A possible outcome of an action, chosen by the environment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutcomeRules {
    /// The outcome's name.
    pub name: String,
    /// Its assignments, applied after the action's own effects.
    pub assigns: Vec<Assignment>,
}

/// The rules of one action.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ActionRules {
    /// The condition before the action.
    pub requires: Formula,
    /// The assignments of the action itself.
    pub assigns: Vec<Assignment>,
    /// Its outcomes; empty if it has only its own effects.
    pub outcomes: Vec<OutcomeRules>,
}

impl ActionRules {
    /// The assignments of the action with one of its outcomes.
    pub fn effects(&self, outcome: Option<usize>) -> impl Iterator<Item = Assignment> + '_ {
        let of_outcome = outcome.and_then(|outcome| self.outcomes.get(outcome));
        self.assigns.iter().copied().chain(of_outcome.into_iter().flat_map(|o| o.assigns.iter().copied()))
    }
}

/// The variables of a spec and the rules of its actions.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    pub(super) variables: Vec<Variable>,
    pub(super) rules: Vec<ActionRules>,
    /// For each variable, whether the formula of an action in use reads it.
    pub(super) is_read: Vec<bool>,
}

impl Facts {
    /// The variables: declared facts and flags first, then flags that effects set, then actions and groups that
    /// formulas name.
    pub fn variables(&self) -> &[Variable] {
        &self.variables
    }

    /// The rules of an action, by its index among the symbols.
    pub fn rules(&self, action: usize) -> &ActionRules {
        const NONE: &ActionRules =
            &ActionRules { requires: Formula::ALWAYS, assigns: Vec::new(), outcomes: Vec::new() };
        self.rules.get(action).unwrap_or(NONE)
    }

    /// Whether the formula of an action in use reads the variable. Other variables do not affect what may follow.
    pub fn is_read(&self, variable: usize) -> bool {
        self.is_read.get(variable).copied().unwrap_or_default()
    }

    /// Whether some action has outcomes.
    pub fn has_outcomes(&self) -> bool {
        self.rules.iter().any(|rules| !rules.outcomes.is_empty())
    }

    /// The same variables and rules, with the requirement `requires(action)` for each action.
    pub(super) fn with_requirements(&self, requires: impl Fn(usize) -> Formula) -> Facts {
        let mut facts = self.clone();
        facts.rules.iter_mut().enumerate().for_each(|(action, rules)| rules.requires = requires(action));
        facts
    }

    /// The requirement of an action as a text.
    pub fn requirement(&self, action: usize) -> String {
        self.text(&self.rules(action).requires)
    }

    /// A formula as a text.
    pub(crate) fn text(&self, formula: &Formula) -> String {
        formula.text(|variable, value| {
            let Some(found) = self.variables.get(variable) else { return String::new() };
            let quoted =
                |name: &str| match name.contains(|c: char| c.is_whitespace() || "()='\"!".contains(c)) {
                    true if name.contains('"') => format!("'{name}'"),
                    true => format!("\"{name}\""),
                    false => name.to_owned(),
                };
            let name = quoted(&found.name);
            match (found.is_boolean(), value) {
                (true, 0) => format!("{name} == {FALSE}"),
                (true, _) => name,
                // formulas contain "no value" only under `not`
                (false, 0) => format!("{name} == \"\""),
                (false, _) => {
                    let value = found.values.get(value as usize).map_or("", String::as_str);
                    format!("{name} == {}", quoted(value))
                }
            }
        })
    }

    /// For each variable, whether it is boolean, can only become true, and being true never forbids anything.
    pub fn monotone(&self) -> Vec<bool> {
        let mut monotone: Vec<bool> = self.variables.iter().map(Variable::is_boolean).collect();
        for rules in &self.rules {
            let outcomes = rules.outcomes.iter().flat_map(|outcome| &outcome.assigns);
            for &(variable, value) in rules.assigns.iter().chain(outcomes) {
                monotone[variable] &= value == 1;
            }
            for (variable, value) in rules.requires.atoms() {
                monotone[variable] &= value == 1;
            }
            for variable in rules.requires.negated_variables() {
                monotone[variable] = false;
            }
        }
        monotone
    }
}
