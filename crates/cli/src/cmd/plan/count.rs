//! `grammata plan count`: counts the plans of a spec.

use super::spec::SpecArgs;
use crate::io::messages::Progress;
use crate::io::output::{Exit, Failure, Output};
use grammata::transitions::Count;
use serde::Serialize;
use std::io::Write;

/// The count is exact and stands alone on the last line; `infinite` if there is no end of plans.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    spec: SpecArgs,
    /// Count only plans of at most N actions
    #[arg(long, value_name = "N")]
    within: Option<usize>,
}

/// The report. The count is a string of digits, or null if it is infinite.
#[derive(Serialize)]
struct Report {
    spec: String,
    finite: bool,
    count: Option<String>,
    states: usize,
}

pub(super) fn run(arguments: &Arguments, output: &mut Output) -> Result<Exit, Failure> {
    let mut plans = arguments.spec.load()?;
    let progress = Progress::start("counting");
    let count = match arguments.within {
        Some(most) => Count::Finite(plans.count_within(plans.start(), most)?),
        None => plans.count()?,
    };
    progress.finish();
    if output.is_json() {
        let digits = match &count {
            Count::Finite(number) => Some(number.to_string()),
            Count::Infinite => None,
        };
        let states = plans.state_count();
        let spec = arguments.spec.name();
        output.report(&Report { spec, finite: digits.is_some(), count: digits, states })?;
    } else {
        writeln!(output, "{count}")?;
    }
    Ok(Exit::Done)
}
