//! What only draft 3 has: `extends`, and `divisibleBy`, which is `multipleOf` later.

use super::{Keywords, number};
use crate::error::Result;
use crate::syntax::json_schema::errors;
use crate::syntax::json_schema::json::Value;
use crate::syntax::json_schema::reader::Reader;
use crate::syntax::json_schema::schema::Schema;

pub(super) fn read<'a>(
    reader: &mut Reader<'a, '_>,
    keywords: &Keywords<'a, '_>,
    schema: &mut Schema<'a>,
) -> Result<()> {
    number::read_divisor(keywords, "divisibleBy", schema)?;
    match keywords.get("extends") {
        None => {}
        Some(Value::Array(list)) => {
            for (index, value) in list.iter().enumerate() {
                let path = ["extends", &index.to_string()];
                schema.conjuncts.push(reader.child(keywords.location, &path, value));
            }
        }
        // some write the name of something there
        Some(Value::String(_)) => {
            reader.warn(errors::unknown_keyword(&keywords.pointer("extends"), "extends", false))
        }
        Some(one) => schema.conjuncts.push(reader.child(keywords.location, &["extends"], one)),
    }
    Ok(())
}
