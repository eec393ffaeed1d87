//! OpenAPI's `discriminator`: the value of a property tells which alternative a value is.

use super::schema::Schemas;
use grammata::error::Result;
use serde_json::{Map, Value, json};

impl Schemas<'_> {
    /// Removes a discriminator, and requires its property in each alternative. In a referenced alternative the property
    /// has one of the values that the mapping assigns to the schema, or, if there are none, the name of the schema. A
    /// name that the property cannot have is not required: some generators write a discriminator without mapping for
    /// schemas that list other values.
    ///
    /// # Errors
    /// The limit `compile_work`.
    pub(super) fn discriminate(&self, object: &mut Map<String, Value>, pointer: &str) -> Result<()> {
        let Some(Value::Object(discriminator)) = object.remove("discriminator") else { return Ok(()) };
        let Some(Value::String(property)) = discriminator.get("propertyName") else { return Ok(()) };
        let none = Map::new();
        let mapping = discriminator.get("mapping").and_then(Value::as_object).unwrap_or(&none);
        for keyword in ["oneOf", "anyOf"] {
            let Some(Value::Array(branches)) = object.get_mut(keyword) else { continue };
            for branch in branches {
                self.budget.spend(1 + mapping.len())?;
                let reference = branch.get("$ref").and_then(Value::as_str);
                let Some(reference) = reference.map(str::to_owned) else {
                    require_declared(branch, property);
                    continue;
                };
                let name = reference.rsplit('/').next().unwrap_or_default();
                let name = name.replace("~1", "/").replace("~0", "~");
                let names_it = |target: &str| target == reference || name == target;
                let mapped: Vec<&str> = mapping
                    .iter()
                    .filter(|(_, target)| target.as_str().is_some_and(names_it))
                    .map(|(value, _)| value.as_str())
                    .collect();
                let values = match mapped.is_empty() {
                    false => mapped,
                    true => self.implied(&reference, pointer, property, &name)?,
                };
                let member = match values.is_empty() {
                    false => json!({"properties": {property: {"enum": values}}, "required": [property]}),
                    true => json!({"required": [property]}),
                };
                *branch = json!({"allOf": [branch.clone(), member]});
            }
        }
        Ok(())
    }

    /// Returns the name of a referenced schema if the property may have it as value, otherwise nothing.
    fn implied<'n>(
        &self,
        reference: &str,
        place: &str,
        property: &str,
        name: &'n str,
    ) -> Result<Vec<&'n str>> {
        let mut open = vec![reference.to_owned()];
        let mut seen: Vec<String> = Vec::new();
        while let Some(reference) = open.pop() {
            let Some((target, pointer)) = self.target(place, &reference)? else { continue };
            self.budget.spend(1 + seen.len())?;
            if seen.contains(&pointer) {
                continue;
            }
            seen.push(pointer);
            let mut parts = vec![target];
            while let Some(part) = parts.pop() {
                self.budget.spend(1)?;
                open.extend(part.get("$ref").and_then(Value::as_str).map(str::to_owned));
                parts.extend(part.get("allOf").and_then(Value::as_array).into_iter().flatten());
                let member = part.get("properties").and_then(|properties| properties.get(property));
                let Some(member) = member else { continue };
                let of_reference = match member.get("$ref").and_then(Value::as_str) {
                    Some(reference) => self.target(place, reference)?.map(|(target, _)| target),
                    None => None,
                };
                for schema in [Some(member), of_reference].into_iter().flatten() {
                    let is_other = schema.get("const").is_some_and(|only| only != name);
                    let listed = schema.get("enum").and_then(Value::as_array);
                    if is_other || listed.is_some_and(|values| !values.iter().any(|value| value == name)) {
                        return Ok(Vec::new());
                    }
                }
            }
        }
        Ok(vec![name])
    }
}

/// Requires a property of an alternative that is written in place, if the alternative declares it.
fn require_declared(branch: &mut Value, property: &str) {
    let is_declared = branch.get("properties").is_some_and(|properties| properties.get(property).is_some());
    let Value::Object(branch) = branch else { return };
    if !is_declared {
        return;
    }
    if let Value::Array(required) = branch.entry("required").or_insert_with(|| json!([]))
        && !required.iter().any(|name| name == property)
    {
        required.push(property.into());
    }
}
