//! Masks: which tokens may come next in a configuration.
//!
//! - [`TokenMask`] is one mask: a list of ids, or words that masks share with what is added and taken away.
//! - `compute.rs` puts a mask together from the parts of its configuration, whose records are kept.
//! - `difference.rs` makes the record of a part that is nearly a loop.
//! - `walk.rs` computes one by walking the vocabulary's token trie and the automaton in lockstep. Where few
//!   bytes may come it goes from those bytes to the trie's children, else from the children to the
//!   automaton.
//! - `sweep.rs` goes straight through the trie's memory where many bytes may come.
//! - `by_kind.rs` takes the place of long walks in strings: tokens are walked by the kinds of their characters.
//! - `uniform.rs` takes subtrees of the trie whole where all their characters stay alive alike.
//! - [`CompiledGrammar`] ties an automaton to a vocabulary and keeps the lazily made tables and masks:
//!   shared by all matchers, bounded, dropped and made again when the bound is reached.
//!
//! - `loops.rs` takes the place of the walk where a configuration comes back to itself on a loop that is
//!   precomputed for the vocabulary: the inside of a string, free text, whitespace. It gives the same bits.
//!   `lasting.rs` sees that a configuration never ends on one, as where a pattern is searched for.
//!
//! Nothing here knows of front ends.

mod cache;
mod compiled;
mod compute;
mod errors;
mod spelling;
mod strategy;
mod terminals;
mod token_mask;
mod token_set;
mod walk;

pub(crate) use cache::mask_cache::{Located, MaskCache, NameEnds};
pub use compiled::{CompiledGrammar, Compiler, Statistics};
pub use token_mask::TokenMask;
