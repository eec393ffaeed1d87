//! Arguments of filters and methods, bound to names as Python binds them.

use crate::text;
use minijinja::value::{Value, ValueOrKwargs};
use minijinja::{Error, ErrorKind};
use std::collections::VecDeque;

/// The arguments of a call that are not taken yet.
pub(crate) struct Arguments {
    by_place: VecDeque<Value>,
    by_name: Vec<(String, Value)>,
}

impl Arguments {
    pub(crate) fn new(values: impl IntoIterator<Item = Value>) -> Arguments {
        let mut arguments = Arguments { by_place: VecDeque::new(), by_name: Vec::new() };
        for value in values {
            if !value.is_kwargs() {
                arguments.by_place.push_back(value);
                continue;
            }
            for key in value.try_iter().into_iter().flatten() {
                let item = value.get_item(&key).unwrap_or_default();
                arguments.by_name.push((text::text(&key), item));
            }
        }
        arguments
    }

    pub(crate) fn of(values: Vec<ValueOrKwargs>) -> Arguments {
        Arguments::new(values.into_iter().map(ValueOrKwargs::into_value))
    }

    /// Takes the next argument, which has a place or this name.
    pub(crate) fn take(&mut self, name: &str) -> Option<Value> {
        self.by_place.pop_front().or_else(|| {
            let at = self.by_name.iter().position(|(known, _)| known == name)?;
            Some(self.by_name.swap_remove(at).1)
        })
    }

    /// Takes the next argument, which must be given.
    pub(crate) fn need(&mut self, name: &str) -> Result<Value, Error> {
        self.take(name)
            .ok_or_else(|| Error::new(ErrorKind::MissingArgument, format!("`{name}` is not given")))
    }

    /// Takes the next argument if it is a text.
    ///
    /// # Errors
    /// It is given, and is neither a text nor none.
    pub(crate) fn text(&mut self, name: &str) -> Result<Option<String>, Error> {
        match self.take(name) {
            None => Ok(None),
            Some(value) if value.is_none() => Ok(None),
            Some(value) => match value.as_str() {
                Some(text) => Ok(Some(text.to_owned())),
                None => Err(invalid(format!("`{name}` is a text, not {}", value.kind()))),
            },
        }
    }

    /// Takes the next argument if it is an integer.
    ///
    /// # Errors
    /// It is given, and is neither an integer nor none.
    pub(crate) fn integer(&mut self, name: &str) -> Result<Option<i64>, Error> {
        match self.take(name) {
            None => Ok(None),
            Some(value) if value.is_none() => Ok(None),
            Some(value) => match i64::try_from(value.clone()) {
                Ok(number) if value.is_integer() || value.kind() == minijinja::value::ValueKind::Bool => {
                    Ok(Some(number))
                }
                _ => Err(invalid(format!("`{name}` is an integer, not {}", value.kind()))),
            },
        }
    }

    /// Takes the next argument as a condition.
    pub(crate) fn flag(&mut self, name: &str) -> bool {
        self.take(name).is_some_and(|value| value.is_true())
    }

    /// Ends the call of `function`.
    ///
    /// # Errors
    /// Arguments are left.
    pub(crate) fn finish(self, function: &str) -> Result<(), Error> {
        match (self.by_place.is_empty(), self.by_name.first()) {
            (true, None) => Ok(()),
            (_, Some((name, _))) => {
                let text = format!("`{function}` has no argument `{name}`");
                Err(Error::new(ErrorKind::TooManyArguments, text))
            }
            (false, None) => {
                Err(Error::new(ErrorKind::TooManyArguments, format!("too many for `{function}`")))
            }
        }
    }
}

/// Returns the error of an operation on wrong values.
pub(crate) fn invalid(text: impl Into<String>) -> Error {
    Error::new(ErrorKind::InvalidOperation, text.into())
}
