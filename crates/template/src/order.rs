//! Filters that order values.

use crate::arguments::{Arguments, invalid};
use crate::filters::at_path;
use crate::text;
use minijinja::value::{Kwargs, Value, ValueKind, ValueOrKwargs};
use minijinja::{Error, State, filters};
use std::cmp::Ordering;

/// Returns the arguments of a filter by name. `names` are its parameters in their order.
pub(crate) fn named(
    filter: &str,
    values: Vec<ValueOrKwargs>,
    names: &[&'static str],
) -> Result<Kwargs, Error> {
    let mut arguments = Arguments::of(values);
    let given: Vec<(&str, Value)> =
        names.iter().filter_map(|name| Some((*name, arguments.take(name)?))).collect();
    arguments.finish(filter)?;
    Ok(given.into_iter().filter(|(_, value)| !value.is_none()).collect())
}

pub(crate) fn dictsort(_: &State<'_, '_>, value: Value, options: Kwargs) -> Result<Value, Error> {
    filters::dictsort(&value, options)
}

pub(crate) fn sort(state: &State<'_, '_>, value: Value, options: Kwargs) -> Result<Value, Error> {
    filters::sort(state, value, options)
}

pub(crate) fn unique(state: &State<'_, '_>, value: Value, options: Kwargs) -> Result<Value, Error> {
    filters::unique(state, value, options)
}

pub(crate) fn max(_: &State<'_, '_>, value: Value, options: Kwargs) -> Result<Value, Error> {
    most(&value, &options, Ordering::Greater)
}

pub(crate) fn min(_: &State<'_, '_>, value: Value, options: Kwargs) -> Result<Value, Error> {
    most(&value, &options, Ordering::Less)
}

/// Returns the first item that is in this order to all before; undefined if there are no items.
fn most(value: &Value, options: &Kwargs, wanted: Ordering) -> Result<Value, Error> {
    let is_sensitive = options.get::<Option<bool>>("case_sensitive")?.unwrap_or(false);
    let attribute: Option<Value> = options.get("attribute")?;
    let key = |item: &Value| -> Result<Value, Error> {
        let key = match &attribute {
            Some(attribute) => at_path(item, attribute)?,
            None => item.clone(),
        };
        Ok(match text::as_text(&key) {
            Some(text) if !is_sensitive => Value::from(text.to_lowercase()),
            _ => key,
        })
    };
    let mut best: Option<(Value, Value)> = None;
    for item in value.try_iter()? {
        let key = key(&item)?;
        let is_better = match &best {
            None => true,
            Some((known, _)) if is_comparable(known, &key) => key.cmp(known) == wanted,
            Some((known, _)) => {
                return Err(invalid(format!("an order of {} and {}", known.kind(), key.kind())));
            }
        };
        if is_better {
            best = Some((key, item));
        }
    }
    Ok(best.map(|(_, item)| item).unwrap_or_default())
}

/// Returns whether Python can order two values: both are numbers, texts or lists.
pub(crate) fn is_comparable(first: &Value, second: &Value) -> bool {
    let group = |value: &Value| match value.kind() {
        ValueKind::Number | ValueKind::Bool => Some(0),
        ValueKind::String => Some(1),
        ValueKind::Seq | ValueKind::Iterable => Some(2),
        _ => None,
    };
    group(first).is_some() && group(first) == group(second)
}
