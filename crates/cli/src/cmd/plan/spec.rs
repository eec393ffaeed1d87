//! Reads plan specs from files, folders and standard input.

use super::errors;
use crate::args::limits::LimitArgs;
use crate::args::source;
use crate::io::messages;
use grammata::diagnostic::Diagnostic;
use grammata::error::Result;
use grammata::syntax::Notation;
use grammata::syntax::automaton_spec::Spec;
use grammata_agents::plan::PlanAutomaton;
use std::path::PathBuf;

/// Which spec, and its parameters.
#[derive(Debug, clap::Args)]
pub(super) struct SpecArgs {
    /// The spec: a file, a folder with spec.toml or spec.json, or `-` for standard input
    #[arg(value_name = "SPEC")]
    pub(super) spec: PathBuf,
    /// Sets a parameter of the spec; may be repeated
    #[arg(long = "param", value_name = "NAME=VALUE", value_parser = source::name_and_value, help_heading = "Spec")]
    parameters: Vec<(String, String)>,
    #[command(flatten)]
    pub(super) limits: LimitArgs,
}

impl SpecArgs {
    /// Reads the spec, and shows its warnings.
    pub(super) fn read(&self) -> Result<Spec> {
        let spec = self.read_with(&[])?;
        spec.warnings().iter().for_each(messages::warning);
        Ok(spec)
    }

    /// Reads the spec with additional parameters.
    pub(super) fn read_with(&self, more: &[(String, String)]) -> Result<Spec> {
        let parameters: Vec<_> = self.parameters.iter().chain(more).cloned().collect();
        let limits = self.limits.get();
        let (file, text) = source::read_text(&self.spec, &limits)?;
        // a spec may have any name, but a file of another kind is refused
        if let Ok(kind) = source::kind_of(&file, &text)
            && is_other(kind, &text)
        {
            return Err(errors::not_a_spec(&file, kind));
        }
        source::read_spec(&file, text, &parameters, &limits)
    }

    /// Returns a warning if the spec has parameters and neither the arguments nor `more` set any: a task in words does
    /// not change the spec.
    pub(super) fn unset(&self, more: &[(String, String)], spec: &Spec) -> Option<Diagnostic> {
        let is_set = !self.parameters.is_empty() || !more.is_empty();
        (!is_set && !spec.parameters().is_empty()).then(|| errors::unset_parameters(spec.parameters()))
    }

    /// Reads the spec and builds its plan automaton.
    pub(super) fn load(&self) -> Result<PlanAutomaton> {
        PlanAutomaton::new(self.read()?).map_err(|error| error.in_file(&self.name()))
    }

    /// Returns the path of the spec as given.
    pub(super) fn name(&self) -> String {
        self.spec.display().to_string()
    }
}

/// Returns whether a text is of another kind than a spec. Invalid JSON is taken for a spec, so that reading it reports
/// the error.
fn is_other(kind: Notation, text: &str) -> bool {
    match kind {
        Notation::Gbnf | Notation::Regex | Notation::StructuralTag | Notation::Lark => true,
        Notation::JsonSchema => serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok(),
        Notation::Spec => false,
    }
}
