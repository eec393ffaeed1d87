//! Lowering of lists of different items: a start per place, and a register in the list's frame.

use super::Lowering;
use super::blame;
use super::task::Task;
use crate::automaton::errors;
use crate::automaton::program::automaton::Automaton;
use crate::automaton::program::ids::StateId;
use crate::automaton::program::registers::{RegisterKind, Role, UniqueItems};
use crate::automaton::run::lazy::Lazy;
use crate::error::{Error, Result};
use crate::grammar::{Distinct as Source, ExprId, Expression, Grammar};
use crate::work::Budget;

impl Lowering<'_> {
    pub(in crate::automaton) fn begin_distinct(
        &mut self,
        id: ExprId,
        source: &Source,
        next: StateId,
        scope: u32,
    ) {
        let index = self.block.next(&self.block.records.unique);
        let to_return = self.register(RegisterKind::Unique, Role::Return, index);
        let between = self.register(RegisterKind::Unique, Role::Next, index);
        // without a separator only one item is possible, and the list ends before the first place whose items have no
        // words
        let separated = self.kept.productive.holds(source.separator);
        let items = source.items.iter().take_while(|&&item| self.kept.productive.holds(item));
        let items: Vec<_> = items.take(if separated { usize::MAX } else { 1 }).copied().collect();
        let is_whole = separated && items.len() == source.items.len();
        let most = (!is_whole).then_some(items.len() as u32);
        let starts: Vec<StateId> = items.iter().map(|_| self.open_callable()).collect();
        self.kept.provenance.items.push(id);
        self.block.records.unique.push(UniqueItems {
            items: starts.clone(),
            min: source.min,
            max: source.max.into_iter().chain(most).min(),
            endless: source.endless,
            separator: StateId::ACCEPT,
            exit: next,
            to_return,
        });
        self.push_task(Task::UniqueEnd { list: index, places: items.len(), separated, scope });
        if separated {
            self.push_task(Task::OrEmpty { expression: source.separator, next: between });
            self.push_task(Task::Build { expression: source.separator, next: between, scope });
        }
        for (&start, &item) in starts.iter().zip(&items) {
            self.push_task(Task::CallableEnd { start, result: start });
            self.push_task(Task::Build { expression: item, next: StateId::ACCEPT, scope });
        }
    }

    pub(in crate::automaton) fn end_distinct(&mut self, list: u32, places: usize, separated: bool) {
        if separated {
            let (at, separator) = (self.block.at(list), self.results_of(1)[0]);
            self.block.records.unique[at].separator = separator;
        }
        self.results_of(places);
        let enter = match places {
            0 => self.split(&[]),
            _ => self.register(RegisterKind::Unique, Role::Enter, list),
        };
        self.push_result(enter);
    }
}

/// Refuses lists of different items that contain objects with few names: the search for values that an item may still
/// become ignores recorded names.
///
/// `few` has the lists of members with few names.
pub(in crate::automaton) fn check_names(grammar: &Grammar, few: &[ExprId]) -> Result<()> {
    let expressions = grammar.expressions();
    let mut open: Vec<usize> = few.iter().map(|id| id.index()).collect();
    if open.is_empty() || !expressions.iter().any(|e| matches!(e, Expression::Distinct(_))) {
        return Ok(());
    }
    let mut users: Vec<Vec<usize>> = vec![Vec::new(); expressions.len()];
    for (place, expression) in expressions.iter().enumerate() {
        expression.for_each_child(|child| users[child.index()].push(place));
        if let Expression::Rule(rule) = expression {
            users[grammar.rule(*rule).body.index()].push(place);
        }
    }
    let mut has_few = vec![false; expressions.len()];
    while let Some(place) = open.pop() {
        if !std::mem::replace(&mut has_few[place], true) {
            open.extend(&users[place]);
        }
    }
    let of_few = |e: &Expression| match e {
        Expression::Distinct(list) => list.items.iter().any(|item| has_few[item.index()]),
        _ => false,
    };
    if expressions.iter().any(of_few) {
        return Err(errors::few_names_in_distinct(&grammar.rule(grammar.root()).name));
    }
    Ok(())
}

/// The lists that need more items than there are different items, each with the error to report. `provenance` has the
/// source of each list.
pub(in crate::automaton) fn lacking_items(
    automaton: &Automaton,
    grammar: &Grammar,
    provenance: &[ExprId],
    budget: &Budget,
) -> Result<Vec<(ExprId, Error)>> {
    let mut lacking = Vec::new();
    for (index, (list, &source)) in automaton.ahead.records.unique.iter().zip(provenance).enumerate() {
        if list.min > 1 && !list.endless {
            let different = |lazy: &mut Lazy<'_>| lazy.different_items(index as u32, list.min);
            let most = Lazy::within(automaton, budget, different)?;
            if most < list.min {
                let place = blame::place_of(grammar, automaton, list.to_return);
                lacking.push((source, errors::too_few_different(place, list.min, most)));
            }
        }
    }
    Ok(lacking)
}
