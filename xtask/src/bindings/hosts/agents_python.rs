//! Tests of LangGraph, PydanticAI and the OpenAI SDK with the package of agents. The models are scripts; nothing is
//! sent anywhere.

use super::super::python::AGENTS;
use crate::command::{self, Result, command, root};
use crate::setup;

/// The folder of the virtual environment.
const FOLDER: &str = "target/hosts/agents-python";

/// The frameworks and all that they need, by version.
const REQUIREMENTS: &str = "bindings/agents/examples/requirements.txt";

/// Runs the examples and compares what they print with the page.
pub fn check() -> Result {
    let (_, site) = AGENTS.built()?;
    let venv = root().join(FOLDER);
    let python = setup::environment(&venv)?;
    let install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "-r"];
    command::run(command(&python, &install).arg(REQUIREMENTS))?;
    command::run(
        command(&python, &["-m", "pytest", "-q", "bindings/agents/examples"]).env("PYTHONPATH", &site),
    )
}
