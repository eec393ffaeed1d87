//! Argument objects that formats write member by member.

use crate::tools::errors;
use crate::tools::set::Tool;
use grammata::error::Result;
use grammata::grammar::{Alternative, Condition};
use serde_json::{Map, Value, json};

/// Keywords that do not restrict the values of an object, or that [`Plain`] represents.
const KNOWN: [&str; 19] = [
    "$schema",
    "$id",
    "$defs",
    "definitions",
    "$comment",
    "type",
    "title",
    "description",
    "default",
    "example",
    "examples",
    "deprecated",
    "properties",
    "required",
    "dependentRequired",
    "minProperties",
    "maxProperties",
    "additionalProperties",
    "unevaluatedProperties",
];

/// A declared member of an object.
#[derive(Clone, Copy, Debug)]
pub(super) struct Member<'t> {
    pub(super) name: &'t str,
    pub(super) schema: &'t Value,
    pub(super) required: bool,
}

/// An object schema whose members have independent schemas; its only other constraints are which members occur together
/// and how many. Undeclared members are never written.
#[derive(Debug)]
pub(super) struct Plain<'t> {
    pub(super) root: &'t Value,
    pub(super) members: Vec<Member<'t>>,
    /// Pairs of a member and the members that are required if the first one is present.
    dependent: Vec<(&'t str, Vec<&'t str>)>,
    pub(super) min: u32,
    pub(super) max: Option<u32>,
}

impl<'t> Plain<'t> {
    /// Analyses the arguments of a tool, whose schema is `root`.
    ///
    /// # Errors
    /// `tools/not-callable`: the schema says more than a plain object can.
    pub(super) fn of(tool: &Tool, root: &'t Value) -> Result<Plain<'t>> {
        let refused = |found: &str| {
            let message =
                "this format writes arguments one by one, and their schema says more of them together";
            let allowed = "an object of `properties`, `required` and `dependentRequired`";
            errors::fatal(errors::not_callable(tool.place.clone(), message, found, allowed))
        };
        let target = resolved(root, root);
        let Some(object) = target.as_object() else { return Err(refused(&target.to_string())) };
        if let Some(keyword) =
            object.keys().find(|keyword| !KNOWN.contains(&keyword.as_str()) && !keyword.starts_with("x-"))
        {
            return Err(refused(keyword));
        }
        let names = |value: Option<&'t Value>| -> Vec<&'t str> {
            value.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect()
        };
        let required = names(object.get("required"));
        let properties = object.get("properties").and_then(Value::as_object);
        let members: Vec<Member<'t>> = properties
            .into_iter()
            .flatten()
            .map(|(name, schema)| Member { name, schema, required: required.contains(&name.as_str()) })
            .collect();
        if let Some(name) = required.iter().find(|name| !members.iter().any(|member| member.name == **name)) {
            return Err(refused(name));
        }
        let dependent = object.get("dependentRequired").and_then(Value::as_object).into_iter().flatten();
        let dependent = dependent.map(|(name, others)| (name.as_str(), names(Some(others)))).collect();
        let count = |keyword: &str| {
            object.get(keyword).and_then(Value::as_u64).map(|count| count.min(u64::from(u32::MAX)) as u32)
        };
        Ok(Plain {
            root,
            members,
            dependent,
            min: count("minProperties").unwrap_or(0),
            max: count("maxProperties"),
        })
    }

    /// Returns the schema of a member as a standalone schema, with the `$defs` of the root.
    pub(super) fn alone(&self, schema: &Value) -> Value {
        let mut alone = schema.clone();
        if let (Some(object), Some(definitions)) = (alone.as_object_mut(), self.root.get("$defs"))
            && !object.contains_key("$defs")
        {
            object.insert("$defs".to_owned(), definitions.clone());
        }
        alone
    }

    /// Returns the target of a schema that consists only of a reference, apart from a description and `$defs`; any
    /// other schema unchanged.
    pub(super) fn resolved(&self, schema: &'t Value) -> &'t Value {
        resolved(self.root, schema)
    }

    /// Returns whether there are conditions on which members occur together, or how many.
    pub(super) fn has_conditions(&self) -> bool {
        !self.dependent.is_empty() || self.min > 0 || self.max.is_some()
    }

    /// Returns the conditions on the members in a list of names; `None` if a condition refers to a member that is not
    /// in the list.
    pub(super) fn conditions(&self, names: &[&str]) -> Option<Box<[Condition]>> {
        let place = |name: &str| Some(names.iter().position(|other| *other == name)? as u32);
        let mut all = Vec::new();
        for (name, others) in self.dependent.iter().filter(|(name, _)| names.contains(name)) {
            for other in others {
                let without = Alternative { some: Box::default(), none: [place(name)?].into() };
                let with = Alternative { some: [[place(other)?].into()].into(), none: Box::default() };
                all.push(Condition([without, with].into()));
            }
        }
        Some(all.into())
    }

    /// Returns the schema of an object of some members under other names. If `whole`, members that another member
    /// requires (`dependentRequired`) are always required.
    pub(super) fn object(&self, members: &[(&str, &str)], whole: bool) -> Value {
        let (mut properties, mut required) = (Map::new(), Vec::new());
        for (member, name) in members {
            let Some(found) = self.members.iter().find(|known| known.name == *member) else { continue };
            properties.insert((*name).to_owned(), found.schema.clone());
            let is_dependent = || self.dependent.iter().any(|(_, others)| others.contains(member));
            if found.required || (whole && is_dependent()) {
                required.push(*name);
            }
        }
        let object = json!({
            "type": "object", "properties": properties, "required": required, "additionalProperties": false,
        });
        self.alone(&object)
    }
}

/// Returns the schema at the end of a chain of references. A reference with other keywords next to it, except `$defs`
/// and `description`, is not followed.
fn resolved<'t>(root: &'t Value, mut schema: &'t Value) -> &'t Value {
    // following a cycle of references stops after as many steps as there are definitions
    let most = root.get("$defs").and_then(Value::as_object).map_or(0, Map::len);
    for _ in 0..=most {
        let Some(reference) = schema.get("$ref").and_then(Value::as_str) else { break };
        let has_more = schema.as_object().is_some_and(|object| {
            object.keys().any(|keyword| !["$ref", "$defs", "description"].contains(&keyword.as_str()))
        });
        let target = reference.strip_prefix('#').and_then(|pointer| root.pointer(pointer));
        match target {
            Some(target) if !has_more => schema = target,
            _ => break,
        }
    }
    schema
}
