//! Checks of step arguments against the schemas of their actions.

use grammata::automaton::{Automaton, Cache, ConfigurationId, Lazy};
use grammata::error::Result;
use grammata::syntax::automaton_spec::Spec;
use rustc_hash::FxHashMap;
use serde_json::Value;
use std::collections::hash_map::Entry;

/// The first place where arguments violate their schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrongArguments {
    /// The JSON Pointer of the innermost value that holds the first wrong character. Empty, that is, the whole value,
    /// if the text only ends too early or the action has no schema.
    pub pointer: String,
    /// The arguments in compact JSON, up to and including the first wrong character, or as a whole if no character is
    /// wrong.
    pub found: String,
}

/// Checks arguments. The automaton compiled for an action is reused for later arguments of the action.
#[derive(Debug, Default)]
pub struct ArgumentChecker {
    automata: FxHashMap<usize, Automaton>,
}

impl ArgumentChecker {
    /// Checks the arguments of an action; members may be in any order. Returns `None` if they match the schema,
    /// otherwise the first violation. An action without a schema accepts no arguments.
    ///
    /// # Errors
    /// The limits of the spec.
    pub fn check(&mut self, spec: &Spec, action: usize, value: &Value) -> Result<Option<WrongArguments>> {
        let text = value.to_string();
        let Some(arguments) = spec.arguments(action) else {
            return Ok(Some(WrongArguments { pointer: String::new(), found: text }));
        };
        let automaton = match self.automata.entry(action) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => new.insert(Automaton::new(arguments.compact(), spec.limits())?),
        };
        let mut tables = Cache::new();
        let mut at = Lazy::new(automaton, &mut tables).start()?;
        for (place, &byte) in text.as_bytes().iter().enumerate() {
            at = Lazy::new(automaton, &mut tables).step(at, byte)?;
            if at == ConfigurationId::DEAD {
                let end = text.ceil_char_boundary(place + 1);
                let found = text.get(..end).unwrap_or_default().to_owned();
                return Ok(Some(WrongArguments { pointer: pointer_at(&text, place), found }));
            }
        }
        match tables.is_accepting(at) {
            true => Ok(None),
            false => Ok(Some(WrongArguments { pointer: String::new(), found: text })),
        }
    }
}

/// Returns the JSON Pointer of the innermost value of a compact JSON text that contains the byte at `offset`.
fn pointer_at(text: &str, offset: usize) -> String {
    enum Open {
        Object(Option<String>),
        Array(usize),
    }
    let bytes = text.as_bytes();
    let mut open: Vec<Open> = Vec::new();
    let mut at = 0;
    while at < offset {
        match bytes[at] {
            b'{' => open.push(Open::Object(None)),
            b'[' => open.push(Open::Array(0)),
            b'}' | b']' => {
                open.pop();
            }
            b',' => match open.last_mut() {
                Some(Open::Array(index)) => *index += 1,
                Some(Open::Object(key)) => *key = None,
                None => {}
            },
            b'"' => {
                let start = at;
                at += 1;
                while at < bytes.len() && bytes[at] != b'"' {
                    at += if bytes[at] == b'\\' { 2 } else { 1 };
                }
                if at >= offset {
                    break;
                }
                if let Some(Open::Object(key @ None)) = open.last_mut() {
                    *key = text.get(start..=at).and_then(|name| serde_json::from_str(name).ok());
                }
            }
            _ => {}
        }
        at += 1;
    }
    let mut pointer = String::new();
    for part in &open {
        match part {
            Open::Object(Some(key)) => {
                pointer.push_str(&format!("/{}", key.replace('~', "~0").replace('/', "~1")))
            }
            Open::Object(None) => {}
            Open::Array(index) => pointer.push_str(&format!("/{index}")),
        }
    }
    pointer
}

#[cfg(test)]
mod tests {
    use super::pointer_at;

    #[test]
    fn a_pointer_leads_to_the_innermost_value() {
        let text = r#"{"a":[1,{"b/c":"x\"y"}],"d":2}"#;
        for (part, pointer) in [
            ("1", "/a/0"),
            ("x", "/a/1/b~1c"),
            ("y", "/a/1/b~1c"),
            ("2", "/d"),
            ("\"d", ""),
            ("{\"b", "/a/1"),
        ] {
            assert_eq!(pointer_at(text, text.find(part).unwrap()), pointer, "{part}");
        }
    }
}
