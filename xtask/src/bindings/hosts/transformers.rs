//! `transformers` with SmolLM2: its tests, and the outputs of 50 schemas within budgets and without.

use super::python::Host;
use crate::command::Result;

/// Tests `generate` and continuous batching, then the 50 schemas, all of which must be valid within their budgets.
pub fn check() -> Result {
    // Outlines and what it imports, for its recipe
    let host = Host::new("transformers", true, &OUTLINES)?;
    host.smollm2()?;
    host.tests("transformers")?;
    host.run(&["bindings/python/hosts/transformers/fifty.py"])
}

const OUTLINES: [&str; 7] = [
    "outlines==1.3.3",
    "outlines_core==0.2.14",
    "cloudpickle==3.1.2",
    "diskcache==5.6.3",
    "genson==1.3.0",
    "jsonpath-ng==1.7.0",
    "pillow==13.0.0",
];
