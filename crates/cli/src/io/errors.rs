//! The program's own errors.

use grammata::diagnostic::{Diagnostic, Place, did_you_mean, excerpt, similar};
use grammata::error::{Error, ErrorKind};
use grammata::syntax::Notation;
use std::path::Path;
use std::time::Duration;

pub(crate) fn usage(diagnostic: Diagnostic) -> Error {
    Error::new(ErrorKind::Usage, diagnostic)
}

const KIND_HELP: &str =
    "say what it is with `--kind json-schema`, `structural-tag`, `gbnf`, `lark`, `regex` or `spec`";

pub(crate) fn standard_output(cause: &std::io::Error) -> Error {
    let diagnostic = Diagnostic::new("cli/output", "standard output cannot be written")
        .cause(cause)
        .help("check where the output goes: a full disk, perhaps");
    Error::new(ErrorKind::Io, diagnostic)
}

/// The error of a file that cannot be read or written. If the file does not exist, the help has similar names.
pub(crate) fn io(path: &Path, cause: &std::io::Error) -> Error {
    suggest(Error::io(path, cause), path)
}

/// Adds similar names to an error about a file that does not exist.
pub(crate) fn suggest(error: Error, path: &Path) -> Error {
    if error.kind() != ErrorKind::Io || path.exists() {
        return error;
    }
    match near(path) {
        Some(near) => error.map(|diagnostic| diagnostic.help(near.clone())),
        None => error,
    }
}

/// Returns the question whether a file with a similar name, in the folder of `path`, was meant; `None` if no name is
/// similar.
fn near(path: &Path) -> Option<String> {
    /// Maximum number of files of a folder whose names are compared.
    const FILES: usize = 1_000;
    let name = path.file_name()?.to_str()?;
    let folder = path.parent()?;
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let files = std::fs::read_dir(folder)
        .ok()?
        .take(FILES)
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let files: Vec<String> = files.collect();
    let near = similar(name, files.iter().map(String::as_str));
    let paths =
        near.iter().map(|name| format!("`{}`", path.with_file_name(name).display())).collect::<Vec<_>>();
    (!paths.is_empty()).then(|| format!("did you mean {}?", paths.join(" or ")))
}

pub(crate) fn unknown_kind(path: &Path) -> Error {
    usage(
        Diagnostic::new("cli/unknown-kind", "the file's name does not say what kind of grammar it is")
            .in_file(path.display().to_string())
            .allowed("a name that ends in `.json`, `.gbnf`, `.lark`, `.regex` or `.toml`")
            .help(KIND_HELP),
    )
}

pub(crate) fn unknown_kind_of_text() -> Error {
    usage(
        Diagnostic::new("cli/unknown-kind", "the text does not show what kind of grammar it is")
            .allowed("JSON, a rule with `::=` (GBNF), a rule `start:` (Lark), `kind =` (spec), or one line (regex)")
            .help(KIND_HELP),
    )
}

pub(crate) fn no_grammar_in_folder(folder: &Path, names: &[&str]) -> Error {
    usage(
        Diagnostic::new("cli/no-grammar", "the folder holds no grammar")
            .in_file(folder.display().to_string())
            .allowed(format!("a folder with exactly one of {}", names.join(", ")))
            .help("name the grammar's file itself, or compile all files of the folder with `compile --each`"),
    )
}

pub(crate) fn grammars_in_folder(folder: &Path, found: &[&str]) -> Error {
    usage(
        Diagnostic::new("cli/several-grammars", "the folder holds more than one grammar")
            .in_file(folder.display().to_string())
            .found(found.join(", "))
            .help(format!("name the file, for instance `{}`", folder.join(found[0]).display())),
    )
}

pub(crate) fn not_for_kind(option: &str, kind: &str, applies_to: &str) -> Error {
    usage(
        Diagnostic::new("cli/option-not-for-kind", format!("`{option}` has no meaning for this grammar"))
            .found(format!("a grammar of the kind {kind}"))
            .allowed(format!("`{option}` with {applies_to}"))
            .help("leave the option out, or set the kind with `--kind`"),
    )
}

pub(crate) fn parameter_twice(name: &str) -> Error {
    usage(
        Diagnostic::new("cli/parameter-twice", "a parameter is given twice")
            .found(name)
            .help("give each `--param NAME=VALUE` once"),
    )
}

pub(crate) fn not_a_schema(kind: Notation) -> Error {
    usage(
        Diagnostic::new("cli/not-a-schema", "only JSON Schemas have such a report")
            .found(format!("a grammar of the kind {kind}"))
            .help("name a JSON Schema, with `--kind json-schema` if its name does not end in `.json`"),
    )
}

pub(crate) fn document_twice(uri: &str) -> Error {
    usage(
        Diagnostic::new("cli/document-twice", "two documents are given for one URI")
            .found(uri)
            .help("give each `--schema-document URI=FILE` once"),
    )
}

pub(crate) fn not_json(path: &Path, cause: &serde_json::Error) -> Error {
    let diagnostic = Diagnostic::new("cli/not-json", "a file is not JSON")
        .in_file(path.display().to_string())
        .at(grammata::Place::LineColumn { line: cause.line().max(1), column: cause.column().max(1) })
        .cause(cause)
        .help("correct the JSON text");
    Error::new(ErrorKind::Grammar, diagnostic)
}

pub(crate) fn not_utf8(path: &Path, offset: usize) -> Error {
    let diagnostic = Diagnostic::new("cli/not-utf8", "a file is not UTF-8")
        .in_file(crate::io::paths::name_of(path))
        .at(grammata::Place::Byte(offset))
        .help("save the file as UTF-8");
    Error::new(ErrorKind::Grammar, diagnostic)
}

/// The error of a line of a stream that is not UTF-8.
pub(crate) fn line_not_utf8(path: &Path, line: usize) -> Error {
    let diagnostic = Diagnostic::new("cli/not-utf8", "a line is not UTF-8")
        .in_file(crate::io::paths::name_of(path))
        .at(Place::LineColumn { line, column: 1 })
        .help("write the lines as UTF-8");
    Error::new(ErrorKind::Grammar, diagnostic)
}

/// The error that a mask file is given where text is read.
pub(crate) fn no_text(path: &Path) -> Error {
    let diagnostic = Diagnostic::new("cli/mask-file", "a mask file cannot be read as text")
        .in_file(crate::io::paths::name_of(path))
        .found("a mask file, or an archive of them")
        .allowed("the text that it was compiled from, such as `schema.json`")
        .help("give that file; `grammata inspect` shows what a mask file holds");
    Error::new(ErrorKind::Grammar, diagnostic)
}

pub(crate) fn too_long(path: &Path, limit: usize) -> Error {
    let diagnostic = Diagnostic::new("cli/too-long", "a file is too long")
        .in_file(crate::io::paths::name_of(path))
        .allowed(format!("at most {limit} bytes"))
        .help("check that it is the right file");
    Error::new(ErrorKind::Limit, diagnostic)
}

pub(crate) fn standard_input_twice() -> Error {
    usage(
        Diagnostic::new("cli/standard-input-twice", "standard input is read for two things")
            .found("`-` more than once")
            .help("put one of them into a file"),
    )
}

pub(crate) fn nothing_to_check() -> Error {
    usage(
        Diagnostic::new("cli/nothing-to-check", "there is no text to check")
            .allowed("files, `-` for standard input, `--text TEXT` or `--examples`")
            .help("for instance: grammata check GRAMMAR --text '[1, 2]'"),
    )
}

pub(crate) fn examples_need_folder(path: &Path) -> Error {
    usage(
        Diagnostic::new("cli/no-examples", "`--examples` needs a folder that holds `accept/` or `reject/`")
            .in_file(path.display().to_string())
            .help("name the folder: --examples=FOLDER"),
    )
}

pub(crate) fn needs_tokenizer(option: &str) -> Error {
    usage(
        Diagnostic::new("cli/needs-tokenizer", format!("`{option}` needs a tokenizer"))
            .found("the built-in vocabulary of single bytes")
            .help("add `--tokenizer PATH`"),
    )
}

pub(crate) fn no_such_token(id: u32, width: usize) -> Error {
    usage(
        Diagnostic::new("cli/no-such-token", "the vocabulary has no such token")
            .found(format!("token {id}"))
            .allowed(format!("0 to {}", width.saturating_sub(1)))
            .help("list tokens with `grammata mask`, or encode a text with `grammata vocab --encode`"),
    )
}

pub(crate) fn not_encodable(text: &[u8]) -> Error {
    usage(
        Diagnostic::new("cli/not-encodable", "the vocabulary has no tokens for the text")
            .found(grammata::diagnostic::excerpt_bytes(text))
            .help("some byte of it has no token: `grammata vocab` lists missing bytes"),
    )
}

pub(crate) fn drawing_too_large(found: &str, allowed: &str) -> Error {
    usage(
        Diagnostic::new("cli/drawing-too-large", "the graph is too large to be laid out")
            .found(found)
            .allowed(allowed)
            .help("draw less with `--max-states N`, or use `--format dot` and Graphviz"),
    )
}

pub(crate) fn drawing_failed(cause: &str) -> Error {
    usage(
        Diagnostic::new("cli/drawing-failed", "the graph cannot be laid out")
            .cause(cause)
            .help("draw less with `--max-states N`, or use `--format dot` and Graphviz"),
    )
}

pub(crate) fn no_such_flow<'k>(id: &str, known: impl Iterator<Item = &'k str> + Clone) -> Error {
    let listed: Vec<String> = known.clone().map(|id| format!("`{id}`")).collect();
    let help = did_you_mean(id, known, "leave the option out for any flow");
    usage(
        Diagnostic::new("cli/no-such-flow", "the domain has no such flow")
            .found(id)
            .allowed(listed.join(", "))
            .help(help),
    )
}

pub(crate) fn step_not_allowed(id: &str, allowed: &[&str]) -> Error {
    let mut shown = allowed.iter().take(12).map(|id| format!("`{id}`")).collect::<Vec<_>>().join(", ");
    if allowed.len() > 12 {
        shown.push_str(&format!(" and {} more", allowed.len() - 12));
    }
    usage(
        Diagnostic::new("cli/step-not-allowed", "a step is not allowed at its place")
            .found(id)
            .allowed(if shown.is_empty() { "nothing: the plan ends before it".to_owned() } else { shown })
            .help("steps are given by the ids of their actions, in the order of choices"),
    )
}

pub(crate) fn not_a_plan(step: usize) -> Error {
    Error::new(
        ErrorKind::Rejected,
        Diagnostic::new("cli/not-a-plan", "the file is not a plan of the spec")
            .found(format!("a wrong step {step}"))
            .help("`grammata plan verify` says what is wrong, and names the nearest plan"),
    )
}

pub(crate) fn text_needs_plan() -> Error {
    usage(
        Diagnostic::new("cli/text-needs-plan", "only a plan can be drawn as text")
            .found("`--format text` without `--plan`")
            .help("add `--plan FILE`, or take `--format dot`"),
    )
}

pub(crate) fn reward(command: &str, found: &str) -> Error {
    usage(
        Diagnostic::new("cli/reward", "the reward command failed")
            .found(format!("`{command}`: {}", excerpt(found)))
            .allowed("a command that reads a plan as JSON from its standard input and writes a number")
            .help("try it alone: echo '{\"steps\": []}' | COMMAND"),
    )
}

pub(crate) fn reward_timeout(command: &str, deadline: Duration) -> Error {
    usage(
        Diagnostic::new("cli/reward", "the reward command did not end in time")
            .found(format!("`{command}`: no answer"))
            .allowed(format!("{} s", deadline.as_secs_f64()))
            .help("allow more time (`--deadline SECONDS`)"),
    )
}

pub(crate) fn needs_answers() -> Error {
    usage(
        Diagnostic::new("cli/needs-answers", "a script needs answers")
            .found("`--policy script` without `--answers`")
            .help("add `--answers FILE`, a file with an answer a line"),
    )
}

pub(crate) fn needs_model() -> Error {
    usage(
        Diagnostic::new("cli/needs-model", "a model is asked, but none is named")
            .found("no `--model`")
            .help("add `--model PATH`, a folder or an ONNX file; or `--endpoint URL`, a chat server"),
    )
}

pub(crate) fn no_such_task(number: usize, count: usize) -> Error {
    usage(
        Diagnostic::new("cli/no-such-task", "the file has no such task")
            .found(format!("task {number}"))
            .allowed(format!("0 to {}", count.saturating_sub(1)))
            .help("tasks are counted from 0, one a line"),
    )
}

pub(crate) fn no_such_name<'k>(name: &str, known: impl Iterator<Item = &'k str> + Clone) -> Error {
    usage(
        Diagnostic::new("cli/no-such-name", "the archive has no mask file of this name")
            .found(format!("`{}`", grammata::diagnostic::excerpt(name)))
            .help(did_you_mean(name, known, "`grammata inspect ARCHIVE --names` lists the names")),
    )
}

/// The error that a command needs one mask file, but an archive without `--name` is given.
pub(crate) fn name_needed() -> Error {
    usage(
        Diagnostic::new("cli/name-needed", "the file is an archive of mask files")
            .help("say which one is meant with `--name NAME`; `--names` lists them"),
    )
}

/// The error that an environment variable for a key is not set, is empty or is not Unicode. `which` names the variable.
pub(crate) fn no_key(which: &str) -> Error {
    usage(
        Diagnostic::new("cli/no-key", "no key for the chat server")
            .found(format!("the environment variable {which} is not set, or empty"))
            .allowed("a variable that holds the key")
            .help("set it; or leave the option out for a server that needs no key"),
    )
}

/// The error that a model is named, but this build has no ONNX Runtime.
#[cfg(not(feature = "ort"))]
pub fn no_onnx_runtime() -> Error {
    Error::new(
        ErrorKind::Model,
        Diagnostic::new("cli/no-onnx-runtime", "this build of the program cannot run models")
            .found("a build without the feature `ort`")
            .help(
                "use a program that was built with the feature `ort`; the Python package cannot run models",
            ),
    )
}

#[cfg(feature = "ort")]
pub(crate) fn no_model(path: &Path) -> Error {
    let otherwise = "give a folder with model.onnx or onnx/model.onnx, or an ONNX file";
    Error::new(
        ErrorKind::Io,
        Diagnostic::new("cli/no-model", "there is no such file or folder")
            .in_file(path.display().to_string())
            .help(near(path).unwrap_or_else(|| otherwise.to_owned())),
    )
}

#[cfg(feature = "ort")]
pub(crate) fn no_tokenizer(model: &Path) -> Error {
    Error::new(
        ErrorKind::Model,
        Diagnostic::new("cli/no-tokenizer", "no tokenizer.json next to the model")
            .in_file(model.display().to_string())
            .allowed("tokenizer.json in the model's folder, or the folder above it")
            .help("name it with `--tokenizer PATH`"),
    )
}

#[cfg(feature = "ort")]
pub(crate) fn no_chat_template(model: &Path) -> Error {
    Error::new(
        ErrorKind::Model,
        Diagnostic::new("cli/no-chat-template", "the model has no chat template")
            .in_file(model.display().to_string())
            .allowed("chat_template.jinja, or `chat_template` in tokenizer_config.json")
            .help("leave out `--chat`, and write the prompt as the model expects it"),
    )
}

#[cfg(feature = "ort")]
pub(crate) fn no_embedder(path: &Path) -> Error {
    let otherwise = "give a folder with model.onnx and tokenizer.json, such as that of all-MiniLM-L6-v2";
    Error::new(
        ErrorKind::Io,
        Diagnostic::new("cli/no-model", "there is no such folder")
            .in_file(path.display().to_string())
            .help(near(path).unwrap_or_else(|| otherwise.to_owned())),
    )
}

#[cfg(feature = "ort")]
pub(crate) fn text_cut(text: usize, tokens: usize, kept: usize) -> Diagnostic {
    Diagnostic::new("cli/text-cut", "the model reads only the beginning of a text")
        .at(grammata::Place::Pointer(format!("/{text}")))
        .found(format!("{tokens} tokens"))
        .allowed(format!("{kept} tokens"))
        .help("divide the text into shorter ones")
}

pub(crate) fn no_apis() -> Error {
    let diagnostic = Diagnostic::new("environment/failed", "there are no APIs to call")
        .help("give a simulation with `--simulation FILE`, or a command with `--apis CMD`");
    Error::new(ErrorKind::Io, diagnostic)
}

/// The error that a session has neither a model nor a user of a simulation. `users` are those of the simulation, if one
/// is given.
pub(crate) fn needs_agent(users: &[&str]) -> Error {
    let message = "there is no agent: the reference agent needs a user of a simulation";
    let diagnostic = Diagnostic::new("cli/needs-agent", message);
    usage(match users {
        [] => diagnostic
            .help("give a model with `--model PATH`, or a user with `--simulation FILE --user NAME`"),
        [first, ..] => diagnostic.found("no `--user`").allowed(users.join(", ")).help(format!(
            "name a user of the simulation, such as `--user {first}`, or give a model with `--model PATH`"
        )),
    })
}

/// The error that a report of the guard is requested. Its standard output has the messages of a protocol.
pub(crate) fn guard_writes_messages() -> Error {
    usage(
        Diagnostic::new("cli/guard-output", "standard output of `guard` has the messages of the protocol")
            .found("--output-format json")
            .allowed("no output format")
            .help("leave out `--output-format`; `--log FILE` writes the session as JSON"),
    )
}

/// The error that a report of `retrieve serve` is requested. Its standard output has the messages of a protocol.
pub(crate) fn serve_writes_messages() -> Error {
    usage(
        Diagnostic::new("cli/serve-output", "standard output of `serve` has the messages of the protocol")
            .found("--output-format json")
            .allowed("no output format")
            .help("leave out `--output-format`"),
    )
}

/// The error that `--user-words` is given to the guard with rules other than a procedure.
pub(crate) fn guard_option(option: &str) -> Error {
    usage(
        Diagnostic::new("cli/guard-option", "the guard does not have this option with such rules")
            .found(option)
            .allowed("`--user-words` and `--ask agent` with a procedure; `--allow-others` and `--list-all` without wishes")
            .help("leave the option out"),
    )
}

pub(crate) fn no_such_user<'a>(name: &str, known: impl Iterator<Item = &'a str> + Clone) -> Error {
    usage(
        Diagnostic::new("cli/no-such-user", "the simulation has no user of this name")
            .found(name)
            .allowed(known.clone().collect::<Vec<_>>().join(", "))
            .help(did_you_mean(name, known, "name a user of the simulation")),
    )
}

pub(crate) fn unknown_call_format<'a>(name: &str, known: impl Iterator<Item = &'a str> + Clone) -> Error {
    usage(
        Diagnostic::new("cli/no-such-format", "neither a call format nor a file has this name")
            .found(name)
            .allowed(known.clone().collect::<Vec<_>>().join(", "))
            .help(did_you_mean(name, known, "name one of these, or a file of TOML")),
    )
}

pub(crate) fn too_many_labels(labels: usize, files: usize) -> Error {
    usage(
        Diagnostic::new("cli/too-many-labels", "there are more labels than files")
            .found(format!("{labels} of `--label`, {files} of files"))
            .allowed("one label a file, in their order")
            .help("leave the last labels out"),
    )
}

/// The warning that no tool has a parameter of a name given with `--hide`.
pub(crate) fn nothing_hidden<'k>(name: &str, known: impl Iterator<Item = &'k str>) -> Diagnostic {
    Diagnostic::new("cli/nothing-hidden", "no tool has a parameter of this name")
        .found(format!("`--hide {}`", excerpt(name)))
        .help(did_you_mean(name, known, "`grammata tools list` shows the parameters"))
}

pub(crate) fn unknown_tool<'k>(name: &str, known: impl Iterator<Item = &'k str>) -> Error {
    usage(
        Diagnostic::new("tools/unknown-tool", "no tool that can be called has this name")
            .found(excerpt(name))
            .help(did_you_mean(
                name,
                known,
                "`grammata tools list` shows the names, and why a tool cannot be called",
            )),
    )
}

/// The warning that nothing of a list is left after `--offset`.
pub(crate) fn nothing_after(what: &str, offset: usize) -> Diagnostic {
    Diagnostic::new("cli/nothing-listed", format!("no {what} are left after the offset"))
        .found(format!("`--offset {offset}`"))
        .allowed(format!("less than the number of {what}"))
        .help("count them with `count`, or make the offset smaller")
}

/// The warning that `--within` is given, but the number of plans is finite.
pub(crate) fn unused_within() -> Diagnostic {
    Diagnostic::new("cli/option-unused", "`--within` has no effect: the number of plans is finite")
        .allowed("`--within` for specs with plans without end")
        .help("leave the option out; `grammata plan count --within N` counts shorter plans")
}

/// The error of a search text that is empty or blank.
pub(crate) fn empty_request() -> Error {
    usage(
        Diagnostic::new("cli/empty-request", "the request is empty")
            .allowed("a text that is not blank")
            .help("say what the user wants: grammata retrieve search 'Book a table in Rome.'"),
    )
}

pub(crate) fn grammar_twice(path: &Path) -> Error {
    usage(
        Diagnostic::new("cli/grammar-twice", "two grammars are given")
            .found(format!("`--expression` and `{}`", path.display()))
            .allowed("one of them")
            .help("leave the file out, or the option"),
    )
}

pub(crate) fn not_a_call(place: Place, text: &str, cause: &str) -> Error {
    usage(
        Diagnostic::new("cli/not-a-call", "not a call of a tool")
            .at(place)
            .found(text)
            .cause(cause)
            .allowed(r#"{"name": "N", "arguments": {…}}"#)
            .help("write the call as JSON"),
    )
}

/// The error that `--choose exact` cannot be used: no call is required, a chat model is asked, or calls of the format
/// begin with a special token or with text that depends on the tool.
pub(crate) fn no_exact_choice() -> Error {
    let diagnostic = Diagnostic::new(
        "cli/no-exact-choice",
        "in this format the most probable name cannot be searched for",
    )
    .allowed("a format whose calls begin with text and name their tool first: json, hermes, react")
    .help("leave out `--choose exact`");
    Error::new(ErrorKind::Usage, diagnostic)
}

/// The error that retrieval by words found no tool for a request.
pub(crate) fn no_tool_found(request: &str) -> Error {
    let diagnostic = Diagnostic::new("cli/no-tool-found", "no tool has a word of the request")
        .found(request)
        .help("take all tools with `-k 0`, or name some with `--tool NAME`");
    Error::new(ErrorKind::Usage, diagnostic)
}
