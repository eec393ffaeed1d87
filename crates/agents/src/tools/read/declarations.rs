//! Function declarations: MCP, OpenAI's three forms and custom tools, Anthropic, Gemini and BFCL.

use super::dialect::Dialect;
use super::pointer::join;
use super::schema::{Schemas, Scope, forbid_undeclared, of_response};
use super::{Draft, Made, Reading};
use crate::tools::binding::Binding;
use crate::tools::{custom, errors};
use grammata::diagnostic::{Diagnostic, Place};
use grammata::error::Result;
use rustc_hash::FxHashSet;
use serde_json::{Map, Value, json};

/// The form in which a declaration gives its arguments.
enum Arguments<'d> {
    /// A schema, with the name of the member that contains it.
    Schema(&'static str, &'d Value, Dialect),
    /// No arguments.
    None,
    /// One text (OpenAI's custom tools), which the `format` of this object may restrict to the words of a grammar.
    Text(&'d Map<String, Value>),
}

/// A declared function.
pub(super) struct Declaration<'d> {
    name: &'d Value,
    description: &'d str,
    arguments: Arguments<'d>,
    /// The schema of the function's results (MCP).
    output: Option<&'d Value>,
    pointer: String,
    /// Whether an equal declaration may occur several times and then counts once.
    may_repeat: bool,
    /// An invalid header to which MCP maps an argument.
    header_problem: Option<Diagnostic>,
}

impl<'d> Declaration<'d> {
    /// Reads an object as a declaration; `None` if the object does not look like one.
    pub(super) fn of(object: &'d Map<String, Value>, pointer: &str) -> Option<Declaration<'d>> {
        // OpenAI's chat form nests the function in a member
        let kind = object.get("type").and_then(Value::as_str);
        if let (Some("function" | "custom"), Some(Value::Object(inner))) =
            (kind, object.get(kind.unwrap_or_default()))
        {
            let pointer = join(pointer, kind.unwrap_or_default());
            let is_custom = kind == Some("custom");
            return Some(Declaration::inner(inner, pointer, is_custom));
        }
        let has = |member: &str| object.contains_key(member);
        let is_declared = has("inputSchema")
            || has("input_schema")
            || has("parametersJsonSchema")
            || matches!(kind, Some("function" | "custom"))
            || (has("name")
                && (has("parameters") || (has("description") && !has("tools") && !has("functions"))));
        is_declared.then(|| Declaration::inner(object, pointer.to_owned(), kind == Some("custom")))
    }

    fn inner(object: &'d Map<String, Value>, pointer: String, is_custom: bool) -> Declaration<'d> {
        let member = |name: &'static str| object.get(name).map(|value| (name, value));
        let is_gemini = is_of_gemini(&pointer);
        let arguments = if is_custom {
            Arguments::Text(object)
        } else if let Some((name, schema)) = member("inputSchema").or_else(|| member("input_schema")) {
            Arguments::Schema(name, schema, Dialect::of(schema))
        } else if let Some((name, schema)) = member("parametersJsonSchema") {
            Arguments::Schema(name, schema, Dialect::of(schema))
        } else {
            match member("parameters") {
                None | Some((_, Value::Null)) => Arguments::None,
                Some((name, schema)) => Arguments::Schema(name, schema, dialect(schema, is_gemini)),
            }
        };
        let may_repeat = matches!(arguments, Arguments::Schema(_, _, Dialect::Bfcl));
        let header_problem = match &arguments {
            Arguments::Schema(name, schema, _) if *name == "inputSchema" => {
                header_problem(schema, &join(&pointer, name))
            }
            _ => None,
        };
        Declaration {
            name: object.get("name").unwrap_or(&Value::Null),
            description: object.get("description").and_then(Value::as_str).unwrap_or_default(),
            arguments,
            output: object.get("outputSchema").filter(|schema| schema.is_object()),
            pointer,
            may_repeat,
            header_problem,
        }
    }
}

/// Returns whether a declaration is in a list of Gemini's, of which the name is the sign: some SDKs write the types
/// there in capitals, others in small letters.
fn is_of_gemini(pointer: &str) -> bool {
    pointer.split('/').any(|step| matches!(step, "functionDeclarations" | "function_declarations"))
}

/// Returns the dialect of a schema: BFCL's has the type `dict`, Gemini's is in one of its lists or has a type in
/// capitals; other schemas may declare `$schema`.
fn dialect(schema: &Value, is_gemini: bool) -> Dialect {
    match schema.get("type").and_then(Value::as_str) {
        Some("dict") => Dialect::Bfcl,
        _ if is_gemini => Dialect::Gemini,
        Some(name) if name.chars().all(|c| c.is_ascii_uppercase() || c == '_') => Dialect::Gemini,
        _ => Dialect::of(schema),
    }
}

/// Returns why MCP's `x-mcp-header` is invalid for some property; `None` if it is valid or absent. It must be the name
/// of a header, on a scalar property, and unique in the tool (case-insensitive).
fn header_problem(schema: &Value, pointer: &str) -> Option<Diagnostic> {
    let properties = schema.get("properties")?.as_object()?;
    let mut seen = FxHashSet::default();
    for (name, property) in properties {
        let Some(header) = property.get("x-mcp-header") else { continue };
        let place = Place::Pointer(format!("{}/x-mcp-header", join(&join(pointer, "properties"), name)));
        let is_token = |text: &str| {
            !text.is_empty()
                && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b))
        };
        let kind = property.get("type").and_then(Value::as_str).unwrap_or_default();
        let is_scalar = matches!(kind, "string" | "integer" | "number" | "boolean");
        let is_right = header.as_str().is_some_and(|text| is_token(text) && seen.insert(text.to_lowercase()));
        if !is_right || !is_scalar {
            let allowed = "the name of a header, once a tool, of a text, a number or a boolean";
            let found = header.to_string();
            return Some(errors::not_callable(place, "an argument is mapped to no header", &found, allowed));
        }
    }
    None
}

/// Adds the tool of a declaration. `declared` holds the declarations read so far that may occur several times; an equal
/// one is skipped.
pub(super) fn read(
    declaration: &Declaration<'_>,
    label: Option<&str>,
    declared: &mut FxHashSet<(String, String)>,
    reading: &mut Reading<'_>,
) -> Result<()> {
    let name = declaration.name.as_str().unwrap_or_default().to_owned();
    if declaration.may_repeat
        && let Arguments::Schema(_, schema, _) = declaration.arguments
        && !declared.insert((name.clone(), canonical(schema)))
    {
        return Ok(());
    }
    let mut notes = Vec::new();
    let made = match &declaration.header_problem {
        Some(problem) => Err(errors::fatal(problem.clone())),
        None => arguments(declaration, reading, &mut notes),
    };
    reading.add(Draft {
        name,
        description: declaration.description.to_owned(),
        label: label.map(str::to_owned),
        place: Place::Pointer(declaration.pointer.clone()),
        made,
        notes,
    })
}

/// Writes a schema as text that does not depend on the order of members.
fn canonical(schema: &Value) -> String {
    let mut copy = schema.clone();
    copy.sort_all_objects();
    copy.to_string()
}

fn arguments(
    declaration: &Declaration<'_>,
    reading: &Reading<'_>,
    notes: &mut Vec<Diagnostic>,
) -> Result<Made> {
    let none = json!({"type": "object", "properties": {}, "additionalProperties": false});
    let (member, schema, dialect) = match declaration.arguments {
        Arguments::Schema(member, schema, dialect) => (member, schema, dialect),
        Arguments::None => return Ok(Made::of_host(none)),
        Arguments::Text(object) => return custom(object, &declaration.pointer, reading, notes),
    };
    let pointer = join(&declaration.pointer, member);
    if !schema.is_object() {
        let found = schema.to_string();
        let place = Place::Pointer(pointer);
        return Err(errors::fatal(errors::form(place, &found, "a JSON Schema of type object")));
    }
    let is_open = reading.options.open_objects;
    if member == "inputSchema" && !is_open && is_stand_in(schema) {
        notes.push(errors::empty_arguments(Place::Pointer(join(&pointer, "properties"))));
    }
    let mut schemas = Schemas::new(schema, &pointer, dialect, is_open, reading.budget);
    let made = schemas.take(schema, "", Scope::Own);
    let definitions = schemas.finish();
    notes.append(&mut schemas.notes);
    let mut made = made?;
    let definitions = definitions?;
    if let Value::Object(object) = &mut made {
        // referenced definitions were copied
        object.remove("definitions");
        object.remove("defs");
        object.insert("$defs".to_owned(), Value::Object(definitions));
    }
    let schema = root(made, is_open, &pointer)?;
    let mut origins = schemas.origins();
    origins.push((String::new(), pointer));
    let output = declaration.output.filter(|_| reading.options.responses);
    let response = match output {
        Some(output) => of_response(output, output, "", Dialect::of(output), reading.budget)?,
        None => None,
    };
    Ok(Made { schema, binding: Binding::Host, origins, response, is_custom: false })
}

/// Returns whether a schema is the one that the TypeScript SDK of MCP lists for each tool whose input is no plain
/// object, such as a union: it has these two members, and no other.
fn is_stand_in(schema: &Value) -> bool {
    *schema == json!({"type": "object", "properties": {}})
}

/// Completes the schema of the arguments to one of an object. If it has no keyword about members, such as `properties`,
/// `allOf` or `$ref`, and `is_open` is false, it allows only the members that it requires.
///
/// # Errors
/// `tools/not-callable` if the type of the schema is not an object.
fn root(mut schema: Value, is_open: bool, pointer: &str) -> Result<Value> {
    let Value::Object(object) = &mut schema else { return Ok(schema) };
    if object.get("$defs").is_some_and(|all| all == &json!({})) {
        object.remove("$defs");
    }
    const SAYS: [&str; 10] = [
        "properties",
        "additionalProperties",
        "unevaluatedProperties",
        "patternProperties",
        "dependentSchemas",
        "$ref",
        "allOf",
        "anyOf",
        "oneOf",
        "if",
    ];
    if !is_open && !SAYS.iter().any(|keyword| object.contains_key(*keyword)) {
        forbid_undeclared(object);
    }
    let is_object = match object.get("type") {
        None => true,
        Some(Value::Array(names)) => names.iter().any(|name| name == "object"),
        Some(name) => name == "object",
    };
    if !is_object {
        let found = object.get("type").map(Value::to_string).unwrap_or_default();
        let place = Place::Pointer(join(pointer, "type"));
        let message = "the arguments of a call are an object";
        return Err(errors::fatal(errors::not_callable(place, message, &found, "\"type\": \"object\"")));
    }
    object.insert("type".to_owned(), "object".into());
    Ok(schema)
}

/// Reads the arguments of a custom tool, whose `format` is a member of the object at `pointer`.
fn custom(
    object: &Map<String, Value>,
    pointer: &str,
    reading: &Reading<'_>,
    notes: &mut Vec<Diagnostic>,
) -> Result<Made> {
    let read = custom::read(object, pointer, &reading.options.limits)?;
    notes.extend(read.warnings);
    let origins = vec![(custom::grammar_pointer(), read.pointer), (String::new(), pointer.to_owned())];
    Ok(Made { origins, is_custom: true, ..Made::of_host(read.schema) })
}
