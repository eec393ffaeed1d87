//! The errors of the guard.

use grammata::diagnostic::{Diagnostic, did_you_mean, did_you_mean_field, excerpt};
use grammata::error::{Error, ErrorKind};
use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

fn usage(diagnostic: Diagnostic) -> Error {
    Error::new(ErrorKind::Usage, diagnostic)
}

/// Returns an error as a text in one line, for the client.
pub(crate) fn text_of(error: &Error) -> String {
    let diagnostic = error.diagnostic();
    let detail = diagnostic.found_text().or(diagnostic.cause_text());
    detail.map_or_else(
        || diagnostic.message().to_owned(),
        |detail| format!("{}: {detail}", diagnostic.message()),
    )
}

/// `guard/missing-tools`: the server lacks tools of the rules. `missing` has pairs of a name in the rules and the
/// server's name; `tools` are the names of the server's tools; the error lists at most 20 of them.
pub(crate) fn missing_tools(missing: &[(&str, &str)], tools: &[&str]) -> Error {
    let name = |(api, tool): &(&str, &str)| match api == tool {
        true => format!("`{}`", excerpt(tool)),
        false => format!("`{}` (for `{}`)", excerpt(tool), excerpt(api)),
    };
    let names: Vec<String> = missing.iter().map(name).collect();
    let shown: Vec<String> = tools.iter().take(20).map(|tool| excerpt(tool)).collect();
    let (api, tool) = missing.first().copied().unwrap_or_default();
    let general = format!("name the tool with `--map {}=TOOL`", excerpt(api));
    usage(
        Diagnostic::new("guard/missing-tools", "the server lacks tools that the procedure names")
            .found(names.join(", "))
            .allowed(format!("the server's tools: {}", shown.join(", ")))
            .help(did_you_mean(tool, tools.iter().copied(), general)),
    )
}

/// `guard/argument`: a tool has no argument for a slot of the rules. `listed` are the arguments that its schema lists;
/// the error lists at most 20 of them. `is_open` says whether the schema allows further arguments.
pub(crate) fn argument(tool: &str, argument: &str, listed: &[String], is_open: bool) -> Error {
    let shown: Vec<String> = listed.iter().take(20).map(|name| excerpt(name)).collect();
    let general = match is_open {
        true => {
            "give the slot the name of the tool's argument; `--open-arguments` allows arguments that are not listed"
        }
        false => "give the slot the name of the tool's argument, or take it out of the request",
    };
    usage(
        Diagnostic::new(
            "guard/argument",
            format!("a slot of the rules binds nothing: the tool `{}` lists no such argument", excerpt(tool)),
        )
        .found(excerpt(argument))
        .allowed(match shown.is_empty() {
            true => "the tool's `inputSchema` lists no arguments".to_owned(),
            false => format!("the tool's arguments: {}", shown.join(", ")),
        })
        .help(did_you_mean(argument, listed.iter().map(String::as_str), general)),
    )
}

grammata_base::errors! {
    pub(crate) Usage;

    /// `guard/method`: a method to pass on has the name of a method of the protocol, or one that equals it but for
    /// case.
    method(found: &str, alike: &str) = "guard/method", "this method cannot be passed on unread"
        found(excerpt(found))
        allowed("a method that the protocol does not have")
        help("the guard reads `{alike}` itself: leave the option out");

    /// `guard/unknown-api`: the map has a name that is not in the rules. `known` are the names of the rules.
    unknown_api<'k>(name: &str, known: impl IntoIterator<Item = &'k str>) =
        "guard/unknown-api", "the procedure has no such API"
        found(excerpt(name))
        allowed("a name of APIs")
        help(did_you_mean(name, known, "write `--map API=TOOL`"));

    /// `guard/shared-tool`: two names of the rules are mapped to the same tool.
    shared_tool(tool: &str) = "guard/shared-tool", "two APIs of the procedure are mapped to one tool"
        found(excerpt(tool))
        allowed("a tool of its own for each API")
        help("map one of them to another tool with `--map API=TOOL`");

    /// `guard/taken-name`: a tool of the server has the name of one of the guard's own tools.
    taken_name(tool: &str) =
        "guard/taken-name", "the server has a tool with the name of one of the guard's tools"
        found(excerpt(tool))
        allowed("a name that the server does not use")
        help("choose another prefix with `--tool-prefix`");

    /// `guard/schema`: the schema of a slot cannot be used to check values.
    schema(slot: &str, cause: &str) =
        "guard/schema", ("the schema of the slot `{}` cannot be used", excerpt(slot))
        cause(excerpt(cause)) help("correct the `schema` of the slot");

    /// `guard/trace`: the log of an earlier session violates the rules at event number `event`, counted from 1.
    trace(event: usize, node: &str, obstacle: &str) =
        "guard/trace", "the session cannot be continued: its log breaks the rules"
        found("event {event}: {}: {}", excerpt(node), excerpt(obstacle))
        allowed("a log that `--resume` has written under these rules; for a procedure, also a log of `--log`")
        help("begin a new session with a new file; `grammata procedure verify` judges the log of a procedure");

    /// `guard/log-text`: a log is not UTF-8.
    log_text(path: &Path, cause: &std::str::Utf8Error) =
        "guard/log-text", "the log of the session is not UTF-8"
        in_file(path.display().to_string()) cause(cause) help("begin a new session with a new file");

    /// `guard/thread`: the system cannot start a thread.
    thread(cause: &std::io::Error) = "guard/thread", "the system cannot start a thread for the session"
        cause(cause) help("raise the limits on processes and memory, or lower `--max-sessions`");

    /// `guard/initialize`: the server does not begin a session. `what` is its answer.
    initialize(what: &str) = "guard/initialize", "the server does not begin a session"
        found(excerpt(what))
        allowed("a result of `initialize`")
        help("check that the server speaks a version of MCP with `initialize`, such as 2025-11-25");

    /// `guard/list`: the server's list of tools cannot be read. `what` says why.
    list(what: &str) = "guard/list", "the server's list of tools cannot be read"
        found(excerpt(what))
        allowed("answers to `tools/list` as the Model Context Protocol describes them")
        help("check the server with another client");

    /// `guard/silent-server`: the server did not list its tools within the deadline.
    silent(deadline: Duration) = "guard/silent-server", "the server did not list its tools in time"
        found("no answer in {} s", deadline.as_secs_f64())
        allowed("an answer within the deadline")
        help("raise `--deadline`, or check that the command is an MCP server");

    /// `guard/start`: the server's command cannot be started.
    start(command: &str, cause: &std::io::Error) = "guard/start", "the server cannot be started"
        found(excerpt(command)) cause(cause) help("check the command after `--`");

    /// `guard/server-ended`: the server ended before the client. `how` is the way it ended, such as its exit status.
    server_ended(how: &str) = "guard/server-ended", "the server ended before the client"
        found(how)
        allowed("a server that runs until its standard input is closed")
        help("see what the server wrote to standard error");

    /// `guard/full`: more than `bytes` bytes wait to be sent to `side`, because that side does not read.
    full(side: &str, bytes: usize) = "guard/full", "the {side} does not read what it is sent"
        found("more than {bytes} bytes wait") help("check the {side}");

    /// `guard/url`: a text is not the address of a server.
    url(found: &str) = "guard/url", "this is not the address of a server"
        found(grammata_endpoint::hide_address(found))
        allowed("`http://HOST:PORT/PATH` or `https://HOST/PATH`, without user, query and fragment")
        help("give the address that clients send messages to, such as http://127.0.0.1:3000/mcp");

    /// `guard/public`: other machines could reach the address.
    public(address: &SocketAddr) = "guard/public", "others than this machine could reach this address"
        found(address.to_string())
        allowed("an address of this machine: 127.0.0.1 or [::1]")
        help("give `--listen-publicly` if whoever reaches the address may use the server");

    /// `guard/listen`: the address cannot be listened on.
    listen(address: &SocketAddr, cause: &std::io::Error) = "guard/listen", "the address cannot be listened on"
        found(address.to_string()) cause(cause) help("choose another port, or 0 for any");

    /// `guard/wishes`: a file of wishes cannot be read. `found` says why.
    wishes(found: &str) = "guard/wishes", "this is not a file of wishes"
        found(excerpt(found))
        allowed("TOML with `rest`, and with `hide`, `ask`, `pass` and `limit`")
        help(did_you_mean_field(
            found,
            "begin with `rest = \"pass\"`, \"ask\" or \"hide\" for other tools; a limit has `calls` of 1 to 10,000 and `per`",
        ));
}

/// `guard/log-exists`: the file of a new log has content.
pub(crate) fn log_exists(path: &Path) -> Error {
    let path = path.display().to_string();
    usage(
        Diagnostic::new("guard/log-exists", format!("the log `{}` has content", excerpt(&path)))
            .in_file(path)
            .found("a file that is not empty")
            .allowed("a new file, or an empty one")
            .help("continue the session of the file with `--resume`, or give another name"),
    )
}

/// `guard/log`: a line of the log cannot be written.
pub(crate) fn log(path: &Path, cause: &Error) -> Error {
    let cause = cause.diagnostic();
    usage(
        Diagnostic::new("guard/log", "the session ends, because its log cannot be written")
            .in_file(path.display().to_string())
            .found(cause.cause_text().unwrap_or(cause.message()))
            .allowed("a log with each call before it is sent")
            .help("make room on the disk, then continue the session with `--resume`"),
    )
}

/// `guard/unused-wish`: a pattern of a file of wishes matches no tool. The error lists at most 20 of the server's
/// tools.
pub(crate) fn unused_wish(pattern: &str, tools: &[&str]) -> Error {
    let shown: Vec<String> = tools.iter().take(20).map(|tool| excerpt(tool)).collect();
    usage(
        Diagnostic::new("guard/unused-wish", "the server has no tool for a name in the file of wishes")
            .found(excerpt(pattern))
            .allowed(format!("the server's tools: {}", shown.join(", ")))
            .help(did_you_mean(
                pattern,
                tools.iter().copied(),
                "correct the name, or delete it; another guard that hides the tool at times must stand before this one",
            )),
    )
}
