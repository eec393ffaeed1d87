//! Lowering of names: how many further members a list may have where there are few names for them.

use super::lower::Lowering;
use super::state::{State, StateId};
use super::table::{ConfigurationId, Tables};
use super::task::Task;
use super::words::{Count, count_from};
use super::{Automaton, errors};
use crate::error::{Error, Result};
use crate::grammar::{ExprId, Expression, Names};
use rustc_hash::FxHashSet;

/// More names than any text could hold.
const MANY: u32 = 1 << 20;

impl Lowering<'_> {
    pub(super) fn build_name(
        &mut self,
        id: ExprId,
        (body, names): (ExprId, Names),
        next: StateId,
        scope: u32,
    ) {
        let next = self.add_state(State::Named { next });
        // what follows is not part of it: names are alike in many places
        let start = self.open_callable();
        if names != Names::Endless {
            self.kept.sources.names.insert(id, start);
        }
        let result = self.call(start, next);
        self.push_task(Task::CallableEnd { start, result });
        self.push_task(Task::Build { expression: body, next: StateId::ACCEPT, scope });
    }

    /// Whether the same follows all names of two descriptions of members. A member that the second describes is then also
    /// one that the first does, if its name is.
    pub(super) fn have_one_value(&self, one: ExprId, rest: ExprId) -> bool {
        let mut values: Option<&[ExprId]> = None;
        let mut open = vec![one, rest];
        while let Some(id) = open.pop() {
            match self.grammar.expression(id) {
                Expression::Choice(list) => open.extend(list),
                &Expression::Label(_, body) => open.push(body),
                Expression::Sequence(list) => {
                    let value = list.get(1..).unwrap_or_default();
                    if *values.get_or_insert(value) != value {
                        return false;
                    }
                }
                _ => return false,
            }
        }
        true
    }

    /// Starts of the names of further members, if there may be few; none if there are others.
    pub(super) fn few_names(&self, further: ExprId) -> Vec<StateId> {
        let mut names = Vec::new();
        let mut open = vec![further];
        while let Some(id) = open.pop() {
            match self.grammar.expression(id) {
                _ if !self.kept.productive.holds(id) => {}
                Expression::Choice(list) => open.extend(list),
                Expression::Sequence(list) => open.extend(list.first()),
                &Expression::Label(_, body) => open.push(body),
                Expression::Name(_, Names::Few) => names.extend(self.kept.sources.names.get(&id)),
                _ => return Vec::new(),
            }
        }
        names
    }
}

/// Bounds the number of further members by the number of their names; gives the lists that need more, given where the
/// lists come from.
pub(super) fn bound_further(automaton: &mut Automaton, sources: &[ExprId]) -> Result<Vec<(ExprId, Error)>> {
    let mut lacking = Vec::new();
    for (place, &source) in sources.iter().enumerate().take(automaton.ahead.members.len()) {
        let mut names = automaton.ahead.members[place].names.iter();
        let most = names.try_fold(0u32, |most, &start| {
            Ok(match most {
                MANY.. => most,
                _ => most.saturating_add(word_count(automaton, start)?),
            })
        })?;
        let list = &mut automaton.ahead.members[place];
        if list.names.is_empty() || most >= MANY {
            continue;
        }
        list.most_further = Some(most);
        let all = list.values.len() as u32 + most + u32::from(list.one.is_some());
        if all < list.min {
            lacking.push((source, errors::too_few_names(list.min, all)));
        }
    }
    Ok(lacking)
}

/// Refuses a member that must come once where further ones might use up its few names.
pub(super) fn check_ones(automaton: &Automaton, starts: &[StateId]) -> Result<()> {
    for &start in starts {
        let names = word_count(automaton, start)?;
        if names < MANY {
            return Err(errors::few_names_for_one(names));
        }
    }
    Ok(())
}

/// How many words there are from a start on; [`MANY`] or more stand for each other.
fn word_count(automaton: &Automaton, start: StateId) -> Result<u32> {
    if comes_back(automaton, start)? {
        return Ok(MANY);
    }
    Ok(match count_from(automaton, start)? {
        Count::Finite(count) => u32::try_from(count).unwrap_or(MANY),
        Count::Infinite => MANY,
    })
}

/// Whether the first byte that is found each time leads to a configuration that came before: there are endlessly many words.
fn comes_back(automaton: &Automaton, start: StateId) -> Result<bool> {
    let mut tables = Tables::new();
    let mut at = tables.start_of(automaton, Some(start), false)?;
    let mut seen = FxHashSet::default();
    while seen.insert(at) {
        let mut next = ConfigurationId::DEAD;
        for byte in tables.candidate_bytes(automaton, at).iter().filter(|byte| byte.is_ascii_lowercase()) {
            next = tables.step(automaton, at, byte)?;
            if next != ConfigurationId::DEAD {
                break;
            }
        }
        if next == ConfigurationId::DEAD && seen.len() == 1 {
            next = tables.step(automaton, at, b'"')?;
        }
        if next == ConfigurationId::DEAD {
            return Ok(false);
        }
        at = next;
    }
    Ok(true)
}
