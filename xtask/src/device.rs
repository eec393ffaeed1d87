//! A check of a machine with a GPU.

use crate::command::{self, Result, cargo};

/// Compares the device's choices and caches with the host's, and measures decoding with the models in the folders of
/// `arguments`. `--cpu` runs the same graphs on the CPU.
pub fn check(arguments: &[String]) -> Result {
    let mut bench = cargo(&[
        "bench",
        "-p",
        "grammata-decode",
        "--features",
        "cuda,huggingface",
        "--bench",
        "device",
        "--",
    ]);
    command::run(bench.args(arguments))
}
