//! Grammata compiles grammars to token-level masks.

pub mod automaton;
#[cfg(feature = "cli")]
pub mod cli;
pub mod decode;
pub mod diagnostic;
pub mod error;
pub mod grammar;
pub mod limits;
pub mod mask;
pub mod matcher;
pub mod syntax;
#[cfg(feature = "testing")]
#[doc(hidden)]
pub mod testing;
pub mod vocabulary;

pub use diagnostic::{Diagnostic, Place};
pub use error::{Error, ErrorKind, Result};
pub use limits::Limits;
pub use mask::{CompiledGrammar, Compiler, TokenMask};
pub use matcher::Matcher;
pub use vocabulary::{TokenId, Vocabulary};
