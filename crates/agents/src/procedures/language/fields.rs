//! The members of a mapping in a file, by case-insensitive keys.

use super::errors::{self, Findings};
use crate::document::{Content, Document, Entry, NodeId};
use grammata::diagnostic::Place;
use rustc_hash::FxHashMap;
use serde_json::Value;

/// Normalises a name for comparison: strips surrounding whitespace and replaces each run of inner whitespace by `_`.
/// Letter case is kept.
pub fn normal(name: &str) -> String {
    name.split_whitespace().collect::<Vec<_>>().join("_")
}

/// The known members of a mapping, by keys that are [`normal`] and in lower case.
pub(super) struct Fields<'d> {
    pub(super) document: &'d Document,
    at: Place,
    entries: FxHashMap<String, &'d Entry>,
}

impl<'d> Fields<'d> {
    /// Reads a mapping. Keys outside `known` are warnings, duplicate keys errors. Returns `None`, with an error among
    /// the findings, if the value is not a mapping.
    pub(super) fn of(
        document: &'d Document,
        id: NodeId,
        known: &[&str],
        findings: &mut Findings,
    ) -> Option<Fields<'d>> {
        let node = document.node(id);
        let Content::Mapping(written) = &node.content else {
            findings.error(errors::form(node.place.clone(), "a value that is not a mapping", "a mapping"));
            return None;
        };
        let mut entries: FxHashMap<String, &Entry> = FxHashMap::default();
        for entry in written {
            let key = normal(&entry.key).to_lowercase();
            if !known.contains(&key.as_str()) {
                findings.warn(errors::unknown_field(entry.place.clone(), &entry.key, known));
            } else if entries.insert(key, entry).is_some() {
                let allowed = "each key once, without letters' case";
                findings.error(errors::form(entry.place.clone(), &entry.key, allowed));
            }
        }
        Some(Fields { document, at: node.place.clone(), entries })
    }

    pub(super) fn get(&self, key: &str) -> Option<&'d Entry> {
        self.entries.get(key).copied()
    }

    pub(super) fn place(&self, key: &str) -> Place {
        self.get(key).map_or_else(|| self.at.clone(), |entry| self.document.node(entry.value).place.clone())
    }

    pub(super) fn text_of(&self, entry: Option<&Entry>, findings: &mut Findings) -> Option<String> {
        let node = self.document.node(entry?.value);
        match &node.content {
            Content::Scalar { text, is_plain: true } if matches!(text.as_str(), "" | "~" | "null") => None,
            Content::Scalar { text, .. } => Some(text.clone()),
            _ => {
                findings.error(errors::form(node.place.clone(), "a list or a mapping", "a text"));
                None
            }
        }
    }

    pub(super) fn text(&self, key: &str, findings: &mut Findings) -> Option<String> {
        self.text_of(self.get(key), findings)
    }

    pub(super) fn name(&self, of: &str, findings: &mut Findings) -> Option<(String, Place)> {
        match self.text("name", findings).map(|name| normal(&name)).filter(|name| !name.is_empty()) {
            Some(name) => Some((name, self.place("name"))),
            None => {
                findings.error(errors::missing_field(self.at.clone(), "name", of));
                None
            }
        }
    }

    /// Returns the mappings of a list; empty if the field is missing or blank. Other items and values are errors and
    /// left out.
    pub(super) fn list(&self, key: &str, known: &[&str], findings: &mut Findings) -> Vec<Fields<'d>> {
        let Some(entry) = self.get(key) else { return Vec::new() };
        let node = self.document.node(entry.value);
        match &node.content {
            Content::List(items) => {
                items.iter().filter_map(|&item| Fields::of(self.document, item, known, findings)).collect()
            }
            Content::Scalar { text, is_plain: true } if text.is_empty() => Vec::new(),
            _ => {
                findings.error(errors::form(
                    node.place.clone(),
                    "a value that is not a list",
                    "a list of mappings",
                ));
                Vec::new()
            }
        }
    }

    /// Returns a list of normalised names; empty if the field is missing. The field may also be one text with commas or
    /// whitespace between the names, which then contain neither. Other values are errors.
    pub(super) fn names(&self, key: &str, findings: &mut Findings) -> Vec<String> {
        let Some(entry) = self.get(key) else { return Vec::new() };
        let trim = |name: &str| normal(name.trim_matches(['\'', '"']));
        let node = self.document.node(entry.value);
        let mut names = Vec::new();
        match &node.content {
            Content::Scalar { text, .. } => {
                let inner = text.trim().trim_matches(['[', ']']);
                let parts = inner.split(|c: char| c == ',' || c.is_whitespace());
                names.extend(parts.filter(|part| !part.is_empty()).map(trim));
            }
            Content::List(items) => {
                for &item in items {
                    match &self.document.node(item).content {
                        Content::Scalar { text, .. } => names.push(trim(text)),
                        _ => {
                            let place = self.document.node(item).place.clone();
                            findings.error(errors::form(place, "a list or a mapping", "a name"));
                        }
                    }
                }
            }
            Content::Mapping(_) => {
                findings.error(errors::form(node.place.clone(), "a mapping", "a list of names"));
            }
        }
        names
    }

    /// Returns a mapping from normalised names to texts, in its order, without entries that have no text; `None` if the
    /// field is missing or not a mapping.
    pub(super) fn pairs(&self, key: &str, findings: &mut Findings) -> Option<Vec<(String, String)>> {
        let node = self.document.node(self.get(key)?.value);
        let Content::Mapping(entries) = &node.content else { return None };
        let pairs = entries
            .iter()
            .filter_map(|entry| Some((normal(&entry.key), self.text_of(Some(entry), findings)?)));
        Some(pairs.collect())
    }

    pub(super) fn json(&self, keys: &[&str]) -> Value {
        let fields = keys.iter().filter_map(|key| {
            let value = self.document.json(self.get(key)?.value);
            Some(((*key).to_owned(), value))
        });
        Value::Object(fields.collect())
    }

    pub(super) fn flag(&self, key: &str, findings: &mut Findings) -> bool {
        let Some(entry) = self.get(key) else { return false };
        match self.document.json(entry.value) {
            Value::Bool(flag) => flag,
            other => {
                findings.error(errors::form(self.place(key), &other.to_string(), "`true` or `false`"));
                false
            }
        }
    }

    pub(super) fn effect(&self, findings: &mut Findings) -> Option<bool> {
        match self.text("effect", findings)?.as_str() {
            "read" => Some(false),
            "write" => Some(true),
            other => {
                findings.error(errors::form(self.place("effect"), other, "`read` or `write`"));
                None
            }
        }
    }

    pub(super) fn max_calls(&self, findings: &mut Findings) -> Option<u32> {
        let value = self.document.json(self.get("max_calls")?.value);
        let number =
            value.as_u64().and_then(|number| u32::try_from(number).ok()).filter(|&number| number > 0);
        if number.is_none() {
            let allowed = "a whole number from 1 to 4294967295";
            findings.error(errors::form(self.place("max_calls"), &value.to_string(), allowed));
        }
        number
    }

    /// Returns the patterns of `claims`, unchanged: a list, whose items other than texts become their JSON, or a single
    /// text such as `auto`. Other values are errors.
    pub(super) fn claims(&self, findings: &mut Findings) -> Vec<String> {
        let Some(entry) = self.get("claims") else { return Vec::new() };
        match self.document.json(entry.value) {
            Value::String(text) => vec![text],
            Value::Array(items) => items
                .iter()
                .map(|item| item.as_str().map_or_else(|| item.to_string(), str::to_owned))
                .collect(),
            other => {
                findings.error(errors::form(
                    self.place("claims"),
                    &other.to_string(),
                    "`auto` or a list of texts",
                ));
                Vec::new()
            }
        }
    }
}
