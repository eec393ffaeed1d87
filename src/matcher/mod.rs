//! The matcher: one sequence's walk through the automaton.
//!
//! A matcher is a list of configurations, one a step, and the bytes that led to them (`path`). So rollback drops
//! from the end of the list, and forks share its beginning. The bytes are kept so that the walk can be found again when
//! the shared tables had to make room.
//!
//! What is known is read without a lock. What is not is found out under the engine's lock, in one section for each
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
