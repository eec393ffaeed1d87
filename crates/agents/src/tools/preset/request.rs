//! The tools of a request, and the choice among them.

use super::errors;
use super::mode::ReasoningMode;
use crate::tools::custom;
use grammata::diagnostic::{Diagnostic, Place};
use grammata::error::Result;
use grammata::limits::{LimitKind, Limits};
use hashbrown::HashSet;
use serde_json::{Map, Value};
use std::borrow::Cow;

grammata_base::options! {
    /// The options of a request, apart from its tools.
    #[derive(Clone, Debug, PartialEq, Eq)]
    #[non_exhaustive]
    pub struct TagOptions {
        /// `auto` (the default, also for null), `none`, `required`, `{"type": "function", "function": {"name"}}`, the
        /// same with `custom`, a builtin tool's `{"type"}`, or
        /// `{"type": "allowed_tools", "allowed_tools": {"mode", "tools"}}`.
        pub tool_choice: Value = Value::Null,
        /// Whether the model reasons first. Families without reasoning ignore the mode. Default: enabled.
        pub reasoning: ReasoningMode = ReasoningMode::Enabled,
        /// Whether an output may have several calls. Default: yes.
        pub parallel_tool_calls: bool = true,
        /// The JSON Schema of an answer. With one, the output is calls or an answer in JSON by this schema, and has no
        /// free text but reasoning and preambles of calls.
        pub answer: Option<Value>,
        /// Whether the members of arguments and of the answer may be written in any order. Default: no, in the order of
        /// the schema.
        pub any_order: bool,
        /// Whether text, reasoning and strings in arguments exclude the family's special tokens. Default: yes.
        pub exclude_special_tokens: bool = true,
        /// The maximum white space at one place in arguments and in the answer, in characters. Default: unbounded.
        pub max_whitespace_cnt: Option<u32>,
        /// Whether the family's markers are matched by their tokens instead of as text. A vocabulary must have them.
        /// Default: no.
        pub token_markers: bool,
        /// Whether text may not spell a marker with other tokens, where markers are matched by their tokens, so that
        /// readers of text find no marker that is none. Default: no, for readers that look for ids.
        pub exclude_spelled_markers: bool,
        /// Limits on the list of tools.
        pub limits: Limits,
    }
}

/// How many calls an output must have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Calling {
    /// The model decides whether to call tools.
    Auto,
    /// At least one call.
    Required,
    /// Exactly one call, of the only tool.
    Forced,
}

/// A tool that may be called.
#[derive(Clone, Debug)]
pub(super) struct Tool<'v> {
    pub(super) name: &'v str,
    kind: Kind<'v>,
    /// The schema of the arguments. `None` allows any value: there is no schema, or the function has `strict: false`.
    pub(super) parameters: Option<Cow<'v, Value>>,
    /// The JSON Pointer of this schema in the list of tools; for a custom tool, that of its grammar.
    pointer: String,
    /// Warnings about the grammar of a custom tool.
    pub(super) warnings: Vec<Diagnostic>,
}

/// The kind of a tool. Functions and custom tools have different names.
#[derive(Clone, Copy, Debug)]
enum Kind<'v> {
    Function,
    Custom,
    /// A builtin tool of this type.
    Builtin(&'v str),
}

impl<'v> Tool<'v> {
    pub(super) fn is_builtin(&self) -> bool {
        self.builtin_type().is_some()
    }

    fn builtin_type(&self) -> Option<&'v str> {
        match self.kind {
            Kind::Builtin(name) => Some(name),
            Kind::Function | Kind::Custom => None,
        }
    }

    /// Returns how a choice names the tool: by its name, or, as the flag says, by the type of a builtin tool.
    fn key(&self) -> (bool, &'v str) {
        (self.is_builtin(), self.builtin_type().unwrap_or(self.name))
    }

    /// Returns a diagnostic about the schema of the arguments with its place in the list of tools.
    pub(super) fn located(&self, diagnostic: Diagnostic) -> Diagnostic {
        match self.kind {
            Kind::Custom => diagnostic.at(Place::Pointer(self.pointer.clone())),
            Kind::Function | Kind::Builtin(_) => errors::inside(diagnostic, &self.pointer),
        }
    }

    /// Returns the place of the schema of the arguments in the list of tools.
    pub(super) fn place(&self) -> Place {
        Place::Pointer(self.pointer.clone())
    }
}

/// The tools that may be called, and how many calls an output must have.
#[derive(Debug)]
pub(super) struct Request<'v> {
    pub(super) tools: Vec<Tool<'v>>,
    pub(super) calling: Calling,
}

const CHOICES: &str =
    "`auto`, `none`, `required`, a function, a custom tool, a builtin tool's type, or `allowed_tools`";
const FUNCTION: &str = "{\"type\": \"function\", \"function\": {\"name\": …}}";
const CUSTOM: &str = "{\"type\": \"custom\", \"custom\": {\"name\": …}}";

impl<'v> Request<'v> {
    pub(super) fn read(tools: &'v Value, options: &'v TagOptions, has_builtin: bool) -> Result<Request<'v>> {
        let tools = list(tools, &options.limits, has_builtin)?;
        choose(tools, &options.tool_choice)
    }
}

/// Parses the list of tools. Null is an empty list.
fn list<'v>(tools: &'v Value, limits: &Limits, has_builtin: bool) -> Result<Vec<Tool<'v>>> {
    let list = match tools {
        Value::Null => return Ok(Vec::new()),
        Value::Array(list) => list,
        other => return Err(errors::tools("", other, "a list of tools")),
    };
    if list.len() > limits.catalogue_tools {
        return Err(Limits::exceeded(LimitKind::CatalogueTools, limits.catalogue_tools, "more tools"));
    }
    let (mut found, mut names) = (Vec::with_capacity(list.len()), HashSet::with_capacity(list.len()));
    for (index, value) in list.iter().enumerate() {
        let at = format!("/{index}");
        let tool = tool(value, index, limits)?;
        match tool.kind {
            Kind::Builtin(kind) if !has_builtin => return Err(errors::builtin(&format!("{at}/type"), kind)),
            _ if !names.insert((tool.is_builtin(), tool.name)) => {
                return Err(errors::duplicate(&at, tool.name));
            }
            _ => found.push(tool),
        }
    }
    Ok(found)
}

fn object<'v>(value: &'v Value, at: &str) -> Result<&'v Map<String, Value>> {
    value.as_object().ok_or_else(|| errors::tools(at, value, "an object"))
}

/// Returns a member of an object; `None` if it is missing or null.
fn member<'v>(object: &'v Map<String, Value>, name: &str) -> Option<&'v Value> {
    object.get(name).filter(|value| !value.is_null())
}

fn tool<'v>(value: &'v Value, index: usize, limits: &Limits) -> Result<Tool<'v>> {
    let at = &format!("/{index}");
    let members = object(value, at)?;
    let kind_at = format!("{at}/type");
    let kind = match member(members, "type") {
        // clients may omit the type of a function
        None if members.contains_key("function") => "function",
        None if members.contains_key("custom") => "custom",
        None => return Err(errors::tools(at, value, "an object with a `type`")),
        Some(kind) => match kind.as_str().filter(|kind| !kind.is_empty()) {
            Some(kind) => kind,
            None => {
                return Err(errors::tools(
                    &kind_at,
                    kind,
                    "`function`, `custom`, or the type of a builtin tool",
                ));
            }
        },
    };
    if kind == "custom" {
        // chat completions have the tool in a member, responses do not
        let (members, at) = match member(members, "custom") {
            Some(inner) => {
                let at = format!("{at}/custom");
                (object(inner, &at)?, at)
            }
            None => (members, at.clone()),
        };
        let Some(name) = member(members, "name") else {
            return Err(errors::tools(&at, value, "a custom tool with a `name`"));
        };
        let name = tool_name(name, &format!("{at}/name"))?;
        let custom::Arguments { schema, pointer, warnings } = custom::read(members, &at, limits)?;
        let parameters = Some(Cow::Owned(schema));
        return Ok(Tool { name, kind: Kind::Custom, parameters, pointer, warnings });
    }
    if kind != "function" {
        let name = match member(members, "name") {
            Some(name) => tool_name(name, &format!("{at}/name"))?,
            None => tool_name(member(members, "type").unwrap_or(&Value::Null), &kind_at)?,
        };
        let parameters = parameters(members, at)?.map(Cow::Borrowed);
        let pointer = format!("{at}/parameters");
        return Ok(Tool { name, kind: Kind::Builtin(kind), parameters, pointer, warnings: Vec::new() });
    }
    let Some(function) = member(members, "function") else { return Err(errors::tools(at, value, FUNCTION)) };
    let at = format!("{at}/function");
    let members = object(function, &at)?;
    let Some(name) = member(members, "name") else {
        return Err(errors::tools(&at, function, "a function with a `name`"));
    };
    let name = tool_name(name, &format!("{at}/name"))?;
    let parameters = parameters(members, &at)?;
    let is_strict = match member(members, "strict") {
        None => true,
        Some(Value::Bool(flag)) => *flag,
        Some(other) => return Err(errors::tools(&format!("{at}/strict"), other, "`true` or `false`")),
    };
    let parameters = parameters.filter(|_| is_strict).map(Cow::Borrowed);
    let pointer = format!("{at}/parameters");
    Ok(Tool { name, kind: Kind::Function, parameters, pointer, warnings: Vec::new() })
}

/// Parses a name. It must be non-empty, without characters that could end it or the marks around it: white space,
/// control characters, quotes, `\`, `<` and `>`.
fn tool_name<'v>(value: &'v Value, at: &str) -> Result<&'v str> {
    let is_allowed = |c: char| !c.is_whitespace() && !c.is_control() && !"\"'\\<>".contains(c);
    match value.as_str() {
        Some(name) if !name.is_empty() && name.chars().all(is_allowed) => Ok(name),
        _ => Err(errors::tools(
            at,
            value,
            "a name without white space, control characters, quotes, `\\`, `<` and `>`",
        )),
    }
}

fn parameters<'v>(members: &'v Map<String, Value>, at: &str) -> Result<Option<&'v Value>> {
    match member(members, "parameters") {
        Some(schema) if !schema.is_object() && !schema.is_boolean() => {
            Err(errors::tools(&format!("{at}/parameters"), schema, "a JSON Schema: an object"))
        }
        schema => Ok(schema),
    }
}

/// Applies a `tool_choice` to the tools.
fn choose<'v>(mut tools: Vec<Tool<'v>>, choice: &Value) -> Result<Request<'v>> {
    let object = match choice {
        Value::Null => return Ok(Request { tools, calling: Calling::Auto }),
        Value::String(name) => {
            return match name.as_str() {
                "auto" => Ok(Request { tools, calling: Calling::Auto }),
                "none" => Ok(Request { tools: Vec::new(), calling: Calling::Auto }),
                "required" if tools.is_empty() => Err(errors::no_tools("")),
                "required" => Ok(Request { tools, calling: Calling::Required }),
                _ => Err(errors::choice("", choice, CHOICES)),
            };
        }
        Value::Object(object) => object,
        _ => return Err(errors::choice("", choice, CHOICES)),
    };
    match object.get("type").and_then(Value::as_str) {
        Some(kind @ ("function" | "custom")) => {
            let (name, at) = name_of(choice, kind, "")?;
            match tools.iter().position(|tool| !tool.is_builtin() && tool.name == name) {
                Some(place) => {
                    Ok(Request { tools: vec![tools.swap_remove(place)], calling: Calling::Forced })
                }
                None => Err(errors::unknown_tool(&at, name, named(&tools))),
            }
        }
        Some("allowed_tools") => {
            let calling = allow(&mut tools, choice)?;
            Ok(Request { tools, calling })
        }
        Some(kind) => {
            tools.retain(|tool| tool.builtin_type() == Some(kind));
            match tools.len() {
                1 => Ok(Request { tools, calling: Calling::Forced }),
                count => Err(errors::builtin_choice("/type", kind, count)),
            }
        }
        None => Err(errors::choice("", choice, CHOICES)),
    }
}

/// Returns the names of the tools that a choice selects by name.
fn named<'t>(tools: &'t [Tool<'_>]) -> impl Iterator<Item = &'t str> {
    tools.iter().filter(|tool| !tool.is_builtin()).map(|tool| tool.name)
}

/// Returns the name in `{"type": "function", "function": {"name": …}}`, or in the same with `custom`, and its JSON
/// Pointer. The Responses API has the name of a custom tool next to the type.
fn name_of<'c>(choice: &'c Value, kind: &str, at: &str) -> Result<(&'c str, String)> {
    let (inner, at_inner) = match choice.get(kind) {
        None if kind == "custom" => (Some(choice), at.to_owned()),
        inner => (inner, format!("{at}/{kind}")),
    };
    let allowed = if kind == "custom" { CUSTOM } else { FUNCTION };
    let name = inner.and_then(|inner| inner.get("name")).and_then(Value::as_str);
    Ok((name.ok_or_else(|| errors::choice(at, choice, allowed))?, format!("{at_inner}/name")))
}

/// Keeps the tools that a choice of the type `allowed_tools` allows, and returns whether a call is required.
fn allow(tools: &mut Vec<Tool<'_>>, choice: &Value) -> Result<Calling> {
    const FORM: &str = "{\"mode\": \"auto\" or \"required\", \"tools\": [{\"type\": \"function\", \"function\": {\"name\": …}}, …]}";
    let at = "/allowed_tools";
    let allowed = choice.get("allowed_tools").unwrap_or(&Value::Null);
    let calling = match allowed.get("mode").and_then(Value::as_str) {
        Some("auto") => Calling::Auto,
        Some("required") => Calling::Required,
        _ => return Err(errors::choice(at, allowed, FORM)),
    };
    let Some(references) = allowed.get("tools").and_then(Value::as_array) else {
        return Err(errors::choice(at, allowed, FORM));
    };
    let known: HashSet<(bool, &str)> = tools.iter().map(Tool::key).collect();
    let mut kept = HashSet::with_capacity(references.len());
    for (index, reference) in references.iter().enumerate() {
        let at = format!("{at}/tools/{index}");
        let key = match reference.get("type").and_then(Value::as_str) {
            Some(kind @ ("function" | "custom")) => {
                let (name, name_at) = name_of(reference, kind, &at)?;
                if !known.contains(&(false, name)) {
                    return Err(errors::unknown_tool(&name_at, name, named(tools)));
                }
                (false, name)
            }
            Some(kind) if known.contains(&(true, kind)) => (true, kind),
            Some(kind) => return Err(errors::builtin_choice(&format!("{at}/type"), kind, 0)),
            None => return Err(errors::choice(&at, reference, FUNCTION)),
        };
        kept.insert(key);
    }
    tools.retain(|tool| kept.contains(&tool.key()));
    match calling {
        Calling::Required if tools.is_empty() => Err(errors::no_tools(at)),
        calling => Ok(calling),
    }
}
