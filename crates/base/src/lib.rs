//! Shared by all crates of Grammata: errors, diagnostics, limits, work budgets, bounded reading of files, forks, and
//! DOT.

pub mod diagnostic;
pub mod dot;
pub mod error;
pub mod files;
pub mod forking;
pub mod limits;
mod rows;
mod setters;
pub mod work;

pub use diagnostic::{Diagnostic, Place};
pub use error::{Error, ErrorKind, Result};
pub use limits::{LimitKind, Limits};
