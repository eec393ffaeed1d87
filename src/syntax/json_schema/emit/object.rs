//! Objects.

use super::Emitter;
use super::python::with_single_quotes;
use crate::error::Result;
use crate::grammar::{ExprId, Expression, Member, Members, Names};
use crate::syntax::json_schema::elements::Style;
use crate::syntax::json_schema::errors;
use crate::syntax::json_schema::normal::shape::{MemberShape, ObjectShape, RestShape};
use crate::syntax::json_schema::strings;
use crate::syntax::json_schema::values::counts::Counts;
use crate::syntax::json_schema::values::quote;
use smallvec::SmallVec;

/// How members are written.
#[derive(Clone, Copy)]
pub(super) enum Notation {
    /// A string as name, a colon, and the value.
    Quoted,
    /// A name without quotes, a mark, and the value.
    Bare,
    /// Elements of a style.
    Elements(&'static Style),
}

impl Notation {
    fn style(self) -> Option<&'static Style> {
        match self {
            Notation::Elements(style) => Some(style),
            _ => None,
        }
    }
}

impl<'a> Emitter<'_, 'a> {
    /// Returns an object in braces.
    pub(super) fn object(&mut self, object: &ObjectShape<'a>, pointer: &str) -> Result<ExprId> {
        let notation = if self.is_marked() { Notation::Bare } else { Notation::Quoted };
        Ok(match self.members(object, notation, pointer)? {
            Some(list) => self.braces(list),
            None => self.g.never(),
        })
    }

    /// Returns the members of an object. `None` if there is no such object.
    ///
    /// # Errors
    /// A name or a value without a grammar, with the pointer of the object's schema.
    pub(super) fn members(
        &mut self,
        object: &ObjectShape<'a>,
        notation: Notation,
        pointer: &str,
    ) -> Result<Option<Members>> {
        let style = notation.style();
        let ObjectShape { members: shapes, rest, ones: classes_of_ones, conditions, count } = object;
        if count.is_crossed() {
            return Ok(None);
        }
        let is_conditional = object.is_conditional();
        let mut members = Vec::with_capacity(shapes.len());
        // for each entry that conditions mention, its index among the members
        let mut places = Vec::with_capacity(if is_conditional { shapes.len() } else { 0 });
        for &MemberShape { name, value, required } in shapes {
            let is_possible = self.satisfiable.contains(value) && !self.is_excluded_name(name, style);
            if is_conditional {
                places.push(is_possible.then_some(members.len() as u32));
            }
            if is_possible {
                let (key, value) = match notation {
                    Notation::Elements(style) => {
                        let key = self.element_key(name, style, pointer)?;
                        (key.into_bytes().into(), self.element_value((name, value), style)?)
                    }
                    Notation::Bare => {
                        let key = self.bare_key(name).ok_or_else(|| errors::bare_name(pointer, name))?;
                        let value = self.inner(value);
                        (key, self.bare_value(value))
                    }
                    Notation::Quoted => {
                        let value = self.inner(value);
                        (quote::quoted_bytes(name), self.member_value(value))
                    }
                };
                members.push(Member { key, value, required });
            } else if required && !is_conditional {
                return Ok(None);
            }
        }
        // whether no value is possible for a required name
        let is_lacking = |required: &str| {
            let mut with_name = shapes.iter().zip(&places).filter(|(member, _)| member.name == required);
            with_name.all(|(_, place)| place.is_none())
        };
        if is_conditional && shapes.iter().any(|member| member.required && is_lacking(member.name)) {
            return Ok(None);
        }
        let rest = self.further(rest, notation)?;
        let mut ones = Vec::new();
        for classes in classes_of_ones {
            let one = self.further(classes, notation)?;
            places.push(one.map(|_| (members.len() + ones.len()) as u32));
            ones.extend(one);
        }
        let mapped = conditions.iter().map(|one| one.mapped(|entry| places[entry as usize]));
        let conditions = mapped.collect();
        let order = self.options.property_order.into();
        let separator = if style.is_some() { self.g.empty() } else { self.layout.comma };
        let &Counts { min, max } = count;
        let (members, ones) = (members.into(), ones.into());
        Ok(Some(Members { order, members, rest, ones, conditions, separator, min, max }))
    }

    /// Returns a member of one of several classes of names; `None` if none is possible.
    fn further(&mut self, classes: &[RestShape<'a>], notation: Notation) -> Result<Option<ExprId>> {
        let mut members: SmallVec<[ExprId; 4]> = SmallVec::new();
        for class in classes.iter().filter(|class| self.satisfiable.is_possible(class)) {
            members.push(match notation {
                Notation::Elements(style) => self.further_element(class, style)?,
                Notation::Bare => self.further_bare(class)?,
                Notation::Quoted => {
                    let name = self.rest_name(class)?;
                    let value = self.inner(class.value);
                    let value = self.member_value(value);
                    self.g.sequence([name, value])
                }
            });
        }
        Ok((!members.is_empty()).then(|| self.g.choice(members)))
    }

    /// Returns a name of a class of undeclared names, with its quotes.
    fn rest_name(&mut self, class: &RestShape<'a>) -> Result<ExprId> {
        let RestShape { tests, others, strings, value: _ } = class;
        let mut all: SmallVec<[ExprId; 4]> = SmallVec::new();
        if !tests.is_empty() {
            all.push(self.tested(tests, &Counts::default())?);
        }
        if let &Some(strings) = strings {
            all.push(self.inner(strings));
        }
        // endlessly many names stay endless without a few
        let names = match all[..] {
            [] => Names::Endless,
            [_] if strings.is_none()
                && !tests.iter().any(|test| test.holds)
                && self.have_common_gap(tests) =>
            {
                Names::Endless
            }
            [one] => self.variety_of_names(one, others.is_empty()),
            _ => Names::Few,
        };
        if all.is_empty() || !others.is_empty() {
            let character = self.character();
            all.push(strings::other_than(&mut self.g, others.iter().copied(), character));
        }
        let excluded = self.without_excluded_string();
        let names = if excluded.is_some() && !tests.is_empty() { Names::Few } else { names };
        all.extend(excluded);
        let name = self.g.intersection(all);
        Ok(self.g.name(name, names))
    }

    /// Whether there may be few names of further members.
    fn are_few(&self, further: ExprId) -> bool {
        let mut open = vec![further];
        while let Some(id) = open.pop() {
            match self.g.expression(id) {
                Expression::Choice(list) => open.extend(list),
                Expression::Sequence(list) => open.extend(list.first()),
                Expression::Name(_, Names::Few) => return true,
                _ => {}
            }
        }
        false
    }

    /// Returns the text after a key: space, colon, value, space.
    pub(super) fn member_value(&mut self, value: ExprId) -> ExprId {
        self.g.sequence([self.layout.space, self.layout.colon, value, self.layout.space])
    }

    /// Returns members with a separator between them.
    pub(super) fn member_list(&mut self, list: Members) -> ExprId {
        match list.rest {
            Some(rest) if list.members.is_empty() && list.ones.is_empty() && !self.are_few(rest) => {
                self.g.separated(rest, list.separator, list.min, list.max)
            }
            _ => self.g.member_list(list),
        }
    }

    /// Returns an object with these members. All its names have the same quotes, if there are two kinds.
    pub(super) fn braces(&mut self, list: Members) -> ExprId {
        let single = (self.has_both_quotes && !list.members.is_empty()).then(|| with_single_quotes(&list));
        let mut ways = vec![self.member_list(list)];
        ways.extend(single.map(|list| self.member_list(list)));
        let content = self.g.choice(ways);
        self.g.sequence([self.layout.open_object, content, self.layout.close_object])
    }
}
