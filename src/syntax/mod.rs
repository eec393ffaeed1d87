//! Front ends: text in some notation to a [`Grammar`](crate::grammar::Grammar). Siblings do not import each
//! other, with one exception: `json_schema` lowers `pattern` with `regex`.

pub mod json_schema;
