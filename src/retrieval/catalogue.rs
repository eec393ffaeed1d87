//! Tools, and the documents that stand for them in an index.

use super::errors;
use super::functions::function_names;
use crate::diagnostic::{Notation, Source};
use crate::error::Result;
use crate::limits::{LimitKind, Limits};
use serde::{Deserialize, Deserializer, Serialize};
use std::collections::HashMap;

/// A tool as a catalogue describes it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tool {
    /// Names the tool in requests; unique in a catalogue.
    pub id: String,
    /// What a call of the tool names, `get_weather` for instance; if it is empty, [`Catalogue::functions`] makes a name.
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

/// Tools in a fixed order, with distinct ids.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Catalogue {
    tools: Vec<Tool>,
    functions: Vec<String>,
    by_id: HashMap<String, usize>,
}

impl Catalogue {
    /// A catalogue of these tools.
    ///
    /// # Errors
    /// An id is empty or there twice, or there are more tools than `limits.catalogue_tools`.
    pub fn new(tools: Vec<Tool>, limits: &Limits) -> Result<Catalogue> {
        let mut catalogue = Catalogue::default();
        tools
            .into_iter()
            .enumerate()
            .try_for_each(|(index, tool)| catalogue.push(tool, index + 1, limits))?;
        catalogue.functions = function_names(&catalogue.tools);
        Ok(catalogue)
    }

    /// Reads JSON lines, one [`Tool`] each; further members and empty lines are ignored.
    ///
    /// # Errors
    /// The text has more than `limits.catalogue_bytes`, a line is no tool, or [`new`](Catalogue::new) refuses it. The
    /// place is the line.
    pub fn from_json_lines(text: &str, limits: &Limits) -> Result<Catalogue> {
        errors::check_size(text, limits)?;
        let mut catalogue = Catalogue::default();
        let mut read = |(number, line): (usize, &str)| {
            let tool = serde_json::from_str(line).map_err(|e| errors::line("a tool", TOOL, number, &e))?;
            catalogue.push(tool, number, limits)
        };
        let done = numbered_lines(text).try_for_each(&mut read);
        done.map_err(|error| error.in_source(&Source::new(text, Notation::Text)))?;
        catalogue.functions = function_names(&catalogue.tools);
        Ok(catalogue)
    }

    /// The 199 plugins of MetaTool (Huang et al. 2023, MIT licence; `catalogues/metatool`), which come with the crate.
    ///
    /// # Errors
    /// `limits` allow fewer tools or bytes.
    pub fn metatool(limits: &Limits) -> Result<Catalogue> {
        Catalogue::from_json_lines(include_str!("../../catalogues/metatool/tools.jsonl"), limits)
    }

    fn push(&mut self, tool: Tool, line: usize, limits: &Limits) -> Result<()> {
        if self.tools.len() >= limits.catalogue_tools {
            return Err(Limits::exceeded(LimitKind::CatalogueTools, limits.catalogue_tools, "more tools"));
        }
        if tool.id.is_empty() {
            return Err(errors::tool_id("a tool's id is empty", "", line));
        }
        if self.by_id.contains_key(&tool.id) {
            return Err(errors::tool_id("two tools have one id", &tool.id, line));
        }
        self.by_id.insert(tool.id.clone(), self.tools.len());
        self.tools.push(tool);
        Ok(())
    }

    /// The tools, in their order.
    pub fn tools(&self) -> &[Tool] {
        &self.tools
    }

    /// What a call of each tool names: distinct names of 1 to 64 ASCII letters, digits, `_` and `-`. It is the tool's
    /// `function`, or its name, made valid and told apart.
    pub fn functions(&self) -> &[String] {
        &self.functions
    }

    /// The index of the tool with this id.
    pub fn index_of(&self, id: &str) -> Option<usize> {
        self.by_id.get(id).copied()
    }

    /// The document of each tool. Tools with equal documents stay separate.
    pub fn documents(&self, template: Template) -> Vec<String> {
        self.tools.iter().map(|tool| template.document(tool)).collect()
    }

    /// The catalogue as JSON lines, which [`from_json_lines`](Catalogue::from_json_lines) reads back.
    pub fn to_json_lines(&self) -> String {
        // a tool has texts and a JSON value only: it can always be written
        self.tools
            .iter()
            .filter_map(|tool| serde_json::to_string(tool).ok())
            .map(|line| line + "\n")
            .collect()
    }
}

const TOOL: &str = "a JSON object with `id`, `name` and `description`, and perhaps `function`, `tool`, `category` and \
                    `parameters`";

/// Lines with something on them, and their numbers from 1.
pub(super) fn numbered_lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty())
}
