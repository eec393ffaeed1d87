//! Masks: which tokens are allowed next in a configuration.
//!
//! - [`TokenMask`] is one mask: a list of ids, or words shared between masks with the differences.
//! - `compute` assembles a mask from the records of its configuration's residuals.
//! - `strategy` has the ways to compute the tokens of a residual. Each is a file and a row of one table; they are tried
//!   in order.
//! - `walk` traverses a token trie and the automaton in lockstep. Strategies are built from it. Each walk collects into
//!   a value of its own (`walk/collected.rs`).
//! - `cache` keeps masks and tables of one grammar, and the records that grammars share.
//! - `base` is the data of a mask file; everything else is computed lazily.
//! - [`MemoryBound`] is one bound for the tables of many grammars.
//! - [`CompiledGrammar`] connects an automaton with a vocabulary. It keeps the lazily computed tables and masks, which
//!   all matchers share; when their bound is reached, they are dropped and computed again.
//!
//! This module does not depend on front ends.

mod base;
mod cache;
mod compiled;
mod completion;
mod compute;
mod debug;
mod distance;
mod end_tokens;
mod errors;
mod memory_bound;
mod part_bounds;
mod part_exits;
mod partition;
mod parts;
mod spelling;
mod statistics;
mod strategy;
mod terminals;
mod token_mask;
mod token_set;
mod tuning;
mod walk;
mod way_out;

pub(crate) use base::{Base, BaseState, NameEnds};
pub(crate) use cache::mask_cache::{Located, MaskCache};
pub use compiled::{CompiledGrammar, Compiler};
pub(crate) use completion::{Effort, KeptMask, Known, Level, Levels, unless_limited};
pub use distance::Distance;
pub use memory_bound::MemoryBound;
pub(crate) use part_exits::PartContext;
pub(crate) use partition::TokenGroup;
pub(crate) use parts::{PartCeiling, PartGroups};
pub use statistics::Statistics;
pub use strategy::StrategyCounts;
pub use token_mask::TokenMask;
pub(crate) use way_out::WayOut;
