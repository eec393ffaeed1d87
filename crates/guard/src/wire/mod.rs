//! Lines and JSON-RPC messages, which are read within bounds.

mod line;
mod message;

pub(crate) use line::read_piece;
pub use line::{Line, read_line};
pub(crate) use message::{Id, Kind, Message, error, notification, request, response};
