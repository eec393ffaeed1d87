//! Schema resources: the parts of documents that have their own URIs, and the anchors in them.
//!
//! A document is traversed once, along the keywords that contain schemas. What looks like an identifier elsewhere (in
//! `enum`, or under a word that is not a keyword) is not an identifier.

use super::draft::{Draft, Version, Versions};
use super::keyword::{self, Schemas};
use super::source::Source;
use super::uri;
use crate::diagnostic::Diagnostic;
use crate::error::Result;
use crate::syntax::json_schema::errors;
use crate::syntax::json_schema::values::json::{Map, Value};
use crate::syntax::json_schema::values::pointer::{append, join, step};
use crate::work::Budget;
use rustc_hash::FxHashMap;
use std::borrow::Cow;

/// Index of a resource in the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct ResourceId(u32);

/// The name of `$recursiveAnchor` among the dynamic anchors. The standard does not allow empty names of other anchors,
/// and no reference can name one.
pub(super) const RECURSIVE: &str = "";

/// The keywords that identify schemas.
const IDENTIFIERS: [&str; 4] = ["$id", "id", "$anchor", "$dynamicAnchor"];

/// A schema with its own URI, or the root of a document.
pub(super) struct Resource<'a> {
    root: &'a Value<'a>,
    pointer: String,
    /// The URI without fragment; `""` for the schema's own document if its root has no identifier.
    pub(super) uri: String,
    pub(super) draft: Draft,
    /// The resource to which the schema belongs in the draft of its document, if that draft does not know the
    /// identifier: `$id` below the root of a document of draft 3 or 4.
    pub(super) outer: Option<ResourceId>,
    anchors: FxHashMap<&'a str, (&'a Value<'a>, String)>,
    pub(super) dynamic_anchors: Vec<&'a str>,
}

/// A schema that was found by reference.
pub(super) struct Found<'a> {
    pub(super) value: &'a Value<'a>,
    pub(super) pointer: String,
    pub(super) resource: ResourceId,
}

/// All resources of the documents read so far. The first one is the root.
#[derive(Default)]
pub(super) struct Resources<'a> {
    list: Vec<Resource<'a>>,
    by_uri: FxHashMap<String, ResourceId>,
    roots: FxHashMap<*const Value<'a>, ResourceId>,
}

impl<'a> Resources<'a> {
    pub(super) fn get(&self, id: ResourceId) -> &Resource<'a> {
        &self.list[id.0 as usize]
    }

    /// Returns the resource of a URI.
    pub(super) fn named(&self, uri: &str) -> Option<ResourceId> {
        self.by_uri.get(uri).copied()
    }

    /// Returns the resource whose root is this value, compared by address.
    pub(super) fn of_root(&self, value: &Value<'_>) -> Option<ResourceId> {
        self.roots.get(&std::ptr::from_ref(value)).copied()
    }

    pub(super) fn root_of(&self, id: ResourceId) -> Found<'a> {
        let resource = self.get(id);
        Found { value: resource.root, pointer: resource.pointer.clone(), resource: id }
    }

    /// Returns the schema at a JSON Pointer (percent-decoded) within a resource. The path may enter other resources.
    pub(super) fn at_pointer(&self, id: ResourceId, pointer: &str) -> Option<Found<'a>> {
        let mut found = self.root_of(id);
        for token in pointer.strip_prefix('/')?.split('/') {
            let token = if token.contains('~') {
                Cow::from(token.replace("~1", "/").replace("~0", "~"))
            } else {
                token.into()
            };
            found.value = step(found.value, &token)?;
            append(&mut found.pointer, &token);
            found.resource = self.of_root(found.value).unwrap_or(found.resource);
        }
        Some(found)
    }

    /// Returns the schema with the anchor `name` in a resource; `None` if there is none.
    pub(super) fn at_anchor(&self, id: ResourceId, name: &str) -> Option<Found<'a>> {
        let (value, pointer) = self.get(id).anchors.get(name)?;
        Some(Found { value, pointer: pointer.clone(), resource: id })
    }

    fn push(&mut self, root: &'a Value<'a>, pointer: String, uri: String, draft: Draft) -> ResourceId {
        let id = ResourceId(self.list.len() as u32);
        let (outer, anchors, dynamic_anchors) = Default::default();
        self.list.push(Resource { root, pointer, uri, draft, outer, anchors, dynamic_anchors });
        self.roots.insert(std::ptr::from_ref(root), id);
        id
    }

    /// Adds the resources of a document found at a URI. Pointers into it begin with `prefix`.
    pub(super) fn add_document(
        &mut self,
        Source { value: document, has_identifiers }: Source<'a>,
        uri: &str,
        prefix: &str,
        (warnings, work): (&mut Vec<Diagnostic>, &Budget),
    ) -> Result<ResourceId> {
        let draft = Draft::of(document);
        let root = self.push(document, prefix.to_owned(), uri.to_owned(), draft);
        self.by_uri.insert(uri.to_owned(), root);
        let mut paths = Paths { prefix, steps: Vec::with_capacity(if has_identifiers { 32 } else { 0 }) };
        let mut stack = vec![(document, root, None)];
        while let Some((value, mut resource, path)) = stack.pop() {
            let Value::Object(map) = value else { continue };
            let draft = self.get(resource).draft;
            if !(draft.ref_stands_alone() && map.contains_key("$ref")) {
                // identifiers are stored with their pointers, and with the URI that they are resolved against
                let stored = self.list.len();
                if IDENTIFIERS.iter().any(|keyword| map.contains_key(keyword)) {
                    work.spend(paths.pointer(path).len())?;
                }
                resource = self.identify(value, map, resource, &paths, path, warnings);
                let uris = self.list[stored..].iter().map(|resource| resource.uri.len());
                work.spend(uris.sum::<usize>())?;
            }
            if !has_identifiers {
                // only the root may have an identifier
                break;
            }
            let first = stack.len();
            for (keyword, inner) in map {
                let schemas = keyword::named(keyword).map_or(Schemas::Nowhere, |keyword| keyword.schemas);
                if schemas == Schemas::Nowhere {
                    continue;
                }
                let path = paths.push(path, Token::Key(keyword));
                match inner {
                    Value::Object(map) if schemas == Schemas::Members => {
                        for (name, inner) in map {
                            stack.push((inner, resource, paths.push(path, Token::Key(name))));
                        }
                    }
                    Value::Object(_) => stack.push((inner, resource, path)),
                    Value::Array(list) => {
                        for (index, inner) in list.iter().enumerate() {
                            stack.push((inner, resource, paths.push(path, Token::Index(index))));
                        }
                    }
                    _ => {}
                }
            }
            // keep the order of the document
            stack[first..].reverse();
        }
        Ok(root)
    }

    /// Registers the identifiers of a schema, those of [`is_identifier`](super::source::is_identifier). Returns the
    /// resource that contains the schema.
    fn identify(
        &mut self,
        value: &'a Value<'a>,
        map: &'a Map<'a>,
        outer: ResourceId,
        paths: &Paths<'a, '_>,
        path: Option<u32>,
        warnings: &mut Vec<Diagnostic>,
    ) -> ResourceId {
        let text = |keyword: &str| map.get(keyword).and_then(Value::as_str);
        let mut resource = outer;
        let draft = self.get(outer).draft;
        // without `$schema` the draft may be an old one, but `id` is a common word
        let plain = || text("id").filter(|id| draft.has_plain_id(path.is_none() || id.starts_with('#')));
        let is_old = path.is_some() && draft.has_plain_id(false);
        let own = if is_old { plain() } else { text("$id").or_else(plain) };
        // `$id` is not a keyword of drafts 3 and 4
        let is_unknown = is_old && own.is_none();
        if let Some(id) = own.or_else(|| text("$id")) {
            let (own, fragment) = uri::split(id);
            if !own.is_empty() {
                let uri = uri::resolve(&self.get(outer).uri, own);
                resource = match path {
                    None => {
                        self.list[outer.0 as usize].uri.clone_from(&uri);
                        outer
                    }
                    Some(_) => {
                        let draft = map.get("$schema").map_or(draft, |_| Draft::of(value));
                        let id = self.push(value, paths.pointer(path), uri.clone(), draft);
                        if is_unknown {
                            self.list[id.0 as usize].outer = Some(self.get(outer).outer.unwrap_or(outer));
                        }
                        id
                    }
                };
                let known = *self.by_uri.entry(uri).or_insert(resource);
                if known != resource {
                    let pointer = paths.pointer(path);
                    warnings.push(errors::duplicate_identifier(&pointer, id, &self.get(known).pointer));
                }
            }
            if !fragment.is_empty()
                && !fragment.starts_with('/')
                && draft.is_within(Versions::until(Version::Draft7))
            {
                self.anchor(resource, value, fragment, paths.pointer(path), warnings);
            }
        }
        let draft = self.get(resource).draft;
        for (keyword, first) in [("$anchor", Version::Draft2019), ("$dynamicAnchor", Version::Draft2020)] {
            if let Some(name) = text(keyword).filter(|_| draft.is_within(Versions::since(first))) {
                self.anchor(resource, value, name, paths.pointer(path), warnings);
                if keyword == "$dynamicAnchor" && name != RECURSIVE {
                    self.list[resource.0 as usize].dynamic_anchors.push(name);
                }
            }
        }
        let is_root = std::ptr::eq(self.get(resource).root, value);
        let has_recursive_anchor = draft.is_within(Versions::only(Version::Draft2019));
        if is_root && has_recursive_anchor && map.get("$recursiveAnchor") == Some(&Value::Bool(true)) {
            self.list[resource.0 as usize].dynamic_anchors.push(RECURSIVE);
        }
        resource
    }

    fn anchor(
        &mut self,
        resource: ResourceId,
        value: &'a Value<'a>,
        name: &'a str,
        pointer: String,
        warnings: &mut Vec<Diagnostic>,
    ) {
        let anchors = &mut self.list[resource.0 as usize].anchors;
        match anchors.get(name) {
            Some((known, first)) if !std::ptr::eq(*known, value) => {
                warnings.push(errors::duplicate_identifier(&pointer, name, first));
            }
            _ => {
                anchors.insert(name, (value, pointer));
            }
        }
    }
}

/// One step of a path through a document.
#[derive(Clone, Copy)]
enum Token<'a> {
    Key(&'a str),
    Index(usize),
}

/// The paths of the schemas of a document, as a tree, since pointers are needed for few of them.
struct Paths<'a, 'p> {
    prefix: &'p str,
    steps: Vec<(Option<u32>, Token<'a>)>,
}

impl<'a> Paths<'a, '_> {
    fn push(&mut self, parent: Option<u32>, token: Token<'a>) -> Option<u32> {
        self.steps.push((parent, token));
        Some(self.steps.len() as u32 - 1)
    }

    fn pointer(&self, mut path: Option<u32>) -> String {
        let mut tokens = Vec::new();
        while let Some(at) = path {
            let (parent, token) = self.steps[at as usize];
            tokens.push(token);
            path = parent;
        }
        tokens.iter().rev().fold(self.prefix.to_owned(), |pointer, token| match token {
            Token::Key(key) => join(&pointer, key),
            Token::Index(index) => join(&pointer, &index.to_string()),
        })
    }
}
