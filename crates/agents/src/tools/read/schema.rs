//! Converts a document's schemas to self-contained schemas of JSON Schema 2020-12: referenced schemas are copied into
//! `$defs`, other dialects are translated, and undeclared members are forbidden unless objects are open by default.

use super::dialect::{self, Dialect};
use super::keywords::{LISTS, MAPS, SINGLE};
use super::pointer::{follow, join};
use super::references::Identifiers;
use crate::tools::errors;
use crate::tools::set::is_fatal;
use grammata::diagnostic::{Diagnostic, Place};
use grammata::error::Result;
use grammata_base::work::Budget;
use rustc_hash::{FxHashMap, FxHashSet};
use serde_json::{Map, Value, json};
use std::cell::OnceCell;

/// Keywords whose subschemas apply to the same object as the schema itself.
const IN_PLACE: [&str; 9] =
    ["allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas", "dependencies"];

/// The object whose members a schema describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Scope {
    /// A value that only this schema describes.
    Own,
    /// The value that the enclosing schema describes; the enclosing schema forbids undeclared members.
    Shared,
}

/// Converts the schemas of one tool, and collects the definitions to which they refer.
pub(super) struct Schemas<'d> {
    root: &'d Value,
    /// The pointer of the root in the document.
    base: String,
    dialect: Dialect,
    /// Whether objects allow undeclared members by default, as in JSON Schema.
    is_open: bool,
    pub(super) budget: &'d Budget,
    /// The identifiers of the root, found when a reference needs them.
    identifiers: OnceCell<Identifiers>,
    /// Whether a schema below the root had an `$id`, so that pointers in it may begin there.
    has_resources: bool,
    /// The definition names of referenced schemas, by pointer and scope.
    names: FxHashMap<(String, Scope), String>,
    taken: FxHashMap<String, usize>,
    /// Referenced schemas that are not copied yet.
    open: Vec<(String, Scope, String)>,
    definitions: Map<String, Value>,
    /// Warnings about repairs and about parts that are read differently from how they are written.
    pub(super) notes: Vec<Diagnostic>,
}

impl<'d> Schemas<'d> {
    pub(super) fn new(
        root: &'d Value,
        base: &str,
        dialect: Dialect,
        is_open: bool,
        budget: &'d Budget,
    ) -> Schemas<'d> {
        Schemas {
            root,
            base: base.to_owned(),
            dialect,
            is_open,
            budget,
            identifiers: OnceCell::new(),
            has_resources: false,
            names: FxHashMap::default(),
            taken: FxHashMap::default(),
            open: Vec::new(),
            definitions: Map::new(),
            notes: Vec::new(),
        }
    }

    /// Returns a converted copy of the schema at a pointer of the root.
    ///
    /// # Errors
    /// `tools/reference` for a reference that is not a text or has no target; the limit `compile_work`.
    pub(super) fn take(&mut self, schema: &Value, pointer: &str, scope: Scope) -> Result<Value> {
        let mut copy = schema.clone();
        let mut open = vec![(&mut copy, pointer.to_owned(), scope)];
        while let Some((node, pointer, scope)) = open.pop() {
            self.budget.spend(1)?;
            let Value::Object(object) = node else {
                if !node.is_boolean() {
                    self.note_form(&pointer, node);
                    *node = Value::Bool(true);
                }
                continue;
            };
            self.budget.spend(object.len())?;
            self.has_resources |= !pointer.is_empty() && object.get("$id").is_some_and(Value::is_string);
            dialect::rewrite(object, self.dialect, &format!("{}{pointer}", self.base), &mut self.notes);
            self.discriminate(object, &pointer)?;
            let scope_inside = self.close(object, &pointer, scope)?;
            self.refer(object, &pointer, scope_inside)?;
            for (keyword, value) in object.iter_mut() {
                let in_place = IN_PLACE.contains(&keyword.as_str());
                let scope = if in_place { Scope::Shared } else { Scope::Own };
                let pointer = join(&pointer, keyword);
                let word = keyword.as_str();
                if MAPS.contains(&word) {
                    if let Value::Object(map) = value {
                        let inner = |(name, inner): (&String, _)| (inner, join(&pointer, name), scope);
                        open.extend(map.iter_mut().map(inner));
                    }
                } else if value.is_array() && (LISTS.contains(&word) || word == "items") {
                    if let Value::Array(list) = value {
                        let inner = |(at, inner): (usize, _)| (inner, format!("{pointer}/{at}"), scope);
                        open.extend(list.iter_mut().enumerate().map(inner));
                    }
                } else if SINGLE.contains(&word) && (value.is_object() || value.is_boolean()) {
                    open.push((value, pointer, scope));
                }
            }
        }
        Ok(copy)
    }

    fn note_form(&mut self, pointer: &str, found: &Value) {
        let place = Place::Pointer(format!("{}{pointer}", self.base));
        let found = found.to_string();
        self.notes.push(errors::notice(
            place,
            "not a schema: any value is allowed",
            &found,
            "write an object or a boolean",
        ));
    }

    /// Forbids undeclared members of an object if it declares members and does not itself allow others, and returns the
    /// scope of its references.
    fn close(&mut self, object: &mut Map<String, Value>, pointer: &str, scope: Scope) -> Result<Scope> {
        let has_parts = ["allOf", "anyOf", "oneOf", "if"].iter().any(|keyword| object.contains_key(*keyword));
        let has_reference = object.contains_key("$ref");
        let is_family = has_parts || (has_reference && object.contains_key("properties"));
        if scope == Scope::Shared {
            return Ok(Scope::Shared);
        }
        if !is_family {
            let declares = object.get("properties").is_some_and(Value::is_object);
            if declares && !self.is_open && !opens(object) {
                forbid_undeclared(object);
            }
            return Ok(Scope::Own);
        }
        if !self.is_open
            && !opens(object)
            && let Some(undeclared) = self.of_family(object, pointer)?
        {
            declare(object, undeclared);
            object.insert("unevaluatedProperties".to_owned(), Value::Bool(false));
        }
        Ok(Scope::Shared)
    }

    /// Returns the names that are required but not declared by a schema and the schemas that describe the same object
    /// (combinators and references). Returns `None` if undeclared members cannot be forbidden: none of these schemas
    /// declares members, one of them allows others, or one requires more members than all of them declare and name.
    fn of_family(&self, object: &Map<String, Value>, place: &str) -> Result<Option<Vec<String>>> {
        let mut open: Vec<&Map<String, Value>> = vec![object];
        let mut seen: Vec<String> = Vec::new();
        let mut declared: FxHashSet<String> = FxHashSet::default();
        let mut required: Vec<String> = Vec::new();
        let (mut declares, mut least) = (false, 0);
        while let Some(object) = open.pop() {
            self.budget.spend(1 + seen.len())?;
            if opens(object) {
                return Ok(None);
            }
            if let Some(Value::Object(properties)) = object.get("properties") {
                self.budget.spend(properties.len())?;
                declares = true;
                declared.extend(properties.keys().cloned());
            }
            required.extend(required_names(object));
            least = least.max(least_members(object));
            for keyword in ["allOf", "anyOf", "oneOf"] {
                if let Some(Value::Array(parts)) = object.get(keyword) {
                    open.extend(parts.iter().filter_map(Value::as_object));
                }
            }
            for keyword in ["then", "else"] {
                open.extend(object.get(keyword).and_then(Value::as_object));
            }
            if let Some(reference) = object.get("$ref").and_then(Value::as_str)
                && let Some((Value::Object(target), pointer)) = self.target(place, reference)?
                && !seen.contains(&pointer)
            {
                seen.push(pointer);
                open.push(target);
            }
        }
        required.retain(|name| declared.insert(name.clone()));
        Ok((declares && least <= declared.len()).then_some(required))
    }

    /// Returns the target of a reference in the schema at `place`, with its pointer; `None` if it has none.
    ///
    /// # Errors
    /// The limit `compile_work`.
    pub(super) fn target(&self, place: &str, reference: &str) -> Result<Option<(&'d Value, String)>> {
        let is_pointer = reference == "#" || reference.starts_with("#/");
        if is_pointer && !self.has_resources {
            return Ok(follow(self.root, reference));
        }
        if self.identifiers.get().is_none() {
            let found = Identifiers::of(self.root, self.budget)?;
            // nothing else sets it
            let _ = self.identifiers.set(found);
        }
        let found = self.identifiers.get().and_then(|known| known.target(self.root, place, reference));
        Ok(found)
    }

    /// Redirects a reference to a definition of this tool.
    fn refer(&mut self, object: &mut Map<String, Value>, pointer: &str, scope: Scope) -> Result<()> {
        let Some(reference) = object.get("$ref") else { return Ok(()) };
        let place = || Place::Pointer(format!("{}{pointer}/$ref", self.base));
        let Some(text) = reference.as_str() else {
            // `$ref` in a schema is a text; a property that is named `$ref` is not a reference
            let found = reference.to_string();
            return Err(errors::fatal(errors::reference(place(), &found, "a text")));
        };
        let target = match self.target(pointer, text)? {
            Some((_, target)) => target,
            None => {
                let renamed = other_definitions(text);
                let Some((_, target)) = renamed.as_deref().and_then(|text| follow(self.root, text)) else {
                    let allowed = "a place in this document, as `#/…`, or its `$id` or `$anchor`";
                    return Err(errors::fatal(errors::reference(place(), text, allowed)));
                };
                self.notes.push(errors::repaired(place(), text, &renamed.unwrap_or_default()));
                target
            }
        };
        let key = (target.clone(), scope);
        let name = match self.names.get(&key) {
            Some(name) => name.clone(),
            None => {
                let last = target.rsplit('/').next().unwrap_or_default();
                let stem: String =
                    last.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
                let stem = if stem.is_empty() { "root".to_owned() } else { stem };
                let count = self.taken.entry(stem.clone()).or_insert(0);
                *count += 1;
                // a stem contains no dot
                let name = if *count == 1 { stem } else { format!("{stem}.{count}") };
                self.names.insert(key, name.clone());
                self.open.push((target, scope, name.clone()));
                name
            }
        };
        if self.dialect.is_reference_alone() {
            object.retain(|keyword, _| keyword == "$ref" || keyword == "description");
        }
        object.insert("$ref".to_owned(), Value::String(format!("#/$defs/{name}")));
        Ok(())
    }

    /// Returns pairs of a pointer to a copied definition and its pointer in the document, sorted.
    pub(super) fn origins(&self) -> Vec<(String, String)> {
        let copied = self.names.iter();
        let mut origins: Vec<(String, String)> = copied
            .map(|((pointer, _), name)| (format!("/$defs/{name}"), format!("{}{pointer}", self.base)))
            .collect();
        origins.sort_unstable();
        origins
    }

    /// Converts all referenced schemas, and returns the definitions by name.
    ///
    /// # Errors
    /// Those of [`take`](Schemas::take).
    pub(super) fn finish(&mut self) -> Result<Map<String, Value>> {
        while let Some((pointer, scope, name)) = self.open.pop() {
            let root = self.root;
            let schema = root.pointer(&pointer).unwrap_or(&Value::Bool(true));
            let copy = self.take(schema, &pointer, scope)?;
            self.definitions.insert(name, copy);
        }
        Ok(std::mem::take(&mut self.definitions))
    }
}

/// Converts the schema of a response, whose objects may have undeclared members. Returns `None` if it cannot be read,
/// which is no error because responses are not validated.
///
/// # Errors
/// The limit `compile_work`.
pub(super) fn of_response(
    root: &Value,
    schema: &Value,
    pointer: &str,
    dialect: Dialect,
    budget: &Budget,
) -> Result<Option<Value>> {
    let mut schemas = Schemas::new(root, "", dialect, true, budget);
    let taken = schemas.take(schema, pointer, Scope::Own);
    match taken.and_then(|taken| Ok((taken, schemas.finish()?))) {
        Ok((mut taken, definitions)) => {
            if let (Some(object), false) = (taken.as_object_mut(), definitions.is_empty()) {
                object.insert("$defs".to_owned(), Value::Object(definitions));
            }
            Ok(Some(taken))
        }
        Err(error) if is_fatal(&error) => Err(error),
        Err(_) => Ok(None),
    }
}

/// Forbids undeclared members of an object. Names that the object requires count as declared, with any value. An object
/// that requires more members (`minProperties`) than its declared and required names stays open.
pub(super) fn forbid_undeclared(object: &mut Map<String, Value>) {
    let names: Vec<String> = required_names(object).collect();
    let mut declared: FxHashSet<&str> = names.iter().map(String::as_str).collect();
    let properties = object.get("properties").and_then(Value::as_object);
    declared.extend(properties.into_iter().flat_map(Map::keys).map(String::as_str));
    if least_members(object) > declared.len() {
        return;
    }
    declare(object, names);
    object.insert("additionalProperties".to_owned(), Value::Bool(false));
}

/// Declares names as members with any value.
fn declare(object: &mut Map<String, Value>, names: Vec<String>) {
    if names.is_empty() {
        return;
    }
    if let Value::Object(properties) = object.entry("properties").or_insert_with(|| json!({})) {
        for name in names {
            properties.entry(name).or_insert_with(|| json!({}));
        }
    }
}

/// Returns the names that a schema requires, always or if another member is present.
fn required_names(object: &Map<String, Value>) -> impl Iterator<Item = String> {
    let dependent = ["dependentRequired", "dependencies"]
        .into_iter()
        .filter_map(|keyword| object.get(keyword)?.as_object())
        .flat_map(Map::values);
    let lists = object.get("required").into_iter().chain(dependent).filter_map(Value::as_array);
    lists.flatten().filter_map(|name| Some(name.as_str()?.to_owned()))
}

/// Returns the minimum number of members of an object (`minProperties`).
fn least_members(object: &Map<String, Value>) -> usize {
    let least = object.get("minProperties").and_then(Value::as_f64).unwrap_or(0.0);
    least.max(0.0) as usize
}

/// Converts a reference into `$defs` to a reference into `definitions`, and vice versa; `None` for other references.
/// Gemini's references name `$defs` or `defs`, whichever the schema has.
fn other_definitions(reference: &str) -> Option<String> {
    let names = [("#/$defs/", "#/definitions/"), ("#/definitions/", "#/$defs/"), ("#/defs/", "#/$defs/")];
    names.iter().find_map(|(from, to)| Some(format!("{to}{}", reference.strip_prefix(from)?)))
}

/// Returns whether a schema itself allows undeclared members, of any or of some kind.
fn opens(object: &Map<String, Value>) -> bool {
    ["additionalProperties", "unevaluatedProperties", "patternProperties"]
        .iter()
        .any(|keyword| object.get(*keyword).is_some_and(|value| *value != Value::Bool(false)))
}
