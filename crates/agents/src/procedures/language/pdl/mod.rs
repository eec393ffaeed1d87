//! The language of a procedure's text: Python-like blocks with prose anywhere.
//!
//! - `lines`: logical lines;
//! - `expression`: conditions and calls;
//! - `program`: statements and blocks.
//!
//! A [`Program`] is the syntax tree in preorder: each block begins with its head and ends with a mark of its own, so
//! that passes over it are loops with a stack of open blocks.

mod expression;
mod lines;
mod program;

pub(in crate::procedures) use expression::{Expr, ExprId, Expressions, Operator, is_name};
pub(in crate::procedures) use lines::{indent, opened};
pub(in crate::procedures) use program::{Program, StatementKind};
