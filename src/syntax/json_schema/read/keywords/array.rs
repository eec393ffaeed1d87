//! `items`, `prefixItems`, `minItems`, `maxItems`, `contains` with its bounds, `uniqueItems`, and the tuples of older
//! drafts: `items` as a list, with `additionalItems`.

use super::Keywords;
use crate::error::Result;
use crate::syntax::json_schema::model::assertion::{ArrayPart, Contains};
use crate::syntax::json_schema::model::schema::Schema;
use crate::syntax::json_schema::read::reader::Reader;
use crate::syntax::json_schema::values::counts::Counts;
use crate::syntax::json_schema::values::json::Value;

pub(super) fn read<'a>(
    reader: &mut Reader<'a, '_>,
    keywords: &Keywords<'a, '_>,
    schema: &mut Schema<'a>,
) -> Result<()> {
    let (mut prefix, mut contains) = (Vec::new(), Vec::new());
    let (tuple, rest) = match keywords.get("items") {
        Some(Value::Array(_)) if keywords.get("prefixItems").is_none() => ("items", "additionalItems"),
        // `additionalItems` has no effect without a list of items
        _ => ("prefixItems", "items"),
    };
    if let Some(list) = keywords.array(tuple, "a list of schemas")? {
        for (index, item) in list.iter().enumerate() {
            let index = index.to_string();
            prefix.push(reader.child(keywords.location, &[tuple, &index], item));
        }
    }
    let items = keywords.get(rest).map(|items| reader.child(keywords.location, &[rest], items));
    let count = Counts {
        min: keywords.count(reader, "minItems")?.unwrap_or(0),
        max: keywords.count(reader, "maxItems")?,
    };
    if let Some(value) = keywords.get("contains") {
        let count = Counts {
            min: keywords.count(reader, "minContains")?.unwrap_or(1),
            max: keywords.count(reader, "maxContains")?,
        };
        let schema = reader.child(keywords.location, &["contains"], value);
        contains.push(Contains { schema, from: 0, count });
    }
    let unique = match keywords.get("uniqueItems") {
        None => false,
        Some(Value::Bool(unique)) => *unique,
        Some(other) => return Err(keywords.invalid("uniqueItems", other, "true or false")),
    };
    *schema.array = ArrayPart { prefix, items, at: None, count, contains, unique, repeated: false };
    Ok(())
}
