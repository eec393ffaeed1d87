//! From shapes to grammar expressions.
//!
//! A conjunction that several others refer to becomes a rule, so that nothing is copied and recursion has
//! something to call; the others stand where they are used. Each is labelled with its JSON Pointer.

use super::conjunction::{ArrayShape, ConjunctionId, Conjunctions, ObjectShape, Shape, Typed};
use super::decimal::Decimal;
use super::formats::Side;
use super::options::{JsonSchemaOptions, Whitespace};
use super::satisfiable::Satisfiable;
use super::schema::TypeSet;
use super::string_test::{self, StringTest};
use super::{numbers, strings};
use crate::error::Result;
use crate::grammar::{ByteSet, ExprId, Grammar, GrammarBuilder, Member, RuleId};
use rustc_hash::FxHashMap;
use serde_json::Value;

/// Lists of values up to this length are written where they are used, even if that is in several places.
const SMALL_LIST: usize = 8;

/// The grammar of all conjunctions; the root is satisfiable.
pub(super) fn emit(
    all: &Conjunctions<'_, '_>,
    satisfiable: &Satisfiable,
    options: &JsonSchemaOptions,
) -> Result<Grammar> {
    let mut g = GrammarBuilder::with_limits(options.limits.clone());
    let layout = Layout::new(&mut g, options);
    let (root, rules) = declare(&mut g, all, satisfiable);
    let mut emitter = Emitter {
        all,
        satisfiable,
        options,
        layout,
        made: vec![None; all.len()],
        tests: FxHashMap::default(),
        g,
    };
    for (id, rule) in all.ids().filter_map(|id| Some((id, rules[id.index()]?))) {
        let reference = emitter.g.rule(rule);
        emitter.made[id.index()] = Some(reference);
    }
    for (id, rule) in all.ids().filter_map(|id| Some((id, rules[id.index()]?))) {
        let body = emitter.with_inner(id)?;
        emitter.g.define(rule, body);
    }
    emitter.g.build(root)
}

/// The rules: the root, and what is referred to more than once and is not small.
fn declare(
    g: &mut GrammarBuilder,
    all: &Conjunctions<'_, '_>,
    satisfiable: &Satisfiable,
) -> (RuleId, Vec<Option<RuleId>>) {
    let mut uses = vec![0usize; all.len()];
    for id in all.ids() {
        all.shape_of(id).children().into_iter().for_each(|child| uses[child.index()] += 1);
    }
    let root = g.declare(all.name(all.root()));
    let rules = all
        .ids()
        .map(|id| {
            let small = match all.shape_of(id) {
                Shape::Values(list) => list.len() <= SMALL_LIST,
                Shape::Union(_) => false,
                Shape::Typed(t) => t.array.is_none() && t.object.is_none() && t.tests.is_empty(),
            };
            let shared = uses[id.index()] > 1 && !small && satisfiable.contains(id);
            if id == all.root() { Some(root) } else { shared.then(|| g.declare(all.name(id))) }
        })
        .collect();
    (root, rules)
}

/// Punctuation with the whitespace after it. Whitespace always follows a token and never precedes one, so
/// that every text is read in one way.
struct Layout {
    space: ExprId,
    comma: ExprId,
    colon: ExprId,
    open_object: ExprId,
    open_array: ExprId,
}

impl Layout {
    fn new(g: &mut GrammarBuilder, options: &JsonSchemaOptions) -> Layout {
        let space = match options.whitespace {
            Whitespace::Free => {
                let one = g.byte_set(ByteSet::from_iter(*b" \t\n\r"));
                g.star(one)
            }
            Whitespace::Compact => g.empty(),
        };
        let mut spaced = |token: &str| {
            let token = g.text(token);
            g.sequence([token, space])
        };
        Layout {
            space,
            comma: spaced(","),
            colon: spaced(":"),
            open_object: spaced("{"),
            open_array: spaced("["),
        }
    }
}

struct Emitter<'e, 's, 'a> {
    all: &'e Conjunctions<'s, 'a>,
    satisfiable: &'e Satisfiable,
    options: &'e JsonSchemaOptions,
    g: GrammarBuilder,
    layout: Layout,
    /// References to rules, and what stands inside rules once it is made.
    made: Vec<Option<ExprId>>,
    tests: FxHashMap<StringTest<'a>, ExprId>,
}

impl<'a> Emitter<'_, '_, 'a> {
    /// The body of a rule, after everything that stands inside it. An explicit stack: how deep conjunctions
    /// stand in each other is up to the schema.
    fn with_inner(&mut self, root: ConjunctionId) -> Result<ExprId> {
        let mut stack = vec![(root, false)];
        while let Some((id, inner_made)) = stack.pop() {
            if let Some(error) = self.g.error() {
                return Err(error.clone());
            }
            if inner_made {
                let made = self.expression(id)?;
                if id == root {
                    return Ok(made);
                }
                self.made[id.index()] = Some(made);
            } else if id == root || self.made[id.index()].is_none() {
                stack.push((id, true));
                let children = self.all.shape_of(id).children();
                let missing =
                    |c: &ConjunctionId| self.made[c.index()].is_none() && self.satisfiable.contains(*c);
                stack.extend(children.into_iter().filter(missing).map(|child| (child, false)));
            }
        }
        Ok(self.g.never())
    }

    /// What was made of a conjunction; what nothing satisfies is never.
    fn inner(&mut self, id: ConjunctionId) -> ExprId {
        match self.made[id.index()] {
            Some(made) if self.satisfiable.contains(id) => made,
            _ => self.g.never(),
        }
    }

    fn expression(&mut self, id: ConjunctionId) -> Result<ExprId> {
        let all = self.all;
        let body = match all.shape_of(id) {
            Shape::Values(list) => {
                let values: Vec<ExprId> = list.iter().map(|value| self.value(value)).collect();
                self.g.choice(values)
            }
            Shape::Union(list) => {
                let alternatives: Vec<ExprId> = list.iter().map(|&id| self.inner(id)).collect();
                self.g.choice(alternatives)
            }
            Shape::Typed(typed) => self.typed(typed)?,
        };
        Ok(match all.schemas_of(id).next() {
            Some(_) => self.g.label(format!("#{}", all.pointer(id)), body),
            None => body,
        })
    }

    fn typed(&mut self, typed: &Typed<'a>) -> Result<ExprId> {
        let has = |one| typed.types.contains(one);
        let mut alternatives = Vec::new();
        if has(TypeSet::OBJECT)
            && let Some(object) = &typed.object
        {
            alternatives.push(self.object(object));
        }
        if has(TypeSet::ARRAY)
            && let Some(array) = &typed.array
        {
            alternatives.push(self.array(array));
        }
        if has(TypeSet::STRING) && !typed.length.is_crossed() {
            alternatives.push(self.string(typed)?);
        }
        if has(TypeSet::NUMBER) {
            alternatives.push(numbers::expression(&mut self.g, &typed.number));
        }
        if has(TypeSet::BOOLEAN) {
            alternatives.extend(["true", "false"].map(|word| self.g.text(word)));
        }
        if has(TypeSet::NULL) {
            alternatives.push(self.g.text("null"));
        }
        Ok(self.g.choice(alternatives))
    }

    fn string(&mut self, typed: &Typed<'a>) -> Result<ExprId> {
        if typed.tests.is_empty() {
            return Ok(strings::of_length(&mut self.g, &typed.length));
        }
        let mut contents = Vec::new();
        for &(schema, test) in &typed.tests {
            let content = match self.tests.get(&test) {
                Some(&content) => content,
                None => {
                    let pointer = &self.all.schemas.get(schema).pointer;
                    string_test::content(&mut self.g, test, Side::Within, pointer)?
                }
            };
            self.tests.insert(test, content);
            contents.push(content);
        }
        Ok(strings::constrained(&mut self.g, &contents, &typed.length))
    }

    fn array(&mut self, array: &ArrayShape) -> ExprId {
        let (space, comma) = (self.layout.space, self.layout.comma);
        let longest = self.satisfiable.longest(array);
        let stuck = longest.map(|longest| u32::try_from(longest).unwrap_or(u32::MAX));
        let (min, max) = (array.count.min, array.count.max.into_iter().chain(stuck).min());
        if max.is_some_and(|max| max < min) {
            return self.g.never();
        }
        let item = |emitter: &mut Self, id| {
            let item = emitter.inner(id);
            emitter.g.sequence([item, space])
        };
        let within = array.prefix.len().min(max.map_or(usize::MAX, |max| max as usize));
        let after = within as u32;
        let rest = item(self, array.rest);
        let items = if within == 0 {
            if max == Some(0) { self.g.empty() } else { self.g.separated(rest, comma, min, max) }
        } else {
            let next = self.g.sequence([comma, rest]);
            let mut tail = self.g.repeat(next, min.saturating_sub(after), max.map(|max| max - after));
            for (index, &id) in array.prefix.iter().enumerate().take(within).rev() {
                let item = item(self, id);
                let separator = if index > 0 { comma } else { self.g.empty() };
                tail = self.g.sequence([separator, item, tail]);
                if index >= min as usize {
                    tail = self.g.optional(tail);
                }
            }
            tail
        };
        let close = self.g.text("]");
        self.g.sequence([self.layout.open_array, items, close])
    }

    fn object(&mut self, object: &ObjectShape<'a>) -> ExprId {
        let mut members = Vec::new();
        for member in &object.members {
            let value = self.inner(member.value);
            if self.satisfiable.contains(member.value) {
                let value = self.member_value(value);
                let key = strings::quoted(member.name).into_bytes().into();
                members.push(Member { key, value, required: member.required });
            } else if member.required {
                return self.g.never();
            }
        }
        let rest = self.satisfiable.contains(object.additional).then(|| {
            let value = self.inner(object.additional);
            let value = self.member_value(value);
            let name = strings::other_than(&mut self.g, object.members.iter().map(|member| member.name));
            self.g.sequence([name, value])
        });
        self.braces(members, rest)
    }

    /// What follows a key: space, colon, value, space.
    fn member_value(&mut self, value: ExprId) -> ExprId {
        self.g.sequence([self.layout.space, self.layout.colon, value, self.layout.space])
    }

    fn braces(&mut self, members: Vec<Member>, rest: Option<ExprId>) -> ExprId {
        let comma = self.layout.comma;
        let content = match rest {
            None if members.is_empty() => self.g.empty(),
            Some(rest) if members.is_empty() => self.g.separated(rest, comma, 0, None),
            rest => self.g.members(self.options.property_order.into(), members, rest, comma),
        };
        let close = self.g.text("}");
        self.g.sequence([self.layout.open_object, content, close])
    }

    /// The texts of one value. Schema documents are of bounded depth, so that this may recurse.
    fn value(&mut self, value: &Value) -> ExprId {
        match value {
            Value::Null => self.g.text("null"),
            Value::Bool(true) => self.g.text("true"),
            Value::Bool(false) => self.g.text("false"),
            Value::Number(number) => {
                let source = number.to_string();
                let decimal = Decimal::parse(&source);
                // the reader of JSON puts a plus sign before exponents that have none
                let unsigned = source.replace("e+", "e");
                let mut texts = vec![self.g.text(source), self.g.text(unsigned)];
                if decimal.is_plain() {
                    texts.push(self.g.text(decimal.to_plain_text()));
                }
                self.g.choice(texts)
            }
            Value::String(text) => self.g.text(strings::quoted(text)),
            Value::Array(list) => {
                let mut parts = vec![self.layout.open_array];
                for (index, value) in list.iter().enumerate() {
                    if index > 0 {
                        parts.push(self.layout.comma);
                    }
                    parts.push(self.value(value));
                    parts.push(self.layout.space);
                }
                parts.push(self.g.text("]"));
                self.g.sequence(parts)
            }
            Value::Object(map) => {
                let members = map
                    .iter()
                    .map(|(name, value)| {
                        let value = self.value(value);
                        let key = strings::quoted(name).into_bytes().into();
                        Member { key, value: self.member_value(value), required: true }
                    })
                    .collect();
                self.braces(members, None)
            }
        }
    }
}
