//! Tests of strings (`pattern`, `format`, `x-grammata-pattern`, `x-grammata-grammar`): the languages of the strings that
//! pass, and matching of a given string.

use super::formats::{Format, Side};
use super::respelled::{self, Characters, Unspelled};
use super::span_match;
use crate::error::Result;
use crate::grammar::{CharClass, ExprId, Grammar, GrammarBuilder};
use crate::limits::Limits;
use crate::syntax::json_schema::grammars::{GRAMMAR, GrammarReader};
use crate::syntax::json_schema::values::pointer::join;
use crate::syntax::json_schema::{errors, strings};
use crate::syntax::regex::{self, Dialect, Options};

/// The keyword for patterns in the dialect of Rust's regex crate, which Pydantic uses.
pub(in crate::syntax::json_schema) const RUST_PATTERN: &str = "x-grammata-pattern";

/// A test of a string.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::syntax::json_schema) enum StringTest<'a> {
    /// The ECMA-262 pattern matches somewhere in the string.
    Pattern(&'a str),
    /// The pattern in the dialect of Rust's regex crate matches somewhere in the string.
    RustPattern(&'a str),
    /// The string has the format.
    Format(Format),
    /// The pattern in the dialect of Rust's regex crate matches the whole string.
    Regex(&'a str),
    /// The string is a word of the grammar, whose notation the reader knows.
    Grammar(&'a str, GrammarReader),
}

impl<'a> StringTest<'a> {
    /// Returns the name of the keyword.
    pub(in crate::syntax::json_schema) fn keyword(self) -> &'static str {
        match self {
            StringTest::Pattern(_) => "pattern",
            StringTest::RustPattern(_) => RUST_PATTERN,
            StringTest::Format(_) => "format",
            StringTest::Regex(_) | StringTest::Grammar(..) => GRAMMAR,
        }
    }

    /// Whether the test is a grammar of the whole string.
    pub(in crate::syntax::json_schema) fn is_grammar(self) -> bool {
        matches!(self, StringTest::Regex(_) | StringTest::Grammar(..))
    }

    /// Returns the value of the keyword, or the text of its grammar.
    pub(in crate::syntax::json_schema) fn value(self) -> &'a str {
        match self {
            StringTest::Pattern(pattern) | StringTest::RustPattern(pattern) => pattern,
            StringTest::Format(format) => format.name(),
            StringTest::Regex(definition) | StringTest::Grammar(definition, _) => definition,
        }
    }
}

/// Returns the contents of JSON strings, in canonical spelling, that pass the test. If these are not a regular
/// language, returns one within or around it, as `side` says. `pointer` is that of the schema.
///
/// # Errors
/// A pattern that cannot be used; a format without a language on this side; limits.
pub(in crate::syntax::json_schema) fn content(
    g: &mut GrammarBuilder,
    test: StringTest<'_>,
    side: Side,
    pointer: &str,
) -> Result<ExprId> {
    let lowered = match test {
        StringTest::Format(format) => format.content(g, side)?,
        _ => lower(g, test, side, pointer, &mut |g, class| strings::canonical(g, class))?,
    };
    lowered.ok_or_else(|| errors::complement_of_format(pointer, test.value()))
}

/// Returns the whitespace that a pattern matches as a whole. Other characters never match.
///
/// # Errors
/// A pattern that cannot be used; limits.
pub(in crate::syntax::json_schema) fn whitespace(
    g: &mut GrammarBuilder,
    pattern: &str,
    limits: &Limits,
) -> Result<ExprId> {
    let options = Options { dialect: Dialect::Ecma262, limits: limits.clone(), ..Options::default() };
    let whitespace = CharClass::new([('\t', '\n'), ('\r', '\r'), (' ', ' ')]);
    let spell =
        &mut |g: &mut GrammarBuilder, class: &CharClass| g.char_class(class.intersection(&whitespace));
    regex::lower_into(g, pattern, &options, spell)
        .map_err(|cause| errors::whitespace_pattern(pattern, &cause))
}

/// Returns the language of the test. `spell` builds the expression of one character of a class. `None` if a format has
/// no language on this side.
///
/// # Errors
/// A pattern that cannot be used; limits.
pub(in crate::syntax::json_schema) fn lower(
    g: &mut GrammarBuilder,
    test: StringTest<'_>,
    side: Side,
    pointer: &str,
    spell: &mut dyn FnMut(&mut GrammarBuilder, &CharClass) -> ExprId,
) -> Result<Option<ExprId>> {
    match test {
        StringTest::Pattern(pattern) | StringTest::RustPattern(pattern) => {
            let dialect = match test {
                StringTest::RustPattern(_) => Dialect::Rust,
                _ => Dialect::Ecma262,
            };
            let options = Options { dialect, search: true, ..Options::default() };
            let place = join(pointer, test.keyword());
            let lowered = regex::lower_into(g, pattern, &options, spell);
            Ok(Some(lowered.map_err(|cause| errors::pattern(&place, pattern, &cause))?))
        }
        StringTest::Format(format) => format.expression(g, side, spell),
        StringTest::Regex(definition) => {
            let lowered = regex::lower_into(g, definition, &Options::default(), spell);
            lowered.map(Some).map_err(|cause| errors::definition(pointer, &cause))
        }
        StringTest::Grammar(definition, reader) => {
            let limits = g.limits().clone();
            let (grammar, _) =
                reader.read(definition, &limits).map_err(|cause| errors::definition(pointer, &cause))?;
            g.work().spend(grammar.expressions().len()).map_err(|error| errors::placed(error, pointer))?;
            let words = g.import(&grammar);
            let spelled = match Characters::new(g, spell) {
                Some(mut characters) => respelled::expression(g, words, &mut characters),
                None => Err(Unspelled("percent-encoded texts")),
            };
            spelled.map(Some).map_err(|part| errors::unspelled(pointer, part.0))
        }
    }
}

/// A test prepared for matching concrete strings.
pub(in crate::syntax::json_schema) enum Matcher {
    /// Matches by the languages within and around.
    Languages(Grammar, Grammar),
    /// Matches by parsing the string as a pattern: the language of the format `regex` nests.
    Syntax(Limits),
}

impl Matcher {
    /// Prepares a test of a schema at `pointer`.
    ///
    /// # Errors
    /// Those of [`content`].
    pub(in crate::syntax::json_schema) fn new(
        test: StringTest<'_>,
        pointer: &str,
        limits: &Limits,
    ) -> Result<Matcher> {
        if test == StringTest::Format(Format::Regex) {
            return Ok(Matcher::Syntax(limits.clone()));
        }
        let grammar = |side| {
            let mut g = GrammarBuilder::with_limits(limits.clone());
            let spell = &mut |g: &mut GrammarBuilder, class: &CharClass| g.char_class(class.clone());
            let body = lower(&mut g, test, side, pointer, spell)?;
            let body = body.ok_or_else(|| errors::complement_of_format(pointer, test.value()))?;
            let root = g.declare("string");
            g.define(root, body);
            g.build(root)
        };
        Ok(Matcher::Languages(grammar(Side::Within)?, grammar(Side::Around)?))
    }

    /// Whether `text` passes, and the number of steps of work; `None` if the match would be too expensive, or if the
    /// answer is not known.
    pub(in crate::syntax::json_schema) fn matches(&self, text: &str) -> (Option<bool>, usize) {
        match self {
            Matcher::Languages(within, around) => {
                let (inside, steps) = span_match::matches(within, text);
                if inside != Some(false) || around == within {
                    return (inside, steps);
                }
                let (touched, more) = span_match::matches(around, text);
                (if touched == Some(false) { touched } else { None }, steps + more)
            }
            Matcher::Syntax(limits) => (regex::is_pattern(text, limits), text.len()),
        }
    }
}
