//! Names: the tools that a procedure binds, and the texts for the client, which use the server's names.

use crate::parts::{self, Bench, call, response, structured};
use grammata::Limits;
use grammata_agents::procedures::{Format, Mode, Procedure};
use grammata_guard::Options;
use grammata_guard::rules::ProcedureOptions;
use serde_json::{Value, json};

/// A procedure whose APIs are tools with other names, and whose slots are arguments with other names.
const BOUND: &str = "
Name: files
APIs:
  - {name: read, tool: read-file, request: {file: path}, response: {size: bytes}}
  - {name: write, tool: write-file, request: {file: path, text: content}, precondition: [read, agree]}
  - {name: erase, tool: erase-file, request: {file: path}, precondition: [write]}
ANSWERs:
  - {name: agree, desc: 'May I write $size bytes?', precondition: [read]}
Procedure: |
  [size] = API.read([file])
  ANSWER.agree()
  API.write([file, text])
";

fn tools() -> Value {
    let tool = |name: &str, properties: Value| json!({ "name": name, "inputSchema": { "type": "object", "properties": properties } });
    let text = json!({ "type": "string" });
    json!([
        tool("read-file", json!({ "path": text, "head": text })),
        tool("write-file", json!({ "path": text, "content": text })),
        tool("erase-file", json!({ "path": text })),
    ])
}

fn bench(text: &str, tools: Value, options: Options, test: impl FnOnce(&mut Bench<'_>)) {
    let mut procedure = Procedure::read(text, Format::Yaml, &Limits::default()).unwrap();
    procedure.open_sources();
    let supervisor = parts::supervisor(&procedure, Mode::Guarded);
    let rules = parts::rules(&procedure, Mode::Guarded, &supervisor, ProcedureOptions::default());
    let mut bench = Bench::new(rules, options);
    bench.begin(tools);
    test(&mut bench);
}

impl Bench<'_> {
    /// Calls a tool that the guard must refuse. Returns the text of the refusal.
    fn refused(&mut self, tool: &str, arguments: Value) -> String {
        self.client(call(1, tool, arguments));
        assert!(self.take_for_server().is_empty());
        let answer = &self.take_for_client()[0]["result"];
        assert_eq!(answer["isError"], true, "{answer}");
        answer["content"][0]["text"].as_str().unwrap().to_owned()
    }

    /// Calls a tool that the guard must pass on as it is, and answers with the data.
    fn passed(&mut self, tool: &str, arguments: Value, data: Value) {
        self.client(call(2, tool, arguments.clone()));
        let sent = self.take_for_server();
        assert_eq!(sent[0]["params"], json!({ "name": tool, "arguments": arguments }));
        self.server(response(&sent[0]["id"], structured(data.as_object().unwrap())));
        self.take_for_client();
    }
}

#[test]
fn a_procedure_binds_tools_and_arguments() {
    bench(BOUND, tools(), Options::default(), |bench| {
        assert!(bench.stopped.is_none(), "{:?}", bench.stopped);
        let text = bench.refused("write-file", json!({ "path": "a", "content": "x" }));
        assert_eq!(
            text,
            "Not carried out: write-file: precondition read-file: it must come before\nOpen now: read-file."
        );
        let text = bench.refused("read-file", json!({ "file": "a" }));
        assert!(text.contains("argument file: the tool calls it path"), "{text}");
        let text = bench.refused("read-file", json!({}));
        assert!(text.contains("argument path: it is missing"), "{text}");
        // the tool has the name of no API
        assert!(bench.refused("read", json!({ "path": "a" })).contains("unknown: the rules have no tool"));

        bench.passed("read-file", json!({ "path": "a", "head": "9" }), json!({ "bytes": 7, "other": 1 }));
        assert_eq!(
            bench.log[bench.log.len() - 2..],
            [json!(["call", "read", { "file": "a" }, { "head": "9" }]), json!(["result", { "size": 7 }]),]
        );
        let text = bench.refused("write-file", json!({ "path": "a", "content": "x" }));
        assert!(text.contains("precondition agree: tell it before, with guard_say\n"), "{text}");
        bench.client(call(3, "guard_say", json!({ "answer": "agree" })));
        assert!(bench.take_for_client().iter().any(|got| got.to_string().contains("May I write 7 bytes?")));

        let stale =
            "stale path: it must be \"a\", which read-file had; or call read-file with the other value first";
        let text = bench.refused("write-file", json!({ "path": "b", "content": "x" }));
        assert!(text.contains(stale), "{text}");
        bench.client(parts::request(4, "tools/list", json!({})));
        let listed = bench.take_for_client();
        let write =
            listed[0]["result"]["tools"].as_array().unwrap().iter().find(|tool| tool["name"] == "write-file");
        let schema = &write.unwrap()["inputSchema"];
        assert_eq!(schema["properties"]["path"], json!({ "type": "string", "const": "a" }));
        assert_eq!(schema["required"], json!(["path", "content"]));
        bench.passed("write-file", json!({ "path": "a", "content": "x" }), json!({}));
    });
}

#[test]
fn a_map_takes_precedence_over_bound_tools() {
    let options = Options { map: vec![("erase".to_owned(), "remove".to_owned())], ..Options::default() };
    let mut listed = tools();
    listed[2]["name"] = "remove".into();
    bench(BOUND, listed, options, |bench| {
        assert!(bench.stopped.is_none(), "{:?}", bench.stopped);
        assert!(bench.refused("remove", json!({ "path": "a" })).contains("remove: precondition write-file"));
    });
    bench(BOUND, json!([{ "name": "read-file" }]), Options::default(), |bench| {
        let error = bench.stopped.take().unwrap();
        assert_eq!(error.code(), "guard/missing-tools");
        assert_eq!(
            error.diagnostic().found_text(),
            Some("`write-file` (for `write`), `erase-file` (for `erase`)")
        );
    });
}

/// A member of a result that has the name of a slot is not this slot, if the slot is another member.
#[test]
fn slots_of_a_response_are_its_members() {
    const SWAPPED: &str = "
Name: swapped
APIs:
  - {name: read, tool: read-file, request: {file: path}, response: {size: bytes, bytes: size, owner: /by/name}}
Procedure: |
  while there is something to do:
    API.read([file])
";
    for (data, expected) in [
        (json!({ "size": 1, "bytes": 2 }), json!({ "size": 2, "bytes": 1 })),
        (json!({ "size": 1, "owner": "a" }), json!({ "bytes": 1 })),
        (json!({ "owner": "a", "by": { "name": "b" }, "file": "c" }), json!({ "owner": "b" })),
        (json!({ "error": "none", "by": 3 }), json!({ "error": "none" })),
    ] {
        bench(SWAPPED, tools(), Options::default(), |bench| {
            bench.passed("read-file", json!({ "path": "a" }), data.clone());
            assert_eq!(bench.log.last().unwrap(), &json!(["result", expected]), "{data}");
        });
    }
}

/// The tools of the filesystem server of npm, with one that is blocked: a refusal names the reason first and stays short.
#[test]
fn refusals_are_short() {
    let names = [
        "read_file",
        "read_text_file",
        "read_media_file",
        "read_multiple_files",
        "edit_file",
        "create_directory",
        "list_directory",
        "list_directory_with_sizes",
        "directory_tree",
        "move_file",
        "search_files",
        "get_file_info",
        "list_allowed_directories",
    ];
    let description = "Read the complete contents of a file from the file system. ".repeat(5);
    let apis: String =
        names.iter().map(|name| format!("  - {{name: {name}, desc: '{description}'}}\n")).collect();
    let text = format!(
        "Name: files\nAPIs:\n{apis}  - {{name: write_file, request: [path], precondition: [read_text_file]}}\n\
         Procedure: |\n  API.read_text_file()\n"
    );
    let schema = json!({ "properties": { "path": {} } });
    let tool = |name: &&str| json!({ "name": name, "inputSchema": schema });
    let listed: Vec<Value> = names.iter().chain(&["write_file"]).map(tool).collect();
    bench(&text, listed.into(), Options::default(), |bench| {
        let text = bench.refused("write_file", json!({ "path": "a" }));
        assert!(
            text.starts_with(
                "Not carried out: write_file: precondition read_text_file: it must come before\n"
            ),
            "{text}"
        );
        assert!(
            text.len() < 300 && text.contains("Open now: read_file, ") && text.ends_with(" more."),
            "{text}"
        );
    });
}
