//! Normal forms of conjunctions of schemas: values listed one by one, alternatives, or a part for each type.

use super::assertion::TypeSet;
use super::conjunction::ConjunctionId;
use super::counts::Counts;
use super::numbers::NumberRange;
use super::schema_id::SchemaId;
use super::seldom::Seldom;
use super::string_test::StringTest;
use crate::grammar::Condition;
use crate::grammar::conditions::{self, Clauses};
use crate::syntax::json_schema::json::Value;

/// The normal form of a conjunction.
#[derive(Debug)]
pub(super) enum Shape<'a> {
    /// One of these values.
    Values(Vec<&'a Value<'a>>),
    /// One of these conjunctions.
    Union(Vec<ConjunctionId>),
    /// A value of one of the types, as the type's part says.
    Typed(Typed<'a>),
}

/// A shape type by type.
#[derive(Debug, Default)]
pub(super) struct Typed<'a> {
    pub(super) types: TypeSet,
    pub(super) number: Seldom<NumberRange>,
    pub(super) length: Counts,
    pub(super) tests: Vec<Test<'a>>,
    /// Strings and numbers that are excluded.
    pub(super) excluded: Vec<&'a Value<'a>>,
    pub(super) array: Option<Box<ArrayShape>>,
    pub(super) object: Option<Box<ObjectShape<'a>>>,
}

/// A test that strings must pass, or must fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Test<'a> {
    /// Where it stands.
    pub(super) schema: SchemaId,
    pub(super) test: StringTest<'a>,
    pub(super) holds: bool,
}

#[derive(Debug)]
pub(super) struct ArrayShape {
    /// What the items may be, place by place; the last entry holds for all further ones as well.
    pub(super) items: Vec<Vec<ItemClass>>,
    pub(super) count: Counts,
    /// How many items there are of each class; [`ItemClass::hits`] says which are counted where.
    pub(super) contains: Vec<Counts>,
    /// The schema that says that the items are pairwise different, if one does.
    pub(super) unique: Option<SchemaId>,
}

/// Items that are counted in the same way.
#[derive(Clone, Copy, Debug)]
pub(super) struct ItemClass {
    pub(super) value: ConjunctionId,
    /// One bit for each entry of [`ArrayShape::contains`].
    pub(super) hits: u32,
}

#[derive(Debug)]
pub(super) struct ObjectShape<'a> {
    /// Those of the same name stand side by side; one of them comes at most.
    pub(super) members: Vec<MemberShape<'a>>,
    /// Members of other names, by class of names.
    pub(super) rest: Vec<RestShape<'a>>,
    /// Members of other names that may come once each, by class of names.
    pub(super) ones: Vec<Vec<RestShape<'a>>>,
    /// What must hold of the entries that come: the members by their places, then the ones.
    pub(super) conditions: Vec<Condition>,
    pub(super) count: Counts,
}

impl ObjectShape<'_> {
    /// Whether it takes the conditions to know which members must come, or members share names.
    pub(super) fn is_conditional(&self) -> bool {
        // only conditions require `ones`
        let ObjectShape { members, rest: _, ones: _, conditions, count: _ } = self;
        !conditions.is_empty() || members.windows(2).any(|pair| pair[0].name == pair[1].name)
    }

    /// The conditions over the members and the ones.
    pub(super) fn clauses(&self) -> Clauses {
        // further members and counts are not clauses
        let ObjectShape { members, rest: _, ones, conditions, count: _ } = self;
        let required: Vec<bool> = members.iter().map(|member| member.required).collect();
        let groups = conditions::groups(members, |one, other| one.name == other.name);
        Clauses::new(conditions, &groups, &required, members.len() + ones.len())
    }
}

#[derive(Debug)]
pub(super) struct MemberShape<'a> {
    pub(super) name: &'a str,
    pub(super) value: ConjunctionId,
    pub(super) required: bool,
}

/// Further members whose names pass the same tests.
#[derive(Clone, Debug)]
pub(super) struct RestShape<'a> {
    pub(super) tests: Vec<Test<'a>>,
    /// Names that pass the tests as well, and are not in the class.
    pub(super) others: Vec<&'a str>,
    /// What the names satisfy as strings.
    pub(super) strings: Option<ConjunctionId>,
    pub(super) value: ConjunctionId,
}

impl Shape<'_> {
    /// The conjunctions that the shape refers to.
    pub(super) fn children(&self) -> impl Iterator<Item = ConjunctionId> {
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
            items.iter().flatten().map(|&ItemClass { value, hits: _ }| value)
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
