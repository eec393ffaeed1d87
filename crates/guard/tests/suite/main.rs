//! Integration tests of the guard: sessions, processes, HTTP, random clients, and rules other than procedures.

mod http;
mod other_rules;
mod parts;
mod processes;
mod random_clients;
mod same_sessions;
mod sessions;
