//! `enum` and `const`.

use super::Keywords;
use crate::error::Result;
use crate::syntax::json_schema::model::assertion::ValueList;
use crate::syntax::json_schema::model::schema::Schema;

pub(super) fn read<'a>(keywords: &Keywords<'a, '_>, schema: &mut Schema<'a>) -> Result<()> {
    if let Some(list) = keywords.array("enum", "a list of values")? {
        schema.values.push(ValueList::new(list.iter().collect()));
    }
    if let Some(value) = keywords.get("const") {
        schema.values.push(ValueList::new(vec![value]));
    }
    Ok(())
}
