//! Parts bounded in tokens: the value of a part's frame says whether the part was entered since the last token ended.
//! The matcher counts the remaining tokens for each reading; see `run/parts.rs`.

use super::passed_through::PassedThrough;
use crate::automaton::program::ids::StateId;
use crate::automaton::program::registers::Part;
use crate::automaton::run::work_list::Closure;

impl PassedThrough for Part {
    fn exit(&self) -> StateId {
        self.exit
    }

    /// Does nothing: the end of a part does not matter to bytes.
    fn mark(&self, _: &mut Closure) {}
}
