//! The one test binary: one module a topic.

mod earley;
