//! Tests of templates.

mod transformers;
