//! A proxy for MCP servers that holds an agent to rules, such as a procedure.
//!
//! [`Guard`] decides, message by message, what each side receives. It does no input or output and reads no clock.
//! [`proxy`] connects it to a client, by two streams or by HTTP, and to a server, which is a child process or is
//! reached by HTTP. [`http::Listener`] serves many clients, each with its own guard. The guard enforces an
//! implementation of [`rules::Rules`]. [`inspect`] reads the tools of a server without a client. [`ToolServer`] is an
//! MCP server with tools of this program.

mod catalogue;
mod errors;
mod guard;
pub mod http;
mod inspect;
mod log;
mod outcome;
pub mod proxy;
pub mod rules;
mod schema;
#[cfg(unix)]
mod signals;
mod tool_server;
mod transport;
mod wire;

pub use guard::{Action, Guard, Options, Review, ReviewedTool};
pub use inspect::{Inspected, inspect};
pub use log::{Log, LogForm, Logged};
pub use outcome::Outcome;
#[cfg(unix)]
pub use signals::end_servers_on_signals;
pub use tool_server::ToolServer;
pub use wire::{Line, read_line};
