//! An exact validator of concrete values, for the values of `enum` and `const` that have other keywords
//! beside them.

use super::conjunction::Part;
use super::decimal::Decimal;
use super::errors;
use super::schema::{NumberRange, Schema, SchemaId, Schemas, TypeSet};
use super::string_test::{Matcher, StringTest};
use crate::error::Result;
use crate::limits::Limits;
use rustc_hash::FxHashMap;
use serde_json::Value;

/// Schemas inside schemas (or referred to by them) that one value may pass through.
const MAX_DEPTH: usize = 400;

/// Validates values against schemas of one document.
pub(super) struct Validator<'s, 'a> {
    schemas: &'s Schemas<'a>,
    limits: &'s Limits,
    tests: FxHashMap<StringTest<'a>, Matcher>,
}

impl<'s, 'a> Validator<'s, 'a> {
    pub(super) fn new(schemas: &'s Schemas<'a>, limits: &'s Limits) -> Self {
        Validator { schemas, limits, tests: FxHashMap::default() }
    }

    /// Whether the value satisfies all parts.
    ///
    /// # Errors
    /// A pattern that cannot be used; schemas too deep; a match that would cost too much.
    pub(super) fn satisfies(&mut self, parts: &[Part], value: &Value) -> Result<bool> {
        for part in parts {
            let schema = self.schemas.get(part.schema);
            let ok = if part.own { self.own(schema, value, 0)? } else { self.all(part.schema, value, 0)? };
            if !ok {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn all(&mut self, id: SchemaId, value: &Value, depth: usize) -> Result<bool> {
        let schemas = self.schemas;
        let schema = schemas.get(id);
        if depth > MAX_DEPTH {
            return Err(errors::evaluation_too_deep(&schema.pointer, MAX_DEPTH));
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

    /// The schema's own assertions, without `$ref`, `allOf` and `anyOf`.
    fn own(&mut self, schema: &Schema<'a>, value: &Value, depth: usize) -> Result<bool> {
        if !schema.types.contains(TypeSet::of(value))
            || !schema.values.iter().all(|list| list.contains(value))
        {
            return Ok(false);
        }
        match value {
            Value::Number(number) => Ok(in_range(&schema.number, &Decimal::parse(&number.to_string()))),
            Value::String(text) => {
                let counted = schema.string.length.contains(text.chars().count());
                Ok(counted && self.matches(schema, text)?)
            }
            Value::Array(list) => {
                if !schema.array.count.contains(list.len()) {
                    return Ok(false);
                }
                for (index, item) in list.iter().enumerate() {
                    match schema.array.item(index) {
                        Some(id) if !self.all(id, item, depth + 1)? => return Ok(false),
                        _ => {}
                    }
                }
                Ok(true)
            }
            Value::Object(map) => {
                if !schema.object.required.iter().all(|name| map.contains_key(*name)) {
                    return Ok(false);
                }
                for (name, member) in map {
                    match schema.object.member(name) {
                        Some(id) if !self.all(id, member, depth + 1)? => return Ok(false),
                        _ => {}
                    }
                }
                Ok(true)
            }
            Value::Null | Value::Bool(_) => Ok(true),
        }
    }

    fn matches(&mut self, schema: &Schema<'a>, text: &str) -> Result<bool> {
        for &test in &schema.string.tests {
            if !self.tests.contains_key(&test) {
                self.tests.insert(test, Matcher::new(test, &schema.pointer, self.limits)?);
            }
            match self.tests.get(&test).and_then(|matcher| matcher.matches(text)) {
                Some(true) => {}
                Some(false) => return Ok(false),
                None => {
                    let keyword = format!("`{}`", test.keyword());
                    return Err(errors::unsupported_combination(
                        &schema.pointer,
                        &keyword,
                        "this listed value",
                    ));
                }
            }
        }
        Ok(true)
    }
}

fn in_range(range: &NumberRange, number: &Decimal) -> bool {
    let above = range.lower.as_ref().is_none_or(|b| *number > b.value || *number == b.value && !b.exclusive);
    let below = range.upper.as_ref().is_none_or(|b| *number < b.value || *number == b.value && !b.exclusive);
    above && below && (!range.integer || number.is_integer())
}
