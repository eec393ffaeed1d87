//! The matcher: one sequence's walk through the automaton.
//!
//! A matcher is a list of configurations, one per step, and the bytes that led to them (`path`). Rollback drops the end
//! of the list, and forks share its beginning. The bytes are kept to recompute the walk after the shared tables were
//! dropped to make room.
//!
//! Known results are read without a lock. Others are computed under the engine's lock, in one critical section per
//! step: tables are dropped between sections, never within one.

mod budget;
mod draft;
mod draft_tree;
mod end_tokens;
mod errors;
mod explain;
mod explored;
mod forced;
mod keys;
mod matcher;
mod open_parts;
mod parts;
mod path;
mod promises;
mod steps;
mod token_groups;
mod within;
mod within_parts;

pub use draft_tree::DraftTree;
pub use errors::rollback_too_far;
pub use explain::{Expectation, Explanation};
pub use matcher::Matcher;
