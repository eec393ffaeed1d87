//! Lines and JSON-RPC messages, which are read within bounds.

mod line;
mod message;
mod names;
mod protocol;
pub(crate) mod stateless;

pub(crate) use line::read_piece;
pub use line::{Line, read_line};
pub(crate) use message::{Id, Kind, Message, error, notification, request, response};
pub(crate) use names::{ambiguous, confused};
pub(crate) use protocol::{MESSAGE, WITH_SESSIONS, WITHOUT_SESSIONS, alike, known_version, members};
