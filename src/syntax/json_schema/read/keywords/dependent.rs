//! `dependentRequired`, `dependentSchemas` and their older form, `dependencies`.

use super::Keywords;
use crate::error::Result;
use crate::syntax::json_schema::model::schema::{Applied, Schema};
use crate::syntax::json_schema::read::reader::Reader;
use crate::syntax::json_schema::values::json::Value;

pub(super) fn read<'a>(
    reader: &mut Reader<'a, '_>,
    keywords: &Keywords<'a, '_>,
    schema: &mut Schema<'a>,
) -> Result<()> {
    for keyword in ["dependencies", "dependentRequired", "dependentSchemas"] {
        let map = match keywords.get(keyword) {
            None => continue,
            Some(Value::Object(map)) => map,
            Some(other) => return Err(keywords.invalid(keyword, other, "an object")),
        };
        for (name, value) in map {
            let is_names = match (keyword, value) {
                ("dependentSchemas", _) => false,
                ("dependentRequired", _) | (_, Value::Array(_) | Value::String(_)) => true,
                _ => false,
            };
            schema.applied.push(if is_names {
                Applied::DependentRequired(name, names(keywords, keyword, value)?)
            } else {
                Applied::DependentSchema(name, reader.child(keywords.location, &[keyword, name], value))
            });
        }
    }
    Ok(())
}

/// Reads a list of names, or a single name (draft 3).
fn names<'a>(keywords: &Keywords<'a, '_>, keyword: &str, value: &'a Value<'a>) -> Result<Vec<&'a str>> {
    let list = match value {
        Value::Array(list) => list,
        one => std::slice::from_ref(one),
    };
    let names = list.iter().map(|name| match name {
        Value::String(name) => Ok(&**name),
        other => Err(keywords.invalid(keyword, other, "lists of property names")),
    });
    names.collect()
}
