//! Strings as Python writes them, in single and in double quotes.
//!
//! The names of objects and the items of lists that must differ are tracked along the text, with strings in double
//! quotes. So values with such parts have JSON's strings only, but a string that is the whole value has both forms.

use super::Emitter;
use super::text::Characters;
use crate::error::Result;
use crate::grammar::ExprId;
use crate::syntax::json_schema::normal::conjunction::ConjunctionId;
use crate::syntax::json_schema::normal::conjunctions::Conjunctions;
use crate::syntax::json_schema::normal::shape::{Shape, Typed};
use crate::syntax::json_schema::options::{Options, Spelling};
use rustc_hash::FxHashSet;

/// Both quotes.
const QUOTES: [char; 2] = ['"', '\''];

/// Whether strings are in both quotes everywhere.
pub(super) fn has_both_quotes(all: &Conjunctions<'_>, options: &Options) -> bool {
    let is_tracked = |id: ConjunctionId| match all.shape_of(id) {
        Shape::Typed(Typed { types: _, number: _, length: _, tests: _, excluded: _, array, object }) => {
            array.as_ref().is_some_and(|array| array.unique.is_some())
                || object.as_ref().is_some_and(|object| !object.rest.is_empty() || !object.ones.is_empty())
        }
        _ => false,
    };
    if !matches!(options.spelling, Spelling::Python | Spelling::Keywords) {
        return false;
    }
    let root = all.root();
    let (mut seen, mut open) = (FxHashSet::default(), vec![root]);
    // the names of keyword arguments have no quotes, unless the same objects are also values
    if options.spelling == Spelling::Python {
        seen.insert(root);
        if is_tracked(root) {
            return false;
        }
    }
    while let Some(id) = open.pop() {
        for child in all.shape_of(id).children() {
            if seen.insert(child) {
                if is_tracked(child) {
                    return false;
                }
                open.push(child);
            }
        }
    }
    true
}

impl<'a> Emitter<'_, 'a> {
    /// Returns the strings of a shape in both quotes.
    pub(super) fn python_strings(&mut self, typed: &Typed<'a>) -> Result<ExprId> {
        let ways = QUOTES.map(|quote| {
            let text = self.string_text(typed, &Characters::Python(quote))?;
            Ok(self.in_quotes(quote, text))
        });
        let [double, single] = ways;
        Ok(self.g.choice([double?, single?]))
    }

    /// Returns one text in both quotes.
    pub(super) fn python_text(&mut self, text: &str) -> ExprId {
        let ways = QUOTES.map(|quote| {
            let text = self.spelled_text(text, &Characters::Python(quote));
            self.in_quotes(quote, text)
        });
        self.g.choice(ways)
    }

    /// Returns the strings of a conjunction in single quotes.
    pub(super) fn single_quoted(&mut self, id: ConjunctionId) -> Result<ExprId> {
        let text = self.strings_of(id, &Characters::Python('\''))?;
        Ok(self.in_quotes('\'', text))
    }

    fn in_quotes(&mut self, quote: char, text: ExprId) -> ExprId {
        let quote = self.g.text(quote.to_string());
        self.g.sequence([quote, text, quote])
    }
}
