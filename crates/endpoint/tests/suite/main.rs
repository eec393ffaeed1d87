//! The client against a stand-in server.

mod behaviours;
mod forms;
mod stand_in;
