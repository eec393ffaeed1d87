//! The tasks of the OpenAGI benchmark: parameters from the words of a description.
//!
//! `cargo run --profile quick --example openagi -- grammars/openagi/tasks.txt > tasks.jsonl` writes the tasks in the
//! form that `grammata plan run grammars/openagi --tasks tasks.jsonl` reads. Its output for the shipped descriptions is
//! `grammars/openagi/tasks.jsonl`.

#![allow(clippy::print_stdout)] // an example prints its results

#[allow(unreachable_pub)] // a test and another example also include this file
mod modalities;

use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let Some(path) = std::env::args().nth(1) else {
        eprintln!("usage: openagi TASKS, a file with a description a line");
        return ExitCode::from(2);
    };
    let text = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(cause) => {
            eprintln!("{}", grammata::Error::io(Path::new(&path), &cause));
            return ExitCode::from(2);
        }
    };
    for (number, line) in text.lines().enumerate() {
        match modalities::task(line) {
            Some(task) => println!("{task}"),
            None => {
                eprintln!(
                    "{path}:{}: found `{line}`, which does not say what is given; allowed: `Given IMAGE OR TEXT: WHAT IS WANTED`, \
                     or `Given …, how to …`",
                    number + 1
                );
                return ExitCode::from(2);
            }
        }
    }
    ExitCode::SUCCESS
}
