//! Documents of tools under `tests/cases/tools/read`: their tools, arguments and findings.
//!
//! `UPDATE_DIAGNOSTICS=1` rewrites the `.out` files, whose diff is then to be reviewed.

use grammata::syntax::json_schema;
use grammata::{Limits, Result};
use grammata_agents::tools::{
    Binding, Document, ReadOptions, Tool, ToolSet, is_document, read, restricted_names,
};
use std::fmt::Write;
use std::path::{Path, PathBuf};

pub(crate) fn set(text: &str) -> Result<ToolSet> {
    let mut set = read([Document { label: "doc", text }], &ReadOptions::default())?;
    set.check(&json_schema::Options::default());
    Ok(set)
}

fn show(text: &str) -> String {
    let set = match set(text) {
        Ok(set) => set,
        Err(error) => return format!("{error}\n"),
    };
    let mut shown = String::new();
    for tool in set.tools() {
        let state = if tool.refusal.is_some() { " (not callable)" } else { "" };
        writeln!(shown, "{}{state}: {}", tool.name, tool.arguments).unwrap();
        if let Binding::Http(http) = &tool.binding {
            let server = http.server.as_deref().unwrap_or("(no server)");
            writeln!(shown, "  {} {server}{}", http.method, http.path).unwrap();
            for parameter in &http.parameters {
                let (name, location) = (&parameter.name, parameter.location.name());
                let (style, explode) = (parameter.style, parameter.explode);
                writeln!(
                    shown,
                    "  {} -> {name} in {location}, {style:?}, explode {explode}",
                    parameter.member
                )
                .unwrap();
            }
            if let Some(body) = &http.body {
                writeln!(shown, "  body {:?}, required {}: {:?}", body.media, body.required, body.members)
                    .unwrap();
            }
        }
    }
    for finding in set.findings() {
        let name = finding.tool.map_or("", |tool| &set.tools()[tool].name);
        writeln!(shown, "{:?} {name}{}", finding.severity, finding.diagnostic).unwrap();
    }
    shown
}

fn documents() -> Vec<PathBuf> {
    let folder = Path::new(crate::ROOT).join("tests/cases/tools/read");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> =
        files.filter(|path| path.extension().is_none_or(|end| end != "out")).collect();
    files.sort();
    files
}

#[test]
fn documents_have_the_tools_that_are_pinned() {
    let update = std::env::var_os("UPDATE_DIAGNOSTICS").is_some_and(|value| value == "1");
    let (mut seen, mut wrong) = (0, Vec::new());
    for path in documents() {
        seen += 1;
        let now = show(&std::fs::read_to_string(&path).unwrap());
        let output = PathBuf::from(format!("{}.out", path.display()));
        if update {
            std::fs::write(&output, &now).unwrap();
        } else if std::fs::read_to_string(&output).unwrap_or_default() != now {
            wrong.push(format!("{}\n{now}", path.display()));
        }
    }
    assert!(seen >= 9, "only {seen}");
    assert!(wrong.is_empty(), "{}\nset UPDATE_DIAGNOSTICS=1 to pin anew", wrong.join("\n"));
}

/// Each document that can be read is recognised, and no file of another kind.
#[test]
fn documents_are_recognised() {
    let text = |path: &Path| std::fs::read_to_string(path).unwrap();
    let mut seen = 0;
    for path in documents() {
        let text = text(&path);
        if set(&text).is_ok() {
            seen += 1;
            assert!(is_document(&text) && is_document(&format!("\u{feff}{text}")), "{}", path.display());
        }
    }
    assert!(seen >= 9, "only {seen}");
    for folder in ["grammars/procedures", "grammars/procedures/simulations", "grammars/flows"] {
        for entry in std::fs::read_dir(Path::new(crate::ROOT).join(folder)).unwrap() {
            let path = entry.unwrap().path();
            assert!(path.is_dir() || !is_document(&text(&path)), "{}", path.display());
        }
    }
    let tool = r#"{"name": "f", "inputSchema": {"type": "object"}}"#;
    for (text, expected) in [
        (format!(r#"{{"jsonrpc": "2.0", "id": 1, "result": {{"tools": [{tool}]}}}}"#), true),
        (format!(r#"{{"result": {{"tools": []}}}} {{"result": {{"tools": [{tool}]}}}}"#), true),
        (format!("[{{\"result\": {{\"tools\": [{tool}]}}}}]"), true),
        (tool.to_owned(), true),
        ("def f(a: int):\n  pass\n".to_owned(), true),
        ("openapi: 3.1.0\n".to_owned(), true),
        (r#"{"Name": "n", "APIs": [], "PDL": "x"}"#.to_owned(), false),
        (r#"{"name": "n", "desc": "d", "apis": [], "procedure": "x"}"#.to_owned(), false),
        ("Name: n\nTools: []\nPDL: x\n".to_owned(), false),
        ("{".to_owned(), false),
        ("a: [".to_owned(), false),
        (String::new(), false),
        ("3".to_owned(), false),
    ] {
        assert_eq!(is_document(&text), expected, "{text}");
    }
}

/// A source: its label and the names of its tools.
type Source = (&'static str, &'static [&'static str]);

/// The names of tools from several sources. An exclamation mark marks a tool that cannot be called.
#[test]
fn names_of_several_sources_are_qualified() {
    let cases: [(&[Source], &str); 5] = [
        (&[("a", &["search", "x"]), ("b", &["search"])], "a__search x b__search"),
        (&[("a", &["search"]), ("b", &["search"]), ("c", &["a__search"])], "a__search! b__search a__search!"),
        (&[("a", &["search"]), ("a", &["search"])], "search! search!"),
        (&[("a", &["search", "search", "x"])], "search! search! x"),
        (&[("a", &["getUser"]), ("b", &["getuser"])], "getUser getuser"),
    ];
    for (sources, expected) in cases {
        let texts: Vec<(&str, String)> = sources
            .iter()
            .map(|(label, names)| {
                let tools = names
                    .iter()
                    .map(|name| format!(r#"{{"name": "{name}", "inputSchema": {{"type": "object"}}}}"#));
                (*label, format!("[{}]", tools.collect::<Vec<_>>().join(",")))
            })
            .collect();
        let documents = texts.iter().map(|(label, text)| Document { label, text });
        let set = read(documents, &ReadOptions::default()).unwrap();
        let name = |tool: &Tool| match &tool.refusal {
            Some(reason) => {
                assert_eq!(reason.code(), "tools/name-clash");
                format!("{}!", tool.name)
            }
            None => tool.name.clone(),
        };
        assert_eq!(set.tools().iter().map(name).collect::<Vec<_>>().join(" "), expected);
    }
}

#[test]
fn names_of_a_small_alphabet_stay_different() {
    let long = "x".repeat(60);
    let (one, other) = (format!("{long}-first.name"), format!("{long}-other.name"));
    let names = restricted_names(["a.b", "a_b", "plain", &one, &other], 64);
    assert_eq!(names[2], "plain");
    assert_eq!(names[1], "a_b");
    let different: std::collections::BTreeSet<&String> = names.iter().collect();
    assert_eq!(different.len(), names.len(), "{names:?}");
    assert!(names.iter().all(|name| name.len() <= 64), "{names:?}");
}

#[test]
fn hostile_documents_end_in_errors() {
    let deep = format!("{}{}", r#"{"tools":"#, "[".repeat(200_000));
    assert_eq!(set(&deep).unwrap_err().code(), "limit/exceeded");
    // schemas nested ten thousand deep
    let tree = format!("{}{{}}{}", r#"{"properties":{"a":"#.repeat(10_000), "}}".repeat(10_000));
    let nested = format!(r#"[{{"name":"t","inputSchema":{tree}}}]"#);
    assert_eq!(set(&nested).unwrap_err().code(), "limit/exceeded");
    // a tool of ten megabytes, and a million paths without a tool
    let long = format!(
        r#"[{{"name":"t","description":"{}","inputSchema":{{"type":"object"}}}}]"#,
        "x".repeat(10_000_000)
    );
    assert_eq!(
        set(&long)
            .map_or_else(|error| error.code(), |set| if set.tools().len() == 1 { "fine" } else { "lost" }),
        "fine"
    );
    let paths: Vec<String> = (0..1_000_000).map(|n| format!(r#""/p{n}":{{}}"#)).collect();
    let many = format!(r#"{{"openapi":"3.0.0","paths":{{{}}}}}"#, paths.join(","));
    assert!(["limit/exceeded", "fine"].contains(&set(&many).map_or_else(|error| error.code(), |_| "fine")));
    let yaml = format!("openapi: 3.0.0\npaths: {}", "[".repeat(10_000));
    assert_eq!(set(&yaml).unwrap_err().code(), "tools/syntax");
    let python = format!("def f(a: {}int{}): ...", "list[".repeat(10_000), "]".repeat(10_000));
    assert!(set(&python).unwrap().tools()[0].refusal.is_some());
    // each of 300 operations refers to all 300 schemas, directly or indirectly: read within the budget, or a limit
    let schemas: Vec<String> = (0..300).map(|n| format!(r##""s{n}": {{"type": "object", "properties": {{"a": {{"$ref": "#/components/schemas/s{}"}}}}}}"##, n + 1)).collect();
    let paths: Vec<String> = (0..300).map(|n| format!(r##""/p{n}": {{"get": {{"parameters": [{{"name": "a", "in": "query", "schema": {{"$ref": "#/components/schemas/s0"}}}}]}}}}"##)).collect();
    let text = format!(
        r##"{{"openapi": "3.0.0", "paths": {{{}}}, "components": {{"schemas": {{{}, "s300": {{"type": "string"}}}}}}}}"##,
        paths.join(","),
        schemas.join(",")
    );
    let limits = Limits::default().compile_work(10_000).compile_work_per_byte(1);
    let options = ReadOptions::default().limits(limits);
    let error = read([Document { label: "d", text: &text }], &options).unwrap_err();
    assert_eq!(error.code(), "limit/exceeded");
}
