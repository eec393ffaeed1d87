//! Parses the text and the calls of a turn.

use super::{CallFormat, Piece, TextPlace};
use crate::tools::errors;
use crate::tools::set::ToolSet;
use grammata::diagnostic::Place;
use grammata::error::{Error, Result};
use serde_json::{Map, Value};

/// A call of a tool.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// The tool's name.
    pub tool: String,
    /// The arguments. Numbers keep their spelling.
    pub arguments: Map<String, Value>,
}

/// A parsed turn.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Turn {
    /// The text before the calls of the turn; without calls, the whole text. The format's `lead` and `nothing` are not
    /// part of it.
    pub text: String,
    /// The calls of the turn.
    pub calls: Vec<Call>,
    /// The text between consecutive calls; empty in formats without text there.
    pub between: Vec<String>,
    /// The text after the calls of the turn.
    pub after: String,
}

impl CallFormat {
    /// Parses a word of a [`CallGrammar`](super::CallGrammar) into text and calls. Special tokens are written as their
    /// names.
    ///
    /// # Errors
    /// `tools/call-text` with the first place where the text cannot be read as a turn; `tools/not-callable` if the
    /// format cannot write the arguments of a tool. Arguments are not checked against their schemas, because the
    /// grammar does that.
    pub fn read(&self, text: &str, set: &ToolSet) -> Result<Turn> {
        let mut reader = Reader { text, at: 0, set };
        reader.literal(&self.lead)?;
        let is_nothing = match &self.nothing {
            Some(nothing) => nothing == reader.rest(),
            None => self.text == TextPlace::None && reader.rest().is_empty(),
        };
        if is_nothing {
            return Ok(Turn::default());
        }
        let rest = reader.rest();
        let start = match self.text {
            TextPlace::Before => self.openings().iter().filter_map(|opening| rest.find(opening)).min(),
            TextPlace::Opening => {
                self.openings().iter().any(|opening| rest.starts_with(opening)).then_some(0)
            }
            TextPlace::Named => {
                // a call begins where the text before a name is followed by a name of the set
                let markers = set.callable().map(|tool| self.marker(&tool.name));
                markers.filter_map(|marker| rest.find(&marker)).min()
            }
            TextPlace::None => Some(0),
        };
        let Some(start) = start else {
            return Ok(Turn { text: rest.to_owned(), ..Turn::default() });
        };
        let mut turn = Turn { text: rest[..start].to_owned(), ..Turn::default() };
        reader.at += start;
        reader.fixed(&self.begin)?;
        loop {
            turn.calls.push(reader.call(self)?);
            let before = reader.at;
            if self.between {
                let opening = self.openings().swap_remove(0);
                let Some(start) = reader.rest().find(&opening) else { break };
                turn.between.push(reader.rest()[..start].to_owned());
                reader.at += start;
                continue;
            }
            // the end of a turn may begin like the separator of calls
            let ends = !self.end.is_empty()
                && reader.fixed(&self.end).is_ok()
                && (self.after || reader.rest().is_empty());
            reader.at = before;
            let goes_on =
                self.several && !ends && reader.fixed(&self.separator).is_ok() && reader.begins(&self.call);
            if !goes_on {
                reader.at = before;
                break;
            }
        }
        reader.fixed(&self.end)?;
        if self.after {
            turn.after = reader.rest().to_owned();
            reader.at = text.len();
        }
        if reader.rest().is_empty() { Ok(turn) } else { Err(reader.wrong("the end of the turn")) }
    }
}

pub(super) struct Reader<'t> {
    text: &'t str,
    pub(super) at: usize,
    pub(super) set: &'t ToolSet,
}

impl<'t> Reader<'t> {
    pub(super) fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    pub(super) fn wrong(&self, allowed: &str) -> Error {
        let found: String = self.rest().chars().take(40).collect();
        errors::call_text(Place::Byte(self.at), &found, allowed)
    }

    pub(super) fn literal(&mut self, text: &str) -> Result<()> {
        if !self.rest().starts_with(text) {
            return Err(self.wrong(text));
        }
        self.at += text.len();
        Ok(())
    }

    /// Consumes pieces that are the same for all tools.
    fn fixed(&mut self, pieces: &[Piece]) -> Result<()> {
        pieces.iter().try_for_each(|piece| match piece {
            Piece::Gap(_) => {
                self.at += usize::from(self.rest().starts_with(' '));
                Ok(())
            }
            piece => self.literal(piece.fixed_text().unwrap_or_default()),
        })
    }

    /// Returns whether `call` may begin at the current place, judging by its first piece.
    fn begins(&self, call: &[Piece]) -> bool {
        match call.first() {
            Some(Piece::Text(text) | Piece::Token(text)) => self.rest().starts_with(text.as_str()),
            _ => !self.rest().is_empty(),
        }
    }

    fn call(&mut self, format: &CallFormat) -> Result<Call> {
        let mut call = Call { tool: String::new(), arguments: Map::new() };
        for piece in &format.call {
            match piece {
                Piece::Text(_) | Piece::Token(_) | Piece::Gap(_) => {
                    self.fixed(std::slice::from_ref(piece))?
                }
                Piece::Name(_) => {
                    let end = self.rest().find(format.after_name().unwrap_or("\n"));
                    let name = &self.rest()[..end.unwrap_or(self.rest().len())];
                    call.tool = self.known(name)?;
                    self.at += name.len();
                }
                Piece::Arguments(_) => call.arguments = self.object()?,
                Piece::Object([name, arguments]) => {
                    let start = self.at;
                    let mut object = self.object()?;
                    let value = object.remove(arguments);
                    let tool = object.remove(name);
                    let (Some(Value::Object(value)), Some(Value::String(tool)), true) =
                        (value, tool, object.is_empty())
                    else {
                        self.at = start;
                        return Err(self.wrong(&format!("an object with `{name}` and `{arguments}`")));
                    };
                    call.tool = self.known(&tool)?;
                    call.arguments = value;
                }
                Piece::Endpoint(_) => call = self.endpoint()?,
                Piece::Keywords(_) => call.arguments = self.keywords(&call.tool)?,
                Piece::Positional(values) => call.arguments = self.positional(&call.tool, *values)?,
                Piece::Tuple(_) => call.arguments = self.tuple(&call.tool)?,
                Piece::Element(parts) => call.arguments = self.elements(&call.tool, parts)?,
                Piece::Request(form) => call = self.request(*form)?,
            }
        }
        Ok(call)
    }

    fn known(&self, name: &str) -> Result<String> {
        match self.set.tool(name) {
            Some(tool) if tool.refusal.is_none() => Ok(name.to_owned()),
            _ => Err(self.wrong("the name of a tool")),
        }
    }

    /// Parses one JSON object.
    pub(super) fn object(&mut self) -> Result<Map<String, Value>> {
        let mut values = serde_json::Deserializer::from_str(self.rest()).into_iter::<Map<String, Value>>();
        match values.next() {
            Some(Ok(object)) => {
                self.at += values.byte_offset();
                Ok(object)
            }
            _ => Err(self.wrong("a JSON object")),
        }
    }
}
