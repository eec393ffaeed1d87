//! The one test binary: one module a topic.

mod json_schema;
mod naive;
