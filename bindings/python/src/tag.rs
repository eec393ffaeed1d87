//! Structural tags of requests, by families of models.

use crate::arguments;
use crate::errors::{BORDER, Raise};
use grammata_agents::tools::{ReasoningMode, TagOptions, TagPreset};
use grammata_python_border::choice;
use grammata_python_border::ending::PythonCall;
use grammata_python_border::forking::detach;
use grammata_python_border::from_json;
use pyo3::exceptions::PyUserWarning;
use pyo3::prelude::*;
use serde_json::Value;
use std::ffi::CString;

/// The structural tag of a request to a model family, as a dict for `Compiler.compile_structural_tag`.
///
/// `tools` and `tool_choice` are those of a chat completion. `reasoning` is "enabled", "disabled" or "auto": whether
/// the model reasons first. With `parallel_tool_calls=False` there is at most one call. Text and reasoning cannot
/// contain the family's special tokens unless `exclude_special_tokens` is false. `max_whitespace_cnt` bounds white
/// space in arguments and in the answer, in characters. With `token_markers`, the family's markers are matched by their
/// tokens. With `answer`, a JSON Schema, the output is calls or an answer in JSON by this schema, without free text. A
/// tool whose arguments the family's style cannot write is left out, with a `UserWarning`. What schemas say and masks do
/// not enforce is among the `warnings` of the compiled tag.
///
/// >>> import grammata
/// >>> tools = [{"type": "function", "function": {"name": "now"}}]
/// >>> tag = grammata.structural_tag("hermes", tools, tool_choice="required")
/// >>> tag["format"]["tags"][0]["begin"]
/// '<tool_call>\n{"name": "now", "arguments": '
#[pyfunction]
#[pyo3(signature = (family, tools=None, *, tool_choice=None, reasoning="enabled", parallel_tool_calls=true, any_order=false,
    exclude_special_tokens=true, max_whitespace_cnt=None, token_markers=false, answer=None, limits=None))]
#[allow(clippy::too_many_arguments)] // each is a keyword in Python
pub(crate) fn structural_tag<'py>(
    py: Python<'py>,
    family: &str,
    tools: Option<&Bound<'py, PyAny>>,
    tool_choice: Option<&Bound<'py, PyAny>>,
    reasoning: &str,
    parallel_tool_calls: bool,
    any_order: bool,
    exclude_special_tokens: bool,
    max_whitespace_cnt: Option<u32>,
    token_markers: bool,
    answer: Option<&Bound<'py, PyAny>>,
    limits: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let value = |what, given: Option<&Bound<'py, PyAny>>| {
        given.map_or(Ok(Value::Null), |given| BORDER.json(what, given))
    };
    let caps = arguments::limits(limits)?;
    let mode = reasoning.parse::<ReasoningMode>();
    let mode = mode.map_err(|_| choice("reasoning", reasoning, "enabled, disabled, auto")).raise(py)?;
    let options = TagOptions::default()
        .tool_choice(value("`tool_choice`", tool_choice)?)
        .reasoning(mode)
        .parallel_tool_calls(parallel_tool_calls)
        .any_order(any_order)
        .exclude_special_tokens(exclude_special_tokens)
        .max_whitespace_cnt(max_whitespace_cnt)
        .token_markers(token_markers)
        .answer(answer.map(|answer| BORDER.json("`answer`", answer)).transpose()?)
        .limits(caps);
    let tools = value("`tools`", tools)?;
    let made = detach(py, || TagPreset::named(family)?.structural_tag(&tools, &options)).raise(py)?;
    // filters of warnings are Python code
    let _call = PythonCall::begin(py);
    for warning in made.warnings {
        let text = CString::new(warning.to_string())?;
        PyErr::warn(py, &py.get_type::<PyUserWarning>(), &text, 1)?;
    }
    from_json(py, &made.tag)
}
