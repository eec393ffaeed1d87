//! The line of open tools in answers of the guard.

use super::Guard;
use grammata::diagnostic::excerpt;
use serde_json::Value;

/// Maximum number of characters of the names in the line. The client gets all names from `tools/list`.
const MOST_SHOWN: usize = 160;

impl Guard<'_> {
    /// Returns a line with the names of the tools that may be called now, by the client's names. An own tool is followed
    /// by the values that its first argument may have, if they are listed. Names that make the line too long are
    /// counted.
    pub(super) fn open_line(&self) -> String {
        let catalogue = self.catalogue.as_ref();
        let is_there = |tool: &&str| catalogue.is_none_or(|catalogue| catalogue.has(tool));
        let open = self.rules.open();
        let tools = open.iter().filter_map(|open| self.names.on_server(&open.tool)).filter(is_there);
        let mut names: Vec<String> = tools.map(excerpt).collect();
        for own in self.rules.own() {
            let name = format!("{}{}", self.options.prefix, own.name);
            names.push(match values(&own.schema) {
                Some(values) => format!("{name} ({})", shown(&values)),
                None => name,
            });
        }
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let mut line = match names.is_empty() {
            true => "No tool is open now.".to_owned(),
            false => format!("Open now: {}.", shown(&names)),
        };
        if self.rules.may_end() {
            line.push_str(" The plan may end here.");
        }
        line
    }
}

/// Returns the values that the first argument of a schema may have; `None` if they are not listed.
fn values(schema: &Value) -> Option<Vec<&str>> {
    let (_, first) = schema.get("properties")?.as_object()?.iter().next()?;
    Some(first.get("enum")?.as_array()?.iter().filter_map(Value::as_str).collect())
}

/// Returns names with commas between them: as many as [`MOST_SHOWN`] allows, at least one, and the number of the others.
fn shown(names: &[&str]) -> String {
    let mut text = String::new();
    for (at, name) in names.iter().enumerate() {
        if at > 0 && text.chars().count() + name.chars().count() > MOST_SHOWN {
            return format!("{text} and {} more", names.len() - at);
        }
        text.push_str(if at > 0 { ", " } else { "" });
        text.push_str(name);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lists_are_counted() {
        let long = "x".repeat(MOST_SHOWN);
        for (names, expected) in [
            (vec![], String::new()),
            (vec!["a", "b"], "a, b".to_owned()),
            (vec![long.as_str()], long.clone()),
            (vec![long.as_str(), "b", "c"], format!("{long} and 2 more")),
            (vec!["a", long.as_str()], "a and 1 more".to_owned()),
        ] {
            assert_eq!(shown(&names), expected);
        }
    }
}
