//! The border between Rust and Python, for the extension modules of the packages `grammata` and `grammata_agents`.
//!
//! A [`Border`] converts errors, JSON and limits for one package. [`ending`] has the calls into Python code,
//! [`forking`] the calls into the library.

pub mod ending;
mod errors;
mod exceptions;
pub mod forking;
mod json;
mod limits;
mod spec;

pub use errors::{choice, usage};
pub use json::from_json;

/// Conversions for one Python package.
///
/// The package has a module `_errors` with the class `Diagnostic` and an exception class for each kind of error.
#[derive(Clone, Copy, Debug)]
pub struct Border {
    /// The name of the package.
    pub package: &'static str,
    /// Names of the library's settings in diagnostics, and the Python names of the same settings.
    pub settings: &'static [(&'static str, &'static str)],
}
