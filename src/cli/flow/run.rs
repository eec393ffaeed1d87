//! `grammata flow run`: one query of a customer, from the question to the plan.

use super::arms::{Arm, Maker, Method, Which, parsed};
use super::model::ModelArgs;
use super::{PlanArgs, ThoughtsName};
use crate::cli::graph::{Format, write};
use crate::cli::output::{Exit, Failure, Output};
use crate::flows::{Brackets, FlowAutomaton, IntentText, Served, intent_similarities, serving_flow};
use std::io::Write;
use std::path::PathBuf;

/// Writes the plan of a query under the flows of a domain, and draws where it went.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    plans: PlanArgs,
    /// What the customer asks
    #[arg(long, value_name = "TEXT")]
    query: String,
    /// What is written with the calls
    #[arg(long, value_enum, default_value_t = ThoughtsName::Free)]
    thoughts: ThoughtsName,
    /// Thoughts that are drawn and scored at each call; 1 is greedy
    #[arg(long, value_name = "N", default_value_t = 1)]
    samples: usize,
    /// The least similarity of a query to a flow; below it the plan is the end alone, as no flow can help
    #[arg(long, value_name = "X", requires = "embedder")]
    threshold: Option<f64>,
    /// Draw the flows, with the way of the plan, as SVG into this file
    #[arg(long, value_name = "FILE")]
    picture: Option<PathBuf>,
    #[command(flatten)]
    model: ModelArgs,
}

pub(super) fn run(arguments: &Arguments, output: &mut Output) -> Result<Exit, Failure> {
    let limits = arguments.plans.limits.get();
    let domain = arguments.plans.domain()?;
    let options = arguments.plans.options(&domain)?;
    let mut loaded = arguments.model.load(&limits)?;
    let mut maker = Maker::new(&mut loaded, &limits);
    writeln!(output, "customer: {}", arguments.query)?;
    if let Some(similarity) = maker.similarity() {
        let found = intent_similarities(&domain, &arguments.query, IntentText::WithSteps, similarity)?;
        let flows = domain.flows.iter().zip(&found);
        let shown: Vec<String> = flows.map(|(flow, found)| format!("{} {found:.2}", flow.id)).collect();
        writeln!(output, "intents:  {}", shown.join(", "))?;
        if options.flow.is_none()
            && let Served::CannotHelp(_) = serving_flow(&found, arguments.threshold)
        {
            writeln!(output, "no flow can help")?;
            writeln!(output, "  1. {}()", domain.apis[domain.end].name)?;
            return Ok(Exit::Done);
        }
    }
    output.flush()?;
    let which = match (options.flow, arguments.model.embedder.is_some()) {
        (Some(_), _) => Which::Relevant,
        (None, true) => Which::Similar,
        (None, false) => Which::All,
    };
    let method = Method::Valid(options.level, which, arguments.samples);
    let brackets = if options.arguments { Brackets::Makers } else { Brackets::Empty };
    let (thoughts, answers) = (arguments.thoughts.into(), options.answers.clone());
    let arm = Arm { name: "run".to_owned(), method, thoughts, brackets, answers };
    let flow = options.flow.unwrap_or_default();
    let made = maker.make(&arm, &domain, flow, &arguments.query)?;
    let plan = parsed(&domain, &made.text, &arm);
    for (number, call) in plan.calls.iter().enumerate() {
        if !call.thought.is_empty() {
            writeln!(output, "   thinks: {}", call.thought)?;
        }
        let makers: Vec<String> =
            call.arguments.iter().map(|(input, maker)| format!("{input}={maker}")).collect();
        let answer = call.outcome.as_ref().map(|outcome| format!("={outcome}")).unwrap_or_default();
        writeln!(output, "{:>3}. {}({}){answer}", number + 1, call.name, makers.join(", "))?;
    }
    let calls: Vec<usize> = plan.calls.iter().filter_map(|call| domain.api(&call.name)).collect();
    writeln!(
        output,
        "{} tokens, {} of them forced, {} runs of the model, {:.1} s",
        made.tokens,
        made.forced,
        made.passes,
        made.time.as_secs_f64()
    )?;
    if let Some(path) = &arguments.picture {
        let mut automaton = FlowAutomaton::new(&domain, options)?;
        let picture = automaton.picture(&calls, Format::Svg.limit(None))?;
        write(&Format::Svg.render(picture.dot)?, Some(path), output)?;
    }
    Ok(if plan.is_finished { Exit::Done } else { Exit::Cut })
}
