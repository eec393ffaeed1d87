//! Bounds on the lengths of the strings that a schema allows.

use serde_json::{Map, Value};

/// Keywords that already decide how long a string can be, or which strings there are.
const DECIDING: [&str; 5] = ["maxLength", "enum", "const", "pattern", "format"];
/// Keywords whose values are not schemas.
const VALUES: [&str; 4] = ["enum", "const", "default", "examples"];
/// Keywords whose values are schemas by name, such as the names of properties.
const NAMED: [&str; 5] = ["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"];

/// Removes `minLength` and `maxLength` from each schema of type `string`. Visits the same values as [`bound`].
pub(crate) fn remove(value: &mut Value) {
    visit(value, &|members| {
        if members.get("type").is_some_and(|kind| kind == "string") {
            members.shift_remove("minLength");
            members.shift_remove("maxLength");
        }
    });
}

/// Adds `maxLength` to each schema of type `string` that has none and no other keyword that bounds its strings. Visits
/// all schemas inside `value`, but no values of the keywords `enum`, `const`, `default` and `examples`. The recursion is as deep as the value, whose nesting the JSON reader limits.
pub(crate) fn bound(value: &mut Value, most: u32) {
    visit(value, &|members| {
        if is_unbounded_string(members) {
            members.insert("maxLength".to_owned(), most.into());
        }
    });
}

/// Calls `each` for all objects that may be schemas.
fn visit(value: &mut Value, each: &impl Fn(&mut Map<String, Value>)) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| visit(item, each)),
        Value::Object(members) => {
            each(members);
            for (name, value) in members.iter_mut() {
                match value {
                    _ if VALUES.contains(&name.as_str()) => {}
                    Value::Object(schemas) if NAMED.contains(&name.as_str()) => {
                        schemas.values_mut().for_each(|schema| visit(schema, each));
                    }
                    value => visit(value, each),
                }
            }
        }
        _ => {}
    }
}

fn is_unbounded_string(members: &Map<String, Value>) -> bool {
    members.get("type").is_some_and(|kind| kind == "string")
        && !DECIDING.iter().any(|keyword| members.contains_key(*keyword))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_free_strings_are_bounded() {
        let text = json!({"type": "string"});
        let bounded = json!({"type": "string", "maxLength": 9});
        for (schema, expected) in [
            (text.clone(), bounded.clone()),
            (json!({"properties": {"type": text}}), json!({"properties": {"type": bounded}})),
            (json!({"anyOf": [text, {"type": "null"}]}), json!({"anyOf": [bounded, {"type": "null"}]})),
            (json!({"properties": {"default": text}}), json!({"properties": {"default": bounded}})),
            (json!({"$defs": {"properties": text}}), json!({"$defs": {"properties": bounded}})),
            (json!({"const": text}), json!({"const": text})),
            (json!({"items": {"default": text}}), json!({"items": {"default": text}})),
            (json!({"type": ["string", "number"]}), json!({"type": ["string", "number"]})),
        ] {
            let mut found = schema.clone();
            bound(&mut found, 9);
            assert_eq!(found, expected, "{schema}");
            remove(&mut found);
            assert_eq!(found, schema);
        }
        for keyword in DECIDING {
            let schema = json!({"type": "string", keyword: 3});
            let mut found = schema.clone();
            bound(&mut found, 9);
            assert_eq!(found, schema);
        }
    }
}
