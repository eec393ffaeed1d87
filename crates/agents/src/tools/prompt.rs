//! Documentation of tools for a prompt, at four levels of detail.
//!
//! The automaton already guarantees the punctuation of JSON, types and existing names, so a prompt need not explain
//! them. The levels differ in how much they explain anyway (`compressed` is from the paper's section on compressed
//! prompts). Descriptions are untrusted text. They are written so that none of their text looks like the start of
//! another entry. Encode the documentation without special tokens, or break their names with
//! [`without_special_tokens`].

use super::set::Tool;
use serde_json::{Map, Value, json};

/// The level of detail of a tool's documentation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Level {
    /// The name only.
    Names,
    /// The number of the entry, the name, the first sentence of the description, and a line for each parameter.
    #[default]
    Compressed,
    /// The names of the tool and its parameters, the parameters' types, and the first sentence of the tool's
    /// description, on one line.
    Signature,
    /// Name, description and schema of the arguments as JSON.
    Full,
}

/// The maximum number of enumerated values of a parameter that are shown.
const VALUES: usize = 8;

impl Tool {
    /// Returns the documentation of the tool as one entry. Only [`Level::Compressed`] shows `number`, the number of the
    /// entry.
    pub fn documentation(&self, level: Level, number: usize) -> String {
        let purpose = first_sentence(&self.description);
        match level {
            Level::Names => line(&self.name),
            Level::Signature => {
                let arguments = self.arguments.value();
                let parameters: Vec<String> = parameters(&arguments).map(|one| one.signature()).collect();
                let parameters = parameters.join(", ");
                let gap = if purpose.is_empty() { "" } else { ": " };
                format!("{}({parameters}){gap}{purpose}", line(&self.name))
            }
            Level::Compressed => {
                let mut text = format!("{number}. {}", line(&self.name));
                if !purpose.is_empty() {
                    text.push_str(&format!("\nDescription: {purpose}"));
                }
                let arguments = self.arguments.value();
                let lines: Vec<String> = parameters(&arguments).map(|one| one.line()).collect();
                if !lines.is_empty() {
                    text.push_str(&format!("\nParameters:\n{}", lines.join("\n")));
                }
                text
            }
            Level::Full => {
                let (name, description) = (json!(self.name), json!(self.description));
                let parameters = self.arguments.text();
                format!(r#"{{"name":{name},"description":{description},"parameters":{parameters}}}"#)
            }
        }
    }
}

fn parameters(arguments: &Value) -> impl Iterator<Item = Shown<'_>> {
    let properties = arguments.get("properties").and_then(Value::as_object);
    let required = arguments.get("required").and_then(Value::as_array);
    let is_required = move |name: &str| required.is_some_and(|names| names.iter().any(|other| other == name));
    properties.into_iter().flatten().map(move |(name, schema)| Shown {
        name,
        schema: resolved(arguments, schema),
        own: schema,
        required: is_required(name),
    })
}

/// Returns the target of a schema's reference, after one step; the schema itself if it has no reference, or none with a
/// target.
fn resolved<'s>(arguments: &'s Value, schema: &'s Value) -> &'s Value {
    let reference = schema.get("$ref").and_then(Value::as_str).and_then(|text| text.strip_prefix('#'));
    reference.and_then(|pointer| arguments.pointer(pointer)).unwrap_or(schema)
}

/// A parameter to document.
struct Shown<'t> {
    name: &'t str,
    schema: &'t Value,
    own: &'t Value,
    required: bool,
}

impl Shown<'_> {
    /// Returns `a: int`, or `a?: int` if the parameter is optional.
    fn signature(&self) -> String {
        let mark = if self.required { "" } else { "?" };
        format!("{}{mark}: {}", line(self.name), kind(self.schema))
    }

    /// Returns a line such as `- a: the amount. (Example: 5) (Optional).`
    fn line(&self) -> String {
        let description =
            [self.own, self.schema].into_iter().find_map(|schema| schema.get("description")?.as_str());
        let mut text = format!("- {}: {}", line(self.name), first_sentence(description.unwrap_or_default()));
        if let Some(values) = self.schema.get("enum").and_then(Value::as_array) {
            let shown: Vec<String> = values.iter().take(VALUES).map(plain).collect();
            let more = if values.len() > VALUES { ", …" } else { "" };
            text.push_str(&format!(" One of {}{more}.", shown.join(", ")));
        }
        let example = ["example", "default"].iter().find_map(|keyword| self.schema.get(*keyword));
        let first = || self.schema.get("examples").and_then(|list| list.get(0));
        if let Some(example) = example.or_else(first).filter(|example| !example.is_null()) {
            text.push_str(&format!(" (Example: {})", plain(example)));
        }
        if !self.required {
            text.push_str(" (Optional)");
        }
        let text = text.trim_end().to_owned();
        if text.ends_with(['.', ':']) { text } else { text + "." }
    }
}

/// Writes a value, without quotes if the value is a text.
fn plain(value: &Value) -> String {
    line(&value.as_str().map_or_else(|| value.to_string(), str::to_owned))
}

/// Returns the type of a schema in Python's terms.
fn kind(schema: &Value) -> String {
    let word = |name: &str| match name {
        "integer" => "int",
        "number" => "float",
        "string" => "str",
        "boolean" => "bool",
        "array" => "list",
        "object" => "dict",
        "null" => "None",
        _ => "any",
    };
    match schema.get("type") {
        Some(Value::String(name)) => word(name).to_owned(),
        Some(Value::Array(names)) => {
            names.iter().filter_map(Value::as_str).map(word).collect::<Vec<_>>().join(" | ")
        }
        _ if schema.get("enum").is_some() => "str".to_owned(),
        _ => "any".to_owned(),
    }
}

/// Writes a text on one line, without control characters.
fn line(text: &str) -> String {
    let words: Vec<String> = text
        .split(char::is_whitespace)
        .map(|word| word.chars().filter(|c| !c.is_control()).collect::<String>())
        .filter(|word| !word.is_empty())
        .collect();
    words.join(" ")
}

/// Returns the first sentence of a text, on one line.
fn first_sentence(text: &str) -> String {
    let text = line(text);
    let ends =
        text.char_indices().filter(|(_, c)| ['.', '!', '?'].contains(c)).map(|(at, c)| at + c.len_utf8());
    let is_end = |end: &usize| {
        text[*end..].starts_with(' ') && text[*end..].trim_start().starts_with(char::is_uppercase)
    };
    let end = ends.into_iter().find(is_end).unwrap_or(text.len());
    text[..end].to_owned()
}

/// Breaks the given names of special tokens in a text, if they have at least two characters, by a zero-width space
/// (U+200B) after their first character. Use it for text in a prompt that is encoded as a whole.
pub fn without_special_tokens<'n>(text: &str, names: impl IntoIterator<Item = &'n str>) -> String {
    let mut made = text.to_owned();
    for name in names.into_iter().filter(|name| name.chars().count() > 1) {
        let first = name.chars().next().map_or(0, char::len_utf8);
        let mut broken = String::new();
        let mut rest = made.as_str();
        while let Some(at) = rest.find(name) {
            let (before, after) = rest.split_at(at + first);
            broken.push_str(before);
            broken.push('\u{200B}');
            // the name may occur again within itself
            rest = after;
        }
        broken.push_str(rest);
        made = broken;
    }
    made
}

/// Returns whether a text, for instance one that a model rewrote, is documentation of a tool at [`Level::Compressed`]:
/// the first line ends with the tool's name, and the lines that begin with `- ` have each parameter exactly once, as `-
/// p:`, and no others.
pub fn is_documentation_of(text: &str, tool: &Tool) -> bool {
    let mut lines = text.lines();
    let names_tool = lines.next().is_some_and(|first| first.ends_with(&line(&tool.name)));
    let empty = Map::new();
    let arguments = tool.arguments.value();
    let properties = arguments.get("properties").and_then(Value::as_object).unwrap_or(&empty);
    let mut left: Vec<String> = properties.keys().map(|name| line(name)).collect();
    for parameter in lines.filter_map(|text| text.strip_prefix("- ")) {
        let Some(at) = left
            .iter()
            .position(|name| parameter.strip_prefix(name.as_str()).is_some_and(|rest| rest.starts_with(':')))
        else {
            return false;
        };
        left.swap_remove(at);
    }
    names_tool && left.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_special_tokens_are_broken_everywhere() {
        for (text, names) in [
            ("a<|x|>b<|x|>", &["<|x|>"][..]),
            ("<<<", &["<<"]),
            ("ababab", &["abab"]),
            ("aéaéa", &["aéa", "éa"]),
            ("x", &["x", ""]),
        ] {
            let broken = without_special_tokens(text, names.iter().copied());
            let survivors = names.iter().filter(|name| name.chars().count() > 1 && broken.contains(**name));
            assert_eq!(survivors.count(), 0, "{text}: {broken:?}");
            assert_eq!(broken.replace('\u{200B}', ""), text);
        }
    }
}
