//! Streamable HTTP, the transport of the Model Context Protocol for servers that are not child processes. Each message
//! of the client is an HTTP request; its response is one message, a stream of messages, or empty. Messages of the
//! server that answer no request are sent on a separate stream if the client has opened one; otherwise they may be part
//! of the response to an open request.

mod answer;
mod connections;
mod events;
mod headers;
mod listen;
mod origins;
mod posts;
mod remote;
mod request;
mod respond;
mod routes;
mod sessions;

pub use listen::{Handlers, ListenOptions, Listener};
pub use remote::Remote;
pub use routes::SessionClient;

pub(crate) use remote::RemoteServer;

/// The name of the header with the id of a session.
const SESSION: &str = "mcp-session-id";
/// The name of the header with the version of the protocol.
const VERSION: &str = "mcp-protocol-version";
/// The content type of a message.
const JSON: &str = "application/json";
/// The content type of a stream of messages.
const STREAM: &str = "text/event-stream";
/// Maximum bytes of the id of a session or an event.
const MOST_ID: usize = 256;
