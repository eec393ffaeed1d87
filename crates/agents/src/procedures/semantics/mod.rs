//! The analysed text of a procedure: guards around calls, registers, the control flow, and the [`Procedure`] that holds
//! them.

pub(super) mod flow;
pub(super) mod guards;
pub(super) mod meaning;
pub(super) mod procedure;
pub(super) mod registers;
pub(super) mod shape;
pub(super) mod word;

pub use procedure::Procedure;
pub use word::word_error;
