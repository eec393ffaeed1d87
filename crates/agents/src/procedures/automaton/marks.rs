//! The memory of a session or of a state of the automaton, and the effects of answers on it.

use crate::procedures::language::status::Status;
use crate::procedures::language::value::Scalar;
use crate::procedures::semantics::procedure::Procedure;
use crate::procedures::semantics::registers::Register;

/// A value of a register: a concrete one, or a cell of the partition of its values.
pub(in crate::procedures) trait Cell: Clone {
    fn scalar<'a>(&'a self, register: &'a Register) -> &'a Scalar;
}

impl Cell for Scalar {
    fn scalar<'a>(&'a self, _: &'a Register) -> &'a Scalar {
        self
    }
}

/// A cell, by its index in [`Register::cells`].
impl Cell for u16 {
    fn scalar<'a>(&'a self, register: &'a Register) -> &'a Scalar {
        register.cells.get(usize::from(*self)).unwrap_or(&Scalar::Other)
    }
}

/// The memory of a procedure: the status of nodes, the values of registers, and the numbers of calls.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(in crate::procedures) struct Marks<V> {
    /// By node: its status.
    pub(in crate::procedures) done: Box<[Status]>,
    /// By register: its value; `None` if it is unset.
    pub(in crate::procedures) values: Box<[Option<V>]>,
    /// By node: the number of its calls; 0 for nodes without `max_calls`. Empty if no node has `max_calls`.
    pub(in crate::procedures) calls: Box<[u32]>,
}

impl<V: Cell> Marks<V> {
    pub(in crate::procedures) fn new(procedure: &Procedure) -> Marks<V> {
        let has_bound = procedure.nodes.iter().any(|node| node.max_calls.is_some());
        Marks {
            done: vec![Status::No; procedure.nodes.len()].into(),
            values: vec![None; procedure.registers.len()].into(),
            calls: vec![0; if has_bound { procedure.nodes.len() } else { 0 }].into(),
        }
    }

    /// Records the answer of an API. If `is_new` (other arguments or another outcome than before), each node that
    /// requires the API, directly or not, is taken back, unless it has `keep`. The registers that the API writes are
    /// unset; the caller sets them. The call is counted if the API has `max_calls`.
    pub(in crate::procedures) fn answered(
        &mut self,
        procedure: &Procedure,
        api: usize,
        status: Status,
        is_new: bool,
    ) {
        if is_new && self.done[api] != Status::No {
            for node in procedure.dependents(api) {
                self.done[node] = Status::No;
                self.unset(&procedure.writes[node]);
            }
        }
        self.done[api] = status;
        self.unset(&procedure.writes[api]);
        if procedure.nodes[api].max_calls.is_some() {
            self.calls[api] = self.calls[api].saturating_add(1);
        }
    }

    /// Records that an answer was said, and unsets what the user decides after it.
    pub(in crate::procedures) fn said(&mut self, procedure: &Procedure, answer: usize) {
        self.done[answer] = Status::Ok;
        self.unset(&procedure.writes[answer]);
    }

    fn unset(&mut self, registers: &[u32]) {
        registers.iter().for_each(|&register| self.values[register as usize] = None);
    }
}
