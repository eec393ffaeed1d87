//! `grammata guard`: the kind of the file decides which rules are used.
#![cfg(unix)]

use crate::cli::{refused, run_with};
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
