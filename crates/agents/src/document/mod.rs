//! A file in YAML, JSON or TOML as a tree of values with their places, independent of the notation.
//!
//! `saphyr-parser` parses YAML 1.2, and `toml` parses TOML. JSON is a subset of YAML 1.2 and has no parser of its own.
//! The tree is stored in an arena, so that no code of the module recurses over the depth of the input.

mod toml;
mod yaml;

use grammata::diagnostic::Place;
use rustc_hash::FxHashMap;
use serde_json::{Map, Value};

/// The notation of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// YAML 1.2, including its subset JSON.
    Yaml,
    /// TOML 1.0.
    Toml,
}

/// The maximum nesting of arrays and mappings in YAML and JSON; the TOML parser has its own bound. Schemas of slots are
/// the deepest part of a file.
const DEPTH: usize = 100;

/// Why a file was rejected, and where: a syntax error, or something that the parser does not support.
#[derive(Clone, Debug)]
pub(crate) struct Malformed {
    pub(crate) place: Place,
    pub(crate) found: String,
    pub(crate) allowed: String,
}

impl Malformed {
    fn new(place: Place, found: impl Into<String>, allowed: impl Into<String>) -> Malformed {
        Malformed { place, found: found.into(), allowed: allowed.into() }
    }
}

/// The index of a value in its [`Document`].
pub(crate) type NodeId = usize;

/// A value and its place.
#[derive(Debug)]
pub(crate) struct Node {
    /// The place where the value begins.
    pub(crate) place: Place,
    pub(crate) content: Content,
}

#[derive(Debug)]
pub(crate) enum Content {
    /// A scalar. `is_plain` means unquoted, so that it may be a number, a boolean or null (YAML 1.2, core schema).
    /// TOML's numbers and booleans are plain as well.
    Scalar {
        text: String,
        is_plain: bool,
    },
    List(Vec<NodeId>),
    /// Keys in the order of the file.
    Mapping(Vec<Entry>),
}

/// A member of a mapping.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) key: String,
    pub(crate) place: Place,
    pub(crate) value: NodeId,
}

/// The values of a file. Node 0 is the root; children have greater ids than their parents.
#[derive(Debug, Default)]
pub(crate) struct Document {
    nodes: Vec<Node>,
}

impl Document {
    /// Parses a file, whose length the caller must bound.
    ///
    /// # Errors
    /// A syntax error. In YAML also an alias, a tag, a second document, a key that is not a scalar, or more than 100
    /// levels of nesting.
    pub(crate) fn read(text: &str, format: Format) -> Result<Document, Malformed> {
        match format {
            Format::Yaml => yaml::read(text),
            Format::Toml => toml::read(text),
        }
    }

    /// Returns the place where the target of a JSON Pointer begins. A member begins at its key; of members with equal
    /// keys, the last is taken. If the pointer has no target, returns the place of its innermost existing ancestor.
    pub(crate) fn place(&self, pointer: &str) -> &Place {
        let (mut id, mut place) = (0, &self.nodes[0].place);
        for step in pointer.split('/').skip(1) {
            let name = step.replace("~1", "/").replace("~0", "~");
            let next = match &self.nodes[id].content {
                Content::Scalar { .. } => None,
                Content::List(items) => {
                    let item = name.parse::<usize>().ok().and_then(|at| items.get(at));
                    item.map(|&item| (item, &self.nodes[item].place))
                }
                Content::Mapping(entries) => {
                    let entry = entries.iter().rev().find(|entry| entry.key == name);
                    entry.map(|entry| (entry.value, &entry.place))
                }
            };
            let Some(next) = next else { break };
            (id, place) = next;
        }
        place
    }

    pub(crate) fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id]
    }

    fn add(&mut self, place: Place, content: Content) -> NodeId {
        self.nodes.push(Node { place, content });
        self.nodes.len() - 1
    }

    /// Appends a value to the innermost open array or mapping; does nothing if none is open, because the value is then
    /// the root. The key of a mapping must be a scalar.
    fn attach(&mut self, open: &mut [Open], child: NodeId) -> Result<(), Malformed> {
        let Some(Open { node, key }) = open.last_mut() else { return Ok(()) };
        let place = self.nodes[child].place.clone();
        if let Content::List(items) = &mut self.nodes[*node].content {
            items.push(child);
            return Ok(());
        }
        let Some((name, at)) = key.take() else {
            let Content::Scalar { text, .. } = &self.nodes[child].content else {
                return Err(Malformed::new(place, "a key that is not a scalar", "keys that are texts"));
            };
            *key = Some((text.clone(), place));
            return Ok(());
        };
        if let Content::Mapping(entries) = &mut self.nodes[*node].content {
            entries.push(Entry { key: name, place: at, value: child });
        }
        Ok(())
    }

    /// Returns the members of mappings that a later member with the same key replaces, as keys and places.
    pub(crate) fn repeated_keys(&self) -> Vec<(&str, &Place)> {
        let mut repeated = Vec::new();
        for node in &self.nodes {
            let Content::Mapping(entries) = &node.content else { continue };
            let mut keys: FxHashMap<&str, &Place> = FxHashMap::default();
            let replaced = entries
                .iter()
                .filter_map(|entry| Some((&*entry.key, keys.insert(&entry.key, &entry.place)?)));
            repeated.extend(replaced);
        }
        repeated
    }

    /// Converts a value to JSON. Of members with equal keys, the last counts. See [`scalar`] for the types of scalars.
    pub(crate) fn json(&self, root: NodeId) -> Value {
        // children have greater ids than their parents, so they are converted first
        let inside = self.below(root);
        let mut ready: FxHashMap<NodeId, Value> = FxHashMap::default();
        for &id in inside.iter().rev() {
            let value = match &self.nodes[id].content {
                Content::Scalar { text, is_plain } => scalar(text, *is_plain),
                Content::List(items) => items.iter().filter_map(|item| ready.remove(item)).collect(),
                Content::Mapping(entries) => Value::Object(Map::from_iter(
                    entries.iter().filter_map(|entry| Some((entry.key.clone(), ready.remove(&entry.value)?))),
                )),
            };
            ready.insert(id, value);
        }
        ready.remove(&root).unwrap_or_default()
    }

    /// Returns a value and its descendants, parents before children.
    fn below(&self, root: NodeId) -> Vec<NodeId> {
        let mut found = vec![root];
        let mut next = 0;
        while let Some(&id) = found.get(next) {
            next += 1;
            match &self.nodes[id].content {
                Content::Scalar { .. } => {}
                Content::List(items) => found.extend(items),
                Content::Mapping(entries) => found.extend(entries.iter().map(|entry| entry.value)),
            }
        }
        found
    }
}

/// An array or a mapping being parsed, with the key whose value comes next.
struct Open {
    node: NodeId,
    key: Option<(String, Place)>,
}

/// Opens an array or a mapping, within the bound on nesting.
fn open(open: &mut Vec<Open>, node: NodeId, place: &Place) -> Result<(), Malformed> {
    if open.len() == DEPTH {
        let allowed = format!("at most {DEPTH} arrays and mappings inside each other");
        return Err(Malformed::new(place.clone(), "a value that is nested deeper", allowed));
    }
    open.push(Open { node, key: None });
    Ok(())
}

/// Converts a scalar to JSON. A plain scalar is null, a boolean (both as in YAML's core schema) or a number in JSON's
/// syntax if its text is one; any other scalar is a text. Hexadecimal, octal and infinite numbers of YAML stay texts.
pub(crate) fn scalar(text: &str, is_plain: bool) -> Value {
    if !is_plain {
        return Value::String(text.to_owned());
    }
    match text {
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        "true" | "True" | "TRUE" => Value::Bool(true),
        "false" | "False" | "FALSE" => Value::Bool(false),
        _ => match serde_json::from_str(text) {
            Ok(Value::Number(number)) => Value::Number(number),
            _ => Value::String(text.to_owned()),
        },
    }
}
