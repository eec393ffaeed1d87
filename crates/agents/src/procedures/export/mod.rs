//! Writers of the supervised automaton: Graphviz, and specs of plans.

pub(super) mod graph;
pub(super) mod spec;

pub use graph::ProcedureGraph;
