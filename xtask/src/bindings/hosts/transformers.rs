//! Tests of `transformers` and Outlines with SmolLM2, outputs for 50 schemas with and without budgets, and outputs of
//! other engines at the same limits.

use super::python::Host;
use crate::command::Result;

/// Tests `generate` and continuous batching, then the 50 schemas, all of which must be valid within their budgets, and
/// then other engines next to ours.
pub fn check() -> Result {
    let host = Host::new("transformers", true, &[&XGRAMMAR[..], &OUTLINES].concat())?;
    host.smollm2()?;
    host.tests("transformers")?;
    host.run(&["bindings/python/hosts/transformers/fifty.py"])?;
    host.run(&["bindings/python/hosts/transformers/limits.py"])
}

/// XGrammar and the package that its import needs.
const XGRAMMAR: [&str; 2] = ["xgrammar==0.2.9", "apache-tvm-ffi==0.1.15.post2"];

/// Outlines and the packages that its import needs.
pub const OUTLINES: [&str; 6] = [
    "outlines==1.3.3",
    "outlines_core==0.2.14",
    "cloudpickle==3.1.3",
    "diskcache==5.6.3",
    "genson==1.4.0",
    "pillow==13.0.0",
];
