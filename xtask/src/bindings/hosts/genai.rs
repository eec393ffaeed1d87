//! onnxruntime-genai with SmolLM2, from the ONNX model of `cargo xtask setup`.

use super::python::Host;
use crate::command::Result;
use crate::setup;

const PACKAGES: [&str; 11] = [
    "onnxruntime-genai==0.18.0",
    "onnxruntime==1.32.0",
    "onnx",
    "ml-dtypes",
    "protobuf",
    "flatbuffers",
    "numpy==2.4.6",
    "pytest==9.2.0",
    "iniconfig",
    "pluggy",
    "pygments",
];

/// Makes the folder of the model and runs the tests.
pub fn check() -> Result {
    setup::language_model()?;
    let host = Host::new("genai", false, &PACKAGES)?;
    let script = "bindings/python/hosts/genai/genai_model.py";
    host.run(&[script, ".models/smollm2", "target/hosts/smollm2-genai"])?;
    host.tests("genai")
}
