//! A proxy for MCP servers that holds an agent to a procedure.
//!
//! [`Guard`] decides what each side gets, message by message; it does no input or output and reads no clock. [`proxy`]
//! joins it to a client, on two streams or by HTTP, and to a server, which runs as a child or is reached by HTTP.
//! [`http::Listener`] serves many clients, each with a guard of its own. What the agent is held to is a
//! [`rules::Rules`].

mod catalogue;
mod errors;
mod guard;
pub mod http;
mod outcome;
pub mod proxy;
pub mod rules;
mod schema;
mod tool_server;
mod transport;
mod wire;

pub use guard::{Action, Guard, Options};
pub use outcome::Outcome;
pub use tool_server::ToolServer;
pub use wire::{Line, read_line};
