//! The Python class `Tools`: sets of tools, read from the documents that describe them.

use crate::border::{BORDER, Raise, file, locate, value};
use crate::definitions::{definition, names};
use crate::errors;
use crate::turns::{TurnSettings, Turns, call};
use grammata::diagnostic::Diagnostic;
use grammata::{Limits, Result};
use grammata_agents::tools::{
    Binding, Document, GrammarOptions, Level, ReadOptions, Severity, Tool, ToolSet, read,
};
use grammata_python_border::forking::detach;
use grammata_python_border::{choice, from_json};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use serde_json::Value;
use std::path::PathBuf;
use std::sync::Arc;

/// The tools of documents: OpenAPI, MCP's `tools/list`, declarations for OpenAI, Anthropic, Gemini, BFCL or ToolBench,
/// or Python source. Each document is a text, or an object such as `json.loads` returns; its kind is recognised.
///
/// `labels` qualify names that several documents have. `hidden` are parameters that the host fills in. `server`
/// resolves relative addresses. With `strict`, repairs of documents are errors. `open_objects` allows undeclared
/// members; `grouped` groups arguments of operations by their place in the request. A tool that cannot be called is
/// kept with the reason.
///
/// >>> import grammata_agents
/// >>> tools = grammata_agents.Tools([{"type": "function", "function": {"name": "add", "parameters": {
/// ...     "type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}}}])
/// >>> tools.check("add", {"a": 1})
/// >>> try:
/// ...     tools.check("add", {"a": "one"})
/// ... except grammata_agents.RejectedError as error:
/// ...     print(error.code, error.place)
/// tools/call-arguments #/arguments/a
#[pyclass(frozen, module = "grammata_agents")]
pub(crate) struct Tools {
    pub(crate) set: Arc<ToolSet>,
    texts: Vec<String>,
    files: Vec<String>,
    limits: Limits,
}

/// Texts of documents with their labels, and, for documents read from files, the names of the files.
struct Documents {
    texts: Vec<String>,
    labels: Vec<String>,
    files: Vec<String>,
}

impl Tools {
    fn made(documents: Documents, options: &ReadOptions) -> Result<Tools> {
        let Documents { texts, labels, files } = documents;
        let labelled = labels.iter().zip(&texts).map(|(label, text)| Document { label, text });
        let set = read(labelled, options).map_err(|error| match (texts.as_slice(), files.as_slice()) {
            ([text], files) => {
                let error = error.map(|mut diagnostic| {
                    locate(text, [&mut diagnostic]);
                    diagnostic
                });
                files.first().map_or(error.clone(), |file| error.in_file(file))
            }
            _ => error,
        });
        let mut set = set?;
        set.check(&GrammarOptions::arguments(options.limits.clone()));
        Ok(Tools { set: Arc::new(set), texts, files, limits: options.limits.clone() })
    }

    /// Adds files and lines to diagnostics, each of which has the number of its document.
    fn located(&self, diagnostics: Vec<(usize, Diagnostic)>) -> Vec<Diagnostic> {
        let located = diagnostics.into_iter().map(|(document, mut diagnostic)| {
            if let Some(text) = self.texts.get(document) {
                locate(text, [&mut diagnostic]);
            }
            match self.files.get(document) {
                Some(file) => diagnostic.in_file(file.clone()),
                None => diagnostic,
            }
        });
        located.collect()
    }

    fn tool(&self, name: &str) -> Result<&Tool> {
        let known = || self.set.tools().iter().map(|tool| tool.name.as_str());
        self.set.tool(name).ok_or_else(|| errors::unknown("tool", name, known()))
    }

    /// The tools with these names, or, for `None`, all that can be called.
    fn chosen(&self, names: Option<&[String]>) -> Result<Vec<&Tool>> {
        match names {
            Some(names) => names.iter().map(|name| self.tool(name)).collect(),
            None => Ok(self.set.callable().collect()),
        }
    }

    fn object<'py>(&self, py: Python<'py>, tool: &Tool) -> PyResult<Bound<'py, PyAny>> {
        let request = match &tool.binding {
            Binding::Host => None,
            Binding::Http(http) => Some((&http.method, &http.path, http.server.as_deref())),
        };
        let refusal = tool.refusal.as_deref().map(|reason| (tool.document, reason.clone()));
        let refusal = self.located(refusal.into_iter().collect());
        let refusal = BORDER.warnings(py, &refusal)?.pop();
        let fields = (
            &tool.name,
            &tool.description,
            from_json(py, &tool.arguments.value())?,
            &tool.label,
            tool.place.to_string(),
            request,
            refusal,
        );
        value(py, "Tool", fields)
    }
}

fn level(name: &str) -> Result<Level> {
    match name {
        "names" => Ok(Level::Names),
        "compressed" => Ok(Level::Compressed),
        "signature" => Ok(Level::Signature),
        "full" => Ok(Level::Full),
        _ => Err(choice("detail", name, "names, compressed, signature, full")),
    }
}

#[pymethods]
impl Tools {
    #[new]
    #[pyo3(signature = (*documents, labels=None, hidden=None, server=None, strict=false, open_objects=false,
        grouped=false, limits=None))]
    #[allow(clippy::too_many_arguments)] // each is a keyword in Python
    fn new(
        py: Python<'_>,
        documents: &Bound<'_, PyTuple>,
        labels: Option<Vec<String>>,
        hidden: Option<Vec<String>>,
        server: Option<String>,
        strict: bool,
        open_objects: bool,
        grouped: bool,
        limits: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Tools> {
        let mut texts = Vec::with_capacity(documents.len());
        for document in documents {
            texts.push(match document.extract::<String>() {
                Ok(text) => text,
                Err(_) => BORDER.json("a document of tools", &document)?.to_string(),
            });
        }
        let mut labels = labels.unwrap_or_default();
        let number =
            |place: usize| if place == 0 { "tools".to_owned() } else { format!("tools{}", place + 1) };
        labels.extend((labels.len()..texts.len()).map(number).collect::<Vec<_>>());
        let limits = BORDER.limits(limits)?;
        let options = ReadOptions::default()
            .open_objects(open_objects)
            .grouped(grouped)
            .hidden(hidden.unwrap_or_default())
            .server(server)
            .strict(strict)
            .limits(limits);
        detach(py, || Tools::made(Documents { texts, labels, files: Vec::new() }, &options)).raise(py)
    }

    /// Reads documents from files. The labels are the files' names without their extensions.
    #[staticmethod]
    #[pyo3(signature = (*paths, hidden=None, server=None, strict=false, open_objects=false, grouped=false,
        limits=None))]
    #[allow(clippy::too_many_arguments)] // each is a keyword in Python
    fn from_files(
        py: Python<'_>,
        paths: &Bound<'_, PyTuple>,
        hidden: Option<Vec<String>>,
        server: Option<String>,
        strict: bool,
        open_objects: bool,
        grouped: bool,
        limits: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Tools> {
        let paths: Vec<PathBuf> = paths.iter().map(|path| path.extract()).collect::<PyResult<_>>()?;
        let options = ReadOptions::default()
            .open_objects(open_objects)
            .grouped(grouped)
            .hidden(hidden.unwrap_or_default())
            .server(server)
            .strict(strict)
            .limits(BORDER.limits(limits)?);
        let label =
            |path: &PathBuf| path.file_stem().map_or("tools".into(), |stem| stem.to_string_lossy().into());
        detach(py, || {
            let texts = paths.iter().map(|path| file(path, &options.limits)).collect::<Result<_>>()?;
            let (labels, files) = paths.iter().map(|path| (label(path), path.display().to_string())).unzip();
            Tools::made(Documents { texts, labels, files }, &options)
        })
        .raise(py)
    }

    /// The names of the tools that can be called.
    #[getter]
    fn names(&self) -> Vec<&str> {
        self.set.callable().map(|tool| tool.name.as_str()).collect()
    }

    /// All tools, including those that cannot be called.
    fn list<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        self.set.tools().iter().map(|tool| self.object(py, tool)).collect()
    }

    /// The tool with this name.
    #[pyo3(name = "tool", signature = (name, /))]
    fn named_tool<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        self.object(py, self.tool(name).raise(py)?)
    }

    /// The findings in the documents: errors, each of which makes a tool uncallable, and warnings.
    #[getter]
    fn findings<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let findings = self.set.findings().iter();
        let of = |severity| {
            let chosen = findings.clone().filter(move |finding| finding.severity == severity);
            chosen.map(|finding| (finding.document, finding.diagnostic.clone()))
        };
        let all = of(Severity::Error).chain(of(Severity::Warning)).collect();
        BORDER.warnings(py, &detach(py, || self.located(all)))
    }

    /// The tools with these names, or all that can be called, as the `tools` of a chat completion.
    #[pyo3(signature = (names=None, /))]
    fn definitions<'py>(&self, py: Python<'py>, names: Option<Vec<String>>) -> PyResult<Bound<'py, PyAny>> {
        let tools = self.chosen(names.as_deref()).raise(py)?;
        let sent = self::names(tools.iter().map(|tool| tool.name.as_str()));
        let definitions = tools
            .iter()
            .zip(sent)
            .map(|(tool, name)| definition(&name, &tool.description, tool.arguments.value()));
        from_json(py, &Value::Array(definitions.collect()))
    }

    /// The documentation of tools for a prompt. `detail`: "names", "compressed" (first sentences and a line for each
    /// parameter), "signature" or "full" (the declaration as JSON).
    #[pyo3(signature = (names=None, /, *, detail="compressed"))]
    fn prompt(&self, py: Python<'_>, names: Option<Vec<String>>, detail: &str) -> PyResult<String> {
        let level = level(detail).raise(py)?;
        let tools = self.chosen(names.as_deref()).raise(py)?;
        let entries = tools.iter().enumerate().map(|(at, tool)| tool.documentation(level, at + 1));
        Ok(entries.collect::<Vec<_>>().join("\n"))
    }

    /// Checks the arguments of a call against the schema of its tool. An invalid one raises `RejectedError` with its
    /// place.
    #[pyo3(signature = (name, arguments=None, /))]
    fn check(&self, py: Python<'_>, name: &str, arguments: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        let call = call(name, arguments)?;
        detach(py, || self.set.check_call(&call)).raise(py)
    }

    /// Checks the arguments of a call and returns its HTTP request. Nothing is sent.
    #[pyo3(signature = (name, arguments=None, /))]
    fn request<'py>(
        &self,
        py: Python<'py>,
        name: &str,
        arguments: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let call = call(name, arguments)?;
        let request = detach(py, || self.set.request(&call)).raise(py)?;
        let headers = PyDict::new(py);
        request.headers.iter().try_for_each(|(name, value)| headers.set_item(name, value))?;
        value(py, "Request", (request.method, request.url, headers, request.body))
    }

    /// The given names and, before them, those of the tools that they need. A tool that takes an id needs one that
    /// lists such ids, as derived from the paths and responses of OpenAPI documents.
    #[pyo3(signature = (names, /))]
    fn with_prerequisites(&self, py: Python<'_>, names: Vec<String>) -> PyResult<Vec<String>> {
        let place = |name: &String| {
            let tool = self.tool(name)?;
            self.set
                .tools()
                .iter()
                .position(|known| std::ptr::eq(known, tool))
                .ok_or_else(|| errors::unknown("tool", name, []))
        };
        let places = names.iter().map(place).collect::<Result<Vec<usize>>>().raise(py)?;
        let all = detach(py, || self.set.with_prerequisites(places));
        Ok(all.into_iter().map(|place| self.set.tools()[place].name.clone()).collect())
    }

    /// The turns that call tools in a call format. `call_format` is a name such as "hermes", or a preset in TOML.
    ///
    /// `choice`: "auto" (a turn may call tools), "required" or "none". `names` are the tools that may be called, by
    /// default all.
    #[pyo3(signature = (call_format, /, *, choice="auto", names=None, min_calls=1, max_calls=1))]
    fn turns(
        &self,
        py: Python<'_>,
        call_format: &str,
        choice: &str,
        names: Option<Vec<String>>,
        min_calls: u32,
        max_calls: Option<u32>,
    ) -> PyResult<Turns> {
        let names = names.unwrap_or_default();
        let settings = TurnSettings { call_format, choice, names, min_calls, max_calls };
        detach(py, || Turns::new(Arc::clone(&self.set), settings, &self.limits)).raise(py)
    }

    fn __len__(&self) -> usize {
        self.set.tools().len()
    }

    fn __repr__(&self) -> String {
        format!("<grammata_agents.Tools of {}>", self.set.tools().len())
    }
}
