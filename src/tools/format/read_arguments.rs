//! Arguments that are written one by one, as values.

use super::arguments::variadic;
use super::members::Plain;
use super::read::Reader;
use super::scalar::{Texts, extent, from_python, to_python};
use super::{Piece, RequestForm, read_http};
use crate::error::Result;
use crate::tools::set::Tool;
use serde_json::{Map, Value};

impl<'t> Reader<'t> {
    fn tool(&self, name: &str) -> Result<(&'t Tool, Value)> {
        let Some(tool) = self.set.tool(name) else { return Err(self.wrong("the name of a tool")) };
        Ok((tool, tool.arguments.value()))
    }

    /// `a=1, b="x"` up to the bracket that closes them.
    pub(super) fn keywords(&mut self, tool: &str) -> Result<Map<String, Value>> {
        let (tool, root) = self.tool(tool)?;
        let plain = Plain::of(tool, &root)?;
        let mut arguments = Map::new();
        while !self.rest().starts_with(')') {
            if !arguments.is_empty() {
                self.comma()?;
            }
            let name = self.rest().split_once('=').map_or("", |(name, _)| name);
            let Some(member) = plain.members.iter().find(|member| member.name == name) else {
                return Err(self.wrong("the name of an argument and `=`"));
            };
            self.at += name.len() + 1;
            let text = &self.rest()[..extent(self.rest())];
            let Some(value) = from_python(text) else { return Err(self.wrong("a literal of Python")) };
            self.at += text.len();
            if arguments.insert(member.name.to_owned(), value).is_some() {
                return Err(self.wrong("each argument once"));
            }
        }
        Ok(arguments)
    }

    fn comma(&mut self) -> Result<()> {
        self.literal(",")?;
        self.at += usize::from(self.rest().starts_with(' '));
        Ok(())
    }

    /// Each argument between its name and what closes it.
    pub(super) fn elements(
        &mut self,
        tool: &str,
        [before, between, after]: &[String; 3],
    ) -> Result<Map<String, Value>> {
        let (tool, root) = self.tool(tool)?;
        let plain = Plain::of(tool, &root)?;
        let mut arguments = Map::new();
        while let Some(inner) = self.rest().strip_prefix(before.as_str()) {
            let found = inner.split_once(between.as_str()).and_then(|(name, rest)| {
                let (text, _) = rest.split_once(after.as_str())?;
                let member = plain.members.iter().find(|member| member.name == name)?;
                Some((member, text))
            });
            let Some((member, text)) = found else { return Err(self.wrong("an argument in its element")) };
            self.at += before.len() + member.name.len() + between.len() + text.len() + after.len();
            let value = Texts::new(member.schema, &root).value(text);
            let value = value.unwrap_or_else(|| Value::String(text.to_owned()));
            if arguments.insert(member.name.to_owned(), value).is_some() {
                return Err(self.wrong("each argument once"));
            }
        }
        Ok(arguments)
    }

    /// Values by position, up to the bracket that closes them.
    pub(super) fn positional(&mut self, tool: &str) -> Result<Map<String, Value>> {
        let (tool, root) = self.tool(tool)?;
        let plain = Plain::of(tool, &root)?;
        let mut values = Vec::new();
        while !self.rest().starts_with(')') {
            if !values.is_empty() {
                self.comma()?;
            }
            let text = &self.rest()[..extent(self.rest())];
            let Ok(value) = serde_json::from_str::<Value>(text) else { return Err(self.wrong("a value")) };
            self.at += text.len();
            values.push(value);
        }
        let mut arguments = Map::new();
        let mut values = values.into_iter().peekable();
        let last = plain.members.len().saturating_sub(1);
        for (at, member) in plain.members.iter().enumerate() {
            let is_last_list = at == last && variadic(&plain, member).is_some();
            // no items are a list where one must be
            if values.peek().is_none() && !(is_last_list && member.required) {
                break;
            }
            let value = match is_last_list {
                true => Some(Value::Array(values.by_ref().collect())),
                false => values.next(),
            };
            arguments.extend(value.map(|value| (member.name.to_owned(), value)));
        }
        if values.peek().is_some() { Err(self.wrong("no more values than arguments")) } else { Ok(arguments) }
    }

    /// The same in brackets, or nothing.
    pub(super) fn tuple(&mut self, tool: &str) -> Result<Map<String, Value>> {
        if !self.rest().starts_with('(') {
            return Ok(Map::new());
        }
        self.at += 1;
        let arguments = self.positional(tool)?;
        self.literal(")")?;
        Ok(arguments)
    }
}

impl Piece {
    /// The text of a call's arguments, or of its request.
    pub(super) fn arguments(
        &self,
        tool: &Tool,
        call: &super::Call,
    ) -> std::result::Result<String, &'static str> {
        let root = tool.arguments.value();
        let plain = || Plain::of(tool, &root).map_err(|_| "a tool with a plain object of arguments");
        match self {
            Piece::Keywords(_) => {
                let pairs = call.arguments.iter().map(|(name, value)| format!("{name}={}", to_python(value)));
                Ok(pairs.collect::<Vec<_>>().join(", "))
            }
            Piece::Element([before, between, after]) => {
                let elements = call.arguments.iter().map(|(name, value)| {
                    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                    format!("{before}{name}{between}{text}{after}")
                });
                Ok(elements.collect())
            }
            Piece::Positional(_) => positional(&plain()?, call),
            Piece::Tuple(_) => {
                let plain = plain()?;
                if plain.members.is_empty() {
                    return Ok(String::new());
                }
                Ok(format!("({})", positional(&plain, call)?))
            }
            Piece::Endpoint(_) => read_http::endpoint(tool, call),
            Piece::Request(RequestForm::Message) => read_http::message(tool, call),
            Piece::Request(RequestForm::Restgpt) => read_http::restgpt(tool, &plain()?, call),
            _ => Ok(String::new()),
        }
    }
}

fn positional(plain: &Plain<'_>, call: &super::Call) -> std::result::Result<String, &'static str> {
    let mut values = Vec::new();
    let mut is_left_out = false;
    let last = plain.members.len().saturating_sub(1);
    for (at, member) in plain.members.iter().enumerate() {
        match call.arguments.get(member.name) {
            None => is_left_out = true,
            Some(_) if is_left_out => return Err("arguments of which none is left out before another"),
            Some(Value::Array(items)) if at == last && variadic(plain, member).is_some() => {
                values.extend(items.iter().map(Value::to_string));
            }
            Some(value) => values.push(value.to_string()),
        }
    }
    Ok(values.join(", "))
}
