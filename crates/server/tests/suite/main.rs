//! The tests of the server: it answers over HTTP, with a model of random numbers.

mod answers;
mod calls;
mod client;
mod description;
mod hostile;
mod operation;
mod responses;
mod scripted;
mod streams;

/// The root of the repository.
const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
