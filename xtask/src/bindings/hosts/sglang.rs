//! Tests of SGLang's package `srt.constrained` on the CPU. SGLang's server needs a GPU and is not run.

use super::python::Host;
use crate::command::Result;

/// SGLang, and the packages that the imported modules need.
const PACKAGES: [&str; 28] = [
    "sglang==0.5.23",
    "aiohappyeyeballs==2.7.1",
    "aiohttp==3.14.5",
    "aiosignal==1.4.0",
    "apache-tvm-ffi==0.1.15.post2",
    "attrs==26.1.0",
    "compressed-tensors==0.20.0",
    "dill==0.4.1",
    "einops==0.8.2",
    "frozenlist==1.8.0",
    "ipython==9.18.1",
    "loguru==0.7.3",
    "msgspec==0.22.0",
    "multidict==7.2.1",
    "openai==3.57.0",
    "orjson==3.13.0",
    "partial-json-parser==0.2.1.1.post7",
    "pillow==13.0.0",
    "propcache==0.5.4",
    "pybase64==1.5.1",
    "pyzmq==27.3.0",
    "sentencepiece==0.2.3",
    "sniffio==1.3.1",
    "starlette==1.10.0",
    "torchvision==0.29.2",
    "traitlets==5.16.1",
    "triton==3.9.0",
    "yarl==1.25.1",
];

/// Runs the tests of the backend, the plug-in and SGLang's own manager of grammars.
pub fn check() -> Result {
    let host = Host::new("sglang", true, &PACKAGES)?;
    host.smollm2()?;
    host.tests("sglang")
}
