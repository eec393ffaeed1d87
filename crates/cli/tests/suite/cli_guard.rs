//! `grammata guard`: the kind of the file decides which rules are used.
#![cfg(unix)]

use crate::cli::{refused, run, run_with};
use serde_json::{Value, json};

/// Returns a server in `sh` that lists these tools and answers everything else with the outcome `known`.
fn server(tools: &[&str]) -> String {
    let tools: Vec<Value> = tools.iter().map(|name| json!({ "name": name })).collect();
    format!(
        r#"while read -r line; do
             id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
             case "$line" in
               *'"tools/list"'*) echo '{{"jsonrpc":"2.0","id":'$id',"result":{{"tools":{}}}}}';;
               *) echo '{{"jsonrpc":"2.0","id":'$id',"result":{{"structuredContent":{{"outcome":"known"}}}}}}';;
             esac
           done"#,
        json!(tools)
    )
}

/// Returns the names of the tools that the guard lists at the beginning of a session.
fn open(rules: &str, tools: &[&str]) -> Vec<String> {
    let list = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" });
    let run = run_with(
        &["guard", rules, "--open-arguments", "--", "sh", "-c", &server(tools)],
        &format!("{list}\n"),
    );
    assert_eq!(run.code, 0, "{}", run.err);
    let answer: Value = serde_json::from_str(run.out.lines().next().unwrap()).unwrap();
    let tools = answer["result"]["tools"].as_array().unwrap_or_else(|| panic!("{answer}"));
    tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn the_file_decides_the_rules() {
    let banking = [
        "InitSystem",
        "Start",
        "GetCustomerIncome",
        "GetDateOfBirth",
        "CheckEligibility",
        "GetAccountTypes",
        "Confirm",
        "OpenAccount",
        "RecordIssue",
        "NotifyComplaintDepartment",
        "GetTransactionInformation",
        "ValidateTransaction",
        "CancelTransaction",
    ];
    let service = ["identify", "check_policy", "refund", "replace", "hand_over", "close"];
    let folder = tempfile::tempdir().unwrap();
    let tools = folder.path().join("tools.json");
    let list = json!({ "tools": [{ "name": "feed", "inputSchema": { "type": "object" } }] });
    std::fs::write(&tools, list.to_string()).unwrap();
    // the answers of a server as they are, one for each page
    let answers = folder.path().join("answers.json");
    let page = |name: &str| {
        let tool = json!({ "name": name, "inputSchema": { "type": "object" } });
        json!({ "jsonrpc": "2.0", "id": 1, "result": { "tools": [tool], "nextCursor": "2" } })
    };
    std::fs::write(&answers, format!("{}\n{}\n", page("feed"), page("walk"))).unwrap();
    for (rules, tools, expected) in [
        ("grammars/flows/banking.toml", &banking[..], &["InitSystem"][..]),
        ("grammars/customer-service", &service, &["identify"]),
        ("grammars/customer-service/spec.toml", &service, &["identify"]),
        (
            "grammars/procedures/taxi_order.yaml",
            &["price_ride", "order_ride", "cancel_ride"],
            &["price_ride", "guard_say"],
        ),
        (tools.to_str().unwrap(), &["feed", "other"], &["feed"]),
        ("examples/guard/wishes.toml", &service, &["identify", "check_policy", "refund", "replace", "close"]),
        (answers.to_str().unwrap(), &["feed", "other", "walk"], &["feed", "walk"]),
    ] {
        assert_eq!(open(rules, tools), expected, "{rules}");
    }
}

#[test]
fn slots_and_names_that_nobody_reads_need_options() {
    let taxi = "grammars/procedures/taxi_order.yaml";
    let server = server(&["price_ride", "order_ride", "cancel_ride"]);
    let list = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": { "new": 1 } });
    let other = json!({ "jsonrpc": "2.0", "id": 2, "method": "new/method" });
    let open = ["--open-arguments", "--allow-members", "new", "--allow-methods", "new/method"];
    for (options, code, errors) in
        [(&[][..], 2, 2), (&open[..1], 0, 2), (&open[..3], 0, 1), (&open[..], 0, 0)]
    {
        let arguments = [&["guard", taxi], options, &["--", "sh", "-c", &server]].concat();
        let call = json!({ "jsonrpc": "2.0", "id": 3, "method": "tools/list" });
        let run = run_with(&arguments, &format!("{list}\n{other}\n{call}\n"));
        assert_eq!(run.code, code, "{options:?} {}", run.err);
        assert_eq!(run.err.contains("error[guard/argument]"), code == 2, "{}", run.err);
        let refused = run.out.lines().filter(|line| line.contains("the guard's option")).count();
        assert_eq!(refused, errors, "{options:?} {}", run.out);
    }
}

#[test]
fn what_cannot_be_guarded_is_refused() {
    let taxi = "grammars/procedures/taxi_order.yaml";
    for (code, arguments) in [
        ("guard/url", &["guard", taxi, "--http", "ftp://x"][..]),
        (
            "cli/no-key",
            &["guard", taxi, "--http", "http://127.0.0.1:9/mcp", "--http-key-env", "GRAMMATA_NO_SUCH"],
        ),
        ("cli/guard-option", &["guard", "examples/guard/wishes.toml", "--ask", "agent", "--", "true"]),
        ("cli/guard-option", &["guard", "examples/guard/wishes.toml", "--allow-others", "--", "true"]),
        ("guard/method", &["guard", taxi, "--allow-methods", "Tools/Call", "--", "true"]),
        ("guard/public", &["guard", taxi, "--listen", "0.0.0.0:0", "--", "true"]),
        ("cli/guard-option", &["guard", "grammars/customer-service", "--user-words", "--", "true"]),
    ] {
        refused(code, arguments);
    }
}

/// The command of the simulated server with notes.
const NOTES: [&str; 4] = ["--", "python3", "examples/guard/simulated_server.py", "examples/guard/notes.json"];

fn with_notes<'a>(arguments: &[&'a str]) -> Vec<&'a str> {
    arguments.iter().copied().chain(NOTES).collect()
}

/// The list of a server is read like a document, saved as one, and makes a procedure that the guard takes as it is.
#[test]
fn a_server_makes_a_procedure_that_guards_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (saved, drafted) = (path("notes.json"), path("notes.yaml"));
    let listed = run(&with_notes(&["tools", "list", "--save", &saved]));
    assert_eq!(listed.code, 0, "{}", listed.err);
    assert_eq!(listed.out, "read-note(title)\nreplace-note(title, text)\nsearch-notes(word, limit?)\n");
    assert_eq!(run(&["tools", "list", &saved]).out, listed.out);
    assert_eq!(run(&with_notes(&["tools", "check"])).code, 0);

    let new = run(&with_notes(&["procedure", "new", "--name", "notes", "-o", &drafted]));
    assert_eq!((new.code, new.out.as_str()), (0, ""), "{}", new.err);
    let text = std::fs::read_to_string(&drafted).unwrap();
    assert_eq!(run(&["procedure", "new", "--name", "notes", &saved]).out, text);
    assert_eq!(run(&["procedure", "check", &drafted]).code, 0);
    // a file is not overwritten
    assert_eq!(run(&with_notes(&["procedure", "new", "-o", &drafted])).code, 2);

    let checked = run(&with_notes(&["guard", &drafted, "--check"]));
    assert_eq!(checked.code, 0, "{}", checked.err);
    assert!(
        checked.out.contains("search-notes (search_notes in the rules): open at the start\n"),
        "{}",
        checked.out
    );
    let call = |tool: &str, arguments: Value| {
        let params = json!({ "name": tool, "arguments": arguments });
        let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
        let ran = run_with(&with_notes(&["guard", &drafted]), &format!("{call}\n"));
        serde_json::from_str::<Value>(ran.out.lines().next().unwrap()).unwrap()["result"].clone()
    };
    assert_eq!(
        call("search-notes", json!({ "word": "a" }))["structuredContent"],
        json!({ "titles": ["shopping"] })
    );
    assert_eq!(call("search-notes", json!({ "word": 3 }))["isError"], true);

    // with a precondition the same call is refused
    let narrowed = text.replacen("precondition: []", "precondition: [replace_note]", 1);
    std::fs::write(&drafted, narrowed).unwrap();
    let refusal = call("read-note", json!({ "title": "shopping" }))["content"][0]["text"].to_string();
    assert!(refusal.contains("read-note: precondition replace-note: it must come before"), "{refusal}");
}

#[test]
fn a_check_ends_with_the_error_of_a_session() {
    let folder = tempfile::tempdir().unwrap();
    let rules = folder.path().join("rules.yaml");
    let check = |text: &str| {
        std::fs::write(&rules, text).unwrap();
        run(&with_notes(&["guard", "--check", rules.to_str().unwrap()]))
    };
    let text = "Name: n\nAPIs:\n  - {name: find, tool: search-notes, request: [word]}\nANSWERs:\n  - {name: agreed_upon, desc: 'Is it right?', precondition: [find]}\nProcedure: |\n  API.find([word])\n  [agreed] = ANSWER.agreed_upon()\n";
    let right = check(text);
    assert_eq!(right.code, 0, "{}", right.err);
    assert_eq!(
        right.out,
        "server: simulation 1, 3 tools, protocol 2025-11-25\n\
         search-notes (find in the rules): open at the start\n  arguments checked: word\n  passed on unchecked: limit\n\
         tools of the guard: guard_say, guard_decide\n\
         decided by the user, whom the guard asks through the client, after agreed_upon: agreed\n\
         other tools, hidden from the client: read-note, replace-note\n"
    );
    for (ask, expected) in [
        (
            "agent",
            "decided by the user, as the agent reports with guard_decide; the guard cannot check it, after agreed_upon",
        ),
        ("refuse", "never decided (`--ask refuse`), after agreed_upon: agreed\n"),
    ] {
        let checked = run(&with_notes(&["guard", "--check", "--ask", ask, rules.to_str().unwrap()]));
        assert!(checked.code == 0 && checked.out.contains(expected), "{}{}", checked.out, checked.err);
    }
    let wrong = check(&text.replace("tool: search-notes", "tool: search"));
    assert_eq!((wrong.code, wrong.out.as_str()), (2, ""));
    assert!(wrong.err.contains("guard/missing-tools") && wrong.err.contains("search-notes"), "{}", wrong.err);
    let json = run(&with_notes(&["guard", "--check", rules.to_str().unwrap(), "--output-format", "json"]));
    let report: Value = serde_json::from_str(&json.out).unwrap();
    assert_eq!(
        (&report["exit_code"], &report["diagnostics"][0]["code"]),
        (&json!(2), &json!("guard/missing-tools"))
    );
}

#[test]
fn servers_that_cannot_be_listed_are_errors() {
    for (code, arguments) in [
        ("guard/start", &["tools", "list", "--", "grammata-no-such-server"][..]),
        ("guard/server-ended", &["tools", "list", "--", "false"]),
        ("guard/silent-server", &["procedure", "new", "--deadline", "0.3", "--", "sleep", "20"]),
        ("guard/url", &["tools", "check", "--http", "ftp://x"]),
    ] {
        refused(code, arguments);
    }
    let neither = run(&["tools", "list"]);
    assert!(neither.code == 2 && neither.err.contains("FILE"), "{}", neither.err);
}

/// Wishes are checked with the tools of the server: names that it lacks are errors.
#[test]
fn wishes_are_checked() {
    let folder = tempfile::tempdir().unwrap();
    let rules = folder.path().join("wishes.toml");
    let check = |text: &str| {
        std::fs::write(&rules, text).unwrap();
        run(&with_notes(&["guard", "--check", rules.to_str().unwrap()]))
    };
    let text = "rest = \"pass\"\nhide = [\"search-*\"]\nask = [\"replace-note\"]\n[[limit]]\ncalls = 2\nper = \"hour\"\neach = true\n";
    let right = check(text);
    assert_eq!(right.code, 0, "{}", right.err);
    assert_eq!(
        right.out,
        "server: simulation 1, 3 tools, protocol 2025-11-25\n\
         read-note: open at the start\n  passed on unchecked: title\n\
         replace-note: open at the start\n  passed on unchecked: title, text\n\
         hidden: search-notes\n\
         the user is asked before each call: replace-note\n\
         at most 2 per hour for each tool: read-note, replace-note, search-notes\n"
    );
    let wrong = check(&text.replace("replace-note", "remove-note"));
    assert!(wrong.code == 2 && wrong.err.contains("guard/unused-wish"), "{}", wrong.err);
}

/// A simulation without `--user` lists its users.
#[test]
fn users_of_a_simulation_are_listed() {
    let simulation = "grammars/procedures/simulations/taxi_order.json";
    let text = std::fs::read_to_string(format!("{}/../../{simulation}", env!("CARGO_MANIFEST_DIR"))).unwrap();
    let users: Value = serde_json::from_str(&text).unwrap();
    let first = users["users"][0]["id"].as_str().unwrap().to_owned();
    let ran = run(&["procedure", "run", "grammars/procedures/taxi_order.yaml", "--simulation", simulation]);
    assert!(ran.err.contains("cli/needs-agent") && ran.err.contains(&first), "{}", ran.err);
}
