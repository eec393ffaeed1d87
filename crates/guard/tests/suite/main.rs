//! Integration tests of the guard.

mod http;
mod other_rules;
mod parts;
mod processes;
mod random_clients;
mod sessions;
