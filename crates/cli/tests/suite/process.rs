//! Runs a program as a process in the folder of the repository, and returns its output and exit code.

use assert_cmd::Command;
use serde_json::Value;

/// The exit code, standard output and standard error of a run of the program.
pub(crate) struct Run {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

/// Runs the program in the root folder of the repository, with empty standard input.
pub(crate) fn run(arguments: &[&str]) -> Run {
    run_with(arguments, "")
}

pub(crate) fn run_with(arguments: &[&str], input: &str) -> Run {
    let mut command = Command::new(crate::program());
    command.current_dir(crate::ROOT).env_remove("COLUMNS").env("NO_COLOR", "1");
    let output = command.args(arguments).write_stdin(input).output().unwrap();
    Run {
        code: output.status.code().unwrap(),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

/// Runs the program, which must end with `code`. Returns its standard output.
#[track_caller]
pub(crate) fn out(code: i32, arguments: &[&str]) -> String {
    let run = run(arguments);
    assert_eq!(run.code, code, "{arguments:?}\n{}\n{}", run.out, run.err);
    run.out
}

/// Runs the program, which must end with `code` and write one JSON object on one line. Returns the object.
#[track_caller]
pub(crate) fn json(code: i32, arguments: &[&str]) -> Value {
    let text = out(code, arguments);
    assert!(text.ends_with('\n') && text.lines().count() == 1, "one line: {text}");
    serde_json::from_str(&text).unwrap()
}

/// Runs the program, which must fail with this error, end with 2 and write nothing to standard output. Returns standard
/// error.
#[track_caller]
pub(crate) fn refused(code: &str, arguments: &[&str]) -> String {
    refused_with(2, code, arguments)
}

/// Runs the program, which must fail with this error and exit code and write nothing to standard output. Returns
/// standard error.
#[track_caller]
pub(crate) fn refused_with(exit: i32, code: &str, arguments: &[&str]) -> String {
    let run = run(arguments);
    assert_eq!((run.code, run.out.as_str()), (exit, ""), "{}", run.err);
    assert!(run.err.starts_with(&format!("error[{code}]")), "{}", run.err);
    run.err
}
