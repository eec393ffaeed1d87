//! Lowering of names: bounds on the number of further members when there are few names for them.

use super::task::Task;
use super::{Lowering, blame};
use crate::automaton::errors;
use crate::automaton::language::words::{Count, count_from};
use crate::automaton::program::automaton::Automaton;
use crate::automaton::program::ids::StateId;
use crate::automaton::program::registers::{Name, RegisterKind, Role};
use crate::automaton::run::configuration::ConfigurationId;
use crate::automaton::run::lazy::Lazy;
use crate::error::{Error, Result};
use crate::grammar::{ExprId, Expression, Grammar, Members, Names};
use crate::work::Budget;
use rustc_hash::FxHashSet;

/// Lists that need more members or items than exist, each with the error to report if the grammar has no words without
/// it.
type Lacking = Vec<(ExprId, Error)>;

/// A number of names that is treated as larger than the number of names that any text can hold.
const MANY: u32 = 1 << 20;

impl Lowering<'_> {
    pub(in crate::automaton) fn build_name(
        &mut self,
        id: ExprId,
        (body, names): (ExprId, Names),
        next: StateId,
        scope: u32,
    ) {
        let index = self.block.next(&self.block.records.names);
        self.block.records.names.push(Name { exit: next });
        let next = self.register(RegisterKind::Name, Role::Enter, index);
        // the continuation is not part of the callable: equal names occur in many places
        let start = self.open_callable();
        if names != Names::Endless {
            self.kept.provenance.names.insert(id, start);
        }
        let result = self.call(start, next);
        self.push_task(Task::CallableEnd { start, result });
        self.push_task(Task::Build { expression: body, next: StateId::ACCEPT, scope });
    }

    /// The names of members without a fixed key, each with its continuation: the first part and the other parts of a
    /// sequence. `None` if a member is not a sequence.
    fn names_and_values(
        &self,
        further: impl IntoIterator<Item = ExprId>,
    ) -> Option<Vec<(ExprId, &[ExprId])>> {
        let mut found = Vec::new();
        let mut open: Vec<ExprId> = further.into_iter().collect();
        while let Some(id) = open.pop() {
            match self.grammar.expression(id) {
                _ if !self.kept.productive.holds(id) => {}
                Expression::Choice(list) => open.extend(list),
                &Expression::Label(_, body) => open.push(body),
                Expression::Sequence(list) => {
                    found.extend(list.split_first().map(|(&name, value)| (name, value)))
                }
                _ => return None,
            }
        }
        Some(found)
    }

    /// The starts of the names among `names` that may be few. All names of the list must have been lowered.
    fn few(&self, names: impl Iterator<Item = ExprId>) -> Vec<StateId> {
        let is_few = |id: &ExprId| matches!(self.grammar.expression(*id), Expression::Name(_, Names::Few));
        names.filter(is_few).filter_map(|id| self.kept.provenance.names.get(&id).copied()).collect()
    }

    /// Records, for each list of members, the start of all names of its further members if these may be few, and the
    /// few names of its `ones` that other further members might use up. A name may be shared with other lists, so its
    /// start is known only after everything is lowered.
    pub(in crate::automaton) fn note_few_names(&mut self) {
        if self.kept.provenance.names.is_empty() {
            return;
        }
        for place in 0..self.block.records.members.len() {
            let Expression::Members(source) = self.grammar.expression(self.kept.provenance.members[place])
            else {
                continue;
            };
            self.block.records.members[place].names = self.names_of(source);
        }
    }

    fn names_of(&mut self, source: &Members) -> Option<StateId> {
        let all = self.names_and_values(source.rest.into_iter().chain(source.ones.iter().copied()))?;
        let is_few = |id: ExprId| matches!(self.grammar.expression(id), Expression::Name(_, Names::Few));
        // names that are not few suffice for any number of members
        let are_few = |names: &[(ExprId, &[ExprId])]| names.iter().all(|&(name, _)| is_few(name));
        // if all names have the same continuation, a member that has used up a name satisfies the same requirement
        let same = all.windows(2).all(|pair| pair[0].1 == pair[1].1);
        let alone = source.max == Some(1) || !self.kept.productive.holds(source.separator);
        let mut used_up: Vec<Vec<StateId>> = Vec::new();
        if !same && !alone {
            for &one in &source.ones {
                let names = self.names_and_values([one]).filter(|names| are_few(names));
                used_up.push(self.few(names.unwrap_or_default().iter().map(|name| name.0)));
            }
        }
        let mut few = if are_few(&all) { self.few(all.iter().map(|one| one.0)) } else { Vec::new() };
        for names in used_up.into_iter().filter(|names| !names.is_empty()) {
            let start = self.split(&names);
            self.kept.provenance.ones.push(start);
        }
        few.sort_unstable();
        few.dedup();
        (!few.is_empty()).then(|| self.split(&few))
    }
}

/// Bounds the number of further members by the number of their names. Returns the lists that have no words with so few
/// names (they need more members than there are keys and names, or their conditions admit none), each with its error,
/// and the lists whose further members have few names. `provenance` has the source of each list.
pub(in crate::automaton) fn bound_further(
    automaton: &mut Automaton,
    grammar: &Grammar,
    provenance: &[ExprId],
    budget: &Budget,
) -> Result<(Lacking, Vec<ExprId>)> {
    let (mut lacking, mut few) = (Vec::new(), Vec::new());
    for (place, &source) in provenance.iter().enumerate().take(automaton.ahead.records.members.len()) {
        let Some(names) = automaton.ahead.records.members[place].names else { continue };
        let most = word_count(automaton, names, budget)?;
        if most >= MANY {
            continue;
        }
        few.push(source);
        let list = &mut automaton.ahead.records.members[place];
        list.max_additional = Some(most);
        let all = list.values.len() as u32 + most;
        if let Some(conditional) = &list.conditional {
            conditional.check(true, &automaton.limits)?;
        }
        let is_conditional = list.conditional.is_some();
        let least = list.min;
        let has_members = || Lazy::within(automaton, budget, |lazy| lazy.has_members(place as u32));
        if all < least || is_conditional && !has_members()? {
            let place = blame::place_of(grammar, automaton, automaton.ahead.records.members[place].to_return);
            lacking.push((source, errors::too_few_names(place, least, all)));
        }
    }
    Ok((lacking, few))
}

/// Refuses a member without a fixed key if its few names might be used up by further members. `starts` are the starts
/// of the names that might be used up.
pub(in crate::automaton) fn check_ones(
    automaton: &Automaton,
    grammar: &Grammar,
    starts: &[StateId],
    budget: &Budget,
) -> Result<()> {
    for &start in starts {
        let names = word_count(automaton, start, budget)?;
        if names < MANY {
            return Err(errors::few_names_for_one(blame::place_of(grammar, automaton, start), names));
        }
    }
    Ok(())
}

/// The number of words from a start. All results of at least [`MANY`] mean "too many to run out".
fn word_count(automaton: &Automaton, start: StateId, budget: &Budget) -> Result<u32> {
    if Lazy::within(automaton, budget, |lazy| comes_back(lazy, start))? {
        return Ok(MANY);
    }
    Ok(match count_from(automaton, start, budget)? {
        Count::Finite(count) => u32::try_from(count).unwrap_or(MANY),
        Count::Infinite => MANY,
    })
}

/// Whether always reading the first possible lower-case letter, after a quote if none is possible at the start, leads
/// to a repeated configuration: then there are endlessly many words. `false` proves nothing.
fn comes_back(lazy: &mut Lazy<'_>, start: StateId) -> Result<bool> {
    let mut at = lazy.start_of(Some(start), false)?;
    let mut seen = FxHashSet::default();
    while seen.insert(at) {
        let mut next = ConfigurationId::DEAD;
        for byte in lazy.candidate_bytes(at).iter().filter(|byte| byte.is_ascii_lowercase()) {
            next = lazy.step(at, byte)?;
            if next != ConfigurationId::DEAD {
                break;
            }
        }
        if next == ConfigurationId::DEAD && seen.len() == 1 {
            next = lazy.step(at, b'"')?;
        }
        if next == ConfigurationId::DEAD {
            return Ok(false);
        }
        at = next;
    }
    Ok(true)
}
