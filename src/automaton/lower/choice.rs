//! Lowering of alternatives. Alternatives that begin with literals become a prefix tree instead of a split with one
//! state for each.

use super::Lowering;
use super::task::Task;
use crate::automaton::program::ids::StateId;
use crate::grammar::{ExprId, Expression};

/// A branching point of the prefix tree under construction.
struct Branch {
    depth: usize,
    edges: Vec<(u8, StateId)>,
    /// The continuations of the literals that end at this point.
    ends: Vec<StateId>,
}

impl Branch {
    fn new(depth: usize) -> Branch {
        Branch { depth, edges: Vec::new(), ends: Vec::new() }
    }
}

impl<'g> Lowering<'g> {
    /// The literal that an alternative begins with, and whether something follows it; `None` if it begins with
    /// something else.
    fn literal_head(&self, alternative: ExprId) -> Option<(&'g [u8], bool)> {
        match self.grammar.expression(alternative) {
            Expression::Bytes(bytes) => Some((bytes, false)),
            Expression::Sequence(parts) => match self.grammar.expression(parts[0]) {
                Expression::Bytes(bytes) => Some((bytes, true)),
                _ => None,
            },
            _ => None,
        }
    }

    fn alternatives(&self, list: ExprId) -> impl Iterator<Item = ExprId> + use<'_, 'g> {
        self.parts(list).iter().copied().filter(|&a| self.kept.productive.holds(a))
    }

    pub(in crate::automaton) fn begin_choice(&mut self, list: ExprId, next: StateId, scope: u32) {
        self.push_task(Task::ChoiceEnd { list, next, scope });
        let alternatives: Vec<ExprId> = self.alternatives(list).collect();
        for alternative in alternatives.into_iter().rev() {
            match self.literal_head(alternative) {
                Some((_, false)) => {}
                // the state after the literal; the literals themselves are joined into a tree at the end
                Some((_, true)) => self.push_task(Task::SequenceTail { list: alternative, next, scope }),
                None => self.push_task(Task::Build { expression: alternative, next, scope }),
            }
        }
    }

    pub(in crate::automaton) fn end_choice(&mut self, list: ExprId, next: StateId) {
        let alternatives: Vec<ExprId> = self.alternatives(list).collect();
        let built =
            alternatives.iter().filter(|&&a| !matches!(self.literal_head(a), Some((_, false)))).count();
        let mut built = self.results_of(built).into_iter();
        let mut literals = Vec::new();
        let mut targets = Vec::new();
        for &alternative in &alternatives {
            match self.literal_head(alternative) {
                Some((bytes, false)) => literals.push((bytes, next)),
                Some((bytes, true)) => literals.extend(built.next().map(|state| (bytes, state))),
                None => targets.extend(built.next()),
            }
        }
        if !literals.is_empty() {
            targets.push(self.literal_tree(literals));
        }
        let state = self.split(&targets);
        self.push_result(state);
    }

    /// A state that reads any one of `literals` (not empty) and continues at the state given with it.
    ///
    /// The literals are sorted. The branches on the path to the current literal are kept on a stack. A branch becomes a
    /// state when the next literal does not pass through it.
    pub(in crate::automaton) fn literal_tree(&mut self, mut literals: Vec<(&[u8], StateId)>) -> StateId {
        literals.sort_unstable();
        let mut open = vec![Branch::new(0)];
        for i in 0..literals.len() {
            let (bytes, end) = literals[i];
            let shared = literals.get(i + 1).map_or(0, |next| common_prefix(bytes, next.0));
            if open.last().is_none_or(|top| shared > top.depth) {
                open.push(Branch::new(shared));
            }
            self.attach(&mut open, bytes, bytes.len(), end);
            while open.last().is_some_and(|top| top.depth > shared) {
                let Some(top) = open.pop() else { break };
                if open.last().is_none_or(|parent| parent.depth < shared) {
                    open.push(Branch::new(shared));
                }
                let depth = top.depth;
                let state = self.branch(top);
                self.attach(&mut open, bytes, depth, state);
            }
        }
        match open.pop() {
            Some(root) => self.branch(root),
            None => self.split(&[]),
        }
    }

    /// Attaches `state`, which follows the first `depth` bytes of `bytes`, to the top branch.
    fn attach(&mut self, open: &mut [Branch], bytes: &[u8], depth: usize, state: StateId) {
        let Some(top) = open.last_mut() else { return };
        if depth == top.depth {
            top.ends.push(state);
        } else {
            let first = bytes[top.depth];
            let next = self.literal(&bytes[top.depth + 1..depth], state);
            top.edges.push((first, next));
        }
    }

    fn branch(&mut self, branch: Branch) -> StateId {
        let mut all = branch.ends;
        if !branch.edges.is_empty() {
            let ranges: Vec<(u8, u8, StateId)> = branch.edges.iter().map(|&(b, next)| (b, b, next)).collect();
            all.push(self.byte_ranges(&ranges));
        }
        self.split(&all)
    }
}

fn common_prefix(a: &[u8], b: &[u8]) -> usize {
    a.iter().zip(b).take_while(|(a, b)| a == b).count()
}
