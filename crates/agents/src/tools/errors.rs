//! The errors and findings about tools, with codes `tools/…`.

use grammata::diagnostic::{Diagnostic, Place, did_you_mean, did_you_mean_field, excerpt};
use grammata::error::{Error, ErrorKind};

pub(super) fn fatal(diagnostic: Diagnostic) -> Error {
    Error::new(ErrorKind::Grammar, diagnostic)
}

grammata_base::errors! {
    pub(super) Usage(place: Place) at(place);

    /// Returns the error for a text that violates its notation.
    syntax(found: &str, allowed: &str) = Grammar "tools/syntax", "the document of tools cannot be read"
        found(found) allowed(allowed) help("correct it there");

    /// Returns the error for a document of an unknown kind.
    unknown_form(found: &str) = Grammar "tools/unknown-form", "not a document of tools"
        found(found)
        allowed("OpenAPI, MCP `tools/list`, declarations of OpenAI, Anthropic, Gemini, BFCL or ToolBench, Python")
        help("give a document of one of these forms");

    /// Returns the diagnostic for a part of a tool description with an invalid form.
    form(found: &str, allowed: &str) =
        Diagnostic "tools/form", "this part of a tool's description has an unknown form"
        found(found) allowed(allowed) help("correct the document");

    /// Returns the diagnostic for a custom tool whose grammar has no words.
    no_input(found: &str) = Diagnostic "tools/definition", "no input is a word of this tool's grammar"
        found(excerpt(found)) allowed("a grammar that has words") help("correct the grammar");

    /// Returns the diagnostic for a tool whose name is missing or empty.
    no_name() = Diagnostic "tools/no-name", "this tool has no name"
        allowed("a text that is not empty as its name") help("give it a name");

    /// Returns the diagnostic for a reference without a target.
    reference(found: &str, allowed: &str) = Diagnostic "tools/reference", "a reference leads nowhere"
        found(found)
        allowed(allowed)
        help("nothing is fetched: bundle the document, or correct the reference");

    /// Returns the diagnostic for a tool from which no call can be made.
    not_callable(message: &str, found: &str, allowed: &str) = Diagnostic "tools/not-callable", (message)
        found(found) allowed(allowed) help("the other tools of the document are not touched by it");

    /// Returns the diagnostic for a member that a later one with the same key replaces.
    repeated_key(key: &str) =
        Diagnostic "tools/repeated-key", "this key is repeated in the object, and its value here is ignored"
        found(key)
        allowed("each key once in an object")
        help("rename or remove one of them; with `--strict` this is an error");

    /// Returns the diagnostic for a key of a path item that is not a method.
    path_item_key(found: &str) =
        Diagnostic "tools/path-item-key", "this key of a path is not a method, and makes no tool"
        found(found)
        allowed("get, put, post, delete, options, head, patch, trace, query; keys that begin with `x-`")
        help("correct the document; with `--strict` this is an error");

    /// Returns the diagnostic for a part that is omitted, or read differently from how it is written.
    notice(message: &str, found: &str, help: &str) = Diagnostic "tools/notice", (message)
        found(found) help(help);

    /// Returns the error for a table that is not a call format.
    format(found: &str) = Grammar "tools/format", "not a call format"
        found(found)
        allowed("description, text, lead, begin, call, separator, end, between, after, several, always, endings, nothing")
        help(did_you_mean_field(found, "name only these keys, each with a value of its kind"));

    /// Returns the error for a text that is not a turn of the format.
    call_text(found: &str, allowed: &str) =
        Rejected "tools/call-text", "the text is not a turn in this call format"
        found(if found.is_empty() { "the end of the text" } else { found })
        allowed(allowed)
        help("see the grammar of the format for what is allowed");
}

grammata_base::errors! {
    pub(super) Usage;

    unknown_tool<'n>(name: &str, known: impl Iterator<Item = &'n str>) =
        "tools/unknown-tool", "no tool has this name"
        found(name) help(did_you_mean(name, known, "`grammata tools list` shows the names"));

    /// Bounds on the number of calls that no turn satisfies.
    call_count(min: u32, most: Option<u32>) = "tools/call-count", "a turn has another number of calls"
        found("at least {min}, at most {}", most.map_or_else(|| "any number".to_owned(), |most| most.to_string()))
        allowed("1 or more, and no more than the format writes in a turn")
        help("change the bounds");

    /// Returns the error for a tool that cannot be called, with the reason.
    refused_tool(name: &str, reason: &Diagnostic) = Grammar "tools/refused-tool", "this tool cannot be called"
        at(Place::Pointer("/name".to_owned()))
        found(name)
        cause("{}{} at {}", reason.message(), match (reason.cause_text(), reason.found_text()) {
            (Some(detail), _) | (None, Some(detail)) => format!(" ({detail})"),
            (None, None) => String::new(),
        }, reason.place())
        help("`grammata tools check` shows the place in its document");

    /// Returns the diagnostic for a fault at a place in a call.
    call_fault(message: &str, place: Place) = Diagnostic "tools/call-arguments", (message)
        at(place) help("correct the call; masks allow none that does not fit");

    /// Returns the error for a tool without an HTTP request.
    no_request(name: &str) = "tools/request", "a call of this tool is not an HTTP request"
        at(Place::Pointer("/name".to_owned()))
        found(name)
        allowed("a tool of an OpenAPI document")
        help("the host runs this tool: a server of MCP takes the call as the parameters of `tools/call`");

    /// Returns the error for a tool whose document names no server.
    no_server(name: &str) = "tools/request", "the address of this tool's server is not known"
        at(Place::Pointer("/name".to_owned()))
        found(name)
        allowed("a document with an absolute address of a server")
        help("give the address: `--server URL`");

    /// Returns the error for a token or bytes that no turn can continue with.
    rejected(place: usize, found: &str, names: Option<String>) =
        Rejected "tools/rejected", "token or text not allowed here"
        at(Place::Byte(place))
        found(found)
        allowed(names.map_or_else(
            || "a token that the mask allows".to_owned(),
            |names| format!("the name of a tool: {names}"),
        ))
        help("offer only tokens that the mask allows");

    /// Returns the error for a host that ends a turn where it cannot end, or that passes an observation while a turn is
    /// open. `place` is the length of the turn in bytes.
    open_turn(place: usize) = "tools/open-turn", "the turn of the model is not finished"
        at(Place::Byte(place)) help("let the model finish, or begin the turn again: `Session::restart`");

    /// Returns the error for an unrecognised `tool_choice`.
    tool_choice(found: &str) = "tools/tool-choice", "unrecognised `tool_choice`"
        found(found)
        allowed("\"auto\", \"required\", \"any\", \"none\", {{\"type\": \"function\", \"name\": N}}, {{\"type\": \"allowed_tools\", \"mode\": \"auto\", \"tools\": [\u{2026}]}}")
        help("write the choice as one of these");
}

grammata_base::errors! {
    Usage;

    repair(message: &str, place: Place, found: &str, allowed: &str) = Diagnostic "tools/repaired", (message)
        at(place)
        found(found)
        allowed(allowed)
        help("correct the document; with `--strict` this is an error");
}

/// Returns the diagnostic for a name that another tool has as well, even after qualification by source.
pub(super) fn name_clash(place: Place, name: &str, other: &Place, is_one_document: bool) -> Diagnostic {
    let (other, help) = match is_one_document {
        true => (other.to_string(), "give one of them another name in the document"),
        false => (
            format!("{other} of another document"),
            "give the sources other labels: `--label NAME`, once a file",
        ),
    };
    Diagnostic::new("tools/name-clash", "another tool has this name, so that a call could mean either")
        .at(place)
        .found(format!("{name}, also at {other}"))
        .allowed("each name once in a source, and different labels of sources")
        .help(help)
}

/// Returns a diagnostic of the JSON Schema front end as one about the arguments of a tool.
pub(super) fn schema(place: Place, cause: &Diagnostic, inside: Option<String>) -> Diagnostic {
    let inside = inside.map_or_else(String::new, |inside| format!(" ({inside})"));
    let made = Diagnostic::new("tools/arguments", "the arguments of this tool cannot be compiled")
        .at(place)
        .cause(format!("{}: {}{inside}", cause.code(), cause.message()))
        .help("correct the schema; the other tools are not touched by it");
    match cause.found_text() {
        Some(found) => made.found(found),
        None => made,
    }
}

/// Returns a diagnostic about the grammar of a custom tool as one about the tool.
pub(super) fn definition(place: Place, cause: &Diagnostic) -> Diagnostic {
    let within = cause.cause_text().map_or_else(String::new, |within| format!(" ({within})"));
    let made = Diagnostic::new("tools/definition", "the grammar of this custom tool cannot be used")
        .at(place)
        .cause(format!("{}: {}{within}", cause.code(), cause.message()))
        .help(cause.help_text().unwrap_or("correct the grammar; the other tools are not touched by it"));
    let made = match cause.allowed_text() {
        Some(allowed) => made.allowed(allowed),
        None => made,
    };
    match cause.found_text() {
        Some(found) => made.found(found),
        None => made,
    }
}

/// Describes the place in the arguments' schema to which a diagnostic points; `None` if it points to the root or is not
/// a pointer.
pub(super) fn inside(cause: &Diagnostic) -> Option<String> {
    match cause.place() {
        Place::Pointer(pointer) if !pointer.is_empty() => Some(format!("in its arguments: #{pointer}")),
        _ => None,
    }
}

/// Returns the diagnostic for a value that is read as the required one, such as a text for a number.
pub(super) fn repaired(place: Place, found: &str, allowed: &str) -> Diagnostic {
    repair("this value is read as another one", place, found, allowed)
}

/// Returns the diagnostic for a keyword without a usable value, which is ignored.
pub(super) fn left_out(place: Place, found: &str, allowed: &str) -> Diagnostic {
    repair("this keyword has no value of its own and is left out", place, found, allowed)
}

/// Returns the diagnostic for an MCP tool whose schema lists no members, though its input may have some.
pub(super) fn empty_arguments(place: Place) -> Diagnostic {
    notice(
        place,
        "this tool can be called with `{}` only",
        "{}",
        "if its input is a union or a record, which some MCP servers list so: `--open`",
    )
}

/// Returns the error for a name that a format cannot write. `after` is the text that ends names in the format.
pub(super) fn unwritable_name(place: Place, name: &str, after: &str) -> Error {
    fatal(not_callable(
        place,
        "this format cannot write the name",
        name,
        &format!("names without a line break and {after:?}"),
    ))
}

/// Returns the error for a required call when no tool can be called.
pub(super) fn no_tools<'r>(refused: impl Iterator<Item = (&'r str, &'r Diagnostic)>) -> Error {
    let refused: Vec<String> =
        refused.take(3).map(|(name, reason)| format!("{name}: {}", reason.message())).collect();
    let found = if refused.is_empty() { "no tools".to_owned() } else { refused.join("; ") };
    let diagnostic = Diagnostic::new("tools/no-tools", "a call is required and no tool can be called")
        .found(found)
        .allowed("a set with a tool that can be called in the format")
        .help("allow turns without calls, or see why tools are refused");
    Error::new(ErrorKind::Usage, diagnostic)
}

/// Returns the error for a call whose arguments violate the schema of the tool.
pub(super) fn call_arguments(fault: Diagnostic) -> Error {
    Error::new(ErrorKind::Rejected, fault)
}

/// Returns the error for an argument that cannot be part of a request. The place is in the arguments.
pub(super) fn request(argument: &str, allowed: &str) -> Error {
    let pointer = format!("/{}", argument.replace('~', "~0").replace('/', "~1"));
    let diagnostic = Diagnostic::new("tools/request", "this argument cannot be written into the request")
        .at(Place::Pointer(pointer))
        .found(argument)
        .allowed(allowed)
        .help("see `grammata tools list --output-format json` for the tool's operation");
    Error::new(ErrorKind::Usage, diagnostic)
}
