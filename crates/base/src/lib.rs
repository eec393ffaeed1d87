//! What all crates of Grammata share: errors and diagnostics, limits and budgets of work, the reading of files within bounds, and DOT.

pub mod diagnostic;
pub mod dot;
pub mod error;
pub mod files;
pub mod limits;
mod setters;
pub mod work;

pub use diagnostic::{Diagnostic, Place};
pub use error::{Error, ErrorKind, Result};
pub use limits::{LimitKind, Limits};
