//! Values outside of JSON: as text, or as Python literals.

use super::conformity::Conformity;
use serde_json::{Map, Number, Value};

/// The mapping from texts to values, given the types that a schema allows.
pub(super) struct Texts<'s> {
    kinds: Kinds,
    conformity: Conformity<'s>,
}

impl<'s> Texts<'s> {
    /// Creates the mapping for all values of a schema. References of the schema point into `root`.
    pub(super) fn new(schema: &'s Value, root: &'s Value) -> Texts<'s> {
        Texts { kinds: Kinds::of(schema, root), conformity: Conformity::new(schema, root) }
    }

    /// Creates the mapping for scalars only: null, arrays and objects have no text.
    pub(super) fn of_scalars(schema: &'s Value, root: &'s Value) -> Texts<'s> {
        let all = Texts::new(schema, root);
        Texts { kinds: Kinds { null: false, compound: false, ..all.kinds }, ..all }
    }

    /// Returns the value of a text. A number, a word (`true`, `false`, `null`), an array or an object of an allowed
    /// type is preferred to a string, unless strings are allowed and the other value does not conform to the schema.
    /// Returns `None` if the value would be a string but strings are not allowed.
    pub(super) fn value(&self, text: &str) -> Option<Value> {
        let value = of_kinds(text, self.kinds);
        match value {
            Value::String(_) => self.kinds.string.then_some(value),
            value if self.kinds.string && !self.conformity.holds(&value) => {
                Some(Value::String(text.to_owned()))
            }
            value => Some(value),
        }
    }
}

fn of_kinds(text: &str, kinds: Kinds) -> Value {
    let is_compound = text.starts_with(['{', '[']);
    let parsed = serde_json::from_str::<Value>(text).ok().filter(|value| match value {
        Value::Null => kinds.null,
        Value::Bool(_) => kinds.boolean,
        Value::Number(number) => kinds.number && is_plain(number, text),
        Value::Array(_) | Value::Object(_) => kinds.compound && is_compound,
        Value::String(_) => false,
    });
    parsed.unwrap_or_else(|| Value::String(text.to_owned()))
}

fn is_plain(number: &Number, text: &str) -> bool {
    number.to_string() == text
}

/// Returns whether a schema may allow arrays or objects. If false, it certainly allows neither.
pub(in crate::tools) fn may_be_list(schema: &Value, root: &Value) -> bool {
    Kinds::of(schema, root).compound
}

/// The types that a value may have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Kinds {
    pub(super) string: bool,
    pub(super) number: bool,
    pub(super) boolean: bool,
    pub(super) null: bool,
    /// Whether arrays or objects are allowed.
    pub(super) compound: bool,
}

impl Kinds {
    const ALL: Kinds = Kinds { string: true, number: true, boolean: true, null: true, compound: true };

    fn of_value(value: &Value) -> Kinds {
        let mut kinds = Kinds::default();
        match value {
            Value::Null => kinds.null = true,
            Value::Bool(_) => kinds.boolean = true,
            Value::Number(_) => kinds.number = true,
            Value::String(_) => kinds.string = true,
            Value::Array(_) | Value::Object(_) => kinds.compound = true,
        }
        kinds
    }

    fn named(name: &str) -> Kinds {
        let mut kinds = Kinds::default();
        match name {
            "null" => kinds.null = true,
            "boolean" => kinds.boolean = true,
            "number" | "integer" => kinds.number = true,
            "string" => kinds.string = true,
            _ => kinds.compound = true,
        }
        kinds
    }

    fn or(self, other: Kinds) -> Kinds {
        Kinds {
            string: self.string || other.string,
            number: self.number || other.number,
            boolean: self.boolean || other.boolean,
            null: self.null || other.null,
            compound: self.compound || other.compound,
        }
    }

    fn and(self, other: Kinds) -> Kinds {
        Kinds {
            string: self.string && other.string,
            number: self.number && other.number,
            boolean: self.boolean && other.boolean,
            null: self.null && other.null,
            compound: self.compound && other.compound,
        }
    }

    /// Returns the types that a schema allows, according to `type`, `const`, `enum`, references and combinators in
    /// schemas nested at most eight deep, the outermost included. The result is a superset if other keywords or deeper
    /// schemas restrict the types.
    pub(super) fn of(schema: &Value, root: &Value) -> Kinds {
        Kinds::within(schema, root, 8)
    }

    fn within(schema: &Value, root: &Value, depth: u32) -> Kinds {
        let Some(object) = schema.as_object().filter(|_| depth > 0) else { return Kinds::ALL };
        let mut kinds = Kinds::own(object);
        if let Some(reference) = object.get("$ref").and_then(Value::as_str)
            && let Some(target) = reference.strip_prefix('#').and_then(|pointer| root.pointer(pointer))
        {
            kinds = kinds.and(Kinds::within(target, root, depth - 1));
        }
        for keyword in ["anyOf", "oneOf"] {
            if let Some(Value::Array(list)) = object.get(keyword) {
                let all = list.iter().map(|one| Kinds::within(one, root, depth - 1));
                kinds = kinds.and(all.fold(Kinds::default(), Kinds::or));
            }
        }
        if let Some(Value::Array(list)) = object.get("allOf") {
            kinds = list.iter().map(|one| Kinds::within(one, root, depth - 1)).fold(kinds, Kinds::and);
        }
        kinds
    }

    fn own(object: &Map<String, Value>) -> Kinds {
        let mut kinds = match object.get("type") {
            Some(Value::String(name)) => Kinds::named(name),
            Some(Value::Array(names)) => {
                names.iter().filter_map(Value::as_str).map(Kinds::named).fold(Kinds::default(), Kinds::or)
            }
            _ => Kinds::ALL,
        };
        if let Some(value) = object.get("const") {
            kinds = kinds.and(Kinds::of_value(value));
        }
        if let Some(Value::Array(list)) = object.get("enum") {
            kinds = kinds.and(list.iter().map(Kinds::of_value).fold(Kinds::default(), Kinds::or));
        }
        kinds
    }
}

/// Returns the length in bytes of the Python literal or JSON value at the start of a text: up to the first comma or
/// closing bracket that is not part of the value, or to the end of the text.
pub(super) fn extent(text: &str) -> usize {
    let (mut depth, mut quote, mut is_escaped) = (0_usize, None, false);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if quote.is_some() => is_escaped = true,
            _ if quote == Some(byte) => quote = None,
            _ if quote.is_some() => {}
            // JSON has no single quotes outside of strings
            b'"' | b'\'' => quote = Some(byte),
            b'[' | b'{' | b'(' => depth += 1,
            b',' | b']' | b'}' | b')' if depth == 0 => return at,
            b']' | b'}' | b')' => depth -= 1,
            _ => {}
        }
    }
    text.len()
}

/// The words that JSON and Python spell differently, as pairs of JSON and Python.
const WORDS: [(&str, &str); 3] = [("true", "True"), ("false", "False"), ("null", "None")];

/// Parses a Python literal of strings, numbers in JSON's notation, `True`, `False`, `None`, lists and dicts; `None` for
/// any other text.
pub(super) fn from_python(text: &str) -> Option<Value> {
    let mut json = String::with_capacity(text.len() + 8);
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        if let Some((word, python)) = WORDS.into_iter().find(|(_, python)| rest.starts_with(python)) {
            json.push_str(word);
            rest = &rest[python.len()..];
            continue;
        }
        rest = &rest[c.len_utf8()..];
        match c {
            '"' | '\'' => {
                let (string, after) = python_string(rest, c)?;
                json.push_str(&Value::String(string).to_string());
                rest = after;
            }
            // JSON's words do not exist in Python
            't' | 'f' | 'n' => return None,
            _ => json.push(c),
        }
    }
    serde_json::from_str(&json).ok()
}

/// Parses a string of Python after its opening quote, and returns the text after its closing quote. `None` if the
/// string is not closed, or if an escape is not one of Python's or is not a character.
fn python_string(text: &str, quote: char) -> Option<(String, &str)> {
    let mut string = String::new();
    let mut rest = text.chars();
    loop {
        match rest.next()? {
            c if c == quote => return Some((string, rest.as_str())),
            '\n' | '\r' | '\0' => return None,
            '\\' => {}
            c => {
                string.push(c);
                continue;
            }
        }
        let escape = rest.next()?;
        string.push(match escape {
            'x' | 'u' | 'U' => {
                let digits = match escape {
                    'x' => 2,
                    'u' => 4,
                    _ => 8,
                };
                let hex = rest.as_str().get(..digits)?;
                if !hex.bytes().all(|byte| byte.is_ascii_hexdigit()) {
                    return None;
                }
                rest = rest.as_str()[digits..].chars();
                char::from_u32(u32::from_str_radix(hex, 16).ok()?)?
            }
            '\\' | '\'' | '"' => escape,
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'a' => '\u{7}',
            'b' => '\u{8}',
            'v' => '\u{B}',
            'f' => '\u{C}',
            _ => return None,
        });
    }
}

/// Returns a value as a Python literal.
pub(super) fn to_python(value: &Value) -> String {
    let json = value.to_string();
    let mut python = String::with_capacity(json.len() + 8);
    let (mut is_in_string, mut is_escaped) = (false, false);
    let mut rest = json.as_str();
    while let Some(c) = rest.chars().next() {
        let word = WORDS.into_iter().find(|(json, _)| !is_in_string && rest.starts_with(json));
        if let Some((word, instead)) = word {
            python.push_str(instead);
            rest = &rest[word.len()..];
            continue;
        }
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' if is_in_string => is_escaped = true,
            '"' => is_in_string = !is_in_string,
            _ => {}
        }
        python.push(c);
        rest = &rest[c.len_utf8()..];
    }
    python
}

const KEYWORDS: [&str; 35] = [
    "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue", "def",
    "del", "elif", "else", "except", "finally", "for", "from", "global", "if", "import", "in", "is",
    "lambda", "nonlocal", "not", "or", "pass", "raise", "return", "try", "while", "with", "yield",
];

/// Returns whether a text is a Python identifier that is not a keyword, or several joined by dots if `may_have_points`.
pub(super) fn is_python_name(text: &str, may_have_points: bool) -> bool {
    let is_identifier = |part: &str| {
        let mut chars = part.chars();
        chars.next().is_some_and(|first| first.is_alphabetic() || first == '_')
            && chars.all(|c| c.is_alphanumeric() || c == '_')
            && !KEYWORDS.contains(&part)
    };
    if may_have_points { text.split('.').all(is_identifier) } else { is_identifier(text) }
}
