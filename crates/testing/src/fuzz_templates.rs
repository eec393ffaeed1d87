//! The bodies of the fuzz targets for templates, plans and model folders.

use super::fuzz_limits::limits;
use grammata::syntax::automaton_spec::{self, Spec};
use grammata::{Error, ErrorKind};
use grammata_agents::plan::policy::RandomPolicy;
use grammata_agents::plan::search::STRATEGIES;
use grammata_agents::plan::{Objective, PartialPlan, PlanAutomaton, Problem, Questions, SearchOptions};
use grammata_decode::{ChatTemplate, Message, ModelFolder};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

fn text(bytes: &[u8]) -> &str {
    bytes.utf8_chunks().next().map_or("", |chunk| chunk.valid())
}

/// Checks that an error of a template has a place and is not a caught panic.
fn expected<T>(result: Result<T, Error>, kinds: &[ErrorKind]) -> Option<T> {
    match result {
        Ok(value) => Some(value),
        Err(error) => {
            assert!(kinds.contains(&error.kind()), "{error}");
            assert!(!error.to_string().contains("the template engine failed"), "{error}");
            None
        }
    }
}

/// Fuzzes chat templates.
pub fn chat_template(bytes: &[u8]) {
    const KINDS: [ErrorKind; 2] = [ErrorKind::Grammar, ErrorKind::Limit];
    let limits = limits().template_work(1 << 20);
    let tools =
        serde_json::json!([{"name": "find", "parameters": {"a": [1, 2.5, null, "<"], "b": {"c": true}}}]);
    let Some(template) = expected(ChatTemplate::new(text(bytes), &limits), &KINDS) else { return };
    let template = template.with_tokens("<s>", "</s>").with_variable("tools", tools);
    let messages = [Message::system("Help."), Message::user("Hi\n<b>"), Message::assistant("é")];
    if let Some(prompt) = expected(template.render(&messages, true), &KINDS) {
        assert!(prompt.len() <= limits.source_bytes);
    }
}

/// Fuzzes the template of a spec, after a header with a parameter of each type.
pub fn spec_template(bytes: &[u8]) {
    const HEADER: &str = "[parameters]\nn = { default = 3 }\nt = { default = \"a\\\"b\" }\nb = { default = true }\n\
                          l = { default = [\"x\", \"y\"] }\n# ---\n";
    let limits = limits().template_work(1 << 20);
    let options = automaton_spec::Options::default().limits(limits);
    let source = format!("{HEADER}{}", text(bytes));
    expected(automaton_spec::compile(&source, &options), &[ErrorKind::Grammar, ErrorKind::Limit]);
}

/// Fuzzes specs with plans: reads one, counts its plans, completes the empty plan and searches for a plan. Only
/// questions that are certain to terminate are asked.
pub fn plan_spec(bytes: &[u8]) {
    let options = automaton_spec::Options::default().limits(limits());
    let kinds = [ErrorKind::Grammar, ErrorKind::Limit, ErrorKind::Rejected, ErrorKind::Usage];
    let Some(spec) = expected(Spec::read(text(bytes), &options), &kinds) else { return };
    let Some(mut plans) = expected(PlanAutomaton::new(spec), &kinds) else { return };
    expected(plans.count(), &kinds);
    let start = PartialPlan::new(&plans);
    for objective in [Objective::Steps, Objective::Cost] {
        if let Some(Some(plan)) = expected(plans.completion(&start, objective), &kinds) {
            let walk = expected(plans.walk(&plan), &kinds).flatten();
            assert!(walk.is_some_and(|walk| plans.is_complete(walk.position().state)), "{plan:?}");
        }
    }
    let Some(questions) = expected(Questions::new(plans.spec(), None), &kinds) else { return };
    let options = SearchOptions::default().max_free_steps(8);
    let mut policy = RandomPolicy::new(bytes.len() as u64);
    let (.., make) = STRATEGIES[bytes.len() % STRATEGIES.len()];
    expected(make(2).run(&mut Problem::new(&mut plans, &mut policy, &questions, &options)), &kinds);
}

/// Fuzzes the settings of a model folder: files separated by lines `---`.
pub fn model_settings(bytes: &[u8]) {
    static RUNS: AtomicUsize = AtomicUsize::new(0);
    const NAMES: [&str; 5] = [
        "config.json",
        "tokenizer_config.json",
        "generation_config.json",
        "chat_template.jinja",
        "chat_template.json",
    ];
    let run = RUNS.fetch_add(1, Ordering::Relaxed);
    let folder = std::env::temp_dir().join(format!("grammata-fuzz-{}-{run}", std::process::id()));
    if write(&folder, bytes, &NAMES).is_ok() {
        let kinds = [ErrorKind::Model, ErrorKind::Grammar, ErrorKind::Limit];
        if let Some(found) = expected(ModelFolder::open(&folder, &limits()), &kinds) {
            assert!(found.context_length.is_none_or(|length| length > 0));
            assert!(found.end_tokens.is_sorted());
        }
    }
    // a folder that cannot be removed is left to the system
    let _ = std::fs::remove_dir_all(&folder);
}

fn write(folder: &Path, bytes: &[u8], names: &[&str]) -> std::io::Result<()> {
    std::fs::create_dir_all(folder)?;
    std::fs::write(folder.join("model.onnx"), "")?;
    std::fs::write(folder.join("tokenizer.json"), "{}")?;
    let mut rest = bytes;
    for name in names {
        let end = rest.windows(5).position(|window| window == b"\n---\n");
        let (part, after) = end.map_or((rest, &[][..]), |end| (&rest[..end], &rest[end + 5..]));
        if !part.is_empty() {
            std::fs::write(folder.join(name), part)?;
        }
        rest = after;
    }
    Ok(())
}
