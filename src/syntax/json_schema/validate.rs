//! An exact validator of concrete values: values of `enum` and `const` next to other keywords, and names of members.

use super::assertion::{
    ArrayPart, Contains, NameClass, ObjectPart, SomeMember, StringPart, TypeSet, equality_key,
};
use super::conjunction::Part;
use super::decimal::Decimal;
use super::schema::{Schema, Schemas};
use super::schema_id::SchemaId;
use super::string_test::{Matcher, StringTest};
use super::{errors, numbers};
use crate::error::Result;
use crate::limits::Limits;
use crate::syntax::json_schema::json::{Map, Value};
use rustc_hash::{FxHashMap, FxHashSet};

/// Greatest nesting depth of schemas (or references) that one value may pass through.
const MAX_DEPTH: usize = 400;

/// A validator of values, with a cache of the outcomes of string tests.
pub(super) struct Validator<'a> {
    limits: Limits,
    /// Prepared tests, with the results for the texts tried so far.
    tests: FxHashMap<StringTest<'a>, (Matcher, FxHashMap<Box<str>, bool>)>,
}

impl<'a> Validator<'a> {
    pub(super) fn new(limits: Limits) -> Self {
        Validator { limits, tests: FxHashMap::default() }
    }

    /// Whether the value satisfies all parts.
    ///
    /// # Errors
    /// A pattern that cannot be used; schemas nested too deep; a match that would be too expensive or is not decidable.
    pub(super) fn satisfies(
        &mut self,
        schemas: &Schemas<'a>,
        parts: &[Part],
        value: &Value<'_>,
    ) -> Result<bool> {
        let mut visit = Visit { validator: self, schemas };
        for part in parts {
            let schema = schemas.get(part.schema);
            let ok =
                if part.own { visit.own(schema, value, 0)? } else { visit.all(part.schema, value, 0)? };
            if !ok {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether a text passes a test of `schema`.
    ///
    /// # Errors
    /// A pattern that cannot be used; a match that would be too expensive or is not decidable.
    pub(super) fn passes(&mut self, schema: &Schema<'a>, test: StringTest<'a>, text: &str) -> Result<bool> {
        if !self.tests.contains_key(&test) {
            let matcher = Matcher::new(test, schema.pointer, &self.limits)?;
            self.tests.insert(test, (matcher, FxHashMap::default()));
        }
        let outcome = self.tests.get_mut(&test).and_then(|(matcher, outcomes)| match outcomes.get(text) {
            Some(&known) => Some(known),
            None => {
                let outcome = matcher.matches(text)?;
                outcomes.insert(text.into(), outcome);
                Some(outcome)
            }
        });
        outcome.ok_or_else(|| errors::undecided_test(schema.pointer, test.keyword(), text))
    }

    /// Whether a name is of the class of `some`, which belongs to `schema`.
    ///
    /// # Errors
    /// Those of [`satisfies`](Validator::satisfies).
    pub(super) fn is_of_class(
        &mut self,
        schemas: &Schemas<'a>,
        schema: &Schema<'a>,
        some: &SomeMember<'a>,
        name: &str,
    ) -> Result<bool> {
        Visit { validator: self, schemas }.is_of_class(schema, some, name, 0)
    }

    /// Whether a name is neither declared by a schema nor matched by its patterns.
    ///
    /// # Errors
    /// Those of [`passes`](Validator::passes).
    pub(super) fn is_additional(&mut self, schemas: &Schemas<'a>, id: SchemaId, name: &str) -> Result<bool> {
        let schema = schemas.get(id);
        // `additionalProperties` excepts only declared names and patterns
        let ObjectPart { properties, required: _, patterns, additional: _, count: _, names: _, some: _ } =
            &*schema.object;
        let mut additional = !properties.contains(name);
        for (pattern, _) in patterns {
            additional = additional && !self.passes(schema, StringTest::Pattern(pattern), name)?;
        }
        Ok(additional)
    }
}

struct Visit<'v, 'a> {
    validator: &'v mut Validator<'a>,
    schemas: &'v Schemas<'a>,
}

impl<'a> Visit<'_, 'a> {
    fn all(&mut self, id: SchemaId, value: &Value<'_>, depth: usize) -> Result<bool> {
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
    fn own(&mut self, schema: &Schema<'a>, value: &Value<'_>, depth: usize) -> Result<bool> {
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
        if !types.contains(TypeSet::of(value))
            || !values.iter().all(|list| list.contains(value))
            || excluded.iter().any(|excluded| equality_key(excluded) == equality_key(value))
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

    fn string(&mut self, schema: &Schema<'a>, text: &str) -> Result<bool> {
        let StringPart { length, tests } = &*schema.string;
        let mut ok = length.contains(text.chars().count());
        for &(test, holds) in tests {
            ok = ok && self.validator.passes(schema, test, text)? == holds;
        }
        Ok(ok)
    }

    fn array(&mut self, schema: &Schema<'a>, list: &[Value<'_>], depth: usize) -> Result<bool> {
        let &ArrayPart { ref prefix, items, count, ref contains, unique, repeated } = &*schema.array;
        if !count.contains(list.len()) {
            return Ok(false);
        }
        for (index, item) in list.iter().enumerate() {
            match prefix.get(index).copied().or(items) {
                Some(id) if !self.all(id, item, depth)? => return Ok(false),
                _ => {}
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

    fn object(&mut self, schema: &Schema<'a>, map: &Map<'_>, depth: usize) -> Result<bool> {
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
    fn schemas_of_member(&mut self, schema: &Schema<'a>, name: &str) -> Result<Vec<SchemaId>> {
        // `object` checks the others
        let ObjectPart { properties, required: _, patterns, additional, count: _, names: _, some: _ } =
            &*schema.object;
        let mut schemas: Vec<SchemaId> = properties.get(name).into_iter().collect();
        for &(pattern, id) in patterns {
            if self.validator.passes(schema, StringTest::Pattern(pattern), name)? {
                schemas.push(id);
            }
        }
        if schemas.is_empty() {
            schemas.extend(*additional);
        }
        Ok(schemas)
    }

    fn is_of_class(
        &mut self,
        schema: &Schema<'a>,
        some: &SomeMember<'a>,
        name: &str,
        depth: usize,
    ) -> Result<bool> {
        // the caller checks the others
        let SomeMember { names, value: _, other_than: _ } = some;
        match *names {
            NameClass::Matching(pattern) => self.validator.passes(schema, StringTest::Pattern(pattern), name),
            NameClass::Satisfying(names) => self.all(names, &Value::from(name), depth),
            NameClass::AdditionalTo(id) => self.validator.is_additional(self.schemas, id, name),
        }
    }
}
