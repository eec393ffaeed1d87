//! What reproduces papers and compares methods is not part of the product: no product file imports it.

use crate::imports::{module_of, named, product};

/// Modules that reproduce a paper, compare methods, or make data for training, each with the modules below it. These are
/// product, because commands of the product need them: sessions of agents with users and simulations (`procedure run`),
/// similarities (`flow run`), sentences of a request (`retrieve search`) and random logits (`--random-logits`).
const EXPERIMENTS: &[&str] = &[
    "cli::flow::arms",
    "cli::flow::change_runs",
    "cli::flow::changes",
    "cli::flow::evaluate",
    "cli::flow::experiment",
    "cli::flow::experiments",
    "cli::plan::reward",
    "cli::plan::tasks",
    "cli::procedure::evaluate",
    "cli::procedure::turns",
    "cli::retrieve::drafts",
    "cli::retrieve::evaluate",
    "cli::tools::eval",
    "evaluation",
    "flows::flap",
    "flows::metrics",
    "flows::queries",
    "plan::episodes",
    "procedures::agent::arm",
    "procedures::agent::evaluation",
    "procedures::agent::judge",
    "procedures::agent::turns",
    "retrieval::drafts",
    "retrieval::metrics",
    "retrieval::pools",
    "retrieval::requests",
    "retrieval::training",
];

/// Product modules that still import an experiment: the module, the experiment, and why. As of 26 November 2026.
const EXCEPTIONS: &[(&str, &str, &str)] = &[
    ("cli::plan::run", "cli::plan::reward", "`--reward` is an option of `plan run`"),
    ("cli::plan::run", "cli::plan::tasks", "`plan run` reads a file of tasks"),
    ("cli::plan::run", "plan::episodes", "`plan run` writes data for training"),
    ("cli::procedure::run", "evaluation", "`--report` writes the session with the pages of evaluations"),
    ("cli::procedure::simulate", "evaluation", "shares of sessions have intervals"),
    ("cli::retrieve::pipeline", "retrieval::requests", "examples of prompts are requests with their tools"),
    ("cli::retrieve::sources", "retrieval::requests", "examples of prompts are requests with their tools"),
    (
        "retrieval::queries::prompt",
        "retrieval::requests",
        "examples of prompts are requests with their tools",
    ),
    ("retrieval::readers", "retrieval::requests", "a reader of ToolBench gives tools and requests"),
];

/// What the dispatch of subcommands may name of an experiment.
const DISPATCHED: &[&str] = &["Arguments", "run"];

fn is_below(path: &[String], module: &str) -> bool {
    let mut parts = path.iter();
    module.split("::").all(|part| parts.next().is_some_and(|other| other == part))
}

#[test]
fn products_import_no_experiments() {
    let files = product();
    let files: Vec<_> = files
        .iter()
        .map(|(path, text)| {
            let (module, is_parent) = module_of(path);
            let code = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
            (module.clone(), named(&module, is_parent, code))
        })
        .filter(|(module, _)| module.first().is_none_or(|room| room != "testing"))
        .collect();
    for experiment in EXPERIMENTS {
        assert!(files.iter().any(|(module, _)| is_below(module, experiment)), "there is no {experiment}");
    }
    // the names under which modules export what is of an experiment
    let mut exported: Vec<(Vec<String>, &str)> = Vec::new();
    for (module, named) in &files {
        for named in named.iter().filter(|named| named.is_exported) {
            for experiment in EXPERIMENTS.iter().filter(|experiment| is_below(&named.path, experiment)) {
                exported.push(([module, &named.path[named.path.len() - 1..]].concat(), experiment));
            }
        }
    }
    assert!(exported.len() > 10, "{exported:#?}");
    let experiment_of = |path: &[String]| {
        let own = EXPERIMENTS.iter().find(|experiment| is_below(path, experiment)).copied();
        own.or_else(|| exported.iter().find(|(name, _)| path.starts_with(name)).map(|(_, of)| *of))
    };
    let (mut wrong, mut used) = (Vec::new(), Vec::new());
    for (module, named) in &files {
        if EXPERIMENTS.iter().any(|experiment| is_below(module, experiment)) {
            continue;
        }
        for named in named {
            let Some(experiment) = experiment_of(&named.path) else { continue };
            let is_dispatched = named.path.last().is_some_and(|last| DISPATCHED.contains(&last.as_str()));
            if named.is_child && (named.is_exported || is_dispatched) {
                continue;
            }
            let name = module.join("::");
            match EXCEPTIONS.iter().position(|(from, to, _)| *from == name && *to == experiment) {
                Some(exception) => used.push(exception),
                None => wrong.push(format!("{name}: {} is of {experiment}", named.path.join("::"))),
            }
        }
    }
    wrong.dedup();
    assert!(wrong.is_empty(), "{wrong:#?}");
    let stale: Vec<_> =
        (0..EXCEPTIONS.len()).filter(|at| !used.contains(at)).map(|at| EXCEPTIONS[at]).collect();
    assert!(stale.is_empty(), "these exceptions are not needed: {stale:#?}");
}
