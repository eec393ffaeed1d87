//! Parts that are bounded in tokens: the value of a part's frame says whether the part was entered since the last token ended.
//! How many tokens are left is counted by the matcher, for each reading; see `run/parts.rs`.

use super::passed_through::PassedThrough;
use crate::automaton::program::ids::StateId;
use crate::automaton::program::registers::Part;
use crate::automaton::run::work_list::Closure;

impl PassedThrough for Part {
    fn exit(&self) -> StateId {
        self.exit
    }

    /// Whose end it is does not matter to bytes.
    fn mark(&self, _: &mut Closure) {}
}
