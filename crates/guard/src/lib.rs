//! A proxy for MCP servers that holds an agent to a procedure.
//!
//! [`Guard`] decides what each side gets, message by message; it does no input or output and reads no clock. [`stdio`]
//! joins it to a client on the standard streams and to a server that runs as a child. What the agent is held to is a
//! [`rules::Rules`].

mod catalogue;
mod errors;
mod guard;
mod outcome;
pub mod rules;
mod schema;
pub mod stdio;
mod wire;

pub use guard::{Action, Guard, Options};
pub use outcome::Outcome;
pub use wire::{Line, read_line};
