//! Arguments that are written separately: as Python keyword arguments, by position, or each in its own wrapper.

use super::Values;
use super::grammar::Writer;
use super::members::{Member, Plain};
use super::scalar::{self, Kinds};
use crate::tools::set::{Tool, is_fatal};
use crate::tools::{custom, errors};
use grammata::error::Result;
use grammata::grammar::analysis::productive;
use grammata::grammar::{ExprId, FreeText, Members};
use grammata::syntax::json_schema::{self, Compiled, Spelling, compile_value};
use serde_json::{Value, json};

/// A member to be written: the text before its value, the value, and whether it is required.
pub(super) struct Written {
    pub(super) key: String,
    pub(super) value: ExprId,
    pub(super) required: bool,
}

impl Writer<'_> {
    /// Returns the grammar of the texts of a value in a spelling; `None` if there are none.
    ///
    /// # Errors
    /// `tools/arguments` if the schema has a part without a grammar; limits.
    pub(super) fn value(
        &mut self,
        tool: &Tool,
        schema: &Value,
        spelling: Spelling,
    ) -> Result<Option<ExprId>> {
        let options = self.options.schema.clone().spelling(spelling);
        self.value_in(tool, schema, &options)
    }

    /// Returns the grammar of the texts of a value under the given options; `None` if there are none.
    pub(super) fn value_in(
        &mut self,
        tool: &Tool,
        schema: &Value,
        options: &json_schema::Options,
    ) -> Result<Option<ExprId>> {
        match compile_value(schema, &custom::reading(options)) {
            Ok(Compiled { grammar, .. }) => {
                let root = grammar.rule(grammar.root()).body;
                if !productive(&grammar).holds(root) {
                    return Ok(None);
                }
                Ok(Some(self.builder.import(&grammar)))
            }
            Err(error) if is_fatal(&error) => Err(error),
            Err(error) if error.code() == "json-schema/unsatisfiable" => Ok(None),
            Err(error) => Err(errors::fatal(errors::schema(
                tool.place.clone(),
                error.diagnostic(),
                errors::inside(error.diagnostic()),
            ))),
        }
    }

    /// Returns the grammar of members joined by a separator, under the conditions on the arguments. `min` and `max`
    /// bound the number of members.
    ///
    /// # Errors
    /// `tools/not-callable` if a condition refers to a member that is not in the list.
    pub(super) fn list(
        &mut self,
        tool: &Tool,
        plain: &Plain<'_>,
        written: Vec<(&str, Written)>,
        separator: ExprId,
        (min, max): (u32, Option<u32>),
    ) -> Result<ExprId> {
        let names: Vec<&str> = written.iter().map(|(name, _)| *name).collect();
        let Some(conditions) = plain.conditions(&names) else {
            let message = "this format writes arguments separately, but some depend on others";
            let found = "dependentRequired";
            let refusal =
                errors::not_callable(tool.place.clone(), message, found, "a format that writes one object");
            return Err(errors::fatal(refusal));
        };
        let order = self.options.schema.property_order.into();
        let members = written.into_iter().map(|(_, one)| grammata::grammar::Member {
            key: one.key.into_bytes().into(),
            value: one.value,
            required: one.required,
        });
        let (members, ones) = (members.collect(), Box::default());
        Ok(self.builder.member_list(Members {
            order,
            members,
            rest: None,
            ones,
            conditions,
            separator,
            min,
            max,
        }))
    }

    /// Returns the error for an argument that the format cannot write (`tools/not-callable`).
    pub(super) fn unwritable(&self, tool: &Tool, member: &str, allowed: &str) -> grammata::error::Error {
        let message = "this format cannot write an argument of the tool";
        errors::fatal(errors::not_callable(tool.place.clone(), message, member, allowed))
    }

    /// Returns the grammar of keyword arguments: `a=1, b="x"`.
    pub(super) fn keywords(&mut self, tool: &Tool) -> Result<ExprId> {
        let arguments = tool.arguments.value();
        let plain = Plain::of(tool, &arguments)?;
        if !scalar::is_python_name(&tool.name, true) {
            return Err(self.unwritable(tool, &tool.name, "a name that is an identifier of Python"));
        }
        let mut written = Vec::new();
        for member in &plain.members {
            if !scalar::is_python_name(member.name, false) {
                return Err(self.unwritable(tool, member.name, "names that are identifiers of Python"));
            }
            let key = format!("{}=", member.name);
            if let Some(one) = self.written(tool, &plain, *member, key, Spelling::Python)? {
                written.push((member.name, one));
            }
        }
        let separator = self.comma();
        self.list(tool, &plain, written, separator, (plain.min, plain.max))
    }

    fn comma(&mut self) -> ExprId {
        let parts = [self.builder.text(","), self.space()];
        self.builder.sequence(parts)
    }

    /// Returns the grammar of nothing or one space.
    pub(super) fn space(&mut self) -> ExprId {
        let space = self.builder.text(" ");
        self.builder.optional(space)
    }

    /// Returns a member with the grammar of its value; `None` if the value has no text and the member is optional.
    pub(super) fn written(
        &mut self,
        tool: &Tool,
        plain: &Plain<'_>,
        member: Member<'_>,
        key: String,
        spelling: Spelling,
    ) -> Result<Option<Written>> {
        let schema = plain.alone(member.schema);
        match self.value(tool, &schema, spelling)? {
            Some(value) => Ok(Some(Written { key, value, required: member.required })),
            None if member.required => Err(self.unwritable(tool, member.name, "a value that it can write")),
            None => Ok(None),
        }
    }

    /// Returns the grammar of arguments that are each written as `before`, the name, `between`, the value and `after`.
    /// Strings are written without quotes, other values as JSON.
    pub(super) fn elements(&mut self, tool: &Tool, [before, between, after]: &[String; 3]) -> Result<ExprId> {
        let arguments = tool.arguments.value();
        let plain = Plain::of(tool, &arguments)?;
        let mut written = Vec::new();
        let closing = self.builder.text(after);
        let empty = self.builder.empty();
        let first = FreeText { triggers: vec![(after.as_str().into(), empty)], ..FreeText::default() };
        // the closing text of an argument cannot occur inside it
        let first = self.builder.free_text(&first);
        let is_foreign_to_json = is_foreign_to_json(after);
        for member in &plain.members {
            if member.name.contains(between.as_str()) || member.name.contains('\n') {
                return Err(self.unwritable(tool, member.name, "names without what follows them"));
            }
            let key = format!("{before}{}{between}", member.name);
            let of_types = |types: Value| plain.alone(&json!({"allOf": [member.schema, {"type": types}]}));
            let text = self.value(tool, &of_types(json!("string")), Spelling::Text)?;
            let others = json!(["number", "boolean", "null", "array", "object"]);
            let other = self.value(tool, &of_types(others), Spelling::Json)?;
            let mut values = Vec::new();
            if let Some(text) = text {
                let closed = self.builder.sequence([text, closing]);
                values.push(self.builder.intersection([closed, first]));
            }
            if let Some(other) = other {
                let closed = self.builder.sequence([other, closing]);
                // most closing texts cannot occur in JSON, and the intersection costs states
                values.push(match is_foreign_to_json {
                    true => closed,
                    false => self.builder.intersection([closed, first]),
                });
            }
            if values.is_empty() && member.required {
                return Err(self.unwritable(tool, member.name, "a value that it can write"));
            }
            if !values.is_empty() {
                let value = self.builder.choice(values);
                written.push((member.name, Written { key, value, required: member.required }));
            }
        }
        self.list(tool, &plain, written, empty, (plain.min, plain.max))
    }

    /// Returns the grammar of values in the order of declaration. The items of a final array are written separately.
    pub(super) fn positional(&mut self, tool: &Tool, values: Values) -> Result<ExprId> {
        let arguments = tool.arguments.value();
        let plain = Plain::of(tool, &arguments)?;
        let separator = self.comma();
        let mut parts = Vec::new();
        let last = plain.members.len().saturating_sub(1);
        let mut is_optional = false;
        for (at, member) in plain.members.iter().enumerate() {
            let list = variadic(&plain, member).filter(|_| at == last);
            let item = list.map_or(member.schema, |(items, ..)| items);
            let numbers = Kinds { number: true, ..Kinds::default() };
            if values == Values::Numbers && Kinds::of(item, plain.root) != numbers {
                return Err(self.unwritable(tool, member.name, "numbers"));
            }
            let mut texts: Vec<ExprId> =
                self.value(tool, &plain.alone(item), Spelling::Json)?.into_iter().collect();
            let mut required = member.required;
            if let Some((_, min, max)) = list {
                required &= min > 0;
                for items in &mut texts {
                    *items = self.builder.separated(*items, separator, min.max(1), max);
                }
                if min == 0 && has_empty_text(&plain, member, values) {
                    texts.push(self.builder.text(EMPTY_LIST));
                }
                if texts.is_empty() && !required {
                    continue;
                }
            }
            if texts.is_empty() {
                return Err(self.unwritable(tool, member.name, "a value that it can write"));
            }
            if required && is_optional {
                return Err(self.unwritable(tool, member.name, "required arguments before optional ones"));
            }
            is_optional |= !required;
            parts.push((self.builder.choice(texts), required));
        }
        if plain.has_conditions() {
            return Err(self.unwritable(tool, &tool.name, "arguments that do not depend on each other"));
        }
        let mut tail = self.builder.empty();
        for (at, (value, required)) in parts.into_iter().enumerate().rev() {
            let before = if at > 0 { separator } else { self.builder.empty() };
            tail = self.builder.sequence([before, value, tail]);
            if !required {
                tail = self.builder.optional(tail);
            }
        }
        Ok(tail)
    }

    /// Returns the grammar of positional values in brackets, or of nothing if the tool has no arguments.
    pub(super) fn tuple(&mut self, tool: &Tool) -> Result<ExprId> {
        if Plain::of(tool, &tool.arguments.value())?.members.is_empty() {
            return Ok(self.builder.empty());
        }
        let values = self.positional(tool, Values::Any)?;
        let parts = [self.builder.text("("), values, self.builder.text(")")];
        Ok(self.builder.sequence(parts))
    }
}

/// Returns whether a text certainly cannot occur in JSON: it has a line break, which no string has, and a character
/// that only strings have, but no quote. False does not mean that it can occur.
fn is_foreign_to_json(text: &str) -> bool {
    let is_outside_of_strings =
        |c: char| c.is_ascii_alphanumeric() || c.is_ascii_whitespace() || "{}[],:+-.".contains(c);
    text.contains('\n') && !text.contains('"') && !text.chars().all(is_outside_of_strings)
}

/// The text of an empty final list that is optional. A required list without items is written as nothing.
pub(super) const EMPTY_LIST: &str = "[]";

/// Returns whether [`EMPTY_LIST`] denotes an empty final list: the list is optional, none of its items can be an array
/// or an object, and the format allows values of any type.
pub(super) fn has_empty_text(plain: &Plain<'_>, member: &Member<'_>, values: Values) -> bool {
    let items = variadic(plain, member).map(|(items, ..)| Kinds::of(items, plain.root));
    !member.required && values == Values::Any && items.is_some_and(|items| !items.compound)
}

/// Returns the schema of the items of an array, and the bounds on their number. Returns `None` if the schema is not
/// that of an array, has other assertions, or allows no items.
pub(super) fn variadic<'t>(plain: &Plain<'t>, member: &Member<'t>) -> Option<(&'t Value, u32, Option<u32>)> {
    static ANYTHING: Value = Value::Bool(true);
    let schema = plain.resolved(member.schema).as_object()?;
    if schema.get("type").is_none_or(|kind| kind != "array") {
        return None;
    }
    let known =
        ["type", "items", "minItems", "maxItems", "description", "title", "default", "example", "examples"];
    if schema.keys().any(|keyword| !known.contains(&keyword.as_str()) && !keyword.starts_with("x-")) {
        return None;
    }
    let count = |keyword: &str| {
        schema.get(keyword).and_then(Value::as_u64).map(|count| count.min(u64::from(u32::MAX)) as u32)
    };
    let (min, max) = (count("minItems").unwrap_or(0), count("maxItems"));
    // an array that can only be empty is written as one value
    let may_have_items = max.is_none_or(|max| max >= min.max(1));
    may_have_items.then(|| (schema.get("items").unwrap_or(&ANYTHING), min, max))
}
