//! Costs of operations, computed from the operands before an operation runs.

use crate::meter::{Meter, NODE, Size};
use minijinja::value::{Value, ValueKind};
use minijinja::{Error, ErrorKind};

/// Maximum number in the text of a format, such as a width or a precision.
const FORMAT_WIDTH: u64 = 1_000;
/// Cost of calling a macro or function in units, for its frame and its text, in addition to the operands.
const CALL: u64 = 1_024;
/// Maximum number of comparisons per value when sorting: more than the binary logarithm of the number of values that a
/// rendering can have within the default limit.
const SORTING: u64 = 24;

/// Charges for the operation `name` on `operands`: an operator, a filter, a method (`.name`), a test (`is name`) or a
/// call. Charges nothing without operands.
///
/// # Errors
/// The budget has fewer units left, the rendering has taken too long, an operand is nested too deeply, or the sandbox
/// does not support the operation on these operands.
pub(crate) fn charge(meter: &Meter, name: &str, operands: &[Value]) -> Result<(), Error> {
    let [first, rest @ ..] = operands else { return Ok(()) };
    let units = match name {
        // a text may be escaped
        "+" if operands.iter().any(Value::is_safe) => written(meter, operands)?.saturating_mul(2),
        "+" => join_ends(first, rest),
        "%" if first.kind() == ValueKind::String => format(meter, first, rest)?,
        "%" => 0,
        "*" => repeat(first, rest.first())?,
        "~" => written(meter, operands)?,
        "slice of" => length(first).saturating_mul(if first.kind() == ValueKind::String { 4 } else { NODE }),
        "order" => {
            ordered(first, rest.first())?;
            compare(meter, operands)?
        }
        "compare" | "is eq" | "is equalto" | "is ==" | "is ne" | "is !=" | "is sameas" => {
            compare(meter, operands)?
        }
        "in" | "is in" => contains(meter, first, rest)?,
        "replace" | ".replace" => replace(meter, first, rest)?,
        "join" => join(meter, first, rest)?,
        ".join" => {
            by_place("join", rest, 1)?;
            join(meter, rest.first().unwrap_or(first), std::slice::from_ref(first))?
        }
        "split" | ".split" | ".rsplit" => split(meter, first, rest)?,
        "lines" => pieces(first, "\n"),
        ".splitlines" => split_lines(first),
        "items" | ".items" | ".keys" | ".values" => length(first).saturating_mul(2 * NODE),
        ".get" => written(meter, rest)?,
        ".changed" if meter.measure(&rest.iter().cloned().collect())?.mutable => {
            return Err(Error::new(ErrorKind::InvalidOperation, "`changed` of a namespace or loop"));
        }
        "batch" | "slice" => batch(meter, first, rest)?,
        "indent" => indent(meter, first, rest)?,
        "format" | ".format" => format(meter, first, rest)?,
        "tojson" => tojson(meter, first, rest)?,
        // the filter charges for each item
        "map" => written(meter, rest)?.saturating_add(length(first).saturating_mul(NODE)),
        "e" | "escape" | "forceescape" => written(meter, operands)?.saturating_mul(2),
        "select" | "reject" | "selectattr" | "rejectattr" => select(meter, first, rest)?,
        "sort" | "unique" | "dictsort" | "min" | "max" => {
            iterated(meter, first, rest)?.saturating_mul(SORTING)
        }
        ".zfill" | ".ljust" | ".rjust" | ".center" | "center" => {
            written(meter, operands)?.saturating_add(largest(meter, rest)?.max(80).saturating_mul(4))
        }
        ".expandtabs" => length(first).saturating_mul(largest(meter, rest)?.max(8)),
        "groupby" => iterated(meter, first, rest)?.saturating_mul(SORTING),
        ".count" | ".index" if first.kind() != ValueKind::String => match rest.first() {
            Some(item) => contains(meter, item, std::slice::from_ref(first))?,
            None => 0,
        },
        "count" | "first" | "last" | "length" => length(first),
        "list" | "reverse" => length(first).saturating_mul(NODE),
        "call" => CALL.saturating_add(written(meter, operands)?),
        _ => written(meter, operands)?,
    };
    meter.spend(units)
}

/// Returns the length of a text in bytes, or the number of items of another value; 0 if it has no known number of
/// items.
fn length(value: &Value) -> u64 {
    match value.as_str() {
        Some(text) => text.len() as u64,
        None => value.len().unwrap_or(0) as u64,
    }
}

/// Returns the cost of writing out all values. An operation that does not repeat its operands costs at most this.
fn written(meter: &Meter, values: &[Value]) -> Result<u64, Error> {
    let mut units: u64 = 0;
    for value in values {
        let size = meter.measure(value)?;
        // copying a text or changing its case may take three times its bytes; other values are written with escapes
        let own =
            if value.kind() == ValueKind::String { size.bytes.saturating_mul(3) } else { size.written() };
        units = units.saturating_add(own);
    }
    Ok(units)
}

fn join_ends(first: &Value, rest: &[Value]) -> u64 {
    let units = |value: &Value| match value.kind() {
        ValueKind::String => length(value),
        _ => length(value).saturating_mul(NODE),
    };
    rest.iter().map(units).fold(units(first), u64::saturating_add)
}

fn repeat(first: &Value, second: Option<&Value>) -> Result<u64, Error> {
    let Some(second) = second else { return Ok(0) };
    let (repeated, times) = if first.is_number() { (second, first) } else { (first, second) };
    let unit = match repeated.kind() {
        ValueKind::String => 1,
        ValueKind::Seq | ValueKind::Iterable => NODE,
        _ => return Ok(0),
    };
    let times = times.as_i64().map_or(u64::MAX, |n| n.max(0).unsigned_abs());
    Ok(length(repeated).saturating_mul(unit).saturating_mul(times))
}

fn compare(meter: &Meter, operands: &[Value]) -> Result<u64, Error> {
    let compound =
        |value: &Value| matches!(value.kind(), ValueKind::Seq | ValueKind::Map | ValueKind::Iterable);
    if operands.iter().any(compound) {
        let mut units: u64 = 0;
        for value in operands {
            let size = meter.measure(value)?;
            // mappings are compared by looking up the keys of one in the other
            units = units.saturating_add(size.bytes).saturating_add(size.nodes.saturating_mul(NODE));
        }
        return Ok(units);
    }
    Ok(operands.iter().map(length).min().unwrap_or(0))
}

fn contains(meter: &Meter, needle: &Value, rest: &[Value]) -> Result<u64, Error> {
    let Some(container) = rest.first() else { return Ok(0) };
    if container.kind() == ValueKind::String {
        if needle.kind() != ValueKind::String && container.as_str() != Some("") {
            let text = format!("`in` a text requires a text, not {}", needle.kind());
            return Err(Error::new(ErrorKind::InvalidOperation, text));
        }
        return Ok(length(container));
    }
    let needle = meter.measure(needle)?;
    let cost = needle.bytes.saturating_add(needle.nodes.saturating_mul(NODE));
    match container.kind() {
        ValueKind::Map => Ok(cost),
        // a comparison of two values ends with the smaller one, which is at most the needle
        _ => Ok(length(container).saturating_mul(cost)),
    }
}

fn replace(meter: &Meter, text: &Value, rest: &[Value]) -> Result<u64, Error> {
    by_place("replace", rest, 2)?;
    let [old, new, ..] = rest else { return Ok(0) };
    let (text, old, new) = (plain(meter, text)?, plain(meter, old)?, plain(meter, new)?);
    let found = if old.is_empty() { text.len() + 1 } else { text.matches(&old).count() };
    // each occurrence is searched for twice
    Ok((found as u64).saturating_mul(new.len() as u64 + 16).saturating_add(text.len() as u64))
}

/// Returns the text of a value, and charges for copying it.
fn plain(meter: &Meter, value: &Value) -> Result<String, Error> {
    meter.spend(written(meter, std::slice::from_ref(value))?)?;
    Ok(match value.as_str() {
        Some(text) => text.to_owned(),
        None => value.to_string(),
    })
}

/// Fails if one of the first `count` arguments is given by name, because the cost depends on which one it is.
fn by_place(name: &str, arguments: &[Value], count: usize) -> Result<(), Error> {
    match arguments.iter().take(count).any(Value::is_kwargs) {
        true => Err(Error::new(ErrorKind::InvalidOperation, format!("`{name}` with its arguments by name"))),
        false => Ok(()),
    }
}

fn join(meter: &Meter, items: &Value, rest: &[Value]) -> Result<u64, Error> {
    let separator = rest.iter().map(|value| meter.measure(value)).sum::<Result<Size, Error>>()?;
    let size = meter.measure(items)?;
    Ok(length(items).saturating_mul(separator.bytes.saturating_add(4)).saturating_add(size.written()))
}

fn split(meter: &Meter, text: &Value, rest: &[Value]) -> Result<u64, Error> {
    let size = meter.measure(text)?;
    let separator = rest.first().and_then(Value::as_str);
    Ok(match separator {
        Some(separator) if !separator.is_empty() => pieces(text, separator),
        _ => size.written().saturating_mul(NODE),
    })
}

/// Returns the cost of the list of texts between the occurrences of a separator; 0 if the value is not a text.
fn pieces(text: &Value, separator: &str) -> u64 {
    let Some(text) = text.as_str() else { return 0 };
    (text.matches(separator).count() as u64 + 1).saturating_mul(NODE).saturating_add(text.len() as u64)
}

/// Returns the largest number among the arguments, including those passed by keyword. A negative number counts as 0, a
/// number that is not an `i64` as [`u64::MAX`]. 0 if there is no number.
fn largest(meter: &Meter, arguments: &[Value]) -> Result<u64, Error> {
    let mut most: u64 = 0;
    for argument in arguments {
        meter.measure(argument)?;
        let inner = match argument.is_kwargs() {
            true => argument.try_iter()?.filter_map(|key| argument.get_item(&key).ok()).collect(),
            false => vec![argument.clone()],
        };
        for value in inner.iter().filter(|value| value.is_number()) {
            most = most.max(value.as_i64().map_or(u64::MAX, |n| n.max(0).unsigned_abs()));
        }
    }
    Ok(most)
}

fn batch(meter: &Meter, items: &Value, rest: &[Value]) -> Result<u64, Error> {
    Ok(length(items).saturating_add(largest(meter, rest)?).saturating_mul(NODE))
}

fn indent(meter: &Meter, text: &Value, rest: &[Value]) -> Result<u64, Error> {
    // the width may be a text
    let texts = rest.iter().map(|value| meter.measure(value)).sum::<Result<Size, Error>>()?.bytes;
    let width = largest(meter, rest)?.saturating_add(texts).saturating_add(5);
    let text = plain(meter, text)?;
    let lines = text.matches('\n').count() as u64 + 2;
    Ok(lines.saturating_mul(width).saturating_add(text.len() as u64))
}

fn format(meter: &Meter, text: &Value, rest: &[Value]) -> Result<u64, Error> {
    let text = plain(meter, text)?;
    let refuse = |what: String| Err(Error::new(ErrorKind::InvalidOperation, what));
    let runs = text.split(|c: char| !c.is_ascii_digit()).filter(|run| !run.is_empty());
    if runs.into_iter().any(|run| run.parse().map_or(true, |n: u64| n > FORMAT_WIDTH)) {
        return refuse(format!("a format with a number above {FORMAT_WIDTH}"));
    }
    // with `*` or nested braces, values determine widths
    let nested = text
        .match_indices('{')
        .zip(text.match_indices('{').skip(1))
        .any(|((a, _), (b, _))| b > a + 1 && !text.get(a..b).unwrap_or_default().contains('}'));
    if nested || text.contains('*') {
        return refuse("a format that takes widths from values".to_owned());
    }
    let fields = text.matches(['%', '{']).count() as u64 + 1;
    let each = written(meter, rest)?.saturating_add(2 * FORMAT_WIDTH);
    Ok(fields.saturating_mul(each).saturating_add(text.len() as u64))
}

/// Returns the cost of the lines of a text.
fn split_lines(text: &Value) -> u64 {
    let Some(text) = text.as_str() else { return 0 };
    let lines = text.chars().filter(|c| crate::strings::ends_line(*c)).count() as u64 + 1;
    lines.saturating_mul(NODE).saturating_add(2 * text.len() as u64)
}

/// Fails if Python could not order two values.
fn ordered(first: &Value, second: Option<&Value>) -> Result<(), Error> {
    match second {
        Some(second) if !crate::order::is_comparable(first, second) => {
            let text = format!("an order of {} and {}", first.kind(), second.kind());
            Err(Error::new(ErrorKind::InvalidOperation, text))
        }
        _ => Ok(()),
    }
}

fn tojson(meter: &Meter, value: &Value, rest: &[Value]) -> Result<u64, Error> {
    let size = meter.measure(value)?;
    // texts among the arguments may be written at each level before each value
    let texts = rest.iter().map(|value| meter.measure(value)).sum::<Result<Size, Error>>()?.bytes;
    let indentation = largest(meter, rest)?.saturating_add(texts).saturating_mul(size.depth + 1);
    // each escape is written separately, so the bytes of texts are counted a second time
    let written = size.written().saturating_add(size.bytes.saturating_mul(6));
    Ok(written.saturating_add(size.nodes.saturating_mul(indentation)))
}

fn select(meter: &Meter, items: &Value, rest: &[Value]) -> Result<u64, Error> {
    let arguments = written(meter, rest)?;
    let size = meter.measure(items)?;
    let nodes = size.nodes.saturating_add(length(items)).saturating_mul(NODE);
    Ok(nodes.saturating_add(length(items).saturating_mul(arguments)))
}

/// Returns the cost of visiting each item of `items` and writing out the items and `rest` once.
fn iterated(meter: &Meter, items: &Value, rest: &[Value]) -> Result<u64, Error> {
    let all = written(meter, rest)?.saturating_add(meter.measure(items)?.written());
    Ok(all.saturating_add(length(items).saturating_mul(NODE)))
}

impl std::iter::Sum for Size {
    fn sum<I: Iterator<Item = Size>>(sizes: I) -> Size {
        sizes.fold(Size::default(), |all, size| Size {
            nodes: all.nodes.saturating_add(size.nodes),
            bytes: all.bytes.saturating_add(size.bytes),
            depth: all.depth.max(size.depth),
            mutable: all.mutable || size.mutable,
        })
    }
}
