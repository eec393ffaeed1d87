//! Tests of `transformers` with SmolLM2, and outputs for 50 schemas with and without budgets.

use super::python::Host;
use crate::command::Result;

/// Tests `generate` and continuous batching, then the 50 schemas, all of which must be valid within their budgets.
pub fn check() -> Result {
    let host = Host::new("transformers", true, &OUTLINES)?;
    host.smollm2()?;
    host.tests("transformers")?;
    host.run(&["bindings/python/hosts/transformers/fifty.py"])
}

/// Outlines and the packages that its import needs; `transformers` tests a recipe with it.
pub const OUTLINES: [&str; 6] = [
    "outlines==1.3.3",
    "outlines_core==0.2.14",
    "cloudpickle==3.1.3",
    "diskcache==5.6.3",
    "genson==1.4.0",
    "pillow==13.0.0",
];
