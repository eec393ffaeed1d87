//! The parsed, checked form of a schema document: a table of schemas, each with its assertions by family.
//!
//! Only what the root can reach is read. Reading is a worklist over locations, so neither nesting nor
//! chains of `$ref` recurse.

use super::decimal::Decimal;
use super::options::Formats;
use super::pointer::join;
use super::string_test::StringTest;
use super::{errors, keywords, refs};
use crate::diagnostic::Diagnostic;
use crate::error::Result;
use rustc_hash::{FxHashMap, FxHashSet};
use serde_json::Value;

/// The place of a schema in the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct SchemaId(pub(super) u32);

/// A set of JSON types. Whether a number must be an integer is part of [`NumberRange`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TypeSet(u8);

impl TypeSet {
    pub(super) const NONE: TypeSet = TypeSet(0);
    pub(super) const NULL: TypeSet = TypeSet(1);
    pub(super) const BOOLEAN: TypeSet = TypeSet(2);
    pub(super) const NUMBER: TypeSet = TypeSet(4);
    pub(super) const STRING: TypeSet = TypeSet(8);
    pub(super) const ARRAY: TypeSet = TypeSet(16);
    pub(super) const OBJECT: TypeSet = TypeSet(32);
    pub(super) const ALL: TypeSet = TypeSet(63);

    pub(super) fn contains(self, other: TypeSet) -> bool {
        self.0 & other.0 == other.0
    }

    pub(super) fn union(self, other: TypeSet) -> TypeSet {
        TypeSet(self.0 | other.0)
    }

    pub(super) fn intersection(self, other: TypeSet) -> TypeSet {
        TypeSet(self.0 & other.0)
    }

    /// The type of a value.
    pub(super) fn of(value: &Value) -> TypeSet {
        match value {
            Value::Null => TypeSet::NULL,
            Value::Bool(_) => TypeSet::BOOLEAN,
            Value::Number(_) => TypeSet::NUMBER,
            Value::String(_) => TypeSet::STRING,
            Value::Array(_) => TypeSet::ARRAY,
            Value::Object(_) => TypeSet::OBJECT,
        }
    }
}

/// One end of a range of numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Bound {
    pub(super) value: Decimal,
    /// Whether the value itself is outside.
    pub(super) exclusive: bool,
}

/// Numbers between two bounds, integers only or all.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub(super) struct NumberRange {
    pub(super) lower: Option<Bound>,
    pub(super) upper: Option<Bound>,
    pub(super) integer: bool,
}

/// How many of something: characters, items.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(super) struct Counts {
    pub(super) min: u32,
    /// `None` is without bound.
    pub(super) max: Option<u32>,
}

impl Counts {
    pub(super) fn is_free(&self) -> bool {
        *self == Counts::default()
    }

    pub(super) fn is_crossed(&self) -> bool {
        self.max.is_some_and(|max| max < self.min)
    }

    pub(super) fn contains(&self, count: usize) -> bool {
        count >= self.min as usize && self.max.is_none_or(|max| count <= max as usize)
    }

    pub(super) fn intersection(&self, other: &Counts) -> Counts {
        let max = self.max.into_iter().chain(other.max).min();
        Counts { min: self.min.max(other.min), max }
    }
}

/// What a schema says of strings.
#[derive(Clone, Debug, Default)]
pub(super) struct StringPart<'a> {
    /// In Unicode code points.
    pub(super) length: Counts,
    /// `pattern` and `format`.
    pub(super) tests: Vec<StringTest<'a>>,
}

/// What a schema says of arrays.
#[derive(Clone, Debug, Default)]
pub(super) struct ArrayPart {
    pub(super) prefix: Vec<SchemaId>,
    /// Of the items after the prefix.
    pub(super) items: Option<SchemaId>,
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
    pub(super) properties: Vec<(&'a str, SchemaId)>,
    pub(super) by_name: FxHashMap<&'a str, SchemaId>,
    pub(super) required: Vec<&'a str>,
    pub(super) additional: Option<SchemaId>,
}

impl ObjectPart<'_> {
    /// The schema of the member `name`, if there is one.
    pub(super) fn member(&self, name: &str) -> Option<SchemaId> {
        self.by_name.get(name).copied().or(self.additional)
    }
}

/// The values of one `enum` or `const`.
#[derive(Clone, Debug)]
pub(super) struct ValueList<'a> {
    pub(super) values: Vec<&'a Value>,
    /// For each value, a text that equal values share.
    keys: FxHashSet<String>,
}

impl<'a> ValueList<'a> {
    pub(super) fn new(values: Vec<&'a Value>) -> ValueList<'a> {
        let keys = values.iter().map(|value| equality_key(value)).collect();
        ValueList { values, keys }
    }

    pub(super) fn contains(&self, value: &Value) -> bool {
        self.keys.contains(&equality_key(value))
    }
}

/// A text that two values share exactly if they are equal: numbers by value, members in any order. The values
/// are of bounded depth.
fn equality_key(value: &Value) -> String {
    match value {
        Value::Number(number) => format!("{:?}", Decimal::parse(&number.to_string())),
        Value::Array(list) => format!("[{}]", list.iter().map(equality_key).collect::<Vec<_>>().join(",")),
        Value::Object(map) => {
            let member =
                |(name, value)| format!("{}:{}", Value::from(String::clone(name)), equality_key(value));
            let mut members: Vec<String> = map.iter().map(member).collect();
            members.sort_unstable();
            format!("{{{}}}", members.join(","))
        }
        plain => plain.to_string(),
    }
}

/// One schema: all of its assertions hold together. What a family does not say is the default, which admits
/// everything.
#[derive(Clone, Debug)]
pub(super) struct Schema<'a> {
    pub(super) pointer: String,
    pub(super) types: TypeSet,
    pub(super) number: NumberRange,
    pub(super) string: StringPart<'a>,
    pub(super) array: ArrayPart,
    pub(super) object: ObjectPart<'a>,
    /// `enum` and `const`: the value is in every list.
    pub(super) values: Vec<ValueList<'a>>,
    /// `$ref` and `allOf`: schemas of the same value that hold as well.
    pub(super) conjuncts: Vec<SchemaId>,
    /// `anyOf`: in each list, one holds.
    pub(super) any_of: Vec<Vec<SchemaId>>,
    /// Whether the schema says nothing beside `conjuncts` and `any_of`.
    pub(super) is_bare: bool,
}

impl Schema<'_> {
    pub(super) fn new(pointer: String) -> Self {
        Schema {
            pointer,
            types: TypeSet::ALL,
            number: NumberRange::default(),
            string: StringPart::default(),
            array: ArrayPart::default(),
            object: ObjectPart::default(),
            values: Vec::new(),
            conjuncts: Vec::new(),
            any_of: Vec::new(),
            is_bare: false,
        }
    }

    /// The only schema that this one consists of, if it is nothing but a reference.
    fn refers_to(&self) -> Option<SchemaId> {
        match self.conjuncts[..] {
            [one] if self.is_bare && self.any_of.is_empty() => Some(one),
            _ => None,
        }
    }

    /// Whether `$ref`, `allOf` or `anyOf` add something to the schema's own assertions.
    pub(super) fn is_compound(&self) -> bool {
        !self.conjuncts.is_empty() || !self.any_of.is_empty()
    }
}

/// All schemas that the root reaches; the root is the first.
#[derive(Debug)]
pub(super) struct Schemas<'a> {
    list: Vec<Schema<'a>>,
    /// For each schema that is nothing but a reference, what it comes to; for others, themselves.
    meanings: Vec<SchemaId>,
}

impl<'a> Schemas<'a> {
    /// The schema of an id. Ids come from reading this table only.
    pub(super) fn get(&self, id: SchemaId) -> &Schema<'a> {
        &self.list[id.0 as usize]
    }

    pub(super) fn root(&self) -> SchemaId {
        SchemaId(0)
    }

    /// The schema that `id` means: the end of the chain of references that it starts.
    pub(super) fn meaning(&self, id: SchemaId) -> SchemaId {
        self.meanings[id.0 as usize]
    }

    pub(super) fn ids(&self) -> impl Iterator<Item = SchemaId> + use<> {
        (0..self.list.len() as u32).map(SchemaId)
    }

    /// Fills in the meanings; there are no cycles. Every link of a chain is followed once.
    fn find_meanings(&mut self) {
        let mut done = vec![false; self.list.len()];
        for start in self.ids() {
            let mut chain = Vec::new();
            let mut at = start;
            while let Some(next) = self.get(at).refers_to().filter(|_| !done[at.0 as usize]) {
                chain.push(at);
                at = next;
            }
            let end = self.meaning(at);
            for link in chain {
                done[link.0 as usize] = true;
                self.meanings[link.0 as usize] = end;
            }
        }
    }
}

/// What of the standard differs between drafts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Draft {
    /// Up to draft 7, keywords beside `$ref` mean nothing.
    pub(super) ref_stands_alone: bool,
    /// Up to draft 4, `id` is what `$id` is later.
    pub(super) plain_id: bool,
}

impl Draft {
    /// The draft that `$schema` names; the newest without it.
    fn of(root: &Value) -> Draft {
        let name = root.get("$schema").and_then(Value::as_str).unwrap_or("");
        let is = |drafts: &[&str]| drafts.iter().any(|draft| name.contains(&format!("/draft-0{draft}/")));
        Draft { ref_stands_alone: is(&["3", "4", "6", "7"]), plain_id: is(&["3", "4"]) }
    }
}

/// Where a schema stands.
#[derive(Clone, Debug)]
pub(super) struct Location<'a> {
    pub(super) value: &'a Value,
    pub(super) pointer: String,
    /// The root of the schema resource (the nearest `$id`) against which local references resolve.
    pub(super) resource: &'a Value,
    pub(super) resource_pointer: String,
}

/// Reads a document into [`Schemas`].
pub(super) struct Reader<'a, 'w> {
    pub(super) root: &'a Value,
    pub(super) draft: Draft,
    pub(super) formats: Formats,
    locations: Vec<Location<'a>>,
    /// One id a place in the document, however it is reached.
    ids: FxHashMap<*const Value, SchemaId>,
    warnings: &'w mut Vec<Diagnostic>,
}

impl<'a> Reader<'a, '_> {
    /// The id of the schema at a place; it is read later.
    pub(super) fn intern(&mut self, location: Location<'a>) -> SchemaId {
        *self.ids.entry(std::ptr::from_ref(location.value)).or_insert_with(|| {
            self.locations.push(location);
            SchemaId(self.locations.len() as u32 - 1)
        })
    }

    /// The id of a schema inside that at `parent`, at `parent`'s pointer with `path` after it.
    pub(super) fn child(&mut self, parent: &Location<'a>, path: &[&str], value: &'a Value) -> SchemaId {
        let pointer = path.iter().fold(parent.pointer.clone(), |pointer, token| join(&pointer, token));
        let (resource, resource_pointer) = (parent.resource, parent.resource_pointer.clone());
        self.intern(refs::rebase(self.draft, Location { value, pointer, resource, resource_pointer }))
    }

    pub(super) fn warn(&mut self, warning: Diagnostic) {
        self.warnings.push(warning);
    }
}

/// Reads everything that the root reaches.
pub(super) fn read<'a>(
    root: &'a Value,
    formats: Formats,
    warnings: &mut Vec<Diagnostic>,
) -> Result<Schemas<'a>> {
    let draft = Draft::of(root);
    let mut reader =
        Reader { root, draft, formats, locations: Vec::new(), ids: FxHashMap::default(), warnings };
    reader.intern(Location {
        value: root,
        pointer: String::new(),
        resource: root,
        resource_pointer: String::new(),
    });
    let mut list: Vec<Schema<'a>> = Vec::new();
    while let Some(location) = reader.locations.get(list.len()).cloned() {
        let schema = match location.value {
            Value::Bool(true) => Schema { is_bare: true, ..Schema::new(location.pointer) },
            Value::Bool(false) => Schema { types: TypeSet::NONE, ..Schema::new(location.pointer) },
            Value::Object(map) => keywords::read(&mut reader, &location, map)?,
            other => return Err(errors::not_a_schema(&location.pointer, other)),
        };
        list.push(schema);
    }
    let meanings = (0..list.len() as u32).map(SchemaId).collect();
    let mut schemas = Schemas { list, meanings };
    refs::check_cycles(&schemas)?;
    schemas.find_meanings();
    Ok(schemas)
}
