//! Catalogues of tools.

use super::errors;
use super::functions::function_names;
use super::tool::{Template, Tool};
use grammata::diagnostic::{Notation, Source};
use grammata::error::Result;
use grammata::limits::{LimitKind, Limits};
use std::collections::HashMap;

/// Tools in a fixed order, with distinct ids.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Catalogue {
    tools: Vec<Tool>,
    functions: Vec<String>,
    by_id: HashMap<String, usize>,
}

impl Catalogue {
    /// Creates a catalogue of tools.
    ///
    /// # Errors
    /// An id is empty or occurs twice, or there are more tools than `limits.catalogue_tools`.
    pub fn new(tools: Vec<Tool>, limits: &Limits) -> Result<Catalogue> {
        let mut catalogue = Catalogue::default();
        tools
            .into_iter()
            .enumerate()
            .try_for_each(|(index, tool)| catalogue.push(tool, index + 1, limits))?;
        catalogue.functions = function_names(&catalogue.tools);
        Ok(catalogue)
    }

    /// Parses JSON lines, one [`Tool`] each. Other members and empty lines are ignored.
    ///
    /// # Errors
    /// The text is longer than `limits.catalogue_bytes`, a line is not a tool, or [`new`](Catalogue::new) fails. The
    /// place is the line, except for exceeded limits.
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

    /// Creates a catalogue of the 199 plugins of MetaTool (Huang et al. 2023, MIT licence;
    /// `crates/agents/catalogues/metatool`), included in the crate.
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

    /// Returns the tools in order.
    pub fn tools(&self) -> &[Tool] {
        &self.tools
    }

    /// Returns the function name of each tool, used in calls: distinct names of 1 to 64 ASCII letters, digits, `_` and
    /// `-`. Each is the tool's `function`, or otherwise its name, made valid and unique.
    pub fn functions(&self) -> &[String] {
        &self.functions
    }

    /// Returns the index of the tool with the id `id`; `None` if the catalogue has no such tool.
    pub fn index_of(&self, id: &str) -> Option<usize> {
        self.by_id.get(id).copied()
    }

    /// Returns the document of each tool. Tools with equal documents stay separate.
    pub fn documents(&self, template: Template) -> Vec<String> {
        self.tools.iter().map(|tool| template.document(tool)).collect()
    }

    /// Writes the catalogue as JSON lines, which [`from_json_lines`](Catalogue::from_json_lines) parses.
    pub fn to_json_lines(&self) -> String {
        // a tool contains only texts and a JSON value, so serialisation cannot fail
        self.tools
            .iter()
            .filter_map(|tool| serde_json::to_string(tool).ok())
            .map(|line| line + "\n")
            .collect()
    }
}

const TOOL: &str = "a JSON object with `id`, `name` and `description`, and perhaps `function`, `tool`, `category` and \
                    `parameters`";

/// Returns the lines of a text that do not consist of white space only, with their line numbers counted from 1.
pub(super) fn numbered_lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty())
}
