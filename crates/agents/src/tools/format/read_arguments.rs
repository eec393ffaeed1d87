//! Parsing and writing arguments that are written separately.

use super::arguments::{EMPTY_LIST, has_empty_text, variadic};
use super::members::Plain;
use super::read::Reader;
use super::scalar::{Texts, extent, from_python, to_python};
use super::{Piece, RequestForm, Values, read_http};
use crate::tools::set::Tool;
use grammata::error::Result;
use serde_json::{Map, Value};

impl<'t> Reader<'t> {
    fn tool(&self, name: &str) -> Result<(&'t Tool, Value)> {
        let Some(tool) = self.set.tool(name) else { return Err(self.wrong("the name of a tool")) };
        Ok((tool, tool.arguments.value()))
    }

    /// Parses `a=1, b="x"` up to the closing bracket.
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

    /// Parses arguments, each written as `before`, its name, `between`, its value and `after`. A text that is not a
    /// value of the schema becomes a string.
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

    /// Parses positional values up to the closing bracket.
    pub(super) fn positional(&mut self, tool: &str, form: Values) -> Result<Map<String, Value>> {
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
            values.push((text, value));
        }
        let mut arguments = Map::new();
        let mut values = values.into_iter().peekable();
        let list = plain.members.last().filter(|member| variadic(&plain, member).is_some());
        let single = &plain.members[..plain.members.len() - usize::from(list.is_some())];
        for member in single {
            let Some((_, value)) = values.next() else { break };
            arguments.insert(member.name.to_owned(), value);
        }
        if let Some(member) = list {
            let mut items: Vec<(&str, Value)> = values.by_ref().collect();
            let is_empty =
                matches!(items.as_slice(), [(EMPTY_LIST, _)]) && has_empty_text(&plain, member, form);
            if is_empty {
                items.clear();
            }
            // a required list without items is empty, even if arguments before it are absent
            if is_empty || member.required || !items.is_empty() {
                let items = items.into_iter().map(|(_, value)| value).collect();
                arguments.insert(member.name.to_owned(), Value::Array(items));
            }
        }
        if values.peek().is_some() { Err(self.wrong("no more values than arguments")) } else { Ok(arguments) }
    }

    /// Parses positional values in brackets, or nothing.
    pub(super) fn tuple(&mut self, tool: &str) -> Result<Map<String, Value>> {
        if !self.rest().starts_with('(') {
            return Ok(Map::new());
        }
        self.at += 1;
        let arguments = self.positional(tool, Values::Any)?;
        self.literal(")")?;
        Ok(arguments)
    }
}

impl Piece {
    /// Writes the arguments or the request of a call. The text is empty for pieces that write neither, and for pieces
    /// that write JSON. An error says which arguments the format can write.
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
                    // the reader ends the value at the first closing text, also at one that begins in the value
                    let closed = format!("{text}{after}");
                    if closed.find(after.as_str()) != Some(text.len()) {
                        return Err("values without the text that closes an argument");
                    }
                    Ok(format!("{before}{name}{between}{closed}"))
                });
                elements.collect()
            }
            Piece::Positional(values) => positional(&plain()?, call, *values),
            Piece::Tuple(_) => {
                let plain = plain()?;
                if plain.members.is_empty() {
                    return Ok(String::new());
                }
                Ok(format!("({})", positional(&plain, call, Values::Any)?))
            }
            Piece::Endpoint(_) => read_http::endpoint(tool, call),
            Piece::Request(RequestForm::Message) => read_http::message(tool, call),
            Piece::Request(RequestForm::Restgpt) => read_http::restgpt(tool, &plain()?, call),
            _ => Ok(String::new()),
        }
    }
}

fn positional(
    plain: &Plain<'_>,
    call: &super::Call,
    form: Values,
) -> std::result::Result<String, &'static str> {
    let mut values = Vec::new();
    let mut is_left_out = false;
    let last = plain.members.len().saturating_sub(1);
    for (at, member) in plain.members.iter().enumerate() {
        let list = call.arguments.get(member.name).and_then(Value::as_array);
        let list = list.filter(|_| at == last && variadic(plain, member).is_some());
        match (call.arguments.get(member.name), list) {
            (None, _) => is_left_out = true,
            // the parser adds the empty list
            (_, Some(items)) if items.is_empty() && member.required => {}
            (Some(_), _) if is_left_out => return Err("optional arguments left out only at the end"),
            (_, Some(items)) if items.is_empty() && has_empty_text(plain, member, form) => {
                values.push(EMPTY_LIST.to_owned());
            }
            (_, Some(items)) if items.is_empty() => return Err("a list with items, or none"),
            (_, Some(items)) => values.extend(items.iter().map(Value::to_string)),
            (Some(value), None) => values.push(value.to_string()),
        }
    }
    Ok(values.join(", "))
}
