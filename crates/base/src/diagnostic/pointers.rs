//! Finds the values of JSON Pointers in a text of JSON or TOML.

use rustc_hash::FxHashMap;
use std::ops::Range;
use toml::de::{DeTable, DeValue};

/// Returns the unescaped tokens of a JSON Pointer (RFC 6901).
fn tokens(pointer: &str) -> impl Iterator<Item = String> {
    pointer.split('/').skip(1).map(|token| token.replace("~1", "/").replace("~0", "~"))
}

/// Returns, for each pointer, the byte range of its value in a JSON text, including the key if the value is a member.
/// If there is no such value, the range of the innermost value on the path of the pointer is returned: the array or
/// object that would hold it, or a scalar.
///
/// The text is scanned once, regardless of the number of pointers. Values that are on no path of a pointer are not
/// stored. The scan also accepts texts that are not JSON: the ranges are then a guess, and `None` if no value on the
/// path is complete.
pub(super) fn in_json(text: &str, pointers: &[&str]) -> Vec<Option<Range<usize>>> {
    let mut wanted = Wanted::default();
    let ends: Vec<usize> = pointers.iter().map(|pointer| wanted.add(pointer)).collect();
    let mut scan = Scan { text, offset: 0, wanted, open: Vec::new(), deeper: 0 };
    scan.run();
    let nodes = scan.wanted.nodes;
    let found = |end: usize| {
        let mut at = Some(end);
        std::iter::from_fn(|| at.inspect(|&node| at = nodes[node].parent))
            .find_map(|node| nodes[node].range.clone())
    };
    ends.into_iter().map(found).collect()
}

/// The pointers as a trie of their tokens. Node 0 is the whole text.
struct Wanted {
    nodes: Vec<Node>,
}

#[derive(Default)]
struct Node {
    parent: Option<usize>,
    children: FxHashMap<String, usize>,
    /// Byte range of the value in the text, with its key if it is a member; `None` until it is found.
    range: Option<Range<usize>>,
}

impl Default for Wanted {
    fn default() -> Wanted {
        Wanted { nodes: vec![Node::default()] }
    }
}

impl Wanted {
    /// Adds a pointer and returns its node.
    fn add(&mut self, pointer: &str) -> usize {
        let mut node = 0;
        for token in tokens(pointer) {
            let next = self.nodes.len();
            let child = *self.nodes[node].children.entry(token).or_insert(next);
            if child == next {
                self.nodes.push(Node { parent: Some(node), ..Node::default() });
            }
            node = child;
        }
        node
    }
}

/// An array or object on the path of a pointer that the scan has entered and not left.
struct Open {
    node: usize,
    /// Byte offset of the array or object, or of its key if it is a member.
    start: usize,
    is_array: bool,
    /// Index of the current element of an array.
    index: usize,
    /// The key of the next value in an object, and the byte offset of the key.
    key: Option<(String, usize)>,
}

struct Scan<'t> {
    text: &'t str,
    offset: usize,
    wanted: Wanted,
    open: Vec<Open>,
    /// Number of entered arrays and objects that no pointer reaches.
    deeper: usize,
}

impl Scan<'_> {
    fn run(&mut self) {
        while let Some(&byte) = self.text.as_bytes().get(self.offset) {
            match byte {
                b'[' | b'{' => self.begin(byte == b'['),
                b']' | b'}' => self.end(),
                b',' => {
                    self.offset += 1;
                    if let (0, Some(open)) = (self.deeper, self.open.last_mut()) {
                        open.index += 1;
                    }
                }
                b'"' => self.string(),
                b':' | b' ' | b'\t' | b'\r' | b'\n' => self.offset += 1,
                _ => self.scalar(),
            }
        }
    }

    /// Returns the node and the byte offset of a value that begins at the current offset; `None` if no pointer reaches
    /// the value or a value in it. The offset of a member is that of its key.
    fn value(&mut self) -> Option<(usize, usize)> {
        if self.deeper > 0 {
            return None;
        }
        let here = self.offset;
        let Some(open) = self.open.last_mut() else { return Some((0, here)) };
        let children = &self.wanted.nodes[open.node].children;
        match (open.is_array, open.key.take()) {
            (true, _) => children.get(&open.index.to_string()).map(|&node| (node, here)),
            (false, Some((key, start))) => children.get(&key).map(|&node| (node, start)),
            (false, None) => None,
        }
    }

    fn found(&mut self, node: usize, range: Range<usize>) {
        // if a key is duplicated, JSON readers keep the last value
        self.wanted.nodes[node].range = Some(range);
    }

    fn begin(&mut self, is_array: bool) {
        match self.value() {
            None => self.deeper += 1,
            Some((node, start)) => self.open.push(Open { node, start, is_array, index: 0, key: None }),
        }
        self.offset += 1;
    }

    fn end(&mut self) {
        self.offset += 1;
        if self.deeper > 0 {
            self.deeper -= 1;
        } else if let Some(open) = self.open.pop() {
            self.found(open.node, open.start..self.offset);
        }
    }

    fn string(&mut self) {
        let start = self.offset;
        let bytes = self.text.as_bytes();
        let mut end = start + 1;
        while let Some(&byte) = bytes.get(end) {
            end += if byte == b'\\' { 2 } else { 1 };
            if byte == b'"' {
                break;
            }
        }
        let end = end.min(bytes.len());
        let in_object =
            self.deeper == 0 && self.open.last().is_some_and(|open| !open.is_array && open.key.is_none());
        if !in_object {
            return self.scalar_to(end);
        }
        let key = self.text.get(start..end).and_then(|key| serde_json::from_str(key).ok());
        if let Some(open) = self.open.last_mut() {
            open.key = Some((key.unwrap_or_default(), start));
        }
        self.offset = end;
    }

    fn scalar(&mut self) {
        let rest = self.text.as_bytes().get(self.offset..).unwrap_or_default();
        let is_end = |byte: &u8| matches!(byte, b',' | b']' | b'}' | b':' | b' ' | b'\t' | b'\r' | b'\n');
        let length = rest.iter().position(is_end).unwrap_or(rest.len());
        self.scalar_to(self.offset + length.max(1));
    }

    fn scalar_to(&mut self, end: usize) {
        if let Some((node, start)) = self.value() {
            self.found(node, start..end);
        }
        self.offset = end;
    }
}

/// Returns, for each pointer, the byte range of its value in a TOML text, including the key if it is on the same line.
/// If there is no such value, the range of the innermost value that would hold it is returned. The range of the root
/// table is `0..0`. `None` if the text is not TOML.
pub(super) fn in_toml(text: &str, pointers: &[&str]) -> Vec<Option<Range<usize>>> {
    let (root, errors) = DeTable::parse_recoverable(text);
    if !errors.is_empty() {
        return vec![None; pointers.len()];
    }
    pointers.iter().map(|pointer| of_table(text, root.get_ref(), pointer)).collect()
}

fn of_table(text: &str, root: &DeTable<'_>, pointer: &str) -> Option<Range<usize>> {
    let mut tokens = tokens(pointer);
    let whole = Some(0..0);
    let Some(first) = tokens.next() else { return whole };
    let Some((key, mut value)) = root.get_key_value(first.as_str()) else { return whole };
    let mut range = joined(text, key.span(), value.span());
    for token in tokens {
        match value.get_ref() {
            DeValue::Table(table) => {
                let Some((key, inner)) = table.get_key_value(token.as_str()) else { break };
                range = joined(text, key.span(), inner.span());
                value = inner;
            }
            DeValue::Array(array) => {
                let Some(inner) = token.parse().ok().and_then(|index: usize| array.get(index)) else { break };
                value = inner;
                range = value.span();
            }
            // a pointer may continue into the meaning of a scalar, such as a name in a text of names
            _ => break,
        }
    }
    Some(range)
}

/// Returns the range of a key and its value, or of the value alone if the key is on another line, as for `[tables]`.
fn joined(text: &str, key: Range<usize>, value: Range<usize>) -> Range<usize> {
    match text.get(key.start..value.start) {
        Some(between) if !between.contains('\n') => key.start..value.end,
        _ => value,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json<'t>(text: &'t str, pointer: &str) -> Option<&'t str> {
        in_json(text, &[pointer]).pop().flatten().and_then(|range| text.get(range))
    }

    fn toml<'t>(text: &'t str, pointer: &str) -> Option<&'t str> {
        in_toml(text, &[pointer]).pop().flatten().and_then(|range| text.get(range))
    }

    #[test]
    fn values_of_json_are_found_with_their_keys() {
        let text = r#" {"a": [1, {"b/c": "x", "q\"": [[]]}, true], "~": null} "#;
        assert_eq!(json(text, ""), Some(text.trim()));
        assert_eq!(json(text, "/a/0"), Some("1"));
        assert_eq!(json(text, "/a/1/b~1c"), Some(r#""b/c": "x""#));
        assert_eq!(json(text, "/a/1/q\"/0"), Some("[]"));
        assert_eq!(json(text, "/a/2"), Some("true"));
        assert_eq!(json(text, "/~0"), Some(r#""~": null"#));
        assert_eq!(json(text, "/a/3"), json(text, "/a"));
        assert_eq!(json(text, "/a/1/none/0"), json(text, "/a/1"));
        assert_eq!(json(text, "/none"), Some(text.trim()));
        assert_eq!(json(r#"{"a": 1, "a": 2}"#, "/a"), Some(r#""a": 2"#));
    }

    #[test]
    fn broken_json_is_scanned_to_its_end() {
        for text in ["", "{", "[1", r#"{"a"#, r#"{"a\"#, r#"{"a": "#, "]]}", r#"{"a":1}}{"b""#, "\u{e9}"] {
            json(text, "/a/0");
            json(text, "");
        }
        let deep = "[".repeat(1_000_000);
        assert_eq!(json(&deep, "/0/1"), None);
    }

    #[test]
    fn many_pointers_take_one_scan() {
        let members: Vec<String> = (0..10_000).map(|i| format!("\"k{i}\": {i}")).collect();
        let text = format!("{{{}}}", members.join(","));
        let pointers: Vec<String> = (0..10_000).map(|i| format!("/k{i}")).collect();
        let pointers: Vec<&str> = pointers.iter().map(String::as_str).collect();
        let found = in_json(&text, &pointers);
        assert!(
            found
                .iter()
                .zip(&members)
                .all(|(range, member)| text.get(range.clone().unwrap()) == Some(member))
        );
    }

    #[test]
    fn values_of_toml_are_found() {
        let text = "kind = \"nfa\"\ntransitions = [\n  { from = \"a\", to = \"b\" },\n]\n[symbols]\nx = \"1\"\n\n[[rules]]\nhead = \"s\"\n";
        assert_eq!(toml(text, "/kind"), Some("kind = \"nfa\""));
        assert_eq!(toml(text, "/transitions/0/to"), Some("to = \"b\""));
        assert_eq!(toml(text, "/transitions/0/to/0"), Some("to = \"b\""));
        assert_eq!(toml(text, "/symbols/x"), Some("x = \"1\""));
        assert_eq!(toml(text, "/rules/0/head"), Some("head = \"s\""));
        assert_eq!(toml(text, "/transitions/1"), toml(text, "/transitions"));
        assert_eq!(toml(text, "/accepting/1"), Some(""));
        assert_eq!(toml("= broken", "/a"), None);
    }
}
