//! Merges the assertions of several schemas, type by type.

use super::normalizer::Normalizer;
use super::shape::{Test, Typed};
use super::{conditional, items, members};
use crate::error::Result;
use crate::syntax::json_schema::model::assertion::{StringPart, TypeSet};
use crate::syntax::json_schema::model::numbers;
use crate::syntax::json_schema::model::schema::Schema;
use crate::syntax::json_schema::model::schema_id::SchemaId;
use rustc_hash::FxHashSet;
use std::rc::Rc;

/// Steps of work to copy a divisor.
const DIVISOR_WORK: usize = 8;

/// Returns the shape of schemas without alternatives.
pub(super) fn typed<'a>(
    n: &mut Normalizer<'a>,
    ids: &[SchemaId],
    bases: &[Rc<Schema<'a>>],
) -> Result<Typed<'a>> {
    let mut joined = Typed::default();
    let Typed { types, number, length, tests, excluded, array, object } = &mut joined;
    for (&schema, base) in ids.iter().zip(bases) {
        let Schema {
            pointer: _,
            types: own_types,
            number: own_number,
            string,
            // handled below, if the types include arrays and objects
            array: _,
            object: _,
            // schemas that list values have the shape `Values`
            values: _,
            excluded: own_excluded,
            // `unfold` has followed these: `bases` are the schemas that they reach
            conjuncts: _,
            any_of: _,
            unevaluated: _,
            applied: _,
            is_bare: _,
            is_written: _,
        } = &**base;
        *types = types.intersection(*own_types);
        if let Some(own) = own_number.said() {
            n.spend(DIVISOR_WORK * (number.divisors() + own.divisors()))?;
            **number = match number.said() {
                Some(others) => numbers::intersection(others, own),
                None => own.clone(),
            };
        }
        let StringPart { length: own_length, tests: own_tests } = &**string;
        *length = length.intersection(own_length);
        n.spend(own_tests.len() + own_excluded.len())?;
        tests.extend(own_tests.iter().map(|&(test, holds)| Test { schema, test, holds }));
        excluded.extend(own_excluded);
    }
    each_once(tests);
    if types.contains(TypeSet::ARRAY) {
        *array = Some(Box::new(items::array(n, ids, bases)?));
    }
    if types.contains(TypeSet::OBJECT) {
        *object = Some(Box::new(match bases.iter().all(|base| base.object.some.is_empty()) {
            true => members::object(n, ids, bases)?,
            false => conditional::conditional_object(n, ids, bases, Vec::new())?,
        }));
    }
    Ok(joined)
}

/// Drops repeated tests.
fn each_once(tests: &mut Vec<Test<'_>>) {
    if tests.len() > 1 {
        let mut seen = FxHashSet::default();
        tests.retain(|test| seen.insert((test.test, test.holds)));
    }
}
