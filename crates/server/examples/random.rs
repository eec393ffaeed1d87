//! Serves a model of random numbers at a free port of this machine, for checks of clients, until standard input ends. The
//! first line of output is the address.

#[path = "../tests/suite/client.rs"]
#[allow(dead_code)] // the tests use more of it
mod client;

/// The root of the repository.
const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

#[allow(clippy::print_stdout)] // the address is for a script
fn main() {
    let family = std::env::args().nth(1);
    let server = client::start(family.as_deref(), grammata_server::ServerOptions::default());
    println!("http://{}/v1", server.address);
    let _ = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
}
