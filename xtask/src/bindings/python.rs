//! The Python package: assembled from build outputs of the workspace, and tested in a virtual environment.
//!
//! Its library is built with the profile `dev` and the features of the tests, so that no dependency is built for it
//! alone and arithmetic is checked. The wheel for users is built with the profile `wheel` (`pip install
//! ./bindings/python`); `cargo xtask full wheel` builds and tests it.

use super::install::target;
use crate::command::{self, Result, cargo, command, root, succeeds};
use crate::setup;
use std::path::{Path, PathBuf};

/// The packages of the virtual environment, which build and test the Python package.
const PACKAGES: [&str; 9] = [
    "maturin==1.16.0",
    "mypy==2.4.1",
    "numpy==2.4.6",
    "onnxruntime==1.32.0",
    "pydantic==2.14.4",
    "pytest==9.2.0",
    "tiktoken==0.14.0",
    "tokenizers==0.23.3",
    "typing_extensions==4.16.0",
];

const MANIFEST: &str = "bindings/python/Cargo.toml";

/// The manifest of the program's package.
const PROGRAM: &str = "crates/cli/Cargo.toml";

/// The Python sources of the package.
const SOURCES: &str = "bindings/python/python/grammata";

/// The folder of the virtual environment.
const FOLDER: &str = "target/python";

/// The file name of the extension module in the build folder, and its name in the package.
const MODULE: (&str, &str) = if cfg!(windows) {
    ("grammata_python.dll", "_native.pyd")
} else if cfg!(target_os = "macos") {
    ("libgrammata_python.dylib", "_native.abi3.so")
} else {
    ("libgrammata_python.so", "_native.abi3.so")
};

/// Assembles the package, runs its tests, and checks its types and stubs.
pub fn check() -> Result {
    let (python, site) = package()?;
    for arguments in [
        &["-m", "pytest", "-q", "bindings/python"][..],
        &["-m", "mypy", "--strict", "bindings/python/python/grammata"],
        &["-m", "mypy.stubtest", "grammata._native"],
    ] {
        command::run(command(&python, arguments).env("PYTHONPATH", &site).env("MYPYPATH", &site))?;
    }
    Ok(())
}

/// Builds the library and assembles the package. Returns the Python of the virtual environment and the folder to import
/// from.
pub fn package() -> Result<(PathBuf, PathBuf)> {
    let python = environment()?;
    command::run(&mut cargo(&super::BUILD))?;
    let site = root().join(FOLDER).join("site");
    assemble(&python, &site)?;
    Ok((python, site))
}

/// Creates a folder with the files that installing the wheel would create there.
fn assemble(python: &Path, site: &Path) -> Result {
    let text = |e: std::io::Error| format!("{}: {e}", site.display());
    // removes packages of earlier runs
    let _ = std::fs::remove_dir_all(site);
    let package = site.join("grammata");
    let mut folders = vec![(root().join(SOURCES), package.clone())];
    while let Some((from, to)) = folders.pop() {
        std::fs::create_dir_all(&to).map_err(text)?;
        for entry in std::fs::read_dir(from).map_err(text)?.flatten() {
            let (from, to) = (entry.path(), to.join(entry.file_name()));
            if from.is_file() {
                std::fs::copy(from, to).map_err(text)?;
            } else if entry.file_name() != "__pycache__" {
                folders.push((from, to));
            }
        }
    }
    let built = target().join("debug").join(MODULE.0);
    std::fs::copy(&built, package.join(MODULE.1)).map_err(|e| format!("{}: {e}", built.display()))?;
    let metadata = ["-m", "maturin", "pep517", "write-dist-info", "--metadata-directory"];
    command::run(
        command(python, &metadata).arg(site).args(["--manifest-path", MANIFEST, "--interpreter"]).arg(python),
    )
}

/// Builds the wheels of the library and of the program, installs them, runs the tests with the first, and asks the
/// second for its version.
pub fn wheel() -> Result {
    let python = environment()?;
    let wheels = format!("{FOLDER}/wheels");
    // removes wheels of earlier runs
    let _ = std::fs::remove_dir_all(root().join(&wheels));
    for manifest in [MANIFEST, PROGRAM] {
        let build =
            ["-m", "maturin", "build", "--manifest-path", manifest, "--out", &wheels, "--interpreter"];
        command::run(command(&python, &build).arg(&python))?;
    }
    let install =
        ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--force-reinstall", "--no-deps"];
    let packages = ["--no-index", "--find-links", &wheels, "grammata", "grammata-cli"];
    command::run(command(&python, &install).args(packages))?;
    command::run(&mut command(python.with_file_name("grammata"), &["--version"]))?;
    command::run(&mut command(&python, &["-m", "pytest", "-q", "bindings/python"]))
}

/// Returns the Python of the virtual environment, with all packages. Creates the environment if it is missing.
fn environment() -> Result<PathBuf> {
    let venv = root().join(FOLDER).join("venv");
    let python = venv.join(if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" });
    if !succeeds(&mut command(&python, &["--version"])) {
        command::run(command(setup::python()?, &["-m", "venv"]).arg(&venv))?;
    }
    let install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
    command::run(command(&python, &install).args(PACKAGES))?;
    Ok(python)
}
