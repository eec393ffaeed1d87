//! Runs the guard between the official MCP clients for Python and TypeScript and servers from npm.

use crate::bindings;
use crate::command::{Result, cargo, command, root, run};
use crate::setup;

/// The folder of the clients, the servers and the logs.
const FOLDER: &str = "target/guard";
/// The npm packages: the TypeScript clients of earlier versions and of all versions, and two servers.
const NPM: [&str; 4] = [
    "@modelcontextprotocol/sdk@1.32.2",
    "@modelcontextprotocol/client@2.4.0",
    "@modelcontextprotocol/server-everything@2026.8.31",
    "@modelcontextprotocol/server-filesystem@2026.8.31",
];
/// The PyPI package of the Python client and server.
const PYPI: &str = "mcp==2.3.0";
const SCRIPTS: &str = "xtask/scripts/guard";

/// Fetches the clients and servers, builds the program, and runs sessions with each client.
pub fn clients() -> Result {
    let folder = root().join(FOLDER);
    std::fs::create_dir_all(folder.join("logs")).map_err(|error| error.to_string())?;
    std::fs::write(folder.join("package.json"), "{\"private\": true}\n")
        .map_err(|error| error.to_string())?;
    let install = ["install", "--no-audit", "--no-fund", "--silent"];
    run(command("npm", &install).args(NPM).current_dir(&folder))?;
    let python = setup::environment(&folder.join("venv"))?;
    run(&mut command(&python, &["-m", "pip", "install", "--quiet", "--disable-pip-version-check", PYPI]))?;
    run(&mut cargo(&["build", "--profile", "quick", "--package", "grammata-cli"]))?;
    let program = bindings::target().join("quick/grammata");
    for (interpreter, script) in [("node".into(), "client.mjs"), (python.clone(), "client.py")] {
        let mut client = command(interpreter, &[]);
        client.arg(root().join(SCRIPTS).join(script)).arg(&program).arg(&folder);
        run(client.arg(folder.join("logs")).arg(&python))?;
    }
    Ok(())
}
