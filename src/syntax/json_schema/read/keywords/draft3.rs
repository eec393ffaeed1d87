//! Keywords of draft 3 only: `extends`, and `divisibleBy`, which became `multipleOf`.

use super::{Keywords, number};
use crate::error::Result;
use crate::syntax::json_schema::errors;
use crate::syntax::json_schema::model::schema::Schema;
use crate::syntax::json_schema::read::keyword;
use crate::syntax::json_schema::read::reader::Reader;
use crate::syntax::json_schema::values::json::Value;

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
        // some schemas have a name there
        Some(Value::String(_)) => {
            let pointer = keywords.pointer("extends");
            reader.warn(errors::unknown_keyword(&pointer, "extends", false, keyword::names()));
        }
        Some(one) => schema.conjuncts.push(reader.child(keywords.location, &["extends"], one)),
    }
    Ok(())
}
