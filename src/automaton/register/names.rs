//! Names of objects: where one ends, the configuration says so. Which names came is followed beside configurations, by
//! `automaton/keys`.

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
