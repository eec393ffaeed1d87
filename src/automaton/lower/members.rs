//! Lowering of member lists: a trie over the keys, a start per value, and a register in the list's frame.

use super::Lowering;
use super::task::Task;
use crate::automaton::program::ids::StateId;
use crate::automaton::program::key_trie::KeyTrie;
use crate::automaton::program::registers::{Conditional, Members, RegisterKind, Role};
use crate::automaton::program::state::State;
use crate::error::Result;
use crate::grammar::conditions;
use crate::grammar::conditions::Clauses;
use crate::grammar::{Condition, ExprId, Expression, Members as Source, Order};

impl<'g> Lowering<'g> {
    /// The members that can be present: their values have words, and no required member excludes them; see
    /// `only_the_required`.
    fn possible(&self, source: &'g Source) -> Vec<&'g crate::grammar::Member> {
        let alone = self.only_the_required(source);
        let possible = |member: &&crate::grammar::Member| {
            self.kept.productive.holds(member.value) && (member.required || !alone)
        };
        source.members.iter().filter(possible).collect()
    }

    /// Whether only the required member can be present, because there is no separator. False for lists with conditions.
    fn only_the_required(&self, source: &Source) -> bool {
        let required = source.members.iter().any(|member| member.required);
        required && !source.is_conditional() && !self.kept.productive.holds(source.separator)
    }

    fn possible_ones(&self, source: &'g Source) -> impl Iterator<Item = ExprId> {
        source.ones.iter().copied().filter(|&one| self.kept.productive.holds(one))
    }

    /// Refuses conditions that take too many decisions to combine after the impossible entries are removed. Lists
    /// without such entries were checked when the grammar was built.
    ///
    /// # Errors
    /// The limit `condition_search`.
    pub(in crate::automaton) fn check_conditions(&self) -> Result<()> {
        for expression in self.grammar.expressions() {
            if let Expression::Members(source) = expression
                && source.is_conditional()
                && self.possible(source).len() + self.possible_ones(source).count()
                    < source.members.len() + source.ones.len()
                && let Some(conditional) = self.conditional(source)
            {
                conditional.check(source.min > 0 || source.max.is_some(), &self.limits)?;
            }
        }
        Ok(())
    }

    /// The conditions over the possible entries; `None` if the list has no conditions.
    fn conditional(&self, source: &'g Source) -> Option<Box<Conditional>> {
        if !source.is_conditional() {
            return None;
        }
        let members = self.possible(source);
        let possible = source.members.iter().map(|member| self.kept.productive.holds(member.value));
        let possible = possible.chain(source.ones.iter().map(|&one| self.kept.productive.holds(one)));
        let mut next = 0..;
        let places: Vec<Option<u32>> = possible.map(|is| if is { next.next() } else { None }).collect();
        let groups = conditions::groups(&members, |one, other| one.key == other.key);
        let mapped = |condition: &Condition| condition.mapped(|entry| places[entry as usize]);
        let conditions: Vec<Condition> = source.conditions.iter().map(mapped).collect();
        let required: Vec<bool> = members.iter().map(|member| member.required).collect();
        let entries = places.iter().flatten().count();
        let clauses = Clauses::new(&conditions, &groups, &required, entries);
        Some(Box::new(Conditional { conditions, clauses, groups }))
    }

    pub(in crate::automaton) fn begin_members(
        &mut self,
        id: ExprId,
        source: &'g Source,
        next: StateId,
        scope: u32,
    ) {
        let index = self.block.next(&self.block.records.members);
        let place = self.block.at(index);
        let to_return = self.register(RegisterKind::Members, Role::Return, index);
        let after_separator = self.register(RegisterKind::Members, Role::Next, index);
        let between = self.register(RegisterKind::Members, Role::Between, index);
        self.kept.provenance.members.push(id);
        self.block.records.members.push(Members {
            any_order: source.order == Order::Any,
            keys: KeyTrie::default(),
            values: Vec::new(),
            required: Vec::new(),
            next_required: Vec::new(),
            required_from: Vec::new(),
            min: source.min,
            max: source.max,
            rest: None,
            names: None,
            max_additional: None,
            ones: Vec::new(),
            conditional: None,
            separator: StateId::ACCEPT,
            exit: next,
            to_return,
            between,
            root: StateId::ACCEPT,
        });
        self.push_task(Task::MembersEnd { expression: id, index, next, scope });
        if self.kept.productive.holds(source.separator) {
            self.push_task(Task::OrEmpty { expression: source.separator, next: after_separator });
            self.push_task(Task::Build { expression: source.separator, next: after_separator, scope });
        }
        if let Some(rest) =
            source.rest.filter(|&rest| self.kept.productive.holds(rest) && !self.only_the_required(source))
        {
            let start = self.open_callable();
            self.block.records.members[place].rest = Some(start);
            self.push_task(Task::CallableEnd { start, result: start });
            self.push_task(Task::Build { expression: rest, next: StateId::ACCEPT, scope });
        }
        for one in self.possible_ones(source).collect::<Vec<_>>() {
            let start = self.open_callable();
            self.block.records.members[place].ones.push(start);
            self.push_task(Task::CallableEnd { start, result: start });
            self.push_task(Task::Build { expression: one, next: StateId::ACCEPT, scope });
        }
        for member in self.possible(source).into_iter().rev() {
            self.push_task(Task::MemberValue { expression: member.value, scope });
        }
    }

    pub(in crate::automaton) fn end_members(&mut self, id: ExprId, index: u32, next: StateId) {
        let Expression::Members(source) = self.grammar.expression(id) else { return };
        let separator = match self.kept.productive.holds(source.separator) {
            true => self.results_of(1)[0],
            false => self.split(&[]),
        };
        let place = self.block.at(index);
        let list = &self.block.records.members[place];
        let further = usize::from(list.rest.is_some()) + list.ones.len();
        self.results_of(further);
        let members = self.possible(source);
        let values = self.results_of(members.len()).into_vec();
        let conditional = self.conditional(source);
        let max = match conditional {
            // without a separator only one member is possible
            Some(_) if !self.kept.productive.holds(source.separator) => Some(source.max.unwrap_or(1).min(1)),
            _ => source.max,
        };
        let required: Vec<bool> = members.iter().map(|member| member.required).collect();
        let mut next_required = vec![members.len() as u32; members.len() + 1];
        let mut required_from = vec![0; members.len() + 1];
        for place in (0..members.len()).rev() {
            next_required[place] = if required[place] { place as u32 } else { next_required[place + 1] };
            required_from[place] = required_from[place + 1] + u32::from(required[place]);
        }
        let keys: Vec<&[u8]> = members.iter().map(|member| &*member.key).collect();
        let keys = KeyTrie::new(&keys);
        let mut root = StateId::ACCEPT;
        for node in 0..keys.len() {
            let (kind, role, node_id) = (RegisterKind::Members, Role::Inside, node as u32);
            let state = self.add_state(State::Register { kind, role, record: index, node: node_id });
            if node == 0 {
                root = state;
            }
        }
        let list = &mut self.block.records.members[place];
        *list = Members {
            keys,
            conditional,
            max,
            values,
            required,
            next_required,
            required_from,
            separator,
            exit: next,
            root,
            ..list.clone()
        };
        let enter = self.register(RegisterKind::Members, Role::Enter, index);
        self.push_result(enter);
    }
}
