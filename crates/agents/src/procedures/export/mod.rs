//! Writers: of the supervised automaton as Graphviz and as a spec of plans, and of drafts of procedures.

pub(super) mod graph;
mod scaffold;
pub(super) mod spec;

pub use graph::ProcedureGraph;
pub use scaffold::scaffold;
