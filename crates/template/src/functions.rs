//! The filters and functions of templates: those of minijinja whose cost [`costs`](crate::costs) bounds, and
//! replacements for others.

use crate::meter::{Meter, NODE, metered};
use crate::namespace::Namespace;
use crate::{costs, program};
use minijinja::value::{Kwargs, Rest, Tuple, Value, ValueKind, ValueOrKwargs};
use minijinja::{Environment, Error, ErrorKind, filters, tests};
use serde::Serialize;
use std::sync::Arc;

/// Cost of any charged operation in units, in addition to the cost of its operands.
const OPERATION: u64 = 128;
/// Maximum length of a `range`.
const RANGE: usize = 100_000;

type Operands = Rest<ValueOrKwargs>;

fn invalid(text: impl Into<String>) -> Error {
    Error::new(ErrorKind::InvalidOperation, text.into())
}

/// Creates an environment with all filters, tests and functions that templates of every kind may use.
pub(crate) fn environment() -> Environment<'static> {
    let mut environment = Environment::empty();
    add_charges(&mut environment);
    add_filters(&mut environment);
    add_tests(&mut environment);
    environment.set_unknown_method_callback(minijinja_contrib::pycompat::unknown_method_callback);
    environment.add_filter("tojson", tojson);
    environment.add_function("range", |a: i64, b: Option<i64>, step: Option<i64>| {
        metered(|meter| range(meter, a, b, step))
    });
    environment
        .add_function("namespace", |from: Option<ValueOrKwargs>| metered(|meter| namespace(meter, from)));
    environment
        .add_function("dict", |from: Option<Value>, more: Kwargs| metered(|meter| dict(meter, from, &more)));
    environment
}

/// Adds the filters that [`program::compile`] inserts around instructions.
fn add_charges(environment: &mut Environment<'_>) {
    environment.add_filter(program::BEFORE, |operands: Operands| {
        metered(|meter| before(meter, operands.into_values()))
    });
    environment.add_filter(program::AFTER, |value: &Value| metered(|meter| after(meter, value)));
    environment.add_filter(program::CHARGE, |units: u64| metered(|meter| meter.spend(units)));
    environment.add_filter(program::ITEMS, |value: &Value| metered(|meter| items(meter, value)));
    environment.add_filter(program::MAPPING, |parts: Rest<Value>| metered(|meter| mapping(meter, &parts)));
    environment
        .add_filter(program::ITEM, |value: &Value, key: &Value| metered(|meter| item(meter, value, key)));
    environment.add_filter(program::SET, |value: &Value, to: &Value, name: &str| {
        metered(|meter| set(meter, value, to, name))
    });
}

fn add_filters(environment: &mut Environment<'_>) {
    macro_rules! add {
        ($($name:literal: $filter:ident),* $(,)?) => { $(environment.add_filter($name, filters::$filter);)* };
    }
    add! {
        "abs": abs, "attr": attr, "batch": batch, "bool": bool, "capitalize": capitalize, "count": length,
        "d": default, "default": default, "dictsort": dictsort, "e": escape, "escape": escape, "first": first,
        "float": float, "format": format, "indent": indent, "int": int, "items": items, "join": join, "last": last,
        "length": length, "lines": lines, "list": list, "lower": lower, "map": map, "max": max, "min": min,
        "reject": reject, "rejectattr": rejectattr, "replace": replace, "reverse": reverse, "round": round,
        "safe": safe, "select": select, "selectattr": selectattr, "slice": slice, "sort": sort, "split": split,
        "string": string, "title": title, "trim": trim, "unique": unique, "upper": upper,
    }
}

fn add_tests(environment: &mut Environment<'_>) {
    macro_rules! add {
        ($($name:literal: $test:ident),* $(,)?) => { $(environment.add_test($name, tests::$test);)* };
    }
    add! {
        "boolean": is_boolean, "defined": is_defined, "divisibleby": is_divisibleby, "endingwith": is_endingwith,
        "eq": is_eq, "equalto": is_eq, "==": is_eq, "even": is_even, "false": is_false, "float": is_float,
        "ge": is_ge, ">=": is_ge, "greaterthan": is_gt, "gt": is_gt, ">": is_gt, "in": is_in, "int": is_integer,
        "integer": is_integer, "iterable": is_iterable, "le": is_le, "<=": is_le, "lessthan": is_lt, "lower": is_lower,
        "lt": is_lt, "<": is_lt, "mapping": is_mapping, "ne": is_ne, "!=": is_ne, "none": is_none,
        "number": is_number, "odd": is_odd, "sameas": is_sameas, "sequence": is_sequence,
        "startingwith": is_startingwith, "string": is_string, "true": is_true, "undefined": is_undefined,
        "upper": is_upper,
    }
}

fn before(meter: &Meter, mut operands: Vec<Value>) -> Result<Value, Error> {
    let name = operands.pop().unwrap_or_default();
    meter.spend(OPERATION)?;
    costs::charge(meter, name.as_str().unwrap_or_default(), &operands)?;
    match operands.len() {
        // the next instruction unpacks the tuple, with its first value on top of the stack
        0 | 1 => Ok(Value::from(Tuple::from(operands))),
        _ => Ok(Value::from(Tuple::from(operands.into_iter().rev().collect::<Vec<_>>()))),
    }
}

fn after(meter: &Meter, value: &Value) -> Result<Value, Error> {
    match value.kind() {
        ValueKind::Seq | ValueKind::Map | ValueKind::Iterable => {
            let value = meter.settle(value)?;
            data(meter, &value)?;
            Ok(value)
        }
        _ => Ok(value.clone()),
    }
}

/// Fails if a value contains mutable values: a mutable value inside another could contain itself.
fn data(meter: &Meter, value: &Value) -> Result<(), Error> {
    match meter.measure(value)?.mutable {
        true => Err(invalid("a list, mapping or namespace that holds a namespace or `loop`")),
        false => Ok(()),
    }
}

fn items(meter: &Meter, value: &Value) -> Result<Value, Error> {
    // iteration visits the characters of a text and the keys of a mapping
    meter.spend((value.len().unwrap_or(0) as u64).saturating_mul(NODE))?;
    meter.settle(value)
}

fn mapping(meter: &Meter, parts: &[Value]) -> Result<Value, Error> {
    let mut pairs = Vec::with_capacity(parts.len() / 2);
    for pair in parts.chunks_exact(2) {
        let [key, value] = pair else { continue };
        if key.as_object().is_some() {
            return Err(invalid("a key of a mapping that is not a text, number, boolean or none"));
        }
        pairs.push((key.clone(), value.clone()));
    }
    let mapping = Value::from_pairs(pairs);
    meter.spend(NODE)?;
    data(meter, &mapping)?;
    Ok(mapping)
}

fn item(meter: &Meter, value: &Value, key: &Value) -> Result<Value, Error> {
    if key.as_object().is_some() {
        meter.measure(key)?;
    }
    if let Some(text) = value.as_str() {
        meter.spend(text.len() as u64)?;
    }
    value.get_item(key)
}

fn set(meter: &Meter, value: &Value, to: &Value, name: &str) -> Result<(), Error> {
    let Some(namespace) = to.downcast_object_ref::<Namespace>() else {
        return Err(invalid(format!("can only assign to namespaces, not {}", to.kind())));
    };
    data(meter, value)?;
    let before = namespace.with(|values| values.insert(name.into(), value.clone()));
    drop(before);
    Ok(())
}

fn namespace(meter: &Meter, from: Option<ValueOrKwargs>) -> Result<Value, Error> {
    let namespace = Namespace::default();
    meter.spend(8 * NODE)?;
    if let Some(from) = from.map(ValueOrKwargs::into_value) {
        data(meter, &from)?;
        for key in from.try_iter()? {
            let name: Arc<str> = Arc::from(key.as_str().ok_or_else(|| invalid("a name that is not a text"))?);
            let value = from.get_item(&key)?;
            namespace.with(|values| values.insert(name, value));
        }
    }
    Ok(Value::from_object(namespace))
}

fn dict(meter: &Meter, from: Option<Value>, more: &Kwargs) -> Result<Value, Error> {
    let mut parts = Vec::new();
    if let Some(from) = from {
        if from.kind() != ValueKind::Map {
            return Err(invalid(format!("`dict` of a {}", from.kind())));
        }
        meter.spend((from.len().unwrap_or(0) as u64).saturating_mul(2 * NODE))?;
        for key in from.try_iter()? {
            let value = from.get_item(&key)?;
            parts.extend([key, value]);
        }
    }
    for name in more.args() {
        parts.extend([Value::from(name), more.get(name)?]);
    }
    more.assert_all_used()?;
    mapping(meter, &parts)
}

/// Returns the integers from `a` up to, but not including, `b`; with one argument, from 0 up to `a`. `step` is the
/// difference between neighbours, by default 1; with a negative step the integers descend. More than 100,000 integers,
/// or a step of 0 that would give any, is an error.
fn range(meter: &Meter, a: i64, b: Option<i64>, step: Option<i64>) -> Result<Vec<i64>, Error> {
    let (start, end) = b.map_or((0, a), |b| (a, b));
    let step = step.unwrap_or(1);
    let mut numbers = Vec::new();
    let mut next = Some(start);
    while let Some(n) = next.filter(|&n| if step < 0 { n > end } else { n < end }) {
        if step == 0 || numbers.len() == RANGE {
            return Err(invalid(format!("`range` gives at most {RANGE} numbers, in steps that are not 0")));
        }
        numbers.push(n);
        next = n.checked_add(step);
    }
    meter.spend((numbers.len() as u64).saturating_mul(NODE))?;
    Ok(numbers)
}

/// Writes JSON like Python's `json.dumps(value, ensure_ascii=False, indent=indent)`: without `indent`, on one line with
/// a space after commas and colons. `indent` is at most 16; an argument `ensure_ascii` is ignored. Unlike Jinja's
/// filter `tojson`, it does not escape for HTML.
fn tojson(value: &Value, arguments: Kwargs) -> Result<Value, Error> {
    let indent: Option<usize> = arguments.get("indent")?;
    let _: Option<bool> = arguments.get("ensure_ascii")?;
    arguments.assert_all_used()?;
    let mut out = Vec::new();
    let written = match indent {
        Some(width) if width <= 16 => {
            let spaces = vec![b' '; width];
            let formatter = serde_json::ser::PrettyFormatter::with_indent(&spaces);
            value.serialize(&mut serde_json::Serializer::with_formatter(&mut out, formatter))
        }
        Some(_) => return Err(invalid("tojson indents by at most 16")),
        None => value.serialize(&mut serde_json::Serializer::with_formatter(&mut out, Spaced)),
    };
    written.map_err(|e| Error::new(ErrorKind::BadSerialization, e.to_string()))?;
    Ok(Value::from(String::from_utf8_lossy(&out).into_owned()))
}

/// A formatter that writes JSON on one line with a space after commas and colons, as Python does.
struct Spaced;

impl serde_json::ser::Formatter for Spaced {
    fn begin_array_value<W: ?Sized + std::io::Write>(
        &mut self,
        out: &mut W,
        first: bool,
    ) -> std::io::Result<()> {
        out.write_all(if first { b"" } else { b", " })
    }

    fn begin_object_key<W: ?Sized + std::io::Write>(
        &mut self,
        out: &mut W,
        first: bool,
    ) -> std::io::Result<()> {
        out.write_all(if first { b"" } else { b", " })
    }

    fn begin_object_value<W: ?Sized + std::io::Write>(&mut self, out: &mut W) -> std::io::Result<()> {
        out.write_all(b": ")
    }
}
