//! An MCP server whose tools a command reads.

use crate::args::deadline::deadline;
use crate::args::endpoint;
use grammata::error::Result;
use grammata_guard::http::Remote;
use grammata_guard::proxy::Server;
use grammata_guard::{Inspected, inspect};
use std::ffi::OsString;
use std::process::Command;
use std::time::Duration;

/// Maximum bytes of a message of a server, and of a client on standard input.
pub(crate) const MESSAGE_BYTES: usize = 16 << 20;

/// An MCP server: a command, or an address.
#[derive(Clone, Debug, clap::Args)]
pub struct ServerArgs {
    /// The command of an MCP server, whose list of tools is read; its arguments follow
    #[arg(value_name = "SERVER", last = true, num_args = 1..)]
    pub mcp: Vec<OsString>,
    /// The address of the MCP server, which speaks streamable HTTP, in place of a command
    #[arg(
        long,
        value_name = "URL",
        conflicts_with = "mcp",
        hide_short_help = true,
        help_heading = "MCP server"
    )]
    pub http: Option<String>,
    /// The environment variable with the key that the server at `--http` wants
    #[arg(
        long,
        value_name = "VARIABLE",
        requires = "http",
        hide_short_help = true,
        help_heading = "MCP server"
    )]
    pub http_key_env: Option<String>,
    /// Seconds that the server may take until its whole list of tools is read
    #[arg(
        long,
        value_name = "SECONDS",
        default_value = "60",
        value_parser = deadline,
        hide_short_help = true,
        help_heading = "MCP server"
    )]
    pub deadline: Duration,
}

impl ServerArgs {
    /// Returns the server as errors name it; `None` if none is given.
    pub fn name(&self) -> Option<String> {
        let command = self.mcp.first().map(|program| program.to_string_lossy().into_owned());
        self.http.clone().or(command)
    }

    /// Starts or reaches the server, reads its tools, and ends the session; `None` if no server is given.
    ///
    /// # Errors
    /// Those of [`Remote::new`] and [`inspect`], of the key's variable, and of the handlers of signals.
    pub fn read(&self) -> Result<Option<Inspected>> {
        #[cfg(unix)]
        if !self.mcp.is_empty() {
            grammata_guard::end_servers_on_signals()?;
        }
        if self.http.is_none() && self.mcp.is_empty() {
            return Ok(None);
        }
        let (remote, mut command) =
            (remote(self.http.as_deref(), self.http_key_env.as_deref())?, command(&self.mcp));
        let server = remote.as_ref().map_or(Server::Command(&mut command), Server::Http);
        inspect(server, self.deadline, MESSAGE_BYTES).map(Some)
    }
}

/// Returns the server at the address `--http`, with the key in an environment variable; `None` without an address.
///
/// # Errors
/// Those of [`Remote::new`] and of the key's variable.
pub(crate) fn remote(http: Option<&str>, key_env: Option<&str>) -> Result<Option<Remote>> {
    http.map(|url| Remote::new(url, endpoint::key(key_env)?)).transpose()
}

/// Returns the command of a server, from its words; one that is not used if the server is reached by HTTP.
pub(crate) fn command(words: &[OsString]) -> Command {
    let mut words = words.iter();
    let mut command = Command::new(words.next().cloned().unwrap_or_default());
    command.args(words);
    command
}
