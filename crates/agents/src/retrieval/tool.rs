//! Tools, and the documents that stand for them in an index.

use serde::{Deserialize, Deserializer, Serialize};

/// A tool as a catalogue describes it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tool {
    /// Names the tool in requests; unique in a catalogue.
    pub id: String,
    /// What a call of the tool names, `get_weather` for instance; if it is empty, [`Catalogue::functions`](super::Catalogue::functions) makes a name.
    #[serde(default, deserialize_with = "or_empty", skip_serializing_if = "String::is_empty")]
    pub function: String,
    /// The tool's name as its source writes it: any text.
    pub name: String,
    /// The service or server that the tool is of; empty if none is named.
    #[serde(default, deserialize_with = "or_empty", skip_serializing_if = "String::is_empty")]
    pub tool: String,
    /// The tool's category; empty if none is named.
    #[serde(default, deserialize_with = "or_empty", skip_serializing_if = "String::is_empty")]
    pub category: String,
    /// What the tool does; may be empty.
    #[serde(default, deserialize_with = "or_empty")]
    pub description: String,
    /// JSON Schema of the arguments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parameters: Option<serde_json::Value>,
}

/// An absent text may be written as null.
fn or_empty<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    Ok(Option::<String>::deserialize(deserializer)?.unwrap_or_default())
}

/// What of a tool an index reads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Template {
    /// Category, service, name and description, joined by single spaces, empty ones left out.
    #[default]
    Full,
    /// The description alone, as in the paper.
    Description,
}

impl Template {
    /// The document of a tool: its name where the template gives the empty text.
    pub fn document(self, tool: &Tool) -> String {
        let parts = match self {
            Template::Full => vec![&tool.category, &tool.tool, &tool.name, &tool.description],
            Template::Description => vec![&tool.description],
        };
        let parts: Vec<&str> =
            parts.into_iter().map(String::as_str).filter(|part| !part.is_empty()).collect();
        if parts.is_empty() { tool.name.clone() } else { parts.join(" ") }
    }
}
