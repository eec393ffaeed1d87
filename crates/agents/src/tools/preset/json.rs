//! Requests written as one JSON object.

use super::{ReasoningMode, RequestTag, TagOptions, TagPreset, errors};
use grammata::diagnostic::{Notation, Place, Source};
use grammata::error::Result;
use grammata::limits::Limits;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// The members of a request: those of [`TagOptions`] but its limits, the family and the tools.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TagRequest {
    family: String,
    #[serde(default)]
    tools: Value,
    #[serde(default)]
    tool_choice: Value,
    #[serde(default, deserialize_with = "given")]
    answer: Option<Value>,
    #[serde(default, deserialize_with = "mode")]
    reasoning: ReasoningMode,
    #[serde(default = "yes")]
    parallel_tool_calls: bool,
    #[serde(default)]
    any_order: bool,
    #[serde(default = "yes")]
    exclude_special_tokens: bool,
    #[serde(default)]
    max_whitespace_cnt: Option<u32>,
    #[serde(default)]
    token_markers: bool,
    #[serde(default)]
    exclude_spelled_markers: bool,
}

fn yes() -> bool {
    true
}

/// A member that is present; `null` is a value.
fn given<'de, D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

fn mode<'de, D: Deserializer<'de>>(deserializer: D) -> std::result::Result<ReasoningMode, D::Error> {
    String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
}

impl TagPreset {
    /// Builds the structural tag of a request in JSON, an object with the members `family`, `tools`, `answer`,
    /// `tool_choice`, `reasoning`, `parallel_tool_calls`, `any_order`, `exclude_special_tokens`, `max_whitespace_cnt`,
    /// `token_markers` and `exclude_spelled_markers`. All but `family`, the name of a built-in family, may be left out.
    /// Places of errors and warnings are places in the text.
    ///
    /// ```
    /// use grammata_agents::tools::TagPreset;
    ///
    /// let request = r#"{"family": "qwen_3", "answer": {"type": "integer"}, "reasoning": "disabled",
    ///     "tools": [{"type": "function", "function": {"name": "now"}}]}"#;
    /// let tag = TagPreset::tag_of_request(request, &Default::default())?.tag;
    /// assert_eq!(tag["format"]["type"], "or");
    /// # Ok::<(), grammata::Error>(())
    /// ```
    ///
    /// # Errors
    /// `tools/tag-request` with the place if the text is not such an object; those of
    /// [`TagPreset::structural_tag`]; `limit/exceeded` if it is longer than [`source_bytes`](Limits::source_bytes).
    pub fn tag_of_request(text: &str, limits: &Limits) -> Result<RequestTag> {
        limits.check_source(text)?;
        let request: TagRequest = serde_json::from_str(text).map_err(|cause| {
            let place = Place::LineColumn { line: cause.line(), column: cause.column() };
            errors::request(place, &cause.to_string())
        })?;
        let options = TagOptions::default()
            .tool_choice(request.tool_choice)
            .answer(request.answer)
            .reasoning(request.reasoning)
            .parallel_tool_calls(request.parallel_tool_calls)
            .any_order(request.any_order)
            .exclude_special_tokens(request.exclude_special_tokens)
            .max_whitespace_cnt(request.max_whitespace_cnt)
            .token_markers(request.token_markers)
            .exclude_spelled_markers(request.exclude_spelled_markers)
            .limits(limits.clone());
        let source = Source::new(text, Notation::Json);
        let made = TagPreset::named(&request.family)?.structural_tag(&request.tools, &options);
        let mut made = made.map_err(|error| {
            let member = match error.code() {
                "tools/tag-tools" | "tools/form" | "tools/definition" | "tools/left-out" => "/tools",
                "tools/tag-choice" | "tools/unknown-tool" | "tools/no-tools" => "/tool_choice",
                _ => "/answer",
            };
            error.map(|diagnostic| errors::inside(diagnostic, member)).in_source(&source)
        })?;
        for (warnings, member) in [
            (&mut made.warnings, "/tools"),
            (&mut made.tool_warnings, "/tools"),
            (&mut made.answer_warnings, "/answer"),
        ] {
            warnings.iter_mut().for_each(|warning| *warning = errors::inside(warning.clone(), member));
            source.locate(warnings);
        }
        Ok(made)
    }
}
