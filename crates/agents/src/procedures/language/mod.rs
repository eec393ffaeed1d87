//! The contents of a procedure file: declarations, the text in PDL and its values, and the errors of a file.

pub(super) mod declarations;
pub(super) mod errors;
mod fields;
mod merge;
pub(super) mod pdl;
mod schemas;
mod slot;
pub(super) mod status;
pub(super) mod tools;
pub(super) mod value;

pub use declarations::{Node, NodeKind, Slot, Source, normal};
pub use errors::{Finding, Severity};
pub use status::Status;
pub use tools::ApiTool;
pub use value::{Literal, Scalar};
