//! Word graphs: their languages, invalid graphs, and the graphs that JSON Schema makes of names.

use crate::language::Language;
use grammata::grammar::{GrammarBuilder, WordEdge, WordGraph, WordTarget};
use grammata::syntax::json_schema::{self, Whitespace, compile};
use serde_json::Value;

fn edge(byte: u8, to: WordTarget) -> WordEdge {
    WordEdge { low: byte, high: byte, to }
}

#[test]
fn a_node_reads_what_it_has_no_edge_for_as_another() {
    let mut g = GrammarBuilder::new();
    let (x, empty) = (g.text("x"), g.empty());
    let mut graph = WordGraph::new([x, empty]);
    graph.push([edge(b'b', WordTarget::Node(1))], Some(2));
    graph.push([], Some(2));
    graph.push(
        [WordEdge { low: b'a', high: b'd', to: WordTarget::Exit(0) }, edge(b'f', WordTarget::Exit(1))],
        None,
    );
    let ranges: Vec<(u8, u8)> = graph.edges(0).iter().map(|edge| (edge.low, edge.high)).collect();
    assert_eq!(ranges, [(b'a', b'a'), (b'b', b'b'), (b'c', b'd'), (b'f', b'f')]);
    let root = g.declare("root");
    let body = g.word_graph(graph);
    g.define(root, body);
    let grammar = g.build(root).expect("the graph is in order");
    let language = Language::new(&grammar);
    for word in ["ax", "cx", "dx", "f", "bax", "bbx", "bf"] {
        assert!(language.accepts(word.as_bytes()), "{word}");
    }
    for word in ["", "a", "b", "bx", "e", "fx", "bb", "bbbx"] {
        assert!(!language.accepts(word.as_bytes()), "{word}");
    }
}

#[test]
fn graphs_that_are_not_in_order_are_refused() {
    let node = WordTarget::Node;
    let exit = WordTarget::Exit(0);
    type Nodes = Vec<(Vec<WordEdge>, Option<u32>)>;
    let cases: [(&str, Nodes); 8] = [
        ("no nodes", vec![]),
        ("no edges", vec![(vec![], None)]),
        ("overlapping edges", vec![(vec![WordEdge { low: 1, high: 3, to: exit }, edge(2, exit)], None)]),
        ("an edge to itself", vec![(vec![edge(1, node(0)), edge(2, exit)], None)]),
        ("an edge out of the table", vec![(vec![edge(1, node(1)), edge(2, exit)], None)]),
        ("a node out of reach", vec![(vec![edge(1, exit)], None), (vec![edge(1, exit)], None)]),
        (
            "an exit out of reach",
            vec![
                (vec![edge(1, node(1))], Some(2)),
                (vec![edge(1, node(3))], None),
                (vec![edge(1, exit)], None),
                (vec![edge(2, WordTarget::Exit(1))], None),
            ],
        ),
        (
            "a range beside another node",
            vec![(vec![WordEdge { low: 1, high: 2, to: exit }], Some(1)), (vec![edge(3, exit)], None)],
        ),
    ];
    for (what, nodes) in cases {
        let mut g = GrammarBuilder::new();
        let (x, y) = (g.text("x"), g.text("y"));
        let mut graph = WordGraph::new(if what == "an exit out of reach" { vec![x, y] } else { vec![x] });
        nodes.into_iter().for_each(|(edges, otherwise)| graph.push(edges, otherwise));
        let root = g.declare("root");
        let body = g.word_graph(graph);
        g.define(root, body);
        let code = g.build(root).err().map(|error| error.code().to_owned());
        assert_eq!(code.as_deref(), Some("grammar/invariant"), "{what}");
    }
}

/// Undeclared names are all names except the declared ones. The prefix that such a name shares with a declared one must
/// be spelled canonically.
#[test]
fn names_of_further_members() {
    let declared = ["a", "ab", "b\u{e9}", "\n", "\\", "\"q", "\u{1}\u{1F}", "\u{1F600}", "\u{FFFF}x", ""];
    let properties: Vec<String> =
        declared.iter().map(|name| format!("{}: false", Value::from(*name))).collect();
    let schema = format!(
        r#"{{"type": "object", "properties": {{{}}}, "additionalProperties": {{"const": 1}}}}"#,
        properties.join(", ")
    );
    let options = json_schema::Options::default().whitespace(Whitespace::Compact);
    let compiled = compile(&schema, &options).expect("the schema is right");
    let language = Language::new(&compiled.grammar);
    let parts = [
        "a",
        "b",
        "\u{e9}",
        "\u{ea}",
        "\n",
        "\\",
        "\"",
        "q",
        "\u{1}",
        "\u{1F}",
        "\u{1F600}",
        "\u{1F601}",
        "\u{FFFF}",
        "x",
    ];
    let mut names = vec![String::new()];
    for first in parts {
        names.push(first.to_owned());
        names.extend(parts.iter().map(|second| format!("{first}{second}")));
        names.extend(parts.iter().map(|third| format!("{first}b{third}")));
    }
    for name in names {
        let text = format!("{{{}:1}}", Value::from(name.as_str()));
        assert_eq!(language.accepts(text.as_bytes()), !declared.contains(&name.as_str()), "{text}");
    }
    for (text, is_in) in [
        (r#"{"\u0061":1}"#, false),
        (r#"{"a\u0062":1}"#, false),
        (r#"{"ac\u0062\/\ud83d\ude00":1}"#, true),
        (r#"{"c\ud83d":1}"#, false),
        (r#"{"\n\u000A":1}"#, false),
        (r#"{"\nx\u000A":1}"#, true),
        (r#"{"\u0001":1}"#, true),
        (r#"{"\u0001\u001f":1}"#, false),
        (r#"{"\u0001\u001e":1}"#, true),
        (r#"{"\u000a":1}"#, false),
    ] {
        assert_eq!(language.accepts(text.as_bytes()), is_in, "{text}");
    }
}
