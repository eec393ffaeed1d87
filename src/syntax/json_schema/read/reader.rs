//! The state of reading schema documents: the schemas that have an id, by their location, and the warnings so far.

use super::draft::Draft;
use super::keyword::Word;
use super::resources::{Found, ResourceId, Resources};
use super::scope::{MAX_SCOPES, ScopeId, Scopes};
use super::source::{self, Source};
use crate::diagnostic::Diagnostic;
use crate::error::Result;
use crate::limits::Limits;
use crate::syntax::json_schema::errors;
use crate::syntax::json_schema::grammars::GrammarReader;
use crate::syntax::json_schema::model::schema::Schemas;
use crate::syntax::json_schema::model::schema_id::SchemaId;
use crate::syntax::json_schema::options::{Formats, Options};
use crate::syntax::json_schema::values::json::Value;
use crate::syntax::json_schema::values::pointer::append;
use crate::work::Budget;
use bumpalo::Bump;
use rustc_hash::{FxBuildHasher, FxHashMap};

/// Greatest number of documents that one schema may need, in addition to its own.
const MAX_DOCUMENTS: usize = 1000;

/// A schema in a document, with its resource and dynamic scope.
#[derive(Clone, Copy, Debug)]
pub(super) struct Location<'a> {
    pub(super) value: &'a Value<'a>,
    /// A JSON Pointer in the schema's own document; in other documents, a URI with the pointer as its fragment.
    pub(super) pointer: &'a str,
    pub(super) resource: ResourceId,
    /// The dynamic scope: the resources entered before.
    pub(super) scope: ScopeId,
}

/// The state of reading documents into [`Schemas`].
pub(super) struct Reader<'a, 'w> {
    options: &'a Options,
    pub(super) arena: &'a Bump,
    pub(super) resources: Resources<'a>,
    pub(super) scopes: Scopes<'a>,
    documents: usize,
    /// Buffer for building pointers.
    written: String,
    locations: Vec<Location<'a>>,
    /// Ids by position in a document and scope, regardless of how a schema is reached.
    ids: FxHashMap<(*const Value<'a>, ScopeId), SchemaId>,
    pub(super) warnings: &'w mut Vec<Diagnostic>,
    /// The words that occur as keys of schemas.
    pub(super) keywords: FxHashMap<&'a str, Word>,
    /// Warnings that are given once for all of their places: by code and word, the index of the warning and the number
    /// of places.
    pub(super) counted: FxHashMap<(&'static str, &'a str), (usize, usize)>,
    /// Remaining work of the compilation.
    work: &'w Budget,
    /// Total length of the pointers stored so far, in bytes.
    pointers: usize,
}

/// Greatest total length of the JSON Pointers of the schemas of a compilation, in bytes. A long name is part of the
/// pointers of all schemas inside it.
const MAX_POINTERS: usize = 64 << 20;

impl<'a, 'w> Reader<'a, 'w> {
    /// Begins with the root of a document.
    ///
    /// # Errors
    /// Identifiers that cannot be used; the work budget is exhausted.
    pub(super) fn new(
        source: Source<'a>,
        arena: &'a Bump,
        options: &'a Options,
        warnings: &'w mut Vec<Diagnostic>,
        work: &'w Budget,
    ) -> Result<Self> {
        let mut resources = Resources::default();
        let resource = resources.add_document(source, "", "", (warnings, work))?;
        let mut scopes = Scopes::new();
        let scope = scopes.enter(ScopeId::default(), resource, &resources.get(resource).dynamic_anchors);
        // most schemas have no more
        let locations = Vec::with_capacity(8);
        let ids = FxHashMap::with_capacity_and_hasher(14, FxBuildHasher);
        let mut reader = Reader {
            options,
            arena,
            resources,
            scopes,
            documents: 0,
            written: String::new(),
            locations,
            ids,
            warnings,
            keywords: FxHashMap::with_capacity_and_hasher(14, FxBuildHasher),
            counted: FxHashMap::default(),
            work,
            pointers: 0,
        };
        reader.intern(source.value, "", resource, scope);
        Ok(reader)
    }

    /// Returns the location of a schema by the index of its id; `None` if nothing refers to a schema of this id yet.
    pub(super) fn location(&self, index: usize) -> Option<Location<'a>> {
        self.locations.get(index).copied()
    }

    /// Returns the id of the schema that a reference in the schema at `from` found. The schema is read later.
    pub(super) fn enter(&mut self, from: &Location<'a>, found: Found<'a>) -> SchemaId {
        let Found { value, pointer, resource } = found;
        let names = &self.resources.get(resource).dynamic_anchors;
        let scope = self.scopes.enter(from.scope, resource, names);
        self.intern(value, &pointer, resource, scope)
    }

    fn intern(
        &mut self,
        value: &'a Value<'a>,
        pointer: &str,
        resource: ResourceId,
        scope: ScopeId,
    ) -> SchemaId {
        let next = SchemaId(self.locations.len() as u32);
        let is_full =
            self.pointers > MAX_POINTERS || self.locations.len() > Schemas::most(&self.options.limits);
        *self.ids.entry((std::ptr::from_ref(value), scope)).or_insert_with(|| {
            if is_full {
                // the error comes before the next schema is read
                return SchemaId(0);
            }
            self.pointers += pointer.len();
            let pointer = self.arena.alloc_str(pointer);
            self.locations.push(Location { value, pointer, resource, scope });
            next
        })
    }

    /// Returns the id of a schema inside the one at `parent`. Its pointer is that of `parent` with `path` appended.
    pub(super) fn child(&mut self, parent: &Location<'a>, path: &[&str], value: &'a Value<'a>) -> SchemaId {
        let mut pointer = std::mem::take(&mut self.written);
        pointer.clear();
        pointer.push_str(parent.pointer);
        path.iter().for_each(|token| append(&mut pointer, token));
        let (mut resource, mut scope) = (parent.resource, parent.scope);
        if let Some(own) = self.resources.of_root(value) {
            resource = own;
            scope = self.scopes.enter(scope, own, &self.resources.get(own).dynamic_anchors);
        }
        let id = self.intern(value, &pointer, resource, scope);
        self.written = pointer;
        id
    }

    /// Adds a document that the caller gave, and returns its resource.
    ///
    /// # Errors
    /// The document is unknown, not available or too deep, or there are too many documents.
    pub(super) fn fetch(&mut self, place: &str, uri: &str) -> Result<ResourceId> {
        if self.documents == MAX_DOCUMENTS {
            return Err(errors::too_many_documents(place, MAX_DOCUMENTS));
        }
        let Some(answer) = self.options.documents.get(uri) else {
            return Err(errors::remote_reference(place, uri));
        };
        self.documents += 1;
        let document = answer.map_err(|reason| errors::document_unavailable(place, uri, &reason))?;
        source::check_depth(&document, &self.options.limits, errors::too_deep)?;
        let document = self.arena.alloc(Value::of(&document, self.arena));
        let document = Source { value: document, has_identifiers: true };
        self.resources.add_document(document, uri, &format!("{uri}#"), (self.warnings, self.work))
    }

    /// Spends work of the compilation.
    pub(super) fn spend(&self, steps: usize, pointer: &str) -> Result<()> {
        self.work.spend(steps).map_err(|error| errors::placed(error, pointer))
    }

    /// Returns the draft of the schema at a location.
    pub(super) fn draft(&self, location: &Location<'a>) -> Draft {
        self.resources.get(location.resource).draft
    }

    pub(super) fn formats(&self) -> Formats {
        self.options.formats
    }

    /// Returns the reader of grammars of strings, if there is one.
    pub(super) fn grammars(&self) -> Option<GrammarReader> {
        self.options.grammars
    }

    pub(super) fn limits(&self) -> &'a Limits {
        &self.options.limits
    }

    pub(super) fn warn(&mut self, warning: Diagnostic) {
        self.warnings.push(warning);
    }

    /// Warns of a word once for all of its places. The warning is made for the first one.
    pub(super) fn warn_once(
        &mut self,
        code: &'static str,
        word: &'a str,
        warning: impl FnOnce() -> Diagnostic,
    ) {
        let next = (self.warnings.len(), 0);
        let (place, count) = self.counted.entry((code, word)).or_insert(next);
        *count += 1;
        if *count == 1 && *place == self.warnings.len() {
            self.warnings.push(warning());
        }
    }

    /// Adds the number of places to the warnings of several.
    pub(super) fn count_places(&mut self) {
        for &(place, count) in self.counted.values().filter(|(_, count)| *count > 1) {
            if let Some(warning) = self.warnings.get_mut(place) {
                let first = warning.found_text().map_or(String::new(), |found| format!("{found}; "));
                *warning = warning.clone().found(format!("{first}{count} of them, the first here"));
            }
        }
    }

    /// Checks that the schemas stay within the limits.
    ///
    /// # Errors
    /// Too many schemas, dynamic scopes, or bytes of pointers.
    pub(super) fn check(&self, pointer: &str) -> Result<()> {
        if self.scopes.len() > MAX_SCOPES {
            return Err(errors::too_many_scopes(pointer, MAX_SCOPES));
        }
        if self.pointers > MAX_POINTERS {
            return Err(errors::pointers_too_long(pointer, MAX_POINTERS));
        }
        if self.locations.len() > Schemas::most(&self.options.limits) {
            return Err(errors::too_many_schemas(pointer, &self.options.limits));
        }
        Ok(())
    }
}
