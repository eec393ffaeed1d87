//! Lowering of member lists: a trie over the keys, a start per value, a register in the list's frame.

use super::lower::Lowering;
use super::state::{KeyNode, Members, State, StateId};
use super::task::Task;
use crate::grammar::{ExprId, Expression, Members as Source, Order};

impl<'g> Lowering<'g> {
    /// Members whose value has words; the others can never come.
    fn possible(&self, source: &'g Source) -> Vec<&'g crate::grammar::Member> {
        let alone = self.only_the_required(source);
        let possible = |member: &&crate::grammar::Member| {
            self.kept.productive.holds(member.value) && (member.required || !alone)
        };
        source.members.iter().filter(possible).collect()
    }

    /// Without a separator only one member can come; if one is required, that one.
    fn only_the_required(&self, source: &Source) -> bool {
        let required = source.one.is_some() || source.members.iter().any(|member| member.required);
        required && !self.kept.productive.holds(source.separator)
    }

    pub(super) fn begin_members(&mut self, id: ExprId, source: &'g Source, next: StateId, scope: u32) {
        let index = self.block.next(&self.block.members);
        let place = self.block.at(index);
        let to_return = self.add_state(State::MembersReturn(index));
        let after_separator = self.add_state(State::MembersNext(index));
        let between = self.add_state(State::MembersBetween(index));
        self.kept.sources.members.push(id);
        self.block.members.push(Members {
            any_order: source.order == Order::Any,
            keys: Vec::new(),
            values: Vec::new(),
            required: Vec::new(),
            next_required: Vec::new(),
            required_from: Vec::new(),
            min: source.min,
            max: source.max,
            rest: None,
            names: Vec::new(),
            most_further: None,
            one: None,
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
            self.block.members[place].rest = Some(start);
            self.push_task(Task::CallableEnd { start, result: start });
            self.push_task(Task::Build { expression: rest, next: StateId::ACCEPT, scope });
        }
        if let Some(one) = source.one {
            let start = self.open_callable();
            self.block.members[place].one = Some(start);
            self.push_task(Task::CallableEnd { start, result: start });
            self.push_task(Task::Build { expression: one, next: StateId::ACCEPT, scope });
        }
        for member in self.possible(source).into_iter().rev() {
            self.push_task(Task::MemberValue { expression: member.value, scope });
        }
    }

    pub(super) fn end_members(&mut self, id: ExprId, index: u32, next: StateId) {
        let Expression::Members(source) = self.grammar.expression(id) else { return };
        let separator = match self.kept.productive.holds(source.separator) {
            true => self.results_of(1)[0],
            false => self.split(&[]),
        };
        let place = self.block.at(index);
        let list = &self.block.members[place];
        let further = usize::from(list.rest.is_some()) + usize::from(list.one.is_some());
        self.results_of(further);
        let members = self.possible(source);
        let values = self.results_of(members.len()).into_vec();
        let names = source.rest.map_or(Vec::new(), |rest| self.few_names(rest));
        if let (Some(one), Some(rest)) = (source.one, source.rest)
            && !self.have_one_value(one, rest)
        {
            let few = self.few_names(one);
            self.kept.sources.ones.extend(few);
        }
        let required: Vec<bool> = members.iter().map(|member| member.required).collect();
        let mut next_required = vec![members.len() as u32; members.len() + 1];
        let mut required_from = vec![0; members.len() + 1];
        for place in (0..members.len()).rev() {
            next_required[place] = if required[place] { place as u32 } else { next_required[place + 1] };
            required_from[place] = required_from[place + 1] + u32::from(required[place]);
        }
        let keys = key_trie(members.iter().map(|member| &*member.key));
        let mut root = StateId::ACCEPT;
        for node in 0..keys.len() {
            let state = self.add_state(State::Key { members: index, node: node as u32 });
            if node == 0 {
                root = state;
            }
        }
        let list = &mut self.block.members[place];
        *list = Members {
            keys,
            names,
            values,
            required,
            next_required,
            required_from,
            separator,
            exit: next,
            root,
            ..list.clone()
        };
        let enter = self.add_state(State::MembersEnter(index));
        self.push_result(enter);
    }
}

fn key_trie<'k>(keys: impl Iterator<Item = &'k [u8]>) -> Vec<KeyNode> {
    let mut nodes = vec![KeyNode::default()];
    for (member, key) in keys.enumerate() {
        let member = member as u32;
        let mut at = 0;
        for &byte in key {
            nodes[at].members.push(member);
            at = match nodes[at].edges.binary_search_by_key(&byte, |edge| edge.0) {
                Ok(found) => nodes[at].edges[found].1 as usize,
                Err(place) => {
                    let child = nodes.len();
                    nodes[at].edges.insert(place, (byte, child as u32));
                    nodes.push(KeyNode::default());
                    child
                }
            };
        }
        nodes[at].terminal = Some(member);
    }
    nodes
}
