//! The steps of continuous integration, in less than 25 minutes; `full` has the longer ones.
//!
//! Most steps share one profile and one set of features, so that dependencies are built once for checking (lints,
//! documentation) and once for running (tests, examples in the documentation). These steps name the whole workspace,
//! because cargo unites the features of the named packages. The bodies of the fuzz targets run as tests; the targets
//! are only checked here, because they need an instrumented build of everything (`cargo xtask full fuzzing`).

use crate::command::{self, Result, cargo, root, succeeds};
use crate::steps::{self, Step};
use crate::tools::{DENY, NEXTEST};
use crate::{bindings, clients, instructions, test};

const STEPS: [Step; 13] = [
    ("tools", tools),
    ("format", format),
    ("lints", lints),
    ("documentation", documentation),
    ("features", features),
    ("packages", packages),
    ("tests", || test::run(&[])),
    ("server", clients::check),
    ("bindings", || bindings::run(&[])),
    ("instructions", instructions),
    ("dependencies", dependencies),
    (ADVISORIES, advisories),
    ("fuzzing", fuzzing),
];

/// The step that needs the network.
const ADVISORIES: &str = "advisories";

/// The option that leaves [`ADVISORIES`] out.
const WITHOUT_ADVISORIES: &str = "--without-advisories";

/// The features of lints and documentation: all that compile on every machine. Tests are built without CUDA, so both
/// ways compile.
const FEATURES: &str = "ort,cuda,server";

/// Runs the named steps, or all; with [`WITHOUT_ADVISORIES`] all but that of advisories.
pub fn run(arguments: &[String]) -> Result {
    if arguments != [WITHOUT_ADVISORIES] {
        return steps::run("ci", &STEPS, arguments);
    }
    println!("not checked: advisories on dependencies, and yanked versions");
    let others: Vec<Step> = STEPS.into_iter().filter(|step| step.0 != ADVISORIES).collect();
    steps::run("ci", &others, &[])
}

/// Installs the programs of other packages that later steps run. It is the first step, so that a missing one is
/// reported early.
fn tools() -> Result {
    NEXTEST.install()?;
    DENY.install()
}

fn format() -> Result {
    command::run(&mut cargo(&["fmt", "--all", "--check"]))
}

fn lints() -> Result {
    let arguments =
        ["clippy", "--workspace", "--all-targets", "--features", FEATURES, "--", "--deny", "warnings"];
    command::run(&mut cargo(&arguments))
}

fn documentation() -> Result {
    command::run(
        cargo(&["doc", "--workspace", "--no-deps", "--features", FEATURES])
            .env("RUSTDOCFLAGS", "--deny warnings"),
    )
}

/// Checks that these compile: the engine with few features, the engine's tests, and the packages of decoding and of
/// agents without their optional features. Each is checked by itself, because cargo unites the features of packages
/// that are named together.
fn features() -> Result {
    command::run(&mut cargo(&["check", "--package", "grammata", "--no-default-features"]))?;
    command::run(&mut cargo(&["check", "--package", "grammata"]))?;
    // the engine's tests must compile without the package of agents
    let with_tests = ["--lib", "--tests", "--bench", "maskbench"];
    command::run(cargo(&["check", "--package", "grammata"]).args(with_tests))?;
    command::run(&mut cargo(&["check", "--package", "grammata-decode"]))?;
    command::run(&mut cargo(&["check", "--package", "grammata-agents"]))?;
    command::run(&mut cargo(&["check", "--package", "grammata-agents-drive"]))
}

/// Members of the workspace that are not published.
const UNPUBLISHED: [&str; 12] = [
    "grammata-agents-python",
    "grammata-c",
    "grammata-examples",
    "grammata-js",
    "grammata-labs",
    "grammata-llg",
    "grammata-python",
    "grammata-python-border",
    "grammata-testing",
    "instructions",
    "interleavings",
    "xtask",
];

/// Checks that the packages to publish can be packaged. `--no-verify` skips building them, which takes minutes.
fn packages() -> Result {
    let mut command = cargo(&["package", "--workspace", "--no-verify", "--allow-dirty"]);
    command.args(UNPUBLISHED.iter().flat_map(|name| ["--exclude", name]));
    command::run(&mut command)
}

/// Compares the instruction counts with the record.
fn instructions() -> Result {
    instructions::run(false)
}

/// Checks licences, sources and duplicate dependencies by `deny.toml`, without network.
fn dependencies() -> Result {
    DENY.install()?;
    command::run(&mut DENY.command(&["--all-features", "check", "bans", "licenses", "sources"]))
}

/// The repository of advisories on crates; cargo-deny clones it.
const DATABASE: &str = "https://github.com/RustSec/advisory-db";

/// Checks advisories and yanked versions. Fails if the repository of advisories is not reachable.
fn advisories() -> Result {
    DENY.install()?;
    let reached = succeeds(
        command::command("git", &["ls-remote", "--exit-code", DATABASE, "HEAD"])
            .env("GIT_TERMINAL_PROMPT", "0")
            .env("GIT_HTTP_LOW_SPEED_LIMIT", "1000")
            .env("GIT_HTTP_LOW_SPEED_TIME", "20"),
    );
    if !reached {
        return Err(format!(
            "{DATABASE} is not reachable, so advisories are not checked; without network, run \
             `cargo xtask ci {WITHOUT_ADVISORIES}`"
        ));
    }
    command::run(&mut DENY.command(&["--all-features", "check", "advisories"]))
}

/// Checks that the fuzz targets compile, and that their lock file is up to date.
fn fuzzing() -> Result {
    let manifest = root().join("fuzz/Cargo.toml");
    let mut check = cargo(&["check", "--locked", "--manifest-path"]);
    // libFuzzer itself is not linked here; a path to it, which need not exist, saves half a minute of building it
    let library = bindings::target().join("libfuzzer.a");
    check.arg(manifest).env("CARGO_TARGET_DIR", bindings::target()).env("CUSTOM_LIBFUZZER_PATH", library);
    command::run(&mut check)
}
