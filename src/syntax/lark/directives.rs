//! Directives on lines of their own: `%import common.NAME`, `%ignore`, `%override`, `%extend` and options.

use super::errors;
use super::parser::Parser;
use super::scanner::Word;
use super::tree::{Definition, Import, Kind, Library, Name, Parsed};
use crate::error::Result;

impl<'s> Parser<'s, '_> {
    /// Parses the directive `name`, which is the next word, up to the end of its line.
    pub(super) fn directive(&mut self, name: &'s str, parsed: &mut Parsed<'s>) -> Result<()> {
        let at = self.offset();
        self.step();
        match name {
            "%ignore" => {
                let body = self.body()?;
                parsed.ignored.push(body);
            }
            "%import" => self.import(&mut parsed.imports)?,
            "%override" => return self.definition(Kind::Override, parsed),
            "%extend" => return self.definition(Kind::Extend, parsed),
            "%llguidance" | "%grammar_options" => self.options(parsed)?,
            "%declare" => {
                self.declare(parsed)?;
                return Err(errors::declare(self.source, at));
            }
            _ => return Err(errors::unknown_directive(self.source, at, name)),
        }
        self.line_end()
    }

    /// Parses the names after `%declare`, whose directive is an error. They are defined, without alternatives, so that
    /// their uses are not errors, too.
    fn declare(&mut self, parsed: &mut Parsed<'s>) -> Result<()> {
        while !self.ends_line() {
            let at = self.offset();
            let name = Name::new(self.name()?);
            parsed.definitions.push(Definition::without_words(at, name));
        }
        Ok(())
    }

    /// Parses an import: `common.NAME`, `.folder.file.name -> alias`, or `.file (A, b)`.
    fn import(&mut self, imports: &mut Vec<Import<'s>>) -> Result<()> {
        let at = self.offset();
        let is_relative = self.takes(".");
        let mut names = vec![(self.offset(), self.name()?)];
        while self.takes(".") {
            names.push((self.offset(), self.name()?));
        }
        let path = |names: &[(usize, &'s str)]| Library {
            at,
            is_relative,
            path: names.iter().map(|(_, name)| *name).collect(),
        };
        if self.takes("(") {
            let from = path(&names);
            loop {
                let at = self.offset();
                let name = self.name()?;
                imports.push(Import { at, from: from.clone(), name, alias: name });
                if !self.takes(",") {
                    return self.expect(")");
                }
            }
        }
        let (Some((at, name)), false) = (names.pop(), names.is_empty()) else {
            return Err(self.unexpected("`.` and a name, or names in parentheses"));
        };
        let from = path(&names);
        let alias = if self.takes("->") { self.name()? } else { name };
        imports.push(Import { at, from, name, alias });
        Ok(())
    }

    /// Reads the options of llguidance from a JSON object. `no_forcing` concerns forced tokens only, so it is ignored.
    fn options(&mut self, parsed: &mut Parsed<'s>) -> Result<()> {
        let at = self.offset();
        let Some(&Word::Json(text)) = self.peek() else {
            return Err(self.unexpected("a JSON object"));
        };
        self.step();
        let read = serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(text);
        for (name, value) in read.map_err(|_| errors::unexpected(self.source, at, "a JSON object"))? {
            match (name.as_str(), value.as_bool()) {
                ("no_forcing", Some(_)) => {}
                ("allow_initial_skip", Some(is_allowed)) => parsed.skips_first = is_allowed,
                _ => return Err(errors::unknown_option(self.source, at, &name)),
            }
        }
        Ok(())
    }
}
