//! The Python class `ToolIndex`: retrieval of tools by BM25.

use crate::border::{BORDER, Raise, value};
use crate::errors;
use crate::tools::Tools;
use grammata::Result;
use grammata_agents::retrieval::split::sentences;
use grammata_agents::retrieval::{
    Catalogue, RetrievalOptions, Retriever, Template, Tool, retriever::ToolQuery,
};
use grammata_python_border::choice;
use grammata_python_border::forking::detach;
use pyo3::prelude::*;
use serde_json::Value;

/// An index of tools that ranks them by BM25; it needs no model. `tools` are `Tools`, or dicts with `id`, `name` and
/// perhaps `description`, `tool` (the service), `category`, `function` and `parameters`.
///
/// `template` is what is indexed: "full" (category, service, name and description) or "description".
///
/// >>> import grammata_agents
/// >>> index = grammata_agents.ToolIndex([
/// ...     {"id": "1", "name": "weather", "description": "Forecast for a city."},
/// ...     {"id": "2", "name": "trains", "description": "Departures of trains."}])
/// >>> [hit.name for hit in index.search("the forecast for tomorrow")]
/// ['weather']
#[pyclass(frozen, module = "grammata_agents")]
pub(crate) struct ToolIndex {
    catalogue: Catalogue,
    retriever: Retriever,
}

/// Converts the callable tools of documents to tools of a catalogue.
fn of_set(tools: &Tools) -> Vec<Tool> {
    let tool = |tool: &grammata_agents::tools::Tool| Tool {
        id: tool.name.clone(),
        function: tool.name.clone(),
        name: tool.name.clone(),
        tool: tool.label.clone(),
        category: String::new(),
        description: tool.description.clone(),
        parameters: Some(tool.arguments.value()),
    };
    tools.set.callable().map(tool).collect()
}

#[pymethods]
impl ToolIndex {
    #[new]
    #[pyo3(signature = (tools, *, template="full", limits=None))]
    fn new(
        tools: &Bound<'_, PyAny>,
        template: &str,
        limits: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<ToolIndex> {
        let py = tools.py();
        let limits = BORDER.limits(limits)?;
        let template = match template {
            "full" => Template::Full,
            "description" => Template::Description,
            _ => return Err(choice("template", template, "full, description")).raise(py),
        };
        let lines = match tools.cast::<Tools>() {
            Ok(_) => None,
            Err(_) => match BORDER.json("the tools", tools)? {
                Value::Array(tools) => {
                    Some(tools.iter().map(Value::to_string).collect::<Vec<_>>().join("\n"))
                }
                _ => return Err(errors::object("a tool of the list")).raise(py),
            },
        };
        let read = tools.cast::<Tools>().ok().map(|tools| of_set(tools.get()));
        detach(py, || {
            let catalogue = match (read, lines) {
                (Some(tools), _) => Catalogue::new(tools, &limits)?,
                (None, lines) => Catalogue::from_json_lines(&lines.unwrap_or_default(), &limits)?,
            };
            let retriever = Retriever::new(&catalogue, template)?;
            Ok(ToolIndex { catalogue, retriever })
        })
        .raise(py)
    }

    /// The best `k` tools for a query or a list of queries; the lists of several queries are interleaved. With `split`,
    /// each sentence of a text is a query too. `category` restricts the search to tools of a category.
    #[pyo3(signature = (query, /, *, k=11, category=None, split=false))]
    fn search<'py>(
        &self,
        query: &Bound<'py, PyAny>,
        k: usize,
        category: Option<&str>,
        split: bool,
    ) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let py = query.py();
        let mut texts = match query.extract::<String>() {
            Ok(text) => vec![text],
            Err(_) => query.extract::<Vec<String>>()?,
        };
        if split {
            let sentences: Vec<String> = texts.iter().flat_map(|text| sentences(text)).collect();
            texts = [sentences, texts].concat();
        }
        let found = detach(py, || -> Result<_> {
            let queries: Vec<ToolQuery<'_>> = texts.iter().map(|text| ToolQuery { text, category }).collect();
            self.retriever.retrieve(&queries, None, &RetrievalOptions::default().k(k))
        });
        let found = found.raise(py)?;
        let (tools, functions) = (self.catalogue.tools(), self.catalogue.functions());
        let hits =
            found.tools.iter().filter_map(|hit| Some((hit, tools.get(hit.tool)?, functions.get(hit.tool)?)));
        hits.map(|(hit, tool, function)| {
            let query = found.queries.get(hit.query).map(|(text, _)| text.as_str());
            value(py, "Hit", (&tool.id, &tool.name, function, &tool.description, hit.score, query, hit.rank))
        })
        .collect()
    }

    fn __len__(&self) -> usize {
        self.catalogue.tools().len()
    }

    fn __repr__(&self) -> String {
        format!("<grammata_agents.ToolIndex of {} tools>", self.catalogue.tools().len())
    }
}
