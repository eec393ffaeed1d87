//! Grammata behind the functions of llguidance that llama.cpp links: 13 of them, and the structs that they take, laid out as
//! llguidance 1.9.1 has them. `include/llguidance.h` declares the same; docs/hosts.md says how to link it.
//!
//! - `tokenizer` and `matcher` have the functions.
//! - `abi` has the structs.
//! - `grammar` reads the kinds of grammars, `state` follows a text.
//! - `border` checks what comes from C. It alone reads and writes through pointers; in `tokenizer` and `matcher` `unsafe` stands only
//!   where a function takes up the contract of the header.

// the contract of each function is that of the header, which has no sections for Rust
#![allow(clippy::missing_safety_doc)]

pub mod abi;

#[allow(unsafe_code)]
pub mod tokenizer;

#[allow(unsafe_code)]
pub mod matcher;

#[allow(unsafe_code)]
mod border;
mod errors;
mod grammar;
mod state;
#[cfg(test)]
mod tests;
