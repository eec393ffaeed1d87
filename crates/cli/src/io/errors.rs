//! The program's own errors.

use grammata::diagnostic::{Diagnostic, Place, did_you_mean, excerpt, similar};
use grammata::error::{Error, ErrorKind};
use grammata::syntax::Notation;
use std::path::Path;
use std::time::Duration;

const KIND_HELP: &str =
    "say what it is with `--kind json-schema`, `structural-tag`, `gbnf`, `lark`, `regex` or `spec`";

pub(crate) fn usage(diagnostic: Diagnostic) -> Error {
    Error::new(ErrorKind::Usage, diagnostic)
}

grammata_base::errors! {
    pub(crate) Usage;

    standard_output(cause: &std::io::Error) = Io "cli/output", "standard output cannot be written"
        cause(cause) help("check where the output goes: a full disk, perhaps");

    unknown_kind(path: &Path) = "cli/unknown-kind", "the file's name does not say what kind of grammar it is"
        in_file(path.display().to_string())
        allowed("a name that ends in `.json`, `.gbnf`, `.lark`, `.regex` or `.toml`")
        help(KIND_HELP);

    unknown_kind_of_text() = "cli/unknown-kind", "the text does not show what kind of grammar it is"
        allowed("JSON, a rule with `::=` (GBNF), a rule `start:` (Lark), `kind =` (spec), or one line (regex)")
        help(KIND_HELP);

    no_grammar_in_folder(folder: &Path, names: &[&str]) = "cli/no-grammar", "the folder holds no grammar"
        in_file(folder.display().to_string())
        allowed("a folder with exactly one of {}", names.join(", "))
        help("name the grammar's file itself, or compile all files of the folder with `compile --each`");

    grammars_in_folder(folder: &Path, found: &[&str]) =
        "cli/several-grammars", "the folder holds more than one grammar"
        in_file(folder.display().to_string())
        found(found.join(", "))
        help("name the file, for instance `{}`", folder.join(found[0]).display());

    not_for_kind(option: &str, kind: &str, applies_to: &str) =
        "cli/option-not-for-kind", "`{option}` has no meaning for this grammar"
        found("a grammar of the kind {kind}")
        allowed("`{option}` with {applies_to}")
        help("leave the option out, or set the kind with `--kind`");

    parameter_twice(name: &str) = "cli/parameter-twice", "a parameter is given twice"
        found(name) help("give each `--param NAME=VALUE` once");

    not_a_schema(kind: Notation) = "cli/not-a-schema", "only JSON Schemas have such a report"
        found("a grammar of the kind {kind}")
        help("name a JSON Schema, with `--kind json-schema` if its name does not end in `.json`");

    document_twice(uri: &str) = "cli/document-twice", "two documents are given for one URI"
        found(uri) help("give each `--schema-document URI=FILE` once");

    not_json(path: &Path, cause: &serde_json::Error) = Grammar "cli/not-json", "a file is not JSON"
        in_file(path.display().to_string())
        at(grammata::Place::LineColumn { line: cause.line().max(1), column: cause.column().max(1) })
        cause(cause)
        help("correct the JSON text");

    not_utf8(path: &Path, offset: usize) = Grammar "cli/not-utf8", "a file is not UTF-8"
        in_file(crate::io::paths::name_of(path))
        at(grammata::Place::Byte(offset))
        help("save the file as UTF-8");

    /// The error of a line of a stream that is not UTF-8.
    line_not_utf8(path: &Path, line: usize) = Grammar "cli/not-utf8", "a line is not UTF-8"
        in_file(crate::io::paths::name_of(path))
        at(Place::LineColumn { line, column: 1 })
        help("write the lines as UTF-8");

    /// The error that a mask file is given where text is read.
    no_text(path: &Path) = Grammar "cli/mask-file", "a mask file cannot be read as text"
        in_file(crate::io::paths::name_of(path))
        found("a mask file, or an archive of them")
        allowed("the text that it was compiled from, such as `schema.json`")
        help("give that file; `grammata inspect` shows what a mask file holds");

    too_long(path: &Path, limit: usize) = Limit "cli/too-long", "a file is too long"
        in_file(crate::io::paths::name_of(path))
        allowed("at most {limit} bytes")
        help("check that it is the right file");

    standard_input_twice() = "cli/standard-input-twice", "standard input is read for two things"
        found("`-` more than once") help("put one of them into a file");

    nothing_to_check() = "cli/nothing-to-check", "there is no text to check"
        allowed("files, `-` for standard input, `--text TEXT` or `--examples`")
        help("for instance: grammata check GRAMMAR --text '[1, 2]'");

    examples_need_folder(path: &Path) =
        "cli/no-examples", "`--examples` needs a folder that holds `accept/` or `reject/`"
        in_file(path.display().to_string()) help("name the folder: --examples=FOLDER");

    needs_tokenizer(option: &str) = "cli/needs-tokenizer", "`{option}` needs a tokenizer"
        found("the built-in vocabulary of single bytes") help("add `--tokenizer PATH`");

    no_such_token(id: u32, width: usize) = "cli/no-such-token", "the vocabulary has no such token"
        found("token {id}")
        allowed("0 to {}", width.saturating_sub(1))
        help("list tokens with `grammata mask`, or encode a text with `grammata vocab --encode`");

    not_encodable(text: &[u8]) = "cli/not-encodable", "the vocabulary has no tokens for the text"
        found(grammata::diagnostic::excerpt_bytes(text))
        help("some byte of it has no token: `grammata vocab` lists missing bytes");

    drawing_too_large(found: &str, allowed: &str) =
        "cli/drawing-too-large", "the graph is too large to be laid out"
        found(found)
        allowed(allowed)
        help("draw less with `--max-states N`, or use `--format dot` and Graphviz");

    drawing_failed(cause: &str) = "cli/drawing-failed", "the graph cannot be laid out"
        cause(cause) help("draw less with `--max-states N`, or use `--format dot` and Graphviz");

    not_a_plan(step: usize) = Rejected "cli/not-a-plan", "the file is not a plan of the spec"
        found("a wrong step {step}")
        help("`grammata plan verify` says what is wrong, and names the nearest plan");

    text_needs_plan() = "cli/text-needs-plan", "only a plan can be drawn as text"
        found("`--format text` without `--plan`") help("add `--plan FILE`, or take `--format dot`");

    reward(command: &str, found: &str) = "cli/reward", "the reward command failed"
        found("`{command}`: {}", excerpt(found))
        allowed("a command that reads a plan as JSON from its standard input and writes a number")
        help("try it alone: echo '{{\"steps\": []}}' | COMMAND");

    reward_timeout(command: &str, deadline: Duration) = "cli/reward", "the reward command did not end in time"
        found("`{command}`: no answer")
        allowed("{} s", deadline.as_secs_f64())
        help("allow more time (`--deadline SECONDS`)");

    needs_answers() = "cli/needs-answers", "a script needs answers"
        found("`--policy script` without `--answers`")
        help("add `--answers FILE`, a file with an answer a line");

    needs_model() = "cli/needs-model", "a model is asked, but none is named"
        found("no `--model`")
        help("add `--model PATH`, a folder or an ONNX file; or `--endpoint URL`, a chat server");

    no_such_task(number: usize, count: usize) = "cli/no-such-task", "the file has no such task"
        found("task {number}")
        allowed("0 to {}", count.saturating_sub(1))
        help("tasks are counted from 0, one a line");

    no_such_name<'k>(name: &str, known: impl Iterator<Item = &'k str> + Clone) =
        "cli/no-such-name", "the archive has no mask file of this name"
        found("`{}`", grammata::diagnostic::excerpt(name))
        help(did_you_mean(name, known, "`grammata inspect ARCHIVE --names` lists the names"));

    /// The error that a command needs one mask file, but an archive without `--name` is given.
    name_needed() = "cli/name-needed", "the file is an archive of mask files"
        help("say which one is meant with `--name NAME`; `--names` lists them");

    /// The error that an environment variable for a key is not set, is empty or is not Unicode. `which` names the
    /// variable.
    no_key(which: &str) = "cli/no-key", "no key for the chat server"
        found("the environment variable {which} is not set, or empty")
        allowed("a variable that holds the key")
        help("set it; or leave the option out for a server that needs no key");

    /// The error that the environment variable for the key of a server of this program is not set or is empty.
    #[cfg(feature = "server")]
    no_variable(name: &str) = "cli/no-variable", "no key for the clients of this server"
        found("the environment variable {name} is not set, or empty")
        allowed("a variable that holds the key")
        help("set it, for instance to the output of `openssl rand -hex 32`");

    #[cfg(feature = "ort")]
    no_tokenizer(model: &Path) = Model "cli/no-tokenizer", "no tokenizer.json next to the model"
        in_file(model.display().to_string())
        allowed("tokenizer.json in the model's folder, or the folder above it")
        help("name it with `--tokenizer PATH`");

    #[cfg(feature = "ort")]
    no_chat_template(model: &Path) = Model "cli/no-chat-template", "the model has no chat template"
        in_file(model.display().to_string())
        allowed("chat_template.jinja, or `chat_template` in tokenizer_config.json")
        help("leave out `--chat`, and write the prompt as the model expects it");

    #[cfg(feature = "ort")]
    text_cut(text: usize, tokens: usize, kept: usize) =
        Diagnostic "cli/text-cut", "the model reads only the beginning of a text"
        at(grammata::Place::Pointer(format!("/{text}")))
        found("{tokens} tokens")
        allowed("{kept} tokens")
        help("divide the text into shorter ones");

    no_apis() = Io "environment/failed", "there are no APIs to call"
        help("give a simulation with `--simulation FILE`, or a command with `--apis CMD`");

    /// The error that a report of the guard is requested. Its standard output has the messages of a protocol.
    guard_writes_messages() =
        "cli/guard-output", "standard output of `guard` has the messages of the protocol"
        found("--output-format json")
        allowed("no output format")
        help("leave out `--output-format`; `--log FILE` writes the session as JSON");

    /// The error that a report of `retrieve serve` is requested. Its standard output has the messages of a protocol.
    serve_writes_messages() =
        "cli/serve-output", "standard output of `serve` has the messages of the protocol"
        found("--output-format json") allowed("no output format") help("leave out `--output-format`");

    /// The error that `--user-words` is given to the guard with rules other than a procedure.
    guard_option(option: &str) = "cli/guard-option", "the guard does not have this option with such rules"
        found(option)
        allowed("`--user-words` and `--ask agent` with a procedure; `--allow-others` and `--list-all` without wishes")
        help("leave the option out");

    no_such_user<'a>(name: &str, known: impl Iterator<Item = &'a str> + Clone) =
        "cli/no-such-user", "the simulation has no user of this name"
        found(name)
        allowed(known.clone().collect::<Vec<_>>().join(", "))
        help(did_you_mean(name, known, "name a user of the simulation"));

    unknown_call_format<'a>(name: &str, known: impl Iterator<Item = &'a str> + Clone) =
        "cli/no-such-format", "neither a call format nor a file has this name"
        found(name)
        allowed(known.clone().collect::<Vec<_>>().join(", "))
        help(did_you_mean(name, known, "name one of these, or a file of TOML"));

    too_many_labels(labels: usize, files: usize) = "cli/too-many-labels", "there are more labels than files"
        found("{labels} of `--label`, {files} of files")
        allowed("one label a file, in their order")
        help("leave the last labels out");

    /// The warning that no tool has a parameter of a name given with `--hide`.
    nothing_hidden<'k>(name: &str, known: impl Iterator<Item = &'k str>) =
        Diagnostic "cli/nothing-hidden", "no tool has a parameter of this name"
        found("`--hide {}`", excerpt(name))
        help(did_you_mean(name, known, "`grammata tools list` shows the parameters"));

    unknown_tool<'k>(name: &str, known: impl Iterator<Item = &'k str>) =
        "tools/unknown-tool", "no tool that can be called has this name"
        found(excerpt(name))
        help(did_you_mean(
            name,
            known,
            "`grammata tools list` shows the names, and why a tool cannot be called",
        ));

    /// The warning that nothing of a list is left after `--offset`.
    nothing_after(what: &str, offset: usize) =
        Diagnostic "cli/nothing-listed", "no {what} are left after the offset"
        found("`--offset {offset}`")
        allowed("less than the number of {what}")
        help("count them with `count`, or make the offset smaller");

    /// The warning that `--within` is given, but the number of plans is finite.
    unused_within() =
        Diagnostic "cli/option-unused", "`--within` has no effect: the number of plans is finite"
        allowed("`--within` for specs with plans without end")
        help("leave the option out; `grammata plan count --within N` counts shorter plans");

    /// The error of a search text that is empty or blank.
    empty_request() = "cli/empty-request", "the request is empty"
        allowed("a text that is not blank")
        help("say what the user wants: grammata retrieve search 'Book a table in Rome.'");

    grammar_twice(path: &Path) = "cli/grammar-twice", "two grammars are given"
        found("`--expression` and `{}`", path.display())
        allowed("one of them")
        help("leave the file out, or the option");

    not_a_call(place: Place, text: &str, cause: &str) = "cli/not-a-call", "not a call of a tool"
        at(place)
        found(text)
        cause(cause)
        allowed(r#"{{"name": "N", "arguments": {{…}}}}"#)
        help("write the call as JSON");

    /// The error that `--choose exact` cannot be used: no call is required, a chat model is asked, or calls of the
    /// format begin with a special token or with text that depends on the tool.
    no_exact_choice() = "cli/no-exact-choice", "in this format the most probable name cannot be searched for"
        allowed("a format whose calls begin with text and name their tool first: json, hermes, react")
        help("leave out `--choose exact`");

    /// The error that retrieval by words found no tool for a request.
    no_tool_found(request: &str) = "cli/no-tool-found", "no tool has a word of the request"
        found(request) help("take all tools with `-k 0`, or name some with `--tool NAME`");
}

grammata_base::errors! {
    pub Usage;

    /// The error that a model is named, but this build has no ONNX Runtime.
    #[cfg(not(feature = "ort"))]
    no_onnx_runtime() = Model "cli/no-onnx-runtime", "this build of the program cannot run models"
        found("a build without the feature `ort`")
        help("use a program that was built with the feature `ort`; the Python package cannot run models");

    /// A build that cannot serve.
    no_server() = Model "cli/no-server", "this build of the program cannot serve models"
        found("a build without the feature `server`")
        help("install it with `cargo install --path crates/cli --features server`");
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
pub(crate) fn no_embedder(path: &Path) -> Error {
    let otherwise = "give a folder with model.onnx and tokenizer.json, such as that of all-MiniLM-L6-v2";
    Error::new(
        ErrorKind::Io,
        Diagnostic::new("cli/no-model", "there is no such folder")
            .in_file(path.display().to_string())
            .help(near(path).unwrap_or_else(|| otherwise.to_owned())),
    )
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
