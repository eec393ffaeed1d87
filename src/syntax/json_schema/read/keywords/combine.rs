//! The keywords that apply schemas to the same value: references, `allOf`, `anyOf`, `oneOf`, `not`, `if`.

use super::Keywords;
use crate::error::Result;
use crate::syntax::json_schema::model::schema::{Applied, Schema};
use crate::syntax::json_schema::model::schema_id::SchemaId;
use crate::syntax::json_schema::read::reader::Reader;
use crate::syntax::json_schema::read::refs;
use crate::syntax::json_schema::values::json::Value;

pub(super) fn read_ref<'a>(
    reader: &mut Reader<'a, '_>,
    keywords: &Keywords<'a, '_>,
    schema: &mut Schema<'a>,
) -> Result<()> {
    for keyword in refs::KEYWORDS {
        match keywords.get(keyword) {
            None => {}
            Some(Value::String(reference)) => {
                schema.conjuncts.push(refs::target(reader, keywords.location, keyword, reference)?);
            }
            Some(other) => return Err(keywords.invalid(keyword, other, "a reference as a string")),
        }
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
    schema.applied.extend(list(reader, keywords, "oneOf")?.map(Applied::OneOf));
    let mut one =
        |keyword| keywords.get(keyword).map(|value| reader.child(keywords.location, &[keyword], value));
    schema.applied.extend(one("not").map(Applied::Not));
    if let Some(condition) = one("if") {
        let (then, otherwise) = (one("then"), one("else"));
        schema.applied.push(Applied::If { condition, then, otherwise });
    }
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
        return Err(keywords.invalid(keyword, &Value::Array(&[]), allowed));
    }
    let ids = list.iter().enumerate();
    Ok(Some(ids.map(|(i, s)| reader.child(keywords.location, &[keyword, &i.to_string()], s)).collect()))
}
