//! The matcher: one sequence's walk through the automaton.
//!
//! A matcher stores a configuration per accepted step, and the bytes of the steps (`path`). Rollback removes steps from
//! the end; forks share the earlier steps. The bytes serve to recompute the configurations after the shared tables were
//! dropped to make room.
//!
//! Known results are read without a lock. Other results are computed under the engine's lock. If the tables are full,
//! they are dropped before an attempt of a computation or between two attempts, never during one.

mod budget;
mod captures;
mod constraint;
mod draft_tree;
mod end_tokens;
mod errors;
mod events;
mod explain;
mod explanation;
mod explored;
mod forced;
mod keys;
mod levels;
mod masks;
mod matcher;
mod open_parts;
mod part_potential;
mod parts;
mod path;
mod promises;
mod refusals;
mod state;
mod steps;
mod sufficient;
mod token_groups;
mod weighing;
mod within;
mod within_parts;

pub use constraint::Constraint;
pub use draft_tree::DraftTree;
pub use errors::rollback_too_far;
pub use events::{Event, EventMatcher, JsonKind, Part, RuleEvents};
pub use explanation::{Expectation, Explanation};
pub use state::Matcher;
