//! Values that conditions compare.

use serde_json::Value;
use std::cmp::Ordering;
use std::fmt;

/// A literal of the procedure's text.
#[derive(Clone, Debug, PartialEq)]
pub enum Literal {
    /// `true` or `false`, case-insensitive.
    Boolean(bool),
    /// A decimal number.
    Number(f64),
    /// A text in quotes.
    Text(String),
}

/// A value, normalised for comparison. Numbers are compared as numbers, even if they were written as texts. Other
/// texts, booleans and null are compared as case-insensitive text, so `true` and `"True"` are equal; lists and objects
/// are compared as their JSON text.
#[derive(Clone, Debug, PartialEq)]
pub enum Scalar {
    /// A finite number.
    Number(f64),
    /// A text in lower case, without surrounding whitespace; a JSON value other than a text or a finite number as its
    /// JSON.
    Text(String),
    /// Any value that no condition names: the last cell of a slot that conditions compare with texts or with `false`,
    /// but not with numbers, and whose schema is neither an enumeration nor a boolean.
    Other,
}

impl Scalar {
    /// Converts a JSON value. A text that is a finite decimal number becomes a number.
    pub fn of(value: &Value) -> Scalar {
        match value {
            Value::String(text) => Scalar::of_text(text),
            Value::Number(number) => match number.as_f64().filter(|number| number.is_finite()) {
                Some(number) => Scalar::Number(number),
                None => Scalar::Text(number.to_string()),
            },
            other => Scalar::Text(other.to_string()),
        }
    }

    fn of_text(text: &str) -> Scalar {
        let text = text.trim();
        let begins = text.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '-' | '+' | '.'));
        match text.parse::<f64>() {
            Ok(number) if begins && number.is_finite() => Scalar::Number(number),
            _ => Scalar::Text(text.to_lowercase()),
        }
    }

    /// Returns the order of two numbers or of two texts; `None` for other pairs.
    pub(in crate::procedures) fn compare(&self, other: &Scalar) -> Option<Ordering> {
        match (self, other) {
            (Scalar::Number(a), Scalar::Number(b)) => a.partial_cmp(b),
            (Scalar::Text(a), Scalar::Text(b)) => Some(a.cmp(b)),
            _ => None,
        }
    }
}

impl From<&Literal> for Scalar {
    fn from(literal: &Literal) -> Scalar {
        match literal {
            Literal::Boolean(flag) => Scalar::Text(flag.to_string()),
            Literal::Number(number) => Scalar::Number(*number),
            Literal::Text(text) => Scalar::of_text(text),
        }
    }
}

impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Scalar::Number(number) => number.fmt(f),
            Scalar::Text(text) => f.write_str(text),
            Scalar::Other => f.write_str("another value"),
        }
    }
}

/// The truth of a condition whose values may be partly unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::procedures) enum Truth {
    True,
    False,
    /// The model or the user decides: both branches are open.
    Open,
    /// An API has not answered, or the user has not decided: both branches are closed.
    Closed,
}

impl Truth {
    pub(in crate::procedures) fn of(holds: bool) -> Truth {
        if holds { Truth::True } else { Truth::False }
    }

    pub(in crate::procedures) fn not(self) -> Truth {
        match self {
            Truth::True => Truth::False,
            Truth::False => Truth::True,
            other => other,
        }
    }

    /// Conjunction: false if a side is false, otherwise closed if a side is closed, otherwise open if a side is open.
    pub(in crate::procedures) fn and(self, other: Truth) -> Truth {
        match (self, other) {
            (Truth::False, _) | (_, Truth::False) => Truth::False,
            (Truth::Closed, _) | (_, Truth::Closed) => Truth::Closed,
            (Truth::Open, _) | (_, Truth::Open) => Truth::Open,
            _ => Truth::True,
        }
    }

    pub(in crate::procedures) fn or(self, other: Truth) -> Truth {
        self.not().and(other.not()).not()
    }

    /// Returns whether a branch is open that requires the condition to be `wanted`.
    pub(in crate::procedures) fn permits(self, wanted: bool) -> bool {
        match self {
            Truth::Open => true,
            Truth::Closed => false,
            known => known == Truth::of(wanted),
        }
    }
}
