//! Objects.

use super::Emitter;
use crate::error::Result;
use crate::grammar::{ExprId, Member};
use crate::syntax::json_schema::assertion::Counts;
use crate::syntax::json_schema::shape::{ObjectShape, RestShape};
use crate::syntax::json_schema::strings;

impl<'a> Emitter<'_, 'a> {
    pub(super) fn object(&mut self, object: &ObjectShape<'a>) -> Result<ExprId> {
        let mut members = Vec::new();
        for member in &object.members {
            if self.satisfiable.contains(member.value) {
                let value = self.inner(member.value);
                let value = self.member_value(value);
                let key = strings::quoted(member.name).into_bytes().into();
                members.push(Member { key, value, required: member.required });
            } else if member.required {
                return Ok(self.g.never());
            }
        }
        let mut rest = Vec::new();
        for class in object.rest.iter().filter(|class| self.satisfiable.contains(class.value)) {
            let name = self.rest_name(object, class)?;
            let value = self.inner(class.value);
            let value = self.member_value(value);
            rest.push(self.g.sequence([name, value]));
        }
        let rest = (!rest.is_empty()).then(|| self.g.choice(rest));
        Ok(self.braces(members, rest, object.count))
    }

    /// A name of a class of undeclared names, with its quotes.
    fn rest_name(&mut self, object: &ObjectShape<'a>, class: &RestShape<'a>) -> Result<ExprId> {
        let mut all = Vec::new();
        if !class.tests.is_empty() {
            all.push(self.tested(&class.tests, &Counts::default())?);
        }
        if let Some(names) = object.names {
            all.push(self.inner(names));
        }
        if all.is_empty() || !class.declared.is_empty() {
            all.push(strings::other_than(&mut self.g, class.declared.iter().copied()));
        }
        Ok(self.g.intersection(all))
    }

    /// What follows a key: space, colon, value, space.
    pub(super) fn member_value(&mut self, value: ExprId) -> ExprId {
        self.g.sequence([self.layout.space, self.layout.colon, value, self.layout.space])
    }

    pub(super) fn braces(&mut self, members: Vec<Member>, rest: Option<ExprId>, count: Counts) -> ExprId {
        let comma = self.layout.comma;
        let content = match rest {
            None if members.is_empty() && count.min == 0 => self.g.empty(),
            Some(rest) if members.is_empty() => self.g.separated(rest, comma, count.min, count.max),
            rest => {
                let order = self.options.property_order.into();
                self.g.counted_members(order, members, rest, comma, (count.min, count.max))
            }
        };
        let close = self.g.text("}");
        self.g.sequence([self.layout.open_object, content, close])
    }
}
