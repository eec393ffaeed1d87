//! Reading the tools of a server without a client, and what the guard will do with them.
#![cfg(unix)]

use crate::parts;
use grammata_agents::procedures::Mode;
use grammata_guard::proxy::Server;
use grammata_guard::rules::ProcedureOptions;
use grammata_guard::{Guard, Inspected, Options, inspect};
use serde_json::{Value, json};
use std::process::Command;
use std::time::{Duration, Instant};

/// Reads the tools of a server that is a script of `sh`.
fn read(script: &str) -> Result<Inspected, grammata::Error> {
    let mut command = Command::new("sh");
    inspect(Server::Command(command.args(["-c", script])), Duration::from_secs(2), 100_000)
}

/// Returns a script that answers `initialize` with `begun`, and then each of its next requests with one of `answers`.
/// The ids of the requests are 1, 2 and so on.
fn script(begun: &Value, answers: &[Value]) -> String {
    let line = |id: usize, answer: &Value| {
        let name = if answer.get("code").is_some() { "error" } else { "result" };
        format!("echo '{}'", json!({ "jsonrpc": "2.0", "id": id, name: answer }))
    };
    let mut script = format!("read -r a; {}; read -r a; ", line(1, begun));
    for (place, answer) in answers.iter().enumerate() {
        script.push_str(&format!("read -r a; {}; ", line(place + 2, answer)));
    }
    script + "cat > /dev/null"
}

#[test]
fn all_pages_are_read() {
    let begun = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "serverInfo": { "name": "s", "version": "2" } });
    let pages = [
        json!({ "tools": [{ "name": "a" }, { "name": "b" }], "nextCursor": "x" }),
        json!({ "tools": [{ "name": "b", "title": "again" }, { "name": "c" }] }),
    ];
    let found = read(&script(&begun, &pages)).unwrap();
    assert_eq!((found.server.as_str(), found.protocol.as_str()), ("s 2", "2025-06-18"));
    let document: Value = serde_json::from_str(&found.text()).unwrap();
    assert_eq!(document, json!({ "tools": [{ "name": "a" }, { "name": "b" }, { "name": "c" }] }));
    // requests of the server are answered while it is read
    let asks = r#"read -r a; echo '{"jsonrpc":"2.0","id":"p","method":"ping"}'; read -r p;
        echo '{"jsonrpc":"2.0","id":7,"method":"roots/list"}'; read -r r;
        echo '{"jsonrpc":"2.0","id":1,"result":{}}'; read -r a; read -r a;
        printf '{"jsonrpc":"2.0","id":2,"result":{"tools":[{"name":"n","a":%s,"b":%s}]}}\n' "$p" "$r"; cat > /dev/null"#;
    let found = read(asks).unwrap();
    let tool = &found.tools()[0];
    assert_eq!((&tool["a"]["id"], &tool["a"]["result"]), (&json!("p"), &json!({})));
    assert_eq!((&tool["b"]["id"], &tool["b"]["error"]["code"]), (&json!(7), &json!(-32601)));
}

#[test]
fn servers_that_cannot_be_read_are_errors_in_time() {
    let endless = json!({ "tools": [], "nextCursor": "x" });
    let refusal = json!({ "code": -32601, "message": "no" });
    for (script, code, found) in [
        ("exit 3".to_owned(), "guard/server-ended", "exit status: 3"),
        ("cat > /dev/null".to_owned(), "guard/silent-server", "no answer in 2 s"),
        ("yes garbage".to_owned(), "guard/silent-server", "no answer in 2 s"),
        (
            "while :; do echo '{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}'; done".to_owned(),
            "guard/silent-server",
            "",
        ),
        ("head -c 30000000 /dev/zero; cat > /dev/null".to_owned(), "guard/silent-server", ""),
        (script(&refusal, &[]), "guard/initialize", "the error {\"code\":-32601,\"message\":\"no\"}"),
        (script(&json!({}), std::slice::from_ref(&refusal)), "guard/list", "the error"),
        (script(&json!({}), &[json!({ "tools": 3 })]), "guard/list", "without a list"),
        (script(&json!({}), &vec![endless; 5]), "guard/silent-server", ""),
    ] {
        let start = Instant::now();
        let error = read(&script).unwrap_err();
        let text = error.to_string();
        assert!(error.code() == code && text.contains(found), "{script}: {text}");
        assert!(start.elapsed() < Duration::from_secs(8), "{script}: {:?}", start.elapsed());
    }
    let missing =
        inspect(Server::Command(&mut Command::new("grammata-no-such-server")), Duration::from_secs(1), 1_000);
    assert_eq!(missing.unwrap_err().code(), "guard/start");
}

/// A review says of each tool which arguments are checked, and has the errors that a session begins with.
#[test]
fn a_review_says_what_the_guard_will_do() {
    let mut procedure = parts::procedure("taxi_order");
    procedure.open_sources();
    let supervisor = parts::supervisor(&procedure, Mode::Guarded);
    let review = |tools: Value, options: Options| {
        let rules = parts::rules(&procedure, Mode::Guarded, &supervisor, ProcedureOptions::default());
        let mut guard = Guard::new(Box::new(rules), options).unwrap();
        guard.review(&read(&script(&json!({}), &[json!({ "tools": tools })])).unwrap())
    };
    let offer = json!({ "type": "object", "properties": { "offer_id": {}, "note": {} } });
    let price = json!({ "type": "object", "properties": { "pickup": {}, "target": {}, "seats": {} } });
    let mut tools = json!([
        { "name": "price_ride", "inputSchema": price },
        { "name": "take_ride", "inputSchema": offer },
        { "name": "cancel_ride", "inputSchema": offer },
        { "name": "weather", "inputSchema": price },
    ]);
    let map = vec![("order_ride".to_owned(), "take_ride".to_owned())];
    let options = Options { map, ..Options::default() };
    let found = review(tools.clone(), options.clone()).unwrap();
    assert_eq!(found.own, ["guard_say", "guard_decide"]);
    assert_eq!((found.others, found.passes_others), (vec!["weather".to_owned()], false));
    let tool = |place: usize| {
        let tool = &found.tools[place];
        (
            tool.name.as_str(),
            tool.tool.as_str(),
            tool.is_open,
            tool.governed.join(" "),
            tool.ungoverned.join(" "),
        )
    };
    assert_eq!(tool(0), ("price_ride", "price_ride", true, "pickup target seats".to_owned(), String::new()));
    assert_eq!(tool(1), ("order_ride", "take_ride", false, "offer_id".to_owned(), "note".to_owned()));
    assert_eq!(review(tools.clone(), Options::default()).unwrap_err().code(), "guard/missing-tools");
    tools[1]["inputSchema"] = json!({ "additionalProperties": false });
    assert_eq!(review(tools.clone(), options.clone()).unwrap_err().code(), "guard/argument");
    tools[1]["inputSchema"] = offer;
    tools[3]["name"] = "guard_say".into();
    assert_eq!(review(tools, options).unwrap_err().code(), "guard/taken-name");
}
