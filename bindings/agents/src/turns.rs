//! The Python class `Turns`: turns of a model that call tools, as texts in a call format.

use crate::border::{BORDER, Raise, value};
use crate::errors;
use grammata::diagnostic::Diagnostic;
use grammata::mask::{CompiledGrammar, Compiler};
use grammata::vocabulary::{TokenId, VocabularyBuilder};
use grammata::{Limits, Result};
use grammata_agents::tools::{Call, CallFormat, CallGrammar, Choice, GrammarOptions, Markers, ToolSet, Turn};
use grammata_python_border::forking::detach;
use grammata_python_border::{choice, from_json};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use serde_json::Value;
use std::sync::Arc;

/// The arguments of `Tools.turns`.
pub(crate) struct TurnSettings<'a> {
    pub(crate) call_format: &'a str,
    pub(crate) choice: &'a str,
    pub(crate) names: Vec<String>,
    pub(crate) min_calls: u32,
    pub(crate) max_calls: Option<u32>,
}

/// The language of turns that call tools in a format, from `Tools.turns`.
///
/// >>> import grammata_agents
/// >>> tools = grammata_agents.Tools([{"name": "add", "parameters": {
/// ...     "type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}}])
/// >>> turns = tools.turns("hermes")
/// >>> turn = turns.read('<tool_call>\n{"name": "add", "arguments": {"a": 1}}\n</tool_call>')
/// >>> turn.calls[0].name, turn.calls[0].arguments
/// ('add', {'a': 1})
#[pyclass(frozen, module = "grammata_agents")]
pub(crate) struct Turns {
    set: Arc<ToolSet>,
    format: CallFormat,
    language: CallGrammar,
    compiled: CompiledGrammar,
}

impl Turns {
    /// Builds the grammar of the turns, and compiles it for a vocabulary of single bytes.
    ///
    /// # Errors
    /// `python/unknown-name` and `python/option` for an unknown format or choice; `tools/…` of the format and its
    /// grammar; exceeded limits.
    pub(crate) fn new(set: Arc<ToolSet>, settings: TurnSettings<'_>, limits: &Limits) -> Result<Turns> {
        let TurnSettings { call_format, choice, names, min_calls, max_calls } = settings;
        let format = match CallFormat::named(call_format) {
            Some(format) => format,
            None if call_format.contains('=') => CallFormat::from_toml(call_format)?,
            None => return Err(errors::unknown("call format", call_format, CallFormat::names())),
        };
        let choice = match choice {
            "auto" => Choice::Auto,
            "required" => Choice::Required,
            "none" => Choice::None,
            _ => return Err(self::choice("choice", choice, "auto, required, none")),
        };
        let options = GrammarOptions::default()
            .choice(choice)
            .tools(names)
            .min_calls(min_calls)
            .max_calls(max_calls.map(|most| most.max(min_calls)))
            .markers(Markers::Text)
            .schema(GrammarOptions::arguments(limits.clone()));
        let language = format.grammar(&set, &options)?;
        let end = TokenId::new(256);
        let bytes =
            VocabularyBuilder::from_tokens((0..=255_u8).map(|byte| [byte])).special(end, "<end>").eos([end]);
        let compiler = Compiler::new(Arc::new(bytes.build()?)).limits(limits.clone()).without_token_bounds();
        let compiled = compiler.compile(&language.grammar)?;
        Ok(Turns { set, format, language, compiled })
    }

    fn parsed(&self, text: &str) -> Result<Turn> {
        let mut matcher = self.compiled.matcher();
        if matcher.accept_bytes(text.as_bytes()).is_err() || !matcher.is_accepting() {
            matcher.reset();
            let explanation = matcher.explain(text.as_bytes())?;
            let place = text.floor_char_boundary(explanation.position());
            let found: String = text[place..].chars().take(40).collect();
            let found = if found.is_empty() { "the end of the text".to_owned() } else { found };
            let error = errors::rejected(
                "tools/turn",
                "the text is no turn",
                &found,
                &explanation.expected_text(),
                "write a turn in the call format, with arguments of the schemas",
            );
            return Err(error.or_at(&grammata::Place::Byte(place)));
        }
        self.format.read(text, &self.set)
    }
}

/// Reads a call from Python. The arguments are a dict; `None` means no arguments.
pub(crate) fn call(name: &str, arguments: Option<&Bound<'_, PyAny>>) -> PyResult<Call> {
    let tool = name.to_owned();
    let Some(arguments) = arguments else { return Ok(Call { tool, arguments: Default::default() }) };
    match BORDER.json("the arguments", arguments)? {
        Value::Object(arguments) => Ok(Call { tool, arguments }),
        _ => Err(errors::object("the arguments of a call")).raise(arguments.py()),
    }
}

/// Reads a call from Python: a dict with `name` and `arguments`, or an object with these attributes, such as a
/// `ToolCall`.
fn written_call(object: &Bound<'_, PyAny>) -> PyResult<Call> {
    match object.cast::<PyDict>() {
        Ok(members) => {
            let name: String = members.as_any().get_item("name")?.extract()?;
            call(&name, members.get_item("arguments")?.as_ref())
        }
        Err(_) => {
            let name: String = object.getattr("name")?.extract()?;
            call(&name, Some(&object.getattr("arguments")?))
        }
    }
}

#[pymethods]
impl Turns {
    /// The grammar in human-readable notation, as `grammata tools grammar --show` writes it. Special tokens are written
    /// as their names.
    #[getter]
    fn grammar(&self, py: Python<'_>) -> String {
        detach(py, || self.language.grammar.to_string())
    }

    /// The names of the tools that can be called.
    #[getter]
    fn names(&self) -> Vec<String> {
        self.language.tools.clone()
    }

    /// The tools that cannot be called in the format, with the reasons.
    #[getter]
    fn refused<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let refused = PyDict::new(py);
        for (name, reason) in &self.language.refused {
            let reason: &Diagnostic = reason;
            refused.set_item(name, BORDER.warnings(py, std::slice::from_ref(reason))?.pop())?;
        }
        Ok(refused)
    }

    /// Checks a text and reads its calls. A text that is not a turn raises `RejectedError` with the byte of its first
    /// wrong character and the text that is allowed there.
    #[pyo3(signature = (text, /))]
    fn read<'py>(&self, py: Python<'py>, text: &str) -> PyResult<Bound<'py, PyAny>> {
        let turn = detach(py, || self.parsed(text)).raise(py)?;
        let calls = turn.calls.into_iter().map(|call| {
            let arguments = from_json(py, &Value::Object(call.arguments))?;
            value(py, "ToolCall", (call.tool, arguments))
        });
        let calls = PyTuple::new(py, calls.collect::<PyResult<Vec<_>>>()?)?;
        value(py, "Turn", (turn.text, calls, turn.after))
    }

    /// Writes a turn: a text, and after it calls, which are `ToolCall` objects or dicts with `name` and `arguments`.
    #[pyo3(signature = (calls, /, *, text=""))]
    fn render(&self, py: Python<'_>, calls: Vec<Bound<'_, PyAny>>, text: &str) -> PyResult<String> {
        let calls = calls.iter().map(written_call).collect::<PyResult<Vec<_>>>()?;
        let between = vec![String::new(); calls.len().saturating_sub(1)];
        let turn = Turn { text: text.to_owned(), calls, between, after: String::new() };
        detach(py, || self.format.render(&turn, &self.set)).raise(py)
    }

    fn __repr__(&self) -> String {
        format!("<grammata_agents.Turns of {} tools>", self.language.tools.len())
    }
}
