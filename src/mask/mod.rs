//! Masks: which tokens may come next in a configuration.
//!
//! - [`TokenMask`] is one mask: dense (a bit per token) or sparse (a sorted list of ids), whichever is
//!   smaller.
//! - [`walk`] computes one by walking the vocabulary's token trie and the automaton in lockstep. Where few
//!   bytes may come it goes from those bytes to the trie's children, else from the children to the
//!   automaton.
//! - [`CompiledGrammar`] ties an automaton to a vocabulary and keeps the lazily made tables and masks:
//!   shared by all matchers, bounded, dropped and made again when the bound is reached.
//!
//! The place for what makes wide masks fast (loop bodies and rests: precomputed per vocabulary) is between
//! the cache and the walk: it only ever replaces a walk by something that gives the same bits. Nothing here
//! knows of front ends.

mod compiled;
mod engine;
mod spelling;
mod token_mask;
mod walk;

pub use compiled::{CompiledGrammar, Compiler, Statistics};
pub(crate) use engine::Engine;
pub use token_mask::TokenMask;
