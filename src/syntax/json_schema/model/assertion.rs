//! Assertions of a single schema: sets of types, counts, lists of values, and a part for each type. The default of a
//! part admits every value.

use super::schema_id::SchemaId;
use crate::syntax::json_schema::strings::string_test::StringTest;
use crate::syntax::json_schema::values::counts::Counts;
use crate::syntax::json_schema::values::decimal::Decimal;
use crate::syntax::json_schema::values::json::Value;
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};
use smallvec::SmallVec;
use std::cell::OnceCell;

/// A set of JSON types. `true` and `false` are types of their own, so that all values except a given boolean or `null`
/// are a set of types, too. Whether a number must be an integer is part of [`NumberRange`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::syntax::json_schema) struct TypeSet(u8);

impl Default for TypeSet {
    fn default() -> TypeSet {
        TypeSet::ALL
    }
}

impl TypeSet {
    pub(in crate::syntax::json_schema) const NONE: TypeSet = TypeSet(0);
    pub(in crate::syntax::json_schema) const NULL: TypeSet = TypeSet(1);
    pub(in crate::syntax::json_schema) const FALSE: TypeSet = TypeSet(2);
    pub(in crate::syntax::json_schema) const TRUE: TypeSet = TypeSet(4);
    pub(in crate::syntax::json_schema) const BOOLEAN: TypeSet = TypeSet(6);
    pub(in crate::syntax::json_schema) const NUMBER: TypeSet = TypeSet(8);
    pub(in crate::syntax::json_schema) const STRING: TypeSet = TypeSet(16);
    pub(in crate::syntax::json_schema) const ARRAY: TypeSet = TypeSet(32);
    pub(in crate::syntax::json_schema) const OBJECT: TypeSet = TypeSet(64);
    pub(in crate::syntax::json_schema) const ALL: TypeSet = TypeSet(127);

    pub(in crate::syntax::json_schema) fn contains(self, other: TypeSet) -> bool {
        self.0 & other.0 == other.0
    }

    pub(in crate::syntax::json_schema) const fn union(self, other: TypeSet) -> TypeSet {
        TypeSet(self.0 | other.0)
    }

    pub(in crate::syntax::json_schema) fn intersection(self, other: TypeSet) -> TypeSet {
        TypeSet(self.0 & other.0)
    }

    pub(in crate::syntax::json_schema) fn without(self, other: TypeSet) -> TypeSet {
        TypeSet(self.0 & !other.0)
    }

    /// Returns the type of a value.
    pub(in crate::syntax::json_schema) fn of(value: &Value<'_>) -> TypeSet {
        match value {
            Value::Null => TypeSet::NULL,
            Value::Bool(false) => TypeSet::FALSE,
            Value::Bool(true) => TypeSet::TRUE,
            Value::Number(_) => TypeSet::NUMBER,
            Value::String(_) => TypeSet::STRING,
            Value::Array(_) => TypeSet::ARRAY,
            Value::Object(_) => TypeSet::OBJECT,
        }
    }
}

/// Assertions on strings.
#[derive(Clone, Debug, Default)]
pub(in crate::syntax::json_schema) struct StringPart<'a> {
    /// Number of Unicode code points.
    pub(in crate::syntax::json_schema) length: Counts,
    /// `pattern` and `format`, with whether strings must pass (`true`) or fail.
    pub(in crate::syntax::json_schema) tests: Vec<(StringTest<'a>, bool)>,
}

/// Assertions on arrays.
#[derive(Clone, Debug, Default)]
pub(in crate::syntax::json_schema) struct ArrayPart {
    pub(in crate::syntax::json_schema) prefix: Vec<SchemaId>,
    /// Schema of the items after the prefix.
    pub(in crate::syntax::json_schema) items: Option<SchemaId>,
    /// An index, and a schema of the item there, which holds in addition to those above. Only made schemas have it: it
    /// negates an entry of `prefix`.
    pub(in crate::syntax::json_schema) at: Option<(usize, SchemaId)>,
    pub(in crate::syntax::json_schema) count: Counts,
    pub(in crate::syntax::json_schema) contains: Vec<Contains>,
    /// Whether all items must be different.
    pub(in crate::syntax::json_schema) unique: bool,
    /// Whether two items must be equal, which negates `unique`. Only made schemas have it.
    pub(in crate::syntax::json_schema) repeated: bool,
}

/// Bounds on the number of items from index `from` on that satisfy a schema.
#[derive(Clone, Copy, Debug)]
pub(in crate::syntax::json_schema) struct Contains {
    pub(in crate::syntax::json_schema) schema: SchemaId,
    pub(in crate::syntax::json_schema) from: usize,
    pub(in crate::syntax::json_schema) count: Counts,
}

impl ArrayPart {
    /// Returns the schemas of the item at `index`: at most two.
    pub(in crate::syntax::json_schema) fn item(
        &self,
        index: usize,
    ) -> impl Iterator<Item = SchemaId> + use<> {
        let own = self.prefix.get(index).copied().or(self.items);
        let at = self.at.filter(|(place, _)| *place == index).map(|(_, schema)| schema);
        own.into_iter().chain(at)
    }
}

/// Assertions on objects.
#[derive(Clone, Debug, Default)]
pub(in crate::syntax::json_schema) struct ObjectPart<'a> {
    pub(in crate::syntax::json_schema) properties: Properties<'a>,
    pub(in crate::syntax::json_schema) required: Vec<&'a str>,
    /// `patternProperties`.
    pub(in crate::syntax::json_schema) patterns: Vec<(&'a str, SchemaId)>,
    pub(in crate::syntax::json_schema) additional: Option<SchemaId>,
    pub(in crate::syntax::json_schema) count: Counts,
    /// `propertyNames`.
    pub(in crate::syntax::json_schema) names: Option<SchemaId>,
    /// For each entry, at least one such member must be present.
    pub(in crate::syntax::json_schema) some: Vec<SomeMember<'a>>,
}

/// The assertion that an object has a member with a name of a class and a value that satisfies a schema. Only made
/// schemas have it: it negates `patternProperties`, `additionalProperties` and `propertyNames`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::syntax::json_schema) struct SomeMember<'a> {
    pub(in crate::syntax::json_schema) names: NameClass<'a>,
    pub(in crate::syntax::json_schema) value: SchemaId,
    /// Names of the class that do not count, because they are alternatives of their own.
    pub(in crate::syntax::json_schema) other_than: Vec<&'a str>,
}

/// A class of member names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::syntax::json_schema) enum NameClass<'a> {
    /// Names in which the pattern finds a match.
    Matching(&'a str),
    /// Names that are neither properties of the schema nor matched by its patterns.
    AdditionalTo(SchemaId),
    /// Names that satisfy the schema, as strings.
    Satisfying(SchemaId),
}

/// Schemas of members by name, each name once, in the order of declaration.
#[derive(Clone, Debug)]
pub(in crate::syntax::json_schema) struct Properties<'a> {
    list: Vec<(&'a str, SchemaId)>,
    /// Indices into `list` by name; empty if there are few.
    places: FxHashMap<&'a str, u32>,
}

impl Default for Properties<'_> {
    fn default() -> Self {
        Properties::NONE
    }
}

impl<'a> Properties<'a> {
    pub(in crate::syntax::json_schema) const NONE: Properties<'static> =
        Properties { list: Vec::new(), places: FxHashMap::with_hasher(FxBuildHasher) };

    /// Reserves capacity for `count` more members.
    pub(in crate::syntax::json_schema) fn reserve(&mut self, count: usize) {
        self.list.reserve_exact(count);
        if count > FEW {
            self.places.reserve(count);
        }
    }

    /// Adds a member, or replaces the schema of a declared one.
    pub(in crate::syntax::json_schema) fn declare(&mut self, name: &'a str, value: SchemaId) {
        match self.place(name) {
            Some(place) => self.list[place].1 = value,
            None => self.declare_new(name, value),
        }
    }

    /// Adds a member whose name is not declared yet.
    pub(in crate::syntax::json_schema) fn declare_new(&mut self, name: &'a str, value: SchemaId) {
        let place = self.list.len();
        self.list.push((name, value));
        match place {
            0..FEW => {}
            FEW => self.places.extend(self.list.iter().zip(0..).map(|(&(name, _), place)| (name, place))),
            _ => {
                self.places.insert(name, place as u32);
            }
        }
    }

    fn place(&self, name: &str) -> Option<usize> {
        match self.places.is_empty() {
            true => self.list.iter().position(|(known, _)| *known == name),
            false => self.places.get(name).map(|&place| place as usize),
        }
    }

    pub(in crate::syntax::json_schema) fn get(&self, name: &str) -> Option<SchemaId> {
        self.place(name).map(|place| self.list[place].1)
    }

    pub(in crate::syntax::json_schema) fn contains(&self, name: &str) -> bool {
        self.place(name).is_some()
    }

    /// Returns all members in the order of declaration.
    pub(in crate::syntax::json_schema) fn list(&self) -> &[(&'a str, SchemaId)] {
        &self.list
    }

    pub(in crate::syntax::json_schema) fn names(&self) -> impl Iterator<Item = &'a str> + '_ {
        self.list.iter().map(|(name, _)| *name)
    }
}

/// A set of names, without an index while there are few.
#[derive(Default)]
pub(in crate::syntax::json_schema) struct NameSet<'a> {
    few: SmallVec<[&'a str; FEW]>,
    /// All names, if there are many; otherwise empty.
    many: FxHashSet<&'a str>,
}

impl<'a> NameSet<'a> {
    /// Adds a name and returns whether it is new.
    pub(in crate::syntax::json_schema) fn insert(&mut self, name: &'a str) -> bool {
        if !self.many.is_empty() {
            return self.many.insert(name);
        }
        let is_new = !self.few.contains(&name);
        if is_new {
            self.few.push(name);
            if self.few.spilled() {
                self.many.extend(self.few.iter().copied());
            }
        }
        is_new
    }

    pub(in crate::syntax::json_schema) fn contains(&self, name: &str) -> bool {
        if self.many.is_empty() { self.few.contains(&name) } else { self.many.contains(name) }
    }
}

impl<'a> FromIterator<&'a str> for NameSet<'a> {
    fn from_iter<I: IntoIterator<Item = &'a str>>(names: I) -> Self {
        let mut set = NameSet::default();
        names.into_iter().for_each(|name| {
            set.insert(name);
        });
        set
    }
}

/// The values of one `enum` or `const`.
#[derive(Clone, Debug)]
pub(in crate::syntax::json_schema) struct ValueList<'a> {
    pub(in crate::syntax::json_schema) values: Vec<&'a Value<'a>>,
    /// The [equality keys](equality_key) of the values, computed on first use.
    keys: OnceCell<FxHashSet<String>>,
}

/// The greatest length of a list of values or names that is searched linearly.
const FEW: usize = 16;

impl<'a> ValueList<'a> {
    pub(in crate::syntax::json_schema) fn new(values: Vec<&'a Value<'a>>) -> ValueList<'a> {
        ValueList { values, keys: OnceCell::new() }
    }

    pub(in crate::syntax::json_schema) fn contains(&self, value: &Value<'_>) -> bool {
        if self.values.len() <= FEW && self.values.iter().any(|known| std::ptr::eq(*known, value)) {
            return true;
        }
        let keys = || self.values.iter().map(|value| equality_key(value)).collect();
        self.keys.get_or_init(keys).contains(&equality_key(value))
    }
}

/// Returns a text that is the same for two values exactly if they are equal: numbers are compared by value, objects
/// regardless of the order of members. Recurses; the depth of schema documents is bounded.
pub(in crate::syntax::json_schema) fn equality_key(value: &Value<'_>) -> String {
    match value {
        Value::Number(number) => format!("{:?}", Decimal::parse(&number.to_string())),
        Value::Array(list) => format!("[{}]", list.iter().map(equality_key).collect::<Vec<_>>().join(",")),
        Value::Object(map) => {
            let member = |(name, value)| format!("{}:{}", Value::from(name), equality_key(value));
            let mut members: Vec<String> = map.iter().map(member).collect();
            members.sort_unstable();
            format!("{{{}}}", members.join(","))
        }
        plain => plain.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_whether_they_are_few_or_many() {
        let all: Vec<String> = (0..3 * FEW).map(|n| format!("name {n}")).collect();
        for count in [0, 1, FEW - 1, FEW, FEW + 1, 3 * FEW] {
            let names = all[..count].iter().map(String::as_str);
            let (mut properties, mut set) = (Properties::default(), NameSet::default());
            for (name, id) in names.clone().zip(0..) {
                properties.declare(name, SchemaId(id));
                assert!(set.insert(name));
            }
            for (name, id) in names.clone().zip(100..).step_by(2) {
                properties.declare(name, SchemaId(id));
                assert!(!set.insert(name));
            }
            assert!(properties.names().eq(names), "{count}");
            for (place, name) in all.iter().enumerate() {
                let id = SchemaId(place as u32 + if place % 2 == 0 { 100 } else { 0 });
                assert_eq!(properties.get(name), (place < count).then_some(id), "{count} {name}");
                assert_eq!(set.contains(name), place < count, "{count} {name}");
            }
        }
    }
}
