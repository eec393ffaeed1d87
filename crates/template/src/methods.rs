//! Python's methods of values that are not texts, and methods as values.

use crate::arguments::{Arguments, invalid};
use crate::namespace::Namespace;
use crate::{strings, text};
use minijinja::value::{Object, ObjectRepr, Tuple, Value, ValueKind};
use minijinja::{Error, ErrorKind, State};
use std::sync::Arc;

/// Methods of mappings. In Jinja `x.items` is the method, though `x` has an item `items`.
pub(crate) const OF_MAPPINGS: [&str; 5] = ["copy", "get", "items", "keys", "values"];
/// Methods that would change a mapping, which the sandbox of transformers refuses.
pub(crate) const CHANGING: [&str; 5] = ["clear", "pop", "popitem", "setdefault", "update"];

/// Methods of texts.
pub(crate) const OF_TEXTS: [&str; 43] = [
    "capitalize",
    "casefold",
    "center",
    "count",
    "encode",
    "endswith",
    "expandtabs",
    "find",
    "format",
    "index",
    "isalnum",
    "isalpha",
    "isascii",
    "isdecimal",
    "isdigit",
    "isidentifier",
    "islower",
    "isnumeric",
    "isprintable",
    "isspace",
    "istitle",
    "isupper",
    "join",
    "ljust",
    "lower",
    "lstrip",
    "partition",
    "removeprefix",
    "removesuffix",
    "replace",
    "rfind",
    "rindex",
    "rjust",
    "rpartition",
    "rsplit",
    "rstrip",
    "split",
    "splitlines",
    "startswith",
    "strip",
    "swapcase",
    "title",
    "upper",
];

/// Returns whether an attribute may be a method.
pub(crate) fn is_known(name: &str) -> bool {
    OF_MAPPINGS.contains(&name) || CHANGING.contains(&name) || OF_TEXTS.contains(&name)
}

/// Calls a method of a value.
///
/// # Errors
/// The value has no such method, the arguments do not fit, or Python's method fails.
pub(crate) fn call(
    _: &mut State<'_, '_>,
    value: &Value,
    method: &str,
    values: &[Value],
) -> Result<Value, Error> {
    match value.kind() {
        ValueKind::String => strings::call(value.as_str().unwrap_or_default(), method, values),
        ValueKind::Map => of_mapping(value, method, values),
        ValueKind::Seq => of_list(value, method, values),
        ValueKind::Number => of_number(value, method, values),
        ValueKind::Bytes if method == "decode" => {
            let text = std::str::from_utf8(value.as_bytes().unwrap_or_default());
            text.map(Value::from).map_err(|_| invalid("`decode` of bytes that are not UTF-8"))
        }
        _ => Err(Error::from(ErrorKind::UnknownMethod)),
    }
}

fn of_mapping(value: &Value, method: &str, values: &[Value]) -> Result<Value, Error> {
    let mut arguments = Arguments::new(values.iter().cloned());
    if CHANGING.contains(&method) {
        return Err(invalid(format!("access to attribute `{method}` of a mapping is unsafe")));
    }
    let result = match method {
        "get" => {
            let key = arguments.need("key")?;
            let default = arguments.take("default");
            let found = value.as_object().and_then(|object| object.get_value(&key));
            found.unwrap_or_else(|| default.unwrap_or_else(|| Value::from(())))
        }
        "keys" => value.try_iter()?.collect(),
        "values" | "items" => {
            let mut all = Vec::new();
            for key in value.try_iter()? {
                let item = value.get_item(&key)?;
                all.push(if method == "values" { item } else { Value::from(Tuple::from([key, item])) });
            }
            Value::from(all)
        }
        "copy" if value.downcast_object_ref::<Namespace>().is_none() => value.clone(),
        _ => return Err(Error::from(ErrorKind::UnknownMethod)),
    };
    arguments.finish(method)?;
    Ok(result)
}

fn of_list(value: &Value, method: &str, values: &[Value]) -> Result<Value, Error> {
    let mut arguments = Arguments::new(values.iter().cloned());
    let result = match method {
        "count" => {
            let item = arguments.need("value")?;
            Value::from(value.try_iter()?.filter(|other| *other == item).count())
        }
        "index" => {
            let item = arguments.need("value")?;
            match value.try_iter()?.position(|other| other == item) {
                Some(at) => Value::from(at),
                None => return Err(invalid(format!("{} is not in the list", text::text(&item)))),
            }
        }
        "copy" => value.clone(),
        "append" | "extend" | "insert" | "remove" | "reverse" | "sort" | "pop" | "clear" => {
            return Err(invalid(format!("access to attribute `{method}` of a list is unsafe")));
        }
        _ => return Err(Error::from(ErrorKind::UnknownMethod)),
    };
    arguments.finish(method)?;
    Ok(result)
}

fn of_number(value: &Value, method: &str, values: &[Value]) -> Result<Value, Error> {
    let result = match (method, text::float_of(value)) {
        ("is_integer", Some(number)) => Value::from(number.is_finite() && number.fract() == 0.0),
        ("is_integer", None) => Value::from(true),
        ("bit_length", None) => {
            let number = i128::try_from(value.clone()).unwrap_or_default().unsigned_abs();
            Value::from(128 - number.leading_zeros())
        }
        _ => return Err(Error::from(ErrorKind::UnknownMethod)),
    };
    Arguments::new(values.iter().cloned()).finish(method)?;
    Ok(result)
}

/// A method of a mapping or text as a value: true, defined, and callable. It has no attributes.
#[derive(Debug)]
pub(crate) struct Method {
    of: Value,
    name: &'static str,
}

impl Object for Method {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Plain
    }

    fn call(self: &Arc<Self>, state: &mut State<'_, '_>, values: &[Value]) -> Result<Value, Error> {
        call(state, &self.of, self.name, values)
    }

    fn render(self: &Arc<Self>, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let kind = if self.of.kind() == ValueKind::String { "str" } else { "dict" };
        write!(f, "<built-in method {} of {kind} object>", self.name)
    }
}

/// Returns the method `name` of a value as a value; undefined if it would change the value, `None` if there is none.
fn method(value: &Value, name: &str) -> Option<Value> {
    let known: &[&'static str] = match value.kind() {
        ValueKind::String => &OF_TEXTS,
        ValueKind::Map if value.downcast_object_ref::<Namespace>().is_none() => {
            if CHANGING.contains(&name) {
                return Some(Value::UNDEFINED);
            }
            &OF_MAPPINGS
        }
        _ => return None,
    };
    let method = known.iter().find(|known| **known == name);
    method.map(|name| Value::from_object(Method { of: value.clone(), name }))
}

/// Returns the attribute `name` of a value, `name` being that of a method: the method precedes an item.
pub(crate) fn attribute(value: &Value, name: &str) -> Result<Value, Error> {
    match method(value, name) {
        Some(method) => Ok(method),
        None => value.get_attr(name),
    }
}

/// Returns the item `key` of a value, or, if there is none, its method of this name.
pub(crate) fn item(value: &Value, key: &Value) -> Result<Value, Error> {
    let item = value.get_item(key)?;
    match text::as_text(key).filter(|name| item.is_undefined() && is_known(name)) {
        Some(name) => Ok(method(value, name).unwrap_or(item)),
        None => Ok(item),
    }
}

/// The filter `attr`: an attribute that is no item.
pub(crate) fn attr(value: &Value, mut arguments: Arguments) -> Result<Value, Error> {
    let name = arguments.text("name")?.unwrap_or_default();
    arguments.finish("attr")?;
    let is_mapping = value.kind() == ValueKind::Map && value.downcast_object_ref::<Namespace>().is_none();
    match method(value, &name) {
        Some(method) => Ok(method),
        None if is_mapping => Ok(Value::UNDEFINED),
        None => value.get_attr(&name),
    }
}

/// Returns whether Python calls a value callable: a function, a macro, a method, or an undefined value.
pub(crate) fn is_callable(value: &Value) -> bool {
    let is_loop =
        |value: &Value| value.as_object().is_some_and(|object| object.type_name().ends_with("::Loop"));
    value.is_undefined() || (value.kind() == ValueKind::Plain && !is_loop(value))
}
