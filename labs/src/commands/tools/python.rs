//! The judge's reader of calls in Python, `[f(a=1, b="x"), g()]`. It shares no code with the call format, so that an
//! error in one is found by the other.

use super::fault::{Fault, Judged, known, validated};
use grammata_agents::tools::ToolSet;
use serde_json::{Map, Number, Value};

/// The most levels of nested values.
const DEPTH: usize = 100;

/// Reads a list of calls, and returns the first one if its arguments are valid, otherwise the first fault.
pub(super) fn python(text: &str, set: &ToolSet) -> Result<Judged, Fault> {
    let mut reader = Reader { rest: text.strip_prefix('[').ok_or(Fault::Format)? };
    let mut first = None;
    loop {
        let name = reader.word().ok_or(Fault::Format)?;
        if !reader.has('(') {
            return Err(Fault::Format);
        }
        let arguments = reader.arguments().ok_or(Fault::Json)?;
        first.get_or_insert((name, arguments));
        if reader.has(']') {
            break;
        }
        if !reader.has(',') {
            return Err(Fault::Format);
        }
    }
    let (name, arguments) = first.filter(|_| reader.rest.trim().is_empty()).ok_or(Fault::Format)?;
    known(name, set)?;
    let mut object = Map::new();
    for (key, value) in arguments {
        if object.insert(key.to_owned(), value).is_some() {
            return Err(Fault::Duplicate);
        }
    }
    validated(Value::Object(object), name, set)
}

struct Reader<'t> {
    rest: &'t str,
}

impl<'t> Reader<'t> {
    /// Returns whether `c` follows, after any white space. If so, it is consumed.
    fn has(&mut self, c: char) -> bool {
        let rest = self.rest.trim_start().strip_prefix(c);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    /// Reads a name, which may contain dots.
    fn word(&mut self) -> Option<&'t str> {
        let rest = self.rest.trim_start();
        let is_outside = |c: char| !(c.is_alphanumeric() || c == '_' || c == '.');
        let (word, rest) = rest.split_at(rest.find(is_outside).unwrap_or(rest.len()));
        self.rest = rest;
        Some(word).filter(|word| !word.is_empty())
    }

    /// Reads arguments up to their closing bracket.
    fn arguments(&mut self) -> Option<Vec<(&'t str, Value)>> {
        self.list(')', |reader| {
            let name = reader.word()?;
            if !reader.has('=') {
                return None;
            }
            Some((name, reader.value(0)?))
        })
    }

    /// Reads items, separated by commas, up to the closing bracket.
    fn list<T>(&mut self, close: char, item: impl Fn(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let mut made = Vec::new();
        while !self.has(close) {
            if !made.is_empty() && !self.has(',') {
                return None;
            }
            made.push(item(self)?);
        }
        Some(made)
    }

    fn value(&mut self, depth: usize) -> Option<Value> {
        if depth > DEPTH {
            return None;
        }
        self.rest = self.rest.trim_start();
        match self.rest.chars().next()? {
            quote @ ('"' | '\'') => self.string(quote).map(Value::String),
            '[' => {
                self.has('[');
                self.list(']', |reader| reader.value(depth + 1)).map(Value::Array)
            }
            '{' => {
                self.has('{');
                let members = self.list('}', |reader| {
                    let Value::String(name) = reader.value(depth + 1)? else { return None };
                    if !reader.has(':') {
                        return None;
                    }
                    Some((name, reader.value(depth + 1)?))
                })?;
                let count = members.len();
                // `None` if a name occurs twice
                Some(members.into_iter().collect::<Map<_, _>>())
                    .filter(|members| members.len() == count)
                    .map(Value::Object)
            }
            c if c.is_ascii_digit() || c == '-' => {
                let is_outside = |c: char| !(c.is_ascii_digit() || "+-.eE".contains(c));
                let (number, rest) =
                    self.rest.split_at(self.rest.find(is_outside).unwrap_or(self.rest.len()));
                self.rest = rest;
                number.parse::<Number>().ok().map(Value::Number)
            }
            _ => match self.word()? {
                "True" => Some(Value::Bool(true)),
                "False" => Some(Value::Bool(false)),
                "None" => Some(Value::Null),
                _ => None,
            },
        }
    }

    /// Reads a string on one line.
    fn string(&mut self, quote: char) -> Option<String> {
        let mut made = String::new();
        let mut characters = self.rest.char_indices();
        characters.next();
        while let Some((at, c)) = characters.next() {
            match c {
                c if c == quote => {
                    self.rest = &self.rest[at + 1..];
                    return Some(made);
                }
                '\n' => return None,
                '\\' => {
                    let (_, escaped) = characters.next()?;
                    let digits = match escaped {
                        'x' => 2,
                        'u' => 4,
                        'U' => 8,
                        _ => 0,
                    };
                    if digits > 0 {
                        let hex: String = characters.by_ref().take(digits).map(|(_, digit)| digit).collect();
                        made.push(char::from_u32(u32::from_str_radix(&hex, 16).ok()?)?);
                        continue;
                    }
                    match "abfnrtv0".find(escaped) {
                        Some(at) => made.extend("\u{7}\u{8}\u{c}\n\r\t\u{b}\0".chars().nth(at)),
                        None if "\\'\"".contains(escaped) => made.push(escaped),
                        // as in Python, other backslashes are kept
                        None => made.extend(['\\', escaped]),
                    }
                }
                c => made.push(c),
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use grammata_agents::tools::{Call, CallFormat, Document, ReadOptions, Turn, read};
    use serde_json::json;

    #[test]
    fn calls_are_read_as_python_would() {
        let text = r#"[{"name": "m.f", "inputSchema": {"type": "object", "properties": {"a": {"type": "integer", "maximum": 9}, "s": {}},
            "required": ["a"], "additionalProperties": false}}, {"name": "g", "inputSchema": {"type": "object"}}]"#;
        let set = read([Document { label: "d", text }], &ReadOptions::default()).unwrap();
        for (value, expected) in [
            (r#""x""#, r#""x""#),
            (r#"'it\'s "x"\n\x41\u00e9\U0001f600\d'"#, r#""it's \"x\"\nAé😀\\d""#),
            ("[1, -2.5,True , None, []]", "[1,-2.5,true,null,[]]"),
            (r#"{"k": {"l": [False]}, 'm': {}}"#, r#"{"k":{"l":[false]},"m":{}}"#),
        ] {
            let found = python(&format!("[m.f(a=1, s={value}), g()]"), &set).unwrap();
            assert_eq!((found.tool.as_str(), found.arguments["s"].to_string()), ("m.f", expected.to_owned()));
        }
        for (call, fault) in [
            ("m.f(a=1)", Fault::Format),
            ("[m.f]", Fault::Format),
            ("[m.f(a=1)", Fault::Format),
            ("[m.f(a=1) g()]", Fault::Format),
            ("[m.f(a=1)] So", Fault::Format),
            ("[]", Fault::Format),
            ("[m.f(1)]", Fault::Json),
            ("[m.f(a=)]", Fault::Json),
            ("[m.f(a=1 s=2)]", Fault::Json),
            ("[m.f(a=true)]", Fault::Json),
            ("[m.f(a=007)]", Fault::Json),
            ("[m.f(a=1, s=\"x\n\")]", Fault::Json),
            ("[m.f(a=1, s=\"\\ud800\")]", Fault::Json),
            ("[h()]", Fault::Name),
            ("[m.f()]", Fault::Missing),
            ("[m.f(a=1, b=1)]", Fault::Undeclared),
            ("[m.f(a=\"1\")]", Fault::Type),
            ("[m.f(a=10)]", Fault::Value),
            ("[m.f(a=1, a=1)]", Fault::Duplicate),
        ] {
            assert_eq!(python(call, &set), Err(fault), "{call}");
        }
        for unit in ["[", "{\"a\":"] {
            assert_eq!(python(&format!("[g(a={}", unit.repeat(100_000)), &set), Err(Fault::Json));
        }
    }

    #[test]
    fn what_the_format_writes_is_read() {
        let text = r#"[{"name": "f", "inputSchema": {"type": "object", "properties": {"v": {}}}}]"#;
        let set = read([Document { label: "d", text }], &ReadOptions::default()).unwrap();
        let format = CallFormat::named("python").unwrap();
        for value in [
            json!("\u{1}\u{8}\u{c}\n\r\t\"'\\\\/\u{7f}\u{e9}\u{2028}\u{1f600}"),
            json!({"": {"a\n": [1, -2.5, true, false, null, [], {}]}}),
            json!("True, None)]"),
        ] {
            let arguments = json!({"v": value});
            let call = Call { tool: "f".to_owned(), arguments: arguments.as_object().unwrap().clone() };
            let turn = format.render(&Turn { calls: vec![call], ..Turn::default() }, &set).unwrap();
            assert_eq!(python(&turn, &set).unwrap().arguments.to_string(), arguments.to_string(), "{turn}");
        }
    }
}
