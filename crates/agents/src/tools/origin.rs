//! The origins of the parts of an argument schema in the document of its tool.

use grammata::diagnostic::Place;
use rustc_hash::FxHashSet;
use std::sync::Arc;

/// A part of an argument schema, and the place from which it was read.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Origin {
    /// A JSON Pointer into the schema.
    part: Box<str>,
    /// A JSON Pointer into the document. If the part is inside of the tool (`is_in_tool`), the pointer is relative to
    /// the tool's own pointer.
    source: Box<str>,
    is_in_tool: bool,
}

/// The origins of the parts of one schema. Tools with equal origins share one list.
#[derive(Clone, Debug, PartialEq, Default)]
pub(super) struct Origins(Option<Arc<[Origin]>>);

impl Origins {
    /// Returns the place in the document of a pointer into the schema. It is derived from the innermost part with an
    /// origin that contains the pointer. Returns `None` if there is no such part, or if the tool's place is not a
    /// pointer.
    pub(super) fn place(&self, tool: &Place, pointer: &str) -> Option<Place> {
        let Place::Pointer(tool) = tool else { return None };
        let rest = |origin: &Origin| {
            let rest = pointer.strip_prefix(&*origin.part)?;
            (rest.is_empty() || rest.starts_with('/')).then_some(rest.len())
        };
        let origins = self.0.iter().flat_map(|all| all.iter());
        let (left, origin) =
            origins.filter_map(|origin| Some((rest(origin)?, origin))).min_by_key(|(left, _)| *left)?;
        let tool = if origin.is_in_tool { tool } else { "" };
        Some(Place::Pointer(format!("{tool}{}{}", origin.source, &pointer[pointer.len() - left..])))
    }
}

/// The origins of documents that are read together, deduplicated.
#[derive(Debug, Default)]
pub(super) struct KnownOrigins(FxHashSet<Arc<[Origin]>>);

impl KnownOrigins {
    /// Returns the origins of the parts of a tool's schema, from pairs of a pointer into the schema and a pointer into
    /// the document; empty if the tool's place is not a pointer.
    pub(super) fn of(&mut self, tool: &Place, parts: Vec<(String, String)>) -> Origins {
        let Place::Pointer(tool) = tool else { return Origins::default() };
        let origins = parts.into_iter().map(|(part, source)| {
            let inside =
                source.strip_prefix(tool.as_str()).filter(|rest| rest.is_empty() || rest.starts_with('/'));
            let (is_in_tool, source) = (inside.is_some(), inside.unwrap_or(&source));
            Origin { part: part.into(), source: source.into(), is_in_tool }
        });
        let origins: Arc<[Origin]> = origins.collect();
        if let Some(known) = self.0.get(&origins) {
            return Origins(Some(Arc::clone(known)));
        }
        self.0.insert(Arc::clone(&origins));
        Origins(Some(origins))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_innermost_origin_counts() {
        let mut known = KnownOrigins::default();
        let pair = |part: &str, source: &str| (part.to_owned(), source.to_owned());
        let parts = || {
            vec![
                pair("/properties/a", "/paths/~1x/get/parameters/0/schema"),
                pair("/$defs/b", "/components/b"),
            ]
        };
        let tool = Place::Pointer("/paths/~1x/get".to_owned());
        let origins = known.of(&tool, parts());
        for (pointer, expected) in [
            ("/properties/a/items", Some("/paths/~1x/get/parameters/0/schema/items")),
            ("/$defs/b", Some("/components/b")),
            ("/$defs/bc", None),
            ("", None),
        ] {
            let found = origins.place(&tool, pointer);
            assert_eq!(found, expected.map(|text| Place::Pointer(text.to_owned())), "{pointer}");
        }
        let elsewhere = Place::Pointer("/paths/~1y/get".to_owned());
        let moved = vec![
            pair("/properties/a", "/paths/~1y/get/parameters/0/schema"),
            pair("/$defs/b", "/components/b"),
        ];
        assert_eq!(known.of(&elsewhere, moved), origins);
        assert_eq!(known.0.len(), 1);
    }
}
