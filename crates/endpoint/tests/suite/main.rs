//! Tests of the client of chat servers against a stand-in server.

mod behaviours;
mod forms;
mod stand_in;
