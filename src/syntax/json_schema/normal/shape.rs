//! Normal forms of conjunctions of schemas: listed values, alternatives, or a part for each type.

use super::conjunction::ConjunctionId;
use crate::grammar::Condition;
use crate::grammar::conditions::{self, Clauses};
use crate::syntax::json_schema::model::assertion::TypeSet;
use crate::syntax::json_schema::model::numbers::NumberRange;
use crate::syntax::json_schema::model::schema_id::SchemaId;
use crate::syntax::json_schema::model::seldom::Seldom;
use crate::syntax::json_schema::strings::string_test::StringTest;
use crate::syntax::json_schema::values::counts::Counts;
use crate::syntax::json_schema::values::json::Value;
use smallvec::SmallVec;

/// The normal form of a conjunction.
#[derive(Debug)]
pub(in crate::syntax::json_schema) enum Shape<'a> {
    /// Exactly these values.
    Values(Vec<&'a Value<'a>>),
    /// The union of these conjunctions.
    Union(Vec<ConjunctionId>),
    /// The values of some types, restricted by a part for each type.
    Typed(Typed<'a>),
}

/// A shape with a part for each type.
#[derive(Debug, Default)]
pub(in crate::syntax::json_schema) struct Typed<'a> {
    pub(in crate::syntax::json_schema) types: TypeSet,
    pub(in crate::syntax::json_schema) number: Seldom<NumberRange>,
    pub(in crate::syntax::json_schema) length: Counts,
    pub(in crate::syntax::json_schema) tests: Vec<Test<'a>>,
    /// Strings and numbers that are excluded.
    pub(in crate::syntax::json_schema) excluded: Vec<&'a Value<'a>>,
    pub(in crate::syntax::json_schema) array: Option<Box<ArrayShape>>,
    pub(in crate::syntax::json_schema) object: Option<Box<ObjectShape<'a>>>,
}

/// A test that strings must pass if `holds`, and must fail otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::syntax::json_schema) struct Test<'a> {
    /// The schema that has the test.
    pub(in crate::syntax::json_schema) schema: SchemaId,
    pub(in crate::syntax::json_schema) test: StringTest<'a>,
    pub(in crate::syntax::json_schema) holds: bool,
}

#[derive(Debug)]
pub(in crate::syntax::json_schema) struct ArrayShape {
    /// The classes of items by index: runs of indices with the same classes, by their first index. The first run begins
    /// at 0, the last one has no end.
    pub(in crate::syntax::json_schema) items: Vec<ItemRun>,
    pub(in crate::syntax::json_schema) count: Counts,
    /// Bounds on the numbers of items that are counted; [`ItemClass::hits`] says which items are counted in which
    /// entry.
    pub(in crate::syntax::json_schema) contains: Vec<Counts>,
    /// The schema that requires all items to be different, if any.
    pub(in crate::syntax::json_schema) unique: Option<SchemaId>,
}

/// Indices of items with the same classes.
#[derive(Debug)]
pub(in crate::syntax::json_schema) struct ItemRun {
    /// The first index.
    pub(in crate::syntax::json_schema) from: usize,
    pub(in crate::syntax::json_schema) classes: SmallVec<[ItemClass; 1]>,
}

impl ArrayShape {
    /// Returns the classes of the item at an index.
    pub(in crate::syntax::json_schema) fn at(&self, index: usize) -> &[ItemClass] {
        let after = self.items.partition_point(|run| run.from <= index);
        after.checked_sub(1).map_or(&[], |run| &self.items[run].classes)
    }

    /// Returns the runs before the last one, each with the number of its indices below `end`.
    pub(in crate::syntax::json_schema) fn before(
        &self,
        end: usize,
    ) -> impl Iterator<Item = (&ItemRun, usize)> {
        let pairs = self.items.windows(2);
        let runs = pairs.map(move |pair| (&pair[0], pair[1].from.min(end).saturating_sub(pair[0].from)));
        runs.filter(|(_, count)| *count > 0)
    }

    /// Returns the classes of the items from [`fixed`](ArrayShape::fixed) on.
    pub(in crate::syntax::json_schema) fn further(&self) -> &[ItemClass] {
        self.items.last().map_or(&[], |run| &run.classes)
    }

    /// Returns the number of items before the last run.
    pub(in crate::syntax::json_schema) fn fixed(&self) -> usize {
        self.items.last().map_or(0, |run| run.from)
    }
}

/// Items that are counted in the same entries of [`ArrayShape::contains`].
#[derive(Clone, Copy, Debug)]
pub(in crate::syntax::json_schema) struct ItemClass {
    pub(in crate::syntax::json_schema) value: ConjunctionId,
    /// A bit for each entry of [`ArrayShape::contains`].
    pub(in crate::syntax::json_schema) hits: u32,
}

#[derive(Debug)]
pub(in crate::syntax::json_schema) struct ObjectShape<'a> {
    /// Variants of one name are adjacent; at most one of them is present.
    pub(in crate::syntax::json_schema) members: Vec<MemberShape<'a>>,
    /// Members of other names, by class of names.
    pub(in crate::syntax::json_schema) rest: Vec<RestShape<'a>>,
    /// Members of other names that are present at most once each, by class of names.
    pub(in crate::syntax::json_schema) ones: Vec<Vec<RestShape<'a>>>,
    /// Conditions on the entries that are present. Entries are numbered: the members by index, then the ones.
    pub(in crate::syntax::json_schema) conditions: Vec<Condition>,
    pub(in crate::syntax::json_schema) count: Counts,
}

impl ObjectShape<'_> {
    /// Whether the object has conditions or variants of a name. Otherwise each member says by itself whether it is
    /// required.
    pub(in crate::syntax::json_schema) fn is_conditional(&self) -> bool {
        // only conditions require `ones`
        let ObjectShape { members, rest: _, ones: _, conditions, count: _ } = self;
        !conditions.is_empty() || members.windows(2).any(|pair| pair[0].name == pair[1].name)
    }

    /// Returns the clauses of the conditions on members and ones.
    pub(in crate::syntax::json_schema) fn clauses(&self) -> Clauses {
        // further members and counts are not part of clauses
        let ObjectShape { members, rest: _, ones, conditions, count: _ } = self;
        let required: Vec<bool> = members.iter().map(|member| member.required).collect();
        let groups = conditions::groups(members, |one, other| one.name == other.name);
        Clauses::new(conditions, &groups, &required, members.len() + ones.len())
    }
}

#[derive(Debug)]
pub(in crate::syntax::json_schema) struct MemberShape<'a> {
    pub(in crate::syntax::json_schema) name: &'a str,
    pub(in crate::syntax::json_schema) value: ConjunctionId,
    pub(in crate::syntax::json_schema) required: bool,
}

/// Further members whose names pass the same tests.
#[derive(Clone, Debug)]
pub(in crate::syntax::json_schema) struct RestShape<'a> {
    pub(in crate::syntax::json_schema) tests: Vec<Test<'a>>,
    /// Names that are not in the class, although they may pass the tests.
    pub(in crate::syntax::json_schema) others: Vec<&'a str>,
    /// The conjunction that the names, as strings, must satisfy.
    pub(in crate::syntax::json_schema) strings: Option<ConjunctionId>,
    pub(in crate::syntax::json_schema) value: ConjunctionId,
}

impl Shape<'_> {
    /// Returns the conjunctions that the shape refers to.
    pub(in crate::syntax::json_schema) fn children(&self) -> impl Iterator<Item = ConjunctionId> {
        let (list, array, object): (&[ConjunctionId], _, _) = match self {
            Shape::Values(_) => (&[], None, None),
            Shape::Union(list) => (list, None, None),
            Shape::Typed(typed) => {
                let Typed { types: _, number: _, length: _, tests: _, excluded: _, array, object } = typed;
                (&[], array.as_deref(), object.as_deref())
            }
        };
        let arrays = array.into_iter().flat_map(|array| {
            let ArrayShape { items, count: _, contains: _, unique: _ } = array;
            let classes = items.iter().flat_map(|run| &run.classes);
            classes.map(|&ItemClass { value, hits: _ }| value)
        });
        let objects = object.into_iter().flat_map(|object| {
            let ObjectShape { members, rest, ones, conditions: _, count: _ } = object;
            let members = members.iter().map(|&MemberShape { name: _, value, required: _ }| value);
            let further = rest.iter().chain(ones.iter().flatten()).flat_map(|class| {
                let &RestShape { tests: _, others: _, strings, value } = class;
                [value].into_iter().chain(strings)
            });
            members.chain(further)
        });
        list.iter().copied().chain(arrays).chain(objects)
    }
}
