//! Checks the server with the suite for structured output and with the clients that people use.

use crate::command::{self, Result, cargo, command, root, succeeds};
use crate::setup;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Stdio};

/// The folder of the clients' environments.
const FOLDER: &str = "target/clients";

/// The clients of PyPI, each with the packages of its environment.
const PYTHON: [(&str, &[&str]); 3] = [
    ("openai", &["openai==3.57.0"]),
    ("instructor", &["instructor==1.17.0"]),
    ("pydantic-ai", &["pydantic-ai-slim[openai]==2.68.0"]),
];

/// The clients of npm, likewise.
const NODE: [(&str, &[&str]); 2] = [
    ("openai", &["openai@7.59.0", "zod@4.6.7"]),
    ("ai", &["ai@7.0.173", "@ai-sdk/openai@3.0.141", "@ai-sdk/openai-compatible@2.0.92", "zod@4.6.7"]),
];

/// What continuous integration runs: the suite's test of itself, the suite on the server, and one client.
pub fn check() -> Result {
    command::run(&mut command(setup::python()?, &["suites/structured-output/selftest.py"]))?;
    let server = Server::start()?;
    server.suite()?;
    server.python(&PYTHON[..1])
}

/// Checks the server with all clients.
pub fn all() -> Result {
    let server = Server::start()?;
    server.python(&PYTHON)?;
    server.node()
}

/// A server of random numbers.
struct Server {
    process: Child,
    address: String,
}

impl Server {
    /// Builds and starts the server, as a family that writes calls.
    fn start() -> Result<Server> {
        let example = ["--workspace", "--features", "ort,server", "--example", "random"];
        command::run(cargo(&["build"]).args(example))?;
        let program = root().join("target/debug/examples/random");
        let mut start = command(program, &["hermes"]);
        start.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = start.spawn().map_err(|error| format!("cannot start the server: {error}"))?;
        let mut address = String::new();
        if let Some(output) = process.stdout.take() {
            BufReader::new(output).read_line(&mut address).map_err(|error| error.to_string())?;
        }
        match address.trim() {
            "" => Err("the server did not say its address".to_owned()),
            address => Ok(Server { address: address.to_owned(), process }),
        }
    }

    /// Runs the suite, whose outcomes are recorded in `crates/server/clients/suite.expect`.
    fn suite(&self) -> Result {
        let suite = [
            "suites/structured-output/run.py",
            "--quiet",
            "--dialect",
            "openai,vllm,llama-cpp",
            "--jobs",
            "2",
        ];
        let expected = ["--expect", "crates/server/clients/suite.expect", "--url", &self.address];
        command::run(command(setup::python()?, &suite).args(expected))
    }

    fn python(&self, clients: &[(&str, &[&str])]) -> Result {
        for (client, packages) in clients {
            let python = setup::environment(&root().join(FOLDER).join(client))?;
            let install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
            command::run(command(&python, &install).args(*packages))?;
            command::run(&mut command(&python, &["crates/server/clients/check.py", &self.address, client]))?;
        }
        Ok(())
    }

    fn node(&self) -> Result {
        for (client, packages) in NODE {
            let folder = root().join(FOLDER).join(format!("npm-{client}"));
            std::fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
            let script = PathBuf::from(format!("{client}.mjs"));
            // packages are looked for beside the script
            let from = root().join("crates/server/clients").join(&script);
            std::fs::copy(from, folder.join(&script)).map_err(|error| error.to_string())?;
            if !succeeds(command("npm", &["ls", "--silent"]).args(packages).current_dir(&folder)) {
                let install =
                    ["install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", "."];
                command::run(command("npm", &install).args(packages).current_dir(&folder))?;
            }
            command::run(command("node", &[]).arg(&script).arg(&self.address).current_dir(&folder))?;
        }
        Ok(())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // it ends when its standard input does
        drop(self.process.stdin.take());
        let _ = self.process.wait();
    }
}
