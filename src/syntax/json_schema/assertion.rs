//! What single assertions say: sets of types, counts, lists of values, and the parts that a schema has for
//! each type. What a part does not say is its default, which admits everything.

use super::counts::Counts;
use super::decimal::Decimal;
use super::schema_id::SchemaId;
use super::string_test::StringTest;
use crate::syntax::json_schema::json::Value;
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};
use smallvec::SmallVec;
use std::cell::OnceCell;

/// A set of JSON types; `true` and `false` count as types of their own, so that excluding a value of a boolean
/// or `null` is a set of types again. Whether a number must be an integer is part of [`NumberRange`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct TypeSet(u8);

impl Default for TypeSet {
    fn default() -> TypeSet {
        TypeSet::ALL
    }
}

impl TypeSet {
    pub(super) const NONE: TypeSet = TypeSet(0);
    pub(super) const NULL: TypeSet = TypeSet(1);
    pub(super) const FALSE: TypeSet = TypeSet(2);
    pub(super) const TRUE: TypeSet = TypeSet(4);
    pub(super) const BOOLEAN: TypeSet = TypeSet(6);
    pub(super) const NUMBER: TypeSet = TypeSet(8);
    pub(super) const STRING: TypeSet = TypeSet(16);
    pub(super) const ARRAY: TypeSet = TypeSet(32);
    pub(super) const OBJECT: TypeSet = TypeSet(64);
    pub(super) const ALL: TypeSet = TypeSet(127);

    pub(super) fn contains(self, other: TypeSet) -> bool {
        self.0 & other.0 == other.0
    }

    pub(super) const fn union(self, other: TypeSet) -> TypeSet {
        TypeSet(self.0 | other.0)
    }

    pub(super) fn intersection(self, other: TypeSet) -> TypeSet {
        TypeSet(self.0 & other.0)
    }

    pub(super) fn without(self, other: TypeSet) -> TypeSet {
        TypeSet(self.0 & !other.0)
    }

    /// The type of a value.
    pub(super) fn of(value: &Value<'_>) -> TypeSet {
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

/// What a schema says of strings.
#[derive(Clone, Debug, Default)]
pub(super) struct StringPart<'a> {
    /// In Unicode code points.
    pub(super) length: Counts,
    /// `pattern` and `format`, and whether strings must pass or must fail.
    pub(super) tests: Vec<(StringTest<'a>, bool)>,
}

/// What a schema says of arrays.
#[derive(Clone, Debug, Default)]
pub(super) struct ArrayPart {
    pub(super) prefix: Vec<SchemaId>,
    /// Of the items after the prefix.
    pub(super) items: Option<SchemaId>,
    pub(super) count: Counts,
    pub(super) contains: Vec<Contains>,
    /// Whether no two items are equal.
    pub(super) unique: bool,
    /// Whether some two items are equal: how an array fails to be unique. Written nowhere.
    pub(super) repeated: bool,
}

/// Bounds on the number of items from an index on that satisfy a schema.
#[derive(Clone, Copy, Debug)]
pub(super) struct Contains {
    pub(super) schema: SchemaId,
    pub(super) from: usize,
    pub(super) count: Counts,
}

impl ArrayPart {
    /// The schema of the item at `index`, if there is one.
    pub(super) fn item(&self, index: usize) -> Option<SchemaId> {
        self.prefix.get(index).copied().or(self.items)
    }
}

/// What a schema says of objects.
#[derive(Clone, Debug, Default)]
pub(super) struct ObjectPart<'a> {
    pub(super) properties: Properties<'a>,
    pub(super) required: Vec<&'a str>,
    /// `patternProperties`.
    pub(super) patterns: Vec<(&'a str, SchemaId)>,
    pub(super) additional: Option<SchemaId>,
    pub(super) count: Counts,
    /// `propertyNames`.
    pub(super) names: Option<SchemaId>,
    /// Members one of which, each, is there.
    pub(super) some: Vec<SomeMember<'a>>,
}

/// There is a member with a name of a class, and a value of a schema. Written nowhere: this is how an object
/// fails to satisfy `patternProperties`, `additionalProperties` and `propertyNames`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SomeMember<'a> {
    pub(super) names: NameClass<'a>,
    pub(super) value: SchemaId,
    /// Names that it does not have: those that are alternatives of their own.
    pub(super) other_than: Vec<&'a str>,
}

/// A class of names of members.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NameClass<'a> {
    /// In which the pattern finds a match.
    Matching(&'a str),
    /// Neither among the properties of the schema nor matched by its patterns.
    AdditionalTo(SchemaId),
    /// That, as strings, satisfy the schema.
    Satisfying(SchemaId),
}

/// Members by their names, each once, in the order in which they were declared.
#[derive(Clone, Debug)]
pub(super) struct Properties<'a> {
    list: Vec<(&'a str, SchemaId)>,
    /// Their places, if they are many.
    places: FxHashMap<&'a str, u32>,
}

impl Default for Properties<'_> {
    fn default() -> Self {
        Properties::NONE
    }
}

impl<'a> Properties<'a> {
    pub(super) const NONE: Properties<'static> =
        Properties { list: Vec::new(), places: FxHashMap::with_hasher(FxBuildHasher) };

    /// Makes room for more.
    pub(super) fn reserve(&mut self, count: usize) {
        self.list.reserve_exact(count);
        if count > FEW {
            self.places.reserve(count);
        }
    }

    /// Adds one, or says something else of one that is there.
    pub(super) fn declare(&mut self, name: &'a str, value: SchemaId) {
        match self.place(name) {
            Some(place) => self.list[place].1 = value,
            None => self.declare_new(name, value),
        }
    }

    /// Adds one that is not there.
    pub(super) fn declare_new(&mut self, name: &'a str, value: SchemaId) {
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

    pub(super) fn get(&self, name: &str) -> Option<SchemaId> {
        self.place(name).map(|place| self.list[place].1)
    }

    pub(super) fn contains(&self, name: &str) -> bool {
        self.place(name).is_some()
    }

    /// All of them.
    pub(super) fn list(&self) -> &[(&'a str, SchemaId)] {
        &self.list
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &'a str> + '_ {
        self.list.iter().map(|(name, _)| *name)
    }
}

/// A set of names.
#[derive(Default)]
pub(super) struct NameSet<'a> {
    few: SmallVec<[&'a str; FEW]>,
    /// All of them, if they are many.
    many: FxHashSet<&'a str>,
}

impl<'a> NameSet<'a> {
    /// Adds a name; whether it was not there.
    pub(super) fn insert(&mut self, name: &'a str) -> bool {
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

    pub(super) fn contains(&self, name: &str) -> bool {
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
pub(super) struct ValueList<'a> {
    pub(super) values: Vec<&'a Value<'a>>,
    /// For each value, a text that equal values share, once it has been asked.
    keys: OnceCell<FxHashSet<String>>,
}

/// The longest list of values or names that is searched linearly.
const FEW: usize = 16;

impl<'a> ValueList<'a> {
    pub(super) fn new(values: Vec<&'a Value<'a>>) -> ValueList<'a> {
        ValueList { values, keys: OnceCell::new() }
    }

    pub(super) fn contains(&self, value: &Value<'_>) -> bool {
        if self.values.len() <= FEW && self.values.iter().any(|known| std::ptr::eq(*known, value)) {
            return true;
        }
        let keys = || self.values.iter().map(|value| equality_key(value)).collect();
        self.keys.get_or_init(keys).contains(&equality_key(value))
    }
}

/// A text that two values share exactly if they are equal: numbers by value, members in any order. The values
/// are of bounded depth.
pub(super) fn equality_key(value: &Value<'_>) -> String {
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
