//! Objects.

use super::Emitter;
use crate::error::Result;
use crate::grammar::{ExprId, Expression, Member, Members, Names};
use crate::syntax::json_schema::counts::Counts;
use crate::syntax::json_schema::shape::{ObjectShape, RestShape};
use crate::syntax::json_schema::strings;
use smallvec::SmallVec;

impl<'a> Emitter<'_, 'a> {
    pub(super) fn object(&mut self, object: &ObjectShape<'a>) -> Result<ExprId> {
        if object.count.is_crossed() {
            return Ok(self.g.never());
        }
        let is_conditional = object.is_conditional();
        let mut members = Vec::with_capacity(object.members.len());
        // of the entries that conditions speak of
        let mut places = Vec::with_capacity(if is_conditional { object.members.len() } else { 0 });
        for member in &object.members {
            let is_possible = self.satisfiable.contains(member.value);
            if is_conditional {
                places.push(is_possible.then_some(members.len() as u32));
            }
            if is_possible {
                let value = self.inner(member.value);
                let value = self.member_value(value);
                let key = strings::quoted_bytes(member.name);
                members.push(Member { key, value, required: member.required });
            } else if member.required && !is_conditional {
                return Ok(self.g.never());
            }
        }
        // a name that must be there, of which no value is possible
        let is_lacking = |required: &str| {
            let mut with_name =
                object.members.iter().zip(&places).filter(|(member, _)| member.name == required);
            with_name.all(|(_, place)| place.is_none())
        };
        if is_conditional && object.members.iter().any(|member| member.required && is_lacking(member.name)) {
            return Ok(self.g.never());
        }
        let rest = self.further(&object.rest)?;
        let mut ones = Vec::new();
        for classes in &object.ones {
            let one = self.further(classes)?;
            places.push(one.map(|_| (members.len() + ones.len()) as u32));
            ones.extend(one);
        }
        let mapped = object.conditions.iter().map(|one| one.mapped(|entry| places[entry as usize]));
        let conditions = mapped.collect();
        let (order, separator) = (self.options.property_order.into(), self.layout.comma);
        let Counts { min, max } = object.count;
        let (members, ones) = (members.into(), ones.into());
        Ok(self.braces(Members { order, members, rest, ones, conditions, separator, min, max }))
    }

    /// A member of one of several classes of names, if one is possible.
    fn further(&mut self, classes: &[RestShape<'a>]) -> Result<Option<ExprId>> {
        let mut members: SmallVec<[ExprId; 4]> = SmallVec::new();
        for class in classes.iter().filter(|class| self.satisfiable.is_possible(class)) {
            let name = self.rest_name(class)?;
            let value = self.inner(class.value);
            let value = self.member_value(value);
            members.push(self.g.sequence([name, value]));
        }
        Ok((!members.is_empty()).then(|| self.g.choice(members)))
    }

    /// A name of a class of undeclared names, with its quotes.
    fn rest_name(&mut self, class: &RestShape<'a>) -> Result<ExprId> {
        let mut all: SmallVec<[ExprId; 4]> = SmallVec::new();
        if !class.tests.is_empty() {
            all.push(self.tested(&class.tests, &Counts::default())?);
        }
        if let Some(strings) = class.strings {
            all.push(self.inner(strings));
        }
        // to leave out a few names leaves endlessly many where there were
        let names = match all[..] {
            [] => Names::Endless,
            [_] if class.strings.is_none()
                && !class.tests.iter().any(|test| test.holds)
                && self.have_common_gap(&class.tests) =>
            {
                Names::Endless
            }
            [one] => self.variety_of_names(one, class.others.is_empty()),
            _ => Names::Few,
        };
        if all.is_empty() || !class.others.is_empty() {
            let character = self.character();
            all.push(strings::other_than(&mut self.g, class.others.iter().copied(), character));
        }
        let name = self.g.intersection(all);
        Ok(self.g.name(name, names))
    }

    /// Whether the names of further members may be few.
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

    /// What follows a key: space, colon, value, space.
    pub(super) fn member_value(&mut self, value: ExprId) -> ExprId {
        self.g.sequence([self.layout.space, self.layout.colon, value, self.layout.space])
    }

    pub(super) fn braces(&mut self, list: Members) -> ExprId {
        let content = match list.rest {
            Some(rest) if list.members.is_empty() && list.ones.is_empty() && !self.are_few(rest) => {
                self.g.separated(rest, list.separator, list.min, list.max)
            }
            _ => self.g.member_list(list),
        };
        self.g.sequence([self.layout.open_object, content, self.layout.close_object])
    }
}
