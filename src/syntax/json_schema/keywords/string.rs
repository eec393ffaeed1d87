//! `minLength`, `maxLength` and `pattern`.

use super::Keywords;
use crate::error::Result;
use crate::syntax::json_schema::reader::Reader;
use crate::syntax::json_schema::schema::Schema;
use serde_json::Value;

pub(super) fn read<'a>(
    reader: &mut Reader<'a, '_>,
    keywords: &Keywords<'a, '_>,
    schema: &mut Schema<'a>,
) -> Result<()> {
    schema.string.length.min = keywords.count(reader, "minLength")?.unwrap_or(0);
    schema.string.length.max = keywords.count(reader, "maxLength")?;
    match keywords.get("pattern") {
        None => {}
        Some(Value::String(pattern)) => schema.string.patterns.push((pattern, true)),
        Some(other) => return Err(keywords.invalid("pattern", other, "a regular expression as a string")),
    }
    Ok(())
}
