//! The operators `+` and `%`, and the filter `format`.

use crate::arguments::invalid;
use crate::filters::escaped;
use crate::number::{Number, integer, number, truncated};
use crate::text;
use minijinja::formatting::{self, FormatStyle};
use minijinja::value::{Tuple, Value, ValueKind};
use minijinja::{Error, ErrorKind};

/// Adds numbers, and joins texts, lists or tuples. A text is escaped for HTML if the other one is marked as safe.
pub(crate) fn add(left: &Value, right: &Value) -> Result<Value, Error> {
    let wrong = || {
        let text = format!("`+` of {} and {}", left.kind(), right.kind());
        Error::new(ErrorKind::InvalidOperation, text)
    };
    let is_list = |value: &Value| matches!(value.kind(), ValueKind::Seq | ValueKind::Iterable);
    if left.is_undefined() || right.is_undefined() {
        return Err(Error::from(ErrorKind::UndefinedError));
    }
    if let (Some(a), Some(b)) = (text::as_text(left), text::as_text(right)) {
        let part = |value: &Value, text: &str| if value.is_safe() { text.to_owned() } else { escaped(text) };
        return Ok(match left.is_safe() || right.is_safe() {
            true => Value::from_safe_string(part(left, a) + &part(right, b)),
            false => Value::from([a, b].concat()),
        });
    }
    if is_list(left) && is_list(right) {
        let tuples = [left, right].map(|value| value.downcast_object_ref::<Tuple>().is_some());
        let items = left.try_iter()?.chain(right.try_iter()?).collect::<Vec<_>>();
        return match tuples {
            [true, true] => Ok(Value::from(Tuple::from(items))),
            [false, false] => Ok(Value::from(items)),
            _ => Err(wrong()),
        };
    }
    match (number(left).map_err(|_| wrong())?, number(right).map_err(|_| wrong())?) {
        (Number::Integer(a), Number::Integer(b)) => a.checked_add(b).map(integer).ok_or_else(wrong),
        (a, b) => Ok(Value::from(a.float() + b.float())),
    }
}

/// The filter `format`: Python's operator `%` of a text and the arguments.
pub(crate) fn format(value: &Value, values: &[Value]) -> Result<Value, Error> {
    printf(&text::text(value), values, false)
}

/// The operator `%`: the remainder of numbers, or a text with its values.
pub(crate) fn remainder(left: &Value, right: &Value) -> Result<Value, Error> {
    let Some(text) = left.as_str() else {
        return plain_remainder(left, right);
    };
    match right.downcast_object_ref::<Tuple>() {
        Some(values) => printf(text, values, false),
        // what has items may be left over
        None => printf(
            text,
            std::slice::from_ref(right),
            matches!(right.kind(), ValueKind::Map | ValueKind::Seq | ValueKind::Iterable),
        ),
    }
}

fn plain_remainder(left: &Value, right: &Value) -> Result<Value, Error> {
    let wrong = || invalid(format!("`%` of {} and {}", left.kind(), right.kind()));
    let (a, b) = (number(left).map_err(|_| wrong())?, number(right).map_err(|_| wrong())?);
    if b.float() == 0.0 {
        return Err(invalid("division by zero"));
    }
    // the result has the sign of the divisor
    Ok(match (a, b) {
        (Number::Integer(a), Number::Integer(b)) => {
            let rest = a.checked_rem(b).unwrap_or(0);
            integer(if rest != 0 && (rest < 0) != (b < 0) { rest + b } else { rest })
        }
        (a, b) => {
            let (a, b) = (a.float(), b.float());
            let rest = a % b;
            Value::from(if rest != 0.0 && (rest < 0.0) != (b < 0.0) {
                rest + b
            } else {
                rest.abs().copysign(b)
            })
        }
    })
}

/// Writes the values into a format of Python's operator `%`. Values may be left over only if `may_leave` is true.
fn printf(format: &str, values: &[Value], may_leave: bool) -> Result<Value, Error> {
    let mut given: Vec<Value> = values.to_vec();
    let mut changed = String::with_capacity(format.len());
    let (mut next, mut is_named) = (0, false);
    let mut characters = format.chars();
    while let Some(c) = characters.next() {
        changed.push(c);
        if c != '%' {
            continue;
        }
        // flags, width and precision come before the letter; a name is in brackets
        let mut is_in_name = false;
        for c in characters.by_ref() {
            match c {
                '(' => {
                    is_named = true;
                    is_in_name = true;
                }
                ')' => is_in_name = false,
                _ if is_in_name => {}
                '%' => {
                    changed.push('%');
                    break;
                }
                'a' | 'r' | 's' | 'd' | 'i' | 'u' if !is_named => {
                    if let Some(value) = given.get_mut(next) {
                        *value = converted(value, c)?;
                    }
                    next += 1;
                    changed.push(if c == 'a' || c == 'r' { 's' } else { c });
                    break;
                }
                'a'..='z' | 'A'..='Z' if !matches!(c, 'h' | 'l' | 'L') => {
                    next += 1;
                    changed.push(c);
                    break;
                }
                _ => {}
            }
            changed.push(c);
        }
    }
    if !is_named && given.len() > next && !may_leave {
        return Err(invalid("not all arguments converted during string formatting"));
    }
    formatting::format(FormatStyle::Printf, &changed, &given).map(Value::from)
}

/// Returns the value that a letter of a format writes: a text, or an integer.
fn converted(value: &Value, letter: char) -> Result<Value, Error> {
    Ok(match (letter, value.kind()) {
        ('s', _) => Value::from(text::text(value)),
        ('a' | 'r', _) => {
            let mut out = String::new();
            text::push_repr(&mut out, value);
            Value::from(out)
        }
        (_, ValueKind::Number | ValueKind::Bool) => match text::float_of(value) {
            Some(number) => {
                truncated(number).map(integer).ok_or_else(|| invalid("no integer is infinite"))?
            }
            None => value.clone(),
        },
        (letter, kind) => {
            let text = format!("`%{letter}` of a {kind}");
            return Err(Error::new(ErrorKind::InvalidOperation, text));
        }
    })
}
