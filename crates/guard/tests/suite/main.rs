//! Integration tests of the guard: sessions with and without `initialize`, processes, HTTP, random clients, questions
//! to the user, wishes, and rules other than procedures.

mod asking;
mod http;
mod inspect;
mod lenient_servers;
mod listener;
mod names;
mod other_rules;
mod parts;
mod processes;
mod random_clients;
mod retries;
mod same_sessions;
mod sessions;
mod stateless;
mod stateless_http;
mod wishes;
