//! The filters and functions of templates: those of minijinja whose cost [`costs`](crate::costs) bounds, and
//! replacements for others.

use crate::arguments::{Arguments, invalid};
use crate::filters as own;
use crate::meter::{Meter, NODE, metered};
use crate::namespace::Namespace;
use crate::{checked, costs, json, methods, operators, order, program, slice, strings, text};
use minijinja::value::{Kwargs, Rest, Tuple, Value, ValueKind, ValueOrKwargs};
use minijinja::{Environment, Error, State, filters, tests};
use std::sync::Arc;

/// Cost of any charged operation in units, in addition to the cost of its operands.
const OPERATION: u64 = 128;
/// Maximum length of a `range`.
const RANGE: usize = 100_000;

type Operands = Rest<ValueOrKwargs>;

/// Creates an environment with all filters, tests and functions that templates of every kind may use.
pub(crate) fn environment() -> Environment<'static> {
    let mut environment = Environment::empty();
    add_charges(&mut environment);
    add_filters(&mut environment);
    add_tests(&mut environment);
    environment.set_unknown_method_callback(methods::call);
    environment.add_function("range", |a: i64, b: Option<i64>, step: Option<i64>| {
        metered(|meter| range(meter, a, b, step))
    });
    environment.add_function("namespace", |from: Operands| metered(|meter| namespace(meter, from.to_vec())));
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
    environment.add_filter(program::ITEM_OR_METHOD, |value: &Value, key: &Value| {
        metered(|meter| charge_item(meter, value, key))?;
        methods::item(value, key)
    });
    environment.add_filter(program::ATTRIBUTE, methods::attribute);
    environment.add_filter(program::SLICE, slice::slice);
    environment.add_filter(program::ADD, operators::add);
    environment.add_filter(program::REMAINDER, operators::remainder);
    environment.add_filter(program::CONCAT, |left: &Value, right: &Value| {
        let mut out = text::text(left);
        text::push(&mut out, right);
        out
    });
    environment.add_filter(program::SET, |value: &Value, to: &Value, name: &str| {
        metered(|meter| set(meter, value, to, name))
    });
}

fn add_filters(environment: &mut Environment<'_>) {
    macro_rules! add {
        ($($name:literal: $filter:ident),* $(,)?) => { $(environment.add_filter($name, filters::$filter);)* };
    }
    add! {
        "batch": batch, "bool": bool, "groupby": groupby, "lines": lines, "list": list,
        "reject": reject, "rejectattr": rejectattr, "select": select, "selectattr": selectattr,
        "slice": slice, "split": split,
    }
    macro_rules! add_own {
        ($($name:literal: $filter:path),* $(,)?) => { $(
            environment.add_filter($name, |value: &Value, arguments: Operands| {
                $filter(value, Arguments::of(arguments.to_vec()))
            });
        )* };
    }
    add_own! {
        "abs": own::abs, "attr": methods::attr, "capitalize": own::capitalize, "center": own::center,
        "count": own::length, "d": own::default, "default": own::default, "e": own::escape, "escape": own::escape,
        "first": own::first, "float": own::float, "forceescape": own::force_escape, "indent": own::indent, "int": own::int,
        "items": own::items, "join": own::join, "last": own::last, "length": own::length, "lower": own::lower,
        "replace": own::replace, "reverse": own::reverse, "round": own::round, "safe": own::safe, "string": own::string,
        "sum": own::sum, "title": own::title, "tojson": json::tojson, "trim": own::trim,
        "truncate": own::truncate, "upper": own::upper, "urlencode": own::urlencode, "wordcount": own::wordcount,
    }
    macro_rules! add_ordered {
        ($($name:literal: $filter:ident $names:expr),* $(,)?) => { $(
            environment.add_filter($name, |state: &State<'_, '_>, value: Value, arguments: Operands| {
                order::$filter(state, value, order::named($name, arguments.to_vec(), $names)?)
            });
        )* };
    }
    add_ordered! {
        "dictsort": dictsort &["case_sensitive", "by", "reverse"],
        "max": max &["case_sensitive", "attribute"], "min": min &["case_sensitive", "attribute"],
        "sort": sort &["reverse", "case_sensitive", "attribute"],
        "unique": unique &["case_sensitive", "attribute"],
    }
    environment.add_filter("map", |state: &mut State<'_, '_>, value: &Value, arguments: Operands| {
        metered(|meter| map(meter, state, value, arguments.to_vec()))
    });
    environment.add_filter("format", |value: &Value, values: Operands| {
        let values: Vec<Value> = values.into_values();
        operators::format(value, &values)
    });
}

fn add_tests(environment: &mut Environment<'_>) {
    macro_rules! add {
        ($($name:literal: $test:ident),* $(,)?) => { $(environment.add_test($name, tests::$test);)* };
    }
    add! {
        "boolean": is_boolean, "defined": is_defined, "endingwith": is_endingwith,
        "eq": is_eq, "equalto": is_eq, "==": is_eq, "even": is_even, "false": is_false, "float": is_float,
        "ge": is_ge, ">=": is_ge, "greaterthan": is_gt, "gt": is_gt, ">": is_gt, "in": is_in, "int": is_integer,
        "integer": is_integer,
        "le": is_le, "<=": is_le, "lessthan": is_lt,
        "lt": is_lt, "<": is_lt, "mapping": is_mapping, "ne": is_ne, "!=": is_ne, "none": is_none,
        "odd": is_odd, "sameas": is_sameas,
        "startingwith": is_startingwith, "string": is_string, "true": is_true, "undefined": is_undefined,
    }
    for name in ["lower", "upper"] {
        let test = move |value: &Value| strings::questions(&text::text(value), &format!("is{name}"));
        environment.add_test(name, move |value: &Value| test(value).is_some_and(|answer| answer.is_true()));
    }
    let is_number = |value: &Value| matches!(value.kind(), ValueKind::Number | ValueKind::Bool);
    let has_items = |value: &Value| {
        let kinds = [ValueKind::String, ValueKind::Bytes, ValueKind::Seq, ValueKind::Map];
        kinds.contains(&value.kind()) || value.is_undefined()
    };
    environment.add_test("number", is_number);
    environment.add_test("sequence", has_items);
    environment
        .add_test("iterable", move |value: &Value| has_items(value) || value.kind() == ValueKind::Iterable);
    environment.add_test("callable", methods::is_callable);
    environment.add_test("escaped", |value: &Value| value.is_safe());
    environment.add_test("divisibleby", checked::is_divisible_by);
}

fn before(meter: &Meter, mut operands: Vec<Value>) -> Result<Value, Error> {
    let name = operands.pop().unwrap_or_default();
    let name = name.as_str().unwrap_or_default();
    meter.spend(OPERATION)?;
    costs::charge(meter, name, &operands)?;
    match name {
        "*" => repeat_at_least_never(&mut operands),
        // Python orders a boolean as a number
        "order" => operands.iter_mut().for_each(|operand| {
            if operand.kind() == ValueKind::Bool {
                *operand = Value::from(i64::from(operand.is_true()));
            }
        }),
        _ => {}
    }
    match operands.len() {
        // the next instruction unpacks the tuple, with its first value on top of the stack
        0 | 1 => Ok(Value::from(Tuple::from(operands))),
        _ => Ok(Value::from(Tuple::from(operands.into_iter().rev().collect::<Vec<_>>()))),
    }
}

/// Replaces a negative number by which a text or list is multiplied by 0: the result is empty in Python.
fn repeat_at_least_never(operands: &mut [Value]) {
    let [first, second] = operands else { return };
    let (repeated, times) = if first.is_number() { (second, first) } else { (first, second) };
    let is_repeated = matches!(repeated.kind(), ValueKind::String | ValueKind::Seq);
    if is_repeated && times.as_i64().is_some_and(|times| times < 0) {
        *times = Value::from(0);
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
    if value.is_none() {
        return Err(invalid("none is not iterable"));
    }
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
    charge_item(meter, value, key)?;
    value.get_item(key)
}

fn charge_item(meter: &Meter, value: &Value, key: &Value) -> Result<(), Error> {
    if key.as_object().is_some() {
        meter.measure(key)?;
    }
    match value.as_str() {
        Some(text) => meter.spend(text.len() as u64),
        None => Ok(()),
    }
}

/// Applies a filter to each item, or takes an attribute of each.
fn map(
    meter: &Meter,
    state: &mut State<'_, '_>,
    value: &Value,
    arguments: Vec<ValueOrKwargs>,
) -> Result<Value, Error> {
    let values: Vec<Value> = arguments.into_iter().map(ValueOrKwargs::into_value).collect();
    let mut items = Vec::new();
    match values.split_first() {
        Some((name, rest)) if !name.is_kwargs() => {
            let name = text::as_text(name).ok_or_else(|| invalid("`map` takes the name of a filter"))?;
            // names with a sign are those of this crate; a nested `map` would recurse
            if name.starts_with('+') || name == "map" {
                return Err(invalid(format!("`map` with the filter `{name}`")));
            }
            // Jinja's filter gives nothing for what is false
            if !value.is_true() {
                return Ok(Value::from(items));
            }
            let mut operands = vec![Value::UNDEFINED];
            operands.extend(rest.iter().cloned());
            for item in value.try_iter()? {
                operands[0] = item;
                meter.spend(OPERATION)?;
                costs::charge(meter, name, &operands)?;
                let made = state.apply_filter(name, &operands)?;
                items.push(after(meter, &made)?);
            }
        }
        _ => {
            let mut named = Arguments::new(values);
            let attribute = named.need("attribute")?;
            let default = named.take("default");
            named.finish("map")?;
            if !value.is_true() {
                return Ok(Value::from(items));
            }
            for item in value.try_iter()? {
                meter.spend(OPERATION)?;
                let found = own::at_path(&item, &attribute)?;
                items.push(default.clone().filter(|_| found.is_undefined()).unwrap_or(found));
            }
        }
    }
    Ok(Value::from(items))
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

fn namespace(meter: &Meter, from: Vec<ValueOrKwargs>) -> Result<Value, Error> {
    let namespace = Namespace::default();
    meter.spend(8 * NODE)?;
    for from in from.into_iter().map(ValueOrKwargs::into_value) {
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
        meter.spend((from.len().unwrap_or(0) as u64).saturating_mul(2 * NODE))?;
        for key in from.try_iter()? {
            if from.kind() == ValueKind::Map {
                let value = from.get_item(&key)?;
                parts.extend([key, value]);
                continue;
            }
            let pair: Vec<Value> = meter.settle(&key)?.try_iter()?.collect();
            if pair.len() != 2 {
                return Err(invalid("`dict` takes a mapping or pairs"));
            }
            parts.extend(pair);
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
