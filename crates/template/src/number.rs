//! Numbers of values, as Python computes with them.

use crate::arguments::invalid;
use crate::text;
use minijinja::Error;
use minijinja::value::Value;

pub(crate) enum Number {
    Integer(i128),
    Float(f64),
}

impl Number {
    pub(crate) fn float(&self) -> f64 {
        match self {
            Number::Integer(number) => *number as f64,
            Number::Float(number) => *number,
        }
    }
}

pub(crate) fn number(value: &Value) -> Result<Number, Error> {
    match (text::float_of(value), i128::try_from(value.clone())) {
        (Some(number), _) => Ok(Number::Float(number)),
        (None, Ok(number)) => Ok(Number::Integer(number)),
        _ => Err(invalid(format!("a number is needed, not a {}", value.kind()))),
    }
}

pub(crate) fn integer(number: i128) -> Value {
    i64::try_from(number).map_or_else(|_| Value::from(number), Value::from)
}

/// Returns the integer part of a number; `None` if it is not below 8e37.
pub(crate) fn truncated(number: f64) -> Option<i128> {
    // beyond 2^126 a conversion would be wrong
    (number.abs() < 8.0e37).then_some(number.trunc() as i128)
}
