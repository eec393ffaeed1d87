//! Attributes of rules and terminals: `name[lazy, max_chars=9]: …`.

use super::errors;
use super::parser::Parser;
use super::scanner::Word;
use super::tree::{Attributes, Item, Name};
use crate::error::Result;

/// The supported attributes, as a list for messages.
pub(super) const ALLOWED: &str = "lazy, suffix=\"…\", stop=\"…\", max_tokens=N, max_chars=N, capture, capture=\"name\", \
     stop_capture=\"name\", temperature=N";

impl<'s> Parser<'s, '_> {
    /// Parses the attributes in brackets after the name of a definition. Without `[` there are none.
    pub(super) fn attributes(&mut self) -> Result<Attributes<'s>> {
        let mut read = Attributes::default();
        if !self.takes("[") {
            return Ok(read);
        }
        let mut seen: Vec<(usize, &str)> = Vec::new();
        loop {
            let at = self.offset();
            let name = self.name()?;
            if seen.iter().any(|(_, known)| *known == name) {
                return Err(errors::attribute_twice(self.source, at, name));
            }
            seen.push((at, name));
            let has_value = self.takes("=");
            match name {
                "lazy" if !has_value => read.is_lazy = true,
                "suffix" | "stop" if has_value => {
                    if read.end.is_some() {
                        let why = "`suffix` and `stop` exclude each other";
                        return Err(errors::attributes_together(self.source, at, name, why));
                    }
                    (read.is_lazy, read.end) = (true, Some(self.end(name)?));
                }
                "capture" if !has_value => {}
                "capture" | "stop_capture" if has_value => self.capture(name)?,
                "temperature" if has_value => self.temperature(name)?,
                "max_chars" => read.max_chars = Some(self.most(name, has_value)?),
                "max_tokens" => read.max_tokens = Some(self.most(name, has_value)?),
                "lazy" | "suffix" | "stop" | "stop_capture" | "temperature" => {
                    return Err(errors::attribute_value(self.source, self.offset(), name, ALLOWED));
                }
                _ => return Err(errors::unknown_attribute(self.source, at, name, ALLOWED)),
            }
            if !self.takes(",") {
                break;
            }
        }
        self.expect("]")?;
        if let Some(&(at, name)) = seen.iter().find(|(_, name)| *name == "stop_capture")
            && read.end.is_none()
        {
            let why = "`stop_capture` needs `suffix` or `stop`";
            return Err(errors::attributes_together(self.source, at, name, why));
        }
        Ok(read)
    }

    /// Parses the bound of `max_chars` or `max_tokens`; `has_value` says whether `=` was read.
    fn most(&mut self, name: &str, has_value: bool) -> Result<u32> {
        match self.peek() {
            Some(Word::Number(_)) if has_value => self.number(),
            _ => Err(errors::attribute_value(self.source, self.offset(), name, "0 to 4294967295")),
        }
    }

    /// Parses the value of `suffix` or `stop`: a literal that is not empty, a pattern, a terminal or a token. Returns
    /// it with its offset.
    fn end(&mut self, name: &str) -> Result<(usize, Item<'s>)> {
        let at = self.offset();
        let item = match self.peek().cloned() {
            Some(Word::Text(text, ignores_case)) if !text.is_empty() => Item::Text { text, ignores_case },
            Some(Word::Pattern(pattern, flags)) => Item::Pattern { pattern, flags },
            Some(Word::Name(name)) if Name::new(name).is_terminal() => Item::Name(Name::new(name)),
            Some(Word::Special(token)) => Item::Special(token),
            Some(Word::Ids(ids)) => Item::Ids(ids),
            _ => {
                let allowed = "a literal that is not empty, a pattern, a terminal or a token";
                return Err(errors::attribute_value(self.source, at, name, allowed));
            }
        };
        self.step();
        Ok((at, item))
    }

    /// Checks and skips the name of a capture.
    fn capture(&mut self, name: &str) -> Result<()> {
        let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
        match self.peek() {
            Some(Word::Text(text, false)) if !text.is_empty() && text.chars().all(is_name) => {
                self.step();
                Ok(())
            }
            _ => {
                let allowed = "a name in quotes, of letters, digits, `_`, `-` and `.`";
                Err(errors::attribute_value(self.source, self.offset(), name, allowed))
            }
        }
    }

    /// Checks and skips the value of `temperature`, a finite number of at least 0.
    fn temperature(&mut self, name: &str) -> Result<()> {
        let at = self.offset();
        let rest = self.source.get(at..).unwrap_or("");
        let length = rest.find([',', ']', '\n']).unwrap_or(rest.len());
        let number: Option<f64> = rest[..length].trim_end().parse().ok();
        if number.is_none_or(|number| !number.is_finite() || number < 0.0) {
            return Err(errors::attribute_value(self.source, at, name, "a number from 0"));
        }
        self.skip_to(at + length);
        Ok(())
    }
}
