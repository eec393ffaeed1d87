//! `grammata retrieve serve`: an MCP server that finds tools.

use super::sources::listed;
use crate::args::source;
use crate::cmd::tools::{Loaded, SetArgs};
use crate::io::errors;
use crate::io::output::{Exit, Failure, Output};
use grammata::error::Result;
use grammata_agents::retrieval::{Catalogue, RetrievalOptions, Retriever, Template, Tool};
use grammata_guard::ToolServer;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

/// Maximum bytes of a message.
const MESSAGE_BYTES: usize = 1 << 20;
/// Maximum bytes of a query.
const MOST_QUERY: usize = 10_000;
/// Number of tools in an answer: the default, and the maximum that the agent may ask for.
const TOOLS: (usize, usize) = (5, 50);
/// The name of the tool that the server offers.
const SEARCH: &str = "search_tools";

/// Serves the Model Context Protocol on standard input and output with one tool, `search_tools`: the agent describes
/// what it needs, and gets the tools whose names and descriptions fit best, each with the file that it is of and the
/// schema of its arguments. So an agent needs not have the tools of many servers in its prompt.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    set: SetArgs,
}

pub(super) fn run(arguments: &Arguments, output: &mut Output) -> std::result::Result<Exit, Failure> {
    if output.is_json() {
        return Err(errors::serve_writes_messages().into());
    }
    let catalogue = read(&arguments.set)?;
    let retriever = Retriever::new(&catalogue, Template::Full)?;
    let servers: BTreeSet<&str> = catalogue.tools().iter().map(|tool| tool.tool.as_str()).collect();
    let servers: Vec<&str> = servers.into_iter().collect();
    let instructions = format!(
        "Finds the tools for a task among {} of {}. Call `{SEARCH}` before you conclude that there is no tool for it.",
        crate::io::text::counted(catalogue.tools().len(), "tool"),
        servers.join(", ")
    );
    let mut server = ToolServer::new("grammata", &instructions, vec![tool(&servers)], |_, arguments| {
        search(&catalogue, &retriever, arguments)
    });
    server.run(&mut std::io::stdin().lock(), &mut std::io::stdout().lock(), MESSAGE_BYTES)?;
    Ok(Exit::Done)
}

/// Returns the tools of all files, or of the MCP server. The id of a tool is the label of its file or server, `/` and
/// its name.
fn read(set: &SetArgs) -> Result<Catalogue> {
    let limits = set.limits.get();
    let mut tools: Vec<Tool> = Vec::new();
    let mut add = |label: &str, of_file: Vec<Tool>| {
        let tool = |tool: Tool| Tool { id: format!("{label}/{}", tool.name), tool: label.to_owned(), ..tool };
        tools.extend(of_file.into_iter().map(tool));
    };
    for (place, path) in set.files.iter().enumerate() {
        let label = set.label.get(place).cloned().unwrap_or_else(|| crate::cmd::tools::stem(path));
        let of_file = match listed(&source::text(path, &limits)?) {
            Some(listed) => listed,
            None => {
                let label = vec![label.clone()];
                callable(&SetArgs { files: vec![path.clone()], label, ..set.clone() }.load()?)
            }
        };
        add(&label, of_file);
    }
    if set.files.is_empty() {
        let loaded = set.load()?;
        let label = loaded.set.tools().first().map_or("server", |tool| tool.label.as_str());
        add(label, callable(&loaded));
    }
    Catalogue::new(tools, &limits)
}

/// Returns the tools of a set that can be called, without labels.
fn callable(loaded: &Loaded) -> Vec<Tool> {
    let tool = |tool: &grammata_agents::tools::Tool| Tool {
        name: tool.name.clone(),
        description: tool.description.clone(),
        parameters: Some(tool.arguments.value()),
        ..Tool::default()
    };
    loaded.set.callable().map(tool).collect()
}

/// Returns the search tool as an item of `tools/list`. `servers` are the labels to which a search can be restricted.
fn tool(servers: &[&str]) -> Value {
    json!({
        "name": SEARCH,
        "description": "Finds tools by what they do. Returns the best ones first, each with its server, name, \
                        description and the JSON Schema of its arguments.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "query": { "type": "string", "description": "what the tool should do, in a few words" },
                "count": { "type": "integer", "minimum": 1, "maximum": TOOLS.1, "default": TOOLS.0 },
                "server": { "type": "string", "description": "only tools of this server", "enum": servers },
            },
            "required": ["query"],
            "additionalProperties": false,
        },
        "annotations": { "readOnlyHint": true, "openWorldHint": false },
    })
}

fn search(
    catalogue: &Catalogue,
    retriever: &Retriever,
    arguments: &Map<String, Value>,
) -> std::result::Result<Value, String> {
    let query = arguments.get("query").and_then(Value::as_str).unwrap_or_default();
    if query.trim().is_empty() || query.len() > MOST_QUERY {
        return Err(format!("`query` must be a text of 1 to {MOST_QUERY} bytes"));
    }
    let count = match arguments.get("count") {
        None | Some(Value::Null) => TOOLS.0,
        Some(count) => {
            let count = count.as_u64().and_then(|count| usize::try_from(count).ok());
            count
                .filter(|count| (1..=TOOLS.1).contains(count))
                .ok_or(format!("`count` must be 1 to {}", TOOLS.1))?
        }
    };
    let server = match arguments.get("server") {
        None | Some(Value::Null) => None,
        Some(server) => Some(server.as_str().ok_or("`server` must be a text")?),
    };
    // the search ranks the tools of all servers, so for one server all are ranked and its own are kept
    let most = if server.is_some() { catalogue.tools().len().max(1) } else { count };
    let found = retriever.retrieve(&[query.to_owned()], None, &RetrievalOptions::default().k(most));
    let found = found.map_err(|error| error.diagnostic().message().to_owned())?;
    let tools = found.tools.iter().map(|found| (&catalogue.tools()[found.tool], found.score));
    let tools = tools.filter(|(tool, _)| server.is_none_or(|server| tool.tool == server)).take(count);
    let tools: Vec<Value> = tools
        .map(|(tool, score)| {
            json!({
                "server": tool.tool,
                "name": tool.name,
                "description": tool.description,
                "inputSchema": tool.parameters,
                "score": score,
            })
        })
        .collect();
    Ok(json!({ "tools": tools }))
}
