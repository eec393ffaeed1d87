//! Slices of texts and lists, as Python takes them.

use crate::arguments::invalid;
use minijinja::value::{Tuple, Value, ValueKind};
use minijinja::{Error, ErrorKind};

/// Returns the items of a value from `start` up to, but not including, `stop`, in steps.
///
/// # Errors
/// The value is neither a text nor a list; a bound is not an integer; the step is 0.
pub(crate) fn slice(value: &Value, start: &Value, stop: &Value, step: &Value) -> Result<Value, Error> {
    if value.is_undefined() {
        return Err(Error::from(ErrorKind::UndefinedError));
    }
    let (start, stop, step) = (bound(start)?, bound(stop)?, bound(step)?.unwrap_or(1));
    if step == 0 {
        return Err(invalid("a slice in steps of 0"));
    }
    match value.kind() {
        ValueKind::String => {
            let characters: Vec<char> = value.as_str().unwrap_or_default().chars().collect();
            Ok(Value::from(taken(&characters, start, stop, step).collect::<String>()))
        }
        ValueKind::Seq | ValueKind::Iterable => {
            let items: Vec<Value> = value.try_iter()?.collect();
            let items: Vec<Value> = taken(&items, start, stop, step).collect();
            Ok(match value.downcast_object_ref::<Tuple>() {
                Some(_) => Value::from(Tuple::from(items)),
                None => Value::from(items),
            })
        }
        kind => Err(invalid(format!("a slice of a {kind}"))),
    }
}

fn bound(value: &Value) -> Result<Option<i64>, Error> {
    match value.kind() {
        ValueKind::None | ValueKind::Undefined => Ok(None),
        ValueKind::Bool => Ok(Some(i64::from(value.is_true()))),
        _ if value.is_integer() => {
            // beyond 64 bits every index is out of range
            let number = i128::try_from(value.clone()).unwrap_or(i128::MAX);
            Ok(Some(number.clamp(i64::MIN.into(), i64::MAX.into()) as i64))
        }
        kind => Err(invalid(format!("a slice with a bound that is a {kind}"))),
    }
}

/// Returns the items at the places of Python's `slice(start, stop, step).indices(length)`.
fn taken<T: Clone>(items: &[T], start: Option<i64>, stop: Option<i64>, step: i64) -> impl Iterator<Item = T> {
    let length = items.len() as i64;
    let (least, most) = if step < 0 { (-1, length - 1) } else { (0, length) };
    let place = |bound: Option<i64>, default: i64| match bound {
        None => default,
        Some(bound) if bound < 0 => bound.saturating_add(length).max(least),
        Some(bound) => bound.min(most),
    };
    let (first, last) = if step < 0 { (most, least) } else { (least, most) };
    let (start, stop) = (place(start, first), place(stop, last));
    let mut next = Some(start);
    std::iter::from_fn(move || {
        let at = next.filter(|&at| if step < 0 { at > stop } else { at < stop })?;
        next = at.checked_add(step);
        items.get(usize::try_from(at).ok()?).cloned()
    })
}
