//! The JavaScript package: the engine as a library of WebAssembly, and the files around it.

use crate::bindings::target;
use crate::command::{self, Result, cargo, command, root, succeeds};
use crate::tools::WASM_BINDGEN;
use std::path::{Path, PathBuf};

/// The folder of the sources.
const SOURCES: &str = "bindings/js";

/// The folder of the package.
const PACKAGE: &str = "bindings/js/pkg";

const TARGET: &str = "wasm32-unknown-unknown";

/// The tokenizer of the tests.
const TOKENIZER: &str = "tests/data/smollm2/tokenizer.json";

/// Builds the package. Which cargo, linker and target folder are used can be set in the environment, as for every build.
pub fn build() -> Result {
    let build = ["build", "--package", "grammata-js", "--lib", "--target", TARGET, "--profile", "wasm"];
    command::run(&mut cargo(&build)).map_err(|error| {
        format!("{error}; if the standard library of {TARGET} is missing: `rustup target add {TARGET}`")
    })?;
    WASM_BINDGEN.install()?;
    // removes files of earlier builds
    let _ = std::fs::remove_dir_all(root().join(PACKAGE));
    let library = target().join(TARGET).join("wasm").join("grammata_js.wasm");
    let options = ["--target", "web", "--out-name", "core", "--out-dir", PACKAGE];
    let without_names = ["--remove-name-section", "--remove-producers-section"];
    command::run(WASM_BINDGEN.command(&options).args(without_names).arg(library)).map_err(|error| {
        format!("{error}; a wasm-bindgen in the PATH must have the version that Cargo.lock has")
    })?;
    optimise(&format!("{PACKAGE}/core_bg.wasm"))?;
    let mut others = files(&format!("{SOURCES}/js"), "")?;
    others.extend(
        [format!("{SOURCES}/package.json"), "LICENSE-MIT".into(), "LICENSE-APACHE".into()].map(PathBuf::from),
    );
    others.iter().try_for_each(|file| copy(file))?;
    println!("{PACKAGE}: import it from Node, or serve it to a browser");
    Ok(())
}

/// Makes the library smaller with `wasm-opt`, if it is there.
fn optimise(library: &str) -> Result {
    if !succeeds(&mut command("wasm-opt", &["--version"])) {
        println!("wasm-opt is missing (package binaryen): the library is larger without it");
        return Ok(());
    }
    command::run(&mut command("wasm-opt", &["-O3", library, "-o", library]))
}

/// Builds the package and runs its tests, which compare its masks with those of this machine's engine.
pub fn check() -> Result {
    build()?;
    test()
}

/// Runs the tests on the package that was built last.
fn test() -> Result {
    if !succeeds(&mut command("node", &["--version"])) {
        return Err("node is missing: install Node 20 or later".to_owned());
    }
    command::run(&mut cargo(&["build", "--release", "--package", "grammata-js", "--example", "reference"]))?;
    let reference = format!("reference{}", std::env::consts::EXE_SUFFIX);
    let tests = files(&format!("{SOURCES}/tests"), ".test.mjs")?;
    command::run(
        command("node", &["--test"])
            .args(tests)
            .env("GRAMMATA_REFERENCE", target().join("release").join("examples").join(reference))
            .env("GRAMMATA_TOKENIZER", root().join(TOKENIZER)),
    )
}

/// Returns the files of a folder whose names end with `ending`, sorted; paths are relative to the root.
fn files(folder: &str, ending: &str) -> Result<Vec<PathBuf>> {
    let entries = std::fs::read_dir(root().join(folder)).map_err(|error| format!("{folder}: {error}"))?;
    let mut names: Vec<String> =
        entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).collect();
    names.retain(|name| name.ends_with(ending));
    names.sort();
    Ok(names.iter().map(|name| Path::new(folder).join(name)).collect())
}

/// Copies a file, relative to the root, into the package.
fn copy(file: &Path) -> Result {
    let to = root().join(PACKAGE).join(file.file_name().unwrap_or_default());
    std::fs::copy(root().join(file), &to).map(drop).map_err(|error| format!("{}: {error}", file.display()))
}
