//! Reads catalogues and requests from arguments.

use crate::args::source;
use crate::io::errors;
use clap::ValueEnum;
use grammata::error::{Error, Result};
use grammata::limits::Limits;
use grammata_agents::retrieval::readers::{self, ToolSet};
use grammata_agents::retrieval::requests::Request;
use grammata_agents::retrieval::{Catalogue, Template, Tool};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// The tools that are searched.
#[derive(Debug, clap::Args)]
pub struct CatalogueArgs {
    /// Tools as JSON lines with id, name, description and, perhaps, function, tool, category, parameters [default: the 199
    /// plugins of MetaTool]
    #[arg(long, value_name = "FILE", help_heading = "Tools")]
    pub catalogue: Option<PathBuf>,
    /// Tools and requests as ToolBench has them: a JSON list of objects with api_list, query and `relevant APIs`
    #[arg(
        hide_short_help = true,
        long,
        value_name = "FILE",
        conflicts_with = "catalogue",
        help_heading = "Tools"
    )]
    pub toolbench: Option<PathBuf>,
    /// Tools and requests as ToolRet has them: JSON lines with id, query, labels (id, doc, relevance)
    #[arg(hide_short_help = true, long, value_name = "FILE", conflicts_with_all = ["catalogue", "toolbench"], help_heading = "Tools")]
    pub toolret: Option<PathBuf>,
    /// The text of a tool that is indexed
    #[arg(hide_short_help = true, long, value_enum, default_value_t = DocumentTemplate::Full, value_name = "TEMPLATE", help_heading = "Tools")]
    pub template: DocumentTemplate,
    /// Keep only lines of the catalogue and of the requests in which this member is missing or has one of these values;
    /// may be repeated
    #[arg(hide_short_help = true, long = "where", value_name = "MEMBER=VALUE,…", value_parser = source::name_and_value, conflicts_with_all = ["toolbench", "toolret"], help_heading = "Tools")]
    pub pairs: Vec<(String, String)>,
}

/// What is indexed of a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum DocumentTemplate {
    /// Category, service, name and description
    Full,
    /// Only the description
    Description,
}

impl From<DocumentTemplate> for Template {
    fn from(template: DocumentTemplate) -> Template {
        match template {
            DocumentTemplate::Full => Template::Full,
            DocumentTemplate::Description => Template::Description,
        }
    }
}

impl CatalogueArgs {
    /// Returns whether a file with tools is named.
    pub(super) fn is_named(&self) -> bool {
        self.catalogue.is_some() || self.toolbench.is_some() || self.toolret.is_some()
    }

    /// Reads the tools of the named file, and the requests if they are in the same file. If no file is named, the tools
    /// are the plugins of MetaTool. `pairs` applies to `catalogue` only.
    pub(super) fn load(&self, limits: &Limits) -> Result<ToolSet> {
        let in_file = |path: &Path, error: Error| error.in_file(&source::name_of(path));
        if let Some(path) = &self.toolbench {
            return readers::toolbench(&text(path, limits)?, limits).map_err(|e| in_file(path, e));
        }
        if let Some(path) = &self.toolret {
            return readers::toolret(&text(path, limits)?, limits).map_err(|e| in_file(path, e));
        }
        let Some(path) = &self.catalogue else {
            return Ok(ToolSet { catalogue: Catalogue::metatool(limits)?, requests: Vec::new() });
        };
        let kept = kept_lines(&text(path, limits)?, &self.pairs);
        let catalogue = Catalogue::from_json_lines(&kept, limits).map_err(|e| in_file(path, e))?;
        Ok(ToolSet { catalogue, requests: Vec::new() })
    }
}

/// Reads the requests of a file, except the lines that `pairs` exclude.
///
/// # Errors
/// The file cannot be read, exceeds `limits.catalogue_bytes`, is not UTF-8, or has an invalid line.
pub fn requests(path: &Path, pairs: &[(String, String)], limits: &Limits) -> Result<Vec<Request>> {
    let kept = kept_lines(&text(path, limits)?, pairs);
    Request::from_json_lines(&kept, limits).map_err(|error| error.in_file(&source::name_of(path)))
}

/// Returns the callable tools of a report that `grammata --output-format json tools list` wrote; `None` for any other
/// text.
pub(super) fn listed(text: &str) -> Option<Vec<Tool>> {
    let report: Value = serde_json::from_str(text).ok()?;
    report.get("command").filter(|command| *command == "tools list")?;
    let is_callable = |tool: &&Value| tool.get("refusal").is_none_or(Value::is_null);
    let text =
        |tool: &Value, name: &str| tool.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    let tools = report.get("tools")?.as_array()?.iter().filter(is_callable);
    let tools = tools.map(|tool| Tool {
        name: text(tool, "name"),
        description: text(tool, "description"),
        parameters: tool.get("arguments").cloned(),
        ..Tool::default()
    });
    Some(tools.collect())
}

fn text(path: &Path, limits: &Limits) -> Result<String> {
    let bytes = source::read(path, limits.catalogue_bytes)?;
    String::from_utf8(bytes).map_err(|e| errors::not_utf8(path, e.utf8_error().valid_up_to()))
}

/// Returns the text with an empty line for each line that a pair excludes, so that lines keep their numbers. Lines that
/// are not JSON objects are kept: their reader reports them.
fn kept_lines(text: &str, pairs: &[(String, String)]) -> String {
    if pairs.is_empty() {
        return text.to_owned();
    }
    let keeps = |line: &str| {
        let Ok(Value::Object(members)) = serde_json::from_str(line) else { return true };
        pairs.iter().all(|(member, values)| match members.get(member) {
            None => true,
            Some(Value::String(found)) => values.split(',').any(|value| value == found),
            Some(found) => {
                let found = found.to_string();
                values.split(',').any(|value| value == found)
            }
        })
    };
    text.lines().map(|line| if keeps(line) { format!("{line}\n") } else { "\n".to_owned() }).collect()
}
