//! An exact validator of concrete values: values of `enum` and `const` next to other keywords, and names of members.

use crate::error::Result;
use crate::syntax::json_schema::errors;
use crate::syntax::json_schema::model::assertion::{
    ArrayPart, Contains, NameClass, ObjectPart, SomeMember, StringPart, TypeSet, equality_key,
};
use crate::syntax::json_schema::model::numbers;
use crate::syntax::json_schema::model::schema::{Schema, Schemas};
use crate::syntax::json_schema::model::schema_id::{Part, SchemaId};
use crate::syntax::json_schema::strings::string_test::StringTest;
use crate::syntax::json_schema::values::decimal::Decimal;
use crate::syntax::json_schema::values::json::{Map, Value};
use rustc_hash::FxHashSet;

/// Greatest nesting depth of schemas (or references) that one value may pass through.
const MAX_DEPTH: usize = 400;

/// Whether a value satisfies all parts.
///
/// # Errors
/// A pattern that cannot be used; schemas nested too deep; a match that would be too expensive or is not decidable; no
/// work left.
pub(super) fn satisfies(schemas: &Schemas<'_>, parts: &[Part], value: &Value<'_>) -> Result<bool> {
    let visit = Visit { schemas };
    for part in parts {
        let schema = schemas.get(part.schema);
        let ok = if part.own { visit.own(schema, value, 0)? } else { visit.all(part.schema, value, 0)? };
        if !ok {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Whether a text passes a test of `schema`.
///
/// # Errors
/// A pattern that cannot be used; a match that would be too expensive or is not decidable; no work left.
pub(super) fn passes<'a>(
    schemas: &Schemas<'a>,
    schema: &Schema<'a>,
    test: StringTest<'a>,
    text: &str,
) -> Result<bool> {
    let outcome = schemas.outcomes.of(test, text, schema.pointer, &schemas.work)?;
    outcome.ok_or_else(|| errors::undecided_test(schema.pointer, test.keyword(), text))
}

/// Whether a name is of the class of `some`, which belongs to `schema`.
///
/// # Errors
/// Those of [`satisfies`].
pub(super) fn is_of_class<'a>(
    schemas: &Schemas<'a>,
    schema: &Schema<'a>,
    some: &SomeMember<'a>,
    name: &str,
) -> Result<bool> {
    Visit { schemas }.is_of_class(schema, some, name, 0)
}

/// Whether a name is neither declared by a schema nor matched by its patterns.
///
/// # Errors
/// Those of [`passes`].
pub(super) fn is_additional<'a>(schemas: &Schemas<'a>, id: SchemaId, name: &str) -> Result<bool> {
    let schema = schemas.get(id);
    // `additionalProperties` excepts only declared names and patterns
    let ObjectPart { properties, required: _, patterns, additional: _, count: _, names: _, some: _ } =
        &*schema.object;
    schemas.work.spend(patterns.len())?;
    let mut additional = !properties.contains(name);
    for (pattern, _) in patterns {
        additional = additional && !passes(schemas, schema, StringTest::Pattern(pattern), name)?;
    }
    Ok(additional)
}

struct Visit<'v, 'a> {
    schemas: &'v Schemas<'a>,
}

impl<'a> Visit<'_, 'a> {
    fn all(&self, id: SchemaId, value: &Value<'_>, depth: usize) -> Result<bool> {
        let schemas = self.schemas;
        let schema = schemas.get(id);
        if depth > MAX_DEPTH {
            return Err(errors::evaluation_too_deep(schema.pointer, MAX_DEPTH));
        }
        if !self.own(schema, value, depth)? {
            return Ok(false);
        }
        for &conjunct in &schema.conjuncts {
            if !self.all(conjunct, value, depth + 1)? {
                return Ok(false);
            }
        }
        for alternatives in &schema.any_of {
            let mut any = false;
            for &alternative in alternatives {
                if self.all(alternative, value, depth + 1)? {
                    any = true;
                    break;
                }
            }
            if !any {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Checks the schema's own assertions, without `$ref`, `allOf` and `anyOf`.
    fn own(&self, schema: &Schema<'a>, value: &Value<'_>, depth: usize) -> Result<bool> {
        let Schema {
            pointer: _,
            types,
            number: range,
            // checked below, with the schema's place for errors
            string: _,
            array: _,
            object: _,
            values,
            excluded,
            // `all` checks these
            conjuncts: _,
            any_of: _,
            // rewritten to the two above
            unevaluated: _,
            applied: _,
            is_bare: _,
            is_written: _,
        } = schema;
        // numbers are compared by value
        let each = if value.is_number() { 8 } else { 1 };
        self.schemas.work.spend(1 + values.len() + each * excluded.len())?;
        if !types.contains(TypeSet::of(value))
            || !values.iter().all(|list| list.contains(value))
            || excluded.iter().any(|excluded| excluded.is_same_scalar(value))
        {
            return Ok(false);
        }
        match value {
            Value::Number(number) => {
                let text = number.to_string();
                Ok(range.notation.admits(&text) && numbers::contains(range, &Decimal::parse(&text)))
            }
            Value::String(text) => self.string(schema, text),
            Value::Array(list) => self.array(schema, list, depth + 1),
            Value::Object(map) => self.object(schema, map, depth + 1),
            Value::Null | Value::Bool(_) => Ok(true),
        }
    }

    fn string(&self, schema: &Schema<'a>, text: &str) -> Result<bool> {
        let StringPart { length, tests } = &*schema.string;
        let mut ok = length.contains(text.chars().count());
        for &(test, holds) in tests {
            ok = ok && passes(self.schemas, schema, test, text)? == holds;
        }
        Ok(ok)
    }

    fn array(&self, schema: &Schema<'a>, list: &[Value<'_>], depth: usize) -> Result<bool> {
        // `item` reads the schemas of items
        let &ArrayPart { prefix: _, items: _, at: _, count, ref contains, unique, repeated } = &*schema.array;
        if !count.contains(list.len()) {
            return Ok(false);
        }
        for (index, item) in list.iter().enumerate() {
            for id in schema.array.item(index) {
                if !self.all(id, item, depth)? {
                    return Ok(false);
                }
            }
        }
        for &Contains { schema, from, count } in contains {
            let mut hits = 0;
            for item in list.iter().skip(from) {
                hits += usize::from(self.all(schema, item, depth)?);
            }
            if !count.contains(hits) {
                return Ok(false);
            }
        }
        let mut seen = FxHashSet::default();
        let is_unique = !(unique || repeated) || list.iter().all(|v| seen.insert(equality_key(v)));
        Ok(if repeated { !is_unique } else { is_unique })
    }

    fn object(&self, schema: &Schema<'a>, map: &Map<'_>, depth: usize) -> Result<bool> {
        let ObjectPart {
            // handled by `schemas_of_member`
            properties: _,
            patterns: _,
            additional: _,
            required,
            count,
            names,
            some,
        } = &*schema.object;
        if !required.iter().all(|name| map.contains_key(name)) || !count.contains(map.len()) {
            return Ok(false);
        }
        for (name, member) in map {
            for id in self.schemas_of_member(schema, name)? {
                if !self.all(id, member, depth)? {
                    return Ok(false);
                }
            }
            if let &Some(names) = names
                && !self.all(names, &Value::from(name), depth)?
            {
                return Ok(false);
            }
        }
        for some in some {
            // `is_of_class` checks the names
            let SomeMember { names: _, value, other_than } = some;
            let mut any = false;
            for (name, member) in map {
                let may_be = !any && !other_than.contains(&name);
                any |= may_be
                    && self.is_of_class(schema, some, name, depth)?
                    && self.all(*value, member, depth)?;
            }
            if !any {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Returns the schemas that a member's value must satisfy according to one schema.
    fn schemas_of_member(&self, schema: &Schema<'a>, name: &str) -> Result<Vec<SchemaId>> {
        // `object` checks the others
        let ObjectPart { properties, required: _, patterns, additional, count: _, names: _, some: _ } =
            &*schema.object;
        self.schemas.work.spend(patterns.len())?;
        let mut schemas: Vec<SchemaId> = properties.get(name).into_iter().collect();
        for &(pattern, id) in patterns {
            if passes(self.schemas, schema, StringTest::Pattern(pattern), name)? {
                schemas.push(id);
            }
        }
        if schemas.is_empty() {
            schemas.extend(*additional);
        }
        Ok(schemas)
    }

    fn is_of_class(
        &self,
        schema: &Schema<'a>,
        some: &SomeMember<'a>,
        name: &str,
        depth: usize,
    ) -> Result<bool> {
        // the caller checks the others
        let SomeMember { names, value: _, other_than: _ } = some;
        match *names {
            NameClass::Matching(pattern) => passes(self.schemas, schema, StringTest::Pattern(pattern), name),
            NameClass::Satisfying(names) => self.all(names, &Value::from(name), depth),
            NameClass::AdditionalTo(id) => is_additional(self.schemas, id, name),
        }
    }
}
