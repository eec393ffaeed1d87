//! What only draft 3 has: `extends`, and `divisibleBy`, which is `multipleOf` later.

use super::{Keywords, number};
use crate::error::Result;
use crate::syntax::json_schema::reader::Reader;
use crate::syntax::json_schema::schema::Schema;
use serde_json::Value;

/// Keywords that later drafts do not know.
pub(super) const KEYWORDS: [&str; 3] = ["extends", "disallow", "divisibleBy"];

pub(super) fn read<'a>(
    reader: &mut Reader<'a, '_>,
    keywords: &Keywords<'a, '_>,
    schema: &mut Schema<'a>,
) -> Result<()> {
    if !reader.draft.third {
        return Ok(());
    }
    number::read_divisor(keywords, "divisibleBy", schema)?;
    match keywords.get("extends") {
        None => {}
        Some(Value::Array(list)) => {
            for (index, value) in list.iter().enumerate() {
                let path = ["extends", &index.to_string()];
                schema.conjuncts.push(reader.child(keywords.location, &path, value));
            }
        }
        Some(one) => schema.conjuncts.push(reader.child(keywords.location, &["extends"], one)),
    }
    Ok(())
}
