//! The errors of `grammata plan` alone.

use crate::cli::source::Kind;
use crate::diagnostic::Diagnostic;
use crate::error::{Error, ErrorKind};
use std::path::Path;

fn usage(diagnostic: Diagnostic) -> Error {
    Error::new(ErrorKind::Usage, diagnostic)
}

pub(super) fn not_a_spec(file: &Path, kind: Kind) -> Error {
    usage(
        Diagnostic::new("cli/not-a-spec", "plans are made from automaton specs only")
            .found(format!("`{}`, a {kind}", file.display()))
            .allowed("TOML or JSON with a member `kind`: `dfa`, `nfa`, `pda` or `cfg`")
            .help("`grammata count` and `grammata enumerate` read grammars of every kind"),
    )
}

#[cfg(feature = "ort")]
pub(super) fn not_for_trips(asking: &str) -> Error {
    usage(
        Diagnostic::new("cli/not-for-trips", "a model is asked for trips choice by choice only")
            .found(format!("`--prompt-mode {asking}`"))
            .allowed("`--prompt-mode answer` and `--prompt-mode likelihood`")
            .help("leave the option out"),
    )
}
