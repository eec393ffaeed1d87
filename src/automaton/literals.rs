//! Alternatives of literals become a prefix tree, not a fan of states.

use super::lower::Lowering;
use super::state::StateId;

/// A branching point of the prefix tree that is still being built.
struct Branch {
    depth: usize,
    edges: Vec<(u8, StateId)>,
    /// Where to go on for the literals that end here.
    ends: Vec<StateId>,
}

impl Branch {
    fn new(depth: usize) -> Branch {
        Branch { depth, edges: Vec::new(), ends: Vec::new() }
    }
}

impl Lowering<'_> {
    /// A state that reads any one of `literals` (not empty) and goes on where it says.
    ///
    /// The literals are sorted; the branches on the way to the current one are kept on a stack and become
    /// states when the next literal has left them.
    pub(super) fn literal_tree(&mut self, mut literals: Vec<(&[u8], StateId)>) -> StateId {
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

    /// Hangs `state`, which is `depth` bytes along `bytes`, onto the top branch.
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
