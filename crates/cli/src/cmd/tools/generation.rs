//! Runs `grammata tools generate` with a local model.

use super::exact::{most_probable, spelled};
use super::generate::{Arguments, ChooseName, found, system, write};
use super::{Loaded, encoding, grammar};
use crate::args::model::Parts;
use crate::io::errors;
use crate::io::messages::{self, Progress};
use crate::io::output::{Exit, Failure, Output};
use crate::io::text::counted;
use grammata::error::Result;
use grammata::mask::Compiler;
use grammata::vocabulary::TokenId;
use grammata_agents::tools::session::{Session, ToolCompiler, TurnOptions};
use grammata_agents::tools::{Choice, GrammarOptions, ToolSet};
use grammata_decode::{Decoder, Event, GenerationOptions, PromptTokenizer, SamplingParams};
use std::sync::Arc;
use std::time::{Duration, Instant};

pub(super) fn run(arguments: &Arguments, output: &mut Output) -> Result<Exit, Failure> {
    let limits = arguments.set.limits.get();
    let Loaded { set, .. } = arguments.set.load()?;
    let set = Arc::new(set);
    let path = arguments.model.as_ref().ok_or_else(errors::needs_model)?;
    let parts = Parts::find(path, &arguments.model_settings, &limits)?;
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
        // a call is required, so its fixed beginning needs no run of the model
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

/// Returns the tokens of the prompt: the documentation of the tools, and the request.
fn prompt(
    arguments: &Arguments,
    set: &ToolSet,
    names: &[String],
    parts: &Parts,
    tokenizer: &PromptTokenizer,
) -> Result<Vec<u32>> {
    let system = system(arguments, set, names);
    let plain = || format!("{system}\n\nRequest: {}\nCall: ", arguments.request);
    encoding::prompt(parts.template.as_ref(), tokenizer, &system, &arguments.request, plain)
}
