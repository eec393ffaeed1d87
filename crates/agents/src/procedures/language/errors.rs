//! The findings of procedure files: errors, warnings and notes with codes `pdl/…`; and errors of traces and call
//! formats.

use grammata::diagnostic::{Diagnostic, Place, did_you_mean};
use grammata::error::{Error, ErrorKind};

/// How serious a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The procedure cannot be used.
    Error,
    /// The procedure can be used and probably does not mean what its author meant.
    Warning,
    /// A remark.
    Note,
}

/// A finding of the static checks at one place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// How serious the finding is.
    pub severity: Severity,
    /// The code, the place, the found and the allowed text, and help.
    pub diagnostic: Diagnostic,
}

/// The findings of a file, in the order of their discovery.
#[derive(Debug, Default)]
pub(in crate::procedures) struct Findings(pub(crate) Vec<Finding>);

impl Findings {
    pub(in crate::procedures) fn error(&mut self, diagnostic: Diagnostic) {
        self.0.push(Finding { severity: Severity::Error, diagnostic });
    }

    pub(in crate::procedures) fn warn(&mut self, diagnostic: Diagnostic) {
        self.0.push(Finding { severity: Severity::Warning, diagnostic });
    }

    pub(in crate::procedures) fn note(&mut self, diagnostic: Diagnostic) {
        self.0.push(Finding { severity: Severity::Note, diagnostic });
    }

    pub(in crate::procedures) fn has_errors(&self) -> bool {
        self.0.iter().any(|finding| finding.severity == Severity::Error)
    }

    pub(in crate::procedures) fn has(&self, code: &str) -> bool {
        self.0.iter().any(|finding| finding.diagnostic.code() == code)
    }
}

/// Creates an error that ends the reading of a file.
pub(in crate::procedures) fn fatal(diagnostic: Diagnostic) -> Error {
    Error::new(ErrorKind::Grammar, diagnostic)
}

/// Returns the error for a file that is not in its notation, or for a value of the wrong form.
pub(in crate::procedures) fn syntax(place: Place, found: &str, allowed: &str) -> Error {
    fatal(form(place, found, allowed))
}

pub(in crate::procedures) fn form(place: Place, found: &str, allowed: &str) -> Diagnostic {
    Diagnostic::new("pdl/yaml", "the file of the procedure cannot be read")
        .at(place)
        .found(found)
        .allowed(allowed)
        .help("correct it there")
}

pub(in crate::procedures) fn missing_field(place: Place, field: &str, of: &str) -> Diagnostic {
    Diagnostic::new("pdl/missing-field", format!("{of} has no `{field}`"))
        .at(place)
        .allowed(format!("a text as `{field}`"))
        .help(format!("add `{field}`"))
}

pub(in crate::procedures) fn unknown_field(place: Place, field: &str, known: &[&str]) -> Diagnostic {
    Diagnostic::new("pdl/unknown-field", "this field has no meaning here and is not used")
        .at(place)
        .found(field)
        .allowed(known.join(", "))
        .help(did_you_mean(&field.to_lowercase(), known.iter().copied(), "remove it"))
}

pub(in crate::procedures) fn kind(place: Place, found: &str, known: &[&str]) -> Diagnostic {
    Diagnostic::new("pdl/kind", "unknown kind of answer")
        .at(place)
        .found(found)
        .allowed(known.join(", "))
        .help(did_you_mean(found, known.iter().copied(), "leave `kind` out, and the name decides"))
}

pub(in crate::procedures) fn duplicate_node(place: Place, name: &str) -> Diagnostic {
    Diagnostic::new("pdl/duplicate-node", "two APIs or answers have this name")
        .at(place)
        .found(name)
        .allowed("names that differ in more than spaces; APIs and answers share them")
        .help("rename one of the two")
}

pub(in crate::procedures) fn duplicate_slot(place: Place, name: &str) -> Diagnostic {
    Diagnostic::new("pdl/duplicate-slot", "two slots have this name")
        .at(place)
        .found(name)
        .allowed("names that differ in more than spaces")
        .help("rename or remove one of the two")
}

pub(in crate::procedures) fn tool_file(place: Place, found: &str, cause: &str) -> Diagnostic {
    Diagnostic::new("pdl/tool-file", "the document of this tool cannot be read")
        .at(place)
        .found(found)
        .cause(cause)
        .allowed(
            "FILE#NAME: a document of tools in the folder of the procedure or below it, and the name of one of its \
             tools; or NAME: the tool of a server",
        )
        .help("`grammata tools list FILE` shows whether a document can be read, and its names")
}

pub(in crate::procedures) fn unknown_tool(place: Place, found: &str, path: &str, near: String) -> Diagnostic {
    Diagnostic::new("pdl/unknown-tool", "the document has no tool of this name")
        .at(place)
        .found(found)
        .allowed(format!("an operation or a tool of {path}"))
        .help(near)
}

pub(in crate::procedures) fn tool_refused(place: Place, found: &str, reason: &Diagnostic) -> Diagnostic {
    Diagnostic::new("pdl/tool-refused", "this tool cannot be called")
        .at(place)
        .found(found)
        .cause(reason.message().to_owned())
        .allowed("tools that `grammata tools check` has no error of")
        .help("correct the document, or declare `request` and `response` without `tool`")
}

pub(in crate::procedures) fn tool_arguments(place: Place, found: &str, cause: &str) -> Diagnostic {
    Diagnostic::new("pdl/tool-arguments", "the arguments of this tool cannot be slots")
        .at(place)
        .found(found)
        .cause(cause)
        .allowed("arguments each of which has a schema of its own")
        .help("name in `request` and `optional` what calls have, or declare the API without `tool`")
}

pub(in crate::procedures) fn tool_conflict(
    place: Place,
    found: &str,
    allowed: &str,
    help: impl Into<String>,
) -> Diagnostic {
    Diagnostic::new("pdl/tool-conflict", "this contradicts the tool of the API")
        .at(place)
        .found(found)
        .allowed(allowed)
        .help(help)
}

pub(in crate::procedures) fn slot_conflict(place: Place, slot: &str, one: &str, other: &str) -> Diagnostic {
    Diagnostic::new("pdl/slot-conflict", "no schema holds what is said of this slot")
        .at(place)
        .found(format!("{slot}: {one} and {other}"))
        .allowed("schemas that hold together: a type, a list of values, bounds of the same kind")
        .help("correct the schema among SLOTs, or give the parameter a slot of its own: `request: {SLOT: PARAMETER}`")
}

pub(in crate::procedures) fn indent(place: Place, found: &str) -> Diagnostic {
    Diagnostic::new("pdl/indent", "this line is indented like no block that is open")
        .at(place)
        .found(found)
        .allowed("the indentation of an open block; a deeper one only after a line that ends in `:`")
        .help("indent the line like the statement before it")
}

pub(in crate::procedures) fn empty_block(place: Place, found: &str) -> Diagnostic {
    Diagnostic::new("pdl/empty-block", "nothing is indented below this line")
        .at(place)
        .found(found)
        .allowed("a statement or a comment, indented deeper")
        .help("write `pass` or a comment below it")
}

pub(in crate::procedures) fn stray_branch(place: Place, found: &str) -> Diagnostic {
    Diagnostic::new("pdl/stray-branch", "this branch belongs to no block")
        .at(place)
        .found(found)
        .allowed("`elif` and `else` after the block of an `if`, `except` after that of a `try`")
        .help("indent it like its `if` or `try`, and put nothing in between")
}

pub(in crate::procedures) fn unclosed_bracket(place: Place, found: &str) -> Diagnostic {
    Diagnostic::new("pdl/unclosed-bracket", "a bracket is not closed up to the end of the text")
        .at(place)
        .found(found)
        .allowed("as many closing brackets as opening ones outside of strings")
        .help("close the bracket")
}

pub(in crate::procedures) fn try_without_except(place: Place) -> Diagnostic {
    Diagnostic::new("pdl/try-without-except", "`try` has no `except`")
        .at(place)
        .found("try:")
        .allowed("`except:` after the block, indented like `try:`")
        .help("add `except:` with what follows an error")
}

pub(in crate::procedures) fn unknown_node(place: Place, name: &str, near: String) -> Diagnostic {
    Diagnostic::new("pdl/unknown-node", "no API or answer has this name")
        .at(place)
        .found(name)
        .allowed("a name of APIs or ANSWERs")
        .help(near)
}

pub(in crate::procedures) fn unknown_precondition(place: Place, name: &str, near: String) -> Diagnostic {
    Diagnostic::new("pdl/unknown-precondition", "no API or answer has the name of this precondition")
        .at(place)
        .found(name)
        .allowed("a name of APIs or ANSWERs, with `!ok` or `!error` after it or without")
        .help(near)
}

pub(in crate::procedures) fn node_kind(place: Place, name: &str, is_api: bool) -> Diagnostic {
    let (found, right) = if is_api { ("an API", "API.") } else { ("an answer", "ANSWER.") };
    Diagnostic::new("pdl/node-kind", format!("{found} is called as the other kind"))
        .at(place)
        .found(name)
        .allowed(format!("`{right}` before the name, or the name alone"))
        .help(format!("write `{right}`"))
}

pub(in crate::procedures) fn cyclic_precondition(place: Place, cycle: &str) -> Diagnostic {
    Diagnostic::new(
        "pdl/cyclic-precondition",
        "cyclic preconditions: none of these nodes can ever be reached",
    )
    .at(place)
    .found(cycle)
    .allowed("preconditions without a cycle")
    .help("remove one of these preconditions")
}

pub(in crate::procedures) fn blocking(place: Place, found: &str) -> Diagnostic {
    Diagnostic::new(
        "pdl/blocking",
        "whatever the agent does, results or decisions can keep it from every closing answer",
    )
    .at(place)
    .found(found)
    .allowed("from each state that results and decisions lead to, a way to a closing answer")
    .help("give an answer for the outcomes without one, or remove the condition that excludes it")
}

pub(in crate::procedures) fn unreachable_node(place: Place, name: &str) -> Diagnostic {
    Diagnostic::new("pdl/unreachable-node", "no results and decisions ever permit this node")
        .at(place)
        .found(name)
        .allowed("conditions and preconditions that can hold together")
        .help("remove the condition or the precondition that contradicts the others")
}

pub(in crate::procedures) fn unreachable_code(place: Place, found: &str) -> Diagnostic {
    Diagnostic::new("pdl/unreachable-code", "this line is never reached")
        .at(place)
        .found(found)
        .allowed("comments after a statement that leaves the block")
        .help("remove it, or the `return`, `break` or `continue` before it")
}

pub(in crate::procedures) fn silent_outcome(place: Place, api: &str, outcome: &str) -> Diagnostic {
    Diagnostic::new("pdl/silent-outcome", format!("nothing that builds on `{api}` may follow this outcome"))
        .at(place)
        .found(outcome)
        .allowed("for each outcome an API or an answer that requires the call or tests its result")
        .help("add a branch (`else:`) for this outcome")
}

pub(in crate::procedures) fn missing_precondition(place: Place, name: &str, apis: &str) -> Diagnostic {
    Diagnostic::new("pdl/missing-precondition", "the node depends on results that it does not require")
        .at(place)
        .found(name)
        .allowed(format!("{apis} among its preconditions"))
        .help(format!("add {apis} to the preconditions of `{name}`"))
}

pub(in crate::procedures) fn suspicious_guard(place: Place, name: &str, api: &str) -> Diagnostic {
    Diagnostic::new(
        "pdl/suspicious-guard",
        format!("`{name}` requires `{api}`, but is called only if its result is negative"),
    )
    .at(place)
    .found(name)
    .allowed("a call after a positive result of the call that it requires")
    .help("move the call behind the loop")
}

pub(in crate::procedures) fn unassigned_slot(place: Place, slot: &str) -> Diagnostic {
    Diagnostic::new("pdl/unassigned-slot", "a condition tests a slot that nothing sets")
        .at(place)
        .found(slot)
        .allowed("slots of a response or a request, targets of an assignment, and `asks`")
        .help("assign the slot, or write the condition in words")
}

pub(in crate::procedures) fn undeclared_slot(place: Place, slot: &str, near: String) -> Diagnostic {
    Diagnostic::new("pdl/undeclared-slot", "`SLOTs` does not have this slot")
        .at(place)
        .found(slot)
        .allowed("names of SLOTs")
        .help(near)
}

pub(in crate::procedures) fn unused_slot(place: Place, slot: &str) -> Diagnostic {
    Diagnostic::new("pdl/unused-slot", "nothing uses this slot")
        .at(place)
        .found(slot)
        .allowed("slots of requests, responses, conditions and texts")
        .help("remove it")
}

pub(in crate::procedures) fn unused_node(place: Place, name: &str) -> Diagnostic {
    Diagnostic::new("pdl/unused-node", "the procedure never calls this node")
        .at(place)
        .found(name)
        .allowed("nodes that a reachable line of the procedure calls")
        .help("call it in the procedure, or remove it")
}

pub(in crate::procedures) fn mixed_literals(place: Place, slot: &str, kinds: &str) -> Diagnostic {
    Diagnostic::new("pdl/mixed-literals", "a slot is compared with literals of several types")
        .at(place)
        .found(format!("{slot}: {kinds}"))
        .allowed("booleans, numbers or texts, one of these for each slot")
        .help("compare the slot with literals of its type")
}

pub(in crate::procedures) fn argument(place: Place, slot: &str, api: &str, request: &[String]) -> Diagnostic {
    Diagnostic::new("pdl/argument", format!("the request of `{api}` does not have this slot"))
        .at(place)
        .found(slot)
        .allowed(listed(request))
        .help(format!("add it to the request of `{api}`, or remove it here"))
}

pub(in crate::procedures) fn result(place: Place, slot: &str, api: &str, response: &[String]) -> Diagnostic {
    Diagnostic::new("pdl/result", format!("the response of `{api}` does not have this slot"))
        .at(place)
        .found(slot)
        .allowed(format!("{}, or as many other names", listed(response)))
        .help(format!("add it to the response of `{api}`, or remove it here"))
}

pub(in crate::procedures) fn write_without_confirmation(place: Place, name: &str) -> Diagnostic {
    Diagnostic::new("pdl/write-without-confirmation", "the call has an effect that no answer announces")
        .at(place)
        .found(name)
        .allowed("an answer among the preconditions of a call with `effect: write`")
        .help("require the answer that asks for consent, if there should be one")
}

pub(in crate::procedures) fn no_closing_answer(place: Place) -> Diagnostic {
    Diagnostic::new(
        "pdl/no-closing-answer",
        "the text has no answer that ends a session, so no session has a bound",
    )
    .at(place)
    .found("no inform")
    .allowed("an answer of the kind `inform` that the text says")
    .help("say at the end what came of it, or leave sessions without a bound")
}

pub(in crate::procedures) fn trace(line: usize, found: &str, allowed: &str) -> Error {
    let diagnostic = Diagnostic::new("pdl/trace", "an event of the trace cannot be read")
        .at(Place::LineColumn { line, column: 1 })
        .found(found)
        .allowed(allowed)
        .help("write one JSON list on each line, such as `[\"user\", TEXT]` or `[\"call\", API, {SLOT: VALUE}]`");
    Error::new(ErrorKind::Usage, diagnostic)
}

pub(in crate::procedures) fn call_format(found: &str) -> Error {
    let diagnostic =
        Diagnostic::new("procedure/call-format", "an agent that writes in this call format can say nothing")
            .found(found)
            .allowed(
                "formats whose turns may be text, such as `hermes`, `llama3`, `mistral`, `react`, `python`",
            )
            .help("choose another call format");
    Error::new(ErrorKind::Usage, diagnostic)
}

/// Returns names separated by commas, or `nothing`.
fn listed(names: &[String]) -> String {
    if names.is_empty() { "nothing".to_owned() } else { names.join(", ") }
}

/// Returns the error for a procedure that is blocked from the start.
pub(in crate::procedures) fn blocked_start(name: &str) -> Error {
    let message = "results or decisions can keep the agent from every closing answer from the start on";
    let diagnostic = Diagnostic::new("pdl/blocking", message)
        .found(name)
        .allowed("a procedure with a way to a closing answer after all outcomes of some choice")
        .help("`grammata procedure check` (`procedures::check`) names the outcomes that lead out");
    Error::new(ErrorKind::Grammar, diagnostic)
}
