//! `grammata guard`: an MCP server behind a procedure.

use super::deadline::deadline;
use super::limits::LimitArgs;
use super::output::{Exit, Failure, Output};
use super::procedure::{ModeName, run::procedure};
use super::{errors, messages, source};
use grammata::error::Error;
use grammata_agents::procedures::{Event, Session, Supervisor, read_trace};
use grammata_base::files;
use grammata_guard::rules::{ProcedureOptions, ProcedureRules};
use grammata_guard::stdio::{self, Ends};
use grammata_guard::{Guard, Options};
use std::ffi::OsString;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// Serves the Model Context Protocol on standard input and output, with the tools of SERVER, of which the client sees
/// and calls only those that the procedure has open. A call that breaks the procedure is not passed on: its result says
/// why, and what may come instead. All else is passed on as it is. The exit code is 2 if the server lacks a tool or
/// ends first.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// The procedure: a file in YAML (or JSON), or in TOML if its name ends in `.toml`
    #[arg(value_name = "PROCEDURE")]
    file: PathBuf,
    /// The command of the MCP server and its arguments
    #[arg(value_name = "SERVER", last = true, required = true, num_args = 1..)]
    server: Vec<OsString>,
    /// How much of the procedure binds the agent
    #[arg(long, value_enum, default_value_t = ModeName::Guarded)]
    mode: ModeName,
    /// An API of the procedure that has another name on the server; may be repeated
    #[arg(long, value_name = "API=TOOL", value_parser = pair)]
    map: Vec<(String, String)>,
    /// Also list and pass on tools that the procedure does not name
    #[arg(long)]
    allow_others: bool,
    /// List all tools of the procedure as the server describes them, for clients that read the list once only
    #[arg(long)]
    list_all: bool,
    /// Let the agent report the user's messages: arguments whose source is the user are pieces of these
    #[arg(long)]
    user_words: bool,
    /// The prefix of the names of the guard's own tools
    #[arg(long, value_name = "TEXT", default_value = "guard_")]
    tool_prefix: String,
    /// Seconds that the server may take for a call
    #[arg(long, value_name = "SECONDS", default_value = "60", value_parser = deadline)]
    deadline: Duration,
    /// Write the session to a new file as JSON lines, which `procedure verify` reads
    #[arg(long, value_name = "FILE", conflicts_with = "resume")]
    log: Option<PathBuf>,
    /// Continue the session of a log, and write to it; a file that does not exist begins one
    #[arg(long, value_name = "FILE")]
    resume: Option<PathBuf>,
    #[command(flatten)]
    limits: LimitArgs,
}

/// Bytes of a message, at most.
const MESSAGE_BYTES: usize = 16 << 20;

fn pair(text: &str) -> Result<(String, String), String> {
    let (api, tool) = text.split_once('=').ok_or("it must be API=TOOL")?;
    Ok((api.to_owned(), tool.to_owned()))
}

/// The log of a session: its path, the open file, and the events that it has.
type Log<'a> = (&'a Path, File, Vec<Event>);

fn log(arguments: &Arguments) -> Result<Option<Log<'_>>, Error> {
    if let Some(path) = &arguments.log {
        let created = File::create_new(path).map_err(|cause| errors::io(path, &cause))?;
        return Ok(Some((path, created, Vec::new())));
    }
    let Some(path) = &arguments.resume else { return Ok(None) };
    let limits = arguments.limits.get();
    let io = |cause: std::io::Error| errors::io(path, &cause);
    let mut file = files::open_to_resume(path)?;
    let mut text = String::new();
    let most = limits.source_bytes as u64 + 1;
    (&mut file).take(most).read_to_string(&mut text).map_err(io)?;
    let name = source::name_of(path);
    let trace = read_trace(&text, &limits).map_err(|error| error.in_file(&name))?;
    file.seek(SeekFrom::End(0)).map_err(io)?;
    if !text.is_empty() && !text.ends_with('\n') {
        file.write_all(b"\n").map_err(io)?;
    }
    Ok(Some((path, file, trace)))
}

pub(super) fn run(arguments: &Arguments, output: &mut Output) -> Result<Exit, Failure> {
    if output.is_json() {
        return Err(errors::guard_writes_messages().into());
    }
    let limits = arguments.limits.get();
    let procedure = {
        let mut procedure = procedure(&arguments.file, &limits)?;
        if !arguments.user_words {
            procedure.open_sources();
        }
        procedure
    };
    let mode = arguments.mode.into();
    let supervisor = Supervisor::new(&procedure, mode, &limits)?;
    let session = match supervisor.is_blocking() {
        true => {
            messages::note("results or decisions can block the procedure: its rules alone bind the agent");
            Session::new(&procedure, mode)
        }
        false => Session::supervised(&supervisor),
    };
    let options = ProcedureOptions { hears_user: arguments.user_words };
    let mut rules = ProcedureRules::new(session, options)?;
    let mut log = log(arguments)?;
    if let Some((path, file, trace)) = &mut log {
        let name = source::name_of(path);
        if let Some(event) = rules.resume(trace).map_err(|error| error.in_file(&name))? {
            writeln!(file, "{event}").map_err(|cause| errors::io(path, &cause))?;
        }
    }
    let mut guard = Guard::new(
        rules,
        Options {
            map: arguments.map.clone(),
            prefix: arguments.tool_prefix.clone(),
            allow_others: arguments.allow_others,
            list_all: arguments.list_all,
            deadline: arguments.deadline,
        },
    )?;
    let [program, rest @ ..] = arguments.server.as_slice() else { return Ok(Exit::Done) };
    let ends = Ends {
        input: Box::new(std::io::stdin()),
        output: Box::new(std::io::stdout()),
        log: log.as_mut().map(|(path, file, _)| (*path, file as &mut dyn Write)),
        note: &mut messages::note,
        line_bytes: MESSAGE_BYTES,
    };
    stdio::run(&mut guard, Command::new(program).args(rest), ends)?;
    Ok(Exit::Done)
}
