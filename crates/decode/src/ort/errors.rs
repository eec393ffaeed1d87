//! The errors and notices of the ONNX Runtime driver.

use grammata::diagnostic::Diagnostic;
use grammata::error::{Error, ErrorKind};
use std::path::Path;

const SETUP: &str =
    "run `cargo xtask setup`, or set ORT_DYLIB_PATH to ONNX Runtime's library (1.24 or newer)";

fn model(diagnostic: Diagnostic) -> Error {
    Error::new(ErrorKind::Model, diagnostic)
}

grammata_base::errors! {
    pub(super) Model;

    /// ONNX Runtime's library was not found in any of the places that were searched.
    library_missing(searched: &str, reason: &str) =
        "decode/ort-missing", "ONNX Runtime's shared library was not found"
        found("nothing in {searched}")
        cause(reason)
        allowed("libonnxruntime.so (Linux), libonnxruntime.dylib (macOS) or onnxruntime.dll (Windows)")
        help(SETUP);

    /// The variable ORT_DYLIB_PATH is not the path of a file.
    library_path(path: &Path) = "decode/ort-missing", "ORT_DYLIB_PATH names no file"
        in_file(path.display().to_string()) allowed("the path of ONNX Runtime's shared library") help(SETUP);

    /// A library that exists but cannot be used.
    library_unusable(path: &Path, reason: impl std::fmt::Display) =
        "decode/ort-unusable", "ONNX Runtime's shared library cannot be used"
        in_file(path.display().to_string())
        cause(reason)
        allowed("ONNX Runtime 1.24 or newer, built for this machine")
        help(SETUP);

    /// A model file that ONNX Runtime refuses.
    model_file(path: &Path, reason: impl std::fmt::Display) =
        "decode/model-file", "ONNX Runtime cannot load the model"
        in_file(path.display().to_string())
        cause(reason)
        allowed("an ONNX model that this release of ONNX Runtime reads")
        help("check that the file is complete, and that the files with its external data are next to it");

    /// A run of the model that failed.
    run(reason: impl std::fmt::Display) = "decode/model-run", "ONNX Runtime failed to run the model"
        cause(reason) help("every sequence is as it was before");

    /// The notice that a device other than the CPU was requested but the CPU is used.
    no_cuda(reason: impl std::fmt::Display) =
        Diagnostic "decode/no-cuda", "CUDA cannot be used; the model runs on the processor"
        cause(reason)
        allowed("an ONNX Runtime built for CUDA, with the CUDA libraries it needs")
        help("set ORT_DYLIB_PATH to the library of onnxruntime-gpu, and CUDA_LIB_PATH to the folder of the CUDA libraries");
}

/// A model whose inputs or outputs the driver cannot use.
pub(super) fn signature(what: impl Into<String>, found: impl AsRef<str>) -> Error {
    model(
        Diagnostic::new("decode/model-signature", what)
            .found(found)
            .allowed(
                "inputs input_ids, attention_mask, optionally position_ids and num_logits_to_keep (i64), \
                 past_key_values.N.key and .value (f32 or f16, [batch, heads, past, size] with heads and size fixed); outputs logits ([batch, \
                 sequence, vocabulary], vocabulary fixed), present.N.key and .value",
            )
            .help("export the model as Hugging Face's optimum does: `optimum-cli export onnx --task text-generation-with-past`"),
    )
}

/// A model that returned logits of fewer positions than were requested.
pub(super) fn few_logits(found: usize) -> Error {
    signature("the model gives the logits of too few positions", format!("logits of {found} positions"))
}
