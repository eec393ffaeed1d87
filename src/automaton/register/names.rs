//! Names of objects: the configuration marks where a name ends. The names themselves are tracked separately from
//! configurations, by `automaton/keys`.

use super::passed_through::PassedThrough;
use crate::automaton::program::ids::StateId;
use crate::automaton::program::registers::Name;
use crate::automaton::run::work_list::Closure;

impl PassedThrough for Name {
    fn exit(&self) -> StateId {
        self.exit
    }

    fn mark(&self, closure: &mut Closure) {
        closure.named = true;
    }
}
