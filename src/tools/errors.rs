//! The findings of this room: codes `tools/…`.

use crate::diagnostic::{Diagnostic, Place, did_you_mean};
use crate::error::{Error, ErrorKind};

pub(super) fn fatal(diagnostic: Diagnostic) -> Error {
    Error::new(ErrorKind::Grammar, diagnostic)
}

/// The text is not of its notation.
pub(super) fn syntax(place: Place, found: &str, allowed: &str) -> Error {
    let diagnostic = Diagnostic::new("tools/syntax", "the document of tools cannot be read");
    fatal(diagnostic.at(place).found(found).allowed(allowed).help("docs/tools.md lists what is read"))
}

/// No kind of document has this form.
pub(super) fn unknown_form(place: Place, found: &str) -> Error {
    let diagnostic = Diagnostic::new("tools/unknown-form", "this is no document of tools")
        .at(place)
        .found(found)
        .allowed(
            "OpenAPI, MCP `tools/list`, declarations of OpenAI, Anthropic, Gemini, BFCL or ToolBench, Python",
        )
        .help("docs/tools.md shows the form of each");
    fatal(diagnostic)
}

/// Names that are equal after they were qualified.
pub(super) fn name_clash(place: Place, names: &[String]) -> Error {
    let diagnostic = Diagnostic::new("tools/name-clash", "several tools would have one name")
        .at(place)
        .found(names.join(", "))
        .allowed("names that differ, in one source and after `label__` was put before those of several")
        .help("give the sources other labels: `--label NAME`, once a file");
    fatal(diagnostic)
}

/// What JSON Schema's front end says of the arguments of a tool.
pub(super) fn schema(place: Place, cause: &Diagnostic) -> Diagnostic {
    let inner = match cause.place() {
        Place::Pointer(pointer) if !pointer.is_empty() => {
            format!("{} (in its arguments: #{pointer})", cause.message())
        }
        _ => cause.message().to_owned(),
    };
    let made = Diagnostic::new("tools/arguments", "no grammar can be made of the arguments of this tool")
        .at(place)
        .cause(format!("{}: {inner}", cause.code()))
        .help("correct the schema; the other tools are not touched by it");
    match cause.found_text() {
        Some(found) => made.found(found),
        None => made,
    }
}

/// A part of a tool does not have its form.
pub(super) fn form(place: Place, found: &str, allowed: &str) -> Diagnostic {
    Diagnostic::new("tools/form", "this part of the description of a tool has another form")
        .at(place)
        .found(found)
        .allowed(allowed)
        .help("correct the document")
}

/// A name is missing or empty.
pub(super) fn no_name(place: Place) -> Diagnostic {
    Diagnostic::new("tools/no-name", "this tool has no name")
        .at(place)
        .allowed("a text that is not empty as its name")
        .help("give it a name")
}

/// A reference leads nowhere.
pub(super) fn reference(place: Place, found: &str, allowed: &str) -> Diagnostic {
    Diagnostic::new("tools/reference", "a reference leads nowhere")
        .at(place)
        .found(found)
        .allowed(allowed)
        .help("nothing is fetched: bundle the document, or correct the reference")
}

/// What no call can be made of.
pub(super) fn not_callable(place: Place, message: &str, found: &str, allowed: &str) -> Diagnostic {
    Diagnostic::new("tools/not-callable", message)
        .at(place)
        .found(found)
        .allowed(allowed)
        .help("the other tools of the document are not touched by it")
}

/// Text where a boolean or a number must stand.
pub(super) fn repaired(place: Place, found: &str, allowed: &str) -> Diagnostic {
    Diagnostic::new("tools/repaired", "a text stands where another value must, and is read as that")
        .at(place)
        .found(found)
        .allowed(allowed)
        .help("correct the document; with `--strict` this is an error")
}

/// A key of a path item that is no method.
pub(super) fn path_item_key(place: Place, found: &str) -> Diagnostic {
    Diagnostic::new("tools/path-item-key", "this key of a path is no method, and no tool is made of it")
        .at(place)
        .found(found)
        .allowed("get, put, post, delete, options, head, patch, trace, query; keys that begin with `x-`")
        .help("correct the document; with `--strict` this is an error")
}

/// What is left out or read in another way than it is written.
pub(super) fn notice(place: Place, message: &str, found: &str, help: &str) -> Diagnostic {
    Diagnostic::new("tools/notice", message).at(place).found(found).help(help)
}

/// A table that is no call format.
pub(super) fn format(place: Place, found: &str) -> Error {
    let diagnostic = Diagnostic::new("tools/format", "this is no call format")
        .at(place)
        .found(found)
        .allowed("description, text, lead, begin, call, separator, end, between, after, several, always, endings, nothing")
        .help("docs/tools.md describes the table");
    fatal(diagnostic)
}

/// A name in which what follows it stands.
pub(super) fn unwritable_name(place: Place, name: &str, after: &str) -> Error {
    fatal(not_callable(
        place,
        "this format cannot write the name",
        name,
        &format!("names without a line break and {after:?}"),
    ))
}

/// Text that is no turn.
pub(super) fn call_text(place: Place, found: &str, allowed: &str) -> Error {
    let diagnostic = Diagnostic::new("tools/call-text", "this is no turn of the format")
        .at(place)
        .found(found)
        .allowed(allowed)
        .help("the grammar of the format says what may come");
    Error::new(ErrorKind::Rejected, diagnostic)
}

/// No call can be made and one is required.
pub(super) fn no_tools() -> Error {
    let diagnostic = Diagnostic::new("tools/no-tools", "a call is required and no tool can be called")
        .allowed("a set with a tool that can be called in the format")
        .help("allow turns without calls, or see why tools are refused");
    Error::new(ErrorKind::Usage, diagnostic)
}

/// A name that no tool has.
pub(super) fn unknown_tool<'n>(name: &str, known: impl Iterator<Item = &'n str>) -> Error {
    let diagnostic = Diagnostic::new("tools/unknown-tool", "no tool has this name")
        .found(name)
        .help(did_you_mean(name, known, "`grammata tools list` shows the names"));
    Error::new(ErrorKind::Usage, diagnostic)
}

/// Bounds on calls that no turn keeps.
pub(super) fn call_count(min: u32, most: Option<u32>) -> Error {
    let most = most.map_or_else(|| "any number".to_owned(), |most| most.to_string());
    let diagnostic = Diagnostic::new("tools/call-count", "a turn has another number of calls")
        .found(format!("at least {min}, at most {most}"))
        .allowed("1 or more, and no more than the format writes in a turn")
        .help("change the bounds");
    Error::new(ErrorKind::Usage, diagnostic)
}

/// A call that stands for no request.
pub(super) fn request(found: &str, allowed: &str) -> Error {
    let diagnostic = Diagnostic::new("tools/request", "no request can be made of the call")
        .found(found)
        .allowed(allowed)
        .help("see `grammata tools list --json` for what the tool stands for");
    Error::new(ErrorKind::Usage, diagnostic)
}

/// A token or bytes with which no turn goes on.
pub(super) fn rejected(place: usize, found: &str, names: Option<String>) -> Error {
    let allowed = names
        .map_or_else(|| "what the mask allows".to_owned(), |names| format!("the name of a tool: {names}"));
    let diagnostic = Diagnostic::new("tools/rejected", "no turn goes on so")
        .at(Place::Byte(place))
        .found(found)
        .allowed(allowed)
        .help("offer only tokens that the mask allows");
    Error::new(ErrorKind::Rejected, diagnostic)
}

/// The host speaks before the model's turn can end.
pub(super) fn open_turn(place: usize) -> Error {
    let diagnostic = Diagnostic::new("tools/open-turn", "the turn of the model has not come to an end")
        .at(Place::Byte(place))
        .help("let the model finish, or begin the turn again: `Session::restart`");
    Error::new(ErrorKind::Usage, diagnostic)
}

/// A value of `tool_choice` that no one knows.
pub(super) fn tool_choice(found: &str) -> Error {
    let diagnostic = Diagnostic::new("tools/tool-choice", "this says of no tools whether they may be called")
        .found(found)
        .allowed("\"auto\", \"required\", \"any\", \"none\", {\"type\": \"function\", \"name\": N}, {\"type\": \"allowed_tools\", \"mode\": \"auto\", \"tools\": [\u{2026}]}")
        .help("docs/tools.md shows the forms");
    Error::new(ErrorKind::Usage, diagnostic)
}
