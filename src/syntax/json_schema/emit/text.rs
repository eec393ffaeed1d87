//! Values without quotes: as text, and percent-encoded.

use super::{Emitter, percent, python};
use crate::error::Result;
use crate::grammar::{ByteSet, CharClass, ExprId, GrammarBuilder};
use crate::syntax::json_schema::errors;
use crate::syntax::json_schema::model::assertion::TypeSet;
use crate::syntax::json_schema::normal::shape::{Shape, Test, Typed};
use crate::syntax::json_schema::options::Spelling;
use crate::syntax::json_schema::strings::formats::Side;
use crate::syntax::json_schema::strings::string_test;
use crate::syntax::json_schema::values::json::Value;
use std::borrow::Cow;

impl<'a> Emitter<'_, 'a> {
    /// Returns the texts of the root's values.
    pub(super) fn text(&mut self) -> Result<ExprId> {
        let all = self.all;
        let mut ways = Vec::new();
        for id in self.alternatives(all.root())? {
            let pointer = all.pointer(id);
            match all.shape_of(id) {
                Shape::Values(list) => {
                    self.spend(list.len(), pointer)?;
                    ways.extend(list.iter().filter_map(|value| self.text_of(value)));
                }
                Shape::Union(_) => {}
                Shape::Typed(typed) => {
                    let way = self.typed_text(typed, pointer)?;
                    ways.push(way);
                }
            }
        }
        Ok(self.g.choice(ways))
    }

    /// Whether null, arrays and objects are not in the language.
    fn has_only_scalars(&self) -> bool {
        matches!(self.options.spelling, Spelling::Line | Spelling::Percent)
    }

    fn characters(&self) -> Characters {
        match (self.options.spelling, &self.options.unencoded) {
            (Spelling::Line, _) => Characters::Printable,
            (Spelling::Percent, Some(text)) => {
                Characters::Encoded(text.bytes().filter(u8::is_ascii).collect())
            }
            (Spelling::Percent, None) => {
                let stays = |byte: &u8| byte.is_ascii_alphanumeric() || b"-._~".contains(byte);
                Characters::Encoded((0..0x80_u8).filter(stays).collect())
            }
            _ => Characters::All,
        }
    }

    /// Returns one listed value; `None` if it is not in the language.
    fn text_of(&mut self, value: &Value<'_>) -> Option<ExprId> {
        match value {
            Value::String(text) => {
                let characters = self.characters();
                let is_excluded = self.is_excluded_text(&written(text, &characters));
                (!is_excluded).then(|| self.spelled_text(text, &characters))
            }
            Value::Null | Value::Array(_) | Value::Object(_) if self.has_only_scalars() => None,
            value if self.is_excluded(value, None) => None,
            value => {
                let value = self.value(value);
                Some(self.spelled_scalar(value))
            }
        }
    }

    /// Returns a text with its characters spelled as `characters` says.
    pub(super) fn spelled_text(&mut self, text: &str, characters: &Characters) -> ExprId {
        let spell = |c| spelled(&mut self.g, &CharClass::new([(c, c)]), characters);
        let parts: Vec<ExprId> = text.chars().map(spell).collect();
        self.g.sequence(parts)
    }

    /// Returns the texts of numbers or booleans, percent-encoded if strings are.
    fn spelled_scalar(&mut self, texts: ExprId) -> ExprId {
        match self.characters() {
            Characters::Encoded(stays) => percent::expression(&mut self.g, texts, &stays),
            _ => texts,
        }
    }

    fn typed_text(&mut self, typed: &Typed<'a>, pointer: &str) -> Result<ExprId> {
        // `string_text` and `number` handle the others
        let Typed { types, number: _, length, tests: _, excluded: _, array, object } = typed;
        let has = |one| types.contains(one);
        let mut ways = Vec::new();
        if has(TypeSet::OBJECT)
            && !self.has_only_scalars()
            && let Some(object) = object
        {
            ways.push(self.object(object, pointer)?);
        }
        if has(TypeSet::ARRAY)
            && !self.has_only_scalars()
            && let Some(array) = array
        {
            ways.push(self.array(array, pointer)?);
        }
        if has(TypeSet::STRING) && !length.is_crossed() {
            let characters = self.characters();
            ways.push(self.string_text(typed, &characters)?);
        }
        if has(TypeSet::NUMBER) {
            let number = self.number(typed, pointer)?;
            ways.push(self.spelled_scalar(number));
        }
        for (one, word) in [(TypeSet::TRUE, "true"), (TypeSet::FALSE, "false"), (TypeSet::NULL, "null")] {
            if has(one) && !(one == TypeSet::NULL && self.has_only_scalars()) {
                let word = self.g.text(word);
                ways.push(self.spelled_scalar(word));
            }
        }
        Ok(self.g.choice(ways))
    }

    /// Returns the strings of a shape with their characters spelled as `characters` says.
    pub(super) fn string_text(&mut self, typed: &Typed<'a>, characters: &Characters) -> Result<ExprId> {
        let Typed { types: _, number: _, length, tests, excluded, array: _, object: _ } = typed;
        let has_complements = !excluded.is_empty() || tests.iter().any(|test| !test.holds);
        let character = match characters {
            // what is excluded is not spelled in all ways
            &Characters::Python(quote) if has_complements => {
                python::plain_character(&mut self.g, &CharClass::any(), quote)
            }
            characters => spelled(&mut self.g, &CharClass::any(), characters),
        };
        let mut all = Vec::with_capacity(tests.len() + 2);
        // complements contain more than texts; words of a grammar are texts
        let is_bounded = tests.iter().any(|test| test.holds && test.test.is_grammar());
        if !length.is_free() || !is_bounded {
            all.push(self.g.repeat(character, length.min, length.max));
        }
        for &Test { schema, test, holds } in tests {
            let pointer = self.all.schemas.get(schema).pointer;
            self.spend(1, pointer)?;
            let side = if holds { Side::Within } else { Side::Around };
            let spell = &mut |g: &mut GrammarBuilder, class: &CharClass| spelled(g, class, characters);
            let content = string_test::lower(&mut self.g, test, side, pointer, spell)?
                .ok_or_else(|| errors::complement_of_format(pointer, test.value()))?;
            all.push(if holds { content } else { self.g.complement(content) });
        }
        let excluded = excluded.iter().filter_map(|value| value.as_str());
        let excluded: Vec<ExprId> = excluded.map(|text| self.spelled_text(text, characters)).collect();
        if !excluded.is_empty() {
            let excluded = self.g.choice(excluded);
            all.push(self.g.complement(excluded));
        }
        // the end of an element is looked for in a text without the excluded ones
        if self.options.spelling.style().is_none() || !matches!(characters, Characters::All) {
            all.extend(self.without_excluded());
        }
        Ok(self.g.intersection(all))
    }
}

/// The spelling of the characters of a string.
pub(super) enum Characters {
    All,
    /// Only printable ASCII and tabs.
    Printable,
    /// Every byte except these as `%XX`.
    Encoded(ByteSet),
    /// Those of a string of Python in these quotes.
    Python(char),
    /// The characters of a class as they are, and some others by their escapes.
    Escaped(CharClass, &'static [(char, &'static str)]),
}

/// Returns one character of a class.
pub(super) fn spelled(g: &mut GrammarBuilder, class: &CharClass, characters: &Characters) -> ExprId {
    match characters {
        Characters::All => g.char_class(class.clone()),
        Characters::Printable => {
            let printable = CharClass::new([('\t', '\t'), (' ', '~')]);
            g.char_class(class.intersection(&printable))
        }
        Characters::Encoded(stays) => percent::character(g, class, stays),
        &Characters::Python(quote) => python::character(g, class, quote),
        Characters::Escaped(plain, escapes) => {
            let escaped = escapes.iter().filter(|(c, _)| class.contains(*c));
            let mut ways: Vec<ExprId> = escaped.map(|(_, escape)| g.text(*escape)).collect();
            ways.push(g.char_class(class.intersection(plain)));
            g.choice(ways)
        }
    }
}

/// Returns a text without escapes in the spelling of its characters.
fn written<'t>(text: &'t str, characters: &Characters) -> Cow<'t, str> {
    match characters {
        Characters::Encoded(stays) => percent::text(text.as_bytes(), stays).into(),
        _ => text.into(),
    }
}
