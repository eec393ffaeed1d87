//! Tests of onnxruntime-genai with SmolLM2, from the ONNX model of `cargo xtask setup`.

use super::python::Host;
use crate::command::Result;
use crate::setup;

const PACKAGES: [&str; 13] = [
    "onnxruntime-genai==0.18.0",
    "onnxruntime==1.32.0",
    "onnx==1.23.2",
    "ml_dtypes==0.6.0",
    "protobuf==7.36.2",
    "flatbuffers==25.12.19",
    "typing_extensions==4.16.0",
    "numpy==2.4.6",
    "pytest==9.2.0",
    "iniconfig==2.3.1",
    "packaging==26.4",
    "pluggy==1.7.0",
    "pygments==2.21.0",
];

/// Converts the model to a genai folder and runs the tests.
pub fn check() -> Result {
    setup::language_model()?;
    let host = Host::new("genai", false, &PACKAGES)?;
    let script = "bindings/python/hosts/genai/genai_model.py";
    host.run(&[script, ".models/smollm2", "target/hosts/smollm2-genai"])?;
    host.tests("genai")
}
