//! The Python packages: assembled from build outputs of the workspace, and tested in a virtual environment.
//!
//! Their libraries are built with the profile `dev` and the features of the tests, so that no dependency is built for
//! them alone and arithmetic is checked. The wheels for users are built with the profile `wheel` (`pip install
//! ./bindings/python`); `cargo xtask full wheel` builds and tests them.

use super::install::target;
use crate::command::{self, Result, cargo, command, root};
use crate::setup;
use std::path::{Path, PathBuf};

/// The packages of the virtual environment, which build and test the Python package.
const PACKAGES: [&str; 13] = [
    "dnspython==2.9.2",
    "email-validator==2.4.0",
    "maturin==1.16.0",
    "mypy==2.4.1",
    "numpy==2.4.6",
    "onnxruntime==1.32.0",
    "prometheus_client==0.26.0",
    "pydantic==2.14.4",
    "pytest==9.2.0",
    "sentencepiece==0.2.3",
    "tiktoken==0.14.0",
    "tokenizers==0.23.3",
    "typing_extensions==4.16.0",
];

/// The manifest of the program's package.
const PROGRAM: &str = "crates/cli/Cargo.toml";

/// The folder of the virtual environment.
const FOLDER: &str = "target/python";

/// A Python package of this repository.
pub struct Package {
    /// The folder of its sources.
    folder: &'static str,
    /// The name of its module.
    module: &'static str,
    /// The name of its library.
    library: &'static str,
}

/// The package `grammata`: token masks.
pub const GRAMMATA: Package =
    Package { folder: "bindings/python", module: "grammata", library: "grammata_python" };

/// The package `grammata_agents`: plans, procedures and tools of agents.
pub const AGENTS: Package =
    Package { folder: "bindings/agents", module: "grammata_agents", library: "grammata_agents_python" };

/// Checks the package of token masks.
pub fn check() -> Result {
    GRAMMATA.check()
}

/// Checks the package of agents.
pub fn check_agents() -> Result {
    AGENTS.check()
}

/// Builds the library of token masks and assembles its package. Returns the Python of the virtual environment and the
/// folder to import from.
pub fn package() -> Result<(PathBuf, PathBuf)> {
    GRAMMATA.built()
}

impl Package {
    /// Assembles the package, runs its tests, and checks its types and stubs.
    fn check(&self) -> Result {
        let (python, site) = self.built()?;
        let sources = format!("{}/python/{}", self.folder, self.module);
        let stubs = format!("{}._native", self.module);
        for arguments in [
            &["-m", "pytest", "-q", self.folder][..],
            &["-m", "mypy", "--strict", &sources],
            &["-m", "mypy.stubtest", &stubs],
        ] {
            command::run(command(&python, arguments).env("PYTHONPATH", &site).env("MYPYPATH", &site))?;
        }
        Ok(())
    }

    /// Builds the library and assembles the package. Returns the Python of the virtual environment and the folder to
    /// import from.
    pub fn built(&self) -> Result<(PathBuf, PathBuf)> {
        let python = environment()?;
        command::run(&mut cargo(&super::BUILD))?;
        let site = root().join(FOLDER).join("site").join(self.module);
        self.assemble(&python, &site)?;
        Ok((python, site))
    }

    /// Returns the path of the crate's manifest.
    fn manifest(&self) -> String {
        format!("{}/Cargo.toml", self.folder)
    }

    /// Returns the file name of the extension module in the build folder, and its name in the package.
    fn files(&self) -> (String, &'static str) {
        if cfg!(windows) {
            (format!("{}.dll", self.library), "_native.pyd")
        } else if cfg!(target_os = "macos") {
            (format!("lib{}.dylib", self.library), "_native.abi3.so")
        } else {
            (format!("lib{}.so", self.library), "_native.abi3.so")
        }
    }

    /// Creates a folder with the files that installing the wheel would create there.
    fn assemble(&self, python: &Path, site: &Path) -> Result {
        let text = |e: std::io::Error| format!("{}: {e}", site.display());
        // removes packages of earlier runs
        let _ = std::fs::remove_dir_all(site);
        let package = site.join(self.module);
        let sources = root().join(self.folder).join("python").join(self.module);
        let mut folders = vec![(sources, package.clone())];
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
        let (library, module) = self.files();
        let built = target().join("debug").join(library);
        std::fs::copy(&built, package.join(module)).map_err(|e| format!("{}: {e}", built.display()))?;
        let metadata = ["-m", "maturin", "pep517", "write-dist-info", "--metadata-directory"];
        let manifest = self.manifest();
        command::run(
            command(python, &metadata)
                .arg(site)
                .args(["--manifest-path", &manifest, "--interpreter"])
                .arg(python),
        )
    }
}

/// Builds and installs the wheels of the two packages and of the program. Runs the tests with the packages, and the
/// program with `--version`.
pub fn wheel() -> Result {
    let python = environment()?;
    let wheels = format!("{FOLDER}/wheels");
    // removes wheels of earlier runs
    let _ = std::fs::remove_dir_all(root().join(&wheels));
    for manifest in [GRAMMATA.manifest(), AGENTS.manifest(), PROGRAM.to_owned()] {
        let build =
            ["-m", "maturin", "build", "--manifest-path", &manifest, "--out", &wheels, "--interpreter"];
        command::run(command(&python, &build).arg(&python))?;
    }
    let install =
        ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--force-reinstall", "--no-deps"];
    let packages = ["--no-index", "--find-links", &wheels, "grammata", "grammata-agents", "grammata-cli"];
    command::run(command(&python, &install).args(packages))?;
    command::run(&mut command(python.with_file_name("grammata"), &["--version"]))?;
    for package in [&GRAMMATA, &AGENTS] {
        command::run(&mut command(&python, &["-m", "pytest", "-q", package.folder]))?;
    }
    Ok(())
}

/// Returns the Python of the virtual environment, with all packages. Creates the environment if it is missing.
fn environment() -> Result<PathBuf> {
    let venv = root().join(FOLDER).join("venv");
    let python = setup::environment(&venv)?;
    let install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
    command::run(command(&python, &install).args(PACKAGES))?;
    Ok(python)
}
