//! Facts: the variables of a spec's formulas, and the changes that actions and their outcomes make.
//!
//! All facts are *variables* with finitely many values. A variable says whether an action, or some action of a group,
//! was carried out; or it is a flag; or it is a fact with one of several values, or without a value. A requirement is a
//! formula over variables; an effect is a list of assignments of constants.

use super::formula::Formula;

/// What a variable of a formula says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum About {
    /// Whether the action with this index among the symbols was carried out, and not cleared since.
    Action(usize),
    /// Whether some action of a group was carried out. No effect clears an action of the group.
    Group,
    /// The value of a flag or a fact.
    Fact,
}

/// A variable of the formulas of a spec.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// The name of the action, group, flag or fact.
    pub name: String,
    /// What the variable says.
    pub about: About,
    /// The names of its values, in the order of their numbers from 0: `false` and `true`; for a fact with values, the
    /// empty text (no value) and then the values.
    pub values: Vec<String>,
    /// The number of the initial value: an index into [`values`](Variable::values).
    pub initial: u32,
}

impl Variable {
    /// Whether the variable has exactly the values false (0) and true (1). A fact with the two values `false` and
    /// `true` does not count, since it may have no value.
    pub fn is_boolean(&self) -> bool {
        self.about != About::Fact || self.values.len() == 2 && self.values[0] == FALSE
    }
}

/// The name of the value 0 of a boolean variable.
pub(super) const FALSE: &str = "false";

/// An assignment: the number of a variable and the number of its new value.
pub type Assignment = (usize, u32);

/// A possible outcome of an action, chosen by the environment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutcomeRules {
    /// The name of the outcome, unique among the outcomes of its action.
    pub name: String,
    /// The assignments of the outcome, which are applied after the action's own.
    pub assigns: Vec<Assignment>,
}

/// The requirement and the effects of one action.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ActionRules {
    /// The condition before the action.
    pub requires: Formula,
    /// The assignments that every occurrence of the action makes.
    pub assigns: Vec<Assignment>,
    /// The possible outcomes. The environment chooses one of them. Empty if the action has only its own effects.
    pub outcomes: Vec<OutcomeRules>,
}

impl ActionRules {
    /// The assignments of an occurrence of the action with the outcome of this index, in the order in which they apply.
    /// `None`, or an index that is out of range, means without an outcome.
    pub fn effects(&self, outcome: Option<usize>) -> impl Iterator<Item = Assignment> + '_ {
        let of_outcome = outcome.and_then(|outcome| self.outcomes.get(outcome));
        self.assigns.iter().copied().chain(of_outcome.into_iter().flat_map(|o| o.assigns.iter().copied()))
    }
}

/// The variables of a spec, and the requirements and effects of its actions.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    pub(super) variables: Vec<Variable>,
    pub(super) rules: Vec<ActionRules>,
    /// For each variable, whether the requirement of an action in use reads it.
    pub(super) is_read: Vec<bool>,
}

impl Facts {
    /// The variables: declared facts and flags first, then flags that effects set, then actions and groups that
    /// formulas name.
    pub fn variables(&self) -> &[Variable] {
        &self.variables
    }

    /// The requirement and effects of an action, by its index among the symbols; for an index that is out of range,
    /// none.
    pub fn rules(&self, action: usize) -> &ActionRules {
        const NONE: &ActionRules =
            &ActionRules { requires: Formula::ALWAYS, assigns: Vec::new(), outcomes: Vec::new() };
        self.rules.get(action).unwrap_or(NONE)
    }

    /// Whether the requirement of an action in use reads the variable; `false` for an unknown variable. Variables that
    /// are not read do not affect what may follow.
    pub fn is_read(&self, variable: usize) -> bool {
        self.is_read.get(variable).copied().unwrap_or_default()
    }

    /// Whether some action, even an unused one, has outcomes.
    pub fn has_outcomes(&self) -> bool {
        self.rules.iter().any(|rules| !rules.outcomes.is_empty())
    }

    /// Copies the variables and effects, with the requirement `requires(action)` for each action.
    pub(super) fn with_requirements(&self, requires: impl Fn(usize) -> Formula) -> Facts {
        let mut facts = self.clone();
        facts.rules.iter_mut().enumerate().for_each(|(action, rules)| rules.requires = requires(action));
        facts
    }

    /// The requirement of an action as text for people, in the notation of `requires`; empty if it always holds.
    pub fn requirement(&self, action: usize) -> String {
        self.text(&self.rules(action).requires)
    }

    /// The formula as text for people, in the notation of `requires`; empty if it always holds.
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
                // formulas contain "no value" only negated; the negation is written before this text
                (false, 0) => format!("{name} == \"\""),
                (false, _) => {
                    let value = found.values.get(value as usize).map_or("", String::as_str);
                    format!("{name} == {}", quoted(value))
                }
            }
        })
    }

    /// For each variable, whether it is boolean, no effect makes it false, and no requirement asks for it to be false.
    /// Once such a variable is true, it stays true and never forbids anything.
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
