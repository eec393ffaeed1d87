//! The automaton of the steps that may come next, its rules, and the supervisor that avoids dead ends.

pub(super) mod automaton;
pub(super) mod bounds;
pub(super) mod marks;
pub(super) mod rules;
pub(super) mod supervisor;
pub(super) mod truth;

pub use automaton::{Automaton, Letter, Outcome, StateId};
pub use bounds::Bounds;
pub use rules::Mode;
pub use supervisor::{Size, Supervisor};
