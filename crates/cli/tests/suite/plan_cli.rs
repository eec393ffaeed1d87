//! `grammata plan` as a process: commands that read the output of others, policies, tasks, drawings.

use crate::cli::{refused, run, run_with};
use serde_json::Value;
use std::path::{Path, PathBuf};

const RANDOM: [&str; 4] = ["--policy", "random", "--seed", "7"];

fn file(folder: &tempfile::TempDir, name: &str, content: &str) -> String {
    let path = folder.path().join(name);
    std::fs::write(&path, content).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn a_plan_that_was_made_is_read_by_other_commands() {
    for (spec, more) in [
        ("grammars/cooking", &[][..]),
        ("grammars/openagi", &["--param", "inputs=image"]),
        ("grammars/daily-plan", &[]),
    ] {
        let command = |words: &[&str], input: &str| {
            let arguments: Vec<&str> = ["plan"].iter().chain(words).chain(more).copied().collect();
            let run = run_with(&arguments, input);
            assert_eq!(run.code, 0, "{arguments:?}\n{}{}", run.out, run.err);
            run.out
        };
        for form in [&["--output-format=json"][..], &[], &["--rendered"]] {
            let made: Vec<&str> = ["run", spec].iter().chain(&RANDOM).chain(form).copied().collect();
            let plan = command(&made, "");
            assert!(command(&["verify", spec, "-"], &plan).starts_with("valid: "), "{plan}");
            assert!(command(&["graph", spec, "--plan", "-"], &plan).starts_with("digraph plan"));
        }
        let listed = command(&["enumerate", spec, "--output-format=json", "--shortest"], "");
        let verified = command(&["verify", spec, "-", "--output-format=json"], &listed);
        let object = |text: &str| serde_json::from_str::<Value>(text).unwrap();
        let (verified, listed) = (object(&verified), object(&listed));
        assert!(
            verified["steps"].is_array() && verified["steps"] == listed["plans"][0]["steps"],
            "{verified}"
        );
    }
}

#[test]
fn files_of_other_kinds_are_no_specs_and_marks_of_byte_order_are_passed_over() {
    let folder = tempfile::tempdir().unwrap();
    for path in ["grammars/json", "grammars/json/grammar.gbnf", "grammars/iso-dates", "grammars/person"] {
        let error = refused("cli/not-a-spec", &["plan", "count", path]);
        assert!(error.contains("grammata count"), "{error}");
    }
    let toml = "[parameters]\nn = { default = 2 }\n# ---\nkind = 'dfa'\nstart = 'a'\naccepting = ['b']\nsymbols = ['x', 'y']\n\
        transitions = [{ from = 'a', input = ['x', 'y'], to = 'b' }]\n";
    let header = file(&folder, "header.toml", &format!("\u{FEFF}{toml}"));
    let spec = r#"{"kind": "cfg", "symbols": ["a"], "start": "s", "rules": {"s": ["a"]}}"#;
    let other = file(&folder, "other.json", &format!("\u{FEFF}{spec}"));
    assert_eq!(run(&["plan", "count", &header]).out, "2\n");
    assert_eq!(run(&["plan", "count", &other]).out, "1\n");
    // the error for broken JSON has a place
    let broken = file(&folder, "broken.json", "{\"kind\": \"cfg\",}");
    refused("automaton-spec/unreadable", &["plan", "count", &broken]);
}

#[test]
fn a_wrong_plan_without_a_nearest_one_is_wrong_all_the_same() {
    let folder = tempfile::tempdir().unwrap();
    // interchangeable actions make few states, but there are many subsets of them to use
    let symbols: Vec<String> = (0..22).map(|n| format!("'s{n}'")).collect();
    let symbols = symbols.join(", ");
    let spec = format!(
        "kind = 'cfg'\nstart = 's'\nsymbols = [{symbols}]\nrules = {{ s = ['x s', ''], x = [{symbols}] }}\n\
         limits = {{ exactly_once = [{symbols}] }}"
    );
    let spec = file(&folder, "spec.toml", &spec);
    let plan = file(&folder, "plan", "nothing\n");
    let found = run(&["plan", "verify", &spec, &plan]);
    assert_eq!(found.code, 1, "{}{}", found.out, found.err);
    assert!(found.out.starts_with("wrong at step 1\n"), "{}", found.out);
    assert!(
        found.err.starts_with("warning[plan/budget-exhausted] the nearest plan was not found"),
        "{}",
        found.err
    );
}

const OPENAGI: [&str; 5] = ["plan", "run", "grammars/openagi", "--tasks", "grammars/openagi/tasks.jsonl"];

#[test]
fn tasks_are_chosen_by_numbers_and_ranges() {
    let only = |only: &str| {
        let run = run(&OPENAGI.iter().chain(&["--quiet", "--only", only]).copied().collect::<Vec<_>>());
        let numbers = run.out.lines().filter_map(|line| line.split(':').next()).map(str::to_owned);
        (run.code, numbers.collect::<Vec<_>>().join(" "), run.err)
    };
    assert_eq!(only("0-2,7").1, "0 1 2 7");
    assert_eq!(only("184").1, "184");
    assert!(only("3-9999999999").2.contains("cli/no-such-task"));
    for wrong in ["x", "2-", "5-3"] {
        let (code, _, error) = only(wrong);
        assert!(code == 2 && error.contains("range"), "{error}");
    }
}

#[test]
fn policy_data_has_a_row_for_each_choice() {
    let folder = tempfile::tempdir().unwrap();
    let rows = |name: &str, more: &[&str]| {
        let path = folder.path().join(name);
        let data = [
            "--reward",
            "grep -o a3 | wc -l",
            "--policy-data",
            path.to_str().unwrap(),
            "--param",
            "inputs=image",
        ];
        let arguments: Vec<&str> =
            ["plan", "run", "grammars/openagi"].iter().chain(&data).chain(more).copied().collect();
        let run = run(&arguments);
        assert_eq!(run.code, 0, "{}", run.err);
        let text = std::fs::read_to_string(&path).unwrap();
        let rows: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert!(!rows.is_empty() && rows.iter().all(|row| row["prompt"].is_string()), "{text}");
        (rows, run.err)
    };
    let (varied, note) = rows("random", &["--policy", "random", "--samples", "6"]);
    assert!(varied.iter().any(|row| row["advantage"].as_f64() > Some(0.0)), "{varied:?}");
    assert!(!note.contains("are the same"), "{note}");
    let (alike, note) = rows("first", &["--samples", "3"]);
    assert!(alike.iter().all(|row| row["advantage"].as_f64() == Some(0.0)), "{alike:?}");
    assert!(note.contains("all 3 plans are the same, so every advantage is 0: --policy random"), "{note}");
    // a beam ranks plans by score
    let (ranked, trace) = rows("beam", &["--strategy", "beam", "--beam-width", "2", "--trace"]);
    assert!(ranked[0]["completion"].is_string(), "{ranked:?}");
    assert!(trace.contains("took "), "{trace}");
}

#[test]
fn rows_say_what_was_chosen_and_how_probable_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rows.jsonl");
    let more =
        ["--policy", "random", "--samples", "4", "--reward", "grep -o a3 | wc -l", "--output-format=json"];
    let data = ["--policy-data", path.to_str().unwrap(), "--param", "inputs=image", "--task", "Restore."];
    let arguments: Vec<&str> =
        ["plan", "run", "grammars/openagi"].iter().chain(&more).chain(&data).copied().collect();
    let found = run(&arguments);
    assert_eq!(found.code, 0, "{}", found.err);
    let lines =
        |text: &str| -> Vec<Value> { text.lines().map(|line| serde_json::from_str(line).unwrap()).collect() };
    let plans = serde_json::from_str::<Value>(&found.out).unwrap()["plans"].as_array().unwrap().clone();
    let rewards: Vec<f64> = plans.iter().map(|plan| plan["reward"].as_f64().unwrap()).collect();
    for (plan, reward) in plans.iter().zip(&rewards) {
        let denoised = plan["steps"].as_array().unwrap().iter().filter(|step| *step == "a3").count();
        assert_eq!(*reward, denoised as f64, "{plan}");
    }
    let mean = rewards.iter().sum::<f64>() / 4.0;
    let rows = lines(&std::fs::read_to_string(&path).unwrap());
    let samples: std::collections::BTreeSet<u64> =
        rows.iter().map(|row| row["sample"].as_u64().unwrap()).collect();
    assert_eq!(samples.into_iter().collect::<Vec<_>>(), [0, 1, 2, 3]);
    for row in &rows {
        let options = row["options"].as_array().unwrap();
        let reward = rewards[row["sample"].as_u64().unwrap() as usize];
        assert_eq!((&row["task"], row["reward"].as_f64()), (&Value::from("Restore."), Some(reward)));
        assert!((row["advantage"].as_f64().unwrap() - (reward - mean)).abs() < 1e-12, "{row}");
        assert!((row["logprob"].as_f64().unwrap() + (options.len() as f64).ln()).abs() < 1e-12, "{row}");
        let number: usize = row["completion"].as_str().unwrap().parse().unwrap();
        assert_eq!(row["chosen"], Value::from(vec![options[number - 1].clone()]));
    }
}

#[test]
fn a_reward_command_reads_the_plan_and_must_write_a_number() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("plan.json");
    let spec =
        ["plan", "run", "grammars/openagi", "--param", "inputs=image", "--output-format=json", "--reward"];
    let rewarded = |command: &str| run(&spec.iter().copied().chain([command]).collect::<Vec<_>>());
    let found = rewarded(&format!("cat > {}; echo 2.5 and more", path.display()));
    let written: Value = serde_json::from_str(&found.out).unwrap();
    let written = &written["plans"][0];
    assert_eq!((found.code, written["reward"].as_f64()), (0, Some(2.5)), "{}", found.err);
    let read: Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
    assert_eq!((&read["steps"], &read["task"]), (&written["steps"], &written["task"]));
    assert!(read["cost"].is_u64(), "{read}");
    let wrong = [
        ("exit 3", "exit status: 3"),
        ("true", "cli/reward"),
        ("echo good", "good"),
        ("echo inf", "inf"),
        ("echo NaN", "NaN"),
        ("echo 1; exit 1", "exit status: 1"),
        ("/no/such/command", "exit status: 127"),
    ];
    for (command, says) in wrong {
        let found = rewarded(command);
        let error =
            found.err.lines().skip_while(|line| !line.starts_with("error")).collect::<Vec<_>>().join("\n");
        assert!(error.starts_with("error[cli/reward]") && error.contains(says), "{command}: {}", found.err);
        assert_ne!(found.code, 0, "{command}");
    }
    let slow = run(&[&["plan", "run", "--deadline", "0.5"], &spec[2..], &["sleep 60"]].concat());
    assert!(
        slow.code == 2 && slow.err.contains("error[cli/reward]") && slow.err.contains("0.5 s"),
        "{}",
        slow.err
    );
}

#[test]
fn a_dialogue_ends_with_its_input() {
    let ask = |input: &str| run_with(&["plan", "run", "grammars/daily-plan", "--policy", "ask"], input);
    let ended = ask("1\n");
    assert_eq!(ended.code, 2);
    assert!(ended.err.contains("error[plan/no-answer] the input ended before question 2"), "{}", ended.err);
    let quit = ask("quit\n");
    assert_eq!(quit.code, 1);
    assert!(quit.err.contains("plan/quit"), "{}", quit.err);
}

#[test]
fn a_task_that_is_missing_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let spec = "kind = 'cfg'\nsymbols = ['a', 'b']\nstart = 's'\nrules = { s = ['a', 'b'] }\n[templates]\ntask = '{{ task }}'";
    let spec = file(&folder, "spec.toml", spec);
    let error = refused("plan/template", &["plan", "run", &spec]);
    assert!(error.contains("--task TEXT") && error.contains("`parameters`"), "{error}");
    assert_eq!(run(&["plan", "run", &spec, "--task", "Go."]).code, 0);
}

// ---- drawings

/// Returns the values of an attribute in an SVG, such as 80 for `width="80"`.
fn numbers(svg: &str, name: &str) -> Vec<f64> {
    let name = format!(" {name}=\"");
    let parts = svg.split(&name).skip(1);
    parts.filter_map(|rest| rest.split('"').next()?.parse().ok()).collect()
}

#[test]
fn drawings_are_portable_and_fill_their_canvas() {
    let folder = tempfile::tempdir().unwrap();
    let plan = file(&folder, "plan", r#"["i", "b3", "i", "a1", "e1"]"#);
    for arguments in [
        &["plan", "graph", "grammars/risk-management", "--max-states", "12"][..],
        &["plan", "graph", "grammars/cooking"],
        &["plan", "graph", "grammars/openagi", "--param", "output=text", "--plan", &plan],
        &["graph", "grammars/iso-dates", "--max-states", "12"],
    ] {
        let arguments: Vec<&str> = arguments.iter().chain(&["--format", "svg"]).copied().collect();
        let found = run(&arguments);
        assert_eq!(found.code, 0, "{}", found.err);
        let svg = found.out;
        // some renderers draw CSS 4 colours, markers and text on paths differently, or not at all
        for risky in
            ["transparent", "context-stroke", "marker", "textPath", "dominant-baseline", "00\"", "ff\""]
        {
            let colour = risky.ends_with('"');
            let is_there = svg.lines().any(|line| match colour {
                true => line.contains("=\"#") && line.split("=\"#").skip(1).any(|c| c.find('"') != Some(6)),
                false => line.contains(risky),
            });
            assert!(!is_there, "{risky}\n{svg}");
        }
        let (width, height) = (numbers(&svg, "width")[0], numbers(&svg, "height")[0]);
        let view: Vec<f64> = svg
            .split("viewBox=\"")
            .nth(1)
            .unwrap()
            .split('"')
            .next()
            .unwrap()
            .split(' ')
            .map(|number| number.parse().unwrap())
            .collect();
        assert!((view[2] - width).abs() <= 1.0 && (view[3] - height).abs() <= 1.0);
        // shapes reach from one side to the other, except for a margin and the space of labels
        let mut xs: Vec<f64> = numbers(&svg, "cx").into_iter().chain(numbers(&svg, "x")).collect();
        let mut ys: Vec<f64> = numbers(&svg, "cy").into_iter().chain(numbers(&svg, "y")).collect();
        for path in svg.split(" d=\"M ").skip(1).map(|rest| rest.split('"').next().unwrap()) {
            let words = path.split([' ', ',', 'C']).filter(|word| !word.is_empty());
            for (place, word) in words.enumerate() {
                let list = if place % 2 == 0 { &mut xs } else { &mut ys };
                list.push(word.parse().unwrap());
            }
        }
        for (positions, from, size) in [(xs, view[0], view[2]), (ys, view[1], view[3])] {
            let least = positions.iter().copied().fold(f64::INFINITY, f64::min);
            let greatest = positions.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            assert!(least >= from && greatest <= from + size, "outside: {least} {greatest} {view:?}");
            assert!(greatest - least + 300.0 >= size, "empty: {least} to {greatest} in {view:?}");
        }
    }
}

// ---- a model

#[cfg(feature = "ort")]
#[test]
fn a_model_varies_its_samples() {
    const MODEL: [&str; 4] = ["--model", "tests/data/tiny-decoder", "--threads", "1"];
    let folder = tempfile::tempdir().unwrap();
    let spec = "kind = 'cfg'\nsymbols = ['a', 'b', 'c', 'd']\nstart = 's'\nrules = { s = ['x x x x'], x = ['a', 'b', 'c', 'd'] }\n\
        [templates]\nprogress = ''\nquestion = '{{ steps | length }}?'";
    let short = file(&folder, "spec.toml", spec);
    let samples = |mode: &str, temperature: &str| {
        let spec = ["plan", "run", &short, "--samples", "4", "--output-format=json"];
        let more = ["--prompt-mode", mode, "--orders", "2", "--temperature", temperature, "--seed", "3"];
        let run = run(&spec.iter().chain(&MODEL).chain(&more).copied().collect::<Vec<_>>());
        assert_eq!(run.code, 0, "{}", run.err);
        let found: Value = serde_json::from_str(&run.out).unwrap();
        let plans = found["plans"].as_array().unwrap().iter().map(|plan| plan["steps"].to_string());
        (plans.collect::<std::collections::BTreeSet<_>>().len(), run.err)
    };
    for mode in ["answer", "likelihood", "text", "open"] {
        let (greedy, note) = samples(mode, "0");
        assert_eq!(greedy, 1, "{mode}");
        assert!(note.contains("all 4 plans are the same: --temperature T"), "{mode}: {note}");
        assert!(samples(mode, "1.5").0 > 1, "{mode}");
        let long = "x".repeat(400);
        let task = ["plan", "run", "grammars/openagi", "--task", &long, "--prompt-mode", mode];
        let found = run(&task.iter().chain(&MODEL).copied().collect::<Vec<_>>());
        assert!(found.err.contains("error[plan/model]"), "{mode}: {}", found.err);
        assert!(found.err.contains("128 tokens, the context of the model"), "{mode}: {}", found.err);
    }
    let found = run(&["plan", "run", &short, "--orders", "0"]);
    assert!(found.err.contains("--orders"), "{}", found.err);
}

#[test]
fn the_commands_of_plans_are_listed() {
    let root = Path::new(crate::ROOT);
    let page = |name: &str| std::fs::read_to_string(PathBuf::from(root).join(name)).unwrap();
    let commands = |help: &str| -> Vec<String> {
        let list = help.split("Commands:\n").nth(1).unwrap().split("\n\n").next().unwrap();
        let names = list.lines().filter_map(|line| line.split_whitespace().next());
        names.filter(|name| *name != "help").map(str::to_owned).collect()
    };
    let (plans, cli) = (page("docs/plans.md"), page("docs/cli.md"));
    for name in commands(&run(&["plan", "--help"]).out) {
        assert!(plans.contains(&format!("\n| `plan {name}` |")), "docs/plans.md lists no `plan {name}`");
    }
    let program = grammata_cli::command();
    for name in program.get_subcommands().map(clap::Command::get_name).filter(|name| *name != "help") {
        let row = cli.lines().any(|line| line.starts_with("| [") && line.contains(&format!("`{name}`")));
        assert!(row, "docs/cli.md lists no `{name}`");
    }
}

#[test]
fn steps_without_a_meaning_are_named_before_the_order_is_judged() {
    let plan = "Wash raw beef slices with water.\nPeel the broccoli.\nThen, we get the cooked broccoli beef.\nSing.\n";
    let verify = |more: &[&str]| {
        let arguments = [&["plan", "verify", "grammars/cooking", "-", "--no-nearest"], more].concat();
        let run = run_with(&arguments, plan);
        assert_eq!(run.code, 1, "{}{}", run.out, run.err);
        run.out
    };
    // in the order of the spec's words, the broccoli comes first
    let strict = verify(&[]);
    assert!(strict.starts_with("wrong at step 1\n") && strict.contains("feasible: "), "{strict}");
    for unknown in ["also no action: step 2, Peel the broccoli.", "also no action: step 3, Sing."] {
        assert!(strict.contains(unknown), "{strict}");
    }
    let expected = "wrong at step 2\n  found: Peel the broccoli. (no action has this name)\n  also no action: step 3, Sing.\n";
    assert_eq!(verify(&["--reordered"]), expected);
    let report: Value = serde_json::from_str(&verify(&["--reordered", "--output-format=json"])).unwrap();
    assert_eq!(report["unknown"], serde_json::json!([2, 3]));
    assert_eq!((&report["step"], &report["feasible"]), (&2.into(), &Value::Null));
    let stream = run_with(
        &["plan", "verify", "grammars/cooking", "-", "--stream", "--reordered"],
        "[\"wash_beef\", \"peel\"]\n",
    );
    assert_eq!((stream.code, stream.out.as_str()), (1, "line 1: wrong at step 2\n"));
}

#[test]
fn a_task_alone_sets_no_parameter() {
    let plan = |more: &[&str]| {
        let task = "Given an image, how to return the caption in German?";
        let run =
            run(&[&["plan", "run", "grammars/openagi", "--policy", "first", "--task", task], more].concat());
        assert_eq!(run.code, 0, "{}", run.err);
        run.err
    };
    let warned = plan(&[]);
    assert!(warned.contains("warning[cli/unset-parameters]") && warned.contains("output=image"), "{warned}");
    assert!(!plan(&["--param", "output=text"]).contains("unset-parameters"));
}
