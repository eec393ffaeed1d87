//! `type`.

use super::Keywords;
use crate::error::Result;
use crate::syntax::json_schema::assertion::TypeSet;
use crate::syntax::json_schema::json::Value;
use crate::syntax::json_schema::numbers::NumberRange;
use crate::syntax::json_schema::schema::Schema;

const ALLOWED: &str =
    "\"null\", \"boolean\", \"object\", \"array\", \"number\", \"string\" or \"integer\", or a list of such";

pub(super) fn read(keywords: &Keywords<'_, '_>, schema: &mut Schema<'_>) -> Result<()> {
    let Some(value) = keywords.get("type") else { return Ok(()) };
    let names = match value {
        Value::Array(list) if !list.is_empty() => list,
        one => std::slice::from_ref(one),
    };
    let (mut types, mut integer, mut number) = (TypeSet::NONE, false, false);
    for name in names {
        types = types.union(match name.as_str() {
            Some("null") => TypeSet::NULL,
            Some("boolean") => TypeSet::BOOLEAN,
            Some("object") => TypeSet::OBJECT,
            Some("array") => TypeSet::ARRAY,
            Some("string") => TypeSet::STRING,
            Some("number") => {
                number = true;
                TypeSet::NUMBER
            }
            Some("integer") => {
                integer = true;
                TypeSet::NUMBER
            }
            _ => return Err(keywords.invalid("type", name, ALLOWED)),
        });
    }
    schema.types = types;
    if integer && !number {
        *schema.number = NumberRange::integers(keywords.draft.has_plain_integers());
    }
    Ok(())
}
