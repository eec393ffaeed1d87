//! Objects with conditions, for alternatives that have too many combinations but only restrict which members are
//! present and what their values satisfy.
//!
//! The alternatives are not combined. Instead, each member gets as many variants as needed to distinguish which of the
//! schemas that the alternatives have for it hold of its value. Each alternative becomes a condition on the variants
//! that are present.

use super::empty::surely_empty;
use super::members::{declared_names, listed_names, name_satisfies, rest, schemas_of_member};
use super::normalizer::Normalizer;
use super::shape::{MemberShape, ObjectShape, Shape, Typed};
use super::some_members::ones;
use super::unfold::{Unfolded, unfold};
use super::{combine, validate};
use crate::error::Result;
use crate::grammar::{Alternative, Condition};
use crate::syntax::json_schema::errors;
use crate::syntax::json_schema::model::assertion::{
    NameClass, NameSet, ObjectPart, SomeMember, TypeSet, ValueList,
};
use crate::syntax::json_schema::model::schema::Schema;
use crate::syntax::json_schema::model::schema_id::{Part, SchemaId};
use crate::syntax::json_schema::values::counts::Counts;
use crate::syntax::json_schema::values::json::Value;
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

/// Greatest number of ways in which one alternative may hold.
const MAX_WAYS: usize = 64;
/// Greatest number of variants of one member, and of all members of an object.
const MAX_VARIANTS: usize = 64;
const MAX_ENTRIES: usize = 1024;

/// Sets of types that get alternatives of their own.
const APART: [TypeSet; 5] = [
    TypeSet::OBJECT,
    TypeSet::ARRAY,
    TypeSet::STRING,
    TypeSet::NUMBER,
    TypeSet::NULL.union(TypeSet::BOOLEAN),
];

/// What an alternative requires of one member.
#[derive(Clone, Debug)]
struct Literal<'a> {
    name: &'a str,
    /// Schemas that its value satisfies if it is present, sorted.
    schemas: Vec<SchemaId>,
    /// Whether it must be present.
    required: bool,
}

/// One way in which an alternative holds: all of these requirements together.
#[derive(Clone, Debug, Default)]
pub(super) struct Way<'a> {
    members: Vec<Literal<'a>>,
    some: Vec<(SchemaId, SomeMember<'a>)>,
}

impl<'a> Way<'a> {
    fn add(&mut self, literal: Literal<'a>) {
        match self.members.iter_mut().find(|known| known.name == literal.name) {
            Some(known) => {
                known.schemas.extend(literal.schemas);
                known.schemas.sort_unstable();
                known.schemas.dedup();
                known.required |= literal.required;
            }
            None => self.members.push(literal),
        }
    }
}

/// For each variant of a member: which of the requested schemas hold of its value, and the schemas that its value
/// satisfies.
type Cells = Vec<(Vec<bool>, Vec<SchemaId>)>;

/// The variants of one member.
#[derive(Default)]
struct Variants {
    /// The sets of schemas that alternatives request for its value.
    asked: Vec<Vec<SchemaId>>,
    /// The entry of each variant, and which of `asked` hold of it.
    list: Vec<(u32, Vec<bool>)>,
}

impl Variants {
    /// Returns the entries whose values satisfy (or, if not `holds`, do not satisfy) the requested schemas. Schemas
    /// that were never requested always hold.
    fn entries(&self, schemas: &[SchemaId], holds: bool) -> impl Iterator<Item = u32> {
        let place = self.asked.iter().position(|asked| asked == schemas);
        let is = move |all: &[bool]| place.is_none_or(|place| all[place]) == holds;
        self.list.iter().filter(move |(_, all)| is(all)).map(|(entry, _)| *entry)
    }
}

/// Returns the shape of alternatives that have too many combinations.
///
/// # Errors
/// The alternatives restrict values other than objects, or more than which members are present; those of
/// [`conditional_object`].
pub(super) fn apart<'a>(
    n: &mut Normalizer<'a>,
    own: &[Part],
    choices: Vec<Vec<SchemaId>>,
) -> Result<Shape<'a>> {
    let ids = unfold(&n.schemas, own).bases;
    let bases: Vec<Rc<Schema<'a>>> = ids.iter().map(|&id| Rc::clone(n.schemas.get(id))).collect();
    let types = bases.iter().fold(TypeSet::ALL, |types, base| types.intersection(base.types));
    let parts: Vec<TypeSet> = APART.into_iter().map(|one| one.intersection(types)).collect();
    if parts.iter().filter(|part| **part != TypeSet::NONE).count() > 1 {
        // the values of each type have their own combinations
        let choices: Vec<SchemaId> = choices.into_iter().map(|one| n.choice(one)).collect();
        let types = parts.into_iter().filter(|part| *part != TypeSet::NONE);
        let types = types.map(|part| choices.iter().copied().chain([n.schemas.of_types(part)]).collect());
        let apart = types.collect();
        return Ok(n.union(own, apart));
    }
    let pointer = bases.first().map_or("", |base| base.pointer);
    if types == TypeSet::NONE {
        return Ok(Shape::Union(Vec::new()));
    }
    if types != TypeSet::OBJECT {
        return Err(errors::too_many_alternatives(pointer, "they are of values other than objects"));
    }
    let (mut easy, mut hard) = (Vec::new(), Vec::new());
    for alternatives in choices {
        let ways = alternatives.iter().map(|&one| ways(n, own, one)).collect::<Result<Option<Vec<_>>>>()?;
        match ways {
            Some(ways) => easy.push((alternatives, ways.into_iter().flatten().collect::<Vec<_>>())),
            None => hard.push(alternatives),
        }
    }
    if hard.is_empty() {
        let choices = easy.into_iter().map(|(_, ways)| ways).collect();
        let object = Some(Box::new(conditional_object(n, &ids, &bases, choices)?));
        let typed = Typed { types: TypeSet::OBJECT, object, ..Typed::default() };
        return Ok(Shape::Typed(typed));
    }
    let found = match &hard[..] {
        [one] => Some(one.iter().map(|&alternative| vec![alternative]).collect()),
        _ => combine::combinations(&n.schemas, own, hard, &mut n.budget)?.map(Option::unwrap_or_default),
    };
    let Some(found) = found else {
        let reason = "some of them say more than which members there are";
        return Err(errors::too_many_alternatives(pointer, reason));
    };
    let easy: Vec<SchemaId> = easy.into_iter().map(|(alternatives, _)| n.choice(alternatives)).collect();
    let found = if found.is_empty() { vec![Vec::new()] } else { found };
    let with = |chosen: Vec<SchemaId>| chosen.into_iter().chain(easy.iter().copied()).collect();
    Ok(n.union(own, found.into_iter().map(with).collect()))
}

/// Returns the ways in which an alternative holds of an object; `None` if it restricts more than members, or if
/// there are too many ways.
///
/// # Errors
/// No work left.
fn ways<'a>(n: &Normalizer<'a>, own: &[Part], alternative: SchemaId) -> Result<Option<Vec<Way<'a>>>> {
    let mut ways = Vec::new();
    // the way so far, schemas to read next, choices to make, and the alternatives chosen
    let mut open = vec![(Way::default(), vec![alternative], Vec::<Vec<SchemaId>>::new(), vec![alternative])];
    while let Some((mut way, schemas, mut choices, all)) = open.pop() {
        let parts: Vec<Part> = schemas.into_iter().map(Part::whole).collect();
        let with: Vec<Part> = own.iter().copied().chain(all.iter().copied().map(Part::whole)).collect();
        if surely_empty(&n.schemas, &with)? {
            continue;
        }
        let Unfolded { bases: ids, choices: inner, steps } = unfold(&n.schemas, &parts);
        n.spend(steps)?;
        let mut is_possible = true;
        for &id in &ids {
            let Schema {
                pointer: _,
                types,
                // these do not restrict objects
                number: _,
                string: _,
                array: _,
                excluded: _,
                object,
                values,
                // `unfold` follows these
                conjuncts: _,
                any_of: _,
                // rewritten to the two above
                unevaluated: _,
                applied: _,
                is_bare: _,
                is_written: _,
            } = &**n.schemas.get(id);
            let ObjectPart { properties, required, patterns, additional, count, names, some } = &**object;
            is_possible &= types.contains(TypeSet::OBJECT);
            let more = !values.is_empty()
                || !count.is_free()
                || names.is_some()
                || additional.is_some()
                || !patterns.is_empty();
            if more && is_possible {
                return Ok(None);
            }
            // adding a member searches those of the way
            let members = way.members.len() + properties.list().len() + required.len();
            n.spend((properties.list().len() + required.len()).saturating_mul(members) / 16)?;
            let literal = |name, schemas, required| Literal { name, schemas, required };
            properties.list().iter().for_each(|&(name, value)| {
                way.add(literal(name, said(n, [value]), false));
            });
            required.iter().for_each(|&name| way.add(literal(name, Vec::new(), true)));
            way.some.extend(some.iter().map(|some| (id, some.clone())));
        }
        if !is_possible {
            continue;
        }
        choices.extend(inner);
        match choices.pop() {
            None => ways.push(way),
            Some(alternatives) => {
                if ways.len() + open.len() + alternatives.len() > MAX_WAYS {
                    return Ok(None);
                }
                for one in alternatives {
                    let all = all.iter().copied().chain([one]).collect();
                    open.push((way.clone(), vec![one], choices.clone(), all));
                }
            }
        }
        if ways.len() + open.len() > MAX_WAYS {
            return Ok(None);
        }
    }
    Ok(Some(ways))
}

/// Returns the shape of objects that satisfy the bases and, of each choice, at least one way.
///
/// # Errors
/// Too many variants or conditions, or too many members of undeclared names that must be present; those of the
/// validator.
pub(super) fn conditional_object<'a>(
    n: &mut Normalizer<'a>,
    ids: &[SchemaId],
    bases: &[Rc<Schema<'a>>],
    mut choices: Vec<Vec<Way<'a>>>,
) -> Result<ObjectShape<'a>> {
    let (mut names_schemas, mut count) = (Vec::new(), Counts::default());
    for (&id, base) in ids.iter().zip(bases) {
        let ObjectPart {
            // handled by `declared_names`, `variants` and `rest`
            properties: _,
            required: _,
            patterns: _,
            additional: _,
            count: own_count,
            names,
            some,
        } = &*base.object;
        names_schemas.extend(names);
        count = count.intersection(own_count);
        // these are required in every way
        choices
            .extend(some.iter().map(|one| vec![Way { members: Vec::new(), some: vec![(id, one.clone())] }]));
    }
    let listed = listed_names(n, &names_schemas)?;
    let ways = || choices.iter().flatten();
    let spoken_of = ways().flat_map(|way| way.members.iter().map(|literal| literal.name));
    let excepted = ways().flat_map(|way| &way.some).flat_map(|(_, one)| names_beside(n, one));
    let names = declared_names(bases).into_iter().chain(spoken_of).chain(listed.iter().flatten().copied());
    let names = names.chain(excepted);
    let mut seen = FxHashSet::default();
    let names: Vec<&'a str> = names.filter(|name| seen.insert(*name)).collect();
    n.spend(names.len().saturating_mul(bases.len()))?;
    let mut some: Vec<(SchemaId, SomeMember<'a>)> = Vec::new();
    for one in ways().flat_map(|way| &way.some) {
        n.spend(1 + some.len())?;
        if !some.iter().any(|known| known.1 == one.1) {
            some.push(one.clone());
        }
    }
    // classes that differ only in declared names are the same
    let mut classes: Vec<(SchemaId, SomeMember<'a>)> = Vec::new();
    for one in &some {
        if !classes.iter().any(|known| is_same(n, &known.1, &one.1)) {
            classes.push(one.clone());
        }
    }
    let mut variants: FxHashMap<&'a str, Variants> = FxHashMap::default();
    let mut ask = |name: &'a str, schemas: &[SchemaId]| {
        let asked = &mut variants.entry(name).or_default().asked;
        if !schemas.is_empty() && !asked.iter().any(|known| known == schemas) {
            asked.push(schemas.to_vec());
        }
    };
    names.iter().for_each(|name| ask(name, &[]));
    ways().flat_map(|way| &way.members).for_each(|literal| ask(literal.name, &literal.schemas));
    // the declared names among the required members
    let mut named: Vec<Vec<&'a str>> = Vec::new();
    for (id, one) in &some {
        n.spend(names.len())?;
        let schema = Rc::clone(n.schemas.get(*id));
        let mut of_class = Vec::new();
        for &name in names.iter().filter(|name| !one.other_than.contains(name)) {
            if validate::is_of_class(&n.schemas, &schema, one, name)? {
                ask(name, &said(n, [one.value]));
                of_class.push(name);
            }
        }
        named.push(of_class);
    }
    let members = variants_of(n, bases, (&names_schemas, &names), &mut variants)?;
    let rest = if listed.is_some() { Vec::new() } else { rest(n, ids, bases, &names_schemas, &members)? };
    let (ones, entries) = ones(n, &classes, &rest, members.len())?;
    let entries_of = |one: &SomeMember<'a>| -> Vec<u32> {
        let value = said(n, [one.value]);
        let named = some.iter().zip(&named).filter(|(known, _)| known.1 == *one).flat_map(|(_, names)| names);
        let declared = named.flat_map(|name| variants[name].entries(&value, true));
        let class = classes.iter().zip(&entries).filter(|(known, _)| is_same(n, &known.1, one)).take(1);
        declared.chain(class.flat_map(|(_, entries)| entries.iter().copied())).collect()
    };
    let alternative = |way: &Way<'a>| {
        let required = way.members.iter().filter(|literal| literal.required);
        let required =
            required.map(|literal| variants[literal.name].entries(&literal.schemas, true).collect());
        let some = required.chain(way.some.iter().map(|one| entries_of(&one.1)));
        let optional = way.members.iter().filter(|literal| !literal.required);
        Alternative {
            some: some.map(Vec::into_boxed_slice).collect(),
            none: optional
                .flat_map(|literal| variants[literal.name].entries(&literal.schemas, false))
                .collect(),
        }
    };
    let condition = |ways: &Vec<Way<'a>>| Condition(ways.iter().map(alternative).collect());
    let conditions = choices.iter().map(condition).collect();
    let shape = ObjectShape { members, rest, ones, conditions, count };
    let limit = n.limits.condition_search;
    match shape.clauses().work(count.min > 0 || count.max.is_some(), limit) {
        Some(work) => n.spend(work).map(|()| shape),
        None => Err(errors::undecidable_conditions(bases.first().map_or("", |base| base.pointer), limit)),
    }
}

/// Returns the names that are excepted from a class of members.
fn names_beside<'a>(n: &Normalizer<'a>, some: &SomeMember<'a>) -> Vec<&'a str> {
    let SomeMember { names, value: _, other_than } = some;
    let beside = match *names {
        NameClass::AdditionalTo(id) => n.schemas.get(id).object.properties.list(),
        NameClass::Matching(_) | NameClass::Satisfying(_) => &[],
    };
    beside.iter().map(|(name, _)| *name).chain(other_than.iter().copied()).collect()
}

/// Whether two assertions admit the same members, apart from the names that only one of them excludes. The caller
/// handles excluded names like declared ones.
fn is_same<'a>(n: &Normalizer<'a>, one: &SomeMember<'a>, other: &SomeMember<'a>) -> bool {
    let patterns = |id| n.schemas.get(id).object.patterns.iter().map(|(pattern, _)| *pattern);
    let &SomeMember { names, value, other_than: _ } = one;
    let &SomeMember { names: other_names, value: other_value, other_than: _ } = other;
    let is_same_class = match (names, other_names) {
        (NameClass::AdditionalTo(one), NameClass::AdditionalTo(other)) => patterns(one).eq(patterns(other)),
        (one, other) => one == other,
    };
    is_same_class && said(n, [value]) == said(n, [other_value])
}

/// Returns the members of all names in all of their variants.
fn variants_of<'a>(
    n: &mut Normalizer<'a>,
    bases: &[Rc<Schema<'a>>],
    (names_schemas, names): (&[SchemaId], &[&'a str]),
    variants: &mut FxHashMap<&'a str, Variants>,
) -> Result<Vec<MemberShape<'a>>> {
    let required = bases.iter().flat_map(|base| base.object.required.iter().copied());
    let required: NameSet<'a> = required.collect();
    let mut members = Vec::new();
    for &name in names {
        let mut schemas = schemas_of_member(n, bases, name)?;
        if !name_satisfies(n, names_schemas, name)? {
            schemas.push(n.schemas.never());
        }
        let of_name = variants.entry(name).or_default();
        let cells = match listed_cells(n, &schemas, &of_name.asked)? {
            Some(cells) => Some(cells),
            None => cells(n, schemas.into_vec(), &of_name.asked)?,
        };
        let Some(mut cells) = cells.filter(|cells| members.len() + cells.len() <= MAX_ENTRIES) else {
            let pointer = bases.first().map_or("", |base| base.pointer);
            let reason = "a member's value may satisfy too many combinations of schemas";
            return Err(errors::too_many_alternatives(pointer, reason));
        };
        if cells.is_empty() {
            // a member that cannot be present needs an entry, too
            cells.push((vec![false; of_name.asked.len()], vec![n.schemas.never()]));
        }
        let required = required.contains(name);
        for (holds, schemas) in cells {
            of_name.list.push((members.len() as u32, holds));
            members.push(MemberShape { name, value: n.whole(schemas), required });
        }
    }
    Ok(members)
}

/// Returns the variants of a member whose schemas list values: one for each group of values that satisfy the same
/// requested schemas. `None` if they do not list values or nothing is requested.
fn listed_cells<'a>(
    n: &mut Normalizer<'a>,
    schemas: &[SchemaId],
    asked: &[Vec<SchemaId>],
) -> Result<Option<Cells>> {
    let parts = |ids: &[SchemaId]| ids.iter().copied().map(Part::whole).collect::<Vec<_>>();
    let bases = unfold(&n.schemas, &parts(schemas)).bases;
    let list = bases.iter().flat_map(|&id| &n.schemas.get(id).values).next();
    let Some(values) = list.filter(|_| !asked.is_empty()).map(|list| list.values.clone()) else {
        return Ok(None);
    };
    let mut groups: Vec<(Vec<bool>, Vec<&'a Value<'a>>)> = Vec::new();
    for value in values {
        if !validate::satisfies(&n.schemas, &parts(schemas), value)? {
            continue;
        }
        let mut holds = Vec::with_capacity(asked.len());
        for one in asked {
            holds.push(validate::satisfies(&n.schemas, &parts(one), value)?);
        }
        match groups.iter_mut().find(|(known, _)| *known == holds) {
            Some((_, group)) => group.push(value),
            None => groups.push((holds, vec![value])),
        }
    }
    let mut cells = Vec::with_capacity(groups.len());
    for (holds, group) in groups {
        let values = vec![ValueList::new(group)];
        let made = n.schemas.push(Schema { values, is_bare: false, ..Schema::made("") });
        cells.push((holds, vec![made]));
    }
    Ok(Some(cells))
}

/// Returns the variants of a member, by which of the requested schemas hold as well. `None` if there are too many.
fn cells(n: &Normalizer<'_>, schemas: Vec<SchemaId>, asked: &[Vec<SchemaId>]) -> Result<Option<Cells>> {
    let mut cells = vec![(Vec::new(), schemas)];
    for one in asked {
        let mut next = Vec::new();
        for (holds, schemas) in cells {
            let with = |more: &[SchemaId]| schemas.iter().chain(more).copied().collect::<Vec<_>>();
            let is_empty = |schemas: &[SchemaId]| {
                let parts: Vec<Part> = schemas.iter().copied().map(Part::whole).collect();
                surely_empty(&n.schemas, &parts)
            };
            let and = |last: bool| holds.iter().copied().chain([last]).collect::<Vec<_>>();
            let holding = with(one);
            if !is_empty(&holding)? {
                next.push((and(true), holding));
            }
            let negation = match one[..] {
                [only] => n.schemas.negations.get(&only).copied(),
                _ => None,
            };
            let failing = negation.map(|negation| with(&[negation]));
            if !failing.as_deref().map_or(Ok(false), is_empty)? {
                // a negation that is a choice would have to be split again
                let plain = negation
                    .filter(|&negation| unfold(&n.schemas, &[Part::whole(negation)]).choices.is_empty());
                next.push((and(false), if plain.is_some() { failing.unwrap_or(schemas) } else { schemas }));
            }
        }
        if next.len() > MAX_VARIANTS {
            return Ok(None);
        }
        cells = next;
    }
    Ok(Some(cells))
}

/// Returns the meanings of schemas, sorted, without schemas that admit every value.
fn said(n: &Normalizer<'_>, schemas: impl IntoIterator<Item = SchemaId>) -> Vec<SchemaId> {
    let meant = schemas.into_iter().map(|schema| n.schemas.meaning(schema));
    let mut said: Vec<SchemaId> = meant
        .filter(|&schema| {
            let schema = n.schemas.get(schema);
            !schema.is_bare || schema.is_compound()
        })
        .collect();
    said.sort_unstable();
    said.dedup();
    said
}
