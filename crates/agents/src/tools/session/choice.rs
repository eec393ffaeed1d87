//! The `tool_choice` of requests: whether a turn calls tools, and which tools.

use super::compiled::{CompiledTools, TurnOptions};
use crate::tools::errors;
use crate::tools::format::Choice;
use grammata::error::Result;
use serde_json::Value;

/// Whether a turn calls tools, and which tools it may call.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct ToolChoice {
    /// Whether the turn may, must or must not call tools.
    pub choice: Choice,
    /// The names of the tools that may be called; all if `None`.
    pub tools: Option<Vec<String>>,
}

impl ToolChoice {
    /// Parses the `tool_choice` of OpenAI (`"auto"`, `"required"`, `"none"`, one function or custom tool,
    /// `allowed_tools`) or Anthropic (`{"type": "auto"}`, `any`, `none`, `tool`). A word is also accepted in the other
    /// provider's form.
    ///
    /// # Errors
    /// `tools/tool-choice` if the value has none of these forms.
    pub fn from_json(value: &Value) -> Result<ToolChoice> {
        let wrong = || errors::tool_choice(&value.to_string());
        let word = |word: &str| match word {
            "auto" => Some(Choice::Auto),
            "required" | "any" => Some(Choice::Required),
            "none" => Some(Choice::None),
            _ => None,
        };
        let name = |value: &Value| {
            let name = value["function"]["name"].as_str().or_else(|| value["name"].as_str());
            name.map(str::to_owned).ok_or_else(wrong)
        };
        let kind = value.as_str().or_else(|| value["type"].as_str()).ok_or_else(wrong)?;
        match kind {
            "function" | "tool" | "custom" => {
                Ok(ToolChoice { choice: Choice::Required, tools: Some(vec![name(value)?]) })
            }
            "allowed_tools" => {
                let inner = if value["allowed_tools"].is_object() { &value["allowed_tools"] } else { value };
                let choice = inner["mode"].as_str().and_then(word).ok_or_else(wrong)?;
                let tools = inner["tools"].as_array().ok_or_else(wrong)?;
                Ok(ToolChoice { choice, tools: Some(tools.iter().map(name).collect::<Result<_>>()?) })
            }
            kind => Ok(ToolChoice { choice: word(kind).ok_or_else(wrong)?, tools: None }),
        }
    }

    /// Returns the options of turns over a compiled set: the choice, and the subset of its tools.
    ///
    /// # Errors
    /// Those of [`CompiledTools::subset`].
    pub fn options(&self, tools: &CompiledTools) -> Result<TurnOptions> {
        let names = self.tools.as_ref();
        let subset = names.map(|names| tools.subset(names.iter().map(String::as_str))).transpose()?;
        Ok(TurnOptions { choice: self.choice, subset, ..TurnOptions::default() })
    }
}
