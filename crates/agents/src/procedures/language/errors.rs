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

/// Returns names separated by commas, or `nothing`.
fn listed(names: &[String]) -> String {
    if names.is_empty() { "nothing".to_owned() } else { names.join(", ") }
}

grammata_base::errors! {
    pub(in crate::procedures) Usage(place: Place) at(place);

    form(found: &str, allowed: &str) = Diagnostic "pdl/yaml", "the file of the procedure cannot be read"
        found(found) allowed(allowed) help("correct it there");

    missing_field(field: &str, of: &str) = Diagnostic "pdl/missing-field", "{of} has no `{field}`"
        allowed("a text as `{field}`") help("add `{field}`");

    unknown_field(field: &str, known: &[&str]) =
        Diagnostic "pdl/unknown-field", "this field has no meaning here and is not used"
        found(field)
        allowed(known.join(", "))
        help(did_you_mean(&field.to_lowercase(), known.iter().copied(), "remove it"));

    kind(found: &str, known: &[&str]) = Diagnostic "pdl/kind", "unknown kind of answer"
        found(found)
        allowed(known.join(", "))
        help(did_you_mean(found, known.iter().copied(), "leave `kind` out, and the name decides"));

    duplicate_node(name: &str) = Diagnostic "pdl/duplicate-node", "two APIs or answers have this name"
        found(name)
        allowed("names that differ in more than spaces; APIs and answers share them")
        help("rename one of the two");

    duplicate_slot(name: &str) = Diagnostic "pdl/duplicate-slot", "two slots have this name"
        found(name) allowed("names that differ in more than spaces") help("rename or remove one of the two");

    tool_file(found: &str, cause: &str) =
        Diagnostic "pdl/tool-file", "the document of this tool cannot be read"
        found(found)
        cause(cause)
        allowed("FILE#NAME: a document of tools in the folder of the procedure or below it, and the name of one of its \
        tools; or NAME: the tool of a server")
        help("`grammata tools list FILE` shows whether a document can be read, and its names");

    unknown_tool(found: &str, path: &str, near: String) =
        Diagnostic "pdl/unknown-tool", "the document has no tool of this name"
        found(found) allowed("an operation or a tool of {path}") help(near);

    tool_refused(found: &str, reason: &Diagnostic) =
        Diagnostic "pdl/tool-refused", "this tool cannot be called"
        found(found)
        cause(reason.message().to_owned())
        allowed("tools that `grammata tools check` has no error of")
        help("correct the document, or declare `request` and `response` without `tool`");

    tool_arguments(found: &str, cause: &str) =
        Diagnostic "pdl/tool-arguments", "the arguments of this tool cannot be slots"
        found(found)
        cause(cause)
        allowed("arguments each of which has a schema of its own")
        help("name in `request` and `optional` what calls have, or declare the API without `tool`");

    slot_conflict(slot: &str, one: &str, other: &str) =
        Diagnostic "pdl/slot-conflict", "no schema holds what is said of this slot"
        found("{slot}: {one} and {other}")
        allowed("schemas that hold together: a type, a list of values, bounds of the same kind")
        help("correct the schema among SLOTs, or give the parameter a slot of its own: `request: {{SLOT: PARAMETER}}`");

    indent(found: &str) = Diagnostic "pdl/indent", "this line is indented like no block that is open"
        found(found)
        allowed("the indentation of an open block; a deeper one only after a line that ends in `:`")
        help("indent the line like the statement before it");

    empty_block(found: &str) = Diagnostic "pdl/empty-block", "nothing is indented below this line"
        found(found)
        allowed("a statement or a comment, indented deeper")
        help("write `pass` or a comment below it");

    stray_branch(found: &str) = Diagnostic "pdl/stray-branch", "this branch belongs to no block"
        found(found)
        allowed("`elif` and `else` after the block of an `if`, `except` after that of a `try`")
        help("indent it like its `if` or `try`, and put nothing in between");

    unclosed_bracket(found: &str) =
        Diagnostic "pdl/unclosed-bracket", "a bracket is not closed up to the end of the text"
        found(found)
        allowed("as many closing brackets as opening ones outside of strings")
        help("close the bracket");

    try_without_except() = Diagnostic "pdl/try-without-except", "`try` has no `except`"
        found("try:")
        allowed("`except:` after the block, indented like `try:`")
        help("add `except:` with what follows an error");

    unknown_node(name: &str, near: String) = Diagnostic "pdl/unknown-node", "no API or answer has this name"
        found(name) allowed("a name of APIs or ANSWERs") help(near);

    unknown_precondition(name: &str, near: String) =
        Diagnostic "pdl/unknown-precondition", "no API or answer has the name of this precondition"
        found(name)
        allowed("a name of APIs or ANSWERs, with `!ok` or `!error` after it or without")
        help(near);

    cyclic_precondition(cycle: &str) =
        Diagnostic "pdl/cyclic-precondition", "cyclic preconditions: none of these nodes can ever be reached"
        found(cycle) allowed("preconditions without a cycle") help("remove one of these preconditions");

    blocking(found: &str) =
        Diagnostic "pdl/blocking", "whatever the agent does, results or decisions can keep it from every closing answer"
        found(found)
        allowed("from each state that results and decisions lead to, a way to a closing answer")
        help("give an answer for the outcomes without one, or remove the condition that excludes it");

    unreachable_node(name: &str) =
        Diagnostic "pdl/unreachable-node", "no results and decisions ever permit this node"
        found(name)
        allowed("conditions and preconditions that can hold together")
        help("remove the condition or the precondition that contradicts the others");

    unreachable_code(found: &str) = Diagnostic "pdl/unreachable-code", "this line is never reached"
        found(found)
        allowed("comments after a statement that leaves the block")
        help("remove it, or the `return`, `break` or `continue` before it");

    silent_outcome(api: &str, outcome: &str) =
        Diagnostic "pdl/silent-outcome", "nothing that builds on `{api}` may follow this outcome"
        found(outcome)
        allowed("for each outcome an API or an answer that requires the call or tests its result")
        help("add a branch (`else:`) for this outcome");

    missing_precondition(name: &str, apis: &str) =
        Diagnostic "pdl/missing-precondition", "the node depends on results that it does not require"
        found(name)
        allowed("{apis} among its preconditions")
        help("add {apis} to the preconditions of `{name}`");

    suspicious_guard(name: &str, api: &str) =
        Diagnostic "pdl/suspicious-guard", "`{name}` requires `{api}`, but is called only if its result is negative"
        found(name)
        allowed("a call after a positive result of the call that it requires")
        help("move the call behind the loop");

    unassigned_slot(slot: &str) =
        Diagnostic "pdl/unassigned-slot", "a condition tests a slot that nothing sets"
        found(slot)
        allowed("slots of a response or a request, targets of an assignment, and `asks`")
        help("assign the slot, or write the condition in words");

    undeclared_slot(slot: &str, near: String) =
        Diagnostic "pdl/undeclared-slot", "`SLOTs` does not have this slot"
        found(slot) allowed("names of SLOTs") help(near);

    unused_slot(slot: &str) = Diagnostic "pdl/unused-slot", "nothing uses this slot"
        found(slot) allowed("slots of requests, responses, conditions and texts") help("remove it");

    unused_node(name: &str) = Diagnostic "pdl/unused-node", "the procedure never calls this node"
        found(name)
        allowed("nodes that a reachable line of the procedure calls")
        help("call it in the procedure, or remove it");

    mixed_literals(slot: &str, kinds: &str) =
        Diagnostic "pdl/mixed-literals", "a slot is compared with literals of several types"
        found("{slot}: {kinds}")
        allowed("booleans, numbers or texts, one of these for each slot")
        help("compare the slot with literals of its type");

    argument(slot: &str, api: &str, request: &[String]) =
        Diagnostic "pdl/argument", "the request of `{api}` does not have this slot"
        found(slot) allowed(listed(request)) help("add it to the request of `{api}`, or remove it here");

    result(slot: &str, api: &str, response: &[String]) =
        Diagnostic "pdl/result", "the response of `{api}` does not have this slot"
        found(slot)
        allowed("{}, or as many other names", listed(response))
        help("add it to the response of `{api}`, or remove it here");

    write_without_confirmation(name: &str) =
        Diagnostic "pdl/write-without-confirmation", "the call has an effect that no answer announces"
        found(name)
        allowed("an answer among the preconditions of a call with `effect: write`")
        help("require the answer that asks for consent, if there should be one");

    no_closing_answer() =
        Diagnostic "pdl/no-closing-answer", "the text has no answer that ends a session, so no session has a bound"
        found("no inform")
        allowed("an answer of the kind `inform` that the text says")
        help("say at the end what came of it, or leave sessions without a bound");
}

grammata_base::errors! {
    pub(in crate::procedures) Usage;

    trace(line: usize, found: &str, allowed: &str) = "pdl/trace", "an event of the trace cannot be read"
        at(Place::LineColumn { line, column: 1 })
        found(found)
        allowed(allowed)
        help("write one JSON list on each line, such as `[\"user\", TEXT]` or `[\"call\", API, {{SLOT: VALUE}}]`");

    call_format(found: &str) =
        "procedure/call-format", "an agent that writes in this call format can say nothing"
        found(found)
        allowed("formats whose turns may be text, such as `hermes`, `llama3`, `mistral`, `react`, `python`")
        help("choose another call format");

    /// Returns the error for a procedure that is blocked from the start.
    blocked_start(name: &str) =
        Grammar "pdl/blocking", "results or decisions can keep the agent from every closing answer from the start on"
        found(name)
        allowed("a procedure with a way to a closing answer after all outcomes of some choice")
        help("`grammata procedure check` (`procedures::check`) names the outcomes that lead out");
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

pub(in crate::procedures) fn node_kind(place: Place, name: &str, is_api: bool) -> Diagnostic {
    let (found, right) = if is_api { ("an API", "API.") } else { ("an answer", "ANSWER.") };
    Diagnostic::new("pdl/node-kind", format!("{found} is called as the other kind"))
        .at(place)
        .found(name)
        .allowed(format!("`{right}` before the name, or the name alone"))
        .help(format!("write `{right}`"))
}
