//! The filter `tojson`: Python's `json.dumps`.

use crate::arguments::Arguments;
use crate::namespace::Namespace;
use crate::text;
use minijinja::value::{Value, ValueKind};
use minijinja::{Error, ErrorKind};

/// Maximum number of spaces of an indentation.
const INDENT: i64 = 1_000;

fn invalid(text: impl Into<String>) -> Error {
    Error::new(ErrorKind::BadSerialization, text.into())
}

/// The options of `json.dumps`.
struct Style {
    is_ascii: bool,
    /// The text that a level of nesting indents by; `None` writes one line.
    indent: Option<String>,
    item: String,
    key: String,
    is_sorted: bool,
}

/// Writes a value as transformers' `tojson(x, ensure_ascii=False, indent=None, separators=None, sort_keys=False)` does.
/// Unlike Jinja's filter, it does not escape for HTML.
///
/// # Errors
/// A value or a key that JSON does not have, an unknown argument, or an indentation of more than 1,000 spaces.
pub(crate) fn tojson(value: &Value, mut arguments: Arguments) -> Result<Value, Error> {
    let is_ascii = arguments.take("ensure_ascii").is_some_and(|flag| flag.is_true());
    let indent = arguments.take("indent").filter(|indent| !indent.is_none());
    let separators = arguments.take("separators").filter(|separators| !separators.is_none());
    let is_sorted = arguments.take("sort_keys").is_some_and(|flag| flag.is_true());
    arguments.finish("tojson")?;
    let indent = match indent {
        None => None,
        Some(indent) => Some(match (indent.as_str(), indent.as_i64()) {
            (Some(text), _) => text.to_owned(),
            (None, Some(spaces)) if spaces <= INDENT => " ".repeat(usize::try_from(spaces).unwrap_or(0)),
            _ => return Err(invalid(format!("`indent` is a text or at most {INDENT}"))),
        }),
    };
    let (item, key) = match separators {
        None => (if indent.is_some() { "," } else { ", " }.to_owned(), ": ".to_owned()),
        Some(pair) => {
            let parts: Vec<Value> = pair.try_iter()?.collect();
            let [item, key] = parts.as_slice() else {
                return Err(invalid("`separators` are two texts: between items, and after a key"));
            };
            (text::text(item), text::text(key))
        }
    };
    let mut out = String::new();
    Style { is_ascii, indent, item, key, is_sorted }.value(&mut out, value, 0)?;
    Ok(Value::from(out))
}

impl Style {
    /// Appends a value. Recurses as deep as the value is nested, which the meter bounds.
    fn value(&self, out: &mut String, value: &Value, depth: usize) -> Result<(), Error> {
        match value.kind() {
            ValueKind::None => out.push_str("null"),
            ValueKind::Bool => out.push_str(if value.is_true() { "true" } else { "false" }),
            ValueKind::Number => out.push_str(&number(value)),
            ValueKind::String => self.text(out, value.as_str().unwrap_or_default()),
            ValueKind::Seq | ValueKind::Iterable => {
                let items = value.try_iter()?.collect::<Vec<_>>();
                self.compound(out, ['[', ']'], &items, depth, |out, item| self.value(out, item, depth + 1))?;
            }
            ValueKind::Map if value.downcast_object_ref::<Namespace>().is_none() => {
                let mut pairs = Vec::new();
                for key in value.try_iter()? {
                    let item = value.get_item(&key)?;
                    pairs.push((key, item));
                }
                if self.is_sorted {
                    let is_mixed = pairs.windows(2).any(
                        |two| matches!(two, [(a, _), (b, _)] if a.as_str().is_some() != b.as_str().is_some()),
                    );
                    if is_mixed {
                        return Err(invalid("`sort_keys` compares texts with other keys"));
                    }
                    pairs.sort_by(|(a, _), (b, _)| a.cmp(b));
                }
                self.compound(out, ['{', '}'], &pairs, depth, |out, (key, item)| {
                    self.text(out, &name(key)?);
                    out.push_str(&self.key);
                    self.value(out, item, depth + 1)
                })?;
            }
            kind => return Err(invalid(format!("a value of kind {kind} is not JSON"))),
        }
        Ok(())
    }

    fn compound<T>(
        &self,
        out: &mut String,
        [open, close]: [char; 2],
        items: &[T],
        depth: usize,
        mut write: impl FnMut(&mut String, &T) -> Result<(), Error>,
    ) -> Result<(), Error> {
        out.push(open);
        for (at, item) in items.iter().enumerate() {
            if at > 0 {
                out.push_str(&self.item);
            }
            self.line(out, depth + 1);
            write(out, item)?;
        }
        if !items.is_empty() {
            self.line(out, depth);
        }
        out.push(close);
        Ok(())
    }

    fn line(&self, out: &mut String, depth: usize) {
        if let Some(indent) = &self.indent {
            out.push('\n');
            (0..depth).for_each(|_| out.push_str(indent));
        }
    }

    fn text(&self, out: &mut String, text: &str) {
        out.push('"');
        for c in text.chars() {
            match c {
                '"' => out.push_str("\\\""),
                '\\' => out.push_str("\\\\"),
                '\n' => out.push_str("\\n"),
                '\r' => out.push_str("\\r"),
                '\t' => out.push_str("\\t"),
                '\u{8}' => out.push_str("\\b"),
                '\u{c}' => out.push_str("\\f"),
                ' '..='~' => out.push(c),
                _ if c >= ' ' && !self.is_ascii => out.push(c),
                _ => {
                    for unit in c.encode_utf16(&mut [0; 2]) {
                        out.push_str(&format!("\\u{unit:04x}"));
                    }
                }
            }
        }
        out.push('"');
    }
}

fn number(value: &Value) -> String {
    match text::float_of(value) {
        Some(number) if number.is_nan() => "NaN".to_owned(),
        Some(number) if number.is_infinite() => {
            if number < 0.0 { "-Infinity" } else { "Infinity" }.to_owned()
        }
        Some(number) => text::float(number),
        None => value.to_string(),
    }
}

/// Returns the text of a key: JSON's text for a number, a boolean or none.
fn name(key: &Value) -> Result<String, Error> {
    Ok(match key.kind() {
        ValueKind::String => text::text(key),
        ValueKind::Number => number(key),
        ValueKind::Bool => if key.is_true() { "true" } else { "false" }.to_owned(),
        ValueKind::None => "null".to_owned(),
        kind => return Err(invalid(format!("a key of kind {kind} is not JSON"))),
    })
}
