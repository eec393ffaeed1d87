//! Members whose names have no quotes: objects of Gemma, whose strings are between marks, and keyword arguments of
//! Python.

use super::Emitter;
use super::object::Notation;
use super::text::Characters;
use crate::error::Result;
use crate::grammar::{CharClass, ExprId, Member, Members, Text};
use crate::syntax::json_schema::errors;
use crate::syntax::json_schema::model::assertion::TypeSet;
use crate::syntax::json_schema::normal::conjunction::ConjunctionId;
use crate::syntax::json_schema::normal::shape::{RestShape, Shape, Typed};
use crate::syntax::json_schema::options::Spelling;
use crate::syntax::json_schema::values::json::{Map, Value};
use rustc_hash::FxHashSet;

/// The mark before and after a string of Gemma. No string contains it, and no mark begins inside another one.
pub(super) const MARK: &str = "<|\"|>";

/// Characters that no name of Gemma contains: they separate names and values.
const PUNCTUATION: [char; 6] = [':', ',', '{', '}', '[', ']'];

/// The words that are no identifiers of Python (Python reference, section 2.3.1).
const KEYWORDS: [&str; 35] = [
    "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue", "def",
    "del", "elif", "else", "except", "finally", "for", "from", "global", "if", "import", "in", "is",
    "lambda", "nonlocal", "not", "or", "pass", "raise", "return", "try", "while", "with", "yield",
];

/// Returns a text between marks.
pub(super) fn marked(text: &str) -> String {
    [MARK, text, MARK].concat()
}

impl<'a> Emitter<'_, 'a> {
    /// Whether strings are between marks.
    pub(super) fn is_marked(&self) -> bool {
        self.options.spelling == Spelling::Gemma
    }

    /// Returns the strings of a shape between marks.
    pub(super) fn marked_string(&mut self, typed: &Typed<'a>) -> Result<ExprId> {
        let Typed { types: _, number: _, length, tests, excluded, array: _, object: _ } = typed;
        let mark = self.g.text(MARK);
        let mut text = self.closed_by(MARK);
        if !tests.is_empty() || !length.is_free() || excluded.iter().any(|value| value.as_str().is_some()) {
            let restricted = self.string_text(typed, &Characters::All)?;
            let restricted = self.g.sequence([restricted, mark]);
            text = self.g.intersection([restricted, text]);
        }
        Ok(self.g.sequence([mark, text]))
    }

    /// Returns a name with the mark after it; `None` if the name cannot be written.
    pub(super) fn bare_key(&self, name: &str) -> Option<Text> {
        let is_written = match self.options.spelling {
            Spelling::Keywords => is_identifier(name),
            _ => {
                let is_apart = |c: char| PUNCTUATION.contains(&c) || c.is_control();
                !name.is_empty() && name.trim() == name && !name.contains(MARK) && !name.contains(is_apart)
            }
        };
        is_written.then(|| [name, self.after_bare_name()].concat().into_bytes().into())
    }

    /// Returns the text after the key of a member: white space, the value, white space.
    pub(super) fn bare_value(&mut self, value: ExprId) -> ExprId {
        self.g.sequence([self.layout.after_name, value, self.layout.space])
    }

    fn after_bare_name(&self) -> &'static str {
        if self.options.spelling == Spelling::Keywords { "=" } else { ":" }
    }

    /// Returns a member of a class of undeclared names.
    pub(super) fn further_bare(&mut self, class: &RestShape<'a>) -> Result<ExprId> {
        let is_keyword = self.options.spelling == Spelling::Keywords;
        let is_free = class.tests.is_empty() && class.strings.is_none();
        let apart = CharClass::new(PUNCTUATION.into_iter().chain(['<', '>', '"', '\'']).map(|c| (c, c)));
        let shown = CharClass::new([('!', '\u{7E}'), ('\u{A1}', char::MAX)]);
        let characters = Characters::Escaped(shown.intersection(&apart.complement()), &[]);
        let mut name = self.further_name(class, &characters, is_free || is_keyword)?;
        if is_keyword {
            let words = KEYWORDS.map(|word| self.g.text(word));
            let words = self.g.choice(words);
            let others = self.g.complement(words);
            name = self.g.intersection([name, others]);
        }
        let after = self.g.text(self.after_bare_name());
        let value = self.inner(class.value);
        let value = self.bare_value(value);
        Ok(self.g.sequence([name, after, value]))
    }

    /// Returns the texts of the root's objects.
    pub(super) fn bare_objects(&mut self) -> Result<ExprId> {
        let all = self.all;
        let root = all.root();
        let mut ways = Vec::new();
        for id in self.alternatives(root)? {
            let pointer = all.pointer(id);
            match all.shape_of(id) {
                Shape::Values(list) => {
                    for value in list {
                        if let Value::Object(map) = value
                            && !self.has_excluded_member(map, None)
                        {
                            ways.push(match self.is_marked() {
                                true => self.value(value),
                                false => {
                                    let members = self.listed_keywords(map, pointer)?;
                                    self.member_list(members)
                                }
                            });
                        }
                    }
                }
                Shape::Typed(typed) => {
                    if let Some(object) =
                        typed.object.as_deref().filter(|_| typed.types.contains(TypeSet::OBJECT))
                    {
                        let members = self.members(object, Notation::Bare, pointer)?;
                        ways.extend(members.map(|list| match self.is_marked() {
                            true => self.braces(list),
                            false => self.member_list(list),
                        }));
                    }
                }
                Shape::Union(_) => {}
            }
        }
        if ways.is_empty() {
            return Err(errors::no_object(all.pointer(root)));
        }
        Ok(self.g.choice(ways))
    }

    fn listed_keywords(&mut self, map: &Map<'_>, pointer: &str) -> Result<Members> {
        let mut members = Vec::with_capacity(map.len());
        for (name, value) in map.iter() {
            let key = self.bare_key(name).ok_or_else(|| errors::bare_name(pointer, name))?;
            let value = self.value(value);
            members.push(Member { key, value: self.bare_value(value), required: true });
        }
        Ok(Members {
            order: self.options.property_order.into(),
            members: members.into(),
            rest: None,
            ones: Box::default(),
            conditions: Box::default(),
            separator: self.layout.comma,
            min: 0,
            max: None,
        })
    }

    /// Whether some value of a conjunction may be an array or an object.
    pub(super) fn has_compounds(&self, id: ConjunctionId) -> bool {
        let (mut open, mut seen) = (vec![id], FxHashSet::default());
        while let Some(id) = open.pop() {
            if !self.satisfiable.contains(id) || !seen.insert(id) {
                continue;
            }
            let found = match self.all.shape_of(id) {
                Shape::Values(list) => {
                    list.iter().any(|value| matches!(value, Value::Array(_) | Value::Object(_)))
                }
                Shape::Union(list) => {
                    open.extend(list);
                    false
                }
                Shape::Typed(typed) => {
                    typed.types.contains(TypeSet::ARRAY) || typed.types.contains(TypeSet::OBJECT)
                }
            };
            if found {
                return true;
            }
        }
        false
    }
}

/// Whether a name is an identifier of Python. Only ASCII letters are known to be in the normal form of identifiers.
fn is_identifier(name: &str) -> bool {
    let mut chars = name.chars();
    chars.next().is_some_and(|first| first.is_ascii_alphabetic() || first == '_')
        && chars.all(|c| c.is_ascii_alphanumeric() || c == '_')
        && !KEYWORDS.contains(&name)
}
