//! The tests of the program: one module for each topic.

mod cli;
mod cli_compile;
mod cli_embed;
mod cli_errors;
mod cli_flow;
mod cli_generate;
mod cli_guard;
mod cli_guard_logs;
mod cli_retrieve;
mod cli_serve;
mod cli_tools;
mod contract;
mod control_characters;
mod docs;
mod endpoint;
mod file_arguments;
mod mask_file_places;
mod pages;
mod plan_cli;
mod procedure_simulate;
mod procedure_stream;
mod process;
mod retrieve_files;
mod silence;

/// A chat server on loopback, shared with the tests of the client of chat servers.
#[path = "../../../endpoint/tests/suite/stand_in.rs"]
#[allow(dead_code)] // the tests of the client of chat servers use more of it
mod stand_in;

/// The example `travel`, which commands in the documentation run.
#[path = "../../../../examples/travel/mod.rs"]
#[allow(dead_code, unreachable_pub)] // the test uses only a part of the example
mod trips;

/// The root of the repository, where the program is run.
const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// Returns the path of the program under test.
fn program() -> std::path::PathBuf {
    assert_cmd::cargo::cargo_bin!("grammata").to_owned()
}
