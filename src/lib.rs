//! Grammata compiles grammars to token-level masks.

pub mod decode;
pub mod diagnostic;
pub mod error;
pub mod limits;

pub use diagnostic::{Diagnostic, Place};
pub use error::{Error, ErrorKind, Result};
pub use limits::Limits;
