//! The extension module of the Python package `grammata`.
//!
//! Each file has a class or a group of functions. The Python files of the package (`python/grammata`) have pure data
//! (errors, explanations) and what only Python can inspect (types that describe schemas). Signatures and descriptions
//! for type checkers are in `_native.pyi`, which `stubtest` compares with this module.
//!
//! Compiling, masks and files are handled without the interpreter's lock. Only [`buffer`] uses `unsafe`.

mod archive;
mod arguments;
mod batch;
mod buffer;
mod cache;
mod compiler;
mod documents;
mod errors;
mod events;
mod explanation;
mod logits;
mod mask;
mod mask_file;
mod matcher;
mod pool;
mod source;
mod tag;
mod vocabulary;
mod warm;
mod words;

use pyo3::prelude::*;

#[pymodule]
mod _native {
    #[pymodule_export]
    use crate::archive::{Archive, ArchiveBuilder};
    #[pymodule_export]
    use crate::batch::{accept_tokens, fill_masks};
    #[pymodule_export]
    use crate::buffer::MaskBuffer;
    #[pymodule_export]
    use crate::cache::GrammarCache;
    #[pymodule_export]
    use crate::compiler::{CompiledGrammar, Compiler};
    #[pymodule_export]
    use crate::logits::mask_logits;
    #[pymodule_export]
    use crate::mask::TokenMask;
    #[pymodule_export]
    use crate::mask_file::MaskFile;
    #[pymodule_export]
    use crate::matcher::Matcher;
    #[pymodule_export]
    use crate::source::Source;
    #[pymodule_export]
    use crate::tag::structural_tag;
    #[pymodule_export]
    use crate::vocabulary::Vocabulary;
    #[pymodule_export]
    use crate::warm::WarmUp;
    #[pymodule_export]
    use grammata_python_border::ending::_end;
    #[pymodule_export]
    use grammata_python_border::forking::{_after_fork_in_child, _after_fork_in_parent, _before_fork};

    #[pymodule_export]
    #[allow(non_upper_case_globals)]
    const __version__: &str = env!("CARGO_PKG_VERSION");
}
