//! Grammata compiles grammars to token-level masks.

pub mod diagnostic;
pub mod error;
pub mod grammar;
pub mod limits;
pub mod syntax;

pub use diagnostic::{Diagnostic, Place};
pub use error::{Error, ErrorKind, Result};
pub use limits::Limits;
