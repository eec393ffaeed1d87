//! `grammata guard`: an MCP server behind a procedure, a domain of flows, a plan spec or tools with prerequisites.

mod check;
#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod memory;
mod rules;

use crate::args::deadline::deadline;
use crate::args::limits::LimitArgs;
use crate::args::server::{self, MESSAGE_BYTES};
use crate::args::source;
use crate::cmd::procedure::ModeName;
use crate::io::output::{Exit, Failure, Output};
use crate::io::{errors, messages};
use grammata::diagnostic::visible_json;
use grammata::error::Error;
use grammata_guard::http::{Handlers, ListenOptions, Listener, Remote};
use grammata_guard::proxy::{self, Client, Journal, Server};
use grammata_guard::rules::Ask;
use grammata_guard::{Guard, Log, Options, inspect};
use rules::Held;
use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant, SystemTime};

/// Serves the Model Context Protocol on standard input and output, with the tools of SERVER, of which the client sees
/// and calls only those that RULES has open: a procedure, a domain of flows, a plan spec, a document of tools of which
/// some need values that others give, or a short file of wishes: what to ask before, hide and limit. A call that breaks
/// the rules is not passed on: its result says why, and what may come instead. Other messages of the protocol are passed
/// on as they are. The exit code is 2 if the server lacks a tool or an argument of the rules, or ends first.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// A procedure, a domain of flows (`kind = "flows"`), a plan spec (a file or folder), a document of tools, or wishes
    /// (TOML with `rest`)
    #[arg(value_name = "RULES")]
    file: PathBuf,
    /// The command of the MCP server and its arguments
    #[arg(value_name = "SERVER", last = true, required_unless_present = "http", num_args = 1..)]
    server: Vec<OsString>,
    /// The address of the MCP server, which speaks streamable HTTP, in place of a command
    #[arg(long, value_name = "URL", conflicts_with = "server")]
    http: Option<String>,
    /// The environment variable with the key that the server at `--http` wants
    #[arg(long, value_name = "VARIABLE", requires = "http", hide_short_help = true)]
    http_key_env: Option<String>,
    /// Serve clients by streamable HTTP at this address, in place of standard input and output; port 0 is any
    #[arg(long, value_name = "ADDRESS:PORT")]
    listen: Option<SocketAddr>,
    /// Listen at an address that others than this machine can reach: they may then use the server
    #[arg(long, requires = "listen")]
    listen_publicly: bool,
    /// Allow pages of this origin in a browser, in addition to those of this machine; may be repeated
    #[arg(long, value_name = "ORIGIN", requires = "listen")]
    allow_origin: Vec<String>,
    /// Sessions of clients at a time, at most
    #[arg(long, value_name = "N", default_value_t = 64, requires = "listen", hide_short_help = true)]
    max_sessions: usize,
    /// Seconds after which a session ends that no client uses
    #[arg(long, value_name = "SECONDS", default_value = "1800", value_parser = deadline, requires = "listen",
        hide_short_help = true)]
    idle: Duration,
    /// Write the sessions of `--listen` to new files in this folder, named by the sessions' ids
    #[arg(long, value_name = "FOLDER", requires = "listen", conflicts_with_all = ["log", "resume"])]
    logs: Option<PathBuf>,
    /// Serve no client: check the rules and the server as a session does at its start, say what the client will see, and
    /// end
    #[arg(long, conflicts_with_all = ["listen", "log", "resume"])]
    check: bool,
    /// How much of the procedure binds the agent
    #[arg(long, value_enum, default_value_t = ModeName::Guarded)]
    mode: ModeName,
    /// An API of the rules that has another name on the server; may be repeated
    #[arg(long, value_name = "API=TOOL", value_parser = pair)]
    map: Vec<(String, String)>,
    /// Also list and pass on tools that the rules do not name
    #[arg(long)]
    allow_others: bool,
    /// Allow slots of the rules that a tool's schema does not list, if it allows further arguments
    #[arg(long)]
    open_arguments: bool,
    /// Pass on a member of messages or of `params` that the protocol does not have; may be repeated
    #[arg(long, value_name = "NAME", hide_short_help = true)]
    allow_members: Vec<String>,
    /// Pass on requests and notifications of a method that the protocol does not have; may be repeated
    #[arg(long, value_name = "METHOD", hide_short_help = true)]
    allow_methods: Vec<String>,
    /// List all tools of the rules as the server describes them, for clients that read the list once only
    #[arg(long)]
    list_all: bool,
    /// Let the agent report the user's messages: arguments whose source is the user are pieces of these
    #[arg(long)]
    user_words: bool,
    /// Who decides what a procedure leaves to the user, and accepts calls that need it
    #[arg(long, value_enum, default_value_t = AskName::Elicit)]
    ask: AskName,
    /// Seconds that the user may take for the answer to a question
    #[arg(long, value_name = "SECONDS", default_value = "600", value_parser = deadline)]
    ask_deadline: Duration,
    /// The prefix of the names of the guard's own tools
    #[arg(long, value_name = "TEXT", default_value = "guard_")]
    tool_prefix: String,
    /// Seconds that the server may take for a call
    #[arg(long, value_name = "SECONDS", default_value = "60", value_parser = deadline)]
    deadline: Duration,
    /// Write the session to a new or empty file, which `procedure verify` or `plan verify` reads. Events in JSON have
    /// their times
    #[arg(long, value_name = "FILE", conflicts_with_all = ["resume", "listen"])]
    log: Option<PathBuf>,
    /// Continue the session of a log, and write to it; a file that does not exist begins one. For rules other than a
    /// procedure the log has calls and results as JSON, and `plan verify` does not read it
    #[arg(long, value_name = "FILE", conflicts_with = "listen")]
    resume: Option<PathBuf>,
    #[command(flatten)]
    limits: LimitArgs,
}

/// Who decides what the rules leave to a person.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum AskName {
    /// The user, whom the guard asks through the client (MCP's elicitation)
    Elicit,
    /// The agent, which reports what the user decided; the guard cannot check it
    Agent,
    /// Nobody
    Refuse,
}

impl From<AskName> for Ask {
    fn from(name: AskName) -> Ask {
        match name {
            AskName::Elicit => Ask::Elicit,
            AskName::Agent => Ask::Agent,
            AskName::Refuse => Ask::Refuse,
        }
    }
}

fn pair(text: &str) -> Result<(String, String), String> {
    let (api, tool) = text.split_once('=').ok_or("it must be API=TOOL")?;
    Ok((api.to_owned(), tool.to_owned()))
}

/// Opens the log of `--log` or `--resume`. Returns it with the text that it already has.
fn log(arguments: &Arguments, held: &Held) -> Result<Option<(Log, String)>, Error> {
    if let Some(path) = &arguments.log {
        return Ok(Some((Log::create(path, held.log_form())?, String::new())));
    }
    let Some(path) = &arguments.resume else { return Ok(None) };
    let (log, logged) = Log::resume(path, &arguments.limits.get())?;
    if logged.cut > 0 {
        let (name, cut) = (source::name_of(path), logged.cut);
        messages::note(&format!("the last line of {name} was cut off ({cut} bytes), and is removed"));
    }
    Ok(Some((log, logged.text)))
}

pub(crate) fn run(arguments: &Arguments, output: &mut Output) -> Result<Exit, Failure> {
    if output.is_json() && !arguments.check {
        return Err(errors::guard_writes_messages().into());
    }
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    if arguments.listen.is_some() {
        memory::restart_with_one_arena();
    }
    let limits = arguments.limits.get();
    let held = Held::read(arguments, &limits)?;
    // the note about the supervisor is written once, before the first client connects
    if matches!(held, Held::Procedure(_)) && held.supervisor(arguments, &limits)?.is_none() {
        messages::note("results or decisions can block the procedure: its rules alone bind the agent");
    }
    let remote = server::remote(arguments.http.as_deref(), arguments.http_key_env.as_deref())?;
    #[cfg(unix)]
    grammata_guard::end_servers_on_signals()?;
    let session = Guarded { arguments, held: &held, remote };
    if arguments.check {
        return session.check(output);
    }
    match arguments.listen {
        Some(address) => session.listen(address)?,
        None => {
            let client = Client::Streams(Box::new(std::io::stdin()), Box::new(std::io::stdout()));
            session.run(client, log(arguments, &held)?, MESSAGE_BYTES)?;
        }
    }
    Ok(Exit::Done)
}

/// What all sessions of a run share: the arguments, the rules and the server's address.
struct Guarded<'a> {
    arguments: &'a Arguments,
    held: &'a Held,
    remote: Option<Remote>,
}

impl Guarded<'_> {
    /// Runs a session to its end.
    fn run(&self, client: Client, log: Option<(Log, String)>, line_bytes: usize) -> Result<(), Error> {
        let arguments = self.arguments;
        let (mut log, text) = log.map_or((None, String::new()), |(log, text)| (Some(log), text));
        let mut write = |line: &str| log.as_mut().map_or(Ok(()), |log| log.write(line));
        // supervisors cannot be shared between the threads of sessions
        let supervisor = self.held.supervisor(arguments, &arguments.limits.get())?;
        let made = self.held.rules(supervisor.as_ref(), &text, arguments);
        let (rules, event) =
            made.map_err(|error| match arguments.resume.as_ref().filter(|_| !text.is_empty()) {
                Some(path) => error.in_file(&source::name_of(path)),
                None => error,
            })?;
        if let Some(line) = event.and_then(|event| visible_json(&event).ok()) {
            write(&line)?;
        }
        let mut guard = Guard::new(rules, self.options())?;
        let journal = Journal { log: &mut write, note: &mut messages::note };
        let mut command = server::command(&self.arguments.server);
        proxy::run(&mut guard, self.server(&mut command), client, journal, line_bytes)
    }

    fn options(&self) -> Options {
        let arguments = self.arguments;
        let since_1970 = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        Options {
            map: arguments.map.clone(),
            prefix: arguments.tool_prefix.clone(),
            allow_others: arguments.allow_others,
            list_all: arguments.list_all,
            open_arguments: arguments.open_arguments,
            allow_members: arguments.allow_members.clone(),
            allow_methods: arguments.allow_methods.clone(),
            deadline: arguments.deadline,
            ask_deadline: arguments.ask_deadline,
            epoch: Some((Instant::now(), since_1970)),
        }
    }

    fn server<'s>(&'s self, command: &'s mut Command) -> Server<'s> {
        self.remote.as_ref().map_or(Server::Command(command), Server::Http)
    }

    /// Checks the rules and the server without a client, and says what the client will see.
    fn check(&self, output: &mut Output) -> Result<Exit, Failure> {
        let arguments = self.arguments;
        let supervisor = self.held.supervisor(arguments, &arguments.limits.get())?;
        let (rules, _) = self.held.rules(supervisor.as_ref(), "", arguments)?;
        let mut guard = Guard::new(rules, self.options())?;
        let mut command = server::command(&self.arguments.server);
        let found = inspect(self.server(&mut command), arguments.deadline, MESSAGE_BYTES)?;
        check::write(&found, &guard.review(&found)?, output)?;
        Ok(Exit::Done)
    }

    /// Serves clients by HTTP, each with a session of its own.
    fn listen(&self, address: SocketAddr) -> Result<(), Error> {
        let arguments = self.arguments;
        let options = ListenOptions {
            is_public: arguments.listen_publicly,
            origins: arguments.allow_origin.clone(),
            sessions: arguments.max_sessions,
            idle: arguments.idle,
            ..ListenOptions::default()
        };
        if let Some(folder) = &arguments.logs {
            std::fs::create_dir_all(folder).map_err(|cause| errors::io(folder, &cause))?;
        }
        let listener = Listener::new(address, options)?;
        messages::note(&format!("listening at {}", listener.url()));
        let run = |id: &str, client| {
            let path = arguments.logs.as_ref().map(|folder| folder.join(format!("{id}.jsonl")));
            let log = path.map(|path| Ok((Log::create(&path, self.held.log_form())?, String::new())));
            let ended = log.transpose().and_then(|log| self.run(Client::Http(client), log, MESSAGE_BYTES));
            ended.inspect_err(|error| messages::warning(error.diagnostic()))
        };
        listener.serve(&Handlers { run: &run, note: &messages::note })
    }
}
