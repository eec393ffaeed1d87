//! Conversion of Python annotations to schemas.

use super::lines::{self, Kind, Line, Token, closing, split};
use crate::tools::errors;
use grammata::diagnostic::{Diagnostic, Place};
use grammata::error::Result;
use rustc_hash::FxHashMap;
use serde_json::{Map, Value, json};

/// The greatest nesting of brackets, unions, qualified names and quoted annotations.
const DEPTH: usize = 50;

/// The classes that a file declares, and the definitions of those that annotations use.
pub(super) struct Types<'c, 't> {
    classes: &'c FxHashMap<&'t str, &'c [Line<'t>]>,
    is_open: bool,
    place: Place,
    open: Vec<&'t str>,
    definitions: Map<String, Value>,
    pub(super) notes: Vec<Diagnostic>,
}

impl<'c, 't> Types<'c, 't> {
    pub(super) fn new(
        classes: &'c FxHashMap<&'t str, &'c [Line<'t>]>,
        is_open: bool,
        place: Place,
    ) -> Types<'c, 't> {
        Types { classes, is_open, place, open: Vec::new(), definitions: Map::new(), notes: Vec::new() }
    }

    /// Converts an annotation to a schema.
    ///
    /// # Errors
    /// `tools/form` if the annotation is nested deeper than [`DEPTH`]; `tools/syntax` if a quoted annotation contains a
    /// string without an end.
    pub(super) fn schema(&mut self, tokens: &[Token<'_>]) -> Result<Value> {
        self.inner(tokens, 0)
    }

    fn inner(&mut self, tokens: &[Token<'_>], depth: usize) -> Result<Value> {
        if depth > DEPTH {
            let allowed = format!("at most {DEPTH} brackets inside each other");
            return Err(errors::fatal(errors::form(
                self.place.clone(),
                "an annotation that nests deeper",
                &allowed,
            )));
        }
        let parts = split(tokens, "|");
        if parts.len() > 1 {
            return self.union(&parts, depth);
        }
        match tokens {
            [token] if token.kind == Kind::String => {
                let text = token.string().unwrap_or_default();
                let lines = lines::of(&text)?;
                let tokens = lines.first().map_or(&[][..], |line| &line.tokens);
                self.inner(tokens, depth + 1)
            }
            [token] if token.kind == Kind::Name => Ok(self.name(token.text)),
            [name, rest @ ..]
                if name.kind == Kind::Name && rest.first().is_some_and(|token| token.is(".")) =>
            {
                // a qualified name: `typing.List[int]`
                self.inner(&rest[1..], depth + 1)
            }
            [name, open, ..] if name.kind == Kind::Name && open.is("[") => {
                let end = closing(tokens, 1).unwrap_or(tokens.len() - 1).max(2);
                let arguments = split(&tokens[2..end], ",");
                self.generic(name.text, &arguments, depth)
            }
            _ => Ok(self.unknown(tokens)),
        }
    }

    fn unknown(&mut self, tokens: &[Token<'_>]) -> Value {
        let found: Vec<&str> = tokens.iter().take(20).map(|token| token.text).collect();
        let message = "this type is not known, and any value is allowed";
        self.notes.push(errors::notice(
            self.place.clone(),
            message,
            &found.join(" "),
            "use a type that JSON has, `date`, `datetime`, `time`, `timedelta`, `UUID`, `Decimal`, or a class of the file",
        ));
        json!({})
    }

    fn union(&mut self, parts: &[&[Token<'_>]], depth: usize) -> Result<Value> {
        let all: Vec<Value> = parts.iter().map(|part| self.inner(part, depth + 1)).collect::<Result<_>>()?;
        Ok(json!({"anyOf": all}))
    }

    fn name(&mut self, name: &str) -> Value {
        match name {
            "int" => json!({"type": "integer"}),
            "float" => json!({"type": "number"}),
            "complex" => {
                let message = "a complex number is written as a number, without an imaginary part";
                self.notes.push(errors::notice(self.place.clone(), message, name, "take two numbers"));
                json!({"type": "number"})
            }
            "str" => json!({"type": "string"}),
            "bool" => json!({"type": "boolean"}),
            "None" | "NoneType" => json!({"type": "null"}),
            "list" | "List" | "tuple" | "Tuple" | "Sequence" | "Iterable" => json!({"type": "array"}),
            "set" | "Set" | "frozenset" | "FrozenSet" => json!({"type": "array", "uniqueItems": true}),
            "dict" | "Dict" | "Mapping" => json!({"type": "object"}),
            "Any" | "object" => json!({}),
            name if !self.classes.contains_key(name) && text_of(name).is_some() => {
                text_of(name).unwrap_or_default()
            }
            _ => match self.classes.get_key_value(name) {
                Some((&name, _)) => {
                    if !self.definitions.contains_key(name) && !self.open.contains(&name) {
                        self.open.push(name);
                    }
                    json!({"$ref": format!("#/$defs/{name}")})
                }
                None => self.unknown(&[Token { kind: Kind::Name, text: name }]),
            },
        }
    }

    fn generic(&mut self, name: &str, arguments: &[&[Token<'_>]], depth: usize) -> Result<Value> {
        let first = arguments.first().copied().unwrap_or_default();
        let is_dots = |tokens: &[Token<'_>]| tokens.len() == 3 && tokens.iter().all(|token| token.is("."));
        Ok(match name {
            "list" | "List" | "Sequence" | "Iterable" => {
                json!({"type": "array", "items": self.inner(first, depth + 1)?})
            }
            "set" | "Set" | "frozenset" | "FrozenSet" => {
                json!({"type": "array", "items": self.inner(first, depth + 1)?, "uniqueItems": true})
            }
            "tuple" | "Tuple" if arguments.len() == 2 && is_dots(arguments[1]) => {
                json!({"type": "array", "items": self.inner(first, depth + 1)?})
            }
            "tuple" | "Tuple" => {
                let items: Vec<Value> =
                    arguments.iter().map(|item| self.inner(item, depth + 1)).collect::<Result<_>>()?;
                let count = items.len();
                json!({"type": "array", "prefixItems": items, "minItems": count, "maxItems": count})
            }
            "dict" | "Dict" | "Mapping" => {
                let value = arguments.get(1).copied().unwrap_or_default();
                json!({"type": "object", "additionalProperties": self.inner(value, depth + 1)?})
            }
            "Optional" => json!({"anyOf": [self.inner(first, depth + 1)?, {"type": "null"}]}),
            "Union" => self.union(arguments, depth)?,
            "Annotated" | "Required" | "NotRequired" | "Final" => self.inner(first, depth + 1)?,
            "Literal" => {
                match arguments.iter().map(|argument| literal(argument)).collect::<Option<Vec<Value>>>() {
                    Some(values) => json!({"enum": values}),
                    None => self.unknown(first),
                }
            }
            _ => self.unknown(&[Token { kind: Kind::Name, text: name }]),
        })
    }

    /// Converts the classes that annotations use, and returns their schemas by name.
    ///
    /// # Errors
    /// Those of [`schema`](Types::schema).
    pub(super) fn finish(&mut self) -> Result<Map<String, Value>> {
        while let Some(name) = self.open.pop() {
            let schema = self.class(self.classes[name])?;
            self.definitions.insert(name.to_owned(), schema);
        }
        Ok(std::mem::take(&mut self.definitions))
    }

    /// Converts a class to a schema: an enumeration to its values, other classes (typed dictionaries, data classes) to
    /// an object of their annotated fields.
    fn class(&mut self, lines: &[Line<'_>]) -> Result<Value> {
        let [head, body @ ..] = lines else { return Ok(json!({})) };
        let has = |word: &str| head.tokens.iter().any(|token| token.kind == Kind::Name && token.text == word);
        let inside = body.first().map_or(0, |line| line.indent);
        let fields = body.iter().filter(|line| line.indent == inside);
        if ["Enum", "IntEnum", "StrEnum"].into_iter().any(has) {
            let values = fields.filter_map(|line| {
                let parts = split(&line.tokens, "=");
                if parts.len() == 2 && parts[0].len() == 1 { literal(parts[1]) } else { None }
            });
            return Ok(json!({"enum": values.collect::<Vec<Value>>()}));
        }
        let is_partial =
            head.tokens.windows(3).any(|three| three[0].text == "total" && three[2].text == "False");
        let (mut properties, mut required) = (Map::new(), Vec::new());
        for line in fields {
            let name = line.word(0);
            if name.is_empty() || !line.tokens.get(1).is_some_and(|token| token.is(":")) {
                continue;
            }
            let parts = split(&line.tokens[2..], "=");
            let annotation = parts.first().copied().unwrap_or_default();
            let is_optional =
                parts.len() > 1 || annotation.first().is_some_and(|token| token.text == "NotRequired");
            let is_demanded = annotation.first().is_some_and(|token| token.text == "Required");
            if is_demanded || !(is_optional || is_partial) {
                required.push(Value::from(name));
            }
            let schema = self.inner(annotation, 0)?;
            properties.insert(name.to_owned(), schema);
        }
        let mut schema = json!({"type": "object", "properties": properties, "required": required});
        if !self.is_open {
            schema["additionalProperties"] = Value::Bool(false);
        }
        Ok(schema)
    }
}

/// Returns the schema of a class of the standard library whose values JSON writes as strings; `None` for other names.
fn text_of(name: &str) -> Option<Value> {
    let of_format = |format: &str| Some(json!({"type": "string", "format": format}));
    match name {
        "date" => of_format("date"),
        "datetime" => of_format("date-time"),
        "time" => of_format("time"),
        "timedelta" => of_format("duration"),
        "UUID" => of_format("uuid"),
        "Decimal" => Some(json!({"type": "string", "pattern": r"^-?(0|[1-9][0-9]*)(\.[0-9]+)?$"})),
        _ => None,
    }
}

/// Returns the value of a literal; `None` for other expressions.
fn literal(tokens: &[Token<'_>]) -> Option<Value> {
    let number = |text: &str| text.replace('_', "").parse().ok().map(Value::Number);
    match tokens {
        [token] => match token.kind {
            Kind::String => token.string().map(Value::String),
            Kind::Number => number(token.text),
            Kind::Name => match token.text {
                "True" => Some(Value::Bool(true)),
                "False" => Some(Value::Bool(false)),
                "None" => Some(Value::Null),
                _ => None,
            },
            Kind::Sign => None,
        },
        [minus, token] if minus.is("-") && token.kind == Kind::Number => number(&format!("-{}", token.text)),
        _ => None,
    }
}
