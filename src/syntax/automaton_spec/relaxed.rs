//! The individual rules of a spec, and the spec with some of them removed, to find out which rules exclude all plans.

use super::formula::Formula;
use super::spec::Spec;
use std::fmt;

/// A rule of a spec in addition to its machine or grammar.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rule {
    /// The name of a symbol or group, and the maximum number of occurrences of its symbols.
    AtMost(String, u32),
    /// The name of a symbol or group, and the minimum number of occurrences of its symbols.
    AtLeast(String, u32),
    /// The id of an action, and a conjunct of its `requires`, as text.
    Requires(String, String),
    /// The maximum total cost of a plan.
    MaxCost(u64),
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Rule::AtMost(name, 1) => write!(f, "`{name}` at most once"),
            Rule::AtMost(name, most) => write!(f, "`{name}` at most {most} times"),
            Rule::AtLeast(name, 1) => write!(f, "`{name}` at least once"),
            Rule::AtLeast(name, least) => write!(f, "`{name}` at least {least} times"),
            Rule::Requires(action, formula) => write!(f, "`{action}` requires {formula}"),
            Rule::MaxCost(most) => write!(f, "`max_cost` {most}"),
        }
    }
}

/// The part of a spec that a rule comes from: a limit or an action, by index; a conjunct of the action's requirement;
/// or the maximum cost.
enum Part {
    AtMost(usize),
    AtLeast(usize),
    Requires(usize, Formula),
    MaxCost,
}

impl Spec {
    /// The rules of the spec: the limits on symbols in use, then the requirements of all symbols, then the maximum
    /// cost. A limit with both bounds is two rules; a requirement is a rule for each conjunct.
    pub fn rules(&self) -> Vec<Rule> {
        self.parts().into_iter().map(|(rule, _)| rule).collect()
    }

    /// The spec with only the [`rules`](Spec::rules) for whose index `keeps` is true, and with at most `states` plan
    /// states.
    pub fn under_rules(&self, keeps: impl Fn(usize) -> bool, states: usize) -> Spec {
        let mut limits = self.symbol_limits().to_vec();
        let mut formulas: Vec<Vec<Formula>> = vec![Vec::new(); self.symbols().len()];
        let mut max_cost = None;
        for (number, (_, part)) in self.parts().into_iter().enumerate() {
            match (part, keeps(number)) {
                (Part::AtMost(limit), false) => limits[limit].max = None,
                (Part::AtLeast(limit), false) => limits[limit].min = 0,
                (Part::Requires(action, formula), true) => formulas[action].push(formula),
                (Part::MaxCost, true) => max_cost = self.max_cost(),
                _ => {}
            }
        }
        limits.retain(|limit| limit.min > 0 || limit.max.is_some());
        let facts = self
            .facts()
            .with_requirements(|action| Formula::all(formulas.get(action).into_iter().flatten().cloned()));
        self.under(limits, facts, max_cost, states)
    }

    /// The rules, each with the part of the spec that it comes from.
    fn parts(&self) -> Vec<(Rule, Part)> {
        let mut parts = Vec::new();
        for (number, limit) in self.symbol_limits().iter().enumerate() {
            if let Some(max) = limit.max {
                parts.push((Rule::AtMost(limit.name.clone(), max), Part::AtMost(number)));
            }
            if limit.min > 0 {
                parts.push((Rule::AtLeast(limit.name.clone(), limit.min), Part::AtLeast(number)));
            }
        }
        for (action, symbol) in self.symbols().iter().enumerate() {
            for formula in self.facts().rules(action).requires.conjuncts() {
                let rule = Rule::Requires(symbol.id.clone(), self.facts().text(&formula));
                parts.push((rule, Part::Requires(action, formula)));
            }
        }
        parts.extend(self.max_cost().map(|most| (Rule::MaxCost(most), Part::MaxCost)));
        parts
    }
}
