//! `grammata tools generate`: lets a chat model write a turn. For local models see `generation`.

use super::grammar::{self, ChoiceName};
use super::prompt::LevelName;
use super::request::{RequestReport, write_request};
use super::{Loaded, SetArgs};
use crate::args::endpoint::{self, EndpointArgs};
use crate::args::model::ModelSettings;
use crate::args::tokens;
use crate::io::errors;
use crate::io::messages::Progress;
use crate::io::output::{Exit, Failure, Output};
use grammata::error::Result;
use grammata::limits::Limits;
use grammata::mask::Compiler;
use grammata_agents::retrieval::{self, Catalogue, RetrievalOptions, Retriever, Template};
use grammata_agents::tools::session::{ToolCompiler, TurnOptions};
use grammata_agents::tools::{GrammarOptions, Request, ToolSet, Turn};
use grammata_agents_drive::chat::{Chat, Message};
use grammata_agents_drive::tools::ask;
use serde::Serialize;
use serde_json::{Map, Value};
use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A whole turn: the tools that the request needs are found, the model writes a call of one of them under the grammar of exactly
/// these, and the HTTP request that the call stands for is shown. Nothing is sent.
#[derive(Debug, clap::Args)]
#[cfg_attr(not(feature = "ort"), allow(dead_code))] // some are read by `generation` only
pub(super) struct Arguments {
    #[command(flatten)]
    pub(super) set: SetArgs,
    /// The user's message
    #[arg(long, value_name = "TEXT")]
    pub(super) request: String,
    /// The call format: a name, or a file of TOML
    #[arg(long, value_name = "NAME", default_value = "hermes")]
    pub(super) call_format: String,
    /// Whether the turn calls tools
    #[arg(long, value_enum, default_value_t = ChoiceName::Required)]
    pub(super) choice: ChoiceName,
    /// How the tool is chosen
    #[arg(long, value_enum, default_value_t = ChooseName::Tokens)]
    pub(super) choose: ChooseName,
    /// The description of the tools in the prompt
    #[arg(long, value_enum, default_value_t = LevelName::Signature)]
    pub(super) detail: LevelName,
    /// Only this many tools, which retrieval by words finds for the request; 0 takes all
    #[arg(short, value_name = "N", default_value_t = 5)]
    pub(super) k: usize,
    /// Only the tools found, without those whose results they need
    #[arg(long)]
    pub(super) no_prerequisites: bool,
    /// A tool that may be called; may be repeated. Nothing is retrieved then
    #[arg(long, value_name = "NAME")]
    pub(super) tool: Vec<String>,
    /// The fewest calls of a turn that calls tools
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(super) min_calls: u32,
    /// The most calls of a turn
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(super) max_calls: u32,
    /// The most tokens of the turn
    #[arg(long, value_name = "N", default_value_t = 200)]
    pub(super) max_tokens: usize,
    /// 0 takes the most probable token; higher values are more varied
    #[arg(long, value_name = "T", default_value_t = 0.0, help_heading = "Model")]
    pub(super) temperature: f32,
    /// Equal seeds give equal turns
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = "Model")]
    pub(super) seed: u64,
    /// An ONNX file, or a folder with model.onnx or onnx/model.onnx
    #[arg(long, value_name = "PATH", required_unless_present_any = ["endpoint", "policy_command"], help_heading = "Model")]
    pub(super) model: Option<PathBuf>,
    #[command(flatten)]
    pub(super) model_settings: ModelSettings,
    #[command(flatten)]
    pub(super) chat: EndpointArgs,
}

/// How the tool of a call is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum ChooseName {
    /// Token by token, like the rest of the turn
    Tokens,
    /// The most probable name under the model, by best-first search; needs an ONNX model (`--model`)
    Exact,
}

/// Runs the turn with the chat model of the arguments; `None` if they name none.
pub(super) fn by_chat(arguments: &Arguments, output: &mut Output) -> Result<Option<Exit>, Failure> {
    let Some(mut model) = arguments.chat.load(arguments.temperature, arguments.seed)? else {
        return Ok(None);
    };
    let exit = with_chat(arguments, &mut *model, output);
    endpoint::report(&model.usage());
    exit.map(Some)
}

/// Runs a turn of a model that is asked by chat.
fn with_chat(arguments: &Arguments, model: &mut dyn Chat, output: &mut Output) -> Result<Exit, Failure> {
    if arguments.choose == ChooseName::Exact {
        return Err(errors::no_exact_choice().into());
    }
    let limits = arguments.set.limits.get();
    let Loaded { set, .. } = arguments.set.load()?;
    let set = Arc::new(set);
    let vocabulary = Arc::new(tokens::bytes()?.vocabulary);
    let compiler = Compiler::new(vocabulary).limits(limits.clone()).without_token_bounds();
    let options = GrammarOptions::default().schema(GrammarOptions::arguments(limits.clone()));
    let format = grammar::format(&arguments.call_format, &limits)?;
    let tools = ToolCompiler::new(compiler).compile(Arc::clone(&set), format, &options)?;
    let (names, _) = found(arguments, &set, &limits)?;
    let options = TurnOptions {
        choice: arguments.choice.into(),
        subset: Some(tools.subset(names.iter().map(String::as_str))?),
        min_calls: arguments.min_calls,
        max_calls: Some(arguments.max_calls.max(arguments.min_calls)),
        limited: Vec::new(),
    };
    let messages =
        vec![Message::system(system(arguments, &set, &names)), Message::user(arguments.request.as_str())];
    let most = u32::try_from(arguments.max_tokens).unwrap_or(u32::MAX);
    let progress = Progress::start("the model writes");
    let asked = ask(&tools, model, messages, &options, most);
    progress.finish();
    let (turn, text) = asked?;
    write(&set, &names, &text, Some(&turn), output)?;
    Ok(Exit::Done)
}

/// Returns the system prompt: the documentation of the tools, and an instruction.
pub(super) fn system(arguments: &Arguments, set: &ToolSet, names: &[String]) -> String {
    let tools = names.iter().filter_map(|name| set.tool(name)).enumerate();
    let entries: Vec<String> =
        tools.map(|(at, tool)| tool.documentation(arguments.detail.into(), at + 1)).collect();
    format!(
        "You can call these tools:\n{}\nCall the one that fits the request, with values from it.",
        entries.join("\n")
    )
}

/// Returns the names of the tools for this turn, and the time to find them.
pub(super) fn found(
    arguments: &Arguments,
    set: &ToolSet,
    limits: &Limits,
) -> Result<(Vec<String>, Duration)> {
    if !arguments.tool.is_empty() {
        return Ok((arguments.tool.clone(), Duration::ZERO));
    }
    let callable: Vec<usize> =
        (0..set.tools().len()).filter(|&index| set.tools()[index].refusal.is_none()).collect();
    if arguments.k == 0 {
        return Ok((
            callable.into_iter().map(|index| set.tools()[index].name.clone()).collect(),
            Duration::ZERO,
        ));
    }
    let documents = callable.iter().map(|&index| &set.tools()[index]).map(|tool| retrieval::Tool {
        id: tool.name.clone(),
        function: tool.name.clone(),
        name: tool.name.clone(),
        tool: String::new(),
        category: String::new(),
        description: tool.description.clone(),
        parameters: None,
    });
    let catalogue = Catalogue::new(documents.collect(), limits)?;
    let retriever = Retriever::new(&catalogue, Template::Full)?;
    let start = Instant::now();
    let options = RetrievalOptions::default().k(arguments.k);
    let found = retriever.retrieve(std::slice::from_ref(&arguments.request), None, &options)?;
    let tools: Vec<usize> = found.tools.iter().map(|found| callable[found.tool]).collect();
    if tools.is_empty() && !callable.is_empty() {
        return Err(errors::no_tool_found(&arguments.request));
    }
    let tools = if arguments.no_prerequisites { tools } else { set.with_prerequisites(tools) };
    let names = tools.into_iter().map(|index| set.tools()[index].name.clone()).collect();
    Ok((names, start.elapsed()))
}

/// The report on a turn.
#[derive(Serialize)]
struct Report<'a> {
    /// The names of the tools that could be called.
    tools: &'a [String],
    /// What the model wrote.
    text: &'a str,
    /// Whether the turn is complete.
    complete: bool,
    /// The calls of a complete turn.
    calls: Vec<CallReport<'a>>,
    /// For each call its HTTP request. Null if it has none because the host executes the tool, or if no request can be
    /// built.
    requests: Vec<Option<RequestReport<'a>>>,
}

/// A call of a tool, in JSON.
#[derive(Serialize)]
struct CallReport<'a> {
    tool: &'a str,
    arguments: &'a Map<String, Value>,
}

/// Writes a turn, and the HTTP requests for its calls.
pub(super) fn write(
    set: &ToolSet,
    names: &[String],
    text: &str,
    turn: Option<&Turn>,
    output: &mut Output,
) -> Result<(), Failure> {
    let calls = turn.map_or(&[][..], |turn| &turn.calls);
    let requests: Vec<Option<Request>> = calls.iter().map(|call| set.request(call).ok()).collect();
    if output.is_json() {
        let shown = calls.iter().map(|call| CallReport { tool: &call.tool, arguments: &call.arguments });
        let requests = requests.iter().map(|request| request.as_ref().map(RequestReport::new));
        output.report(&Report {
            tools: names,
            text,
            complete: turn.is_some(),
            calls: shown.collect(),
            requests: requests.collect(),
        })?;
        return Ok(());
    }
    writeln!(output, "tools: {}", names.join(", "))?;
    writeln!(output, "{text}")?;
    for request in requests.iter().flatten() {
        write_request(true, request, output)?;
    }
    Ok(())
}
