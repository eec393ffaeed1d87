//! `grammata flow run`: one query of a customer, from the question to the plan.

use super::model::ModelArgs;
use super::{PlanArgs, ThoughtsName};
use crate::deadline::deadline;
use crate::graph::{Format, write};
use crate::output::{Exit, Failure, Output};
use crate::source;
use grammata::diagnostic::{Notation, Source};
use grammata::error::Error;
use grammata_agents::flows::{
    Brackets, ExecutedCall, FlowAutomaton, FlowDomain, FlowOptions, FlowPlanner, FlowScope, IntentText,
    PlannerOptions, Served, WrittenCall, WrittenPlan, intent_similarities, serving_flow,
};
use grammata_agents::plan::CommandEnvironment;
use serde_json::Value;
use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

/// Writes the plan of a query under the flows of a domain, and draws where it went. With `--apis` each call is carried out as soon
/// as it is decided, and its answer decides what may come next. The exit code is 2 if a call cannot be carried out, 1 if its answer
/// is not one that the domain allows.
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
    /// A command that carries calls out: it reads `{"action": API, "arguments": {…}}` and writes `{"outcome": NAME, "data": {…}}`
    #[arg(long, value_name = "CMD", conflicts_with_all = ["answer", "samples"], help_heading = "APIs")]
    apis: Option<String>,
    /// Seconds that the command may take for a call
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = deadline, help_heading = "APIs")]
    deadline: Duration,
    #[command(flatten)]
    model: ModelArgs,
}

pub(super) fn run(arguments: &Arguments, output: &mut Output) -> Result<Exit, Failure> {
    let limits = arguments.plans.limits.get();
    let domain = arguments.plans.domain()?;
    let options = arguments.plans.options(&domain)?;
    let mut loaded = arguments.model.load(&limits)?;
    let mut planner = loaded.planner(&limits);
    writeln!(output, "customer: {}", arguments.query)?;
    if let Some(similarity) = &mut planner.similarity {
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
    let scope = match (options.flow, arguments.model.embedder.is_some()) {
        (Some(_), _) => FlowScope::Relevant,
        (None, true) => FlowScope::Similar,
        (None, false) => FlowScope::All,
    };
    let brackets = if options.arguments { Brackets::Makers } else { Brackets::Empty };
    let writing = PlannerOptions::default()
        .level(options.level)
        .scope(scope)
        .samples(arguments.samples)
        .thoughts(arguments.thoughts.into())
        .brackets(brackets)
        .answers(options.answers.clone());
    let flow = options.flow.unwrap_or_default();
    let made = match &arguments.apis {
        None => {
            let made = planner.write(&writing, &domain, flow, &arguments.query)?;
            for (number, call) in writing.parse(&domain, &made.text).calls.iter().enumerate() {
                let answer = call.outcome.as_ref().map(|outcome| format!("={outcome}"));
                write_call(number + 1, call, &answer.unwrap_or_default(), output)?;
            }
            made
        }
        Some(command) => match carry_out(arguments, command, &mut planner, &writing, &domain, flow, output) {
            Err(Failure::Error(error)) => {
                output.flush()?;
                return Err(placed(arguments, error)?.into());
            }
            made => made?,
        },
    };
    // of random logits there is nothing to say
    if arguments.model.model.is_some() {
        writeln!(
            output,
            "{} tokens, {} of them forced, {} runs of the model, {:.1} s",
            made.tokens,
            made.forced,
            made.passes,
            made.time.as_secs_f64()
        )?;
    }
    let plan = writing.parse(&domain, &made.text);
    draw(arguments, &domain, options, &plan.calls, output)?;
    Ok(if plan.is_finished { Exit::Done } else { Exit::Cut })
}

/// A call with its thought, as a line of the plan.
fn write_call(number: usize, call: &WrittenCall, answer: &str, output: &mut Output) -> Result<(), Failure> {
    if !call.thought.is_empty() {
        writeln!(output, "   thinks: {}", call.thought)?;
    }
    let makers: Vec<String> =
        call.arguments.iter().map(|(input, maker)| format!("{input}={maker}")).collect();
    writeln!(output, "{number:>3}. {}({}){answer}", call.name, makers.join(", "))?;
    Ok(())
}

/// Writes the plan while its calls are carried out.
fn carry_out(
    arguments: &Arguments,
    command: &str,
    planner: &mut FlowPlanner<'_>,
    options: &PlannerOptions,
    domain: &FlowDomain,
    flow: usize,
    output: &mut Output,
) -> Result<WrittenPlan, Failure> {
    let mut environment = CommandEnvironment::new(command, arguments.deadline);
    let prelude = domain.prelude_apis().len();
    let mut calls = 0;
    let mut on_call = |call: &WrittenCall, executed: &ExecutedCall| {
        calls += 1;
        let number = (calls > prelude).then(|| calls - prelude);
        write_executed(domain, number, call, executed, output)
    };
    planner.carry_out(options, domain, flow, &arguments.query, &mut environment, &mut on_call)
}

/// The error of a call, with the line of the file that says what the API may answer, if that is what is wrong.
fn placed(arguments: &Arguments, error: Error) -> Result<Error, Failure> {
    let domain = &arguments.plans.domain;
    if error.code() != "environment/forbidden" || !domain.others.is_empty() {
        return Ok(error);
    }
    let text = source::text(&domain.domain, &arguments.plans.limits.get())?;
    let error = error.in_source(&Source::new(&text, Notation::Toml));
    Ok(error.in_file(&domain.domain.display().to_string()))
}

/// A call that was carried out; those of the prelude have no number.
fn write_executed(
    domain: &FlowDomain,
    number: Option<usize>,
    call: &WrittenCall,
    executed: &ExecutedCall,
    output: &mut Output,
) -> Result<(), Failure> {
    let outcome = executed.outcome.and_then(|outcome| domain.apis[executed.api].outcomes.get(outcome));
    let answer = outcome.map(|outcome| format!("={}", outcome.name)).unwrap_or_default();
    match number {
        Some(number) => write_call(number, call, &answer, output)?,
        None => writeln!(output, "  -- {}(){answer}", call.name)?,
    }
    if !executed.arguments.is_empty() {
        writeln!(output, "     given: {}", Value::Object(executed.arguments.clone()))?;
    }
    if !executed.data.is_null() {
        writeln!(output, "     gives: {}", executed.data)?;
    }
    output.flush()?;
    Ok(())
}

fn draw(
    arguments: &Arguments,
    domain: &FlowDomain,
    options: FlowOptions,
    calls: &[WrittenCall],
    output: &mut Output,
) -> Result<(), Failure> {
    let Some(path) = &arguments.picture else { return Ok(()) };
    let calls: Vec<usize> = calls.iter().filter_map(|call| domain.api(&call.name)).collect();
    let mut automaton = FlowAutomaton::new(domain, options)?;
    let picture = automaton.picture(&calls, Format::Svg.limit(None))?;
    write(&Format::Svg.render(picture.dot)?, Some(path), output)
}
