//! Objects whose members are elements; [`Style`] describes a style of elements.

use super::Emitter;
use super::object::Notation;
use super::text::{Characters, spelled};
use super::value::canonical;
use crate::error::Result;
use crate::grammar::{CharClass, ExprId, FreeText, Member, Members, RuleId};
use crate::syntax::json_schema::elements::{FurtherNames, Kind, Style};
use crate::syntax::json_schema::errors;
use crate::syntax::json_schema::model::assertion::TypeSet;
use crate::syntax::json_schema::normal::conjunction::ConjunctionId;
use crate::syntax::json_schema::normal::shape::{RestShape, Shape, Typed};
use crate::syntax::json_schema::options::Whitespace;
use crate::syntax::json_schema::values::json::Value;
use rustc_hash::{FxHashMap, FxHashSet};

/// The name of items, if elements close by name.
const ITEM: &str = "item";

/// The expressions of elements built so far.
#[derive(Default)]
pub(super) struct Made {
    /// The text after the name of an element, by its value.
    tails: FxHashMap<ConjunctionId, ExprId>,
    /// Rules of `tails` that are not defined yet. If elements contain elements, there is one for each value.
    open: Vec<(ConjunctionId, RuleId)>,
    /// Any text followed by the end of the element.
    closed_text: Option<ExprId>,
    /// Whether the name at the end of an element may differ from the one at its beginning.
    has_free_ends: bool,
}

impl Made {
    /// Whether an element may end with another name than the one that it begins with.
    pub(super) fn has_free_ends(&self) -> bool {
        self.has_free_ends
    }
}

impl<'a> Emitter<'_, 'a> {
    /// Returns the texts of the root's objects.
    pub(super) fn elements(&mut self, style: &'static Style) -> Result<ExprId> {
        let all = self.all;
        let root = all.root();
        let mut ways = Vec::new();
        for id in self.alternatives(root)? {
            let pointer = all.pointer(id);
            match all.shape_of(id) {
                Shape::Values(list) => {
                    for value in list {
                        if let Value::Object(map) = value
                            && !self.has_excluded_member(map, Some(style))
                        {
                            let way = self.listed_members(value, style, pointer)?;
                            ways.push(way);
                        }
                    }
                }
                Shape::Typed(typed) => {
                    if let Some(object) =
                        typed.object.as_deref().filter(|_| typed.types.contains(TypeSet::OBJECT))
                    {
                        let members = self.members(object, Notation::Elements(style), pointer)?;
                        ways.extend(members.map(|list| self.member_list(list)));
                    }
                }
                _ => {}
            }
        }
        if ways.is_empty() {
            return Err(errors::no_object(all.pointer(root)));
        }
        while let Some((id, rule)) = self.elements.open.pop() {
            let tail = self.tail_of(id, style)?;
            self.g.define(rule, tail);
        }
        let list = self.g.choice(ways);
        Ok(self.g.sequence([self.layout.space, list]))
    }

    /// Returns conjunctions that are not unions, and whose union is the given one.
    pub(super) fn alternatives(&mut self, id: ConjunctionId) -> Result<Vec<ConjunctionId>> {
        let all = self.all;
        let (mut open, mut seen, mut found) = (vec![id], FxHashSet::default(), Vec::new());
        while let Some(id) = open.pop() {
            if !self.satisfiable.contains(id) || !seen.insert(id) {
                continue;
            }
            self.spend(1, all.pointer(id))?;
            match all.shape_of(id) {
                Shape::Union(list) => open.extend(list.iter().rev()),
                _ => found.push(id),
            }
        }
        Ok(found)
    }

    /// Returns the text before the value of a declared member.
    ///
    /// # Errors
    /// The style cannot write the name.
    pub(super) fn element_key(&self, name: &str, style: &Style, pointer: &str) -> Result<String> {
        let written = style.written_name(name).ok_or_else(|| errors::element_name(pointer, name))?;
        Ok([style.before_name, &written, style.after_name].concat())
    }

    /// Returns the text after the key of a declared member, including the space after it.
    pub(super) fn element_value(
        &mut self,
        (name, value): (&str, ConjunctionId),
        style: &'static Style,
    ) -> Result<ExprId> {
        let tail = self.tail(value, style)?;
        Ok(self.closed(tail, name, style))
    }

    /// Returns a tail, the name again if elements close by name, and space.
    fn closed(&mut self, tail: ExprId, name: &str, style: &Style) -> ExprId {
        let end = self.g.text(style.closing_name.map_or(String::new(), |[a, b]| [a, name, b].concat()));
        self.g.sequence([tail, end, self.layout.space])
    }

    /// Returns a member of a class of undeclared names. If elements close by name, the names at the beginning and at
    /// the end are both of the class.
    pub(super) fn further_element(&mut self, class: &RestShape<'a>, style: &'static Style) -> Result<ExprId> {
        let characters = Characters::Escaped(style.name_characters(), style.escapes);
        let is_free = class.tests.is_empty() && class.strings.is_none();
        let is_identifier = is_free && style.further == FurtherNames::Identifiers;
        let name = self.further_name(class, &characters, is_identifier)?;
        let tail = self.tail(class.value, style)?;
        let (before, after) = (self.g.text(style.before_name), self.g.text(style.after_name));
        let end = match style.closing_name {
            Some([before, after]) => {
                self.elements.has_free_ends = true;
                let (before, after) = (self.g.text(before), self.g.text(after));
                self.g.sequence([before, name, after])
            }
            None => self.g.empty(),
        };
        Ok(self.g.sequence([before, name, after, tail, end, self.layout.space]))
    }

    /// Returns a name of a class of undeclared names, without quotes: an ASCII identifier or any characters, under the
    /// restrictions of the class.
    pub(super) fn further_name(
        &mut self,
        class: &RestShape<'a>,
        characters: &Characters,
        is_identifier: bool,
    ) -> Result<ExprId> {
        let RestShape { tests, others, strings, value: _ } = class;
        let mut all = Vec::new();
        if is_identifier {
            let first = self.g.class([('A', 'Z'), ('_', '_'), ('a', 'z')]);
            let next = self.g.class([('0', '9'), ('A', 'Z'), ('_', '_'), ('a', 'z')]);
            let next = self.g.star(next);
            all.push(self.g.sequence([first, next]));
        } else {
            let character = spelled(&mut self.g, &CharClass::any(), characters);
            all.push(self.g.plus(character));
        }
        let names = Typed { tests: tests.clone(), ..Typed::default() };
        if !tests.is_empty() {
            all.push(self.string_text(&names, characters)?);
        }
        if let &Some(strings) = strings {
            all.push(self.strings_of(strings, characters)?);
        }
        if !others.is_empty() {
            let others: Vec<ExprId> = others.iter().map(|name| self.spelled_text(name, characters)).collect();
            let others = self.g.choice(others);
            all.push(self.g.complement(others));
        }
        all.extend(self.without_excluded());
        Ok(self.g.intersection(all))
    }

    /// Returns the strings of a conjunction, without quotes.
    pub(super) fn strings_of(&mut self, id: ConjunctionId, characters: &Characters) -> Result<ExprId> {
        let all = self.all;
        let mut ways = Vec::new();
        for id in self.alternatives(id)? {
            match all.shape_of(id) {
                Shape::Values(list) => {
                    let texts = list.iter().filter_map(|value| value.as_str());
                    ways.extend(texts.map(|text| self.spelled_text(text, characters)));
                }
                Shape::Typed(typed) if typed.types.contains(TypeSet::STRING) => {
                    ways.push(self.string_text(typed, characters)?);
                }
                _ => {}
            }
        }
        Ok(self.g.choice(ways))
    }

    /// Returns the text after the name of an element with a value.
    fn tail(&mut self, id: ConjunctionId, style: &'static Style) -> Result<ExprId> {
        if let Some(&known) = self.elements.tails.get(&id) {
            return Ok(known);
        }
        let tail = if style.item.is_some() {
            let rule = self.g.declare(self.all.name(id));
            self.elements.open.push((id, rule));
            self.g.rule(rule)
        } else {
            self.tail_of(id, style)?
        };
        self.elements.tails.insert(id, tail);
        Ok(tail)
    }

    fn tail_of(&mut self, id: ConjunctionId, style: &'static Style) -> Result<ExprId> {
        let all = self.all;
        let mut values: Vec<(Kind, ExprId)> = Vec::new();
        for id in self.alternatives(id)? {
            let pointer = all.pointer(id);
            match all.shape_of(id) {
                Shape::Values(list) => {
                    self.spend(list.len(), pointer)?;
                    for value in list {
                        values.extend(self.listed_element(value, style, pointer)?);
                    }
                }
                Shape::Typed(typed) => self.typed_elements(typed, style, pointer, &mut values)?,
                Shape::Union(_) => {}
            }
        }
        let is_free =
            |(kind, value): &(Kind, ExprId)| *kind == Kind::Text && Some(*value) == self.elements.closed_text;
        if !style.tells_kinds() && values.iter().any(is_free) {
            // any text is a string, so no other value has a text of its own, unless it has elements
            let has_elements = |kind| style.item.is_some() && matches!(kind, Kind::Array | Kind::Object);
            values.retain(|value| is_free(value) || has_elements(value.0));
        }
        Ok(self.by_kind(values, style))
    }

    /// Returns values, each with the text that marks its kind.
    fn by_kind(&mut self, values: Vec<(Kind, ExprId)>, style: &Style) -> ExprId {
        let before = self.before_value(style);
        let mut words: Vec<&str> = style.kinds.to_vec();
        words.sort_unstable();
        words.dedup();
        let mut ways = Vec::new();
        for word in words {
            let kinds = Kind::ALL.into_iter().zip(style.kinds).filter(|(_, kind)| *kind == word);
            let kinds: Vec<Kind> = kinds.map(|(kind, _)| kind).collect();
            let same = values.iter().filter(|(kind, _)| kinds.contains(kind)).map(|(_, value)| *value);
            let same: Vec<ExprId> = same.collect();
            if !same.is_empty() {
                let (word, same) = (self.g.text(word), self.g.choice(same));
                ways.push(self.g.sequence([word, same]));
            }
        }
        let ways = self.g.choice(ways);
        self.g.sequence([before, ways])
    }

    fn before_value(&mut self, style: &Style) -> ExprId {
        match style.before_value {
            "" => self.g.empty(),
            text => {
                let text = self.g.text(text);
                self.g.sequence([self.layout.space, text])
            }
        }
    }

    /// Adds the values of each type, each with the end of its element.
    fn typed_elements(
        &mut self,
        typed: &Typed<'a>,
        style: &'static Style,
        pointer: &str,
        values: &mut Vec<(Kind, ExprId)>,
    ) -> Result<()> {
        let Typed { types, number: _, length, tests, excluded, array, object } = typed;
        let has = |one| types.contains(one);
        if has(TypeSet::STRING) && !length.is_crossed() {
            let is_free =
                tests.is_empty() && length.is_free() && !excluded.iter().any(|v| v.as_str().is_some());
            let text = if is_free {
                self.closed_text(style)
            } else {
                let text = self.string_text(typed, &Characters::All)?;
                self.text_element(text, style)
            };
            values.push((Kind::Text, text));
        }
        if has(TypeSet::NUMBER) {
            let number = self.number(typed, pointer)?;
            values.push((Kind::Number, self.spaced_element(number, style)));
        }
        for (one, value) in [(TypeSet::TRUE, true), (TypeSet::FALSE, false)] {
            if has(one) {
                values.push((Kind::Boolean, self.boolean_element(value, style)));
            }
        }
        if has(TypeSet::NULL) {
            let word = self.g.text("null");
            values.push((Kind::Null, self.spaced_element(word, style)));
        }
        if has(TypeSet::ARRAY)
            && let Some(array) = array
        {
            let array = self.array(array, pointer)?;
            let array = self.compound_element(array, style);
            values.push((Kind::Array, array));
        }
        if has(TypeSet::OBJECT)
            && let Some(object) = object
        {
            let object = match style.item {
                Some(_) => {
                    let members = self.members(object, Notation::Elements(style), pointer)?;
                    members.map(|list| self.member_list(list))
                }
                None => Some(self.object(object, pointer)?),
            };
            if let Some(object) = object {
                let object = self.compound_element(object, style);
                values.push((Kind::Object, object));
            }
        }
        Ok(())
    }

    /// Returns an array or object with the end of its element. It is JSON, or consists of elements.
    fn compound_element(&mut self, value: ExprId, style: &Style) -> ExprId {
        match style.item {
            Some(_) => {
                let stop = self.g.text(style.stop);
                self.g.sequence([value, stop])
            }
            None => self.spaced_element(value, style),
        }
    }

    /// Returns a boolean with whitespace around it, and the end of the element.
    fn boolean_element(&mut self, value: bool, style: &Style) -> ExprId {
        let [no, yes] = if style.is_python {
            [["false", "False"], ["true", "True"]]
        } else {
            [["false"; 2], ["true"; 2]]
        };
        let words = if value { yes } else { no }.map(|word| self.g.text(word));
        let word = self.g.choice(words);
        self.spaced_element(word, style)
    }

    /// Returns JSON with whitespace around it, and the end of the element.
    fn spaced_element(&mut self, value: ExprId, style: &Style) -> ExprId {
        let (stop, space) = (self.g.text(style.stop), self.value_space(style));
        self.g.sequence([space, value, space, stop])
    }

    /// Returns the whitespace on each side of a value.
    fn value_space(&mut self, style: &Style) -> ExprId {
        match self.options.whitespace {
            Whitespace::Pattern(_) | Whitespace::Compact | Whitespace::Spaced | Whitespace::AtMost(0) => {
                self.layout.space
            }
            _ if style.is_python => {
                let line_break = self.g.text("\n");
                self.g.optional(line_break)
            }
            _ => self.layout.space,
        }
    }

    /// Returns a text with the end of the element, which does not occur before.
    fn text_element(&mut self, text: ExprId, style: &Style) -> ExprId {
        let stop = self.g.text(style.stop);
        let space = if style.tells_kinds() { self.g.empty() } else { self.value_space(style) };
        let text = self.g.sequence([space, text, space, stop]);
        let first = self.closed_text(style);
        self.g.intersection([text, first])
    }

    /// Returns any text with the end of the element.
    fn closed_text(&mut self, style: &Style) -> ExprId {
        self.closed_by(style.stop)
    }

    /// Returns any text with its end, which does not occur before. A grammar has one such end.
    pub(super) fn closed_by(&mut self, stop: &str) -> ExprId {
        if let Some(known) = self.elements.closed_text {
            return known;
        }
        let excludes = &self.options.excludes;
        let text = if excludes.is_empty() {
            let empty = self.g.empty();
            FreeText { triggers: vec![(stop.into(), empty)], ..FreeText::default() }
        } else {
            // the end of the element may contain what the text must not
            let forbidden = excludes.iter().map(String::as_str).chain([stop]);
            let end = Some(self.g.text(stop));
            FreeText { triggers: Vec::new(), forbidden: forbidden.map(Box::from).collect(), end }
        };
        let text = self.g.free_text(&text);
        *self.elements.closed_text.insert(text)
    }

    /// Returns one listed value, with its kind and the end of its element; `None` if the value is excluded.
    fn listed_element(
        &mut self,
        value: &Value<'_>,
        style: &'static Style,
        pointer: &str,
    ) -> Result<Option<(Kind, ExprId)>> {
        if self.is_excluded(value, Some(style)) {
            return Ok(None);
        }
        Ok(Some(match value {
            Value::String(text) => {
                let text = self.g.text(&**text);
                (Kind::Text, self.text_element(text, style))
            }
            Value::Array(list) if style.item.is_some() => {
                let mut items = Vec::new();
                for value in list.iter() {
                    let tail: Vec<_> = self.listed_element(value, style, pointer)?.into_iter().collect();
                    let tail = self.by_kind(tail, style);
                    items.push(self.item_element(tail, style));
                }
                let items = self.g.sequence(items);
                (Kind::Array, self.compound_element(items, style))
            }
            Value::Object(_) if style.item.is_some() => {
                let members = self.listed_members(value, style, pointer)?;
                (Kind::Object, self.compound_element(members, style))
            }
            &Value::Bool(value) => (Kind::Boolean, self.boolean_element(value, style)),
            value => {
                let kind = Kind::of(value);
                let value = self.value(value);
                (kind, self.spaced_element(value, style))
            }
        }))
    }

    /// Returns the elements of a listed object.
    fn listed_members(&mut self, value: &Value<'_>, style: &'static Style, pointer: &str) -> Result<ExprId> {
        let Value::Object(map) = value else { return Ok(self.g.never()) };
        let mut members = Vec::with_capacity(map.len());
        for (name, value) in map.iter() {
            let key = self.element_key(name, style, pointer)?.into_bytes().into();
            let tail: Vec<_> = self.listed_element(value, style, pointer)?.into_iter().collect();
            let tail = self.by_kind(tail, style);
            members.push(Member { key, value: self.closed(tail, name, style), required: true });
        }
        let separator = self.g.empty();
        Ok(self.member_list(Members {
            order: self.options.property_order.into(),
            members: members.into(),
            rest: None,
            ones: Box::default(),
            conditions: Box::default(),
            separator,
            min: 0,
            max: None,
        }))
    }

    /// Returns an item of an array: its prefix, its value, the end of the element, and space.
    fn item_element(&mut self, tail: ExprId, style: &Style) -> ExprId {
        let begin = self.g.text(style.item.unwrap_or_default());
        let whole = self.closed(tail, ITEM, style);
        self.g.sequence([begin, whole])
    }

    /// Returns an item of an array whose items are elements; `None` if they are JSON.
    pub(super) fn element_of(&mut self, value: ConjunctionId) -> Result<Option<ExprId>> {
        match self.options.spelling.style() {
            Some(style) if style.item.is_some() => {
                let tail = self.tail(value, style)?;
                Ok(Some(self.item_element(tail, style)))
            }
            _ => Ok(None),
        }
    }
}

/// Returns a listed scalar as an item of an array whose items are elements.
pub(super) fn listed_item(style: &Style, value: &Value<'_>) -> String {
    let text = match value {
        Value::String(text) => text.to_string(),
        value => canonical(value),
    };
    let [before, after] = style.closing_name.unwrap_or_default();
    let name = if style.closing_name.is_some() { ITEM } else { "" };
    let kind = style.kinds[Kind::of(value) as usize];
    [style.item.unwrap_or_default(), kind, &text, style.stop, before, name, after].concat()
}
