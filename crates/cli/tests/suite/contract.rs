//! The contract of all commands. The commands are taken from clap's `Command`, so that a new one is tested
//! automatically.
//!
//! `UPDATE_SNAPSHOTS=1` rewrites the help texts under `tests/cli`.

use crate::process::{Run, run};
use clap::{Arg, ArgAction, Command};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// A call of each command on files of the repository; `$TMP` is a temporary folder. A call that begins with `!` fails:
/// it needs a model and ONNX Runtime, or a server that does not exist.
const CALLS: &[(&str, &str)] = &[
    ("check", "grammars/iso-dates --text 2024-02-29"),
    ("compile", "grammars/iso-dates --states 20 -o $TMP/dates.gmask"),
    ("completions", "bash"),
    ("count", "grammars/iso-dates"),
    ("embed", "!--embedder .models/none x"),
    ("enumerate", "grammars/iso-dates --limit 2"),
    ("explain", "grammars/iso-dates --text 2024"),
    ("flow check", "grammars/flows/insurance.toml"),
    ("flow graph", "grammars/flows/insurance.toml"),
    ("flow lookahead", "grammars/flows/insurance.toml"),
    ("flow run", "tests/cases/flows/refund.toml --query Hello --random-logits --thoughts none"),
    ("flow spec", "grammars/flows/insurance.toml"),
    ("generate", "!grammars/person --model .models/none --prompt x"),
    ("serve", "!--model .models/none --listen 127.0.0.1:0"),
    ("graph", "grammars/iso-dates"),
    ("guard", "!grammars/procedures/meeting_room.yaml -- grammata-no-such-server"),
    ("inspect", "tests/data/mask_files/format-1.gmask"),
    ("limits", ""),
    ("man", "$TMP/man"),
    ("mask", "grammars/iso-dates"),
    ("plan chat", "grammars/customer-service"),
    ("plan count", "grammars/daily-plan"),
    ("plan enumerate", "grammars/daily-plan --limit 2"),
    ("plan explain", "grammars/daily-plan"),
    ("plan graph", "grammars/daily-plan"),
    ("plan run", "grammars/daily-plan"),
    ("plan schema", ""),
    ("plan verify", "grammars/openagi --text [] --no-nearest"),
    ("procedure check", "grammars/procedures/meeting_room.yaml"),
    ("procedure format", "grammars/procedures/meeting_room.yaml"),
    ("procedure graph", "grammars/procedures/meeting_room.yaml"),
    ("procedure new", "catalogues/services/openapi.json"),
    (
        "procedure run",
        "grammars/procedures/meeting_room.yaml --simulation grammars/procedures/simulations/meeting_room.json --user held",
    ),
    ("procedure show", "grammars/procedures/meeting_room.yaml"),
    ("procedure simulate", "grammars/procedures/meeting_room.yaml --sessions 3"),
    ("procedure spec", "grammars/procedures/meeting_room.yaml"),
    ("procedure verify", "grammars/procedures/meeting_room.yaml $TMP/trace.jsonl"),
    ("retrieve index", "!--embedder .models/none --output $TMP/index"),
    ("retrieve search", "weather"),
    ("retrieve serve", "!no-such-tools.json"),
    ("sample", "grammars/iso-dates --words 2"),
    ("schema-report", "grammars/person"),
    ("tag", "hermes"),
    ("tools check", "catalogues/services/openapi.json"),
    ("tools generate", "!catalogues/services/openapi.json --request x --model .models/none"),
    ("tools grammar", "catalogues/services/openapi.json --call-format json"),
    ("tools list", "catalogues/services/openapi.json"),
    ("tools prompt", "catalogues/services/openapi.json"),
    (
        "tools request",
        r#"catalogues/services/openapi.json --call {"name":"searchRestaurants","arguments":{"city":"Rome"}}"#,
    ),
    ("vocab", "tests/data/smollm2/tokenizer.json"),
];

/// Members of reports whose own members are named by the user's data.
const DATA: &[&str] = &[
    "arguments",
    "data",
    "errors",
    "facts",
    "keywords",
    "makers",
    "never",
    "observation",
    "schema",
    "spec",
    "steps",
    "tag",
    "taken",
];

/// The options and switches: name, value and meaning. A flag has the same value and meaning in all commands.
const FLAGS: &str = include_str!("../cli/flags.txt");

/// The most lines of a short help text.
const SHORT_HELP: usize = 60;

/// Calls `look` with the path of every command and the command. The path of the program itself is empty.
fn each_command(look: &mut dyn FnMut(&str, &Command)) {
    fn walk(path: &str, command: &Command, look: &mut dyn FnMut(&str, &Command)) {
        look(path, command);
        for inner in command.get_subcommands().filter(|inner| inner.get_name() != "help") {
            let name = format!("{path} {}", inner.get_name());
            walk(name.trim_start(), inner, look);
        }
    }
    walk("", &grammata_cli::command(), look);
}

/// Returns the paths of the commands that have no subcommands.
fn leaves() -> Vec<String> {
    let mut leaves = Vec::new();
    each_command(&mut |path, command| {
        if !command.has_subcommands() {
            leaves.push(path.to_owned());
        }
    });
    leaves
}

fn words(path: &str) -> impl Iterator<Item = &str> {
    path.split_whitespace()
}

/// Runs the call of a command with more arguments. Returns the run, and whether the call must fail.
fn call(path: &str, more: &[&str]) -> (Run, bool) {
    let (_, call) = CALLS.iter().find(|(name, _)| *name == path).unwrap_or_else(|| {
        panic!("`{path}` is new: give it a call in CALLS, and its flags in tests/cli/flags.txt")
    });
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("trace.jsonl"), "[\"user\", \"Hello\"]\n").unwrap();
    let is_of_model = call.starts_with('!');
    let call = call.trim_start_matches('!').replace("$TMP", folder.path().to_str().unwrap());
    // arguments after `--` belong to another program
    let (own, others) = call.split_once("-- ").map_or((&*call, None), |(own, others)| (own, Some(others)));
    let others = others.into_iter().flat_map(|others| std::iter::once("--").chain(words(others)));
    let arguments: Vec<&str> =
        words(path).chain(words(own)).chain(more.iter().copied()).chain(others).collect();
    (run(&arguments), is_of_model)
}

#[track_caller]
fn object(run: &Run) -> Value {
    assert!(run.out.ends_with('\n') && run.out.lines().count() == 1, "one line: {:?}\n{}", run.out, run.err);
    serde_json::from_str(&run.out).unwrap()
}

/// Checks that names of members are in snake case and do not end in a unit of milliseconds or nanoseconds. Members that
/// [`DATA`] lists are not searched.
fn check_names(path: &str, value: &Value) {
    let members = value.as_object().into_iter().flatten();
    for (name, value) in members {
        let is_snake = name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
        assert!(is_snake, "{path}: {name}");
        assert!(!["_ms", "_ns", "milliseconds"].iter().any(|unit| name.ends_with(unit)), "{path}: {name}");
        if !DATA.contains(&name.as_str()) {
            check_names(path, value);
        }
    }
    value.as_array().into_iter().flatten().for_each(|item| check_names(path, item));
}

#[test]
fn every_command_writes_one_json_object() {
    for path in leaves() {
        let (run, is_of_model) = call(&path, &["--output-format", "json"]);
        let found = object(&run);
        assert_eq!(found["version"], 1, "{path}");
        assert_eq!(found["command"], *path);
        assert_eq!(found["exit_code"], run.code, "{path}");
        assert!(found["diagnostics"].is_array() && found["diagnostics_truncated"].is_boolean(), "{path}");
        check_names(&path, &found);
        let has_failed = run.code == 2;
        assert_eq!(has_failed, is_of_model, "{path}: {}", run.err);
        let has_error = found["diagnostics"].as_array().unwrap().iter().any(|one| one["severity"] == "error");
        assert_eq!(has_error, is_of_model, "{path}: {}", run.out);
        let members = found.as_object().unwrap().len();
        assert!(is_of_model || members > 5, "{path} reports nothing: {}", run.out);
    }
}

#[test]
fn usage_errors_are_objects_in_every_command() {
    for path in leaves() {
        let arguments: Vec<&str> = words(&path).chain(["--no-such-flag", "--output-format=json"]).collect();
        let run = run(&arguments);
        let found = object(&run);
        assert_eq!((run.code, &found["exit_code"]), (2, &Value::from(2)), "{path}");
        let error = &found["diagnostics"][0];
        assert_eq!((&error["severity"], &error["code"]), (&"error".into(), &"cli/usage".into()), "{path}");
    }
}

#[test]
fn every_command_takes_the_global_options() {
    for path in leaves() {
        for more in [&["-q", "--color", "never"][..], &["--quiet"], &["--color=always"]] {
            let (run, is_of_model) = call(&path, more);
            assert_eq!(run.code == 2, is_of_model, "{path} {more:?}: {}", run.err);
            let is_quiet = run.err.is_empty() || more.contains(&"--color=always");
            assert!(is_quiet || is_of_model, "{path}: {}", run.err);
        }
    }
    let (run, _) = call("mask", &["--verbose"]);
    assert!(run.err.contains("note: compiling the grammar took "), "{}", run.err);
    let (run, _) = call("mask", &["-v", "-q"]);
    assert_eq!(run.code, 2);
    let wrong = ["count", "missing.gbnf"];
    let colored = run_of(&wrong, "--color=always");
    assert!(colored.err.starts_with('\u{1b}'), "{:?}", colored.err);
    assert!(run_of(&wrong, "--color=never").err.starts_with("error[io/"), "no colours");
    assert!(!run_of(&wrong, "--quiet").err.is_empty(), "errors are written in any case");
}

fn run_of(arguments: &[&str], more: &str) -> Run {
    run(&[arguments, &[more]].concat())
}

#[test]
fn help_is_as_recorded_short_and_free_of_the_repository() {
    let folder = PathBuf::from(crate::ROOT).join("crates/cli/tests/cli");
    let is_update = std::env::var_os("UPDATE_SNAPSHOTS").is_some();
    let mut expected = BTreeSet::new();
    each_command(&mut |path, _| {
        let (short, long) = (help(path, "-h"), help(path, "--help"));
        let lines = short.lines().count();
        assert!(lines <= SHORT_HELP, "{path} -h: {lines} lines, {SHORT_HELP} are allowed\n{short}");
        assert!(short.contains("Exit codes: 0 done"), "{short}");
        assert!(long.contains("Exit codes:\n  0    done"), "{long}");
        assert!(long.contains("--output-format <FORMAT>"), "{long}");
        let lower = long.to_lowercase();
        for place in ["docs/", "cargo ", "xtask", ".models", "crates/", ".md"] {
            assert!(
                !lower.contains(place),
                "{path}: help names `{place}`, which users of the program do not have"
            );
        }
        let name = if path.is_empty() {
            "help.txt".to_owned()
        } else {
            format!("help-{}.txt", path.replace(' ', "-"))
        };
        let file = folder.join(&name);
        if is_update {
            std::fs::write(&file, &long).unwrap();
        }
        let recorded = std::fs::read_to_string(&file).unwrap_or_default();
        assert_eq!(long, recorded, "{} differs: UPDATE_SNAPSHOTS=1 writes it anew", file.display());
        expected.insert(name);
    });
    for entry in std::fs::read_dir(&folder).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(!name.starts_with("help") || expected.contains(&name), "{name} is of no command");
    }
}

fn help(path: &str, flag: &str) -> String {
    let run = run(&words(path).chain([flag]).collect::<Vec<_>>());
    assert_eq!((run.code, run.err.as_str()), (0, ""), "{path}");
    run.out
}

#[test]
fn shells_and_manuals_know_every_command() {
    let folder = tempfile::tempdir().unwrap();
    let pages = folder.path().join("man1");
    assert_eq!(run(&["man", pages.to_str().unwrap()]).code, 0);
    let shells = ["bash", "elvish", "fish", "powershell", "zsh"];
    let scripts = shells.map(|shell| (shell, run(&["completions", shell]).out));
    each_command(&mut |path, _| {
        let name = if path.is_empty() { String::new() } else { format!("-{}", path.replace(' ', "-")) };
        let page = std::fs::read_to_string(pages.join(format!("grammata{name}.1"))).unwrap();
        assert!(page.contains("Exit codes"), "{path}");
        for (shell, script) in &scripts {
            words(path).for_each(|word| assert!(script.contains(word), "{shell}: {path}"));
        }
    });
    for (shell, script) in &scripts {
        assert!(script.contains("output-format"), "{shell}");
    }
}

#[test]
fn values_are_in_kebab_case() {
    each_command(&mut |path, command| {
        for argument in command.get_arguments() {
            for value in argument.get_possible_values() {
                let name = value.get_name();
                let is_kebab = name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-');
                assert!(is_kebab, "{path}: {}: {name}", argument.get_id());
            }
        }
    });
}

/// Returns the value of an option as the table writes it: its names, in brackets if the value may be left out, or `-`
/// for a switch.
fn value_of(argument: &Arg) -> String {
    if !matches!(argument.get_action(), ArgAction::Set | ArgAction::Append) {
        return "-".to_owned();
    }
    let names = argument.get_value_names().unwrap_or_default();
    let names = names.iter().map(|name| name.to_string()).collect::<Vec<_>>().join(" ");
    let is_optional = argument.get_num_args().is_some_and(|range| range.min_values() == 0);
    if is_optional { format!("[{names}]") } else { names }
}

#[test]
fn a_flag_means_the_same_in_all_commands() {
    let rows = FLAGS.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
    let mut table: BTreeMap<&str, (&str, bool)> = BTreeMap::new();
    let mut worded: BTreeSet<&str> = BTreeSet::new();
    for row in rows {
        let columns: Vec<&str> = row.split('|').map(str::trim).collect();
        let [flag, value, meaning] = columns[..] else { panic!("{row}") };
        let (flag, is_worded) = flag.strip_suffix('*').map_or((flag, false), |flag| (flag, true));
        is_worded.then(|| worded.insert(flag));
        assert!(!meaning.is_empty() && table.insert(flag, (value, false)).is_none(), "{row}");
    }
    let mut wrong = Vec::new();
    let mut wordings: BTreeMap<String, BTreeMap<String, String>> = BTreeMap::new();
    let mut values: BTreeMap<String, (String, Vec<String>)> = BTreeMap::new();
    each_command(&mut |path, command| {
        for argument in command.get_arguments().filter(|argument| !argument.is_positional()) {
            let long = argument.get_long().map(|long| format!("--{long}"));
            let flag = long.unwrap_or_else(|| format!("-{}", argument.get_short().unwrap()));
            let value = value_of(argument);
            match table.get_mut(flag.as_str()) {
                Some((known, is_seen)) if *known == value => *is_seen = true,
                Some((known, _)) => {
                    wrong.push(format!("{path}: {flag} takes `{value}`, and elsewhere `{known}`"))
                }
                None => wrong.push(format!("{path}: {flag} | {value} | {:?}", argument.get_help())),
            }
            let help = argument.get_help().map(ToString::to_string).unwrap_or_default();
            wordings.entry(flag.clone()).or_default().entry(help).or_insert_with(|| path.to_owned());
            let possible: Vec<String> =
                argument.get_possible_values().iter().map(|value| value.get_name().to_owned()).collect();
            let (first, known) =
                values.entry(flag.clone()).or_insert_with(|| (path.to_owned(), possible.clone()));
            if !known.is_empty() && !possible.is_empty() && possible[0] != known[0] {
                wrong.push(format!("{flag}: {possible:?} in `{path}`, {known:?} in `{first}`"));
            }
        }
    });
    for (flag, wordings) in wordings {
        if (wordings.len() > 1) != worded.contains(flag.as_str()) {
            wrong.push(format!("{flag} is worded as {wordings:#?}: is it one meaning?"));
        }
    }
    let unused =
        table.iter().filter(|(_, (_, is_seen))| !is_seen).map(|(flag, _)| format!("{flag} is no flag"));
    wrong.extend(unused);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
