//! `properties`, `required`, `patternProperties`, `additionalProperties`, `propertyNames`, `minProperties` and
//! `maxProperties`.

use super::{Keywords, string};
use crate::error::Result;
use crate::syntax::json_schema::model::assertion::{NameSet, ObjectPart, Properties};
use crate::syntax::json_schema::model::schema::Schema;
use crate::syntax::json_schema::read::reader::Reader;
use crate::syntax::json_schema::values::counts::Counts;
use crate::syntax::json_schema::values::json::{Map, Value};
use crate::syntax::json_schema::values::pointer::join;

pub(super) fn read<'a>(
    reader: &mut Reader<'a, '_>,
    keywords: &Keywords<'a, '_>,
    schema: &mut Schema<'a>,
) -> Result<()> {
    let (mut properties, mut required, mut patterns) = (Properties::default(), Vec::new(), Vec::new());
    let declared = schemas(keywords, "properties")?;
    properties.reserve(declared.map_or(0, Map::len));
    for (name, value) in declared.into_iter().flatten() {
        if keywords.draft.is_third() && value.get("required") == Some(&Value::Bool(true)) {
            required.push(name);
        }
        properties.declare_new(name, reader.child(keywords.location, &["properties", name], value));
    }
    for (pattern, value) in schemas(keywords, "patternProperties")?.into_iter().flatten() {
        let place = || join(&keywords.pointer("patternProperties"), pattern);
        string::check_pattern(reader, place, pattern)?;
        let id = reader.child(keywords.location, &["patternProperties", pattern], value);
        patterns.push((pattern, id));
    }
    let names = match keywords.get("required") {
        // the schema of the object that has this member has read it
        Some(Value::Bool(_)) if keywords.draft.is_third() => &[],
        _ => keywords.array("required", "a list of property names")?.unwrap_or_default(),
    };
    required.reserve_exact(names.len());
    let mut seen: NameSet<'a> = required.iter().copied().collect();
    for name in names {
        match name {
            Value::String(name) if seen.insert(name) => required.push(name),
            Value::String(_) => {}
            other => return Err(keywords.invalid("required", other, "a list of property names")),
        }
    }
    let mut child =
        |keyword| keywords.get(keyword).map(|value| reader.child(keywords.location, &[keyword], value));
    let (additional, names) = (child("additionalProperties"), child("propertyNames"));
    let count = Counts {
        min: keywords.count(reader, "minProperties")?.unwrap_or(0),
        max: keywords.count(reader, "maxProperties")?,
    };
    let some = Vec::new();
    schema.unevaluated.declares_members = declared.is_some() || !patterns.is_empty();
    *schema.object = ObjectPart { properties, required, patterns, additional, count, names, some };
    Ok(())
}

fn schemas<'a>(keywords: &Keywords<'a, '_>, keyword: &str) -> Result<Option<&'a Map<'a>>> {
    match keywords.get(keyword) {
        None => Ok(None),
        Some(Value::Object(map)) => Ok(Some(map)),
        Some(other) => Err(keywords.invalid(keyword, other, "an object of schemas")),
    }
}
