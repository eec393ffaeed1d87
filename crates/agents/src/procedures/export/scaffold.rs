//! The first draft of a procedure, made from the tools of a server.

use crate::procedures::language::tools::{Part, is_of_server, members, parameters};
use crate::procedures::semantics::shape;
use crate::tools::{Tool, ToolSet};
use grammata::limits::Limits;
use grammata::syntax::json_schema;
use rustc_hash::FxHashSet;
use serde_json::Value;
use std::fmt::Write;

/// Maximum number of characters of a description.
const MOST_DESCRIPTION: usize = 160;
/// Maximum number of characters of a name; longer ones are cut.
const MOST_NAME: usize = 100;

/// Names that have a meaning in the text of a procedure, in YAML, or in a result.
const RESERVED: [&str; 24] = [
    "and", "answer", "api", "break", "continue", "elif", "else", "error", "except", "false", "for", "if",
    "in", "n", "no", "not", "null", "off", "on", "or", "true", "while", "y", "yes",
];
/// Words that begin a statement of the text.
const STATEMENTS: [&str; 4] = ["return", "pass", "try", "is"];

/// Returns the text of a procedure in YAML that allows the tools as a server lists them: an API for each tool, bound
/// to it by `tool:`, slots with the schemas and descriptions of its arguments, no preconditions, and a text in which
/// each call may come at any time, also repeatedly (in the mode `strict` until a call fails). Names that are not words
/// of letters, digits and `_` get other ones. Arguments with one name share a slot if their schemas are equal. Read
/// the tools with their [responses](crate::tools::ReadOptions::responses), and with [open
/// objects](crate::tools::ReadOptions::open_objects), so that the schemas allow what the server allows.
///
/// A tool whose name `tool:` would read as a document is left out. A tool whose arguments cannot be slots, for
/// instance because a schema is recursive, is an API without slots; the text says why. A schema that cannot be
/// compiled within the limits is left out.
pub fn scaffold(name: &str, tools: &ToolSet, limits: &Limits) -> String {
    let (mut slots, mut names) = (Slots::default(), Words::default());
    let (named, left_out): (Vec<&Tool>, Vec<&Tool>) =
        tools.tools().iter().partition(|tool| is_of_server(&tool.name));
    // the slots of requests come first, because their schemas count
    let mut apis = Vec::with_capacity(named.len());
    for tool in named {
        apis.push(Api::new(names.take(&tool.name, "tool"), tool, &mut slots, limits));
    }
    let (mut declared, mut steps) = (String::new(), String::new());
    for api in &apis {
        api.write(&mut slots, &mut declared, &mut steps);
    }
    for tool in left_out {
        let tool = quoted(&tool.name);
        let _ = writeln!(
            declared,
            "  # left out: `tool` cannot be {tool}; give the API another name, and `--map`"
        );
    }
    let mut text = format!(
        "# A draft from the tools of a server: every call is allowed at any time. Say what must come before a call in\n\
         # its `precondition`, and when it may come in the conditions of the text at the end (docs/procedures.md).\n\
         Name: {}\n",
        quoted(name)
    );
    for (section, written) in [("SLOTs", &slots.written), ("APIs", &declared)] {
        if !written.is_empty() {
            let _ = write!(text, "{section}:\n{written}");
        }
    }
    let steps = if steps.is_empty() { "    pass\n" } else { &steps };
    let _ = write!(text, "Procedure: |\n  while there is something to do:\n{steps}");
    text
}

/// An API of the draft.
struct Api<'t> {
    name: String,
    tool: &'t Tool,
    /// The slots of the request with their parameters, or why there are none.
    request: Result<Vec<(String, Part)>, String>,
}

impl<'t> Api<'t> {
    fn new(name: String, tool: &'t Tool, slots: &mut Slots, limits: &Limits) -> Api<'t> {
        let parameters = match &tool.refusal {
            Some(refusal) => Err(refusal.message().to_owned()),
            None => parameters(tool),
        };
        let slot = |part: Part| (slots.take(&name, &part, limits), part);
        let request = parameters.map(|parameters| parameters.into_iter().map(slot).collect());
        Api { name, tool, request }
    }

    /// Writes the declaration and the step of the API, and declares the slots of its response.
    fn write(&self, slots: &mut Slots, declared: &mut String, steps: &mut String) {
        let (name, tool) = (&self.name, self.tool);
        let _ = writeln!(declared, "  - name: {name}\n    tool: {}", quoted(&tool.name));
        if !tool.description.is_empty() {
            let _ = writeln!(declared, "    desc: {}", quoted(&shortened(&tool.description)));
        }
        let request = self.request.as_deref().unwrap_or_default();
        if let Err(why) = &self.request {
            let _ = writeln!(declared, "    # its arguments are passed on unchecked: {}", shortened(why));
        }
        let response = self.response(slots, request);
        for (slot, part) in &response {
            slots.declare(slot, &part.description);
        }
        let given: Vec<&str> = request.iter().map(|(slot, _)| slot.as_str()).collect();
        let _ = writeln!(declared, "    request: {}", exchange(request));
        let optional = request.iter().filter(|(_, part)| !part.is_required);
        let optional: Vec<&str> = optional.map(|(slot, _)| slot.as_str()).collect();
        if !optional.is_empty() {
            let _ = writeln!(declared, "    optional: [{}]", optional.join(", "));
        }
        if !response.is_empty() {
            let _ = writeln!(declared, "    response: {}", exchange(&response));
        }
        let _ = writeln!(
            declared,
            "    precondition: []  # what must have succeeded before: [NAME!ok]; been answered: [NAME]"
        );
        let _ = writeln!(declared, "    repeat: true");
        let given = given.join(", ");
        let _ = writeln!(steps, "    if it is time for this step:\n      API.{name}([{given}])");
    }

    /// Returns the slots of the response with the members that the tool declares. Members that the request has, and
    /// `error`, which stands for a failed call, are left out. No slot is one of a request, because a call that comes
    /// after this one could then have only the values of the response.
    fn response(&self, slots: &Slots, request: &[(String, Part)]) -> Vec<(String, Part)> {
        let members = if self.request.is_ok() { members(self.tool) } else { Vec::new() };
        let is_new =
            |part: &Part| part.name != "error" && !request.iter().any(|(_, known)| known.name == part.name);
        let mut names = Words(slots.declared.iter().map(|(slot, ..)| slot.clone()).collect());
        let members = members.into_iter().filter(is_new);
        members
            .map(|part| {
                let own = word(&part.name, "result");
                let wanted = if names.0.contains(&own) { format!("{}_{own}", self.name) } else { own };
                (names.take(&wanted, "result"), part)
            })
            .collect()
    }
}

/// Writes slots as a list, or, if one has another name than its parameter or member, as `SLOT: NAME`.
fn exchange(pairs: &[(String, Part)]) -> String {
    if pairs.iter().all(|(slot, part)| *slot == part.name) {
        let names: Vec<&str> = pairs.iter().map(|(slot, _)| slot.as_str()).collect();
        return format!("[{}]", names.join(", "));
    }
    let pairs: Vec<String> =
        pairs.iter().map(|(slot, part)| format!("{slot}: {}", quoted(&part.name))).collect();
    format!("{{{}}}", pairs.join(", "))
}

/// The slots of a draft.
#[derive(Default)]
struct Slots {
    names: Words,
    /// The name of the slot, the parameter's name and the schema.
    declared: Vec<(String, String, Option<Value>)>,
    written: String,
}

impl Slots {
    /// Returns the slot of a parameter: that of an earlier parameter with the same name and schema, or a new one.
    fn take(&mut self, api: &str, part: &Part, limits: &Limits) -> String {
        let compiles = |schema: &&Value| {
            json_schema::compile_value(&shape::canonical(schema), &shape::options(limits)).is_ok()
        };
        let schema = part.schema.as_ref().filter(compiles).cloned();
        let is_same =
            |(_, name, known): &&(String, String, Option<Value>)| *name == part.name && *known == schema;
        if let Some((slot, ..)) = self.declared.iter().find(is_same) {
            return slot.clone();
        }
        let is_known = self.declared.iter().any(|(_, name, _)| *name == part.name);
        let wanted = if is_known { format!("{api}_{}", part.name) } else { part.name.clone() };
        let slot = self.names.take(&wanted, "argument");
        self.declared.push((slot.clone(), part.name.clone(), schema.clone()));
        self.write(&slot, &part.description, schema.as_ref());
        slot
    }

    /// Declares a slot of a response without a schema, unless a slot has this name.
    fn declare(&mut self, slot: &str, description: &str) {
        if self.names.0.insert(slot.to_owned()) {
            self.write(slot, description, None);
        }
    }

    fn write(&mut self, slot: &str, description: &str, schema: Option<&Value>) {
        let _ = writeln!(self.written, "  - name: {slot}");
        if !description.is_empty() {
            let _ = writeln!(self.written, "    desc: {}", quoted(&shortened(description)));
        }
        if let Some(schema) = schema {
            let _ = writeln!(self.written, "    schema: {}", escaped(&schema.to_string()));
        }
    }
}

/// Words that are different.
#[derive(Default)]
struct Words(FxHashSet<String>);

impl Words {
    /// Returns a word for a name that no earlier call has returned.
    fn take(&mut self, name: &str, otherwise: &str) -> String {
        let wanted = word(name, otherwise);
        let numbered = (2..).map(|number| format!("{wanted}_{number}"));
        let free = std::iter::once(wanted.clone()).chain(numbered).find(|word| !self.0.contains(word));
        let free = free.unwrap_or(wanted);
        self.0.insert(free.clone());
        free
    }
}

/// Returns a name as a word of ASCII letters, digits and `_` that does not begin with a digit and is not reserved.
/// `otherwise` is the word for a name without any of these characters.
fn word(name: &str, otherwise: &str) -> String {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let word: String = name.chars().map(|c| if is_part(c) { c } else { '_' }).take(MOST_NAME).collect();
    let word = if word.chars().any(|c| c.is_ascii_alphanumeric()) { word } else { otherwise.to_owned() };
    let lower = word.to_lowercase();
    let is_reserved = RESERVED.iter().chain(&STATEMENTS).any(|reserved| *reserved == lower);
    match is_reserved || word.starts_with(|c: char| c.is_ascii_digit()) {
        true => format!("{otherwise}_{word}"),
        false => word,
    }
}

/// Returns the first line of a text, cut after the limit of descriptions.
fn shortened(text: &str) -> String {
    let line = text.trim().lines().next().unwrap_or_default().trim_end();
    match line.char_indices().nth(MOST_DESCRIPTION) {
        Some((end, _)) => format!("{}…", line[..end].trim_end()),
        None => line.to_owned(),
    }
}

/// Writes a text as a JSON string, which YAML reads alike.
fn quoted(text: &str) -> String {
    escaped(&Value::from(text).to_string())
}

/// Escapes the characters of JSON that YAML may not have as they are, all of which are inside of strings.
fn escaped(json: &str) -> String {
    let mut escaped = String::with_capacity(json.len());
    for c in json.chars() {
        match c {
            '\u{7f}'..='\u{9f}' | '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}' => {
                let _ = write!(escaped, "\\u{:04x}", c as u32);
            }
            c => escaped.push(c),
        }
    }
    escaped
}
