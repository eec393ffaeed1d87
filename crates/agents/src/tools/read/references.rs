//! Targets of references in a document: JSON Pointers, and schemas with `$id` and `$anchor`.

use super::keywords::{LISTS, MAPS, SINGLE};
use super::pointer::{follow, join};
use crate::tools::address::percent_decoded;
use grammata::error::Result;
use grammata_base::work::Budget;
use rustc_hash::FxHashMap;
use serde_json::Value;

/// The schemas of a document that have an identifier.
#[derive(Debug, Default)]
pub(super) struct Identifiers {
    /// Pointers of schemas with an `$id`, with the resolved identifier.
    resources: Vec<(String, String)>,
    /// Pointers by resolved identifier.
    by_id: FxHashMap<String, String>,
    /// Pointers by the pointer of the resource and the name of the anchor.
    by_anchor: FxHashMap<(String, String), String>,
}

impl Identifiers {
    /// Finds the identifiers in a schema and its subschemas.
    ///
    /// # Errors
    /// The limit `compile_work`.
    pub(super) fn of(root: &Value, budget: &Budget) -> Result<Identifiers> {
        let mut found = Identifiers::default();
        // each schema with its pointer, and the pointer and identifier of its resource
        let mut open = vec![(root, String::new(), String::new(), String::new())];
        while let Some((schema, pointer, mut resource, mut base)) = open.pop() {
            budget.spend(1)?;
            let Value::Object(object) = schema else { continue };
            budget.spend(object.len())?;
            let text = |keyword: &str| object.get(keyword).and_then(Value::as_str);
            let (id, mut anchor) = match text("$id").map(|id| id.split_once('#').unwrap_or((id, ""))) {
                // before 2019-09 an anchor is an identifier that is only a fragment
                Some(("", fragment)) => (None, Some(fragment).filter(|name| !name.is_empty())),
                Some((id, _)) => (Some(id), None),
                None => (None, None),
            };
            if let Some(id) = id {
                base = resolved(&base, id);
                resource.clone_from(&pointer);
                found.resources.push((pointer.clone(), base.clone()));
                found.by_id.entry(base.clone()).or_insert_with(|| pointer.clone());
            }
            anchor = text("$anchor").or_else(|| text("$dynamicAnchor")).or(anchor);
            if let Some(name) = anchor {
                let key = (resource.clone(), name.to_owned());
                found.by_anchor.entry(key).or_insert_with(|| pointer.clone());
            }
            for (keyword, value) in object {
                let word = keyword.as_str();
                let pointer = join(&pointer, keyword);
                let mut add = |value, pointer| open.push((value, pointer, resource.clone(), base.clone()));
                match value {
                    Value::Object(map) if MAPS.contains(&word) => {
                        map.iter().for_each(|(name, value)| add(value, join(&pointer, name)));
                    }
                    Value::Array(list) if LISTS.contains(&word) || word == "items" => {
                        list.iter().enumerate().for_each(|(at, value)| add(value, format!("{pointer}/{at}")));
                    }
                    Value::Object(_) if SINGLE.contains(&word) => add(value, pointer),
                    _ => {}
                }
            }
        }
        Ok(found)
    }

    /// Returns the target of a reference in the schema at `place`, with its pointer.
    pub(super) fn target<'d>(
        &self,
        root: &'d Value,
        place: &str,
        reference: &str,
    ) -> Option<(&'d Value, String)> {
        let inside = |outer: &str| {
            place.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let enclosing = self.resources.iter().filter(|(pointer, _)| inside(pointer));
        let (resource, base) = enclosing
            .max_by_key(|(pointer, _)| pointer.len())
            .map_or(("", ""), |(pointer, base)| (pointer.as_str(), base.as_str()));
        let (id, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let resource = match id {
            "" => resource,
            id => self.by_id.get(&resolved(base, id)).or_else(|| self.by_id.get(id))?,
        };
        let fragment = percent_decoded(fragment)?;
        let pointer = match fragment.as_str() {
            "" => resource.to_owned(),
            path if path.starts_with('/') => format!("{resource}{path}"),
            name => self.by_anchor.get(&(resource.to_owned(), name.to_owned()))?.clone(),
        };
        match root.pointer(&pointer) {
            Some(target) => Some((target, pointer)),
            // many producers write pointers from the root of the document
            None => follow(root, reference),
        }
    }
}

/// Resolves a reference without a fragment against a base (RFC 3986, section 5.2, without dot segments).
fn resolved(base: &str, reference: &str) -> String {
    let has_scheme = |text: &str| {
        text.split_once(':').is_some_and(|(scheme, _)| {
            scheme.starts_with(|c: char| c.is_ascii_alphabetic())
                && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
        })
    };
    if base.is_empty() || has_scheme(reference) {
        return reference.to_owned();
    }
    let authority =
        base.find("://").map_or(0, |at| base[at + 3..].find('/').map_or(base.len(), |slash| at + 3 + slash));
    match reference.strip_prefix("//") {
        Some(_) => format!("{}{reference}", base.split_once("//").map_or("", |(scheme, _)| scheme)),
        None if reference.starts_with('/') => format!("{}{reference}", &base[..authority]),
        None => {
            let folder = base.rfind('/').filter(|at| *at >= authority).map_or(authority, |at| at + 1);
            let slash = if folder == base.len() && !base.ends_with('/') && authority > 0 { "/" } else { "" };
            format!("{}{slash}{}", &base[..folder], reference.trim_start_matches("./"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use grammata::Limits;
    use serde_json::json;

    #[test]
    fn references_are_resolved() {
        for (base, reference, expected) in [
            ("", "T0", "T0"),
            ("T0", "T1", "T1"),
            ("https://a.b/c/d.json", "e.json", "https://a.b/c/e.json"),
            ("https://a.b/c/d.json", "./e.json", "https://a.b/c/e.json"),
            ("https://a.b/c/", "/e", "https://a.b/e"),
            ("https://a.b", "e", "https://a.b/e"),
            ("https://a.b/c", "//d.e/f", "https://d.e/f"),
            ("https://a.b/c", "urn:x:y", "urn:x:y"),
            ("urn:x:y", "T0", "T0"),
        ] {
            assert_eq!(resolved(base, reference), expected, "{base} and {reference}");
        }
    }

    #[test]
    fn identifiers_are_found_where_schemas_are() {
        let root = json!({
            "$id": "https://a.b/root.json",
            "properties": {
                "$id": {"const": {"$id": "no schema"}},
                "t": {"$id": "t.json", "$defs": {"u": {"$anchor": "u", "type": "string"}}},
                "old": {"$id": "#old"},
            },
            "$defs": {"u": {"type": "null"}},
        });
        let limits = Limits::default();
        let found = Identifiers::of(&root, &Budget::of_compilation(&limits, 0)).unwrap();
        let pointer =
            |place: &str, reference: &str| found.target(&root, place, reference).map(|(_, pointer)| pointer);
        for (place, reference, expected) in [
            ("/properties/t", "#u", Some("/properties/t/$defs/u")),
            ("/properties/t/items", "#/$defs/u", Some("/properties/t/$defs/u")),
            ("/properties/old", "#/$defs/u", Some("/$defs/u")),
            ("/properties/old", "t.json#u", Some("/properties/t/$defs/u")),
            ("", "https://a.b/t.json", Some("/properties/t")),
            ("", "#old", Some("/properties/old")),
            ("", "#", Some("")),
            ("/properties/t", "#/properties/old", Some("/properties/old")),
            ("", "#u", None),
            ("", "no schema", None),
        ] {
            assert_eq!(pointer(place, reference).as_deref(), expected, "{reference} in {place}");
        }
    }
}
