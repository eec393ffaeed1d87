//! Plan specs from files, folders and standard input.

use crate::cli::limits::LimitArgs;
use crate::cli::messages;
use crate::cli::source;
use crate::error::Result;
use crate::plan::PlanAutomaton;
use crate::syntax::automaton_spec::Spec;
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
    /// Reads the spec. Shows warnings.
    pub(super) fn read(&self) -> Result<Spec> {
        let spec = self.read_with(&[])?;
        spec.warnings().iter().for_each(messages::warning);
        Ok(spec)
    }

    /// Reads the spec with more parameters.
    pub(super) fn read_with(&self, more: &[(String, String)]) -> Result<Spec> {
        let parameters: Vec<_> = self.parameters.iter().chain(more).cloned().collect();
        source::read_spec(&self.spec, &parameters, &self.limits.get())
    }

    /// The spec's plan automaton.
    pub(super) fn load(&self) -> Result<PlanAutomaton> {
        PlanAutomaton::new(self.read()?).map_err(|error| error.in_file(&self.name()))
    }

    /// The path as it was given.
    pub(super) fn name(&self) -> String {
        self.spec.display().to_string()
    }
}
