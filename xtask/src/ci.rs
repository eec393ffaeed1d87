//! What continuous integration runs, in less than 25 minutes; `full` has what takes longer.
//!
//! Steps share one profile and one set of features, so that dependencies are built once for checking (lints, documentation)
//! and once for running (tests, examples in the documentation): they name the whole workspace, as cargo unites the features of
//! what is named. The fuzz targets need an instrumented build of their own.

use crate::command::{self, Result, cargo, root, succeeds};
use crate::steps::{self, Step};
use crate::tools::{DENY, NEXTEST};
use crate::{bindings, fuzz, instructions, test};

/// Each fuzz target for ten seconds, one on each core. Without the address sanitizer it is five times as fast, and there is no
/// unsafe code to watch.
const FUZZING: fuzz::Run = fuzz::Run { seconds: 0, least: 10, address_sanitizer: false };

const STEPS: [Step; 11] = [
    ("tools", tools),
    ("format", format),
    ("lints", lints),
    ("documentation", documentation),
    ("features", features),
    ("packages", packages),
    ("tests", || test::run(&[])),
    ("bindings", || bindings::run(&[])),
    ("instructions", instructions),
    ("dependencies", dependencies),
    ("fuzzing", fuzzing),
];

/// Runs the steps that are named, or all.
pub fn run(names: &[String]) -> Result {
    steps::run("ci", &STEPS, names)
}

/// The programs of other packages, first: what is missing is known at once.
fn tools() -> Result {
    NEXTEST.install()?;
    DENY.install()
}

fn format() -> Result {
    command::run(&mut cargo(&["fmt", "--all", "--check"]))
}

fn lints() -> Result {
    let arguments = [
        "clippy",
        "--workspace",
        "--all-targets",
        "--features",
        "ort,hnsw,qdrant",
        "--",
        "--deny",
        "warnings",
    ];
    command::run(&mut cargo(&arguments))
}

fn documentation() -> Result {
    command::run(
        cargo(&["doc", "--workspace", "--no-deps", "--features", "ort,hnsw,qdrant"])
            .env("RUSTDOCFLAGS", "--deny warnings"),
    )
}

/// The engine alone, decoding and agents without their features, and all with CUDA: checked only.
fn features() -> Result {
    command::run(&mut cargo(&["check", "--package", "grammata", "--no-default-features"]))?;
    command::run(&mut cargo(&["check", "--package", "grammata"]))?;
    command::run(&mut cargo(&["check", "--package", "grammata", "--features", "serde"]))?;
    command::run(&mut cargo(&[
        "check",
        "--package",
        "grammata",
        "--bench",
        "maskbench",
        "--features",
        "attribution",
    ]))?;
    // the engine's tests need no agents
    command::run(&mut cargo(&["check", "--package", "grammata", "--tests"]))?;
    command::run(&mut cargo(&["check", "--package", "grammata-decode"]))?;
    command::run(&mut cargo(&["check", "--package", "grammata-agents"]))?;
    command::run(&mut cargo(&["check", "--workspace", "--features", "ort,hnsw,qdrant,cuda"]))
}

/// Members of the workspace that are not published.
const UNPUBLISHED: [&str; 9] = [
    "grammata-c",
    "grammata-examples",
    "grammata-labs",
    "grammata-llg",
    "grammata-python",
    "grammata-testing",
    "instructions",
    "interleavings",
    "xtask",
];

/// The packages to publish can be made. They are not built: `cargo package` without `--no-verify` takes minutes.
fn packages() -> Result {
    let mut command = cargo(&["package", "--workspace", "--no-verify", "--allow-dirty"]);
    command.args(UNPUBLISHED.iter().flat_map(|name| ["--exclude", name]));
    command::run(&mut command)
}

/// The ratchet on instructions.
fn instructions() -> Result {
    instructions::run(false)
}

/// Where advisories on crates are published; cargo-deny clones it.
const ADVISORIES: &str = "https://github.com/RustSec/advisory-db";

/// Licences, sources and doubled dependencies by `deny.toml`, which need no network. Advisories and yanked versions, which
/// do, where the database of advisories is reachable or was fetched before.
fn dependencies() -> Result {
    DENY.install()?;
    command::run(&mut DENY.command(&["--all-features", "check", "bans", "licenses", "sources"]))?;
    let reached = succeeds(
        command::command("git", &["ls-remote", "--exit-code", ADVISORIES, "HEAD"])
            .env("GIT_TERMINAL_PROMPT", "0")
            .env("GIT_HTTP_LOW_SPEED_LIMIT", "1000")
            .env("GIT_HTTP_LOW_SPEED_TIME", "20"),
    );
    if !reached {
        println!("not checked: advisories and yanked versions, as {ADVISORIES} is not reachable");
        return Ok(());
    }
    command::run(&mut DENY.command(&["--all-features", "check", "advisories"]))
}

fn fuzzing() -> Result {
    if !root().join("fuzz/Cargo.toml").is_file() {
        return Err("there is no folder fuzz/".to_owned());
    }
    FUZZING.run()
}
