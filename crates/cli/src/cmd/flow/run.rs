//! `grammata flow run`: writes the plan for one query of a customer.

use super::model::ModelArgs;
use super::{PlanArgs, ThoughtsName};
use crate::args::deadline::deadline;
use crate::args::endpoint::{self, EndpointArgs};
use crate::args::source;
use crate::cmd::graph::{Format, write};
use crate::io::output::{Exit, Failure, Output, seconds};
use grammata::diagnostic::{Notation, Source};
use grammata::error::Error;
use grammata_agents::flows::{Brackets, FlowAutomaton, FlowCall, FlowDomain, FlowOptions, WrittenCall};
use grammata_agents_drive::chat::Chat;
use grammata_agents_drive::flows::{
    ChatFlow, ExecutedCall, Execution, FlowPlanner, FlowScope, IntentText, PlannerOptions, Served,
    WrittenPlan, intent_similarities, serving_flow,
};
use grammata_agents_drive::plan::CommandEnvironment;
use serde::Serialize;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Writes the plan of a query under the flows of a domain, and draws where it went. With `--apis` each call is carried out as soon
/// as it is decided, and its answer decides what may come next. The exit code is 2 if a call cannot be carried out, 1 if its answer
/// is not one that the domain allows.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    plans: PlanArgs,
    /// The customer's query
    #[arg(long, value_name = "TEXT")]
    query: String,
    /// The text to write with the calls
    #[arg(long, value_enum, default_value_t = ThoughtsName::Free)]
    thoughts: ThoughtsName,
    /// Thoughts that are drawn and scored at each call; 1 is greedy
    #[arg(long, value_name = "N", default_value_t = 1)]
    thought_samples: usize,
    /// The least similarity of a query to a flow; below it the plan is only the end, because no flow fits
    #[arg(long, value_name = "X", requires = "embedder")]
    threshold: Option<f64>,
    /// Draw the flows, with the path of the plan, as SVG into this file
    #[arg(long, value_name = "FILE")]
    picture: Option<PathBuf>,
    /// A command that carries calls out: it reads `{"action": API, "arguments": {…}}` and writes `{"outcome": NAME, "data": {…}}`
    #[arg(long, value_name = "CMD", conflicts_with_all = ["answer", "thought_samples"], help_heading = "APIs")]
    apis: Option<String>,
    /// Seconds that the command may take for a call
    #[arg(hide_short_help = true, long, value_name = "SECONDS", default_value = "10", value_parser = deadline, help_heading = "APIs")]
    deadline: Duration,
    #[command(flatten)]
    model: ModelArgs,
    #[command(flatten)]
    chat: EndpointArgs,
}

pub(super) fn run(arguments: &Arguments, output: &mut Output) -> Result<Exit, Failure> {
    let start = Instant::now();
    let limits = arguments.plans.limits.get();
    let domain = arguments.plans.domain()?;
    let options = arguments.plans.options(&domain)?;
    if let Some(mut model) = arguments.chat.load(0.0, 0)? {
        let exit = with_chat(arguments, &mut *model, (&domain, options), output);
        endpoint::report(&model.usage());
        return exit;
    }
    let mut loaded = arguments.model.load(&limits)?;
    let mut planner = loaded.planner(&limits);
    match output.is_json() {
        true => output.report(&QueryReport { query: &arguments.query })?,
        false => writeln!(output, "customer: {}", arguments.query)?,
    }
    if let Some(similarity) = &mut planner.similarity {
        let found = intent_similarities(&domain, &arguments.query, IntentText::WithSteps, similarity)?;
        let flows = domain.flows.iter().zip(&found);
        if output.is_json() {
            let intents = flows.map(|(flow, &similarity)| IntentReport { flow: &flow.id, similarity });
            output.report(&IntentsReport { intents: intents.collect() })?;
        } else {
            let shown: Vec<String> = flows.map(|(flow, found)| format!("{} {found:.2}", flow.id)).collect();
            writeln!(output, "intents:  {}", shown.join(", "))?;
        }
        if options.flow.is_none()
            && let Served::CannotHelp(_) = serving_flow(&found, arguments.threshold)
        {
            let end = &domain.apis[domain.end].name;
            if output.is_json() {
                output.report(&HelpReport { can_help: false })?;
                output.list("calls")?;
                let call = WrittenCall { name: end.clone(), ..WrittenCall::default() };
                output.item(&CallReport::new(Some(1), &call, None))?;
                output.report(&Report {
                    finished: true,
                    tokens: Some(0),
                    forced_tokens: 0,
                    model_runs: 0,
                    seconds: seconds(start.elapsed()),
                })?;
            } else {
                writeln!(output, "no flow can help")?;
                writeln!(output, "  1. {end}()")?;
            }
            return Ok(Exit::Done);
        }
    }
    match output.is_json() {
        true => {
            output.report(&HelpReport { can_help: true })?;
            output.list("calls")?;
        }
        false => output.flush()?,
    }
    let scope = match (options.flow, arguments.model.embedder.is_some()) {
        (Some(_), _) => FlowScope::Relevant,
        (None, true) => FlowScope::Similar,
        (None, false) => FlowScope::All,
    };
    let brackets = if options.arguments { Brackets::Makers } else { Brackets::Empty };
    let writing = PlannerOptions::default()
        .level(options.level)
        .scope(scope)
        .samples(arguments.thought_samples)
        .thoughts(arguments.thoughts.into())
        .brackets(brackets)
        .answers(options.answers.clone());
    let flow = options.flow.unwrap_or_default();
    let made = match &arguments.apis {
        None => {
            let made = planner.write(&writing, &domain, flow, &arguments.query)?;
            for (number, call) in writing.parse(&domain, &made.text).calls.iter().enumerate() {
                write_call(number + 1, call, call.outcome.as_deref(), output)?;
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
    let plan = writing.parse(&domain, &made.text);
    if output.is_json() {
        output.report(&Report {
            finished: plan.is_finished,
            tokens: Some(made.tokens),
            forced_tokens: made.forced,
            model_runs: made.passes,
            seconds: seconds(made.time),
        })?;
    } else if arguments.model.model.is_some() {
        writeln!(
            output,
            "{} tokens, {} of them forced, {} runs of the model, {:.1} s",
            made.tokens,
            made.forced,
            made.passes,
            made.time.as_secs_f64()
        )?;
    }
    draw(arguments, &domain, options, &plan.calls, output)?;
    Ok(if plan.is_finished { Exit::Done } else { Exit::Cut })
}

/// Lets a chat model choose the plan, call by call.
fn with_chat(
    arguments: &Arguments,
    model: &mut dyn Chat,
    (domain, options): (&FlowDomain, FlowOptions),
    output: &mut Output,
) -> Result<Exit, Failure> {
    let start = Instant::now();
    match output.is_json() {
        true => {
            output.report(&QueryReport { query: &arguments.query })?;
            output.report(&HelpReport { can_help: true })?;
            output.list("calls")?;
        }
        false => writeln!(output, "customer: {}", arguments.query)?,
    }
    let mut flow = ChatFlow::new(model, domain, &options, &arguments.query)?;
    match &arguments.apis {
        None => {
            while let Some(call) = flow.next_call()? {
                let call = written(domain, call);
                write_call(flow.calls().len(), &call, call.outcome.as_deref(), output)?;
            }
        }
        Some(command) => {
            let mut environment = CommandEnvironment::new(command, arguments.deadline);
            let mut execution = Execution::new(domain, &options.limits)?;
            let call_of = |api: usize| written(domain, FlowCall { api, step: None, outcome: None });
            for &api in domain.prelude_apis() {
                let call = call_of(api);
                let executed = execution.call(&call, &mut environment)?;
                write_executed(domain, None, &call, executed, output)?;
            }
            while let Some(api) = flow.next_api()? {
                let call = call_of(api);
                let executed = match execution.call(&call, &mut environment) {
                    Ok(executed) => executed,
                    Err(error) => return Err(placed(arguments, error)?.into()),
                };
                flow.answered(api, executed.outcome)?;
                write_executed(domain, Some(flow.calls().len()), &call, executed, output)?;
            }
        }
    }
    let (is_finished, calls) = (flow.is_finished(), flow.calls().to_vec());
    let used = model.usage();
    if output.is_json() {
        output.report(&Report {
            finished: is_finished,
            tokens: usize::try_from(used.answer_tokens).ok().filter(|_| used.uncounted == 0),
            forced_tokens: 0,
            model_runs: usize::try_from(used.answers).unwrap_or(usize::MAX),
            seconds: seconds(start.elapsed()),
        })?;
    }
    let calls: Vec<WrittenCall> = calls.into_iter().map(|call| written(domain, call)).collect();
    draw(arguments, domain, options, &calls, output)?;
    Ok(if is_finished { Exit::Done } else { Exit::Cut })
}

/// Converts a call to its written form, without a thought or arguments.
fn written(domain: &FlowDomain, call: FlowCall) -> WrittenCall {
    let api = &domain.apis[call.api];
    let outcome = call.outcome.and_then(|outcome| api.outcomes.get(outcome));
    WrittenCall {
        name: api.name.clone(),
        outcome: outcome.map(|outcome| outcome.name.clone()),
        ..WrittenCall::default()
    }
}

/// The head of the report, before [`IntentsReport`] (with an embedder only), [`HelpReport`] and the member `calls`.
#[derive(Serialize)]
struct QueryReport<'a> {
    /// The customer's query.
    query: &'a str,
}

/// How similar the query is to the flows of the domain, in their order.
#[derive(Serialize)]
struct IntentsReport<'a> {
    intents: Vec<IntentReport<'a>>,
}

/// The similarity of the query to a flow.
#[derive(Serialize)]
struct IntentReport<'a> {
    /// The id of the flow.
    flow: &'a str,
    /// The cosine, from -1 to 1.
    similarity: f64,
}

/// Whether a flow fits the query.
#[derive(Serialize)]
struct HelpReport {
    can_help: bool,
}

/// The end of the report, after the member `calls`.
#[derive(Serialize)]
struct Report {
    finished: bool,
    /// Null if the model's server does not count them.
    tokens: Option<usize>,
    forced_tokens: usize,
    model_runs: usize,
    seconds: f64,
}

/// A call of a plan, in JSON.
#[derive(Serialize)]
struct CallReport<'a> {
    /// Null for a call of the prelude.
    number: Option<usize>,
    api: &'a str,
    thought: &'a str,
    /// For each input, the API that made it.
    makers: BTreeMap<&'a str, &'a str>,
    outcome: Option<&'a str>,
    /// The arguments and the answer, if the call was executed.
    arguments: Option<&'a Map<String, Value>>,
    data: Option<&'a Value>,
}

impl<'a> CallReport<'a> {
    fn new(number: Option<usize>, call: &'a WrittenCall, outcome: Option<&'a str>) -> CallReport<'a> {
        let makers = call.arguments.iter().map(|(input, maker)| (input.as_str(), maker.as_str()));
        CallReport {
            number,
            api: &call.name,
            thought: &call.thought,
            makers: makers.collect(),
            outcome,
            arguments: None,
            data: None,
        }
    }
}

/// Writes a call with its thought.
fn write_call(
    number: usize,
    call: &WrittenCall,
    outcome: Option<&str>,
    output: &mut Output,
) -> Result<(), Failure> {
    if output.is_json() {
        output.item(&CallReport::new(Some(number), call, outcome))?;
        return Ok(());
    }
    let answer = outcome.map(|outcome| format!("={outcome}")).unwrap_or_default();
    if !call.thought.is_empty() {
        writeln!(output, "   thinks: {}", call.thought)?;
    }
    let makers: Vec<String> =
        call.arguments.iter().map(|(input, maker)| format!("{input}={maker}")).collect();
    writeln!(output, "{number:>3}. {}({}){answer}", call.name, makers.join(", "))?;
    Ok(())
}

/// Lets the model write the plan while its calls are executed.
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

/// Adds the line of the domain's file to an error about a forbidden answer, if there is only one domain.
fn placed(arguments: &Arguments, error: Error) -> Result<Error, Failure> {
    let domain = &arguments.plans.domain;
    if error.code() != "environment/forbidden" || !domain.others.is_empty() {
        return Ok(error);
    }
    let text = source::text(&domain.domain, &arguments.plans.limits.get())?;
    let error = error.in_source(&Source::new(&text, Notation::Toml));
    Ok(error.in_file(&domain.domain.display().to_string()))
}

/// Writes a call that was executed. Calls of the prelude have no number.
fn write_executed(
    domain: &FlowDomain,
    number: Option<usize>,
    call: &WrittenCall,
    executed: &ExecutedCall,
    output: &mut Output,
) -> Result<(), Failure> {
    let outcome = executed.outcome.and_then(|outcome| domain.apis[executed.api].outcomes.get(outcome));
    let outcome = outcome.map(|outcome| outcome.name.as_str());
    if output.is_json() {
        let call = CallReport::new(number, call, outcome);
        let (arguments, data) = (Some(&executed.arguments), Some(&executed.data));
        output.item(&CallReport { arguments, data, ..call })?;
        return Ok(());
    }
    match (number, outcome) {
        (Some(number), _) => write_call(number, call, outcome, output)?,
        (None, Some(outcome)) => writeln!(output, "  -- {}()={outcome}", call.name)?,
        (None, None) => writeln!(output, "  -- {}()", call.name)?,
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
