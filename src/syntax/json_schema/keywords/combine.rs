//! `$ref`, `allOf` and `anyOf`: schemas of the same value.

use super::Keywords;
use crate::error::Result;
use crate::syntax::json_schema::refs;
use crate::syntax::json_schema::schema::{Reader, Schema, SchemaId};
use serde_json::Value;

pub(super) fn read_ref<'a>(
    reader: &mut Reader<'a, '_>,
    keywords: &Keywords<'a, '_>,
    schema: &mut Schema<'a>,
) -> Result<()> {
    match keywords.get("$ref") {
        None => {}
        Some(Value::String(reference)) => {
            schema.conjuncts.push(refs::target(reader, keywords.location, reference)?);
        }
        Some(other) => return Err(keywords.invalid("$ref", other, "a reference as a string")),
    }
    Ok(())
}

pub(super) fn read<'a>(
    reader: &mut Reader<'a, '_>,
    keywords: &Keywords<'a, '_>,
    schema: &mut Schema<'a>,
) -> Result<()> {
    schema.conjuncts.extend(list(reader, keywords, "allOf")?.into_iter().flatten());
    schema.any_of.extend(list(reader, keywords, "anyOf")?);
    Ok(())
}

fn list<'a>(
    reader: &mut Reader<'a, '_>,
    keywords: &Keywords<'a, '_>,
    keyword: &str,
) -> Result<Option<Vec<SchemaId>>> {
    let allowed = "a list of at least one schema";
    let Some(list) = keywords.array(keyword, allowed)? else { return Ok(None) };
    if list.is_empty() {
        return Err(keywords.invalid(keyword, &Value::Array(Vec::new()), allowed));
    }
    let ids = list.iter().enumerate();
    Ok(Some(ids.map(|(i, s)| reader.child(keywords.location, &[keyword, &i.to_string()], s)).collect()))
}
