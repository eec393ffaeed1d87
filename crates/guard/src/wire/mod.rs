//! Lines and JSON-RPC messages, read within bounds.

mod line;
mod message;

pub use line::{Line, read_line};
pub(crate) use message::{Id, Kind, Message, error, notification, request, response};
