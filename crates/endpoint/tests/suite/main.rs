//! Tests of the client of chat servers against a stand-in server.

mod azure;
mod behaviours;
mod forms;
mod proxies;
mod stand_in;
