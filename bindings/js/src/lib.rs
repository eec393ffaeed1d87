//! The JavaScript package `grammata`, for Node and browsers: a library of WebAssembly and the classes around it.
//!
//! The crate also compiles for the machine it is built on, where its unit tests run: functions that take or return
//! values of JavaScript work only under WebAssembly, what they read from options does not depend on it.
//! `cargo xtask js` builds the package.

mod border;
mod bytes;
mod compiler;
mod errors;
mod events;
mod explanation;
mod grammar;
mod mask;
mod matcher;
mod numbers;
mod options;
mod sources;
mod types;
mod vocabulary;
mod words;
