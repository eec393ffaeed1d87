//! The tests of the laboratory, one module a topic.

mod docs;
mod flow_evaluate;
mod flow_flap;
mod lab;
mod retrieval_drafts;
mod retrieval_figures;
mod retrieval_metrics;
mod retrieval_training;
mod retrieve;
mod serialized;
mod tools_eval;
mod turns;

#[path = "../../../crates/cli/tests/suite/retrieve_files.rs"]
#[allow(dead_code)] // the tests of the program use more of it
mod retrieve_files;

#[path = "../../../crates/cli/tests/suite/pages.rs"]
#[allow(dead_code)] // the tests of the program use more of it
mod pages;

#[path = "../../../crates/cli/tests/suite/process.rs"]
#[allow(dead_code)] // the tests of the program use more of it
mod process;

#[path = "../../../crates/decode/tests/suite/models.rs"]
#[allow(dead_code)] // the tests of decoding use more of it
mod models;

/// The root of the repository.
const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

/// The program that is tested.
fn program() -> std::path::PathBuf {
    assert_cmd::cargo::cargo_bin!("grammata-lab").to_owned()
}
