//! Integration tests of the guard.

mod parts;
mod processes;
mod random_clients;
mod sessions;
