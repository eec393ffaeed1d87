//! Rewrites `unevaluatedProperties` and `unevaluatedItems` to `additionalProperties` and `items` of made schemas.
//!
//! What the schemas of a value evaluate depends on which of them hold. Each combination is a [`Case`]: if these schemas
//! hold, at least these members or items are evaluated. A schema with `unevaluatedProperties` becomes the `anyOf` of
//! its cases. Each case is closed by `additionalProperties` next to the names that it evaluates. A case says only that
//! *at least* its schemas hold, which avoids negations: if more schemas hold, more is evaluated, and the case for that
//! is also among the alternatives.

use crate::error::Result;
use crate::syntax::json_schema::errors;
use crate::syntax::json_schema::model::assertion::{ArrayPart, Contains, ObjectPart, TypeSet};
use crate::syntax::json_schema::model::schema::{Applied, Schema, Schemas, Unevaluated};
use crate::syntax::json_schema::model::schema_id::SchemaId;
use crate::syntax::json_schema::values::pointer::join;
use bumpalo::Bump;
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;
use std::rc::Rc;

/// Greatest number of cases of one schema.
const MAX_CASES: usize = 256;
/// Greatest number of cases before those that others contain are dropped.
const MAX_PRODUCT: usize = 1024;
/// Greatest total size of the cases of a document, for each [`Kind`]. A case counts as one, plus its names, items and
/// schemas.
const MAX_SIZE: usize = 5_000_000;

/// Rewrites all schemas of the table.
///
/// # Errors
/// A schema has too many cases.
pub(in crate::syntax::json_schema) fn rewrite<'a>(schemas: &mut Schemas<'a>, arena: &'a Bump) -> Result<()> {
    let mut found = Vec::new();
    for kind in [Kind::Properties, Kind::Items, Kind::ItemsBesideContains] {
        let having = |id: &SchemaId| kind.keyword_of(schemas.get(*id)).is_some();
        let ids: Vec<SchemaId> = schemas.ids().filter(having).collect();
        let mut collector = Collector { schemas, kind, known: FxHashMap::default(), size: 0 };
        for id in ids {
            found.push((id, kind, collector.of_closed(id)?));
        }
    }
    // schemas made for one schema are not used for another
    for (id, kind, cases) in found {
        close(schemas, arena, kind, id, &cases);
        schemas.check("")?;
    }
    for id in schemas.ids() {
        let is_void =
            |a: &Applied<'_>| matches!(a, Applied::If { condition: _, then: None, otherwise: None });
        // `if` alone only served to evaluate members or items
        if schemas.get(id).applied.iter().any(is_void) {
            schemas.change(id).applied.retain(|applied| !is_void(applied));
        }
    }
    Ok(())
}

/// The keyword that is rewritten. Up to 2019-09, `contains` does not evaluate items.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Properties,
    Items,
    ItemsBesideContains,
}

impl Kind {
    /// Returns the schema of the unevaluated members or items.
    fn keyword_of(self, schema: &Schema<'_>) -> Option<SchemaId> {
        let Unevaluated { properties, items, after_contains, declares_members: _ } = schema.unevaluated;
        match self {
            Kind::Properties => properties,
            Kind::Items => items.filter(|_| after_contains),
            Kind::ItemsBesideContains => items.filter(|_| !after_contains),
        }
    }

    fn name(self) -> &'static str {
        if self == Kind::Properties { "unevaluatedProperties" } else { "unevaluatedItems" }
    }

    /// Returns what the schema's own keywords evaluate.
    fn own<'a>(self, schema: &Schema<'a>) -> Evaluated<'a> {
        let mut own = Evaluated::default();
        let Schema {
            array,
            object,
            // the collector follows these
            conjuncts: _,
            any_of: _,
            unevaluated: _,
            applied: _,
            // these evaluate neither members nor items
            pointer: _,
            types: _,
            number: _,
            string: _,
            values: _,
            excluded: _,
            is_bare: _,
            is_written: _,
        } = schema;
        if self == Kind::Properties {
            // names and numbers of members do not evaluate them
            let ObjectPart { properties, required: _, patterns, additional, count: _, names: _, some: _ } =
                &**object;
            own.all = additional.is_some();
            own.names = properties.names().collect();
            own.patterns = patterns.iter().map(|(pattern, _)| *pattern).collect();
        } else {
            // counts and equality of items do not evaluate them, nor do negations, which are made later
            let ArrayPart { prefix, items, at: _, count: _, contains, unique: _, repeated: _ } = &**array;
            own.all = items.is_some();
            own.prefix = prefix.len();
            if self == Kind::Items {
                let schemas = contains.iter().map(|&Contains { schema, from: _, count: _ }| schema);
                own.contained = schemas.collect();
            }
        }
        own
    }
}

/// The evaluated members of an object, or items of an array.
#[derive(Clone, Debug, Default, PartialEq)]
struct Evaluated<'a> {
    all: bool,
    names: BTreeSet<&'a str>,
    patterns: BTreeSet<&'a str>,
    /// Number of items evaluated at the beginning.
    prefix: usize,
    /// Schemas; items that satisfy one of them are evaluated.
    contained: BTreeSet<SchemaId>,
}

impl Evaluated<'_> {
    fn add(&mut self, other: &Self) {
        let Evaluated { all, names, patterns, prefix, contained } = other;
        self.all |= all;
        self.names.extend(names);
        self.patterns.extend(patterns);
        self.prefix = self.prefix.max(*prefix);
        self.contained.extend(contained);
    }

    fn is_nothing(&self) -> bool {
        self.size() == 0
    }

    fn contains(&self, other: &Self) -> bool {
        let Evaluated { all, names, patterns, prefix, contained } = other;
        self.all
            || !all
                && self.prefix >= *prefix
                && self.names.is_superset(names)
                && self.patterns.is_superset(patterns)
                && self.contained.is_superset(contained)
    }

    fn size(&self) -> usize {
        let Evaluated { all, names, patterns, prefix, contained } = self;
        usize::from(*all) + prefix + names.len() + patterns.len() + contained.len()
    }
}

/// A case: if all of these schemas hold, at least this is evaluated.
#[derive(Clone, Debug, Default, PartialEq)]
struct Case<'a> {
    holding: BTreeSet<SchemaId>,
    evaluated: Evaluated<'a>,
}

impl<'a> Case<'a> {
    fn given(&self, schema: SchemaId) -> Case<'a> {
        let mut case = self.clone();
        case.holding.insert(schema);
        case
    }

    fn and(&self, other: &Case<'a>) -> Case<'a> {
        let mut case = self.clone();
        case.holding.extend(&other.holding);
        case.evaluated.add(&other.evaluated);
        case
    }

    fn size(&self) -> usize {
        1 + self.evaluated.size() + self.holding.len()
    }

    fn contains(&self, other: &Case<'a>) -> bool {
        self.holding.is_subset(&other.holding) && self.evaluated.contains(&other.evaluated)
    }
}

/// The cases of a schema: if it holds, at least one of them does.
type Cases<'a> = Rc<Vec<Case<'a>>>;

fn contributes(cases: &[Case<'_>]) -> bool {
    !cases.iter().all(|case| case.evaluated.is_nothing())
}

struct Collector<'s, 'a> {
    schemas: &'s mut Schemas<'a>,
    kind: Kind,
    known: FxHashMap<SchemaId, Cases<'a>>,
    size: usize,
}

impl<'a> Collector<'_, 'a> {
    /// Returns the cases of a schema that has the keyword, without the effect of the keyword itself.
    fn of_closed(&mut self, id: SchemaId) -> Result<Cases<'a>> {
        // dependencies first; a cycle has no meaning, and a later pass reports it
        let mut stack = vec![(id, false)];
        let mut open = rustc_hash::FxHashSet::default();
        while let Some((at, inner_done)) = stack.pop() {
            if inner_done {
                let cases = self.of_whole(at)?;
                self.known.insert(at, cases);
            } else if !self.known.contains_key(&at) && open.insert(at) {
                stack.push((at, true));
                stack.extend(in_place(self.schemas.get(at)).into_iter().map(|inner| (inner, false)));
            }
        }
        let schema = Rc::clone(self.schemas.get(id));
        self.of_applied(&schema)
    }

    fn get(&self, id: SchemaId) -> Cases<'a> {
        self.known.get(&id).cloned().unwrap_or_else(|| Rc::new(vec![Case::default()]))
    }

    fn of_whole(&mut self, id: SchemaId) -> Result<Cases<'a>> {
        let schema = Rc::clone(self.schemas.get(id));
        if self.kind.keyword_of(&schema).is_some() {
            let evaluated = Evaluated { all: true, ..Evaluated::default() };
            return Ok(Rc::new(vec![Case { evaluated, ..Case::default() }]));
        }
        self.of_applied(&schema)
    }

    fn of_applied(&mut self, schema: &Schema<'a>) -> Result<Cases<'a>> {
        let own = Case { evaluated: self.kind.own(schema), ..Case::default() };
        let mut cases = Rc::new(vec![own]);
        for &conjunct in &schema.conjuncts {
            cases = self.both(schema, &cases, &self.get(conjunct))?;
        }
        for alternatives in &schema.any_of {
            let alternatives = self.of_some(schema, alternatives)?;
            cases = self.both(schema, &cases, &alternatives)?;
        }
        for applied in &schema.applied {
            let alternatives = match applied {
                Applied::OneOf(list) => {
                    let mut one: Vec<Case<'a>> = Vec::new();
                    for &alternative in list {
                        one.extend(self.get(alternative).iter().map(|case| case.given(alternative)));
                    }
                    self.pruned(schema, self.or_nothing(list, one))?
                }
                &Applied::If { condition, then, otherwise } => {
                    self.of_branches(schema, condition, then, otherwise)?
                }
                &Applied::DependentSchema(name, dependent) => {
                    let dependent = self.get(dependent);
                    if !contributes(&dependent) {
                        continue;
                    }
                    let mut present = Schema::of_types(schema.pointer, TypeSet::OBJECT);
                    present.object.required.push(name);
                    let present = self.schemas.push(present);
                    let given = dependent.iter().map(|case| case.given(present));
                    self.pruned(schema, given.chain([Case::default()]).collect())?
                }
                // a negation evaluates nothing; only draft 3, which lacks these keywords, has schemas as types
                Applied::Not(_)
                | Applied::DependentRequired(_, _)
                | Applied::Types { types: _, integers: _, schemas: _, holds: _ } => continue,
            };
            cases = self.both(schema, &cases, &alternatives)?;
        }
        Ok(cases)
    }

    /// Returns the cases in which one or more of the alternatives hold.
    fn of_some(&mut self, schema: &Schema<'a>, list: &[SchemaId]) -> Result<Cases<'a>> {
        let mut some: Vec<Case<'a>> = Vec::new();
        for &alternative in list {
            let cases = self.get(alternative);
            if contributes(&cases) {
                let given: Vec<Case<'a>> = cases.iter().map(|case| case.given(alternative)).collect();
                some.extend(self.both(schema, &some, &given)?.iter().cloned());
                some.extend(given);
                some = self.pruned(schema, some)?.to_vec();
            }
        }
        self.pruned(schema, self.or_nothing(list, some))
    }

    /// Adds the case that nothing is evaluated, unless every alternative evaluates something.
    fn or_nothing(&self, list: &[SchemaId], mut cases: Vec<Case<'a>>) -> Vec<Case<'a>> {
        if !list.iter().all(|&alternative| contributes(&self.get(alternative))) {
            cases.push(Case::default());
        }
        cases
    }

    fn of_branches(
        &mut self,
        schema: &Schema<'a>,
        condition: SchemaId,
        then: Option<SchemaId>,
        otherwise: Option<SchemaId>,
    ) -> Result<Cases<'a>> {
        let branch = |this: &Self, branch: Option<SchemaId>| branch.map(|branch| this.get(branch));
        let mut holds = self.get(condition);
        if let Some(then) = branch(self, then) {
            holds = self.both(schema, &holds, &then)?;
        }
        let mut cases = vec![Case::default()];
        if contributes(&holds) {
            cases.extend(holds.iter().map(|case| case.given(condition)));
        }
        if let Some(fails) = branch(self, otherwise).filter(|fails| contributes(fails)) {
            let applied = vec![Applied::Not(condition)];
            let not = self.schemas.push(Schema { applied, ..Schema::made(schema.pointer) });
            cases.extend(fails.iter().map(|case| case.given(not)));
            // one of the two branches applies
            if contributes(&holds) {
                cases.remove(0);
            }
        }
        self.pruned(schema, cases)
    }

    /// Returns the cases in which one case of each list holds.
    fn both(&mut self, schema: &Schema<'a>, some: &[Case<'a>], others: &[Case<'a>]) -> Result<Cases<'a>> {
        if some.len() * others.len() > MAX_PRODUCT {
            return Err(self.too_many(schema));
        }
        let size = |cases: &[Case<'a>]| cases.iter().map(Case::size).sum::<usize>();
        let copied = size(some).saturating_mul(others.len()) + size(others).saturating_mul(some.len());
        self.spend(schema, copied)?;
        let product = some.iter().flat_map(|one| others.iter().map(|other| one.and(other)));
        self.pruned(schema, product.collect())
    }

    /// Drops cases that others contain.
    fn pruned(&mut self, schema: &Schema<'a>, cases: Vec<Case<'a>>) -> Result<Cases<'a>> {
        let mut kept: Vec<Case<'a>> = Vec::with_capacity(cases.len());
        for case in cases {
            self.spend(schema, kept.len())?;
            if !kept.iter().any(|other| other.contains(&case)) {
                kept.retain(|other| !case.contains(other));
                kept.push(case);
            }
        }
        self.size += kept.iter().map(Case::size).sum::<usize>();
        if kept.len() > MAX_CASES || self.size > MAX_SIZE {
            return Err(self.too_many(schema));
        }
        Ok(Rc::new(kept))
    }

    fn spend(&self, schema: &Schema<'a>, steps: usize) -> Result<()> {
        self.schemas.work.spend(steps).map_err(|error| errors::placed(error, schema.pointer))
    }

    fn too_many(&self, schema: &Schema<'a>) -> crate::Error {
        errors::too_many_cases(schema.pointer, self.kind.name(), MAX_CASES)
    }
}

/// Returns the schemas that `schema` applies to the same value and whose evaluations count. Those of `not` do not.
fn in_place(schema: &Schema<'_>) -> Vec<SchemaId> {
    let mut all: Vec<SchemaId> = schema.in_place().collect();
    for applied in &schema.applied {
        match applied {
            Applied::OneOf(list) => all.extend(list),
            Applied::If { condition, then, otherwise } => {
                all.extend([Some(*condition), *then, *otherwise].into_iter().flatten());
            }
            Applied::DependentSchema(_, dependent) => all.push(*dependent),
            Applied::Not(_)
            | Applied::DependentRequired(_, _)
            | Applied::Types { types: _, integers: _, schemas: _, holds: _ } => {}
        }
    }
    all
}

/// Rewrites the keyword of one schema.
fn close<'a>(schemas: &mut Schemas<'a>, arena: &'a Bump, kind: Kind, id: SchemaId, cases: &[Case<'a>]) {
    let Some(rest) = kind.keyword_of(schemas.get(id)) else { return };
    let is_open = |case: &Case<'_>| case.evaluated.all && case.holding.is_empty();
    if cases.iter().any(is_open) {
        return;
    }
    let pointer = &*arena.alloc_str(&join(schemas.get(id).pointer, kind.name()));
    let always = schemas.always();
    let mut alternatives = Vec::with_capacity(cases.len());
    for Case { holding, evaluated } in cases {
        let mut closed = Schema::made(pointer);
        closed.conjuncts.extend(holding);
        let Evaluated { all, names, patterns, prefix, contained } = evaluated;
        if !all {
            closed.is_bare = false;
            if kind == Kind::Properties {
                names.iter().for_each(|name| closed.object.properties.declare(name, always));
                closed.object.patterns = patterns.iter().map(|p| (*p, always)).collect();
                closed.object.additional = Some(rest);
            } else {
                closed.array.prefix = vec![always; *prefix];
                let mut any: Vec<SchemaId> = contained.iter().copied().collect();
                closed.array.items = Some(if any.is_empty() {
                    rest
                } else {
                    any.push(rest);
                    schemas.push(Schema { any_of: vec![any], ..Schema::made(pointer) })
                });
            }
        }
        alternatives.push(schemas.push(closed));
    }
    let schema = schemas.change(id);
    match alternatives[..] {
        [one] => schema.conjuncts.push(one),
        _ => schema.any_of.push(alternatives),
    }
}
