//! `type`, and `disallow` of draft 3, which is its negation.

use super::Keywords;
use crate::error::Result;
use crate::syntax::json_schema::model::assertion::TypeSet;
use crate::syntax::json_schema::model::numbers::NumberRange;
use crate::syntax::json_schema::model::schema::{Applied, Schema};
use crate::syntax::json_schema::model::schema_id::SchemaId;
use crate::syntax::json_schema::read::reader::Reader;
use crate::syntax::json_schema::values::json::Value;

const ALLOWED: &str =
    "\"null\", \"boolean\", \"object\", \"array\", \"number\", \"string\" or \"integer\", or a list of such";
const ALLOWED_IN_THIRD: &str =
    "the name of a type (\"any\" is all of them), or a list of such names and of schemas";

/// The types and schemas that one of the two keywords lists.
#[derive(Default)]
struct Listed {
    types: TypeSet,
    /// Whether the numbers must be integers.
    integers: bool,
    /// Schemas in place of types, which draft 3 allows.
    schemas: Vec<SchemaId>,
}

pub(super) fn read<'a>(
    reader: &mut Reader<'a, '_>,
    keywords: &Keywords<'a, '_>,
    schema: &mut Schema<'a>,
) -> Result<()> {
    if let Some(listed) = listed(reader, keywords, "type")? {
        if listed.schemas.is_empty() {
            schema.types = listed.types;
            if listed.integers {
                *schema.number = NumberRange::integers(has_plain_integers(keywords)?);
            }
        } else {
            schema.applied.push(applied(keywords, listed, true));
        }
    }
    if let Some(listed) = listed(reader, keywords, "disallow")? {
        schema.applied.push(applied(keywords, listed, false));
    }
    Ok(())
}

/// The keyword whose value `digits` makes the type `integer` one of numbers without point and exponent.
const INTEGER: &str = "x-grammata-integer";

/// Whether integers are written in digits only: the draft or [`INTEGER`] says so.
fn has_plain_integers(keywords: &Keywords<'_, '_>) -> Result<bool> {
    match keywords.get(INTEGER) {
        None => Ok(keywords.draft.has_plain_integers()),
        Some(Value::String("digits")) => Ok(true),
        Some(other) => Err(keywords.invalid(INTEGER, other, "\"digits\"")),
    }
}

fn applied<'a>(keywords: &Keywords<'_, '_>, listed: Listed, holds: bool) -> Applied<'a> {
    let plain = keywords.draft.has_plain_integers();
    let integers = listed.integers.then(|| NumberRange::integers(plain)).map(Box::new);
    Applied::Types { types: listed.types, integers, schemas: listed.schemas, holds }
}

fn listed<'a>(
    reader: &mut Reader<'a, '_>,
    keywords: &Keywords<'a, '_>,
    keyword: &str,
) -> Result<Option<Listed>> {
    let Some(value) = keywords.get(keyword) else { return Ok(None) };
    let is_third = keywords.draft.is_third() || keyword == "disallow";
    let (names, is_list) = match value {
        Value::Array(list) if !list.is_empty() => (*list, true),
        one => (std::slice::from_ref(one), false),
    };
    let (mut listed, mut number) = (Listed { types: TypeSet::NONE, ..Listed::default() }, false);
    for (index, name) in names.iter().enumerate() {
        let types = match name.as_str() {
            Some("null") => TypeSet::NULL,
            Some("boolean") => TypeSet::BOOLEAN,
            Some("object") => TypeSet::OBJECT,
            Some("array") => TypeSet::ARRAY,
            Some("string") => TypeSet::STRING,
            Some("number") => TypeSet::NUMBER,
            Some("integer") => {
                listed.integers = true;
                TypeSet::NUMBER
            }
            Some("any") if is_third => TypeSet::ALL,
            None if is_third && matches!(name, Value::Object(_)) => {
                let index = index.to_string();
                let path = [keyword, &index];
                let path = if is_list { &path[..] } else { &path[..1] };
                listed.schemas.push(reader.child(keywords.location, path, name));
                continue;
            }
            _ => {
                return Err(keywords.invalid(
                    keyword,
                    name,
                    if is_third { ALLOWED_IN_THIRD } else { ALLOWED },
                ));
            }
        };
        number |= types.contains(TypeSet::NUMBER) && name.as_str() != Some("integer");
        listed.types = listed.types.union(types);
    }
    listed.integers &= !number;
    Ok(Some(listed))
}
