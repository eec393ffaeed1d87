//! `grammata plan enumerate`: lists plans, or draws some at random.

use super::show::{self, StepReport};
use super::spec::SpecArgs;
use crate::io::output::{Exit, Failure, Output};
use crate::io::{errors, messages};
use grammata::transitions::{Completable, Count};
use grammata_agents::plan::{Objective, PartialPlan, Plan, PlanSampler};
use serde::Serialize;
use std::io::Write;

/// Maximum number of steps of a drawn plan, if `--within` is not given and there are infinitely many plans.
const WITHIN: usize = 20;

/// Each plan is a line, its steps in the order of execution.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    spec: SpecArgs,
    /// The most plans to list; 0 lists all
    #[arg(long, value_name = "N", default_value_t = 100)]
    limit: usize,
    /// How many plans to pass over first
    #[arg(long, value_name = "N", default_value_t = 0)]
    offset: usize,
    /// Draw N plans at random instead, each as likely as any other
    #[arg(long, value_name = "N", conflicts_with_all = ["limit", "offset"])]
    sample: Option<usize>,
    /// Equal seeds draw alike
    #[arg(long, value_name = "N", default_value_t = 0, requires = "sample")]
    seed: u64,
    /// The most steps of a drawn plan, if the number of plans is infinite [default: 20]
    #[arg(long, value_name = "N", requires = "sample")]
    within: Option<usize>,
    /// Only a plan with the fewest steps
    #[arg(long, conflicts_with_all = ["sample", "cheapest", "limit", "offset"])]
    shortest: bool,
    /// Only a plan of the least cost
    #[arg(long, conflicts_with_all = ["sample", "limit", "offset"])]
    cheapest: bool,
}

/// The head of the report. The members `plans` and, if plans are listed in their order, `more` follow.
#[derive(Serialize)]
struct Head {
    spec: String,
}

/// A plan in JSON.
#[derive(Serialize)]
struct PlanReport<'a> {
    /// The steps, in the order of execution.
    steps: Vec<StepReport<'a>>,
    /// The sum of the costs of its actions.
    cost: u64,
}

/// The end of the report.
#[derive(Serialize)]
struct End {
    /// Whether there are more plans after those that are listed.
    more: bool,
}

pub(super) fn run(arguments: &Arguments, output: &mut Output) -> Result<Exit, Failure> {
    let mut plans = arguments.spec.load()?;
    let spec = plans.shared_spec();
    let write = |plan: &Plan, output: &mut Output| -> Result<(), Failure> {
        if output.is_json() {
            output.item(&PlanReport { steps: show::steps(plan, &spec), cost: plan.cost(&spec) })?;
        } else {
            writeln!(output, "{}", show::line(plan, &spec))?;
        }
        Ok(())
    };
    if output.is_json() {
        output.report(&Head { spec: arguments.spec.name() })?;
        output.list("plans")?;
    }
    if arguments.shortest || arguments.cheapest {
        let least = if arguments.shortest { Objective::Steps } else { Objective::Cost };
        let walk = PartialPlan::new(&plans);
        let plan = plans.completion(&walk, least)?;
        return match plan {
            Some(plan) => {
                write(&plan, output)?;
                Ok(Exit::Done)
            }
            None if plans.completable(plans.start())? == Completable::No => Ok(no_plan(output)?),
            None => Err(super::errors::unknown_completion().into()),
        };
    }
    if let Some(count) = arguments.sample {
        if arguments.within.is_some() && plans.count()? != Count::Infinite {
            messages::warning(&errors::unused_within());
        }
        let within = arguments.within.unwrap_or(WITHIN);
        let mut sampler = PlanSampler::new(&mut plans, arguments.seed, within);
        for _ in 0..count {
            let plan = sampler.sample()?;
            write(&plan, output)?;
        }
        return Ok(Exit::Done);
    }
    let most = if arguments.limit == 0 { usize::MAX } else { arguments.limit };
    let mut all = plans.plans()?;
    let mut listed = 0;
    for plan in all.by_ref().skip(arguments.offset).take(most) {
        write(&plan?, output)?;
        listed += 1;
    }
    let more = listed == most && all.next().transpose()?.is_some();
    if output.is_json() {
        output.report(&End { more })?;
    }
    if more {
        output.flush()?;
        messages::note(&format!("there are more plans after these {most} (--limit 0 lists all)"));
    } else if listed == 0 && arguments.offset == 0 {
        return Ok(no_plan(output)?);
    } else if listed == 0 {
        output.flush()?;
        messages::warning(&errors::nothing_after("plans", arguments.offset));
    }
    Ok(Exit::Done)
}

/// Notes that there is no plan. Returns the exit code for that.
pub(super) fn no_plan(output: &mut Output) -> std::io::Result<Exit> {
    output.flush()?;
    messages::note("there is no plan");
    Ok(Exit::Rejected)
}
