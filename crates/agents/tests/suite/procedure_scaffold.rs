//! Drafts of procedures from the tools of servers.

use grammata::Limits;
use grammata_agents::procedures::{Format, Mode, NodeKind, Procedure, Session, Severity, check, scaffold};
use grammata_agents::tools::{Document, ReadOptions, read};
use serde_json::{Value, json};

fn draft(tools: &Value) -> String {
    let text = json!({ "tools": tools }).to_string();
    let options = ReadOptions::default().responses(true).open_objects(true);
    let set = read([Document { label: "s", text: &text }], &options).unwrap();
    scaffold("draft", &set, &Limits::default())
}

/// Reads a draft, which must have neither errors nor warnings.
fn procedure(tools: &Value) -> Procedure {
    let text = draft(tools);
    let report = check(&text, Format::Yaml, &Limits::default()).unwrap();
    let findings = report.findings.iter().filter(|finding| finding.severity != Severity::Note);
    let findings: Vec<String> = findings.map(|finding| finding.diagnostic.to_string()).collect();
    assert!(findings.is_empty(), "{findings:?}\n{text}");
    Procedure::read(&text, Format::Yaml, &Limits::default()).unwrap()
}

fn tool(name: &str, schema: Value) -> Value {
    json!({ "name": name, "description": "Does: \"it\"\nand more", "inputSchema": schema })
}

fn object(properties: Value, required: Value) -> Value {
    json!({ "type": "object", "properties": properties, "required": required })
}

#[test]
fn a_draft_has_the_tools_and_their_arguments() {
    let text = json!({ "type": "string", "description": "a path" });
    let mut read =
        tool("read-file", object(json!({ "path": text, "head": { "type": "integer" } }), json!(["path"])));
    read["outputSchema"] =
        object(json!({ "content": text, "path": text, "error": text, "a b": text }), json!([]));
    let tools = json!([
        read,
        tool(
            "write_file",
            object(json!({ "path": text, "content": text, "head": text }), json!(["path", "content"]))
        ),
        tool("list", json!({ "type": "object" })),
    ]);
    assert_eq!(
        draft(&tools),
        r#"# A draft from the tools of a server: every call is allowed at any time. Say what must come before a call in
# its `precondition`, and when it may come in the conditions of the text at the end (docs/procedures.md).
Name: "draft"
SLOTs:
  - name: path
    desc: "a path"
    schema: {"type":"string"}
  - name: head
    schema: {"type":"integer"}
  - name: content
    desc: "a path"
    schema: {"type":"string"}
  - name: write_file_head
    desc: "a path"
    schema: {"type":"string"}
  - name: read_file_content
    desc: "a path"
  - name: a_b
    desc: "a path"
APIs:
  - name: read_file
    tool: "read-file"
    desc: "Does: \"it\""
    request: [path, head]
    optional: [head]
    response: {read_file_content: "content", a_b: "a b"}
    precondition: []  # what must have succeeded before: [NAME!ok]; been answered: [NAME]
    repeat: true
  - name: write_file
    tool: "write_file"
    desc: "Does: \"it\""
    request: {path: "path", content: "content", write_file_head: "head"}
    optional: [write_file_head]
    precondition: []  # what must have succeeded before: [NAME!ok]; been answered: [NAME]
    repeat: true
  - name: list
    tool: "list"
    desc: "Does: \"it\""
    request: []
    precondition: []  # what must have succeeded before: [NAME!ok]; been answered: [NAME]
    repeat: true
Procedure: |
  while there is something to do:
    if it is time for this step:
      API.read_file([path, head])
    if it is time for this step:
      API.write_file([path, content, write_file_head])
    if it is time for this step:
      API.list([])
"#
    );
    procedure(&tools);
}

/// Tools with odd names, schemas and texts make a procedure that has each of them, bound to its tool, and in which every
/// call is open at any time: at the start, and after each call was answered or has failed.
#[test]
fn odd_tools_make_procedures_that_allow_all() {
    let text = json!({ "type": "string" });
    let recursive = json!({
        "type": "object",
        "properties": { "tree": { "$ref": "#/$defs/tree" } },
        "$defs": { "tree": { "type": "object", "properties": { "left": { "$ref": "#/$defs/tree" } } } },
    });
    let names = object(
        json!({ "a b": text, "a_b": text, "a-b": text, "1": text, "ä": text, "true": text }),
        json!(["a-b", "1"]),
    );
    let mut tools = vec![
        tool("get sum", names),
        tool("get_sum", object(json!({ "a b": { "type": "integer" } }), json!(["a b"]))),
        tool("get-sum", json!({ "type": "object", "additionalProperties": true })),
        tool("if", object(json!({ "error": text }), json!(["error"]))),
        tool("API", object(json!({ "x": { "enum": ["y: z", "# no", "\u{85}\u{2028}\u{7f}"] } }), json!([]))),
        tool("12", recursive),
        tool(
            "日本",
            object(json!({ "x": { "type": "string", "pattern": "^(?=a)" }, "y": { "not": {} } }), json!([])),
        ),
        tool(&"long".repeat(100), object(json!({ "x": { "anyOf": [text, { "type": "null" }] } }), json!([]))),
        json!({ "name": "plain", "inputSchema": { "type": "object" } }),
        json!({ "name": "wrong", "inputSchema": { "type": "string" } }),
        json!({ "name": "combined", "inputSchema": {
            "type": "object", "properties": { "x": text, "z": text }, "anyOf": [{ "required": ["x"] }, { "required": ["z"] }],
        } }),
        json!({ "name": "o", "inputSchema": { "type": "object" }, "outputSchema": { "type": "object", "properties": {
            "if": text, "a b": text, "error": text, "x": { "type": "integer" }, "\"": text,
        } } }),
    ];
    for word in [
        "while", "return", "pass", "null", "yes", "try", "in", "not", "ANSWER", "#", "a.json", ": ", "- x",
        "{a}", "'",
    ] {
        tools.push(tool(word, object(json!({ word: text }), json!([word]))));
    }
    let tools = Value::from(tools);
    let procedure = procedure(&tools);
    let bound: Vec<&str> =
        procedure.nodes().iter().map(|node| node.tool.as_ref().unwrap().tool.name.as_str()).collect();
    // the names of these two would be read as those of documents
    let is_there = |tool: &&Value| !matches!(tool["name"].as_str(), Some("#" | "a.json"));
    let listed: Vec<&Value> = tools.as_array().unwrap().iter().filter(is_there).collect();
    let names: Vec<&str> = listed.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(bound, names);
    for (node, tool) in procedure.nodes().iter().zip(listed) {
        // each argument of a slot is one of the tool, and each tool with plain arguments has them all
        let known = tool["inputSchema"]["properties"].as_object();
        let of_slots = &node.tool.as_ref().unwrap().parameters;
        assert!(
            of_slots.iter().all(|(_, name)| known.is_some_and(|known| known.contains_key(name))),
            "{of_slots:?}"
        );
        let is_plain = known.is_some_and(|known| known.values().all(|schema| *schema == text));
        assert!(!is_plain || of_slots.len() == known.unwrap().len(), "{}: {of_slots:?}", node.name);
    }
    for mode in [Mode::Graph, Mode::Guarded, Mode::Strict] {
        let mut session = Session::new(&procedure, mode);
        let all: Vec<usize> = (0..procedure.nodes().len()).collect();
        assert_eq!(session.open(), all, "{mode:?}");
        let results = [json!({}), json!({ "error": "no" })];
        // in the mode `strict` an error that the text does not catch ends the session
        for result in results.iter().take(if mode == Mode::Strict { 1 } else { 2 }) {
            for &api in &all {
                assert_eq!(procedure.nodes()[api].kind, NodeKind::Api);
                let node = &procedure.nodes()[api];
                // calls that share a slot may have other values of it, each of the slot's type; a call may be repeated
                for _ in 0..2 {
                    let called = [json!(format!("{api} {result}")), json!(api)].into_iter().any(|value| {
                        let required = node.request.iter().filter(|slot| !node.optional.contains(slot));
                        let arguments = required.map(|slot| (slot.clone(), value.clone())).collect();
                        session.call(api, arguments, true).is_none()
                    });
                    assert!(called, "{mode:?} {}", node.name);
                    session.result(result.as_object().unwrap());
                    assert_eq!(session.open(), all, "{mode:?} after {api} {result}");
                }
            }
        }
    }
}

/// Without `repeat`, a call with the same arguments is not repeated.
#[test]
fn calls_are_repeated_only_if_the_api_says_so() {
    for (repeat, expected) in
        [("", Some("again")), (", repeat: false", Some("again")), (", repeat: true", None)]
    {
        let text = format!(
            "Name: n\nAPIs:\n  - {{name: read, request: [path]{repeat}}}\nProcedure: |\n  while there is more:\n    API.read([path])\n"
        );
        let procedure = Procedure::read(&text, Format::Yaml, &Limits::default()).unwrap();
        let mut session = Session::new(&procedure, Mode::Guarded);
        let mut call = |path: &str| {
            let arguments = json!({ "path": path }).as_object().unwrap().clone();
            let obstacle = session.call(0, arguments, true).map(|obstacle| obstacle.to_string());
            session.result(json!({}).as_object().unwrap());
            obstacle
        };
        assert_eq!(call("a"), None);
        assert_eq!(call("a").as_deref(), expected, "{repeat}");
        assert_eq!(call("b"), None);
    }
}

#[test]
fn a_server_without_tools_makes_a_procedure() {
    assert!(procedure(&json!([])).nodes().is_empty());
}
