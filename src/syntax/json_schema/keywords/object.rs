//! `properties`, `required` and `additionalProperties`.

use super::Keywords;
use crate::error::Result;
use crate::syntax::json_schema::schema::{Reader, Schema};
use rustc_hash::FxHashSet;
use serde_json::Value;

pub(super) fn read<'a>(
    reader: &mut Reader<'a, '_>,
    keywords: &Keywords<'a, '_>,
    schema: &mut Schema<'a>,
) -> Result<()> {
    let object = &mut schema.object;
    match keywords.get("properties") {
        None => {}
        Some(Value::Object(map)) => {
            for (name, value) in map {
                let id = reader.child(keywords.location, &["properties", name], value);
                object.properties.push((name, id));
            }
            object.by_name = object.properties.iter().copied().collect();
        }
        Some(other) => return Err(keywords.invalid("properties", other, "an object of schemas")),
    }
    let mut seen = FxHashSet::default();
    for name in keywords.array("required", "a list of property names")?.into_iter().flatten() {
        match name {
            Value::String(name) if seen.insert(name.as_str()) => object.required.push(name),
            Value::String(_) => {}
            other => return Err(keywords.invalid("required", other, "a list of property names")),
        }
    }
    if let Some(additional) = keywords.get("additionalProperties") {
        object.additional = Some(reader.child(keywords.location, &["additionalProperties"], additional));
    }
    Ok(())
}
