//! `grammata tools generate` at work.

use super::exact::{most_probable, spelled};
use super::generate::{Arguments, ChooseName};
use super::{Loaded, encoding, grammar};
use crate::errors;
use crate::messages::{self, Progress};
use crate::model::Parts;
use crate::output::{Exit, Failure, Output};
use crate::text::counted;
use grammata::error::Result;
use grammata::limits::Limits;
use grammata::mask::Compiler;
use grammata::vocabulary::TokenId;
use grammata_agents::retrieval::{self, Catalogue, RetrievalOptions, Retriever, Template};
use grammata_agents::tools::session::{Session, ToolCompiler, TurnOptions};
use grammata_agents::tools::{Choice, GrammarOptions, ToolSet, Turn};
use grammata_decode::{Decoder, Event, GenerationOptions, PromptTokenizer, SamplingParams};
use serde_json::{Value, json};
use std::io::Write;
use std::sync::Arc;
use std::time::{Duration, Instant};

pub(super) fn run(arguments: &Arguments, output: &mut Output) -> Result<Exit, Failure> {
    let limits = arguments.set.limits.get();
    let Loaded { set, .. } = arguments.set.load()?;
    let set = Arc::new(set);
    let parts = Parts::find(&arguments.model, &arguments.model_settings, &limits)?;
    let tokenizer = PromptTokenizer::from_file(&parts.tokenizer, &limits)?;
    let vocabulary = Arc::new(parts.vocabulary(&arguments.model_settings, &tokenizer, &limits)?.vocabulary);
    let compiler = Compiler::new(vocabulary).limits(limits.clone());
    compiler.prepare()?;
    let options = GrammarOptions::default().schema(GrammarOptions::arguments(limits.clone()));
    let start = Instant::now();
    let format = grammar::format(&arguments.call_format, &limits)?;
    let tools = ToolCompiler::new(compiler).compile(Arc::clone(&set), format, &options)?;
    let compiling = start.elapsed();
    let (names, finding) = found(arguments, &set, &limits)?;
    let start = Instant::now();
    let mut turn = TurnOptions {
        choice: arguments.choice.into(),
        subset: Some(tools.subset(names.iter().map(String::as_str))?),
        min_calls: arguments.min_calls,
        max_calls: Some(arguments.max_calls.max(arguments.min_calls)),
        limited: Vec::new(),
    };
    tools.turn(&turn)?.mask()?;
    let first_mask = start.elapsed();
    let mut model = parts.load(&arguments.model_settings)?;
    let mut prompt = prompt(arguments, &set, &names, &parts, &tokenizer)?;
    let mut session = Session::new(&tools, turn.clone())?;
    let mut searched = None;
    if turn.choice == Choice::Required {
        // a call is owed: it begins at once, without a run of the model
        let beginning = tools.turn(&turn)?.begin_call()?;
        if arguments.choose == ChooseName::Exact {
            let beginning = beginning.as_deref().ok_or_else(errors::no_exact_choice)?;
            let encode = |text: &str| tokenizer.encode(text, false);
            let spelled = spelled(&tools, &names)?;
            let (best, _) = most_probable(&spelled, beginning, &[], encode, &prompt, &mut model)?;
            turn.subset = Some(tools.subset([best.as_str()])?);
            session = Session::new(&tools, turn)?;
            searched = Some(best);
        }
        if let Some(beginning) = beginning {
            session.accept_bytes(&beginning)?;
            prompt.extend(tokenizer.encode(&String::from_utf8_lossy(&beginning), false)?);
        }
    } else if arguments.choose == ChooseName::Exact {
        return Err(errors::no_exact_choice().into());
    }
    let generation = GenerationOptions::default()
        .max_tokens(arguments.max_tokens)
        .complete(true)
        .sampling(SamplingParams::default().temperature(arguments.temperature).seed(arguments.seed))
        .end_tokens(tools.vocabulary().eos().iter().map(|id| id.get()).collect());
    let progress = Progress::start("the model writes");
    let constraint = Box::new(session.turn().clone());
    let mut decoder =
        Decoder::new(&mut model, &**tools.vocabulary(), Some(constraint), &prompt, &generation)?;
    while !matches!(decoder.next(&mut model)?, Event::Finished(_)) {}
    let written = decoder.close(&mut model);
    let writing = progress.finish();
    for &token in &written.tokens {
        let token = TokenId::new(token);
        if !tools.vocabulary().is_eos(token) {
            session.accept_token(token)?;
        }
    }
    let text = String::from_utf8_lossy(session.text()).into_owned();
    let finished = session.is_accepting()?;
    let turn = if finished { session.finish().map(|_| session.turns().last().cloned())? } else { None };
    write(&set, &names, &text, turn.as_ref(), output)?;
    let ms = |time: Duration| time.as_secs_f64() * 1e3;
    messages::plain(&format!(
        "{}: compiled in {:.1} ms; {} for this turn in {:.2} ms, first mask after {:.2} ms{}; {} in {:.1} s",
        counted(set.tools().len(), "tool"),
        ms(compiling),
        counted(names.len(), "tool"),
        ms(finding),
        ms(first_mask),
        searched.map_or_else(String::new, |name| format!("; most probable name: {name}")),
        counted(written.tokens.len(), "token"),
        writing.as_secs_f64()
    ));
    Ok(if turn.is_some() { Exit::Done } else { Exit::Cut })
}

/// The names of the tools of this turn, and how long it took to find them.
fn found(arguments: &Arguments, set: &ToolSet, limits: &Limits) -> Result<(Vec<String>, Duration)> {
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

/// The prompt: the documentation of the tools, and the request.
fn prompt(
    arguments: &Arguments,
    set: &ToolSet,
    names: &[String],
    parts: &Parts,
    tokenizer: &PromptTokenizer,
) -> Result<Vec<u32>> {
    let tools = names.iter().filter_map(|name| set.tool(name)).enumerate();
    let entries: Vec<String> =
        tools.map(|(at, tool)| tool.documentation(arguments.detail.into(), at + 1)).collect();
    let system = format!(
        "You can call these tools:\n{}\nCall the one that fits the request, with values from it.",
        entries.join("\n")
    );
    let plain = || format!("{system}\n\nRequest: {}\nCall: ", arguments.request);
    encoding::prompt(parts.template.as_ref(), tokenizer, &system, &arguments.request, plain)
}

fn write(
    set: &ToolSet,
    names: &[String],
    text: &str,
    turn: Option<&Turn>,
    output: &mut Output,
) -> Result<(), Failure> {
    let calls = turn.map_or(&[][..], |turn| &turn.calls);
    let requests: Vec<Value> = calls
        .iter()
        .map(|call| {
            set.request(call).map_or(Value::Null, |request| {
                json!({"method": request.method, "url": request.url, "headers": request.headers, "body": request.body})
            })
        })
        .collect();
    let shown: Vec<Value> =
        calls.iter().map(|call| json!({"tool": call.tool, "arguments": call.arguments})).collect();
    if output.is_json() {
        let complete = turn.is_some();
        output.report(&json!({"tools": names, "text": text, "complete": complete, "calls": shown, "requests": requests}))?;
        return Ok(());
    }
    writeln!(output, "tools: {}", names.join(", "))?;
    writeln!(output, "{text}")?;
    for request in requests.iter().filter(|request| !request.is_null()) {
        let field = |name: &str| request[name].as_str().unwrap_or_default().to_owned();
        writeln!(output, "{} {}", field("method"), field("url"))?;
        for header in request["headers"].as_array().into_iter().flatten() {
            let part = |at: usize| header[at].as_str().unwrap_or_default();
            writeln!(output, "{}: {}", part(0), part(1))?;
        }
        if let Some(body) = request["body"].as_str() {
            writeln!(output, "\n{body}")?;
        }
    }
    Ok(())
}
