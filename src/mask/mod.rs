//! Masks: which tokens may come next in a configuration.
//!
//! - [`TokenMask`] is one mask: a list of ids, or words that masks share with what is added and taken away.
//! - `compute` puts a mask together from the residuals of its configuration, whose records are kept.
//! - `strategy` has the ways to compute the tokens of a residual, each a file and a row of one table, tried in order.
//! - `walk` goes through a token trie and the automaton in lockstep: what strategies are made of. Each collects into a
//!   value of its own (`walk/collected.rs`).
//! - `cache` keeps masks and tables of one grammar, and what grammars share.
//! - `base` is what a mask file knows, beside which the rest is made lazily.
//! - [`MemoryBound`] is one bound for the tables of many grammars.
//! - [`CompiledGrammar`] ties an automaton to a vocabulary and keeps the lazily made tables and masks:
//!   shared by all matchers, bounded, dropped and made again when the bound is reached.
//!
//! Nothing here knows of front ends.

mod base;
mod cache;
mod compiled;
mod completion;
mod compute;
mod distance;
mod end_tokens;
mod errors;
mod memory_bound;
mod part_bounds;
mod part_exits;
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
pub(crate) use completion::{Effort, Groups, KeptGroups, Known};
pub use distance::Distance;
pub use memory_bound::MemoryBound;
pub(crate) use part_exits::PartContext;
pub use statistics::Statistics;
pub use strategy::StrategyCounts;
pub use token_mask::TokenMask;
pub(crate) use way_out::WayOut;
