//! The automaton: a byte-level pushdown automaton, determinised lazily over hash-consed configurations.
//!
//! - `lower` compiles a grammar to a Thompson NFA over bytes with calls, counted loops, member lists and products.
//!   Lowering takes time linear in the size of the grammar, except for left-recursive groups of rules: each costs the
//!   product of its size and the number of its rules that are called from outside. `program` has the data structures of
//!   the NFA.
//! - `run` determinises the NFA lazily. It interns sets of stacks (the graph-structured stack of Tomita 1985, kept
//!   canonical, so that equal sets have equal ids) and configurations (sorted sets of pairs of a leaf state and its
//!   stacks). `run` computes `step(configuration, byte)`, and any thread may read the results without a lock.
//! - `register` has the values of frames: members seen, rounds of a loop, product states, items that must differ.
//! - `keys` tracks the names of objects, separately from configurations.
//! - `residual` decomposes configurations into residuals, which do not depend on the stack below, in canonical form.
//! - `language` reads an automaton as a set of words: counts, lists, graphs.
//!
//! Token terminals are symbols in addition to the bytes: an edge is labelled with a terminal, and only the owner of a
//! vocabulary knows its tokens. Apart from terminals, this module has no notion of tokens.

mod distance;
mod errors;
pub(crate) mod keys;
mod language;
mod lower;
mod program;
mod register;
mod residual;
mod run;
mod tuning;

pub(crate) use distance::bounds::Estimates;
pub(crate) use distance::measure::{Measure, Sufficient};
pub(crate) use distance::search::{Completion, Found, Space, search};
pub(crate) use keys::exhaustion::KeyExhaustion;
#[cfg(feature = "testing")]
#[doc(hidden)]
pub use language::anatomy;
pub use language::{graph, samples, words};
pub use program::automaton::Automaton;
pub use program::block::Scope;
pub(crate) use program::ids::PartId;
pub use program::ids::{StateId, TerminalId};
pub(crate) use program::letter::Letter;
pub(crate) use register::unique::{WatchedItem, Watches};
pub(crate) use residual::canonical_form::CanonicalForm;
pub(crate) use residual::char_partition::CharPartition;
pub(crate) use residual::decompose::Residual;
pub use run::cache::Cache;
pub use run::configuration::ConfigurationId;
pub(crate) use run::configuration::StackSetId;
pub use run::lazy::Lazy;
pub(crate) use run::parts::{OpenPart, Reading, WithoutParts};
pub(crate) use run::transitions::{Dense, Facts, Transitions};
