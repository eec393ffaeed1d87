//! A writer of graphs in Graphviz's DOT language.

use std::borrow::Cow;
use std::fmt::{Display, Write};

/// Name of the node that replaces omitted nodes; see [`Digraph::rest`].
const REST: &str = "more";

/// An attribute of a node or an edge.
#[derive(Clone, Copy, Debug)]
pub struct Attribute<'a> {
    name: &'static str,
    value: &'a str,
    is_quoted: bool,
}

impl<'a> Attribute<'a> {
    /// Creates an attribute whose value is a keyword or a number, written unquoted and unescaped.
    pub fn bare(name: &'static str, value: &'a str) -> Attribute<'a> {
        Attribute { name, value, is_quoted: false }
    }

    /// Creates an attribute whose value is a text, quoted and escaped.
    pub fn quoted(name: &'static str, value: &'a str) -> Attribute<'a> {
        Attribute { name, value, is_quoted: true }
    }

    /// Creates the attribute `label`: the text that a node or an edge shows.
    pub fn label(text: &'a str) -> Attribute<'a> {
        Attribute::quoted("label", text)
    }
}

/// A directed graph in DOT, one node or edge per line in the order of the calls.
#[derive(Clone, Debug)]
pub struct Digraph {
    text: String,
}

impl Digraph {
    /// Creates a graph without nodes. `rankdir` is the direction of its edges: `LR` from left to right, `BT` from
    /// bottom to top.
    ///
    /// Names of graphs and nodes must be DOT identifiers; they are not escaped.
    pub fn new(name: &str, rankdir: &str) -> Digraph {
        Digraph { text: format!("digraph {name} {{\n  rankdir={rankdir};\n") }
    }

    /// Adds the node with the name `node`.
    pub fn node(&mut self, node: impl Display, attributes: &[Attribute<'_>]) {
        self.statement(format_args!("{node}"), attributes);
    }

    /// Adds an edge from the node `from` to the node `to`.
    pub fn edge(&mut self, from: impl Display, to: impl Display, attributes: &[Attribute<'_>]) {
        self.statement(format_args!("{from} -> {to}"), attributes);
    }

    /// Adds the node that represents all omitted nodes.
    pub fn rest(&mut self) {
        let look =
            [Attribute::bare("shape", "box"), Attribute::bare("style", "dashed"), Attribute::label(REST)];
        self.node(REST, &look);
    }

    /// Returns the graph in DOT, with its closing brace.
    pub fn finish(mut self) -> String {
        self.text.push_str("}\n");
        self.text
    }

    fn statement(&mut self, what: impl Display, attributes: &[Attribute<'_>]) {
        // writing to a string does not fail
        let _ = write!(self.text, "  {what}");
        for (at, Attribute { name, value, is_quoted }) in attributes.iter().enumerate() {
            let before = if at == 0 { " [" } else { ", " };
            let _ = match is_quoted {
                true => write!(self.text, "{before}{name}=\"{}\"", escape(value)),
                false => write!(self.text, "{before}{name}={value}"),
            };
        }
        self.text.push_str(if attributes.is_empty() { ";\n" } else { "];\n" });
    }
}

/// Returns the name of a numbered node: `n` followed by the number. `None` gives the name of the node that represents
/// all omitted nodes.
pub fn numbered(node: Option<usize>) -> Cow<'static, str> {
    node.map_or(Cow::Borrowed(REST), |node| Cow::Owned(format!("n{node}")))
}

/// Escapes a text for a quoted DOT string: backslashes, quotes and line feeds.
pub fn escape(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_escaped() {
        for (text, escaped) in [
            ("", ""),
            ("plain, é", "plain, é"),
            ("\"a\"", "\\\"a\\\""),
            ("\\", "\\\\"),
            // the backslash of an escape is not escaped again
            ("\\n\n", "\\\\n\\n"),
            ("\\\"", "\\\\\\\""),
        ] {
            assert_eq!(escape(text), escaped, "{text:?}");
        }
    }

    #[test]
    fn graphs_are_written_line_by_line() {
        let mut graph = Digraph::new("g", "LR");
        graph.node("n0", &[Attribute::bare("shape", "box"), Attribute::label("a \"b\"\nc")]);
        graph.edge("n0", numbered(Some(1)), &[Attribute::quoted("color", "red")]);
        graph.edge("n0", numbered(None), &[]);
        graph.rest();
        assert_eq!(
            graph.finish(),
            "digraph g {\n  rankdir=LR;\n  n0 [shape=box, label=\"a \\\"b\\\"\\nc\"];\n  \
             n0 -> n1 [color=\"red\"];\n  n0 -> more;\n  more [shape=box, style=dashed, label=\"more\"];\n}\n"
        );
    }
}
