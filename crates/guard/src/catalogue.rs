//! The tools of the server, and their names in the rules.

use crate::errors;
use crate::rules::{Open, OwnTool, Rules};
use crate::schema::{self, Listed};
use grammata::error::{Error, Result};
use rustc_hash::{FxHashMap, FxHashSet};
use serde_json::{Value, json};

/// Maximum number of tools of a server.
const MOST_TOOLS: usize = 10_000;
/// Maximum bytes of a server's list of tools, summed over its pages.
const MOST_BYTES: usize = 32 << 20;
/// Maximum number of pages of a server's list.
const MOST_PAGES: usize = 1_000;

/// A server's list of tools while it is read page by page.
#[derive(Debug, Default)]
pub(crate) struct Pages {
    tools: Vec<Value>,
    names: FxHashSet<String>,
    bytes: usize,
    pages: usize,
}

impl Pages {
    /// Adds a page of `bytes` bytes. Returns the cursor of the next page; `None` after the last one.
    ///
    /// # Errors
    /// Text that names what is wrong: the page is malformed, or the list exceeds a bound.
    pub(crate) fn add(&mut self, page: Value, bytes: usize) -> std::result::Result<Option<String>, String> {
        let Value::Object(mut page) = page else { return Err("a result that is not an object".to_owned()) };
        let Some(Value::Array(tools)) = page.remove("tools") else {
            return Err("a result without a list `tools`".to_owned());
        };
        self.pages += 1;
        self.bytes += bytes;
        if self.pages > MOST_PAGES || self.bytes > MOST_BYTES || self.tools.len() + tools.len() > MOST_TOOLS {
            return Err(format!("more than {MOST_TOOLS} tools, {MOST_BYTES} bytes or {MOST_PAGES} pages"));
        }
        for tool in tools {
            let name = tool.get("name").and_then(Value::as_str).ok_or("a tool without a name")?;
            // if several tools have the same name, only the first is used
            if self.names.insert(name.to_owned()) {
                self.tools.push(tool);
            }
        }
        match page.remove("nextCursor") {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(cursor)) => Ok(Some(cursor)),
            Some(_) => Err("a `nextCursor` that is not a text".to_owned()),
        }
    }
}

/// The names of the tools of the rules, in the rules and on the server.
#[derive(Debug)]
pub(crate) struct Names {
    /// In the order of the rules: the name in the rules, the server's name, and the arguments that the server's tool
    /// must have.
    tools: Vec<(String, String, Vec<String>)>,
    /// The index into `tools` by the name on the server.
    index: FxHashMap<String, usize>,
}

impl Names {
    /// Creates the names of the rules' tools. `map` has pairs of a name in the rules and the server's name; the last
    /// pair of a name counts. A name without a pair has the server's name that the rules declare, or otherwise is the
    /// same on the server.
    ///
    /// # Errors
    /// `guard/unknown-api` if the rules lack a name of `map`; `guard/shared-tool` if two names have the same tool.
    pub(crate) fn new(rules: &dyn Rules, map: &[(String, String)]) -> Result<Names> {
        let tools = rules.tools();
        if let Some((unknown, _)) = map.iter().find(|(api, _)| !tools.iter().any(|(known, _)| known == api)) {
            return Err(errors::unknown_api(unknown, tools.iter().map(|(name, _)| name.as_str())));
        }
        let mut names = Names { tools: Vec::with_capacity(tools.len()), index: FxHashMap::default() };
        for (api, required) in tools {
            let mapped = map.iter().rev().find(|(known, _)| *known == api);
            let declared = mapped.map(|(_, tool)| tool.as_str()).or_else(|| rules.server_name(&api));
            let tool = declared.unwrap_or(&api).to_owned();
            if names.index.insert(tool.clone(), names.tools.len()).is_some() {
                return Err(errors::shared_tool(&tool));
            }
            names.tools.push((api, tool, required));
        }
        Ok(names)
    }

    /// Returns the arguments of a tool that the rules bind, by the tool's name in the rules.
    pub(crate) fn arguments(&self, api: &str) -> &[String] {
        self.tools.iter().find(|(known, ..)| known == api).map_or(&[], |(_, _, arguments)| arguments)
    }

    /// Returns the tools in the order of the rules: the name in the rules, the server's name, and the arguments that the
    /// server's tool must have.
    pub(crate) fn all(&self) -> impl Iterator<Item = (&str, &str, &[String])> {
        self.tools.iter().map(|(name, tool, arguments)| (name.as_str(), tool.as_str(), arguments.as_slice()))
    }

    /// Returns the pairs of a name in the rules and the server's name, in the order of the rules.
    pub(crate) fn pairs(&self) -> impl Iterator<Item = (&str, &str)> {
        self.all().map(|(name, tool, _)| (name, tool))
    }

    /// Returns the server's name of a tool of the rules; `None` if the rules do not have the tool.
    pub(crate) fn on_server(&self, name: &str) -> Option<&str> {
        self.pairs().find(|(known, _)| *known == name).map(|(_, tool)| tool)
    }

    /// Returns the name that a tool of the server has in the rules; `None` if the rules do not name the tool.
    pub(crate) fn in_rules(&self, tool: &str) -> Option<&str> {
        self.index.get(tool).map(|&place| self.tools[place].0.as_str())
    }
}

/// The tools of a server, with distinct names.
#[derive(Debug)]
pub(crate) struct Catalogue {
    tools: Vec<Value>,
    /// The arguments that each tool lists, by the tool's name.
    listed: FxHashMap<String, Listed>,
}

fn name_of(tool: &Value) -> &str {
    tool.get("name").and_then(Value::as_str).unwrap_or_default()
}

impl Catalogue {
    /// Creates the catalogue of a list that was read to its end.
    pub(crate) fn new(pages: Pages) -> Catalogue {
        let listed = |tool: &Value| {
            (name_of(tool).to_owned(), Listed::of(tool.get("inputSchema").unwrap_or(&Value::Null)))
        };
        let listed = pages.tools.iter().map(listed).collect();
        Catalogue { tools: pages.tools, listed }
    }

    /// Returns the names of all tools, in the server's order.
    pub(crate) fn names(&self) -> Vec<&str> {
        self.tools.iter().map(name_of).collect()
    }

    /// Returns the tools in the server's order.
    pub(crate) fn tools(&self) -> &[Value] {
        &self.tools
    }

    /// Returns whether the server has a tool of this name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.listed.contains_key(name)
    }

    /// Returns the arguments that the schema of a tool lists; `None` if the server does not have the tool.
    pub(crate) fn listed(&self, tool: &str) -> Option<&Listed> {
        self.listed.get(tool)
    }

    /// Returns the arguments that the tools of the rules list and the rules do not govern, by the server's name of the
    /// tool. Tools without such arguments are left out.
    pub(crate) fn ungoverned(&self, names: &Names, rules: &dyn Rules) -> Vec<(String, Vec<String>)> {
        let tools = names.tools.iter().map(|(api, tool, _)| {
            let listed = self.listed(tool).into_iter().flat_map(|listed| &listed.names);
            (
                tool.clone(),
                listed.filter(|argument| !rules.governs(api, argument)).cloned().collect::<Vec<_>>(),
            )
        });
        tools.filter(|(_, arguments)| !arguments.is_empty()).collect()
    }

    /// Checks that the server has all tools of the rules, that these have the arguments of the rules, and that no tool
    /// of the server has a name of `own`. With `is_open`, an argument that a tool's schema does not list may be one of
    /// those that it allows in addition.
    ///
    /// # Errors
    /// `guard/missing-tools`: the server lacks a tool of the rules. `guard/argument`: a tool lacks an argument of the
    /// rules. `guard/taken-name`: a tool of the server has a name of `own`.
    pub(crate) fn check(
        &self,
        names: &Names,
        own: impl IntoIterator<Item = String>,
        is_open: bool,
    ) -> Result<(), Error> {
        let missing: Vec<(&str, &str)> = names.pairs().filter(|(_, tool)| !self.has(tool)).collect();
        if !missing.is_empty() {
            let known: Vec<&str> = self.tools.iter().map(name_of).collect();
            return Err(errors::missing_tools(&missing, &known));
        }
        for tool in &self.tools {
            let Some(&place) = names.index.get(name_of(tool)) else { continue };
            let schema = tool.get("inputSchema").unwrap_or(&Value::Null);
            let Some(listed) = self.listed(name_of(tool)) else { continue };
            let takes = |argument: &str| schema::takes(schema, argument);
            let has = |argument: &str| takes(argument) && (is_open || listed.has(argument));
            if let Some(argument) = names.tools[place].2.iter().find(|argument| !has(argument)) {
                return Err(errors::argument(name_of(tool), argument, &listed.names, takes(argument)));
            }
        }
        match own.into_iter().find(|name| self.has(name)) {
            Some(name) => Err(errors::taken_name(&name)),
            None => Ok(()),
        }
    }

    /// Returns the server's descriptions of the open tools of the rules, with narrowed argument schemas and without
    /// `execution`.
    pub(crate) fn open(&self, names: &Names, open: &[Open]) -> Vec<Value> {
        let mut shown = Vec::new();
        for tool in &self.tools {
            let Some(api) = names.in_rules(name_of(tool)) else { continue };
            if let Some(open) = open.iter().find(|open| open.tool == api) {
                let before = tool.get("inputSchema").unwrap_or(&Value::Null);
                let narrowed = schema::narrowed(before, &open.properties, &open.required);
                let mut tool = plain(tool);
                tool["inputSchema"] = narrowed;
                shown.push(tool);
            }
        }
        shown
    }

    /// Returns the server's descriptions of all tools of the rules, without `execution`.
    pub(crate) fn all(&self, names: &Names) -> Vec<Value> {
        let known = |tool: &&Value| names.in_rules(name_of(tool)).is_some();
        self.tools.iter().filter(known).map(plain).collect()
    }

    /// Returns the server's descriptions of the tools that the rules do not name, without `execution`. A tool that can
    /// be called only as a task is left out, because the guard refuses tasks.
    pub(crate) fn others(&self, names: &Names) -> impl Iterator<Item = Value> {
        let is_task = |tool: &Value| tool["execution"]["taskSupport"] == "required";
        let is_other = move |tool: &&Value| names.in_rules(name_of(tool)).is_none() && !is_task(tool);
        self.tools.iter().filter(is_other).map(plain)
    }
}

/// Returns a tool without the member `execution`, which lets a call be a task. Rules cannot follow a task, because the
/// response to its call does not have the tool's result.
fn plain(tool: &Value) -> Value {
    let mut tool = tool.clone();
    if let Some(fields) = tool.as_object_mut() {
        fields.shift_remove("execution");
    }
    tool
}

/// Returns one of the guard's own tools as an entry of a `tools/list` result. `prefix` is put before its name.
pub(crate) fn own(prefix: &str, tool: &OwnTool) -> Value {
    json!({
        "name": format!("{prefix}{}", tool.name),
        "description": tool.description,
        "inputSchema": tool.schema,
    })
}
