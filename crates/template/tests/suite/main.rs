//! Tests of templates.

mod hostile;
mod transformers;
