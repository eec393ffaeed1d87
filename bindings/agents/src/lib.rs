//! The extension module of the Python package `grammata_agents`.
//!
//! Each file has a class. Results are data classes of `python/grammata_agents/_values.py`, which need no code here.
//! Signatures for type checkers are in `_native.pyi`, which `stubtest` compares with this module.
//!
//! Long work runs without the interpreter's lock.

mod border;
mod definitions;
mod errors;
mod flows;
mod obstacles;
mod planner;
mod plans;
mod policy;
mod procedures;
mod retrieval;
mod session;
mod tools;
mod turns;

use pyo3::prelude::*;

#[pymodule]
mod _native {
    #[pymodule_export]
    use crate::flows::{FlowDomain, FlowWalk};
    #[pymodule_export]
    use crate::planner::Planner;
    #[pymodule_export]
    use crate::plans::Plans;
    #[pymodule_export]
    use crate::procedures::Procedure;
    #[pymodule_export]
    use crate::retrieval::ToolIndex;
    #[pymodule_export]
    use crate::session::Session;
    #[pymodule_export]
    use crate::tools::Tools;
    #[pymodule_export]
    use crate::turns::Turns;
    #[pymodule_export]
    use grammata_python_border::ending::_end;
    #[pymodule_export]
    use grammata_python_border::forking::{_after_fork_in_child, _after_fork_in_parent, _before_fork};

    #[pymodule_export]
    #[allow(non_upper_case_globals)]
    const __version__: &str = env!("CARGO_PKG_VERSION");
}
